// make_float4 and its sisters.
#pragma once
#pragma GCC system_header

// NVIDIA's guards: programs ask for them, and a toolkit's header that is found later adds nothing.
#define __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_HPP__

#include "vector_types.h"

#define __SIMGPU_MAKE(Prefix, T)                                 \
  __SIMGPU_BOTH Prefix##1 make_##Prefix##1(T x) {                \
    return Prefix##1 {x};                                        \
  }                                                              \
  __SIMGPU_BOTH Prefix##2 make_##Prefix##2(T x, T y) {           \
    return Prefix##2 {x, y};                                     \
  }                                                              \
  __SIMGPU_BOTH Prefix##3 make_##Prefix##3(T x, T y, T z) {      \
    return Prefix##3 {x, y, z};                                  \
  }                                                              \
  __SIMGPU_BOTH Prefix##4 make_##Prefix##4(T x, T y, T z, T w) { \
    return Prefix##4 {x, y, z, w};                               \
  }

#define __SIMGPU_MAKE_64(Prefix, T)                                      \
  __SIMGPU_MAKE(Prefix, T)                                               \
  __SIMGPU_BOTH Prefix##4_16a make_##Prefix##4_16a(T x, T y, T z, T w) { \
    return Prefix##4_16a {x, y, z, w};                                   \
  }                                                                      \
  __SIMGPU_BOTH Prefix##4_32a make_##Prefix##4_32a(T x, T y, T z, T w) { \
    return Prefix##4_32a {x, y, z, w};                                   \
  }

__SIMGPU_MAKE(char, signed char)
__SIMGPU_MAKE(uchar, unsigned char)
__SIMGPU_MAKE(short, short)
__SIMGPU_MAKE(ushort, unsigned short)
__SIMGPU_MAKE(int, int)
__SIMGPU_MAKE(uint, unsigned int)
__SIMGPU_MAKE_64(long, long)
__SIMGPU_MAKE_64(ulong, unsigned long)
__SIMGPU_MAKE_64(longlong, long long)
__SIMGPU_MAKE_64(ulonglong, unsigned long long)
__SIMGPU_MAKE(float, float)
__SIMGPU_MAKE_64(double, double)

#undef __SIMGPU_MAKE
#undef __SIMGPU_MAKE_64
