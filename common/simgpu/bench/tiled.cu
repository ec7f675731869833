// The kernels of `make bench-simgpu`. Pairs of them differ in whether they read what they write.
#include <cuda_runtime.h>

/// One output a thread, tiles of 16 x 16 in static shared memory.
__device__ float tiled_sum(const float* a, const float* b, int m, int n, int k) {
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
  return sum;
}

extern "C" __global__ void tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  const float sum = tiled_sum(a, b, m, n, k);
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row < m && col < n) c[row * n + col] = sum;
}

extern "C" __global__ void tiled_add(const float* a, const float* b, float* c, int m, int n,
                                     int k) {
  const float sum = tiled_sum(a, b, m, n, k);
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row < m && col < n) c[row * n + col] += sum;
}

extern "C" __global__ void naive(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y,
            col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

/// y of m * n elements in c.
extern "C" __global__ void saxpy(const float* a, const float* x, float* y, int m, int n, int) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m * n) y[i] = a[0] * x[i] + y[i];
}

extern "C" __global__ void scale(const float* a, const float* x, float* y, int m, int n, int) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m * n) y[i] = a[0] * x[i];
}
