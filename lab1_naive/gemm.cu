// Lab 1: one thread per element of C.
//
// You will learn how a thread finds out which element is its own, what the guard in front of every
// store is for, and why the direction in which threads lie on a matrix decides how much is moved.
#include <cuda_runtime.h>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"

/// The CPU's way: the two outer loops choose an element of C, the inner one computes it.
/// On the GPU nobody runs the outer loops: there is a thread for every (row, col) already.
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
  // TODO(1.0) Two lines: `row` and `col`, from blockIdx, blockDim and threadIdx.
  const int row = 1 << 30;  // for now far outside of C, where the guard below stops it
  const int col = 1 << 30;
  return {row, col};
}

/// C = A * B for K = 1: one column times one row, so that every element is a single product.
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
  // TODO(1.1) If my_element() lies in C: sum up row `row` of A times column `col` of B, store it.
}

/// Blocks of 16 x 16 threads in a square that covers C, however x and y are laid on it.
/// It starts far more threads than C has elements. 1.2 does better.
const dim3 square_block(16, 16);

inline dim3 square_grid(int rows, int cols) {
  const unsigned side = (rows > cols ? rows : cols) / 16 + 1;
  return dim3(side, side);
}

template <typename T>
void outer_product(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                   cudaStream_t stream) {
  outer_product_kernel<<<square_grid(c.rows, c.cols), square_block, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

template <typename T>
void gemm_square_grid(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                      cudaStream_t stream) {
  naive_kernel<<<square_grid(c.rows, c.cols), square_block, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 1.2: how many threads, and which of them are neighbours?

template <typename T>
void gemm_naive(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;  // a grid of 0 blocks is an error, not an empty grid
  // TODO(1.2) Launch naive_kernel with just enough blocks. The 32 threads of a warp follow x first:
  //           shape the block so that they stand side by side in one row of C.
  CUDA_CHECK_LAUNCH();
}
