// __nv_bfloat16 and __nv_bfloat162: the upper half of a float, for host and device code.
//
// The names and meanings of CUDA's header, in a text of our own. On the device each operation is
// the PTX instruction that it is on a GPU; on the host it is worked out in float and double and
// rounded once.
#pragma once
#pragma GCC system_header

// NVIDIA's guards: programs ask for them, and a toolkit's header that is found later adds nothing.
#define __CUDA_BF16_H__

#include "cuda_runtime.h"
#include "simgpu/sixteen_bits.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};

#define __SIMGPU_16 __nv_bfloat16
#define __SIMGPU_16_2 __nv_bfloat162
#define __SIMGPU_16_RAW __nv_bfloat16_raw
#define __SIMGPU_16_2_RAW __nv_bfloat162_raw
#define __SIMGPU_16_TYPE "bf16"
#define __SIMGPU_16_X2 "bf16x2"
#define __SIMGPU_16_NAME(before, after) before##bfloat16##after
#define __SIMGPU_16_NAME2(before, after) before##bfloat162##after
#define __SIMGPU_16_TO_FLOAT __simgpu_bfloat16_to_float
#define __SIMGPU_16_FROM_DOUBLE __simgpu_bfloat16_from_double
#define __SIMGPU_16_ONE 0x3f80
#define __SIMGPU_16_FMA __simgpu_bfloat16_fma
#define __SIMGPU_16_SPLAT __bfloat162bfloat162
#include "simgpu/sixteen_bits.inl"

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x7f80u))
#define CUDART_NAN_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x7fffu))
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x0001u))
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x7f7fu))
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x8000u))
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x0000u))
#define CUDART_ONE_BF16 __ushort_as_bfloat16(static_cast<unsigned short>(0x3f80u))
