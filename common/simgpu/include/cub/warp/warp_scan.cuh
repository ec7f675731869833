// cub::WarpScan: prefix sums and other scans over the lanes of a warp.
#pragma once
#pragma GCC system_header

#include "../thread/thread_operators.cuh"

#if defined(__CUDA__)
namespace cub {

template <typename T, int Threads = 32, int Architecture = 0>
class WarpScan {
 public:
  struct TempStorage {};
  __SIMGPU_CUB_MEMBER explicit WarpScan(TempStorage&)
      : WarpScan(WarpMask<Threads>(LaneId() / Threads)) {}
  /// For a warp of which only the lanes of `mask` exist: the first ones.
  __SIMGPU_CUB_MEMBER explicit WarpScan(unsigned int mask)
      : lane_(static_cast<int>(LaneId()) & (Threads - 1)), mask_(mask) {}

  template <typename Operator>
  __SIMGPU_CUB_MEMBER void InclusiveScan(T input, T& output, Operator op) {
#pragma unroll
    for (int offset = 1; offset < Threads; offset *= 2) {
      const T other = ShuffleUp<Threads>(input, offset, 0, mask_);
      if (lane_ >= offset) input = op(other, input);
    }
    output = input;
  }
  template <typename Operator>
  __SIMGPU_CUB_MEMBER void InclusiveScan(T input, T& output, Operator op, T& aggregate) {
    InclusiveScan(input, output, op);
    aggregate = Broadcast(output, Threads - 1);
  }
  __SIMGPU_CUB_MEMBER void InclusiveSum(T input, T& output) {
    InclusiveScan(input, output, cub::Sum());
  }
  __SIMGPU_CUB_MEMBER void InclusiveSum(T input, T& output, T& aggregate) {
    InclusiveScan(input, output, cub::Sum(), aggregate);
  }

  /// Lane 0's output is what it was.
  template <typename Operator>
  __SIMGPU_CUB_MEMBER void ExclusiveScan(T input, T& output, Operator op) {
    T inclusive;
    InclusiveScan(input, inclusive, op);
    const T before = ShuffleUp<Threads>(inclusive, 1, 0, mask_);
    if (lane_ > 0) output = before;
  }
  template <typename Operator>
  __SIMGPU_CUB_MEMBER void ExclusiveScan(T input, T& output, T initial, Operator op) {
    T aggregate;
    ExclusiveScan(input, output, initial, op, aggregate);
  }
  /// The aggregate is without `initial`.
  template <typename Operator>
  __SIMGPU_CUB_MEMBER void ExclusiveScan(T input, T& output, T initial, Operator op, T& aggregate) {
    T inclusive;
    InclusiveScan(input, inclusive, op, aggregate);
    const T before = ShuffleUp<Threads>(inclusive, 1, 0, mask_);
    output = lane_ > 0 ? op(initial, before) : initial;
  }
  __SIMGPU_CUB_MEMBER void ExclusiveSum(T input, T& output) {
    ExclusiveScan(input, output, T{}, cub::Sum());
  }
  __SIMGPU_CUB_MEMBER void ExclusiveSum(T input, T& output, T& aggregate) {
    ExclusiveScan(input, output, T{}, cub::Sum(), aggregate);
  }

  __SIMGPU_CUB_MEMBER T Broadcast(T input, unsigned int lane) {
    return ShuffleIndex<Threads>(input, static_cast<int>(lane), mask_);
  }

 private:
  int lane_;
  unsigned int mask_;
};

}  // namespace cub
#endif
