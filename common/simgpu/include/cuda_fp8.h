// __nv_fp8_e4m3 and __nv_fp8_e5m2: 8-bit floating point for host and device code.
//
// The names and meanings of CUDA's header, in a text of our own. On the device a conversion is the PTX
// instruction that it is on a GPU; on the host it is worked out in float.
#pragma once
#pragma GCC system_header

// NVIDIA's guards: programs ask for them, and a toolkit's header that is found later adds nothing.
#define __CUDA_FP8_H__
#define __CUDA_FP8_HPP__

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

__SIMGPU_BOTH float __simgpu_fp8_to_float(unsigned char v, __nv_fp8_interpretation_t kind) {
  const bool e5m2 = kind == __NV_E5M2;
  const unsigned int bits = e5m2 ? 2 : 3, bias = e5m2 ? 15 : 7, all = e5m2 ? 31 : 15;
  const unsigned int exponent = (v & 0x7fu) >> bits, fraction = v & ((1u << bits) - 1);
  union {
    unsigned int u;
    float f;
  } x;
  if (e5m2 ? exponent == all : (v & 0x7fu) == 0x7fu) {
    x.u = e5m2 && fraction == 0 ? 0x7f800000u : 0x7fffffffu;
  } else if (exponent != 0) {
    x.u = (exponent + 127 - bias) << 23 | fraction << (23 - bits);
  } else {
    x.f = static_cast<float>(fraction) * (e5m2 ? 0x1p-16f : 0x1p-9f);
  }
  x.u |= (v & 0x80u) << 24;
  return x.f;
}

/// To nearest, ties to even.
__SIMGPU_BOTH unsigned char __simgpu_fp8_from_float(float value, __nv_saturation_t saturate,
                                                    __nv_fp8_interpretation_t kind) {
  union {
    float f;
    unsigned int u;
  } x;
  x.f = value;
  const bool e5m2 = kind == __NV_E5M2;
  const unsigned int sign = x.u >> 24 & 0x80u, bits = e5m2 ? 2 : 3;
  const unsigned int largest = e5m2 ? 0x7b : 0x7e, infinity = e5m2 ? 0x7c : 0x7f;
  const int least = e5m2 ? -14 : -6;  // exponent of the smallest normal number
  x.u &= 0x7fffffffu;
  if (x.u > 0x7f800000u) return static_cast<unsigned char>(e5m2 ? 0x7e | sign : 0x7f | sign);
  const unsigned int beyond = sign | (saturate == __NV_SATFINITE ? largest : infinity);
  if (x.u == 0x7f800000u) return static_cast<unsigned char>(beyond);
  const int exponent = static_cast<int>(x.u >> 23) - 127;
  const unsigned int significand = (x.u & 0x7fffffu) | 0x800000u;
  const int below = exponent < least ? least - exponent : 0;
  const int cut = 23 - static_cast<int>(bits) + below;
  if (exponent < -126 || cut > 25) return static_cast<unsigned char>(sign);
  unsigned int kept = significand >> cut;
  const unsigned int rest = significand & ((1u << cut) - 1), half = 1u << (cut - 1);
  kept += rest > half || (rest == half && (kept & 1u) != 0);
  const unsigned int raised = below != 0 ? 0 : static_cast<unsigned int>(exponent - least);
  const unsigned int magnitude = kept + (raised << bits);
  return static_cast<unsigned char>(magnitude > largest ? beyond : sign | magnitude);
}

__SIMGPU_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                       __nv_fp8_interpretation_t kind) {
  return __simgpu_fp8_from_float(x, saturate, kind);
}
__SIMGPU_BOTH __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                        __nv_fp8_interpretation_t kind) {
  return __simgpu_fp8_from_float(static_cast<float>(x), saturate, kind);
}
__SIMGPU_BOTH __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturate,
                                                            __nv_fp8_interpretation_t kind) {
#if defined(__CUDA_ARCH__)
  if (saturate == __NV_SATFINITE) {
    unsigned short pair;
    if (kind == __NV_E4M3)
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %2, %1;" : "=h"(pair) : "f"(x.x), "f"(x.y));
    else
      asm("cvt.rn.satfinite.e5m2x2.f32 %0, %2, %1;" : "=h"(pair) : "f"(x.x), "f"(x.y));
    return pair;
  }
#endif
  return static_cast<unsigned short>(__simgpu_fp8_from_float(x.x, saturate, kind) |
                                     __simgpu_fp8_from_float(x.y, saturate, kind) << 8);
}
__SIMGPU_BOTH __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                         __nv_fp8_interpretation_t kind) {
  return __simgpu_fp8_from_float(__half2float(__half(x)), saturate, kind);
}
__SIMGPU_BOTH __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw x,
                                                              __nv_saturation_t saturate,
                                                              __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(
      make_float2(__half2float(__half_raw{x.x}), __half2float(__half_raw{x.y})), saturate, kind);
}
__SIMGPU_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x,
                                                             __nv_saturation_t saturate,
                                                             __nv_fp8_interpretation_t kind) {
  return __simgpu_fp8_from_float(__bfloat162float(__nv_bfloat16(x)), saturate, kind);
}
__SIMGPU_BOTH __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw x,
                                                                  __nv_saturation_t saturate,
                                                                  __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(make_float2(__bfloat162float(__nv_bfloat16_raw{x.x}),
                                              __bfloat162float(__nv_bfloat16_raw{x.y})),
                                  saturate, kind);
}
__SIMGPU_BOTH __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t saturate,
                                                             __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(make_float2(static_cast<float>(x.x), static_cast<float>(x.y)),
                                  saturate, kind);
}
__SIMGPU_BOTH __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x,
                                                 __nv_fp8_interpretation_t kind) {
  return static_cast<__half_raw>(__float2half_rn(__simgpu_fp8_to_float(x, kind)));
}
__SIMGPU_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                                     __nv_fp8_interpretation_t kind) {
#if defined(__CUDA_ARCH__)
  unsigned int pair;
  if (kind == __NV_E4M3)
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(x));
  else
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(pair) : "h"(x));
  return {static_cast<unsigned short>(pair), static_cast<unsigned short>(pair >> 16)};
#else
  return {__nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(x), kind).x,
          __nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(x >> 8), kind).x};
#endif
}

#define __SIMGPU_FP8(Name, Kind)                                                               \
  struct Name {                                                                                \
    __nv_fp8_storage_t __x;                                                                    \
    Name() = default;                                                                          \
    __SIMGPU_FP8_MEMBER explicit Name(float v)                                                 \
        : __x(__simgpu_fp8_from_float(v, __NV_SATFINITE, Kind)) {}                             \
    __SIMGPU_FP8_MEMBER explicit Name(double v) : Name(static_cast<float>(v)) {}               \
    __SIMGPU_FP8_MEMBER explicit Name(int v) : Name(static_cast<float>(v)) {}                  \
    __SIMGPU_FP8_MEMBER explicit Name(__half v) : Name(__half2float(v)) {}                     \
    __SIMGPU_FP8_MEMBER explicit Name(__nv_bfloat16 v) : Name(__bfloat162float(v)) {}          \
    __SIMGPU_FP8_MEMBER explicit operator float() const {                                      \
      return __simgpu_fp8_to_float(__x, Kind);                                                 \
    }                                                                                          \
    __SIMGPU_FP8_MEMBER explicit operator double() const { return static_cast<float>(*this); } \
    __SIMGPU_FP8_MEMBER explicit operator __half() const {                                     \
      return __float2half_rn(static_cast<float>(*this));                                       \
    }                                                                                          \
    __SIMGPU_FP8_MEMBER explicit operator bool() const { return (__x & 0x7f) != 0; }           \
  };
#define __SIMGPU_FP8_MEMBER __attribute__((host, device, nodebug, always_inline))
#if !defined(__CUDA__)
#undef __SIMGPU_FP8_MEMBER
#define __SIMGPU_FP8_MEMBER
#endif
__SIMGPU_FP8(__nv_fp8_e4m3, __NV_E4M3)
__SIMGPU_FP8(__nv_fp8_e5m2, __NV_E5M2)
#undef __SIMGPU_FP8

#define __SIMGPU_FP8X2(Name, Kind)                                                               \
  struct Name {                                                                                  \
    __nv_fp8x2_storage_t __x;                                                                    \
    Name() = default;                                                                            \
    __SIMGPU_FP8_MEMBER explicit Name(float2 v)                                                  \
        : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, Kind)) {}                              \
    __SIMGPU_FP8_MEMBER explicit Name(double2 v)                                                 \
        : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, Kind)) {}                             \
    __SIMGPU_FP8_MEMBER explicit Name(__half2 v)                                                 \
        : __x(__nv_cvt_halfraw2_to_fp8x2(static_cast<__half2_raw>(v), __NV_SATFINITE, Kind)) {}  \
    __SIMGPU_FP8_MEMBER explicit Name(__nv_bfloat162 v)                                          \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(static_cast<__nv_bfloat162_raw>(v), __NV_SATFINITE, \
                                             Kind)) {}                                           \
    __SIMGPU_FP8_MEMBER explicit operator float2() const {                                       \
      return make_float2(__simgpu_fp8_to_float(static_cast<unsigned char>(__x), Kind),           \
                         __simgpu_fp8_to_float(static_cast<unsigned char>(__x >> 8), Kind));     \
    }                                                                                            \
    __SIMGPU_FP8_MEMBER explicit operator __half2() const {                                      \
      return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, Kind));                                     \
    }                                                                                            \
  };
__SIMGPU_FP8X2(__nv_fp8x2_e4m3, __NV_E4M3)
__SIMGPU_FP8X2(__nv_fp8x2_e5m2, __NV_E5M2)
#undef __SIMGPU_FP8X2

#define __SIMGPU_FP8X4(Name, Kind)                                                            \
  struct Name {                                                                               \
    __nv_fp8x4_storage_t __x;                                                                 \
    Name() = default;                                                                         \
    __SIMGPU_FP8_MEMBER explicit Name(float4 v)                                               \
        : __x(static_cast<unsigned int>(                                                      \
                  __nv_cvt_float2_to_fp8x2(make_float2(v.x, v.y), __NV_SATFINITE, Kind)) |    \
              static_cast<unsigned int>(                                                      \
                  __nv_cvt_float2_to_fp8x2(make_float2(v.z, v.w), __NV_SATFINITE, Kind))      \
                  << 16) {}                                                                   \
    __SIMGPU_FP8_MEMBER explicit Name(__half2 low, __half2 high)                              \
        : Name(make_float4(__half2float(low.x), __half2float(low.y), __half2float(high.x),    \
                           __half2float(high.y))) {}                                          \
    __SIMGPU_FP8_MEMBER explicit Name(__nv_bfloat162 low, __nv_bfloat162 high)                \
        : Name(make_float4(__bfloat162float(low.x), __bfloat162float(low.y),                  \
                           __bfloat162float(high.x), __bfloat162float(high.y))) {}            \
    __SIMGPU_FP8_MEMBER explicit operator float4() const {                                    \
      return make_float4(__simgpu_fp8_to_float(static_cast<unsigned char>(__x), Kind),        \
                         __simgpu_fp8_to_float(static_cast<unsigned char>(__x >> 8), Kind),   \
                         __simgpu_fp8_to_float(static_cast<unsigned char>(__x >> 16), Kind),  \
                         __simgpu_fp8_to_float(static_cast<unsigned char>(__x >> 24), Kind)); \
    }                                                                                         \
  };
__SIMGPU_FP8X4(__nv_fp8x4_e4m3, __NV_E4M3)
__SIMGPU_FP8X4(__nv_fp8x4_e5m2, __NV_E5M2)
#undef __SIMGPU_FP8X4
#undef __SIMGPU_FP8_MEMBER
