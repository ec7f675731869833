// Basics for tensor core kernels: can the GPU that they are compiled for run them? And helpers.
#pragma once

#include "common/kernel.cuh"

// Tensor cores multiply half from compute capability 7.0 on; double, bfloat16 and TF32, like
// asynchronous copies, need 8.0. Kernels that use any of these are empty on older GPUs.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define GEMM_LAB_TENSOR_CORES 1
#else
#define GEMM_LAB_TENSOR_CORES 0
#endif

// ---- 16 bytes: what one thread copies at a time

/// 16 bytes, one element per load: the first `left` from `from` on, then zeros. Loads overlap.
template <typename T>
GEMM_LAB_DEVICE uint4 gather(const T* from, int left) {
  alignas(16) T piece[VEC<T>];
#pragma unroll
  for (int e = 0; e < VEC<T>; ++e) piece[e] = e < left ? from[e] : T(0.0f);
  const auto* const words = reinterpret_cast<const unsigned*>(piece);
  return {words[0], words[1], words[2], words[3]};
}

/// Stores 16 bytes to a row of C, starting at (row, col). WHOLE: all of them are in C and its rows
/// are aligned, so one store does it. Otherwise each element that exists is stored by itself.
template <bool WHOLE, typename T>
GEMM_LAB_DEVICE void store_piece(MatrixView<T> c, int row, int col, const T (&values)[VEC<T>]) {
  if (WHOLE) {
    *reinterpret_cast<uint4*>(&c(row, col)) = *reinterpret_cast<const uint4*>(values);
  } else if (row < c.rows) {
#pragma unroll
    for (int i = 0; i < VEC<T>; ++i)
      if (col + i < c.cols) c(row, col + i) = values[i];
  }
}
