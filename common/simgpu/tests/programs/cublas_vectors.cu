// cuBLAS's functions of vectors, strides and both kinds of results, against sums by hand.
#include <cublas_v2.h>

#include <cmath>
#include <vector>

#include "check.h"

static void yes(bool is, const char* what) { std::printf("%s: %s\n", what, is ? "right" : "WRONG"); }

int main() {
  const int m = 6, n = 5;
  std::vector<float> a(m * n), got(m * n);
  for (int i = 0; i < m * n; ++i) a[i] = static_cast<float>(i * 7 % 11 - 5);
  float *da, *dx, *dy;
  CHECK(cudaMalloc(&da, sizeof(float) * m * n));
  CHECK(cudaMalloc(&dx, 400));
  CHECK(cudaMalloc(&dy, 400));
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSetMatrix(m, n, sizeof(float), a.data(), m, da, m);
  const float alpha = 16, beta = 12;
  cublasSscal(handle, n - 1, &alpha, da + 1 + m, m);  // a row
  cublasSscal(handle, m - 2, &beta, da + 2 + 2 * m, 1);  // a column
  cublasGetMatrix(m, n, sizeof(float), da, m, got.data(), m);
  yes(got[1 + 3 * m] == 16 * a[1 + 3 * m] && got[4 + 2 * m] == 12 * a[4 + 2 * m] && got[0] == a[0], "rows and columns");

  std::vector<float> x(100), y(100, 3.0f), back(100);
  for (int i = 0; i < 100; ++i) x[i] = static_cast<float>(i % 9 - 4);
  x[37] = -20;
  cublasSetVector(100, sizeof(float), x.data(), 1, dx, 1);
  cublasSetVector(100, sizeof(float), y.data(), 1, dy, 1);
  const float two = 2;
  cublasSaxpy(handle, 50, &two, dx, 2, dy, -1);  // every other element, to the first half turned round
  cublasGetVector(100, sizeof(float), dy, 1, back.data(), 1);
  bool right = true;
  for (int i = 0; i < 100; ++i) right = right && back[i] == (i < 50 ? 3 + 2 * x[2 * (49 - i)] : 3);
  yes(right, "strides");

  float dot = 0, norm = 0, sum = 0, want[3] = {};
  int most = 0, *least;
  CHECK(cudaMalloc(&least, sizeof(int)));
  cublasSdot(handle, 100, dx, 1, dy, 1, &dot);
  cublasSnrm2(handle, 100, dx, 1, &norm);
  cublasSasum(handle, 100, dx, 1, &sum);
  cublasIsamax(handle, 100, dx, 1, &most);
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  cublasIsamin(handle, 100, dx, 1, least);
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
  int first_zero = 0;
  CHECK(cudaMemcpy(&first_zero, least, sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 100; ++i) want[0] += x[i] * back[i], want[1] += x[i] * x[i], want[2] += std::fabs(x[i]);
  yes(dot == want[0] && norm == std::sqrt(want[1]) && sum == want[2] && most == 38 && first_zero == 5, "dot, norms, extremes");

  const float one = 1, half = 0.5f;
  float d[6] = {};
  for (int turned = 0; turned < 2; ++turned) {
    const int rows = turned ? n : m, columns = turned ? m : n;
    cublasSetVector(100, sizeof(float), y.data(), 1, dy, 1);
    cublasSgemv(handle, turned ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, &one, da, m, dx, 1, &half, dy, 1);
    cublasGetVector(rows, sizeof(float), dy, 1, d, 1);
    right = true;
    for (int i = 0; i < rows; ++i) {
      float s = 1.5f;
      for (int j = 0; j < columns; ++j) s += got[turned ? i * m + j : j * m + i] * x[j];
      right = right && d[i] == s;
    }
    yes(right, turned ? "the transpose and a vector" : "a matrix and a vector");
  }
  yes(cublasSgemv(handle, CUBLAS_OP_N, m, n, &one, da, m - 1, dx, 1, &half, dy, 1) == CUBLAS_STATUS_INVALID_VALUE, "a pitch that is too small");
  cublasDestroy(handle);
  return 0;
}
