// Kernels whose traffic is known exactly: measured on hardware, published, or countable by hand.
#include <cuda_runtime.h>

extern "C" __global__ void naive(const float* a, const float* b, float* c, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && col < n) {
    float sum = 0;
    for (int i = 0; i < k; ++i) {
      sum += a[row * k + i] * b[i * n + col];  // @naive_product
    }
    c[row * n + col] = sum;  // @naive_store
  }
}

// C = alpha A B + beta C with 32 x 32 x 32 tiles: the kernel of the published A6000 report.
extern "C" __global__ void tile32(const float* a, const float* b, float* c, int m, int n, int k, float alpha,
                                  float beta) {
  __shared__ float as[32][32];
  __shared__ float bs[32][32];
  int x = threadIdx.x % 32, y = threadIdx.x / 32;
  a += blockIdx.y * 32 * k;
  b += blockIdx.x * 32;
  c += blockIdx.y * 32 * n + blockIdx.x * 32;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += 32) {
    as[y][x] = a[y * k + x];  // @tile_a
    bs[y][x] = b[y * n + x];  // @tile_b
    __syncthreads();
    a += 32;
    b += 32 * n;
#pragma unroll
    for (int i = 0; i < 32; ++i) sum += as[y][i] * bs[i][x];  // @tile_product
    __syncthreads();
  }
  c[y * n + x] = alpha * sum + beta * c[y * n + x];  // @tile_store
}

extern "C" __global__ void tile16(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[16][16];
  __shared__ float bs[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += 16) {
    as[y][x] = a[row * k + k0 + x];
    bs[y][x] = b[(k0 + y) * n + col];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

extern "C" __global__ void naive_double(const double* a, const double* b, double* c, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && col < n) {
    double sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
  }
}
