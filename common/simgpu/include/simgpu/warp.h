// Warp shuffles, votes, matches and reductions. Part of <cuda_runtime.h>; device code only.
#pragma once
#pragma GCC system_header

#include "attributes.h"

#define __SIMGPU_FULL_WIDTH 32

// The instruction's last operand: bits 8-12 keep lanes inside a segment of `width` lanes, bits 0-4
// clamp.
__SIMGPU_DEVICE int __simgpu_segment(int width, int clamp) {
  return ((32 - width) << 8) | clamp;
}

// 32-bit words; everything else is made of them.
__SIMGPU_DEVICE int __simgpu_shfl_idx(unsigned int mask, int value, int lane, int width) {
  return __nvvm_shfl_sync_idx_i32(mask, value, lane, __simgpu_segment(width, 0x1f));
}
__SIMGPU_DEVICE int __simgpu_shfl_up(unsigned int mask, int value, int delta, int width) {
  return __nvvm_shfl_sync_up_i32(mask, value, delta, __simgpu_segment(width, 0));
}
__SIMGPU_DEVICE int __simgpu_shfl_down(unsigned int mask, int value, int delta, int width) {
  return __nvvm_shfl_sync_down_i32(mask, value, delta, __simgpu_segment(width, 0x1f));
}
__SIMGPU_DEVICE int __simgpu_shfl_xor(unsigned int mask, int value, int lanes, int width) {
  return __nvvm_shfl_sync_bfly_i32(mask, value, lanes, __simgpu_segment(width, 0x1f));
}

#define __SIMGPU_SHUFFLE_32(Name, Word, T, Operand)                \
  __SIMGPU_DEVICE T Name(unsigned int mask, T value, Operand lane, \
                         int width = __SIMGPU_FULL_WIDTH) {        \
    int bits;                                                      \
    __builtin_memcpy(&bits, &value, 4);                            \
    bits = Word(mask, bits, static_cast<int>(lane), width);        \
    __builtin_memcpy(&value, &bits, 4);                            \
    return value;                                                  \
  }
#define __SIMGPU_SHUFFLE_64(Name, Word, T, Operand)                               \
  __SIMGPU_DEVICE T Name(unsigned int mask, T value, Operand lane,                \
                         int width = __SIMGPU_FULL_WIDTH) {                       \
    unsigned long long bits;                                                      \
    __builtin_memcpy(&bits, &value, 8);                                           \
    const unsigned int low = static_cast<unsigned int>(                           \
        Word(mask, static_cast<int>(bits), static_cast<int>(lane), width));       \
    const unsigned int high = static_cast<unsigned int>(                          \
        Word(mask, static_cast<int>(bits >> 32), static_cast<int>(lane), width)); \
    bits = (static_cast<unsigned long long>(high) << 32) | low;                   \
    __builtin_memcpy(&value, &bits, 8);                                           \
    return value;                                                                 \
  }
#define __SIMGPU_SHUFFLE(Name, Word, Operand)                  \
  __SIMGPU_SHUFFLE_32(Name, Word, int, Operand)                \
  __SIMGPU_SHUFFLE_32(Name, Word, unsigned int, Operand)       \
  __SIMGPU_SHUFFLE_32(Name, Word, float, Operand)              \
  __SIMGPU_SHUFFLE_64(Name, Word, long, Operand)               \
  __SIMGPU_SHUFFLE_64(Name, Word, unsigned long, Operand)      \
  __SIMGPU_SHUFFLE_64(Name, Word, long long, Operand)          \
  __SIMGPU_SHUFFLE_64(Name, Word, unsigned long long, Operand) \
  __SIMGPU_SHUFFLE_64(Name, Word, double, Operand)

__SIMGPU_SHUFFLE(__shfl_sync, __simgpu_shfl_idx, int)
__SIMGPU_SHUFFLE(__shfl_up_sync, __simgpu_shfl_up, unsigned int)
__SIMGPU_SHUFFLE(__shfl_down_sync, __simgpu_shfl_down, unsigned int)
__SIMGPU_SHUFFLE(__shfl_xor_sync, __simgpu_shfl_xor, int)

#undef __SIMGPU_SHUFFLE
#undef __SIMGPU_SHUFFLE_32
#undef __SIMGPU_SHUFFLE_64
#undef __SIMGPU_FULL_WIDTH

__SIMGPU_DEVICE int __all_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_all_sync(mask, predicate);
}
__SIMGPU_DEVICE int __any_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_any_sync(mask, predicate);
}
__SIMGPU_DEVICE int __uni_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_uni_sync(mask, predicate);
}
__SIMGPU_DEVICE unsigned int __ballot_sync(unsigned int mask, int predicate) {
  return static_cast<unsigned int>(__nvvm_vote_ballot_sync(mask, predicate));
}
__SIMGPU_DEVICE unsigned int __activemask() {
  unsigned int mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}

#define __SIMGPU_MATCH_32(T)                                                                  \
  __SIMGPU_DEVICE unsigned int __match_any_sync(unsigned int mask, T value) {                 \
    unsigned int bits;                                                                        \
    __builtin_memcpy(&bits, &value, 4);                                                       \
    unsigned int lanes;                                                                       \
    asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(lanes) : "r"(bits), "r"(mask));      \
    return lanes;                                                                             \
  }                                                                                           \
  __SIMGPU_DEVICE unsigned int __match_all_sync(unsigned int mask, T value, int* predicate) { \
    unsigned int bits;                                                                        \
    __builtin_memcpy(&bits, &value, 4);                                                       \
    unsigned int lanes;                                                                       \
    int all;                                                                                  \
    asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %2, %3; selp.s32 %1, 1, 0, p; }"   \
                 : "=r"(lanes), "=r"(all)                                                     \
                 : "r"(bits), "r"(mask));                                                     \
    *predicate = all;                                                                         \
    return lanes;                                                                             \
  }
#define __SIMGPU_MATCH_64(T)                                                                  \
  __SIMGPU_DEVICE unsigned int __match_any_sync(unsigned int mask, T value) {                 \
    unsigned long long bits;                                                                  \
    __builtin_memcpy(&bits, &value, 8);                                                       \
    unsigned int lanes;                                                                       \
    asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(lanes) : "l"(bits), "r"(mask));      \
    return lanes;                                                                             \
  }                                                                                           \
  __SIMGPU_DEVICE unsigned int __match_all_sync(unsigned int mask, T value, int* predicate) { \
    unsigned long long bits;                                                                  \
    __builtin_memcpy(&bits, &value, 8);                                                       \
    unsigned int lanes;                                                                       \
    int all;                                                                                  \
    asm volatile("{ .reg .pred p; match.all.sync.b64 %0|p, %2, %3; selp.s32 %1, 1, 0, p; }"   \
                 : "=r"(lanes), "=r"(all)                                                     \
                 : "l"(bits), "r"(mask));                                                     \
    *predicate = all;                                                                         \
    return lanes;                                                                             \
  }
__SIMGPU_MATCH_32(int)
__SIMGPU_MATCH_32(unsigned int)
__SIMGPU_MATCH_32(float)
__SIMGPU_MATCH_64(long)
__SIMGPU_MATCH_64(unsigned long)
__SIMGPU_MATCH_64(long long)
__SIMGPU_MATCH_64(unsigned long long)
__SIMGPU_MATCH_64(double)
#undef __SIMGPU_MATCH_32
#undef __SIMGPU_MATCH_64

// Compute capability 8.0 and later.
#define __SIMGPU_REDUCE(Name, Operation, T, Type)                \
  __SIMGPU_DEVICE T Name(unsigned int mask, T value) {           \
    T result;                                                    \
    asm volatile("redux.sync." Operation "." Type " %0, %1, %2;" \
                 : "=r"(result)                                  \
                 : "r"(value), "r"(mask));                       \
    return result;                                               \
  }
__SIMGPU_REDUCE(__reduce_add_sync, "add", unsigned int, "u32")
__SIMGPU_REDUCE(__reduce_min_sync, "min", unsigned int, "u32")
__SIMGPU_REDUCE(__reduce_max_sync, "max", unsigned int, "u32")
__SIMGPU_REDUCE(__reduce_add_sync, "add", int, "s32")
__SIMGPU_REDUCE(__reduce_min_sync, "min", int, "s32")
__SIMGPU_REDUCE(__reduce_max_sync, "max", int, "s32")
__SIMGPU_REDUCE(__reduce_and_sync, "and", unsigned int, "b32")
__SIMGPU_REDUCE(__reduce_or_sync, "or", unsigned int, "b32")
__SIMGPU_REDUCE(__reduce_xor_sync, "xor", unsigned int, "b32")
#undef __SIMGPU_REDUCE
