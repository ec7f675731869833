// Asynchronous copies from global to shared memory: __pipeline_memcpy_async and its waits. Device
// code; compute capability 8.0.
#pragma once
#pragma GCC system_header

#include <stddef.h>

#include "cuda_runtime.h"

#if defined(__CUDA__)

/// Starts to copy `size_and_align` (4, 8 or 16) bytes; the last `zfill` of them become zero and are
/// not read. 16 bytes pass by L1 (.cg), fewer go through it (.ca), as with NVIDIA's header.
__SIMGPU_DEVICE void __pipeline_memcpy_async(void* __restrict__ dst_shared,
                                             const void* __restrict__ src_global,
                                             size_t size_and_align, size_t zfill = 0) {
  const unsigned int to = static_cast<unsigned int>(__cvta_generic_to_shared(dst_shared));
  const size_t from = __cvta_generic_to_global(src_global);
  if (__builtin_constant_p(zfill) && zfill == 0) {
    switch (size_and_align) {
      case 16:
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
        return;
      case 8:
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" : : "r"(to), "l"(from) : "memory");
        return;
      case 4:
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(to), "l"(from) : "memory");
        return;
      default:
        asm volatile("trap;");
        return;
    }
  }
  const unsigned int read = static_cast<unsigned int>(size_and_align - zfill);
  switch (size_and_align) {
    case 16:
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                   :
                   : "r"(to), "l"(from), "r"(read)
                   : "memory");
      return;
    case 8:
      asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
                   :
                   : "r"(to), "l"(from), "r"(read)
                   : "memory");
      return;
    case 4:
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                   :
                   : "r"(to), "l"(from), "r"(read)
                   : "memory");
      return;
    default:
      asm volatile("trap;");
  }
}

/// The copies since the last commit become one group.
__SIMGPU_DEVICE void __pipeline_commit() {
  asm volatile("cp.async.commit_group;" : : : "memory");
}

/// Waits until at most the `prior` youngest groups of this thread are under way.
__SIMGPU_DEVICE void __pipeline_wait_prior(size_t prior) {
  switch (prior) {
    case 0:
      asm volatile("cp.async.wait_group 0;" : : : "memory");
      return;
    case 1:
      asm volatile("cp.async.wait_group 1;" : : : "memory");
      return;
    case 2:
      asm volatile("cp.async.wait_group 2;" : : : "memory");
      return;
    case 3:
      asm volatile("cp.async.wait_group 3;" : : : "memory");
      return;
    case 4:
      asm volatile("cp.async.wait_group 4;" : : : "memory");
      return;
    case 5:
      asm volatile("cp.async.wait_group 5;" : : : "memory");
      return;
    case 6:
      asm volatile("cp.async.wait_group 6;" : : : "memory");
      return;
    case 7:
      asm volatile("cp.async.wait_group 7;" : : : "memory");
      return;
    default:
      asm volatile("cp.async.wait_group 8;" : : : "memory");
  }
}

#endif
