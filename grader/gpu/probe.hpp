// Whether a program here can use the GPU at all: tried inside a box before a class is graded.
#pragma once

namespace grader::gpu {

/// Asks the driver's library for a device. 0 if there is one; else 1, and why on stdout.
int probe_main();

}  // namespace grader::gpu
