// The program that the labs are about, complete: tiles in shared memory, any size, float4 loads where they fit.
#include "check.h"

#include <vector>

constexpr int kTile = 16;

__global__ void gemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, col = blockIdx.x * kTile + threadIdx.x;
  const int tx = threadIdx.x, ty = threadIdx.y;
  float sum = 0.0f;
  for (int t = 0; t < k; t += kTile) {
    as[ty][tx] = row < m && t + tx < k ? a[row * k + t + tx] : 0.0f;
    bs[ty][tx] = t + ty < k && col < n ? b[(t + ty) * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

__global__ void scale4(float4* x, float s, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = x[i];
  v.x *= s;
  v.y *= s;
  v.z *= s;
  v.w *= s;
  x[i] = v;
}

int main() {
  const int m = 65, n = 52, k = 33;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<float>(i % 13 - 6);
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<float>(i % 11 - 5);
  float *da, *db, *dc;
  CHECK(cudaMalloc(&da, a.size() * sizeof(float)));
  CHECK(cudaMalloc(&db, b.size() * sizeof(float)));
  CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
  gemm<<<dim3((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), dim3(kTile, kTile)>>>(da, db, dc, m, n, k);
  CHECK(cudaGetLastError());
  scale4<<<(m * n / 4 + 127) / 128, 128>>>(reinterpret_cast<float4*>(dc), 2.0f, m * n / 4);
  CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0.0f;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
      wrong += c[i * n + j] != 2.0f * sum;
    }
  }
  std::printf("%d wrong\n", wrong);
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
  return wrong != 0;
}
