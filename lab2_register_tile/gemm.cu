// Lab 2: a tile of C in the registers of one thread.
//
// You will learn why one thread should compute many elements (each loaded value is then used many
// times), how to treat the edges without a branch in the hot loop, and how to keep the loads of a
// warp side by side although every thread owns several columns.
#include <cuda_runtime.h>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"

constexpr int ceil_div(int n, int d) {
  return (n + d - 1) / d;
}

// ---- 2.1: TM x TN elements of C per thread

/// Adds A * B to acc, the calling thread's tile: acc[i][j] belongs to row rows[i] of A and column
/// cols[j] of B. With all loops over i and j unrolled, acc lives in registers.
template <int TM, int TN, typename In, typename Out>
__device__ void accumulate(Out (&acc)[TM][TN], MatrixView<const In> a, MatrixView<const In> b,
                           const int (&rows)[TM], const int (&cols)[TN]) {
  // TODO(2.1) For every k: fetch TM elements of A and TN of B into two small arrays, then add all
  //           their TM * TN products to acc. `#pragma unroll` over every loop on such an array.
}

/// A tile that hangs over the edge of C, one element after the other as in lab 1. Given, right, and
/// slow: nothing is used twice, and the neighbours in the warp wait meanwhile. 2.2 does better.
template <int TM, int TN, typename In, typename Out>
__device__ void one_by_one(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                           int row0, int col0) {
  for (int row = row0; row < min(row0 + TM, c.rows); ++row) {
    for (int col = col0; col < min(col0 + TN, c.cols); ++col) {
      Out sum = 0;
      for (int k = 0; k < a.cols; ++k) sum += a(row, k) * b(k, col);
      c(row, col) = sum;
    }
  }
}

template <int TM, int TN, typename In, typename Out>
__global__ void register_tile_kernel(MatrixView<const In> a, MatrixView<const In> b,
                                     MatrixView<Out> c) {
  const int row0 = (blockIdx.y * blockDim.y + threadIdx.y) * TM;
  const int col0 = (blockIdx.x * blockDim.x + threadIdx.x) * TN;
  if (row0 + TM > c.rows || col0 + TN > c.cols) return one_by_one<TM, TN>(a, b, c, row0, col0);

  int rows[TM], cols[TN];
#pragma unroll
  for (int i = 0; i < TM; ++i) rows[i] = row0 + i;
#pragma unroll
  for (int j = 0; j < TN; ++j) cols[j] = col0 + j;

  Out acc[TM][TN] = {};
  accumulate(acc, a, b, rows, cols);
  // TODO(2.1) Store acc. Every loop over it unrolled, here too.
}

// ---- 2.2: the edges, without a branch in the hot loop

/// The TM x TN elements of C at rows row0, row0 + 1, ... and columns col0, col0 + STEP, ..., as far
/// as they exist. STEP stays 1 until 2.3.
template <int TM, int TN, int STEP, typename In, typename Out>
__device__ void clamped_tile(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                             int row0, int col0) {
  if (row0 >= c.rows || col0 >= c.cols) return;
  // TODO(2.2) A row or column that does not exist may fetch the last one that does: its products
  //           are computed for nothing and never stored. accumulate(), then a guarded store.
}

template <int TM, int TN, typename In, typename Out>
__global__ void clamped_tile_kernel(MatrixView<const In> a, MatrixView<const In> b,
                                    MatrixView<Out> c) {
  const int row0 = (blockIdx.y * blockDim.y + threadIdx.y) * TM;
  const int col0 = (blockIdx.x * blockDim.x + threadIdx.x) * TN;
  clamped_tile<TM, TN, 1>(a, b, c, row0, col0);
}

// ---- 2.3: which columns a thread owns

/// The block still computes (BY * TM) x (BX * TN) elements, and every thread TM x TN of them, but a
/// thread's columns need not be neighbours. The threads' loads should be.
template <int BX, int BY, int TM, int TN, typename In, typename Out>
__global__ void interleaved_tile_kernel(MatrixView<const In> a, MatrixView<const In> b,
                                        MatrixView<Out> c) {
  static_assert(BX * BY % 32 == 0, "a block must consist of whole warps");
  // TODO(2.3) Choose row0, col0 and STEP such that for each j the threads of a row read
  // neighbouring
  //           columns of B, and call clamped_tile<TM, TN, STEP>(a, b, c, row0, col0).
}

// ---- launchers: blocks of BX x BY threads, TM x TN elements of C each

constexpr int BX = 16, BY = 16, TM = 8, TN = 4;

template <typename Out>
dim3 grid_for(MatrixView<Out> c) {
  return dim3(ceil_div(c.cols, BX * TN), ceil_div(c.rows, BY * TM));
}

template <typename In, typename Out>
void gemm_register_tile(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                        cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  register_tile_kernel<TM, TN><<<grid_for(c), dim3(BX, BY), 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

template <typename In, typename Out>
void gemm_clamped_tile(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                       cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  clamped_tile_kernel<TM, TN><<<grid_for(c), dim3(BX, BY), 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

template <typename In, typename Out>
void gemm_interleaved_tile(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                           cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  interleaved_tile_kernel<BX, BY, TM, TN><<<grid_for(c), dim3(BX, BY), 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

#define INSTANTIATE_ONE(rung, In, Out) \
  template void rung(MatrixView<const In>, MatrixView<const In>, MatrixView<Out>, cudaStream_t);
#define INSTANTIATE(In, Out)                   \
  INSTANTIATE_ONE(gemm_register_tile, In, Out) \
  INSTANTIATE_ONE(gemm_clamped_tile, In, Out)  \
  INSTANTIATE_ONE(gemm_interleaved_tile, In, Out)
INSTANTIATE(int, int)
INSTANTIATE(float, float)
INSTANTIATE(double, double)
