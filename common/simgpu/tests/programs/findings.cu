// A kernel with a race, and one that reads what nobody wrote: reported, but no CUDA error, as on hardware.
#include "check.h"

__global__ void race(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = s[63 - threadIdx.x];   // a barrier is missing
}
__global__ void copy(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }

int main() {
  int *in, *out;
  CHECK(cudaMalloc(&in, 64 * sizeof(int)));
  CHECK(cudaMalloc(&out, 64 * sizeof(int)));
  race<<<1, 64>>>(out);
  CHECK(cudaDeviceSynchronize());
  copy<<<1, 64>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  std::printf("no error code\n");
  return 0;
}
