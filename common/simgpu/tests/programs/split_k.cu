// Split-K: blockIdx.z takes a slice of K, partial sums meet by atomicAdd; the last block to arrive scales the result.
#include "check.h"

#include <vector>

__device__ unsigned int arrived = 0;

template <int TILE>
__global__ void gemm_split_k(const float* __restrict__ a, const float* __restrict__ b, float* c, int m, int n, int k, int slice) {
  __shared__ float as[TILE][TILE + 1], bs[TILE][TILE + 1];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  const int begin = blockIdx.z * slice, end = min(k, begin + slice);
  float sum = 0.0f;
  for (int k0 = begin; k0 < end; k0 += TILE) {
    as[ty][tx] = row < m && k0 + tx < end ? __ldg(&a[row * k + k0 + tx]) : 0.0f;
    bs[ty][tx] = k0 + ty < end && col < n ? __ldg(&b[(k0 + ty) * n + col]) : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) sum = fmaf(as[ty][i], bs[i][tx], sum);
    __syncthreads();
  }
  if (row < m && col < n) atomicAdd(&c[row * n + col], sum);

  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (tx == 0 && ty == 0) last = atomicInc(&arrived, gridDim.x * gridDim.y * gridDim.z - 1) == gridDim.x * gridDim.y * gridDim.z - 1;
  __syncthreads();
  if (!last) return;
  for (int e = ty * TILE + tx; e < m * n; e += TILE * TILE) c[e] = 0.5f * atomicAdd(&c[e], 0.0f);
}

int main() {
  const int m = 33, n = 47, k = 500, splits = 4;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<float>(i % 5 - 2);
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<float>(i % 7 - 3);
  float *da, *db, *dc;
  CHECK(cudaMalloc(&da, a.size() * sizeof(float)));
  CHECK(cudaMalloc(&db, b.size() * sizeof(float)));
  CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
  for (int repeat = 0; repeat < 2; ++repeat) {  // the counter wraps: ready for the next launch
    CHECK(cudaMemset(dc, 0, c.size() * sizeof(float)));
    gemm_split_k<16><<<dim3((n + 15) / 16, (m + 15) / 16, splits), dim3(16, 16)>>>(da, db, dc, m, n, k, (k + splits - 1) / splits);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int e = 0; e < k; ++e) sum += a[i * k + e] * b[e * n + j];
        wrong += c[i * n + j] != sum / 2;
      }
    std::printf("%d of %d wrong\n", wrong, m * n);
  }
  return 0;
}
