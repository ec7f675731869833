// __constant__ and __device__ variables: arrays, structs, initial values, offsets, addresses.
#include "check.h"

struct Settings {
  float scale;
  int shift;
  double bias[2];
};

__constant__ float coefficients[8];
__constant__ Settings settings;
__constant__ int table[4] = {10, 20, 30, 40};
__device__ int counter = 100;
__device__ float scratch[16];
static __device__ unsigned hidden = 7;

__global__ void polynomial(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 7; k >= 0; --k) sum = sum * x[i] + coefficients[k];
  y[i] = sum * settings.scale + static_cast<float>(settings.shift) + static_cast<float>(settings.bias[1]) +
         static_cast<float>(table[i % 4]);
  scratch[i] = y[i];
  atomicAdd(&counter, 1);
  if (i == 0) hidden += 1;
}

__global__ void read_hidden(unsigned* out) { *out = hidden; }

int main() {
  float host[8] = {1, 0, 2, 0, 0, 0, 0, 0};
  CHECK(cudaMemcpyToSymbol(coefficients, host, sizeof host));
  const float three = 3.0f;
  CHECK(cudaMemcpyToSymbol(coefficients, &three, sizeof three, 1 * sizeof(float)));
  const Settings s = {2.0f, 5, {0.0, 0.5}};
  CHECK(cudaMemcpyToSymbol(settings, &s, sizeof s));
  float x[4] = {0, 1, 2, -1}, y[4], z[4], *dx, *dy;
  CHECK(cudaMalloc(&dx, sizeof x));
  CHECK(cudaMalloc(&dy, sizeof y));
  CHECK(cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice));
  polynomial<<<1, 32>>>(dx, dy, 4);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpyFromSymbol(z, scratch, sizeof z));
  for (int i = 0; i < 4; ++i) std::printf("%g %g\n", y[i], z[i]);
  int count = 0;
  CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  std::printf("counter %d\n", count);
  void* address = nullptr;
  size_t size = 0;
  CHECK(cudaGetSymbolAddress(&address, scratch));
  CHECK(cudaGetSymbolSize(&size, scratch));
  std::printf("scratch has %zu bytes\n", size);
  CHECK(cudaMemset(address, 0, size));
  CHECK(cudaMemcpyFromSymbol(z, scratch, sizeof z));
  std::printf("%g %g\n", z[0], z[3]);
  unsigned h = 0, *dh;
  CHECK(cudaMalloc(&dh, sizeof h));
  read_hidden<<<1, 1>>>(dh);
  CHECK(cudaMemcpy(&h, dh, sizeof h, cudaMemcpyDeviceToHost));
  std::printf("hidden %u\n", h);
  float not_a_symbol = 0;
  std::printf("%s\n", cudaGetErrorName(cudaMemcpyToSymbol(not_a_symbol, &three, sizeof three)));
  std::printf("%s\n", cudaGetErrorName(cudaMemcpyToSymbol(scratch, &three, sizeof three, 16 * sizeof(float))));
  std::printf("%s\n", cudaGetErrorName(cudaMemcpyToSymbol(scratch, &three, sizeof three, 0, cudaMemcpyDeviceToHost)));
  return 0;
}
