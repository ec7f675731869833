// The loop of ceilings.cu for Hopper's warpgroup product, which no mma.sync keeps up with. For
// elements see there. Compiled for sm_90a; for other GPUs the kernel is empty, and nobody launches
// it.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <type_traits>

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#include "common/hopper.cuh"
#endif

namespace wgmma_loop {

constexpr int kGroups = 2, kThreads = kGroups * 128;  ///< warpgroups of a block, and its threads
constexpr int kRows = 64, kColumns = 256, kSums = kRows * kColumns / 128;  ///< of a warpgroup
constexpr int kUnrolled = 4;                                               ///< steps between waits

/// Terms of a step: rows of 128 bytes.
template <typename T>
constexpr int kDepth = 128 / sizeof(T);

/// Where element `col` of row `row` is: chunks of 16 bytes are swizzled as by TMA.
template <typename T>
__device__ inline int swizzled(int row, int col) {
  constexpr int chunk = 16 / sizeof(T);
  return (col / chunk ^ row % 8) * chunk + col % chunk;
}

/// Exact for what the loops multiply.
template <typename T>
__device__ T element(float x) {
  if constexpr (std::is_same_v<T, __half>)
    return __float2half(x);
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __float2bfloat16(x);
  else
    return x;
}

/// Fills the tiles with Elements::a(group, row, k) and b(k, column), multiplies them `steps` times,
/// a multiple of kUnrolled, and stores a thread's kSums sums one after the other.
template <typename T, typename Elements>
__global__ void __launch_bounds__(kThreads, 1) products(float* out, int steps) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int depth = kDepth<T>, terms = 32 / sizeof(T);  // terms of one instruction
  // As in 5.4: rows of A along k. Rows of B along n, in boxes of 64 columns; of floats along k.
  constexpr bool along_k = std::is_same_v<T, float>;
  __shared__ alignas(1024) T rows_a[kGroups * kRows][depth];
  __shared__ alignas(1024) T rows_b[kColumns][depth];
  for (int i = threadIdx.x; i < kGroups * kRows * depth; i += kThreads) {
    const int row = i / depth, k = i % depth;
    rows_a[row][swizzled<T>(row, k)] = element<T>(Elements::a(row / kRows, row % kRows, k));
  }
  for (int i = threadIdx.x; i < kColumns * depth; i += kThreads) {
    const int col = i / depth, k = i % depth;
    const int row = along_k ? col : col / depth * depth + k;
    rows_b[row][swizzled<T>(row, along_k ? k : col % depth)] = element<T>(Elements::b(k, col));
  }
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");  // now visible to tensor cores
  __syncthreads();
  const T(*const mine)[depth] = &rows_a[threadIdx.x / 128 * kRows];
  float sums[kSums] = {};
  for (int step = 0; step < steps; step += kUnrolled) {
    wgmma_fence(sums);
#pragma unroll
    for (int u = 0; u < kUnrolled; ++u)
#pragma unroll
      for (int k = 0; k < depth; k += terms)
        wgmma_64x256<T>(sums, descriptor(&mine[0][k]),
                        along_k ? descriptor(&rows_b[0][k])
                                : descriptor(&rows_b[k][0], depth * depth * int{sizeof(T)}));
    wgmma_commit();
    wgmma_wait(sums);
  }
  const std::size_t thread = blockIdx.x * std::size_t(kThreads) + threadIdx.x;
  for (int i = 0; i < kSums; ++i) out[thread * kSums + i] = sums[i];
#endif
}

/// The row and column of a warpgroup's tile that sum `i` of its thread belongs to.
inline int row_of(int thread, int i) {
  return thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8;
}
inline int column_of(int thread, int i) {
  return i / 4 * 8 + thread % 4 * 2 + i % 2;
}

}  // namespace wgmma_loop
