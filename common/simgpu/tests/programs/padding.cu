// Structs with padding, which no member's store fills: copied as a whole from array to array, through
// shared and local memory, between lanes, and to the host. Nobody uses the padding, so nothing is wrong.
#include "check.h"

struct Pair {
  double x;
  int n;
};
struct Mixed {
  int a;
  short b;
  double c;
  char d[3];
};
struct alignas(16) Point {
  float x, y, z;
};
struct alignas(16) Complex {
  float re, im;
};
struct alignas(32) Row {
  float v[4];
  int n;
};

template <class S>
__device__ S made(int i);
template <>
__device__ Pair made(int i) {
  Pair s;
  s.x = i, s.n = i + 1;
  return s;
}
template <>
__device__ Mixed made(int i) {
  Mixed s;
  s.a = i, s.b = 1, s.c = 2, s.d[0] = s.d[1] = s.d[2] = 3;
  return s;
}
template <>
__device__ Point made(int i) {
  Point s;
  s.x = i, s.y = 1, s.z = 2;
  return s;
}
template <>
__device__ Complex made(int i) {
  Complex s;
  s.re = i, s.im = 1;
  return s;
}
template <>
__device__ Row made(int i) {
  Row s;
  for (int k = 0; k < 4; ++k) s.v[k] = i + k;
  s.n = i;
  return s;
}
__device__ __host__ float value(const Pair& s) { return static_cast<float>(s.x) + s.n; }
__device__ __host__ float value(const Mixed& s) { return static_cast<float>(s.a + s.b + s.c) + s.d[2]; }
__device__ __host__ float value(const Point& s) { return s.x + s.y + s.z; }
__device__ __host__ float value(const Complex& s) { return s.re + s.im; }
__device__ __host__ float value(const Row& s) { return s.v[0] + s.v[3] + s.n; }

template <class S>
__global__ void make(S* to) {
  to[threadIdx.x] = made<S>(static_cast<int>(threadIdx.x));
}
template <class S>
__global__ void copy(const S* from, S* to) {
  to[threadIdx.x] = from[threadIdx.x];
}
template <class S>
__global__ void reverse_by_shared(const S* from, S* to) {
  __shared__ S tile[64];
  tile[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = tile[63 - threadIdx.x];
}
template <class S>
__global__ void reverse_by_register(S* a) {
  const S own = a[threadIdx.x];
  __syncthreads();
  a[63 - threadIdx.x] = own;
}
template <class S>
__global__ void by_local(const S* from, S* to, int k) {
  S some[4];
  for (int i = 0; i < 4; ++i) some[i] = from[(threadIdx.x + i) & 63];
  to[threadIdx.x] = some[k & 3];
}
template <class S>
__global__ void from_neighbour(const S* from, S* to) {
  const S own = from[threadIdx.x];
  S other;
#pragma unroll
  for (unsigned k = 0; k < sizeof(S) / 4; ++k)
    reinterpret_cast<int*>(&other)[k] =
        __shfl_xor_sync(0xffffffff, reinterpret_cast<const int*>(&own)[k], 1);
  to[threadIdx.x] = other;
}
template <class S>
__global__ void use(const S* from, float* sum) {
  atomicAdd(sum, value(from[threadIdx.x]));
}

template <class S>
void run(const char* name) {
  S *a, *b, *one, h[64], first;
  float *sum, sum_here = 0;
  CHECK(cudaMalloc(&a, sizeof h));
  CHECK(cudaMalloc(&b, sizeof h));
  CHECK(cudaMalloc(&one, sizeof(S)));
  CHECK(cudaMalloc(&sum, sizeof(float)));
  CHECK(cudaMemset(sum, 0, sizeof(float)));
  make<<<1, 64>>>(a);
  copy<<<1, 64>>>(a, b);
  reverse_by_shared<<<1, 64>>>(b, a);
  reverse_by_register<<<1, 64>>>(a);
  by_local<<<1, 64>>>(a, b, 64);
  from_neighbour<<<1, 64>>>(b, a);
  use<<<1, 64>>>(a, sum);
  make<<<1, 1>>>(one);
  CHECK(cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&first, one, sizeof first, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&sum_here, sum, sizeof sum_here, cudaMemcpyDeviceToHost));
  float expected = 0;
  for (const S& s : h) expected += value(s);
  std::printf("%s: %g, %g, %s\n", name, value(h[0]), value(first), sum_here == expected ? "ok" : "wrong");
}

int main() {
  run<Pair>("a double and an int");
  run<Mixed>("four members");
  run<Point>("three floats in 16 bytes");
  run<Complex>("two floats in 16 bytes");
  run<Row>("five words in 32 bytes");
}
