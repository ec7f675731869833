// Mathematical functions that the engine computes with the host's C library, as calls: in device
// code alone, declared before <cmath> (math_functions.h says why). Part of <cuda_runtime.h>.
//
// A float result is a double result rounded once; NVIDIA's differ in the last bits. The name of a
// function of float ends with an f also for the engine, which counts the multiply-adds that nvcc's code
// has (exec/math_calls.cpp). Those of double count none.
#pragma once
#pragma GCC system_header

#include "attributes.h"

// clang takes a function that is only declared for one that lanes may have to enter together, and then
// leaves loops around its calls rolled that nvcc unrolls. Newer versions have an attribute that says it is
// none of these. To clang 14 a body says so, which `gnu_inline` makes one that is looked at and never
// compiled: the engine finds a declaration in both cases.
#if __has_attribute(noconvergent)
#define __SIMGPU_ENGINE(Name, ...)                                                              \
  extern "C" __attribute__((device, const, nothrow, noconvergent)) double __simgpu_math_##Name( \
      __VA_ARGS__);
#else
#define __SIMGPU_ENGINE(Name, ...)                                                          \
  extern "C" __inline__ __attribute__((device, const, nothrow, noinline, gnu_inline,        \
                                       nodebug)) double __simgpu_math_##Name(__VA_ARGS__) { \
    return x;                                                                               \
  }
#endif
#define __SIMGPU_MATH_1(Name)                 \
  __SIMGPU_ENGINE(Name, double x)             \
  __SIMGPU_ENGINE(Name##f, double x)          \
  __SIMGPU_DEVICE double Name(double x) {     \
    return __simgpu_math_##Name(x);           \
  }                                           \
  __SIMGPU_DEVICE float Name##f(float x) {    \
    return (float)__simgpu_math_##Name##f(x); \
  }
#define __SIMGPU_MATH_2(Name)                       \
  __SIMGPU_ENGINE(Name, double x, double y)         \
  __SIMGPU_ENGINE(Name##f, double x, double y)      \
  __SIMGPU_DEVICE double Name(double x, double y) { \
    return __simgpu_math_##Name(x, y);              \
  }                                                 \
  __SIMGPU_DEVICE float Name##f(float x, float y) { \
    return (float)__simgpu_math_##Name##f(x, y);    \
  }
// What <cmath> has as well: a float overload of the plain name, here and in std.
#define __SIMGPU_STD_1(Name)            \
  __SIMGPU_MATH_1(Name)                 \
  __SIMGPU_DEVICE float Name(float x) { \
    return Name##f(x);                  \
  }                                     \
  namespace std {                       \
  using ::Name;                         \
  }
#define __SIMGPU_STD_2(Name)                     \
  __SIMGPU_MATH_2(Name)                          \
  __SIMGPU_DEVICE float Name(float x, float y) { \
    return Name##f(x, y);                        \
  }                                              \
  namespace std {                                \
  using ::Name;                                  \
  }

__SIMGPU_ENGINE(sincos_cosf, double x)  // the cosine that sincosf makes beside sinf
__SIMGPU_STD_1(acos)
__SIMGPU_STD_1(asin)
__SIMGPU_STD_1(atan)
__SIMGPU_STD_1(acosh)
__SIMGPU_STD_1(asinh)
__SIMGPU_STD_1(atanh)
__SIMGPU_STD_1(cbrt)
__SIMGPU_STD_1(erf)
__SIMGPU_STD_1(erfc)
__SIMGPU_STD_1(tgamma)
__SIMGPU_STD_1(lgamma)
__SIMGPU_STD_1(expm1)
__SIMGPU_STD_1(log1p)
__SIMGPU_STD_1(logb)
__SIMGPU_STD_2(atan2)
__SIMGPU_STD_2(fmod)
__SIMGPU_STD_2(hypot)
__SIMGPU_STD_2(fdim)
__SIMGPU_STD_2(remainder)

// CUDA's own, and those of POSIX.
__SIMGPU_MATH_1(erfinv)
__SIMGPU_MATH_1(erfcinv)
__SIMGPU_MATH_1(erfcx)
__SIMGPU_MATH_1(normcdf)
__SIMGPU_MATH_1(normcdfinv)
__SIMGPU_MATH_1(rcbrt)
__SIMGPU_MATH_1(exp10)
__SIMGPU_MATH_1(sinpi)
__SIMGPU_MATH_1(cospi)
__SIMGPU_MATH_1(j0)
__SIMGPU_MATH_1(j1)
__SIMGPU_MATH_1(y0)
__SIMGPU_MATH_1(y1)
__SIMGPU_MATH_1(cyl_bessel_i0)
__SIMGPU_MATH_1(cyl_bessel_i1)
__SIMGPU_MATH_2(rhypot)

__SIMGPU_ENGINE(jn, double n, double x)
__SIMGPU_ENGINE(yn, double n, double x)
__SIMGPU_ENGINE(ldexp, double x, double n)
__SIMGPU_ENGINE(mantissa, double x)  // frexp's result ...
__SIMGPU_ENGINE(exponent, double x)  // ... and what it stores
__SIMGPU_ENGINE(ilogb, double x)
__SIMGPU_ENGINE(rint, double x)
__SIMGPU_ENGINE(round, double x)
__SIMGPU_ENGINE(trunc, double x)
__SIMGPU_ENGINE(quotient, double x, double y)  // what remquo stores
__SIMGPU_ENGINE(nextafter, double x, double y)
__SIMGPU_ENGINE(nextafterf, double x, double y)

// Each in double, in float under C's name with an f, and in float under the plain name.
#define __SIMGPU_THREE(Result, Name, FloatName, Parameters, Double) \
  __SIMGPU_DEVICE Result##_d Name Parameters(double) {              \
    return Double;                                                  \
  }                                                                 \
  __SIMGPU_DEVICE Result##_f FloatName Parameters(float) {          \
    return (Result##_f)(Double);                                    \
  }                                                                 \
  __SIMGPU_DEVICE Result##_f Name Parameters(float) {               \
    return (Result##_f)(Double);                                    \
  }                                                                 \
  namespace std {                                                   \
  using ::Name;                                                     \
  }
typedef double __simgpu_real_d;
typedef float __simgpu_real_f;
typedef int __simgpu_int_d, __simgpu_int_f;
typedef long __simgpu_long_d, __simgpu_long_f;
typedef long long __simgpu_llong_d, __simgpu_llong_f;
#define __SIMGPU_X(T) (T x)
#define __SIMGPU_X_INT(T) (T x, int n)
#define __SIMGPU_X_LONG(T) (T x, long n)
#define __SIMGPU_N_X(T) (int n, T x)
#define __SIMGPU_X_PINT(T) (T x, int* n)
__SIMGPU_THREE(__simgpu_real, ldexp, ldexpf, __SIMGPU_X_INT, __simgpu_math_ldexp(x, n))
__SIMGPU_THREE(__simgpu_real, scalbn, scalbnf, __SIMGPU_X_INT, __simgpu_math_ldexp(x, n))
__SIMGPU_THREE(__simgpu_real, scalbln, scalblnf, __SIMGPU_X_LONG, __simgpu_math_ldexp(x, n))
__SIMGPU_THREE(__simgpu_real, frexp, frexpf, __SIMGPU_X_PINT,
               (*n = (int)__simgpu_math_exponent(x), __simgpu_math_mantissa(x)))
__SIMGPU_THREE(__simgpu_int, ilogb, ilogbf, __SIMGPU_X, (int)__simgpu_math_ilogb(x))
__SIMGPU_THREE(__simgpu_long, lround, lroundf, __SIMGPU_X, (long)__simgpu_math_round(x))
__SIMGPU_THREE(__simgpu_llong, llround, llroundf, __SIMGPU_X, (long long)__simgpu_math_round(x))
__SIMGPU_THREE(__simgpu_long, lrint, lrintf, __SIMGPU_X, (long)__simgpu_math_rint(x))
__SIMGPU_THREE(__simgpu_llong, llrint, llrintf, __SIMGPU_X, (long long)__simgpu_math_rint(x))
#undef __SIMGPU_THREE
#undef __SIMGPU_X
#undef __SIMGPU_X_INT
#undef __SIMGPU_X_LONG
#undef __SIMGPU_N_X
#undef __SIMGPU_X_PINT

__SIMGPU_DEVICE double jn(int n, double x) {
  return __simgpu_math_jn(n, x);
}
__SIMGPU_DEVICE float jnf(int n, float x) {
  return (float)__simgpu_math_jn(n, x);
}
__SIMGPU_DEVICE double yn(int n, double x) {
  return __simgpu_math_yn(n, x);
}
__SIMGPU_DEVICE float ynf(int n, float x) {
  return (float)__simgpu_math_yn(n, x);
}

__SIMGPU_DEVICE double modf(double x, double* whole) {
  *whole = __simgpu_math_trunc(x);
  return __builtin_copysign(__builtin_fabs(x) == __builtin_inf() ? 0.0 : x - *whole, x);
}
__SIMGPU_DEVICE float modff(float x, float* whole) {
  *whole = (float)__simgpu_math_trunc(x);
  return __builtin_copysignf(__builtin_fabsf(x) == __builtin_inff() ? 0.0f : x - *whole, x);
}
__SIMGPU_DEVICE float modf(float x, float* whole) {
  return modff(x, whole);
}
__SIMGPU_DEVICE double remquo(double x, double y, int* quotient) {
  *quotient = (int)__simgpu_math_quotient(x, y);
  return remainder(x, y);
}
__SIMGPU_DEVICE float remquof(float x, float y, int* quotient) {
  *quotient = (int)__simgpu_math_quotient(x, y);
  return remainderf(x, y);
}
__SIMGPU_DEVICE float remquo(float x, float y, int* quotient) {
  return remquof(x, y, quotient);
}
__SIMGPU_DEVICE double nextafter(double x, double y) {
  return __simgpu_math_nextafter(x, y);
}
__SIMGPU_DEVICE float nextafterf(float x, float y) {
  return (float)__simgpu_math_nextafterf(x, y);
}
__SIMGPU_DEVICE float nextafter(float x, float y) {
  return nextafterf(x, y);
}
__SIMGPU_DEVICE double nan(const char*) {
  return __builtin_nan("");
}
__SIMGPU_DEVICE float nanf(const char*) {
  return __builtin_nanf("");
}
__SIMGPU_DEVICE double norm3d(double x, double y, double z) {
  return hypot(hypot(x, y), z);
}
__SIMGPU_DEVICE float norm3df(float x, float y, float z) {
  return (float)norm3d(x, y, z);
}
__SIMGPU_DEVICE double norm4d(double x, double y, double z, double w) {
  return hypot(hypot(x, y), hypot(z, w));
}
__SIMGPU_DEVICE float norm4df(float x, float y, float z, float w) {
  return (float)norm4d(x, y, z, w);
}
__SIMGPU_DEVICE double rnorm3d(double x, double y, double z) {
  return 1.0 / norm3d(x, y, z);
}
__SIMGPU_DEVICE float rnorm3df(float x, float y, float z) {
  return (float)rnorm3d(x, y, z);
}
__SIMGPU_DEVICE double rnorm4d(double x, double y, double z, double w) {
  return 1.0 / norm4d(x, y, z, w);
}
__SIMGPU_DEVICE float rnorm4df(float x, float y, float z, float w) {
  return (float)rnorm4d(x, y, z, w);
}
__SIMGPU_DEVICE double norm(int count, const double* x) {
  double length = 0.0;
  for (int i = 0; i < count; ++i) length = hypot(length, x[i]);
  return length;
}
__SIMGPU_DEVICE float normf(int count, const float* x) {
  double length = 0.0;
  for (int i = 0; i < count; ++i) length = hypot(length, (double)x[i]);
  return (float)length;
}
__SIMGPU_DEVICE void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
__SIMGPU_DEVICE void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
__SIMGPU_DEVICE float saturatef(float x) {
  return x >= 0.0f ? (x <= 1.0f ? x : 1.0f) : 0.0f;
}
namespace std {
using ::modf;
using ::nextafter;
using ::remquo;
}  // namespace std

#undef __SIMGPU_MATH_1
#undef __SIMGPU_MATH_2
#undef __SIMGPU_STD_1
#undef __SIMGPU_STD_2
