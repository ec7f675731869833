// Asynchronous copies of floats from global to shared memory. GPUs before compute capability 8.0 do
// not have them: there the thread itself copies, and has nothing to wait for.
#pragma once

#include "common/kernel.cuh"

/// Starts copying WIDTH floats: the first `count` come from `from`, the rest become zero. If count
/// is 0, nothing is read, wherever `from` points. Both addresses must be multiples of WIDTH floats.
template <int WIDTH>
GEMM_LAB_DEVICE void copy_async(float* to, const float* from, int count) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const std::size_t global = __cvta_generic_to_global(from);
  if constexpr (WIDTH == 4)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(shared), "l"(global), "r"(count * 4)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :
                 : "r"(shared), "l"(global), "n"(WIDTH * 4), "r"(count * 4)
                 : "memory");
#else
  for (int i = 0; i < WIDTH; ++i) to[i] = i < count ? from[i] : 0.0f;
#endif
}
/// Closes a group: all copies that this thread has started since its last group.
GEMM_LAB_DEVICE inline void commit_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}
/// Waits until all of this thread's groups have arrived, except the GROUPS most recent ones.
template <int GROUPS>
GEMM_LAB_DEVICE void wait_for_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" : : "n"(GROUPS) : "memory");
#endif
}
