// cg::reduce over a tile or the lanes that are together.
#pragma once
#pragma GCC system_header

#include "../cooperative_groups.h"

#if defined(__CUDA__)

namespace cooperative_groups {

#define __SIMGPU_OPERATION(Name, Result)                                                 \
  template <typename T>                                                                  \
  struct Name {                                                                          \
    __attribute__((device, host, nodebug, always_inline)) T operator()(T a, T b) const { \
      return Result;                                                                     \
    }                                                                                    \
  };
__SIMGPU_OPERATION(plus, a + b)
__SIMGPU_OPERATION(less, b < a ? b : a)
__SIMGPU_OPERATION(greater, a < b ? b : a)
__SIMGPU_OPERATION(bit_and, a& b)
__SIMGPU_OPERATION(bit_or, a | b)
__SIMGPU_OPERATION(bit_xor, a ^ b)
#undef __SIMGPU_OPERATION

template <unsigned int Size, typename Parent, typename T, typename Op>
__SIMGPU_DEVICE T reduce(const thread_block_tile<Size, Parent>& group, T value, Op&& op) {
  for (unsigned int step = Size / 2; step > 0; step /= 2)
    value = op(value, group.shfl_xor(value, step));
  return value;
}

template <typename T, typename Op>
__SIMGPU_DEVICE T reduce(const coalesced_group& group, T value, Op&& op) {
  T result = group.shfl(value, 0);
  for (unsigned int rank = 1; rank < group.num_threads(); ++rank)
    result = op(result, group.shfl(value, rank));
  return result;
}

}  // namespace cooperative_groups

#endif
