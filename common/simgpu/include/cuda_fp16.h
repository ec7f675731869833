// __half and __half2: 16-bit floating point (IEEE binary16) for host and device code.
//
// The names and meanings of CUDA's header, in a text of our own. On the device each operation is
// the PTX instruction that it is on a GPU; on the host it is worked out in float and double and
// rounded once.
#pragma once
#pragma GCC system_header

// NVIDIA's guards: programs ask for them, and a toolkit's header that is found later adds nothing.
#define __CUDA_FP16_H__

#include "cuda_runtime.h"
#include "simgpu/sixteen_bits.h"

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

#define __SIMGPU_16 __half
#define __SIMGPU_16_2 __half2
#define __SIMGPU_16_RAW __half_raw
#define __SIMGPU_16_2_RAW __half2_raw
#define __SIMGPU_16_TYPE "f16"
#define __SIMGPU_16_X2 "f16x2"
#define __SIMGPU_16_NAME(before, after) before##half##after
#define __SIMGPU_16_NAME2(before, after) before##half2##after
#define __SIMGPU_16_TO_FLOAT __simgpu_half_to_float
#define __SIMGPU_16_FROM_DOUBLE __simgpu_half_from_double
#define __SIMGPU_16_ONE 0x3c00
#define __SIMGPU_16_FMA __simgpu_half_fma
#define __SIMGPU_16_SPLAT __half2half2
#include "simgpu/sixteen_bits.inl"

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

#define CUDART_INF_FP16 __ushort_as_half(static_cast<unsigned short>(0x7c00u))
#define CUDART_NAN_FP16 __ushort_as_half(static_cast<unsigned short>(0x7fffu))
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(static_cast<unsigned short>(0x0001u))
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(static_cast<unsigned short>(0x7bffu))
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(static_cast<unsigned short>(0x8000u))
#define CUDART_ZERO_FP16 __ushort_as_half(static_cast<unsigned short>(0x0000u))
#define CUDART_ONE_FP16 __ushort_as_half(static_cast<unsigned short>(0x3c00u))
