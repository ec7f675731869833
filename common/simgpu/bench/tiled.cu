// The kernel of `make bench-simgpu`: one output a thread, tiles of 16 x 16 in static shared memory.
#include <cuda_runtime.h>

extern "C" __global__ void tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[16][16], bs[16][16];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float sum = 0;
  for (int t = 0; t < k; t += 16) {
    as[y][x] = row < m && t + x < k ? a[row * k + t + x] : 0.0f;
    bs[y][x] = col < n && t + y < k ? b[(t + y) * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

extern "C" __global__ void naive(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y,
            col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
