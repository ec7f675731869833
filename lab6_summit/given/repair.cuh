// Infinities and NaN in products of parts.
#pragma once

#include <cfloat>

#include "common/matrix.hpp"

/// Computes element (row, col) of C again, in FP32 and without tensor cores, if it is not
/// finite. The small part of an infinity is NaN (inf - inf), and numbers near the end of FP32's range
/// may have parts that overflow. This way infinities, NaN and overflow come out as they do in FP32.
__device__ inline void repair(MatrixView<const float> a, MatrixView<const float> b,
                              MatrixView<float> c, int row, int col) {
  if (fabsf(c(row, col)) <= FLT_MAX) return;
  float sum = 0;
  for (int k = 0; k < a.cols; ++k) sum += a(row, k) * b(k, col);
  c(row, col) = sum;
}
