// stages: all
// The same lab in another student's words: no helper for the element, indices by hand, one kernel
// each.
#include <cuda_runtime.h>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"

template <typename T>
__global__ void multiply_column_by_row(const T* a, int lda, const T* b, T* c, int ldc, int m,
                                       int n) {
  const unsigned i = threadIdx.y + blockIdx.y * blockDim.y;
  const unsigned j = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < unsigned(m) && j < unsigned(n))
    c[std::size_t{i} * ldc + j] = a[std::size_t{i} * lda] * b[j];
}

template <typename T>
__global__ void multiply(const T* __restrict__ a, int lda, const T* __restrict__ b, int ldb,
                         T* __restrict__ c, int ldc, int m, int n, int k) {
  const int i = threadIdx.y + blockIdx.y * blockDim.y;
  const int j = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < m && j < n) {
    const T* const row = a + static_cast<std::ptrdiff_t>(i) * lda;
    T dot = T(0);
    for (int p = k - 1; p >= 0; --p)
      dot = row[p] * b[static_cast<std::ptrdiff_t>(p) * ldb + j] + dot;
    c[static_cast<std::ptrdiff_t>(i) * ldc + j] = dot;
  }
}

template <typename T>
void launch(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, dim3 block,
            cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  const dim3 blocks((c.cols - 1) / block.x + 1, (c.rows - 1) / block.y + 1);
  multiply<<<blocks, block, 0, stream>>>(a.data, a.ld, b.data, b.ld, c.data, c.ld, c.rows, c.cols,
                                         a.cols);
  CUDA_CHECK(cudaGetLastError());
}

template <typename T>
void outer_product(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                   cudaStream_t stream) {
  const dim3 block(8, 8), blocks(c.cols / 8 + 1, c.rows / 8 + 1);
  multiply_column_by_row<<<blocks, block, 0, stream>>>(a.data, a.ld, b.data, c.data, c.ld, c.rows,
                                                       c.cols);
  CUDA_CHECK(cudaGetLastError());
}

template <typename T>
void gemm_square_grid(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                      cudaStream_t stream) {
  launch(a, b, c, dim3(32, 32), stream);
}

template <typename T>
void gemm_naive(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                cudaStream_t stream) {
  launch(a, b, c, dim3(64, 4), stream);
}
