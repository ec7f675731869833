// Prefix sums over a tile or the lanes that are together.
#pragma once
#pragma GCC system_header

#include "reduce.h"

#if defined(__CUDA__)

namespace cooperative_groups {

template <unsigned int Size, typename Parent, typename T, typename Op = plus<T>>
__SIMGPU_DEVICE T inclusive_scan(const thread_block_tile<Size, Parent>& group, T value,
                                 Op op = Op()) {
  for (unsigned int step = 1; step < Size; step *= 2) {
    const T before = group.shfl_up(value, step);
    if (group.thread_rank() >= step) value = op(before, value);
  }
  return value;
}

template <typename T, typename Op = plus<T>>
__SIMGPU_DEVICE T inclusive_scan(const coalesced_group& group, T value, Op op = Op()) {
  for (unsigned int step = 1; step < group.size(); step *= 2) {
    const T before = group.shfl_up(value, step);
    if (group.thread_rank() >= step) value = op(before, value);
  }
  return value;
}
template <typename T, typename Op = plus<T>>
__SIMGPU_DEVICE T exclusive_scan(const coalesced_group& group, T value, Op op = Op()) {
  const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
  return group.thread_rank() == 0 ? T() : before;
}

template <unsigned int Size, typename Parent, typename T, typename Op = plus<T>>
__SIMGPU_DEVICE T exclusive_scan(const thread_block_tile<Size, Parent>& group, T value,
                                 Op op = Op()) {
  const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
  return group.thread_rank() == 0 ? T() : before;
}

}  // namespace cooperative_groups

#endif
