// Divergence in every shape. Each kernel's host twin is in control_test.cpp.
#include <cuda_runtime.h>

#define NOINLINE __attribute__((noinline))

extern "C" __global__ void nested_ifs(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i], r = 0;
  if (v & 1) {
    r += 1;
    if (v & 2) {
      r += 10;
      if (v & 4) {
        r += 100 * in[i ^ 1];
      } else {
        r -= in[i ^ 2];
      }
    } else if (v & 8) {
      r ^= in[i ^ 4];
    }
    r *= 3;
  } else {
    if (v % 3 == 0) r = in[i ^ 8] + 7;
  }
  out[i] = r + v;
}

extern "C" __global__ void trip_counts(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = in[i];
  int steps = 0;
  while (x != 1 && steps < 200) {  // Collatz: every lane a length of its own
    x = (x & 1) ? 3 * x + 1 : x / 2;
    ++steps;
  }
  out[i] = steps;
}

extern "C" __global__ void break_continue(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    int v = in[(i + k) % n];
    if (v % 7 == 3) continue;
    for (int m = 0; m < 5; ++m) {
      if (v + m == i) break;
      if ((v ^ m) % 5 == 0) continue;
      sum += v * (m + 1);
    }
    if (sum > 1000 + i) break;
    sum -= 1;
  }
  out[i] = sum;
}

extern "C" __global__ void early_return(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i];
  if (v < 0) return;
  out[i] = v;
  if (v % 2) {
    out[i] = -v;
    if (v % 3 == 0) return;
    out[i] = v * 5;
  }
  out[i] += 1;
}

extern "C" __global__ void return_after_barrier(const int* in, int* out) {
  __shared__ int box[64];
  int t = threadIdx.x;
  box[t] = in[t];
  __syncthreads();
  if (t % 3 == 0) return;
  out[t] = box[63 - t];
}

extern "C" __global__ void switch_cases(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i], r = v;
  switch (v % 9) {
    case 0: r = in[i ^ 1]; break;
    case 1: r += 5; __attribute__((fallthrough));
    case 2: r *= 7; break;
    case 3: out[i] = 12345; return;
    case 4: r = r * r - 1; break;
    case 5: r ^= in[i ^ 2]; break;
    case 6: r -= 99; break;
    case 7: r = ~r; break;
    default: r = -1;
  }
  out[i] = r;
}

NOINLINE __device__ int twice(int x) { return x > 10 ? 2 * x : x - 1; }
NOINLINE __device__ int mixed(int a, float b, double c, long long d) {
  if (a & 1) return static_cast<int>(b * 2) + twice(a);
  return static_cast<int>(c) - static_cast<int>(d) + twice(a + 1);
}
NOINLINE __device__ int sum_to(int n) { return n <= 0 ? 0 : n + sum_to(n - 1); }
NOINLINE __device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void divergent_calls(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i];
  if (v % 4 == 0) return;
  if (v % 2) v = mixed(v, 1.5f * v, v, v);
  out[i] = v + twice(v);
}

extern "C" __global__ void recursion(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i];
  out[i] = (v & 1) ? sum_to(v % 40) : fibonacci(v % 9);
}

typedef int (*Operation)(int);
NOINLINE __device__ void fill(int* p, int n, int seed) {
  for (int k = 0; k < n; ++k) p[k] = seed * k + 1;
}
extern "C" __global__ void local_array_through_call(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int mine[12];
  fill(mine, 12, in[i]);
  int s = 0;
  for (int k = 0; k < 12; ++k) s = s * 3 + mine[(k * 5 + i) % 12];
  out[i] = s;
}

extern "C" __global__ void loop_with_barriers(const int* in, int* out, int rounds) {
  __shared__ int box[96];
  int t = threadIdx.x;
  box[t] = in[blockIdx.x * 96 + t];
  for (int k = 0; k < rounds; ++k) {
    __syncthreads();
    int v = box[(t + 1) % 96];
    if (v % 2) v = v * 3 + 1;
    __syncthreads();
    box[t] = v & 0xFFFF;
  }
  out[blockIdx.x * 96 + t] = box[t];
}

// `go` exists once: for each of its `trips` passes a lane is active as long as its count lasts.
extern "C" __global__ void active_lanes(const int* trips, int* out) {
  int i = threadIdx.x, n = trips[i];
  for (int k = 0; k < n; ++k) {
    out[i * 8 + k] = k;  // @active
  }
}

extern "C" __global__ void short_circuit(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int hits = 0;
  for (int k = -2; k < 3; ++k) {
    int j = i + k;
    if (j >= 0 && j < n && in[j] > in[i] && (in[j] & 1 || in[j] % 3 == 0)) ++hits;
  }
  if (i < n) out[i] = hits;
}
