#define SIMGPU_ISA v3
#define SIMGPU_ISA_V3 1
#if defined(__x86_64__)
// The order matters.
// clang-format off
#include "common/simgpu/exec/kernels/isa.hpp"
#include "common/simgpu/exec/kernels/half.inl"
#include "common/simgpu/exec/kernels/isa_end.hpp"
#endif
