// Matrices that are not where cuBLAS is told to look: a finding that names the matrix, and a status, but no crash.
#include <cublas_v2.h>

#include <vector>

#include "check.h"

int main() {
  float *a, *c;
  CHECK(cudaMalloc(&a, 4 * 4 * sizeof(float)));
  CHECK(cudaMalloc(&c, 4 * 4 * sizeof(float)));
  CHECK(cudaMemset(a, 0, 4 * 4 * sizeof(float)));
  CHECK(cudaMemset(c, 0, 4 * 4 * sizeof(float)));
  std::vector<float> on_host(16, 1.0f);
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  const auto product = [&](const float* x, const float* y, float* z, int ldx, int ldy, int ldz) {
    std::printf("%d\n", static_cast<int>(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, x, ldx, y, ldy, &zero,
                                                     z, ldz)));
  };
  product(a, a, c, 4, 4, 4);
  product(a, a, c, 8, 4, 4);
  product(a, on_host.data(), c, 4, 4, 4);
  product(a, a, c, 4, 4, 6);
  cublasDestroy(handle);
  return 0;
}
