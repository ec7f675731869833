// out[i] = in[i-1] + in[i] + in[i+1]: the threads of a block use shared memory to share what they read.
//
//     make sim FILE=examples/neighbours.cu
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "common/cuda_check.cuh"

constexpr int kThreads = 128;

__global__ void sum_of_neighbours(const float* in, float* out, int n) {
  __shared__ float tile[kThreads + 2];  // one per block: its elements and one more on each side
  const int i = blockIdx.x * kThreads + threadIdx.x, mine = threadIdx.x + 1;

  tile[mine] = i < n ? in[i] : 0;
  if (threadIdx.x == 0) {
    const int next = i + kThreads;
    tile[0] = i > 0 ? in[i - 1] : 0;
    tile[kThreads + 1] = next < n ? in[next] : 0;
  }
  __syncthreads();  // nobody reads before all threads have written

  if (i < n) out[i] = tile[mine - 1] + tile[mine] + tile[mine + 1];
}

int main() {
  const int n = 1000;
  std::vector<float> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i);

  const std::size_t bytes = n * sizeof(float);
  float *device_in, *device_out;
  CUDA_CHECK(cudaMalloc(&device_in, bytes));
  CUDA_CHECK(cudaMalloc(&device_out, bytes));
  CUDA_CHECK(cudaMemcpy(device_in, in.data(), bytes, cudaMemcpyHostToDevice));
  sum_of_neighbours<<<(n + kThreads - 1) / kThreads, kThreads>>>(device_in, device_out, n);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpy(out.data(), device_out, bytes, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device_in));
  CUDA_CHECK(cudaFree(device_out));

  for (int i = 0; i < n; ++i) {
    const float expected = (i > 0 ? in[i - 1] : 0) + in[i] + (i + 1 < n ? in[i + 1] : 0);
    if (out[i] != expected) {
      std::printf("out[%d] is %g, expected %g\n", i, out[i], expected);
      return 1;
    }
  }
  std::printf("ok\n");
}
