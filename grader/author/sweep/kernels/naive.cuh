// One thread per element of C in blocks of side x side threads.
#pragma once

#include "grader/author/sweep/driver.cuh"

namespace sweep {

template <typename In>
__global__ void naive_kernel(MatrixView<const In> a, MatrixView<const In> b,
                             MatrixView<Result<In>> c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= c.rows || col >= c.cols) return;
  Result<In> sum = 0;
  for (int k = 0; k < a.cols; ++k) sum += a(row, k) * b(k, col);
  c(row, col) = sum;
}

template <typename In>
Way<In> naive(int n, int side) {
  const dim3 grid(ceil_div(n, side), ceil_div(n, side));
  return one_kernel<In>(naive_kernel<In>, grid, dim3(side, side));
}

/// Where a launch takes seconds, one type is enough: the curves of the others have the same shape.
template <typename In>
constexpr bool worth_its_time(int n, int side) {
  return n <= 2048 || side >= 4 || std::is_same_v<In, int>;
}

/// Blocks of 1 x 1 up to 32 x 32 threads, for several sizes of matrix.
template <typename In>
void add_naive_sides(Plan& plan) {
  for (const int n : {256, 512, 1024, 2048, 4096})
    for (const int side : {1, 2, 4, 8, 16, 32}) {
      if (!worth_its_time<In>(n, side)) continue;
      plan.add<In>({"side", "naive", n, side, ""},
                   [side](int size) { return naive<In>(size, side); });
    }
}

}  // namespace sweep
