// cub::WarpReduce: a sum or another reduction over the lanes of a warp. The result is lane 0's (in
// segments, that of each one's first lane); the others have partial ones. Lanes are added in CUB's
// order.
#pragma once
#pragma GCC system_header

#include "../thread/thread_operators.cuh"

#if defined(__CUDA__)
namespace cub {

template <typename T, int Threads = 32, int Architecture = 0>
class WarpReduce {
 public:
  struct TempStorage {};
  __SIMGPU_CUB_MEMBER explicit WarpReduce(TempStorage&)
      : lane_(static_cast<int>(LaneId()) & (Threads - 1)),
        mask_(WarpMask<Threads>(LaneId() / Threads)) {}

  template <typename Operator>
  __SIMGPU_CUB_MEMBER T Reduce(T input, Operator op) {
    return to_first(input, op, Threads - 1);
  }
  /// Of the first `valid` lanes.
  template <typename Operator>
  __SIMGPU_CUB_MEMBER T Reduce(T input, Operator op, int valid) {
    return to_first(input, op, valid - 1);
  }
  __SIMGPU_CUB_MEMBER T Sum(T input) { return Reduce(input, cub::Sum()); }
  __SIMGPU_CUB_MEMBER T Sum(T input, int valid) { return Reduce(input, cub::Sum(), valid); }

  /// A segment begins where `head` is true, or ends where `tail` is.
  template <typename Operator, typename Flag>
  __SIMGPU_CUB_MEMBER T HeadSegmentedReduce(T input, Flag head, Operator op) {
    const unsigned int heads = lanes_with(head != 0) & ~((2u << lane_) - 1);
    return to_first(input, op, heads == 0 ? Threads - 1 : __ffs(static_cast<int>(heads)) - 2);
  }
  template <typename Operator, typename Flag>
  __SIMGPU_CUB_MEMBER T TailSegmentedReduce(T input, Flag tail, Operator op) {
    const unsigned int tails = lanes_with(tail != 0) & ~((1u << lane_) - 1);
    return to_first(input, op, tails == 0 ? Threads - 1 : __ffs(static_cast<int>(tails)) - 1);
  }
  template <typename Flag>
  __SIMGPU_CUB_MEMBER T HeadSegmentedSum(T input, Flag head) {
    return HeadSegmentedReduce(input, head, cub::Sum());
  }
  template <typename Flag>
  __SIMGPU_CUB_MEMBER T TailSegmentedSum(T input, Flag tail) {
    return TailSegmentedReduce(input, tail, cub::Sum());
  }

 private:
  __SIMGPU_CUB_MEMBER unsigned int lanes_with(bool flag) const {
    return (__ballot_sync(mask_, flag) & mask_) >> (LaneId() / Threads * Threads);
  }
  template <typename Operator>
  __SIMGPU_CUB_MEMBER T to_first(T value, Operator op, int last) const {
#pragma unroll
    for (int offset = 1; offset < Threads; offset *= 2) {
      const T other = ShuffleDown<Threads>(value, offset, Threads - 1, mask_);
      if (lane_ + offset <= last) value = op(value, other);
    }
    return value;
  }
  int lane_;
  unsigned int mask_;
};

}  // namespace cub
#endif
