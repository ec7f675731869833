// Vectors taken apart by structured bindings: copies, references, elements of memory.
#include <cstdio>

#include "check.h"

__global__ void parts(const float4* in, int2* pairs, double2* wide, float* out) {
  const auto [x, y, z, w] = in[threadIdx.x];  // one load of 16 bytes
  auto& [i, j] = pairs[threadIdx.x];
  i += 1, j += 2;
  auto [a, b] = wide[threadIdx.x];  // a copy
  a += 1;
  const float4 again = in[threadIdx.x];
  const auto& [p, q, r, s] = again;
  out[threadIdx.x] =
      x + 10 * y + 100 * z + 1000 * w + float(a + b) + (p - x) + (q - y) + (r - z) + (s - w);
}

int main() {
  float4* in;
  int2* pairs;
  double2* wide;
  float* out;
  CHECK(cudaMallocManaged(&in, 32 * sizeof *in));
  CHECK(cudaMallocManaged(&pairs, 32 * sizeof *pairs));
  CHECK(cudaMallocManaged(&wide, 32 * sizeof *wide));
  CHECK(cudaMallocManaged(&out, 32 * sizeof *out));
  for (int k = 0; k < 32; ++k) {
    in[k] = {float(k), 1, 2, 3};
    pairs[k] = {k, k};
    wide[k] = {0.5, 0.25};
  }
  parts<<<1, 32>>>(in, pairs, wide, out);
  CHECK(cudaDeviceSynchronize());
  const auto [i, j] = pairs[3];
  std::printf("%g %d %d %g\n", out[5], i, j, wide[5].x);
}
