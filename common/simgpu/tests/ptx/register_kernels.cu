// Kernels whose registers ptxas and the liveness estimate are compared on: one thread per element, shared
// tiles, register tiles of many sizes in three types, wide loads, and accumulators no register file holds.
#include <cuda_runtime.h>

template <typename T>
struct View {
  T* data;
  int rows, cols, ld;
};

template <typename T>
__global__ void naive(View<const T> a, View<const T> b, View<T> c) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= c.rows || col >= c.cols) return;
  T sum = 0;
  for (int k = 0; k < a.cols; ++k) sum += a.data[row * a.ld + k] * b.data[k * b.ld + col];
  c.data[row * c.ld + col] = sum;
}

template <typename T, int TILE>
__global__ void tiled(View<const T> a, View<const T> b, View<T> c) {
  __shared__ T as[TILE][TILE], bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  T sum = 0;
  for (int k0 = 0; k0 < a.cols; k0 += TILE) {
    as[ty][tx] = row < a.rows && k0 + tx < a.cols ? a.data[row * a.ld + k0 + tx] : T(0);
    bs[ty][tx] = k0 + ty < b.rows && col < b.cols ? b.data[(k0 + ty) * b.ld + col] : T(0);
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  if (row < c.rows && col < c.cols) c.data[row * c.ld + col] = sum;
}

// TM x TN elements of C per thread, straight from global memory.
template <typename T, int TM, int TN>
__global__ void register_tile(View<const T> a, View<const T> b, View<T> c) {
  const int row = (blockIdx.y * blockDim.y + threadIdx.y) * TM;
  const int col = (blockIdx.x * blockDim.x + threadIdx.x) * TN;
  T sum[TM][TN] = {};
  for (int k = 0; k < a.cols; ++k) {
    T fa[TM], fb[TN];
#pragma unroll
    for (int i = 0; i < TM; ++i) fa[i] = row + i < a.rows ? a.data[(row + i) * a.ld + k] : T(0);
#pragma unroll
    for (int j = 0; j < TN; ++j) fb[j] = col + j < b.cols ? b.data[k * b.ld + col + j] : T(0);
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j) sum[i][j] += fa[i] * fb[j];
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j)
      if (row + i < c.rows && col + j < c.cols) c.data[(row + i) * c.ld + col + j] = sum[i][j];
}

// A BM x BN tile of C per block through shared memory, TM x TN elements per thread.
template <typename T, int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM / TM * (BN / TN)) shared_tile(View<const T> a, View<const T> b, View<T> c) {
  constexpr int kThreads = BM / TM * (BN / TN);
  __shared__ T as[BK][BM], bs[BK][BN];
  const int tid = threadIdx.x, tx = tid % (BN / TN), ty = tid / (BN / TN);
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  T sum[TM][TN] = {};
  for (int k0 = 0; k0 < a.cols; k0 += BK) {
#pragma unroll
    for (int i = 0; i < BM * BK / kThreads; ++i) {
      const int e = tid + i * kThreads, m = e / BK, k = e % BK;
      as[k][m] = row0 + m < a.rows && k0 + k < a.cols ? a.data[(row0 + m) * a.ld + k0 + k] : T(0);
    }
#pragma unroll
    for (int i = 0; i < BN * BK / kThreads; ++i) {
      const int e = tid + i * kThreads, k = e / BN, n = e % BN;
      bs[k][n] = k0 + k < b.rows && col0 + n < b.cols ? b.data[(k0 + k) * b.ld + col0 + n] : T(0);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      T fa[TM], fb[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) fa[i] = as[k][ty * TM + i];
#pragma unroll
      for (int j = 0; j < TN; ++j) fb[j] = bs[k][tx * TN + j];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += fa[i] * fb[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int row = row0 + ty * TM + i, col = col0 + tx * TN + j;
      if (row < c.rows && col < c.cols) c.data[row * c.ld + col] = sum[i][j];
    }
}

// Aligned sizes only: float4 everywhere, the next tile fetched while this one is used.
template <int BM, int BN, int BK>
__global__ void __launch_bounds__(BM / 8 * (BN / 8)) float4_tile(View<const float> a, View<const float> b, View<float> c) {
  constexpr int kThreads = BM / 8 * (BN / 8), kA = BM * BK / 4 / kThreads, kB = BN * BK / 4 / kThreads;
  __shared__ float as[2][BK][BM], bs[2][BK][BN];
  const int tid = threadIdx.x, tx = tid % (BN / 8), ty = tid / (BN / 8);
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  float sum[8][8] = {};
  float4 next_a[kA], next_b[kB];
  int stage = 0;
  for (int k0 = 0; k0 < a.cols; k0 += BK) {
#pragma unroll
    for (int i = 0; i < kA; ++i) {
      const int e = tid + i * kThreads, m = e / (BK / 4), k = e % (BK / 4) * 4;
      next_a[i] = *reinterpret_cast<const float4*>(&a.data[(row0 + m) * a.ld + k0 + k]);
    }
#pragma unroll
    for (int i = 0; i < kB; ++i) {
      const int e = tid + i * kThreads, k = e / (BN / 4), n = e % (BN / 4) * 4;
      next_b[i] = *reinterpret_cast<const float4*>(&b.data[(k0 + k) * b.ld + col0 + n]);
    }
#pragma unroll
    for (int i = 0; i < kA; ++i) {
      const int e = tid + i * kThreads, m = e / (BK / 4), k = e % (BK / 4) * 4;
      as[stage][k][m] = next_a[i].x;
      as[stage][k + 1][m] = next_a[i].y;
      as[stage][k + 2][m] = next_a[i].z;
      as[stage][k + 3][m] = next_a[i].w;
    }
#pragma unroll
    for (int i = 0; i < kB; ++i) {
      const int e = tid + i * kThreads, k = e / (BN / 4), n = e % (BN / 4) * 4;
      *reinterpret_cast<float4*>(&bs[stage][k][n]) = next_b[i];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float fa[8], fb[8];
#pragma unroll
      for (int i = 0; i < 8; i += 4) {
        *reinterpret_cast<float4*>(&fa[i]) = *reinterpret_cast<const float4*>(&as[stage][k][ty * 8 + i]);
        *reinterpret_cast<float4*>(&fb[i]) = *reinterpret_cast<const float4*>(&bs[stage][k][tx * 8 + i]);
      }
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += fa[i] * fb[j];
    }
    stage ^= 1;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; j += 4)
      *reinterpret_cast<float4*>(&c.data[(row0 + ty * 8 + i) * c.ld + col0 + tx * 8 + j]) =
          *reinterpret_cast<const float4*>(&sum[i][j]);
}

#define KERNEL(T, ...) template __global__ void __VA_ARGS__(View<const T>, View<const T>, View<T>)
KERNEL(float, naive<float>);
KERNEL(double, naive<double>);
KERNEL(int, naive<int>);
KERNEL(float, tiled<float, 8>);
KERNEL(float, tiled<float, 16>);
KERNEL(float, tiled<float, 32>);
KERNEL(double, tiled<double, 16>);
KERNEL(int, tiled<int, 32>);
KERNEL(float, register_tile<float, 2, 2>);
KERNEL(float, register_tile<float, 4, 4>);
KERNEL(float, register_tile<float, 8, 8>);
KERNEL(int, register_tile<int, 4, 4>);
KERNEL(double, register_tile<double, 4, 4>);
KERNEL(float, register_tile<float, 32, 32>);
KERNEL(float, shared_tile<float, 32, 32, 8, 2, 2>);
KERNEL(float, shared_tile<float, 64, 64, 8, 4, 4>);
KERNEL(float, shared_tile<float, 64, 64, 16, 4, 8>);
KERNEL(float, shared_tile<float, 128, 128, 8, 8, 8>);
KERNEL(float, shared_tile<float, 256, 256, 8, 16, 16>);
KERNEL(int, shared_tile<int, 64, 64, 8, 4, 4>);
KERNEL(int, shared_tile<int, 128, 128, 8, 8, 8>);
KERNEL(double, shared_tile<double, 32, 32, 8, 2, 2>);
KERNEL(double, shared_tile<double, 64, 64, 8, 4, 4>);
KERNEL(double, shared_tile<double, 64, 64, 8, 8, 8>);
KERNEL(float, shared_tile<float, 256, 256, 8, 32, 32>);
KERNEL(float, float4_tile<64, 64, 8>);
KERNEL(float, float4_tile<128, 128, 8>);
KERNEL(float, float4_tile<128, 128, 16>);
