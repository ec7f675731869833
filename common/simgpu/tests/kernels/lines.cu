// Every memory access stands on a line of its own with a marker, and all are in templates, lambdas,
// inlined functions and loops: the report must name these lines whatever the compiler did.
#include <cuda_runtime.h>

template <typename T>
__device__ T fetch(const T* p, int i) {
  return p[i];  // @fetch
}

template <int N>
__device__ float sum_row(const float (&tile)[N][N], int row) {
  float s = 0;
#pragma unroll
  for (int j = 0; j < N; ++j)
    s += tile[row][j];  // @sum_row
  return s;
}

struct View {
  float* data;
  int rows, cols, ld;
  __device__ float& at(int r, int c) const {
    return data[r * ld + c];
  }
};

__constant__ float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

extern "C" __global__ void lines(View in, View out, int* counter, int n) {
  __shared__ float tile[8][8];
  __shared__ float4 wide[64];
  extern __shared__ float dynamic[];
  int t = threadIdx.x, r = t / 8, c = t % 8;
  float v =
      in.at(r, c);  // @view_load
  tile[r][c] = v;  // @tile_store
  __syncthreads();  // @barrier
  float s = sum_row(tile, r);
  wide[t] = make_float4(s, v, s, v);  // @vector_store
  __syncthreads();
  float4 w = wide[63 - t];  // @vector_load
  dynamic[t] = w.x;  // @dynamic_store
  __syncthreads();
  s += dynamic[t ^ 1];  // @dynamic_load
  s += table[c];  // @constant_load
  float local[16];
  for (int k = 0; k < 16; ++k)
    local[(k * n) & 15] = s + k;  // @local_store
  s += local[n & 15];  // @local_load
  s += fetch(in.data, t ^ 3);
  const auto write = [&](float x) {
    out.at(r, c) = x;  // @lambda_store
  };
  write(s);
  atomicAdd(counter, 1);  // @atomic
}

template <typename T, int Width>
__device__ void copy_tile(T* dst, const T* src, int ld) {
#pragma unroll
  for (int i = 0; i < Width; ++i)
    dst[i * Width + threadIdx.x] =  // @copy_store
        src[i * ld + threadIdx.x];  // @copy_load
}

template <typename T>
__global__ void templated(const T* in, T* out, int ld) {
  __shared__ T tile[32 * 32];
  copy_tile<T, 32>(tile, in, ld);
  __syncthreads();
  for (int i = 0; i < 32; ++i)
    out[threadIdx.x * 32 + i] =  // @templated_store
        tile[i * 32 + threadIdx.x];  // @templated_load
}
template __global__ void templated<float>(const float*, float*, int);
template __global__ void templated<double>(const double*, double*, int);
