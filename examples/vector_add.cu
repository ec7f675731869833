// c = a + b, element by element: the smallest useful CUDA program, with all the steps that every CUDA program has.
//
//     make sim FILE=examples/vector_add.cu                    without a GPU
//     nvcc -I. examples/vector_add.cu && ./a.out              with one
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "common/cuda_check.cuh"

// Every thread runs this once. It works out which element is its own.
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];  // the last block has more threads than there are elements left
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 10007;  // not a multiple of the block size
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) {
    a[i] = 0.5f * static_cast<float>(i);
    b[i] = 3.0f;
  }

  // The GPU has a memory of its own: allocate arrays there and copy the input to them.
  const std::size_t bytes = n * sizeof(float);
  float *device_a, *device_b, *device_c;
  CUDA_CHECK(cudaMalloc(&device_a, bytes));
  CUDA_CHECK(cudaMalloc(&device_b, bytes));
  CUDA_CHECK(cudaMalloc(&device_c, bytes));
  CUDA_CHECK(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice));

  // Enough blocks of 256 threads to cover n elements.
  const int threads = 256, blocks = (n + threads - 1) / threads;
  add<<<blocks, threads>>>(device_a, device_b, device_c, n);
  CUDA_CHECK_LAUNCH();

  // Waits for the kernel, then copies the result back.
  CUDA_CHECK(cudaMemcpy(c.data(), device_c, bytes, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device_a));
  CUDA_CHECK(cudaFree(device_b));
  CUDA_CHECK(cudaFree(device_c));

  for (int i = 0; i < n; ++i) {
    const float expected = a[i] + b[i];
    if (c[i] != expected) {
      std::printf("c[%d] is %g, expected %g\n", i, c[i], expected);
      return 1;
    }
  }
  std::printf("ok\n");
}
