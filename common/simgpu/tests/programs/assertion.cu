// assert() in a kernel.
#include <cassert>

#include "check.h"

__global__ void check(const int* p, int n) { assert(p[threadIdx.x] < n); }

int main() {
  int host[4] = {1, 2, 3, 4}, *p;
  CHECK(cudaMalloc(&p, sizeof host));
  CHECK(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
  check<<<1, 4>>>(p, 5);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  check<<<1, 4>>>(p, 4);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  return 0;
}
