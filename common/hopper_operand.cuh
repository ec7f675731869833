// Operands of wgmma: a matrix that TMA cannot read where it is gets copied first.
#pragma once

#include "common/tensor_core.cuh"

/// Copies 8 * blockDim.x columns per block. All loads come before the first store, so they overlap.
template <typename T>
__global__ void copy_rows(MatrixView<const T> from, MatrixView<T> to) {
  const int col0 = blockIdx.x * 8 * blockDim.x + threadIdx.x;
  for (int row = blockIdx.y; row < to.rows; row += gridDim.y) {
    T values[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (const int col = col0 + i * blockDim.x; col < to.cols) values[i] = from(row, col);
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (const int col = col0 + i * blockDim.x; col < to.cols) to(row, col) = values[i];
  }
}

/// to = from, transposed: 32 x 32 elements per block, 32 x 8 threads.
__global__ void transpose(MatrixView<const float> from, MatrixView<float> to) {
  // One column more, so that rows begin in 32 different banks: columns are read without conflicts.
  [[maybe_unused]] __shared__ float tile[32][32 + 1];
  const int across = (from.cols + 31) / 32, x = threadIdx.x;
  const int row0 = blockIdx.x / across * 32, col0 = blockIdx.x % across * 32;
#pragma unroll
  for (int y = threadIdx.y; y < 32; y += 8)
    if (row0 + y < from.rows && col0 + x < from.cols) tile[y][x] = from(row0 + y, col0 + x);
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < 32; y += 8)
    if (col0 + y < to.rows && row0 + x < to.cols) to(col0 + y, row0 + x) = tile[x][y];
}

/// A or B in the form that TMA and wgmma need: rows begin at multiples of 16 bytes, and rows of
/// floats run along k. If the matrix is not like that, this holds a copy of it that is.
template <typename T>
class Operand {
 public:
  Operand(MatrixView<const T> m, bool rows_along_k, cudaStream_t stream)
      : view_(m), memory_(stream) {
    if constexpr (sizeof(T) == 4) {
      if (!rows_along_k) {
        const int tiles = ceil_div(m.rows, 32) * ceil_div(m.cols, 32);
        transpose<<<tiles, dim3(32, 8), 0, stream>>>(m, room(m.cols, m.rows));
        CUDA_CHECK_LAUNCH();
        return;
      }
    }
    if (rows_aligned(m)) return;
    constexpr int THREADS = 128;
    const dim3 grid(ceil_div(m.cols, 8 * THREADS), m.rows < 65535 ? m.rows : 65535);
    copy_rows<T><<<grid, THREADS, 0, stream>>>(m, room(m.rows, m.cols));
    CUDA_CHECK_LAUNCH();
  }
  MatrixView<const T> view() const { return view_; }

 private:
  /// Allocates memory for a copy, which becomes the view.
  MatrixView<T> room(int rows, int cols) {
    const int ld = ceil_div(cols, 16) * 16;
    T* const data = memory_.allocate(static_cast<std::size_t>(rows) * ld);
    view_ = {data, rows, cols, ld};
    return {data, rows, cols, ld};
  }

  MatrixView<const T> view_;
  StreamMemory<T> memory_;
};
