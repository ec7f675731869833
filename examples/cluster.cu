// A histogram whose bins are spread over a cluster: each block holds a share of them in shared memory, and every thread
// adds in the shared memory of the block that holds its bin ("distributed shared memory").
//
// What to look at: the line "cluster" counts atomics in the shared memory of other blocks. The cluster needs two sync():
// no block may add to another's bins before they are cleared, and no block may exit while others still add to its bins.
//
//     make sim FILE=examples/cluster.cu
//     nvcc -std=c++17 -O3 -I. -gencode arch=compute_90,code=sm_90 examples/cluster.cu
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "common/cuda_check.cuh"

namespace cg = cooperative_groups;

constexpr int kBins = 4096, kCluster = 4, kShare = kBins / kCluster, kThreads = 256;

__global__ void __cluster_dims__(kCluster, 1, 1)
    histogram(const unsigned short* data, int n, unsigned* bins) {
  __shared__ unsigned mine[kShare];
  const cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < kShare; i += kThreads) mine[i] = 0;
  cluster.sync();  // every block of the cluster has cleared its share
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    const int bin = data[i];
    unsigned* const there = cluster.map_shared_rank(mine, bin / kShare);
    atomicAdd(&there[bin % kShare], 1u);
  }
  cluster.sync();  // all blocks have finished adding
  for (int i = threadIdx.x; i < kShare; i += kThreads)
    atomicAdd(&bins[cluster.block_rank() * kShare + i], mine[i]);
}

int main() {
  const int n = 20000;
  std::vector<unsigned short> data(n);
  for (int i = 0; i < n; ++i) data[i] = static_cast<unsigned short>(i * 7919LL % 10007 % kBins);
  unsigned short* device_data;
  unsigned* device_bins;
  CUDA_CHECK(cudaMalloc(&device_data, n * sizeof(unsigned short)));
  CUDA_CHECK(cudaMalloc(&device_bins, kBins * sizeof(unsigned)));
  CUDA_CHECK(
      cudaMemcpy(device_data, data.data(), n * sizeof(unsigned short), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemset(device_bins, 0, kBins * sizeof(unsigned)));
  histogram<<<2 * kCluster, kThreads>>>(device_data, n, device_bins);
  CUDA_CHECK_LAUNCH();
  std::vector<unsigned> bins(kBins), expected(kBins);
  CUDA_CHECK(
      cudaMemcpy(bins.data(), device_bins, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device_data));
  CUDA_CHECK(cudaFree(device_bins));
  for (const unsigned short value : data) ++expected[value];
  for (int bin = 0; bin < kBins; ++bin) {
    if (bins[bin] != expected[bin]) {
      std::printf("bin %d has %u, expected %u\n", bin, bins[bin], expected[bin]);
      return 1;
    }
  }
  std::printf("ok\n");
}
