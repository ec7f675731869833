// Mathematical functions in device code, and CUDA's min, max and rsqrt on both sides.
// Part of <cuda_runtime.h>.
//
// The device versions must be declared before <cmath>: libstdc++'s overloads are constexpr, which
// clang would otherwise take for device code as well, and their bodies need a device library that
// is not here. Accuracy: sqrt, fma, rounding and min/max are exact as IEEE 754 says; the elementary
// functions are within a few units in the last place (float) or 1e-14 relative (double). They
// differ from NVIDIA's in the last bits. What programs call less often is in math_engine.h.
#pragma once
#pragma GCC system_header

#include "intrinsics.h"

// clang-format off
#define __SIMGPU_UNARY_LIST(F)                                                       \
  F(fabs) F(sqrt) F(floor) F(ceil) F(trunc) F(rint) F(nearbyint) F(round) F(exp)     \
  F(exp2) F(log) F(log2) F(log10) F(sin) F(cos) F(tan) F(tanh) F(sinh) F(cosh)
// clang-format on
#define __SIMGPU_BINARY_LIST(F) F(fmin) F(fmax) F(copysign) F(pow)

// 1. Declarations: f(double), ff(float), and the C++ overload f(float), here and in std.
#define __SIMGPU_DECLARE(Name)            \
  __SIMGPU_DEVICE double Name(double x);  \
  __SIMGPU_DEVICE float Name##f(float x); \
  __SIMGPU_DEVICE float Name(float x);
#define __SIMGPU_DECLARE_2(Name)                   \
  __SIMGPU_DEVICE double Name(double x, double y); \
  __SIMGPU_DEVICE float Name##f(float x, float y); \
  __SIMGPU_DEVICE float Name(float x, float y);
#define __SIMGPU_USING(Name) using ::Name;
#define __SIMGPU_USING_F(Name) using ::Name##f;

__SIMGPU_UNARY_LIST(__SIMGPU_DECLARE)
__SIMGPU_BINARY_LIST(__SIMGPU_DECLARE_2)
__SIMGPU_DEVICE double fma(double x, double y, double z);
__SIMGPU_DEVICE float fmaf(float x, float y, float z);
__SIMGPU_DEVICE float fma(float x, float y, float z);
__SIMGPU_DEVICE int abs(int x);
__SIMGPU_DEVICE long abs(long x);
__SIMGPU_DEVICE long long abs(long long x);
__SIMGPU_DEVICE float abs(float x);
__SIMGPU_DEVICE double abs(double x);
__SIMGPU_DEVICE long labs(long x);
__SIMGPU_DEVICE long long llabs(long long x);
__SIMGPU_DEVICE bool isnan(float x);
__SIMGPU_DEVICE bool isnan(double x);
__SIMGPU_DEVICE bool isinf(float x);
__SIMGPU_DEVICE bool isinf(double x);
__SIMGPU_DEVICE bool isfinite(float x);
__SIMGPU_DEVICE bool isfinite(double x);
__SIMGPU_DEVICE bool signbit(float x);
__SIMGPU_DEVICE bool signbit(double x);
namespace std {
__SIMGPU_UNARY_LIST(__SIMGPU_USING)
__SIMGPU_BINARY_LIST(__SIMGPU_USING)
using ::abs;
using ::fma;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::labs;
using ::llabs;
using ::signbit;
}  // namespace std

#include "math_engine.h"

// 2. What nvcc's cuda_runtime.h brings in too.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <utility>

extern "C" __attribute__((device)) int printf(const char* format, ...);

// 3. Definitions.
#define __SIMGPU_BUILTIN(Name)             \
  __SIMGPU_DEVICE double Name(double x) {  \
    return __builtin_##Name(x);            \
  }                                        \
  __SIMGPU_DEVICE float Name##f(float x) { \
    return __builtin_##Name##f(x);         \
  }                                        \
  __SIMGPU_DEVICE float Name(float x) {    \
    return __builtin_##Name##f(x);         \
  }
__SIMGPU_BUILTIN(fabs)
#if defined(__USE_FAST_MATH__)
__SIMGPU_DEVICE double sqrt(double x) {
  return __builtin_sqrt(x);
}
__SIMGPU_DEVICE float sqrtf(float x) {
  float result;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
__SIMGPU_DEVICE float sqrt(float x) {
  return sqrtf(x);
}
#else
__SIMGPU_BUILTIN(sqrt)
#endif
__SIMGPU_BUILTIN(floor)
__SIMGPU_BUILTIN(ceil)
__SIMGPU_BUILTIN(trunc)
__SIMGPU_BUILTIN(rint)
__SIMGPU_BUILTIN(nearbyint)
#undef __SIMGPU_BUILTIN
#define __SIMGPU_BUILTIN_2(Name)                    \
  __SIMGPU_DEVICE double Name(double x, double y) { \
    return __builtin_##Name(x, y);                  \
  }                                                 \
  __SIMGPU_DEVICE float Name##f(float x, float y) { \
    return __builtin_##Name##f(x, y);               \
  }                                                 \
  __SIMGPU_DEVICE float Name(float x, float y) {    \
    return __builtin_##Name##f(x, y);               \
  }
__SIMGPU_BUILTIN_2(fmin)
__SIMGPU_BUILTIN_2(fmax)
__SIMGPU_BUILTIN_2(copysign)
#undef __SIMGPU_BUILTIN_2

__SIMGPU_DEVICE double fma(double x, double y, double z) {
  return __builtin_fma(x, y, z);
}
__SIMGPU_DEVICE float fmaf(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}
__SIMGPU_DEVICE float fma(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}
__SIMGPU_DEVICE int abs(int x) {
  return x < 0 ? -x : x;
}
__SIMGPU_DEVICE long abs(long x) {
  return x < 0 ? -x : x;
}
__SIMGPU_DEVICE long long abs(long long x) {
  return x < 0 ? -x : x;
}
__SIMGPU_DEVICE long labs(long x) {
  return x < 0 ? -x : x;
}
__SIMGPU_DEVICE long long llabs(long long x) {
  return x < 0 ? -x : x;
}
__SIMGPU_DEVICE float abs(float x) {
  return __builtin_fabsf(x);
}
__SIMGPU_DEVICE double abs(double x) {
  return __builtin_fabs(x);
}
__SIMGPU_DEVICE bool isnan(float x) {
  return x != x;
}
__SIMGPU_DEVICE bool isnan(double x) {
  return x != x;
}
__SIMGPU_DEVICE bool isinf(float x) {
  return __builtin_fabsf(x) == __builtin_inff();
}
__SIMGPU_DEVICE bool isinf(double x) {
  return __builtin_fabs(x) == __builtin_inf();
}
__SIMGPU_DEVICE bool isfinite(float x) {
  return __builtin_fabsf(x) < __builtin_inff();
}
__SIMGPU_DEVICE bool isfinite(double x) {
  return __builtin_fabs(x) < __builtin_inf();
}
__SIMGPU_DEVICE bool signbit(float x) {
  return __float_as_int(x) < 0;
}
__SIMGPU_DEVICE bool signbit(double x) {
  return __double_as_longlong(x) < 0;
}

// Halves go away from zero. Adding 0.5 is exact for every number that still has a fraction, but for
// the largest number below one half, whose sum would round up to 1.
__SIMGPU_DEVICE float roundf(float x) {
  const float magnitude = fabsf(x);
  const float whole = truncf(magnitude);
  const float rounded = magnitude - whole >= 0.5f ? whole + 1.0f : whole;
  return copysignf(rounded, x);
}
__SIMGPU_DEVICE float round(float x) {
  return roundf(x);
}
__SIMGPU_DEVICE double round(double x) {
  const double magnitude = fabs(x);
  const double whole = trunc(magnitude);
  const double rounded = magnitude - whole >= 0.5 ? whole + 1.0 : whole;
  return copysign(rounded, x);
}

// 2^n for -1022 <= n <= 1023.
__SIMGPU_DEVICE double __simgpu_power_of_two(int n) {
  return __longlong_as_double(static_cast<long long>(n + 1023) << 52);
}
// exp by x = n ln 2 + r, |r| <= ln 2 / 2, and the Taylor series of exp(r): the first term left out
// is r^14 / 14!, below 5e-18.
__SIMGPU_DEVICE double exp(double x) {
  if (!(x < 709.79)) return x != x ? x : __builtin_inf();
  if (x < -745.2) return 0.0;
  const double n = rint(x * 1.4426950408889634);
  double r = fma(-n, 6.93147180369123816490e-01, x);
  r = fma(-n, 1.90821492927058770002e-10, r);
  double s = 1.0 / 6227020800.0;
  s = fma(s, r, 1.0 / 479001600.0);
  s = fma(s, r, 1.0 / 39916800.0);
  s = fma(s, r, 1.0 / 3628800.0);
  s = fma(s, r, 1.0 / 362880.0);
  s = fma(s, r, 1.0 / 40320.0);
  s = fma(s, r, 1.0 / 5040.0);
  s = fma(s, r, 1.0 / 720.0);
  s = fma(s, r, 1.0 / 120.0);
  s = fma(s, r, 1.0 / 24.0);
  s = fma(s, r, 1.0 / 6.0);
  s = fma(s, r, 0.5);
  s = fma(s, r, 1.0);
  s = fma(s, r, 1.0);
  const int whole = static_cast<int>(n),
            half = whole / 2;  // in two steps: the result may be subnormal
  return s * __simgpu_power_of_two(half) * __simgpu_power_of_two(whole - half);
}
// log by x = 2^n m, sqrt(1/2) <= m < sqrt(2), and the series of 2 atanh((m - 1) / (m + 1)).
__SIMGPU_DEVICE double log(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -__builtin_inf() : __builtin_nan("");
  if (x == __builtin_inf()) return x;
  int n = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984.0;  // 2^54: now normal
    n = -54;
  }
  const long long bits = __double_as_longlong(x);
  n += static_cast<int>(bits >> 52) - 1023;
  double m = __longlong_as_double((bits & 0xfffffffffffffll) | 0x3ff0000000000000ll);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++n;
  }
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 1.0 / 23.0;
  p = fma(p, z, 1.0 / 21.0);
  p = fma(p, z, 1.0 / 19.0);
  p = fma(p, z, 1.0 / 17.0);
  p = fma(p, z, 1.0 / 15.0);
  p = fma(p, z, 1.0 / 13.0);
  p = fma(p, z, 1.0 / 11.0);
  p = fma(p, z, 1.0 / 9.0);
  p = fma(p, z, 1.0 / 7.0);
  p = fma(p, z, 1.0 / 5.0);
  p = fma(p, z, 1.0 / 3.0);
  const double mantissa = fma(2.0 * s * z, p, 2.0 * s);
  return fma(n, 6.93147180369123816490e-01, fma(n, 1.90821492927058770002e-10, mantissa));
}
__SIMGPU_DEVICE double exp2(double x) {
  return exp(x * 0.6931471805599453);
}
__SIMGPU_DEVICE double log2(double x) {
  return log(x) * 1.4426950408889634;
}
__SIMGPU_DEVICE double log10(double x) {
  return log(x) * 0.4342944819032518;
}

// sin and cos of r, |r| <= pi / 4, by their series; the terms left out are below 1e-17.
__SIMGPU_DEVICE double __simgpu_sin_small(double r) {
  const double z = r * r;
  double s = -1.0 / 1307674368000.0;
  s = fma(s, z, 1.0 / 6227020800.0);
  s = fma(s, z, -1.0 / 39916800.0);
  s = fma(s, z, 1.0 / 362880.0);
  s = fma(s, z, -1.0 / 5040.0);
  s = fma(s, z, 1.0 / 120.0);
  s = fma(s, z, -1.0 / 6.0);
  return fma(s * z, r, r);
}
__SIMGPU_DEVICE double __simgpu_cos_small(double r) {
  const double z = r * r;
  double s = 1.0 / 20922789888000.0;
  s = fma(s, z, -1.0 / 87178291200.0);
  s = fma(s, z, 1.0 / 479001600.0);
  s = fma(s, z, -1.0 / 3628800.0);
  s = fma(s, z, 1.0 / 40320.0);
  s = fma(s, z, -1.0 / 720.0);
  s = fma(s, z, 1.0 / 24.0);
  s = fma(s, z, -0.5);
  return fma(s, z, 1.0);
}
// x minus the nearest multiple of pi / 2, pi / 2 in three parts: good to 1e-15 while |x| < 1e6.
__SIMGPU_DEVICE double __simgpu_reduce(double x, int* quadrant) {
  const double n = rint(x * 0.6366197723675814);
  double r = fma(-n, 1.5707963267948966, x);
  r = fma(-n, 6.123233995736766e-17, r);
  r = fma(-n, -1.4973849048591833e-33, r);
  *quadrant = static_cast<int>(static_cast<long long>(n) & 3);
  return r;
}
__SIMGPU_DEVICE double sin(double x) {
  int quadrant;
  const double r = __simgpu_reduce(x, &quadrant);
  const double value = quadrant & 1 ? __simgpu_cos_small(r) : __simgpu_sin_small(r);
  return quadrant & 2 ? -value : value;
}
__SIMGPU_DEVICE double cos(double x) {
  int quadrant;
  const double r = __simgpu_reduce(x, &quadrant);
  const double value = quadrant & 1 ? __simgpu_sin_small(r) : __simgpu_cos_small(r);
  return quadrant == 1 || quadrant == 2 ? -value : value;
}
__SIMGPU_DEVICE double tan(double x) {
  return sin(x) / cos(x);
}
__SIMGPU_DEVICE double tanh(double x) {
  const double magnitude = fabs(x);
  if (magnitude < 1e-4) return fma(-x * x * (1.0 / 3.0), x, x);
  const double e = exp(-2.0 * magnitude);
  return copysign((1.0 - e) / (1.0 + e), x);
}
__SIMGPU_DEVICE double sinh(double x) {
  if (fabs(x) < 1e-3) return fma(x * x * (1.0 / 6.0), x, x);
  return 0.5 * (exp(x) - exp(-x));
}
__SIMGPU_DEVICE double cosh(double x) {
  return 0.5 * (exp(x) + exp(-x));
}
// Negative bases take whole exponents only; the rest as C says for the ordinary cases.
__SIMGPU_DEVICE double pow(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return x + y;
  const bool whole = trunc(y) == y;
  const bool odd = whole && fabs(y) < 9007199254740992.0 && (static_cast<long long>(y) & 1);
  if (x == 0.0) {
    const double magnitude = y < 0.0 ? __builtin_inf() : 0.0;
    return odd ? copysign(magnitude, x) : magnitude;
  }
  if (x < 0.0 && !whole && y - y == 0.0) return __builtin_nan("");
  const double magnitude = fabs(x) == 1.0 ? 1.0 : exp(y * log(fabs(x)));
  return x < 0.0 && odd ? -magnitude : magnitude;
}

// By the engine, in double and rounded once, hence nearly always the nearest float. It counts the
// multiply-adds that nvcc's code has.
#define __SIMGPU_BY_ENGINE(Name)                           \
  __SIMGPU_ENGINE(Name##f, double x)                       \
  __SIMGPU_DEVICE float Name##f(float x) {                 \
    return static_cast<float>(__simgpu_math_##Name##f(x)); \
  }
#if defined(__USE_FAST_MATH__)
__SIMGPU_DEVICE float expf(float x) {
  return __expf(x);
}
__SIMGPU_DEVICE float logf(float x) {
  return __logf(x);
}
__SIMGPU_DEVICE float log2f(float x) {
  return __log2f(x);
}
__SIMGPU_DEVICE float log10f(float x) {
  return __log10f(x);
}
__SIMGPU_DEVICE float sinf(float x) {
  return __sinf(x);
}
__SIMGPU_DEVICE float cosf(float x) {
  return __cosf(x);
}
__SIMGPU_DEVICE float tanf(float x) {
  return __tanf(x);
}
__SIMGPU_DEVICE float powf(float x, float y) {
  return __powf(x, y);
}
__SIMGPU_DEVICE float tanhf(float x) {
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
#else
__SIMGPU_BY_ENGINE(exp)
__SIMGPU_BY_ENGINE(log)
__SIMGPU_BY_ENGINE(log2)
__SIMGPU_BY_ENGINE(log10)
__SIMGPU_BY_ENGINE(sin)
__SIMGPU_BY_ENGINE(cos)
__SIMGPU_BY_ENGINE(tan)
__SIMGPU_BY_ENGINE(tanh)
__SIMGPU_ENGINE(powf, double x, double y)
__SIMGPU_DEVICE float powf(float x, float y) {
  return static_cast<float>(__simgpu_math_powf(x, y));
}
#endif
__SIMGPU_BY_ENGINE(sinh)
__SIMGPU_BY_ENGINE(cosh)
#undef __SIMGPU_BY_ENGINE
__SIMGPU_DEVICE float exp2f(float x) {
  return __simgpu_ex2(x);
}
__SIMGPU_DEVICE float pow(float x, float y) {
  return powf(x, y);
}
#define __SIMGPU_OVERLOAD(Name)         \
  __SIMGPU_DEVICE float Name(float x) { \
    return Name##f(x);                  \
  }
__SIMGPU_OVERLOAD(exp)
__SIMGPU_OVERLOAD(exp2)
__SIMGPU_OVERLOAD(log)
__SIMGPU_OVERLOAD(log2)
__SIMGPU_OVERLOAD(log10)
__SIMGPU_OVERLOAD(sin)
__SIMGPU_OVERLOAD(cos)
__SIMGPU_OVERLOAD(tan)
__SIMGPU_OVERLOAD(tanh)
__SIMGPU_OVERLOAD(sinh)
__SIMGPU_OVERLOAD(cosh)
#undef __SIMGPU_OVERLOAD

__SIMGPU_DEVICE float fdividef(float x, float y) {
  return x / y;
}
__SIMGPU_DEVICE float rsqrtf(float x) {
  float result;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
__SIMGPU_DEVICE double rsqrt(double x) {
  return 1.0 / __builtin_sqrt(x);
}
__SIMGPU_DEVICE float rsqrt(float x) {
  return rsqrtf(x);
}
__SIMGPU_DEVICE void sincosf(float x, float* sine, float* cosine) {
  *sine = sinf(x);
#if defined(__USE_FAST_MATH__)
  *cosine = cosf(x);
#else
  *cosine = (float)__simgpu_math_sincos_cosf(x);
#endif
}
__SIMGPU_DEVICE void sincos(double x, double* sine, double* cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}
__SIMGPU_DEVICE void __sincosf(float x, float* sine, float* cosine) {
  *sine = __sinf(x);
  *cosine = __cosf(x);
}
__attribute__((host, nodebug)) static inline float rsqrtf(float x) {
  return 1.0f / ::sqrtf(x);
}
__attribute__((host, nodebug)) static inline double rsqrt(double x) {
  return 1.0 / ::sqrt(x);
}
__attribute__((host, nodebug)) static inline float rsqrt(float x) {
  return rsqrtf(x);
}

// min and max, on both sides, for every pair that CUDA has.
#define __SIMGPU_MIN_MAX(T, A, B)                                                         \
  __SIMGPU_BOTH T min(const A a, const B b) {                                             \
    return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a); \
  }                                                                                       \
  __SIMGPU_BOTH T max(const A a, const B b) {                                             \
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a); \
  }
#define __SIMGPU_MIN_MAX_SIGNS(S, U) \
  __SIMGPU_MIN_MAX(S, S, S)          \
  __SIMGPU_MIN_MAX(U, U, U)          \
  __SIMGPU_MIN_MAX(U, S, U)          \
  __SIMGPU_MIN_MAX(U, U, S)
__SIMGPU_MIN_MAX_SIGNS(int, unsigned int)
__SIMGPU_MIN_MAX_SIGNS(long, unsigned long)
__SIMGPU_MIN_MAX_SIGNS(long long, unsigned long long)
#undef __SIMGPU_MIN_MAX_SIGNS
#undef __SIMGPU_MIN_MAX
// The same with their types in their names.
#define __SIMGPU_MIN_MAX(Letters, T)                   \
  __SIMGPU_BOTH T Letters##min(const T a, const T b) { \
    return min(a, b);                                  \
  }                                                    \
  __SIMGPU_BOTH T Letters##max(const T a, const T b) { \
    return max(a, b);                                  \
  }
__SIMGPU_MIN_MAX(u, unsigned int)
__SIMGPU_MIN_MAX(ll, long long)
__SIMGPU_MIN_MAX(ull, unsigned long long)
#undef __SIMGPU_MIN_MAX
// A NaN loses against a number, as fmin and fmax have it.
#define __SIMGPU_MIN_MAX(T, A, B)                                   \
  __SIMGPU_BOTH T min(const A a, const B b) {                       \
    return __SIMGPU_FMIN_##T(static_cast<T>(a), static_cast<T>(b)); \
  }                                                                 \
  __SIMGPU_BOTH T max(const A a, const B b) {                       \
    return __SIMGPU_FMAX_##T(static_cast<T>(a), static_cast<T>(b)); \
  }
#define __SIMGPU_FMIN_float __builtin_fminf
#define __SIMGPU_FMAX_float __builtin_fmaxf
#define __SIMGPU_FMIN_double __builtin_fmin
#define __SIMGPU_FMAX_double __builtin_fmax
__SIMGPU_MIN_MAX(float, float, float)
__SIMGPU_MIN_MAX(double, double, double)
__SIMGPU_MIN_MAX(double, float, double)
__SIMGPU_MIN_MAX(double, double, float)
#undef __SIMGPU_FMIN_float
#undef __SIMGPU_FMAX_float
#undef __SIMGPU_FMIN_double
#undef __SIMGPU_FMAX_double
#undef __SIMGPU_MIN_MAX

#undef __SIMGPU_UNARY_LIST
#undef __SIMGPU_BINARY_LIST
#undef __SIMGPU_ENGINE
#undef __SIMGPU_DECLARE
#undef __SIMGPU_DECLARE_2
#undef __SIMGPU_USING
#undef __SIMGPU_USING_F
