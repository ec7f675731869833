// Two words of 16 bits or four of 8 in one of 32: the SIMD intrinsics. Part of <cuda_runtime.h>; device
// code only.
#pragma once
#pragma GCC system_header

#include "attributes.h"

// a and b are the elements, wide enough for sums; `Type` is what they are.
#define __SIMGPU_PACKED(Name, Bits, Type, Result)                               \
  __SIMGPU_DEVICE unsigned int Name(unsigned int x, unsigned int y) {           \
    const unsigned int ones = 0xffffffffu >> (32 - Bits);                       \
    unsigned int packed = 0;                                                    \
    for (int at = 0; at < 32; at += Bits) {                                     \
      const int a = static_cast<Type>(x >> at), b = static_cast<Type>(y >> at); \
      packed |= (static_cast<unsigned int>(Result) & ones) << at;               \
    }                                                                           \
    return packed;                                                              \
  }
#define __SIMGPU_PACKED_ONE(Name, Bits, Type, Result)             \
  __SIMGPU_DEVICE unsigned int Name(unsigned int x) {             \
    const unsigned int ones = 0xffffffffu >> (32 - Bits);         \
    unsigned int packed = 0;                                      \
    for (int at = 0; at < 32; at += Bits) {                       \
      const int a = static_cast<Type>(x >> at);                   \
      packed |= (static_cast<unsigned int>(Result) & ones) << at; \
    }                                                             \
    return packed;                                                \
  }
#define __SIMGPU_WITHIN(Value, Low, High) \
  ((Value) < (Low) ? (Low) : (Value) > (High) ? (High) : (Value))
#define __SIMGPU_PACKED_COMPARE(Name, N, Bits, Type, Holds)      \
  __SIMGPU_PACKED(__vcmp##Name##N, Bits, Type, (Holds) ? -1 : 0) \
  __SIMGPU_PACKED(__vset##Name##N, Bits, Type, (Holds) ? 1 : 0)
#define __SIMGPU_PACKED_ALL(N, Bits, S, U, Least, Most, All)                    \
  __SIMGPU_PACKED(__vadd##N, Bits, U, a + b)                                    \
  __SIMGPU_PACKED(__vsub##N, Bits, U, a - b)                                    \
  __SIMGPU_PACKED(__vaddss##N, Bits, S, __SIMGPU_WITHIN(a + b, Least, Most))    \
  __SIMGPU_PACKED(__vaddus##N, Bits, U, __SIMGPU_WITHIN(a + b, 0, All))         \
  __SIMGPU_PACKED(__vsubss##N, Bits, S, __SIMGPU_WITHIN(a - b, Least, Most))    \
  __SIMGPU_PACKED(__vsubus##N, Bits, U, __SIMGPU_WITHIN(a - b, 0, All))         \
  __SIMGPU_PACKED(__vavgs##N, Bits, S, (a + b + (a + b >= 0)) >> 1)             \
  __SIMGPU_PACKED(__vavgu##N, Bits, U, (a + b + 1) >> 1)                        \
  __SIMGPU_PACKED(__vhaddu##N, Bits, U, (a + b) >> 1)                           \
  __SIMGPU_PACKED(__vmaxs##N, Bits, S, a < b ? b : a)                           \
  __SIMGPU_PACKED(__vmaxu##N, Bits, U, a < b ? b : a)                           \
  __SIMGPU_PACKED(__vmins##N, Bits, S, b < a ? b : a)                           \
  __SIMGPU_PACKED(__vminu##N, Bits, U, b < a ? b : a)                           \
  __SIMGPU_PACKED(__vabsdiffs##N, Bits, S, a < b ? b - a : a - b)               \
  __SIMGPU_PACKED(__vabsdiffu##N, Bits, U, a < b ? b - a : a - b)               \
  __SIMGPU_PACKED_ONE(__vneg##N, Bits, S, -a)                                   \
  __SIMGPU_PACKED_ONE(__vnegss##N, Bits, S, a == Least ? Most : -a)             \
  __SIMGPU_PACKED_ONE(__vabs##N, Bits, S, a < 0 ? -a : a)                       \
  __SIMGPU_PACKED_ONE(__vabsss##N, Bits, S, a == Least ? Most : a < 0 ? -a : a) \
  __SIMGPU_PACKED_COMPARE(eq, N, Bits, U, a == b)                               \
  __SIMGPU_PACKED_COMPARE(ne, N, Bits, U, a != b)                               \
  __SIMGPU_PACKED_COMPARE(ges, N, Bits, S, a >= b)                              \
  __SIMGPU_PACKED_COMPARE(geu, N, Bits, U, a >= b)                              \
  __SIMGPU_PACKED_COMPARE(gts, N, Bits, S, a > b)                               \
  __SIMGPU_PACKED_COMPARE(gtu, N, Bits, U, a > b)                               \
  __SIMGPU_PACKED_COMPARE(les, N, Bits, S, a <= b)                              \
  __SIMGPU_PACKED_COMPARE(leu, N, Bits, U, a <= b)                              \
  __SIMGPU_PACKED_COMPARE(lts, N, Bits, S, a < b)                               \
  __SIMGPU_PACKED_COMPARE(ltu, N, Bits, U, a < b)                               \
  __SIMGPU_DEVICE unsigned int __vsadu##N(unsigned int x, unsigned int y) {     \
    unsigned int sum = 0;                                                       \
    for (int at = 0; at < 32; at += Bits) {                                     \
      const int a = static_cast<U>(x >> at), b = static_cast<U>(y >> at);       \
      sum += static_cast<unsigned int>(a < b ? b - a : a - b);                  \
    }                                                                           \
    return sum;                                                                 \
  }                                                                             \
  __SIMGPU_DEVICE unsigned int __vsads##N(unsigned int x, unsigned int y) {     \
    unsigned int sum = 0;                                                       \
    for (int at = 0; at < 32; at += Bits) {                                     \
      const int a = static_cast<S>(x >> at), b = static_cast<S>(y >> at);       \
      sum += static_cast<unsigned int>(a < b ? b - a : a - b);                  \
    }                                                                           \
    return sum;                                                                 \
  }
__SIMGPU_PACKED_ALL(2, 16, short, unsigned short, -32768, 32767, 65535)
__SIMGPU_PACKED_ALL(4, 8, signed char, unsigned char, -128, 127, 255)
#undef __SIMGPU_PACKED_ALL
#undef __SIMGPU_PACKED_COMPARE
#undef __SIMGPU_WITHIN
#undef __SIMGPU_PACKED_ONE
#undef __SIMGPU_PACKED
