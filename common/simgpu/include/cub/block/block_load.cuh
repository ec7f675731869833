// cub::BlockLoad: `Items` values for each thread of a block, neighbours of each other, from memory.
#pragma once
#pragma GCC system_header

#include "../util/util_ptx.cuh"

#if defined(__CUDA__)
namespace cub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,          ///< each thread its own, one after the other
  BLOCK_LOAD_STRIPED,         ///< neighbouring threads load neighbours, and keep what they loaded
  BLOCK_LOAD_VECTORIZE,       ///< as DIRECT
  BLOCK_LOAD_TRANSPOSE,       ///< as STRIPED, then exchanged through shared memory
  BLOCK_LOAD_WARP_TRANSPOSE,  ///< as TRANSPOSE
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED  ///< as TRANSPOSE
};

template <typename T, int Items, typename From>
__SIMGPU_CUB void LoadDirectBlocked(int thread, From from, T (&items)[Items]) {
#pragma unroll
  for (int i = 0; i < Items; ++i) items[i] = from[thread * Items + i];
}
template <typename T, int Items, typename From>
__SIMGPU_CUB void LoadDirectBlocked(int thread, From from, T (&items)[Items], int valid) {
#pragma unroll
  for (int i = 0; i < Items; ++i)
    if (thread * Items + i < valid) items[i] = from[thread * Items + i];
}
template <int Threads, typename T, int Items, typename From>
__SIMGPU_CUB void LoadDirectStriped(int thread, From from, T (&items)[Items]) {
#pragma unroll
  for (int i = 0; i < Items; ++i) items[i] = from[i * Threads + thread];
}
template <int Threads, typename T, int Items, typename From>
__SIMGPU_CUB void LoadDirectStriped(int thread, From from, T (&items)[Items], int valid) {
#pragma unroll
  for (int i = 0; i < Items; ++i)
    if (i * Threads + thread < valid) items[i] = from[i * Threads + thread];
}

template <typename T, int X, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int Y = 1,
          int Z = 1, int Architecture = 0>
class BlockLoad {
  static constexpr int kThreads = X * Y * Z;
  static constexpr bool kStriped = Algorithm == BLOCK_LOAD_STRIPED;
  static constexpr bool kExchanged = Algorithm >= BLOCK_LOAD_TRANSPOSE;

 public:
  struct TempStorage {
    Uninitialized<T, kExchanged ? kThreads * Items : 1> items;
  };
  __SIMGPU_CUB_MEMBER BlockLoad() : BlockLoad(own()) {}
  __SIMGPU_CUB_MEMBER explicit BlockLoad(TempStorage& temp)
      : temp_(temp), thread_(RowMajorTid(X, Y, Z)) {}

  template <typename From>
  __SIMGPU_CUB_MEMBER void Load(From from, T (&items)[Items]) {
    if (kStriped || kExchanged)
      LoadDirectStriped<kThreads>(thread_, from, items);
    else
      LoadDirectBlocked(thread_, from, items);
    if (kExchanged) exchange(items);
  }
  /// Items from `valid` on keep their values.
  template <typename From>
  __SIMGPU_CUB_MEMBER void Load(From from, T (&items)[Items], int valid) {
    if (kExchanged) {
      T striped[Items];
      LoadDirectStriped<kThreads>(thread_, from, striped, valid);
#pragma unroll
      for (int i = 0; i < Items; ++i)
        if (i * kThreads + thread_ < valid) temp_.items[i * kThreads + thread_] = striped[i];
      __syncthreads();
#pragma unroll
      for (int i = 0; i < Items; ++i)
        if (thread_ * Items + i < valid) items[i] = temp_.items[thread_ * Items + i];
    } else if (kStriped) {
      LoadDirectStriped<kThreads>(thread_, from, items, valid);
    } else {
      LoadDirectBlocked(thread_, from, items, valid);
    }
  }
  template <typename From, typename Default>
  __SIMGPU_CUB_MEMBER void Load(From from, T (&items)[Items], int valid, Default otherwise) {
#pragma unroll
    for (T& item : items) item = otherwise;
    Load(from, items, valid);
  }

 private:
  static __SIMGPU_CUB_MEMBER TempStorage& own() {
    __shared__ TempStorage storage;
    return storage;
  }
  __SIMGPU_CUB_MEMBER void exchange(T (&items)[Items]) {
#pragma unroll
    for (int i = 0; i < Items; ++i) temp_.items[i * kThreads + thread_] = items[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Items; ++i) items[i] = temp_.items[thread_ * Items + i];
  }
  TempStorage& temp_;
  int thread_;
};

}  // namespace cub
#endif
