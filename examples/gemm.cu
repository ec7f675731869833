// C = A * B, one thread per element: the first kernel of the labs as a complete program. All matrices are row-major;
// A is m x k, B is k x n, C is m x n.
//
// What to look at: there are m * n * k multiply-adds. A warp's load of a (the same word for all lanes) costs 1 sector, a
// load of b (32 adjacent words) costs 4. The labs are about needing fewer loads and sectors.
//
//     make sim FILE=examples/gemm.cu ARGS="64 96 32" REPORT=lines
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "common/cuda_check.cuh"

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

int main(int argc, char** argv) {
  const int m = argc > 1 ? std::atoi(argv[1]) : 64;
  const int n = argc > 2 ? std::atoi(argv[2]) : 96;
  const int k = argc > 3 ? std::atoi(argv[3]) : 32;
  if (m < 1 || n < 1 || k < 1) {
    std::printf("usage: gemm [M] [N] [K], each at least 1\n");
    return 2;
  }

  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<float>(i % 7) - 3.0f;
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<float>(i % 5) * 0.25f;

  float *device_a, *device_b, *device_c;
  CUDA_CHECK(cudaMalloc(&device_a, a.size() * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&device_b, b.size() * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&device_c, c.size() * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(device_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(device_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));

  const dim3 threads(32, 8);
  const dim3 blocks((n + threads.x - 1) / threads.x, (m + threads.y - 1) / threads.y);
  gemm<<<blocks, threads>>>(device_a, device_b, device_c, m, n, k);
  CUDA_CHECK_LAUNCH();

  CUDA_CHECK(cudaMemcpy(c.data(), device_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device_a));
  CUDA_CHECK(cudaFree(device_b));
  CUDA_CHECK(cudaFree(device_c));

  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      // k rounding errors, each at most 2^-24 relative to the sum of the magnitudes.
      double expected = 0.0, magnitude = 0.0;
      for (int i = 0; i < k; ++i) {
        const double product = static_cast<double>(a[row * k + i]) * b[i * n + column];
        expected += product;
        magnitude += std::fabs(product);
      }
      const double got = c[row * n + column];
      if (!(std::fabs(got - expected) <= k * 0x1p-24 * magnitude)) {
        std::printf("c[%d][%d] is %g, expected %g\n", row, column, got, expected);
        return 1;
      }
    }
  }
  std::printf("ok\n");
}
