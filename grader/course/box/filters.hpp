// The system calls that a boxed program may make: one list per role, compiled by libseccomp. What
// is on no list fails with ENOSYS, so that a libc takes its older way.
#pragma once

#include <filesystem>

#include "grader/os/box.hpp"

namespace grader::box {

/// Writes the filter of `role` as the kernel takes it (struct sock_filter[]). Throws UserError
/// where the program was built without libseccomp.
void write_filter(BoxRole role, const std::filesystem::path& file);

}  // namespace grader::box
