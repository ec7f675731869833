// What all parts of CUB here stand on: shuffles of any type, lanes and masks, storage without
// constructors.
#pragma once
#pragma GCC system_header

#include <cfloat>
#include <limits>

#include "../../cuda_runtime.h"

#define __SIMGPU_CUB_BOTH __attribute__((host, device, nodebug, always_inline)) inline
#define __SIMGPU_CUB __attribute__((device, nodebug, always_inline)) inline
#define __SIMGPU_CUB_MEMBER __attribute__((device, nodebug, always_inline))

#ifndef CUB_PTX_WARP_THREADS
#define CUB_PTX_WARP_THREADS 32
#define CUB_WARP_THREADS(arch) 32
#endif

namespace cub {

struct NullType {};

/// Shared memory for `Count` values, which need no constructor: parts of a program share it in a
/// union.
template <typename T, int Count = 1>
struct Uninitialized {
  __attribute__((aligned(alignof(T)))) char bytes[sizeof(T) * Count];
  __SIMGPU_CUB_MEMBER T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
  __SIMGPU_CUB_MEMBER T& Alias() { return (*this)[0]; }
};

__SIMGPU_CUB unsigned int LaneId() {
  unsigned int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
__SIMGPU_CUB int RowMajorTid(int x, int y, int) {
  return static_cast<int>((threadIdx.z * y + threadIdx.y) * x + threadIdx.x);
}
__SIMGPU_CUB unsigned int WarpId() {
  return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) / 32;
}
/// The lanes of logical warp number `warp` of its warp.
template <int Threads>
__SIMGPU_CUB unsigned int WarpMask(unsigned int warp) {
  static_assert(Threads >= 1 && Threads <= 32 && (Threads & (Threads - 1)) == 0,
                "simgpu: logical warps of 1, 2, 4, 8, 16 or 32 threads");
  return Threads == 32 ? 0xffffffffu : ((1u << (Threads & 31)) - 1) << (warp * Threads % 32);
}

namespace __simgpu {
/// Moves a value of any type between lanes, word by word.
template <typename T, typename Move>
__SIMGPU_CUB T move_words(const T& value, Move move) {
  unsigned int words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned int& word : words) word = move(word);
  T moved;
  __builtin_memcpy(static_cast<void*>(&moved), words, sizeof(T));
  return moved;
}
}  // namespace __simgpu

/// From the lane `offset` below; lanes before `first_thread` keep their own.
template <int Threads, typename T>
__SIMGPU_CUB T ShuffleUp(T input, int offset, int first_thread, unsigned int mask) {
  const int lane = static_cast<int>(LaneId()) & (Threads - 1);
  return __simgpu::move_words(input, [=] __SIMGPU_CUB_MEMBER(unsigned int word) {
    const unsigned int from = __shfl_up_sync(mask, word, offset, Threads);
    return lane - offset < first_thread ? word : from;
  });
}
/// From the lane `offset` above; lanes behind `last_thread` keep their own.
template <int Threads, typename T>
__SIMGPU_CUB T ShuffleDown(T input, int offset, int last_thread, unsigned int mask) {
  const int lane = static_cast<int>(LaneId()) & (Threads - 1);
  return __simgpu::move_words(input, [=] __SIMGPU_CUB_MEMBER(unsigned int word) {
    const unsigned int from = __shfl_down_sync(mask, word, offset, Threads);
    return lane + offset > last_thread ? word : from;
  });
}
template <int Threads, typename T>
__SIMGPU_CUB T ShuffleIndex(T input, int lane, unsigned int mask) {
  return __simgpu::move_words(input, [=] __SIMGPU_CUB_MEMBER(unsigned int word) {
    return __shfl_sync(mask, word, lane, Threads);
  });
}

}  // namespace cub
