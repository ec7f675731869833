// One element of C without tensor cores: infinities and NaNs are computed again with this.
#pragma once

#include "common/matrix.hpp"

/// One element of A * B, by multiply-adds in FP32.
__device__ inline float element(MatrixView<const float> a, MatrixView<const float> b, int row,
                                int col) {
  float sum = 0;
  for (int k = 0; k < a.cols; ++k) sum += a(row, k) * b(k, col);
  return sum;
}
