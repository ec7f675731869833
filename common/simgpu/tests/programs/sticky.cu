// A kernel that runs out of bounds loses the device: the next waiting call says so, and every call after it.
#include "check.h"

#include <vector>

__global__ void fill(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) p[static_cast<long long>(i == n ? 1ll << 36 : i)] = i;   // far away, so that hardware notices too
}

int main() {
  int *p, *q;
  CHECK(cudaMalloc(&p, 100 * sizeof(int)));
  CHECK(cudaMalloc(&q, 100 * sizeof(int)));
  fill<<<1, 128>>>(p, 100);
  std::printf("after the launch: %s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("synchronize: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("last error: %s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("again: %s\n", cudaGetErrorName(cudaGetLastError()));
  std::vector<int> host(100);
  std::printf("copy: %s\n", cudaGetErrorName(cudaMemcpy(host.data(), q, 400, cudaMemcpyDeviceToHost)));
  fill<<<1, 32>>>(q, 100);
  std::printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("free: %s\n", cudaGetErrorName(cudaFree(q)));
  std::printf("malloc: %s\n", cudaGetErrorName(cudaMalloc(&q, 4)));
  std::printf("%s\n", cudaGetErrorString(cudaPeekAtLastError()));
  return 0;
}
