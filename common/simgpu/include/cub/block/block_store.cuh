// cub::BlockStore: the way back of cub::BlockLoad.
#pragma once
#pragma GCC system_header

#include "../util/util_ptx.cuh"

#if defined(__CUDA__)
namespace cub {

/// As those of BlockLoad.
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <typename T, int Items, typename To>
__SIMGPU_CUB void StoreDirectBlocked(int thread, To to, T (&items)[Items], int valid = 0x7fffffff) {
#pragma unroll
  for (int i = 0; i < Items; ++i)
    if (thread * Items + i < valid) to[thread * Items + i] = items[i];
}
template <int Threads, typename T, int Items, typename To>
__SIMGPU_CUB void StoreDirectStriped(int thread, To to, T (&items)[Items], int valid = 0x7fffffff) {
#pragma unroll
  for (int i = 0; i < Items; ++i)
    if (i * Threads + thread < valid) to[i * Threads + thread] = items[i];
}

template <typename T, int X, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT,
          int Y = 1, int Z = 1, int Architecture = 0>
class BlockStore {
  static constexpr int kThreads = X * Y * Z;
  static constexpr bool kExchanged = Algorithm >= BLOCK_STORE_TRANSPOSE;

 public:
  struct TempStorage {
    Uninitialized<T, kExchanged ? kThreads * Items : 1> items;
  };
  __SIMGPU_CUB_MEMBER BlockStore() : BlockStore(own()) {}
  __SIMGPU_CUB_MEMBER explicit BlockStore(TempStorage& temp)
      : temp_(temp), thread_(RowMajorTid(X, Y, Z)) {}

  template <typename To>
  __SIMGPU_CUB_MEMBER void Store(To to, T (&items)[Items]) {
    Store(to, items, kThreads * Items);
  }
  template <typename To>
  __SIMGPU_CUB_MEMBER void Store(To to, T (&items)[Items], int valid) {
    if (kExchanged) {
#pragma unroll
      for (int i = 0; i < Items; ++i) temp_.items[thread_ * Items + i] = items[i];
      __syncthreads();
#pragma unroll
      for (int i = 0; i < Items; ++i)
        if (i * kThreads + thread_ < valid)
          to[i * kThreads + thread_] = temp_.items[i * kThreads + thread_];
    } else if (Algorithm == BLOCK_STORE_STRIPED) {
      StoreDirectStriped<kThreads>(thread_, to, items, valid);
    } else {
      StoreDirectBlocked(thread_, to, items, valid);
    }
  }

 private:
  static __SIMGPU_CUB_MEMBER TempStorage& own() {
    __shared__ TempStorage storage;
    return storage;
  }
  TempStorage& temp_;
  int thread_;
};

}  // namespace cub
#endif
