// What the simulated GPU lacks says so by name, once, and with an error code. (Not comparable with hardware.)
#include "check.h"

int main() {
  cudaGraph_t graph = nullptr;
  for (int i = 0; i < 3; ++i) std::printf("%s\n", cudaGetErrorName(cudaGraphDestroy(graph)));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start));
  CHECK(cudaEventRecord(stop));
  cudaGetLastError();
  // A program that prints times goes on.
  float ms = 1;
  for (int i = 0; i < 2; ++i) std::printf("%s\n", cudaGetErrorName(cudaEventElapsedTime(&ms, start, stop)));
  std::printf("%g %s\n", ms, cudaGetErrorName(cudaGetLastError()));
  std::printf("%s\n", cudaGetErrorName(cudaDeviceEnablePeerAccess(0, 0)));
  return 0;
}
