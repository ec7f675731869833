// Lab 1: one thread per element of C. The tutorial's page on lab 1 explains each TODO.
//
// You will learn how a thread works out which element it computes, why every store needs a guard,
// and why the way you lay threads over a matrix decides how much data has to move.
#include <cuda_runtime.h>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"

/// On the CPU, the two outer loops visit the elements of C and the inner loop computes each one.
/// On the GPU there are no outer loops: every (row, col) has its own thread.
template <typename T>
void gemm_on_the_cpu(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  for (int row = 0; row < c.rows; ++row) {
    for (int col = 0; col < c.cols; ++col) {
      T sum = 0;
      for (int k = 0; k < a.cols; ++k) sum += a(row, k) * b(k, col);
      c(row, col) = sum;
    }
  }
}

// ---- 1.0 and 1.1: which element is mine, and what is its value?

struct Element {
  int row, col;
};

/// The element of C that belongs to the calling thread.
__device__ inline Element my_element() {
  // TODO(1.0) Replace both values: compute `row` and `col` from blockIdx, blockDim and threadIdx,
  //           so that every element of C gets a thread of its own.
  // >>> skeleton
  // const int row = 1 << 30;  // a placeholder, far outside C: the guard below stops this thread
  // const int col = 1 << 30;
  // <<< skeleton
  // >>> solution
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  // <<< solution
  return {row, col};
}

/// C = A * B for K = 1: a column times a row, so every element of C is a single product.
template <typename T>
__global__ void outer_product_kernel(MatrixView<const T> a, MatrixView<const T> b,
                                     MatrixView<T> c) {
  const Element mine = my_element();
  if (mine.row < c.rows && mine.col < c.cols)
    c(mine.row, mine.col) = a(mine.row, 0) * b(0, mine.col);
}

/// C = A * B, one thread per element of C.
template <typename T>
__global__ void naive_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  // TODO(1.1) Get row and col from my_element(). If that element lies in C, add up
  //           a(row, k) * b(k, col) for all k and store the sum in c(row, col), once.
  // >>> solution
  const auto [row, col] = my_element();
  if (row >= c.rows || col >= c.cols) return;
  T sum = 0;
  for (int k = 0; k < a.cols; ++k) sum += a(row, k) * b(k, col);
  c(row, col) = sum;
  // <<< solution
}

/// A square grid for blocks of at least `threads` threads each way: it covers C whichever way x and
/// y point. That is far more threads than C has elements; you do better in 1.2.
inline dim3 square_grid(int rows, int cols, int threads) {
  const unsigned side = (rows > cols ? rows : cols) / threads + 1;
  return dim3(side, side);
}

template <typename T>
void outer_product(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                   cudaStream_t stream) {
  const dim3 block = c.rows > c.cols ? dim3(8, 32) : dim3(32, 8);  // tall or wide, never square
  outer_product_kernel<<<square_grid(c.rows, c.cols, 8), block, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

template <typename T>
void gemm_square_grid(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                      cudaStream_t stream) {
  naive_kernel<<<square_grid(c.rows, c.cols, 16), dim3(16, 16), 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 1.2: how many threads, and which of them are neighbours?

template <typename T>
void gemm_naive(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;  // a grid of 0 blocks is an error, not an empty grid
  // TODO(1.2) Launch naive_kernel as above, but with just enough blocks to cover C. A warp is 32
  //           threads, counted along x first: shape the block so that they lie in one row of C.
  // >>> solution
  const dim3 block(32, 32);  // in float the fastest of this width on an H200
  const dim3 grid((c.cols + block.x - 1) / block.x, (c.rows + block.y - 1) / block.y);
  naive_kernel<<<grid, block, 0, stream>>>(a, b, c);
  // <<< solution
  CUDA_CHECK_LAUNCH();
}
