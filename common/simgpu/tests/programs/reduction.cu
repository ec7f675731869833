// Shuffles, a warp-aggregated counter, dynamic shared memory within and beyond 48 KiB.
#include "check.h"

#include <vector>

__inline__ __device__ int warp_sum(int value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

__global__ void block_sum(const int* in, int* out, int n) {
  extern __shared__ int warps[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = warp_sum(i < n ? in[i] : 0);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = warp_sum(threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(out, value);
  }
}

__global__ void count_odd(const int* in, int n, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool odd = i < n && in[i] % 2 != 0;
  const unsigned mask = __ballot_sync(0xffffffff, odd);
  if (threadIdx.x % 32 == 0) atomicAdd(count, __popc(mask));
}

__global__ void big_shared(double* out, int n) {
  extern __shared__ double buffer[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) buffer[i] = i;
  __syncthreads();
  double sum = 0;
  if (threadIdx.x == 0) {
    for (int i = 0; i < n; ++i) sum += buffer[n - 1 - i];
    *out = sum;
  }
}

int main() {
  const int n = 4000;
  std::vector<int> host(n);
  int sum = 0, odd = 0;
  for (int i = 0; i < n; ++i) {
    host[i] = (i * 37) % 101 - 50;
    sum += host[i];
    odd += host[i] % 2 != 0;
  }
  int *in, *out, results[2];
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, sizeof results));
  CHECK(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, sizeof results));
  const int threads = 256, blocks = (n + threads - 1) / threads;
  block_sum<<<blocks, threads, threads / 32 * sizeof(int)>>>(in, out, n);
  count_odd<<<blocks, threads>>>(in, n, out + 1);
  CHECK(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
  std::printf("sum %s, odd %s\n", results[0] == sum ? "right" : "wrong", results[1] == odd ? "right" : "wrong");

  double* dsum;
  CHECK(cudaMalloc(&dsum, sizeof(double)));
  const int elements = 12000;   // 96000 bytes
  big_shared<<<1, 128, elements * sizeof(double)>>>(dsum, elements);
  std::printf("without the attribute: %s\n", cudaGetErrorName(cudaGetLastError()));
  CHECK(cudaFuncSetAttribute(big_shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(elements * sizeof(double))));
  big_shared<<<1, 128, elements * sizeof(double)>>>(dsum, elements);
  CHECK(cudaGetLastError());
  double total = 0;
  CHECK(cudaMemcpy(&total, dsum, sizeof total, cudaMemcpyDeviceToHost));
  std::printf("with it: %.0f\n", total);
  std::printf("too much: %s\n", cudaGetErrorName(cudaFuncSetAttribute(
                                    big_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 << 10)));
  return 0;
}
