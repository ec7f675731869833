// Which program this is.
#pragma once

#include <string>

namespace grader {

/// What the linker has hashed of the running program, so that another version has another one; "" where
/// the linker was told not to.
std::string build_id();

}  // namespace grader
