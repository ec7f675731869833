// cub::BlockScan: prefix sums and other scans over the threads of a block. All algorithms are
// BLOCK_SCAN_WARP_SCANS here: each warp by shuffles, then what the warps before it have.
#pragma once
#pragma GCC system_header

#include "../warp/warp_scan.cuh"

#if defined(__CUDA__)
namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <typename T, int X, BlockScanAlgorithm Algorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1,
          int Architecture = 0>
class BlockScan {
  static constexpr int kThreads = X * Y * Z, kWarps = (kThreads + 31) / 32;

 public:
  struct TempStorage {
    Uninitialized<T, kWarps> of_warp;
    Uninitialized<T> prefix;
  };
  __SIMGPU_CUB_MEMBER BlockScan() : BlockScan(own()) {}
  __SIMGPU_CUB_MEMBER explicit BlockScan(TempStorage& temp)
      : temp_(temp), thread_(RowMajorTid(X, Y, Z)) {}

  // ---- one value a thread
  template <typename Operator>
  __SIMGPU_CUB_MEMBER void InclusiveScan(T input, T& output, Operator op) {
    T aggregate;
    InclusiveScan(input, output, op, aggregate);
  }
  template <typename Operator>
  __SIMGPU_CUB_MEMBER void InclusiveScan(T input, T& output, Operator op, T& aggregate) {
    T before;
    scan(input, output, before, aggregate, op);
  }
  /// `prefix(aggregate)` is called by the first warp; what it returns to lane 0 goes before all.
  template <typename Operator, typename Prefix>
  __SIMGPU_CUB_MEMBER auto InclusiveScan(T input, T& output, Operator op, Prefix& prefix)
      -> decltype(void(prefix(input))) {
    T before, aggregate;
    scan(input, output, before, aggregate, op);
    output = op(seed(prefix, aggregate), output);
  }
  /// Thread 0's output is what it was.
  template <typename Operator>
  __SIMGPU_CUB_MEMBER void ExclusiveScan(T input, T& output, Operator op) {
    T inclusive, before, aggregate;
    scan(input, inclusive, before, aggregate, op);
    if (thread_ > 0) output = before;
  }
  template <typename Operator>
  __SIMGPU_CUB_MEMBER void ExclusiveScan(T input, T& output, T initial, Operator op) {
    T aggregate;
    ExclusiveScan(input, output, initial, op, aggregate);
  }
  template <typename Operator>
  __SIMGPU_CUB_MEMBER void ExclusiveScan(T input, T& output, T initial, Operator op, T& aggregate) {
    T inclusive, before;
    scan(input, inclusive, before, aggregate, op);
    output = thread_ > 0 ? op(initial, before) : initial;
  }
  template <typename Operator, typename Prefix>
  __SIMGPU_CUB_MEMBER auto ExclusiveScan(T input, T& output, Operator op, Prefix& prefix)
      -> decltype(void(prefix(input))) {
    T inclusive, before, aggregate;
    scan(input, inclusive, before, aggregate, op);
    const T first = seed(prefix, aggregate);
    output = thread_ > 0 ? op(first, before) : first;
  }
  template <typename... Rest>
  __SIMGPU_CUB_MEMBER void InclusiveSum(T input, T& output, Rest&... rest) {
    InclusiveScan(input, output, cub::Sum(), rest...);
  }
  __SIMGPU_CUB_MEMBER void ExclusiveSum(T input, T& output) {
    ExclusiveScan(input, output, T{}, cub::Sum());
  }
  __SIMGPU_CUB_MEMBER void ExclusiveSum(T input, T& output, T& aggregate) {
    ExclusiveScan(input, output, T{}, cub::Sum(), aggregate);
  }
  template <typename Prefix>
  __SIMGPU_CUB_MEMBER auto ExclusiveSum(T input, T& output, Prefix& prefix)
      -> decltype(void(prefix(input))) {
    ExclusiveScan(input, output, cub::Sum(), prefix);
  }

  // ---- several values a thread, neighbours of each other
  template <int Items, typename Operator>
  __SIMGPU_CUB_MEMBER void InclusiveScan(T (&input)[Items], T (&output)[Items], Operator op) {
    T aggregate;
    InclusiveScan(input, output, op, aggregate);
  }
  template <int Items, typename Operator>
  __SIMGPU_CUB_MEMBER void InclusiveScan(T (&input)[Items], T (&output)[Items], Operator op,
                                         T& aggregate) {
    T inclusive, before;
    scan(sum_of(input, op), inclusive, before, aggregate, op);
    T running = thread_ > 0 ? op(before, input[0]) : input[0];
    output[0] = running;
#pragma unroll
    for (int i = 1; i < Items; ++i) output[i] = running = op(running, input[i]);
  }
  template <int Items, typename Operator>
  __SIMGPU_CUB_MEMBER void ExclusiveScan(T (&input)[Items], T (&output)[Items], T initial,
                                         Operator op) {
    T aggregate;
    ExclusiveScan(input, output, initial, op, aggregate);
  }
  template <int Items, typename Operator>
  __SIMGPU_CUB_MEMBER void ExclusiveScan(T (&input)[Items], T (&output)[Items], T initial,
                                         Operator op, T& aggregate) {
    T inclusive, before;
    scan(sum_of(input, op), inclusive, before, aggregate, op);
    spread(input, output, thread_ > 0 ? op(initial, before) : initial, op);
  }
  template <int Items, typename Operator, typename Prefix>
  __SIMGPU_CUB_MEMBER auto ExclusiveScan(T (&input)[Items], T (&output)[Items], Operator op,
                                         Prefix& prefix) -> decltype(void(prefix(input[0]))) {
    T inclusive, before, aggregate;
    scan(sum_of(input, op), inclusive, before, aggregate, op);
    const T first = seed(prefix, aggregate);
    spread(input, output, thread_ > 0 ? op(first, before) : first, op);
  }
  template <int Items, typename... Rest>
  __SIMGPU_CUB_MEMBER void InclusiveSum(T (&input)[Items], T (&output)[Items], Rest&... rest) {
    InclusiveScan(input, output, cub::Sum(), rest...);
  }
  template <int Items>
  __SIMGPU_CUB_MEMBER void ExclusiveSum(T (&input)[Items], T (&output)[Items]) {
    ExclusiveScan(input, output, T{}, cub::Sum());
  }
  template <int Items>
  __SIMGPU_CUB_MEMBER void ExclusiveSum(T (&input)[Items], T (&output)[Items], T& aggregate) {
    ExclusiveScan(input, output, T{}, cub::Sum(), aggregate);
  }
  template <int Items, typename Prefix>
  __SIMGPU_CUB_MEMBER auto ExclusiveSum(T (&input)[Items], T (&output)[Items], Prefix& prefix)
      -> decltype(void(prefix(input[0]))) {
    ExclusiveScan(input, output, cub::Sum(), prefix);
  }

 private:
  static __SIMGPU_CUB_MEMBER TempStorage& own() {
    __shared__ TempStorage storage;
    return storage;
  }
  template <int Items, typename Operator>
  static __SIMGPU_CUB_MEMBER T sum_of(T (&input)[Items], Operator op) {
    T sum = input[0];
#pragma unroll
    for (int i = 1; i < Items; ++i) sum = op(sum, input[i]);
    return sum;
  }
  /// Input and output may be one array.
  template <int Items, typename Operator>
  static __SIMGPU_CUB_MEMBER void spread(T (&input)[Items], T (&output)[Items], T running,
                                         Operator op) {
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      const T next = op(running, input[i]);
      output[i] = running;
      running = next;
    }
  }
  /// `before`: of all threads before this one; of none for thread 0.
  template <typename Operator>
  __SIMGPU_CUB_MEMBER void scan(T input, T& inclusive, T& before, T& aggregate, Operator op) {
    const int lane = thread_ % 32, warp = thread_ / 32;
    const int here = kThreads - 32 * warp;
    const unsigned int mask = kThreads % 32 == 0 || here >= 32 ? ~0u : (1u << here) - 1;
    WarpScan<T>(mask).InclusiveScan(input, inclusive, op);
    before = ShuffleUp<32>(inclusive, 1, 0, mask);
    const int last = here < 32 ? here - 1 : 31;
    if (lane == last) temp_.of_warp[warp] = inclusive;
    __syncthreads();
    aggregate = temp_.of_warp[0];
#pragma unroll
    for (int k = 1; k < kWarps; ++k) {
      if (warp == k) {  // `aggregate` is that of the warps before this one
        before = lane > 0 ? op(aggregate, before) : aggregate;
        inclusive = op(aggregate, inclusive);
      }
      aggregate = op(aggregate, temp_.of_warp[k]);
    }
  }
  template <typename Prefix>
  __SIMGPU_CUB_MEMBER T seed(Prefix& prefix, T aggregate) {
    if (thread_ < 32) {
      const T value = prefix(aggregate);
      if (thread_ == 0) temp_.prefix[0] = value;
    }
    __syncthreads();
    return temp_.prefix[0];
  }
  TempStorage& temp_;
  int thread_;
};

}  // namespace cub
#endif
