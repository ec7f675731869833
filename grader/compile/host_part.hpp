// The part of a student's file that its host code depends on. A launcher does the same whatever stands inside
// the kernels that it launches: so whoever edits a kernel has changed that kernel alone.
#pragma once

#include <string>

namespace grader {

/// A source without comments, superfluous blanks, and the bodies of functions that only the device has.
/// The whole source where host code might depend on those all the same, or on where its lines are:
/// __LINE__, a #define inside a body or over several lines, a raw string, braces that do not match.
std::string host_part(const std::string& source);

}  // namespace grader
