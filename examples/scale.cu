// Multiplies a matrix by a factor, with a two-dimensional grid, a leading dimension and a stream.
//
//     make sim FILE=examples/scale.cu
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"

// __device__: a function that threads call, not the host.
__device__ inline bool inside(MatrixView<float> m, int row, int col) {
  return row < m.rows && col < m.cols;
}

__global__ void scale(MatrixView<float> m, float factor) {
  const int row = blockIdx.y;  // blocks are one row high here
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (inside(m, row, column)) m(row, column) *= factor;
}

int main() {
  const int rows = 50, cols = 70, ld = 72;  // rows have 70 elements and begin 72 elements apart
  std::vector<float> host(rows * ld, 2.0f);
  const std::size_t bytes = host.size() * sizeof(float);

  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  float* data;
  CUDA_CHECK(cudaMalloc(&data, bytes));
  CUDA_CHECK(cudaMemcpyAsync(data, host.data(), bytes, cudaMemcpyHostToDevice, stream));

  const dim3 block(64);  // 64 x 1 x 1 threads
  const dim3 grid((cols + block.x - 1) / block.x, rows);
  scale<<<grid, block, 0, stream>>>(MatrixView<float>{data, rows, cols, ld}, 3.0f);
  CUDA_CHECK_LAUNCH();

  CUDA_CHECK(cudaMemcpyAsync(host.data(), data, bytes, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaFree(data));
  CUDA_CHECK(cudaStreamDestroy(stream));

  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < ld; ++col) {
      const float expected = col < cols ? 6.0f : 2.0f;  // the padding between rows must not change
      if (host[row * ld + col] != expected) {
        std::printf("(%d, %d) is %g, expected %g\n", row, col, host[row * ld + col], expected);
        return 1;
      }
    }
  }
  std::printf("ok\n");
}
