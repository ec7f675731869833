// DPX: three-way minimum and maximum, with an addition or a bound at 0, of words and of pairs of 16 bits.
// Part of <cuda_runtime.h>.
#pragma once
#pragma GCC system_header

#include "attributes.h"

// `Word` is what the functions take; `Type` has the elements, `Bits` wide. a, b and c are those of one place; sums
// wrap around, as on the GPU.
#define __SIMGPU_DPX(Name, Word, Type, Bits, Result)                                      \
  __SIMGPU_BOTH Word Name(const Word x, const Word y, const Word z) {                     \
    unsigned int packed = 0;                                                              \
    for (int at = 0; at < 32; at += Bits) {                                               \
      const Type a = static_cast<Type>(static_cast<unsigned int>(x) >> at),               \
                 b = static_cast<Type>(static_cast<unsigned int>(y) >> at),               \
                 c = static_cast<Type>(static_cast<unsigned int>(z) >> at);               \
      const Type sum =                                                                    \
          static_cast<Type>(static_cast<unsigned int>(a) + static_cast<unsigned int>(b)); \
      (void)sum, (void)b, (void)c;                                                        \
      packed |= (static_cast<unsigned int>(Result) & (0xffffffffu >> (32 - Bits))) << at; \
    }                                                                                     \
    return static_cast<Word>(packed);                                                     \
  }
#define __SIMGPU_MOST(a, b) ((a) < (b) ? (b) : (a))
#define __SIMGPU_LEAST(a, b) ((b) < (a) ? (b) : (a))
#define __SIMGPU_DPX_ALL(Suffix, Word, Type, Bits)                                           \
  __SIMGPU_DPX(__vimax3_##Suffix, Word, Type, Bits, __SIMGPU_MOST(__SIMGPU_MOST(a, b), c))   \
  __SIMGPU_DPX(__vimin3_##Suffix, Word, Type, Bits, __SIMGPU_LEAST(__SIMGPU_LEAST(a, b), c)) \
  __SIMGPU_DPX(__viaddmax_##Suffix, Word, Type, Bits, __SIMGPU_MOST(sum, c))                 \
  __SIMGPU_DPX(__viaddmin_##Suffix, Word, Type, Bits, __SIMGPU_LEAST(sum, c))
#define __SIMGPU_DPX_RELU(Suffix, Word, Type, Bits)                        \
  __SIMGPU_DPX(__vimax3_##Suffix##_relu, Word, Type, Bits,                 \
               __SIMGPU_MOST(__SIMGPU_MOST(__SIMGPU_MOST(a, b), c), 0))    \
  __SIMGPU_DPX(__vimin3_##Suffix##_relu, Word, Type, Bits,                 \
               __SIMGPU_MOST(__SIMGPU_LEAST(__SIMGPU_LEAST(a, b), c), 0))  \
  __SIMGPU_DPX(__viaddmax_##Suffix##_relu, Word, Type, Bits,               \
               __SIMGPU_MOST(__SIMGPU_MOST(sum, c), 0))                    \
  __SIMGPU_DPX(__viaddmin_##Suffix##_relu, Word, Type, Bits,               \
               __SIMGPU_MOST(__SIMGPU_LEAST(sum, c), 0))                   \
  __SIMGPU_BOTH Word __vimax_##Suffix##_relu(const Word a, const Word b) { \
    return __vimax3_##Suffix##_relu(a, b, b);                              \
  }                                                                        \
  __SIMGPU_BOTH Word __vimin_##Suffix##_relu(const Word a, const Word b) { \
    return __vimin3_##Suffix##_relu(a, b, b);                              \
  }
__SIMGPU_DPX_ALL(s32, int, int, 32)
__SIMGPU_DPX_ALL(u32, unsigned int, unsigned int, 32)
__SIMGPU_DPX_ALL(s16x2, unsigned int, short, 16)
__SIMGPU_DPX_ALL(u16x2, unsigned int, unsigned short, 16)
__SIMGPU_DPX_RELU(s32, int, int, 32)
__SIMGPU_DPX_RELU(s16x2, unsigned int, short, 16)

/// Which one it was, too: whether that is `a`. Of pairs, the upper half comes first.
#define __SIMGPU_DPX_WHICH(Name, Word, Type, Holds)                                             \
  __SIMGPU_BOTH Word Name##32(const Word a, const Word b, bool* is_a) {                         \
    *is_a = a Holds b;                                                                          \
    return *is_a ? a : b;                                                                       \
  }                                                                                             \
  __SIMGPU_BOTH unsigned int Name##16x2(const unsigned int x, const unsigned int y, bool* high, \
                                        bool* low) {                                            \
    *high = static_cast<Type>(x >> 16) Holds static_cast<Type>(y >> 16);                        \
    *low = static_cast<Type>(x) Holds static_cast<Type>(y);                                     \
    return ((*high ? x : y) & 0xffff0000u) | ((*low ? x : y) & 0xffffu);                        \
  }
__SIMGPU_DPX_WHICH(__vibmax_s, int, short, >=)
__SIMGPU_DPX_WHICH(__vibmax_u, unsigned int, unsigned short, >=)
__SIMGPU_DPX_WHICH(__vibmin_s, int, short, <=)
__SIMGPU_DPX_WHICH(__vibmin_u, unsigned int, unsigned short, <=)
#undef __SIMGPU_DPX_WHICH
#undef __SIMGPU_DPX_RELU
#undef __SIMGPU_DPX_ALL
#undef __SIMGPU_LEAST
#undef __SIMGPU_MOST
#undef __SIMGPU_DPX
