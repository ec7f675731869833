// What kernels for tensor cores build on: which GPU they are compiled for, and small helpers.
#pragma once

#include "common/kernel.cuh"

// Tensor cores take half from compute capability 7.0 on; double, bfloat16 and TF32 from 8.0 on, as
// shared memory does asynchronous copies. Before 8.0, kernels that need any of these are empty.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define GEMM_LAB_TENSOR_CORES 1
#else
#define GEMM_LAB_TENSOR_CORES 0
#endif

// ---- 16 bytes: what one thread copies at a time

/// 16 bytes, element by element: the first `left` from `from` on, then zeros. No load waits for
/// another.
template <typename T>
GEMM_LAB_DEVICE uint4 gather(const T* from, int left) {
  alignas(16) T piece[VEC<T>];
#pragma unroll
  for (int e = 0; e < VEC<T>; ++e) piece[e] = e < left ? from[e] : T(0.0f);
  const auto* const words = reinterpret_cast<const unsigned*>(piece);
  return {words[0], words[1], words[2], words[3]};
}

/// Stores 16 bytes of a row of C from (row, col) on: at once if C is known to have all of them, in
/// aligned rows (WHOLE), else element by element, as far as they exist.
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
