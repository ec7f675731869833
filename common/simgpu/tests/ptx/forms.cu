// One of everything that clang makes of a lab's kernels: shared tiles of three types, dynamic and plain shared memory,
// constants, device variables with addresses in their initialisers, inline assembly with its own scope, printf's call, local
// memory, a switch (a branch table in newer compilers), wide accesses, shuffles and atomics.
#include <cuda_runtime.h>

extern "C" __device__ int vprintf(const char*, const char*);

__constant__ float coeff[4] = {1, 2, 3, 4};
__device__ int counter;
__device__ const char* names[2] = {"ab", "cd"};

template <typename T>
struct View {
  T* data;
  int rows, cols, ld;
};

template <typename T, int TILE>
__global__ void __launch_bounds__(TILE* TILE) tiled(View<const T> a, View<const T> b, View<T> c) {
  __shared__ T as[TILE][TILE], bs[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  T sum = 0;
  for (int t = 0; t < a.cols; t += TILE) {
    as[threadIdx.y][threadIdx.x] = a.data[row * a.ld + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b.data[(t + threadIdx.y) * b.ld + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c.data[row * c.ld + col] = sum;
}
template __global__ void tiled<float, 16>(View<const float>, View<const float>, View<float>);
template __global__ void tiled<double, 8>(View<const double>, View<const double>, View<double>);
template __global__ void tiled<int, 8>(View<const int>, View<const int>, View<int>);

__global__ void misc(float* p, int n, float4* q) {
  extern __shared__ float dyn[];
  __shared__ int plain[33];
  plain[threadIdx.x] = n;
  dyn[threadIdx.x] = coeff[threadIdx.x & 3];
  __syncthreads();
  unsigned x;
  asm volatile(
      "{ .reg .pred p; .reg .b32 t; setp.ne.s32 p, %1, 0; @!p bra DONE; mov.b32 t, 5; mov.b32 %0, t; DONE: }"
      : "=r"(x)
      : "r"(n));
  float v = __nvvm_shfl_sync_bfly_f32(~0u, dyn[x], 1, 31);
  struct {
    int a;
    double d;
    const char* s;
  } args = {n, v, names[n & 1]};
  if (n < 0) vprintf("hello %d %f %s\n", (const char*)&args);
  q[threadIdx.x] = q[threadIdx.x + n];
  __nvvm_atom_add_gen_f(p, v + plain[0]);
  counter = (int)v;
  switch (n) {
    case 0: p[0] = 1; break;
    case 1: p[3] = 5; break;
    case 2: p[5] = 6; break;
    case 3: p[7] = __builtin_sqrtf(v); break;
    case 4: p[1] /= v; break;
    case 5: p[9] = 7; break;
  }
}
