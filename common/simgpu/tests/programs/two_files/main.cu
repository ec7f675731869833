#include "../check.h"
#include "scale.cuh"

int sum_on_host(const float* x, int n);   // main's C++ part

namespace {
__global__ void kernel(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1.0f;
}
}  // namespace

int main() {
  const int n = 1000;
  static float host[n];
  float* x;
  CHECK(cudaMalloc(&x, n * sizeof(float)));
  fill<<<4, 256>>>(x, 2.0f, n);
  kernel<<<4, 256>>>(x, n);
  CHECK(scale(x, 4.0f, n, nullptr));
  CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
  std::printf("%d\n", sum_on_host(host, n));
  CHECK(cudaFree(x));
  return 0;
}
