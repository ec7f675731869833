// Asynchronous copies of floats from global to shared memory. GPUs before compute capability 8.0 do
// not have them: there the thread itself copies, and has nothing to wait for.
#pragma once

#include "common/async_copy.cuh"

/// Starts copying WIDTH floats: the first `count` come from `from`, the rest become zero. If count
/// is 0, nothing is read, wherever `from` points. Both addresses must be multiples of WIDTH floats.
template <int WIDTH>
GEMM_LAB_DEVICE void copy_async(float* to, const float* from, int count) {
#if !GEMM_LAB_TENSOR_CORES
  for (int i = 0; i < WIDTH; ++i) to[i] = i < count ? from[i] : 0.0f;
#else
  if constexpr (WIDTH == 4)
    copy16_async(to, from, count * 4);
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :
                 : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "n"(WIDTH * 4),
                   "r"(count * 4)
                 : "memory");
#endif
}
