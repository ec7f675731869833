#pragma once

namespace simgpu {

/// False on a processor without the instructions that the engine was compiled for (Makefile:
/// VECTORS). make compiles it again there; this is for a program that was copied.
bool runs_here();

}  // namespace simgpu
