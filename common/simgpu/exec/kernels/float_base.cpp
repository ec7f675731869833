#define SIMGPU_ISA portable
#define SIMGPU_ISA_V3 0
// clang-format off: the order matters
#include "common/simgpu/exec/kernels/isa.hpp"
#include "common/simgpu/exec/kernels/float.inl"
#include "common/simgpu/exec/kernels/isa_end.hpp"
