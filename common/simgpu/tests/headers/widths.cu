// Copies through the vector types: each must stay one access of its whole width, as nvcc makes it.
#include <cuda_runtime.h>

// Shared tiles to registers and back, as register-tiled GEMMs do it.
extern "C" __global__ void tiles(const float* a, float* c, int n) {
  __shared__ float as[16][64], bs[16][64];
  float acc[4][4] = {};
  for (int t = 0; t < n; t += 16) {
    *reinterpret_cast<float4*>(&as[threadIdx.y][threadIdx.x * 4]) =
        *reinterpret_cast<const float4*>(&a[threadIdx.y * n + t + threadIdx.x * 4]);
    *reinterpret_cast<float4*>(&bs[threadIdx.y][threadIdx.x * 4]) =
        *reinterpret_cast<const float4*>(&a[(t + threadIdx.y) * n + threadIdx.x * 4]);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float x[4], y[4];
      *reinterpret_cast<float4*>(x) = *reinterpret_cast<const float4*>(&as[k][threadIdx.y * 4]);
      *reinterpret_cast<float4*>(y) = *reinterpret_cast<const float4*>(&bs[k][threadIdx.x * 4]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] += x[i] * y[j];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    *reinterpret_cast<float4*>(&c[(threadIdx.y * 4 + i) * n + threadIdx.x * 4]) =
        make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
  }
}

// One global load and one global store of the type, through a named variable.
template <typename T>
__device__ void copy_one(const T* in, T* out) {
  const T value = in[threadIdx.x];
  out[threadIdx.x] = value;
}
#define COPY(T) \
  extern "C" __global__ void copy_##T(const T* in, T* out) { copy_one(in, out); }
COPY(float2)
COPY(float4)
COPY(double2)
COPY(int2)
COPY(int4)
COPY(uint2)
COPY(uint4)
COPY(longlong2)
COPY(ulonglong2)
COPY(double4)
COPY(uchar4)
COPY(short4)
#define CACHED(T) \
  extern "C" __global__ void cached_##T(const T* in, T* out) { __stcg(&out[threadIdx.x], __ldg(&in[threadIdx.x])); }
CACHED(float4)
CACHED(float2)
CACHED(int4)
CACHED(double2)

// By value, in a struct by value, and through shared memory as an array of the type itself.
struct Pair {
  float4 first, second;
};
extern "C" __global__ void by_value(float4 x, Pair p, float4* out) {
  __shared__ float4 tile[64];
  tile[threadIdx.x] = x;
  __syncthreads();
  out[0] = tile[63 - threadIdx.x];
  out[1] = p.second;
}
