// cub::BlockReduce: a sum or another reduction over the threads of a block; the result is thread
// 0's. All algorithms are CUB's default here: each warp by shuffles, then thread 0 over the warps.
#pragma once
#pragma GCC system_header

#include "../thread/thread_operators.cuh"

#if defined(__CUDA__)
namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};

template <typename T, int X, BlockReduceAlgorithm Algorithm = BLOCK_REDUCE_WARP_REDUCTIONS,
          int Y = 1, int Z = 1, int Architecture = 0>
class BlockReduce {
  static constexpr int kThreads = X * Y * Z, kWarps = (kThreads + 31) / 32;

 public:
  struct TempStorage {
    Uninitialized<T, kWarps> of_warp;
  };
  __SIMGPU_CUB_MEMBER BlockReduce() : BlockReduce(own()) {}
  __SIMGPU_CUB_MEMBER explicit BlockReduce(TempStorage& temp)
      : temp_(temp), thread_(RowMajorTid(X, Y, Z)) {}

  template <typename Operator>
  __SIMGPU_CUB_MEMBER T Reduce(T input, Operator op) {
    return reduce(input, op, kThreads);
  }
  /// Of the first `valid` threads.
  template <typename Operator>
  __SIMGPU_CUB_MEMBER T Reduce(T input, Operator op, int valid) {
    return reduce(input, op, valid);
  }
  template <int Items, typename Operator>
  __SIMGPU_CUB_MEMBER T Reduce(T (&inputs)[Items], Operator op) {
    T mine = inputs[0];
#pragma unroll
    for (int i = 1; i < Items; ++i) mine = op(mine, inputs[i]);
    return Reduce(mine, op);
  }
  __SIMGPU_CUB_MEMBER T Sum(T input) {
    return Reduce(input, cub::Sum());
  }
  __SIMGPU_CUB_MEMBER T Sum(T input, int valid) {
    return Reduce(input, cub::Sum(), valid);
  }
  template <int Items>
  __SIMGPU_CUB_MEMBER T Sum(T (&inputs)[Items]) {
    return Reduce(inputs, cub::Sum());
  }

 private:
  static __SIMGPU_CUB_MEMBER TempStorage& own() {
    __shared__ TempStorage storage;
    return storage;
  }
  template <typename Operator>
  __SIMGPU_CUB_MEMBER T reduce(T value, Operator op, int valid) {
    const int lane = thread_ % 32, warp = thread_ / 32;
    // The last warp may have fewer threads than lanes.
    const int here = kThreads - 32 * warp;
    const unsigned int mask = kThreads % 32 == 0 || here >= 32 ? ~0u : (1u << here) - 1;
#pragma unroll
    for (int offset = 1; offset < (kThreads < 32 ? kThreads : 32); offset *= 2) {
      const T other = ShuffleDown<32>(value, offset, 31, mask);
      if (lane + offset < 32 && thread_ + offset < valid) value = op(value, other);
    }
    if (kWarps == 1) return value;
    if (lane == 0) temp_.of_warp[warp] = value;
    __syncthreads();
    if (thread_ == 0) {
#pragma unroll
      for (int k = 1; k < kWarps; ++k)
        if (32 * k < valid) value = op(value, temp_.of_warp[k]);
    }
    return value;
  }
  TempStorage& temp_;
  int thread_;
};

}  // namespace cub
#endif
