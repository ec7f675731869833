// Which version of the labs this is: what stands in the file VERSION.
#pragma once

#include <string>

namespace grader {

std::string version();

}  // namespace grader
