// threadIdx, blockIdx, blockDim, gridDim and warpSize.
#pragma once
#pragma GCC system_header

// NVIDIA's guards: programs ask for them, and a toolkit's header that is found later adds nothing.
#define __DEVICE_LAUNCH_PARAMETERS_H__

#include "vector_types.h"

#if defined(__CUDA__)
// Reading threadIdx.x belongs to the line that does it.
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))
#include <__clang_cuda_builtin_vars.h>  // part of clang itself
#pragma clang attribute pop

// clang declares these conversions and leaves them to the header that knows dim3.
#define __SIMGPU_CONVERSIONS(Variable, Type)                                               \
  __attribute__((device, nodebug, always_inline)) inline Variable::operator Type() const { \
    return Type{x, y, z};                                                                  \
  }
__SIMGPU_CONVERSIONS(__cuda_builtin_threadIdx_t, dim3)
__SIMGPU_CONVERSIONS(__cuda_builtin_threadIdx_t, uint3)
__SIMGPU_CONVERSIONS(__cuda_builtin_blockIdx_t, dim3)
__SIMGPU_CONVERSIONS(__cuda_builtin_blockIdx_t, uint3)
__SIMGPU_CONVERSIONS(__cuda_builtin_blockDim_t, dim3)
__SIMGPU_CONVERSIONS(__cuda_builtin_blockDim_t, uint3)
__SIMGPU_CONVERSIONS(__cuda_builtin_gridDim_t, dim3)
__SIMGPU_CONVERSIONS(__cuda_builtin_gridDim_t, uint3)
#undef __SIMGPU_CONVERSIONS
#endif
