// Shared-memory loads of the shapes that decide whether ptxas merges them: pitch, offset, padding, element size,
// what stands between the loads, explicit vectors, and loops left to the compiler.
#include <cuda_runtime.h>

// Row reads of a tile with PITCH elements per row: merged only if the pitch keeps rows aligned.
template <typename T, int COUNT, int PITCH>
__global__ void row_sum(const T* in, T* out) {
  __shared__ T tile[32 * PITCH];
  const int t = threadIdx.x;
  for (int i = 0; i < PITCH; ++i) tile[t * PITCH + i] = in[t * PITCH + i];
  __syncthreads();
  T sum = 0;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) sum += tile[(t ^ 1) * PITCH + i];
  out[t] = sum;
}

// An odd array in front shifts the second one off its alignment.
template <int ODD>
__global__ void second_array(const float* in, float* out) {
  __shared__ float first[ODD], second[32 * 8];
  const int t = threadIdx.x;
  if (t < ODD) first[t] = in[t];
  for (int i = 0; i < 8; ++i) second[t * 8 + i] = in[t * 8 + i];
  __syncthreads();
  float sum = first[t % ODD];
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += second[(t ^ 1) * 8 + i];
  out[t] = sum;
}

// Dynamic shared memory, and a store in the middle of the loads.
__global__ void store_between(const float* in, float* out, float* between) {
  extern __shared__ float buffer[];
  const int t = threadIdx.x;
  for (int i = 0; i < 8; ++i) buffer[t * 8 + i] = in[t * 8 + i];
  __syncthreads();
  const float* row = buffer + (t ^ 1) * 8;
  float sum = row[0] + row[1];
  between[t] = sum;
  sum += row[2] + row[3];
  buffer[512 + t] = sum;
  out[t] = sum + row[4] * row[5] * row[6];
}

// Every second element, as a strided walk does.
__global__ void strided(const float* in, float* out) {
  __shared__ float tile[1024];
  const int t = threadIdx.x;
  for (int i = 0; i < 32; ++i) tile[t + 32 * i] = in[t + 32 * i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += tile[(t ^ 1) * 16 + 2 * i];
  out[t] = sum;
}

// Four neighbours under four different bases: columns of a tile.
__global__ void columns(const float* in, float* out) {
  __shared__ float tile[32][36];
  const int t = threadIdx.x;
  for (int i = 0; i < 32; ++i) tile[i][t] = in[t + 32 * i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 32; ++i) sum += tile[i][t ^ 1] * tile[t][i];
  out[t] = sum;
}

__global__ void vectors(const float4* in, float* out) {
  __shared__ float4 tile[64];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  const float4 a = tile[t ^ 1], b = tile[t ^ 2];
  const float2 c = *reinterpret_cast<const float2*>(&tile[t ^ 4]);
  const float2 d = *(reinterpret_cast<const float2*>(&tile[t ^ 4]) + 1);
  out[t] = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w + c.x + c.y + d.x * d.y;
}

__global__ void volatiles(const float* in, float* out) {
  __shared__ volatile float tile[128];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  out[t] = tile[(t & 15) * 4] + tile[(t & 15) * 4 + 1] + tile[(t & 15) * 4 + 2] + tile[(t & 15) * 4 + 3];
}

#define ROWS(T, COUNT, PITCH) template __global__ void row_sum<T, COUNT, PITCH>(const T*, T*)
ROWS(float, 8, 8);
ROWS(float, 8, 9);
ROWS(float, 8, 10);
ROWS(float, 8, 12);
ROWS(float, 7, 8);
ROWS(float, 5, 8);
ROWS(int, 6, 8);
ROWS(double, 8, 8);
ROWS(double, 7, 9);
ROWS(double, 5, 10);
ROWS(short, 8, 8);
ROWS(long long, 4, 4);
ROWS(signed char, 8, 8);
template __global__ void second_array<5>(const float*, float*);
template __global__ void second_array<6>(const float*, float*);
template __global__ void second_array<8>(const float*, float*);
