// Atomics: a histogram in shared memory, merged in global memory; a "last block" that sees all the others' work.
#include "check.h"

#include <vector>

__global__ void histogram(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    atomicAdd(&local[data[i]], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__device__ unsigned arrived = 0;

__global__ void sum_of_squares(const float* x, int n, float* partial, float* result) {
  __shared__ float s[128];
  __shared__ bool last;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += x[i] * x[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned step = 64; step > 0; step /= 2) {
    if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = s[0];
    __threadfence();
    last = atomicInc(&arrived, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0.0f;
    for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
    *result = total;
    arrived = 0;
  }
}

int main() {
  const int n = 50000;
  std::vector<unsigned char> data(n);
  std::vector<unsigned> expected(256, 0), bins(256);
  unsigned state = 1;
  for (auto& d : data) {
    state = state * 1664525u + 1013904223u;
    d = static_cast<unsigned char>(state >> 24);
    ++expected[d];
  }
  unsigned char* ddata;
  unsigned* dbins;
  CHECK(cudaMalloc(&ddata, n));
  CHECK(cudaMalloc(&dbins, 256 * sizeof(unsigned)));
  CHECK(cudaMemcpy(ddata, data.data(), n, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(dbins, 0, 256 * sizeof(unsigned)));
  histogram<<<12, 256>>>(ddata, n, dbins);
  CHECK(cudaMemcpy(bins.data(), dbins, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost));
  std::printf("histogram %s\n", bins == expected ? "right" : "wrong");

  std::vector<float> x(n, 0.5f);
  float *dx, *partial, *result, total = 0;
  CHECK(cudaMalloc(&dx, n * sizeof(float)));
  CHECK(cudaMalloc(&partial, 16 * sizeof(float)));
  CHECK(cudaMalloc(&result, sizeof(float)));
  CHECK(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  sum_of_squares<<<16, 128>>>(dx, n, partial, result);
  CHECK(cudaMemcpy(&total, result, sizeof total, cudaMemcpyDeviceToHost));
  std::printf("sum of squares %g\n", total);
  return 0;
}
