// curand_kernel.h: Philox as published, one stream however it is taken, and distributions that are what they say.
#include <curand_kernel.h>

#include <cmath>
#include <vector>

#include "check.h"

__global__ void published(uint4* out) {
  out[0] = curand_Philox4x32_10(make_uint4(0, 0, 0, 0), make_uint2(0, 0));
  out[1] = curand_Philox4x32_10(make_uint4(~0u, ~0u, ~0u, ~0u), make_uint2(~0u, ~0u));
  out[2] = curand_Philox4x32_10(make_uint4(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344),
                                make_uint2(0xa4093822, 0x299f31d0));
}
/// Numbers 0 to 63 of one subsequence, one after the other, and each again by an offset.
__global__ void streams(unsigned* one_by_one, unsigned* by_offset, unsigned* by_fours) {
  curandStatePhilox4_32_10_t state;
  curand_init(1234, 5, threadIdx.x, &state);
  by_offset[threadIdx.x] = curand(&state);
  if (threadIdx.x != 0) return;
  curand_init(1234, 5, 0, &state);
  for (int i = 0; i < 64; ++i) one_by_one[i] = curand(&state);
  curand_init(1234, 0, 3, &state);
  skipahead_sequence(5, &state);
  for (int i = 0; i < 15; ++i) {
    const uint4 four = curand4(&state);
    by_fours[4 * i] = four.x, by_fours[4 * i + 1] = four.y;
    by_fours[4 * i + 2] = four.z, by_fours[4 * i + 3] = four.w;
  }
}
template <class State>
__global__ void moments(double* sums, int n) {
  State state;
  curand_init(42, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
  double s[6] = {};
  for (int i = 0; i < n; ++i) {
    const double u = curand_uniform(&state), g = curand_normal(&state), d = curand_uniform_double(&state);
    s[0] += u, s[1] += u * u, s[2] += g, s[3] += g * g, s[4] += d, s[5] += curand_poisson(&state, 3.0);
  }
  for (int k = 0; k < 6; ++k) atomicAdd(sums + k, s[k]);
}

template <class State>
static void show_moments(const char* name) {
  const int threads = 512, n = 40;
  double *sums, host[6];
  CHECK(cudaMalloc(&sums, sizeof host));
  CHECK(cudaMemset(sums, 0, sizeof host));
  moments<State><<<threads / 128, 128>>>(sums, n);
  CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
  const double want[6] = {1 / 2.0, 1 / 3.0, 0, 1, 1 / 2.0, 3};
  bool near = true;
  for (int k = 0; k < 6; ++k) near = near && std::fabs(host[k] / (threads * n) - want[k]) < 0.05;
  std::printf("%s: %s\n", name, near ? "as they should be" : "NOT as they should be");
  CHECK(cudaFree(sums));
}

int main() {
  uint4 *d4, four[3];
  CHECK(cudaMalloc(&d4, sizeof four));
  published<<<1, 1>>>(d4);
  CHECK(cudaMemcpy(four, d4, sizeof four, cudaMemcpyDeviceToHost));
  for (const uint4& v : four) std::printf("%08x %08x %08x %08x\n", v.x, v.y, v.z, v.w);

  unsigned *words, host[3][64];
  CHECK(cudaMalloc(&words, sizeof host));
  CHECK(cudaMemset(words, 0, sizeof host));
  streams<<<1, 64>>>(words, words + 64, words + 128);
  CHECK(cudaMemcpy(host, words, sizeof host, cudaMemcpyDeviceToHost));
  bool offsets = true, fours = true;
  for (int i = 0; i < 64; ++i) offsets = offsets && host[0][i] == host[1][i];
  for (int i = 0; i < 60; ++i) fours = fours && host[2][i] == host[0][i + 3];
  std::printf("by offset: %s, four at a time: %s\n", offsets ? "the same" : "OTHERS", fours ? "the same" : "OTHERS");

  show_moments<curandStatePhilox4_32_10_t>("Philox");
  show_moments<curandState>("XORWOW");
  return 0;
}
