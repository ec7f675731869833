// Who runs a kernel: every thread of every block, once, in an order that you cannot rely on.
//
//     make sim FILE=examples/hello.cu
#include <cuda_runtime.h>

#include <cstdio>

#include "common/cuda_check.cuh"

__global__ void hello() {
  std::printf("block %d of %d, thread %d of %d\n", blockIdx.x, gridDim.x, threadIdx.x, blockDim.x);
}

int main() {
  hello<<<2, 3>>>();  // 2 blocks of 3 threads
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());  // a launch does not wait for the kernel; this does
  std::printf("the host goes on\n");
}
