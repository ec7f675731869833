#define SIMGPU_ISA portable
#define SIMGPU_ISA_V3 0
// The order matters.
// clang-format off
#include "common/simgpu/exec/kernels/isa.hpp"
#include "common/simgpu/exec/kernels/mma.inl"
#include "common/simgpu/exec/kernels/isa_end.hpp"
