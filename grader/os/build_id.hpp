// Tells one version of the running program from another.
#pragma once

#include <string>

namespace grader {

/// The linker's build id, a hash of the program; "" if it was linked without one.
std::string build_id();

}  // namespace grader
