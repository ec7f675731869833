// Complex numbers of CUDA's C interface, on both sides.
#pragma once
#pragma GCC system_header

#define CU_COMPLEX_H_

#include <math.h>

#include "cuda_runtime.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// F names the functions in float ("f") or double (""); hypot keeps the length of large numbers.
#define __SIMGPU_COMPLEX(C, T, F, Make)                                         \
  __SIMGPU_BOTH T cuCreal##F(C x) {                                             \
    return x.x;                                                                 \
  }                                                                             \
  __SIMGPU_BOTH T cuCimag##F(C x) {                                             \
    return x.y;                                                                 \
  }                                                                             \
  __SIMGPU_BOTH C Make(T re, T im) {                                            \
    return C{re, im};                                                           \
  }                                                                             \
  __SIMGPU_BOTH C cuConj##F(C x) {                                              \
    return C{x.x, -x.y};                                                        \
  }                                                                             \
  __SIMGPU_BOTH C cuCadd##F(C x, C y) {                                         \
    return C{x.x + y.x, x.y + y.y};                                             \
  }                                                                             \
  __SIMGPU_BOTH C cuCsub##F(C x, C y) {                                         \
    return C{x.x - y.x, x.y - y.y};                                             \
  }                                                                             \
  __SIMGPU_BOTH C cuCmul##F(C x, C y) {                                         \
    return C{x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};                     \
  }                                                                             \
  __SIMGPU_BOTH C cuCfma##F(C x, C y, C d) {                                    \
    return cuCadd##F(cuCmul##F(x, y), d);                                       \
  }                                                                             \
  __SIMGPU_BOTH T cuCabs##F(C x) {                                              \
    return hypot##F(x.x, x.y);                                                  \
  }                                                                             \
  __SIMGPU_BOTH C cuCdiv##F(C x, C y) {                                         \
    const T scale = 1 / (fabs##F(y.x) + fabs##F(y.y));                          \
    const T a = x.x * scale, b = x.y * scale, c = y.x * scale, d = y.y * scale; \
    const T over = 1 / (c * c + d * d);                                         \
    return C{(a * c + b * d) * over, (b * c - a * d) * over};                   \
  }
__SIMGPU_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex)
__SIMGPU_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex)
#undef __SIMGPU_COMPLEX

__SIMGPU_BOTH cuComplex make_cuComplex(float re, float im) {
  return make_cuFloatComplex(re, im);
}
__SIMGPU_BOTH cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) {
  return make_cuDoubleComplex(x.x, x.y);
}
__SIMGPU_BOTH cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
  return make_cuFloatComplex((float)x.x, (float)x.y);
}
