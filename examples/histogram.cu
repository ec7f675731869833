// How often does each byte value occur? Many threads count in the same 256 bins, so they add with atomics.
//
// What to look at: `histogram_global` sends one atomic to global memory for each byte. `histogram_shared` counts in
// shared memory, with a set of bins per block, and sends only 256 atomics per block at the end.
//
//     make sim FILE=examples/histogram.cu
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "common/cuda_check.cuh"

constexpr int kBins = 256, kThreads = 256;

// A grid-stride loop: any number of blocks works for any n.
__global__ void histogram_global(const unsigned char* data, int n, unsigned* bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[data[i]], 1u);
  }
}

__global__ void histogram_shared(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned mine[kBins];
  mine[threadIdx.x] = 0;  // shared memory is not initialised
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&mine[data[i]], 1u);
  }
  __syncthreads();  // every thread of the block has counted
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

using Kernel = void (*)(const unsigned char*, int, unsigned*);

bool right(const char* name, Kernel kernel, const std::vector<unsigned char>& data) {
  unsigned char* device_data;
  unsigned* device_bins;
  const int n = static_cast<int>(data.size());
  CUDA_CHECK(cudaMalloc(&device_data, n));
  CUDA_CHECK(cudaMalloc(&device_bins, kBins * sizeof(unsigned)));
  CUDA_CHECK(cudaMemcpy(device_data, data.data(), n, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemset(device_bins, 0, kBins * sizeof(unsigned)));
  kernel<<<8, kThreads>>>(device_data, n, device_bins);
  CUDA_CHECK_LAUNCH();
  std::vector<unsigned> bins(kBins), expected(kBins);
  CUDA_CHECK(
      cudaMemcpy(bins.data(), device_bins, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device_data));
  CUDA_CHECK(cudaFree(device_bins));

  for (const unsigned char byte : data) ++expected[byte];
  for (int bin = 0; bin < kBins; ++bin) {
    if (bins[bin] != expected[bin]) {
      std::printf("%s: bin %d has %u, expected %u\n", name, bin, bins[bin], expected[bin]);
      return false;
    }
  }
  return true;
}

int main() {
  std::vector<unsigned char> data(50021);
  unsigned state = 1;  // a linear congruential generator: the same bytes on every machine
  for (unsigned char& byte : data) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<unsigned char>(state >> 24);
  }
  if (!right("histogram_global", histogram_global, data)) return 1;
  if (!right("histogram_shared", histogram_shared, data)) return 1;
  std::printf("ok\n");
}
