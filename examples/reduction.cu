// The sum of an array: each block adds up its part in shared memory, in steps that halve the number of values. Then one
// thread of each block adds the block's sum to the result.
//
// What to look at: `sum_interleaved` adds values that are 1, 2, 4, ... words apart, so the words that a warp accesses
// fall into fewer and fewer banks. In `sum_halves`, the first half of the threads adds the values of the second half:
// threads access adjacent words, in different banks.
//
//     make sim FILE=examples/reduction.cu REPORT=lines
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "common/cuda_check.cuh"

constexpr int kThreads = 256;

__global__ void sum_interleaved(const int* in, int n, int* out) {
  __shared__ int part[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int stride = 1; stride < kThreads; stride *= 2) {
    const int at = 2 * stride * t;
    if (at < kThreads) part[at] += part[at + stride];
    __syncthreads();  // all threads must reach it, even those that do not add
  }
  if (t == 0) atomicAdd(out, part[0]);
}

__global__ void sum_halves(const int* in, int n, int* out) {
  __shared__ int part[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int stride = kThreads / 2; stride > 0; stride /= 2) {
    if (t < stride) part[t] += part[t + stride];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, part[0]);
}

int main() {
  const int n = 100003;
  std::vector<int> in(n);
  int expected = 0;
  for (int i = 0; i < n; ++i) {
    in[i] = (i * 37) % 101 - 50;
    expected += in[i];
  }

  int *device_in, *device_out;
  CUDA_CHECK(cudaMalloc(&device_in, n * sizeof(int)));
  CUDA_CHECK(cudaMalloc(&device_out, 2 * sizeof(int)));
  CUDA_CHECK(cudaMemcpy(device_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemset(device_out, 0, 2 * sizeof(int)));

  const int blocks = (n + kThreads - 1) / kThreads;
  sum_interleaved<<<blocks, kThreads>>>(device_in, n, device_out);
  CUDA_CHECK_LAUNCH();
  sum_halves<<<blocks, kThreads>>>(device_in, n, device_out + 1);
  CUDA_CHECK_LAUNCH();

  int out[2];
  CUDA_CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device_in));
  CUDA_CHECK(cudaFree(device_out));

  const char* const names[] = {"sum_interleaved", "sum_halves"};
  for (int k = 0; k < 2; ++k) {
    if (out[k] != expected) {
      std::printf("%s gives %d, expected %d\n", names[k], out[k], expected);
      return 1;
    }
  }
  std::printf("ok\n");
}
