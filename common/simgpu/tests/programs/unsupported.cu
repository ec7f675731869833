// What the simulated GPU lacks says so by name, once, and with an error code. (Not comparable with hardware.)
#include "check.h"

#include <cmath>

__global__ void kernel(int* p) { *p = 1; }

int main() {
  int* p = nullptr;
  for (int i = 0; i < 3; ++i) {
    std::printf("%s %d\n", cudaGetErrorName(cudaMallocManaged(&p, 100)), p == nullptr);
  }
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start));
  CHECK(cudaEventRecord(stop));
  float ms = 0;
  std::printf("%s\n", cudaGetErrorName(cudaEventElapsedTime(&ms, start, stop)));
  std::printf("%d %s\n", std::isnan(ms), cudaGetErrorName(cudaGetLastError()));
  std::printf("%s\n", cudaGetErrorName(cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(1), nullptr)));
  return 0;
}
