// C = A * B on Hopper's tensor cores, as simply as possible: one thread requests tiles from the copy engine (TMA), and
// four warps multiply them with wgmma. A is m x k, B is k x n, both __half; C is m x n, float; all row-major.
//
// What to look at: no thread loads anything of A or B, neither from global nor from shared memory; "bulk load" is the
// copy engine's work. What is missing: while tiles are in flight, the tensor cores are idle. Stage 5.4 changes that.
//
//     make sim FILE=examples/hopper_gemm.cu ARGS="100 264 72"
//     nvcc -std=c++17 -O3 -I. -gencode arch=compute_90a,code=sm_90a examples/hopper_gemm.cu
#define GEMM_LAB_TENSOR_MAP_ENCODER  // this is a whole program, not a part of one
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "common/cuda_check.cuh"
#include "common/hopper.cuh"
#include "common/matrix.hpp"

// A block computes 64 x 256 of C in steps of 64 along K: 64 halves are 128 bytes, the widest row that TMA can swizzle.
constexpr int BM = 64, BN = 256, BK = 64, BOX = 64, THREADS = 128;

struct alignas(1024) Tiles {
  __half a[BM][BK];             // (BM, BK), rows along k, swizzled
  __half b[BN / BOX][BK][BOX];  // four boxes of (BK, 64), rows along n, swizzled
  Barrier arrived;
};

__global__ void __launch_bounds__(THREADS)
    gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
         MatrixView<float> c, int depth) {
  extern __shared__ unsigned char memory[];  // aligned to 16 bytes; the swizzle needs 1024
  Tiles& tiles = *reinterpret_cast<Tiles*>(memory + (1024 - shared_address(memory) % 1024) % 1024);
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  if (threadIdx.x == 0) {
    tiles.arrived.init(1);
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");  // makes it visible to TMA
  }
  __syncthreads();

  float sums[128] = {};  // (64, 256) by the block
  for (int k0 = 0, step = 0; k0 < depth; k0 += BK, ++step) {
    if (threadIdx.x == 0) {
      tiles.arrived.arrive_and_expect(sizeof tiles.a + sizeof tiles.b);
      copy_box(tiles.a, a, row0, k0, tiles.arrived);
      for (int j = 0; j < BN / BOX; ++j) copy_box(tiles.b[j], b, k0, col0 + BOX * j, tiles.arrived);
    }
    tiles.arrived.wait(step % 2);  // phase `step` has this parity
    wgmma_fence(sums);
#pragma unroll
    for (int k = 0; k < BK; k += 16)
      wgmma_64x256<__half>(sums, descriptor(&tiles.a[0][k]),
                           descriptor(&tiles.b[0][k][0], sizeof tiles.b[0]));
    wgmma_commit();
    wgmma_wait(sums);
    __syncthreads();  // all warps are done with these tiles: the next may arrive
  }

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < 128; ++i) {
    const int row = row0 + warp * 16 + lane / 4 + i % 4 / 2 * 8,
              col = col0 + i / 4 * 8 + lane % 4 * 2 + i % 2;
    if (row < c.rows && col < c.cols) c(row, col) = sums[i];
  }
}

int main(int argc, char** argv) {
  const int m = argc > 1 ? std::atoi(argv[1]) : 100;
  const int n = argc > 2 ? std::atoi(argv[2]) : 264;
  const int k = argc > 3 ? std::atoi(argv[3]) : 72;
  if (m < 1 || n < 8 || k < 8 || n % 8 != 0 || k % 8 != 0) {
    std::printf(
        "usage: hopper_gemm [M] [N] [K]; N and K in eights, for TMA's rows begin at multiples of 16 bytes\n");
    return 2;
  }

  std::vector<__half> a(m * k), b(k * n);
  std::vector<float> c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = __half(static_cast<float>(i % 7) - 3.0f);
  for (int i = 0; i < k * n; ++i) b[i] = __half(static_cast<float>(i % 5) * 0.25f);

  __half *device_a, *device_b;
  float* device_c;
  CUDA_CHECK(cudaMalloc(&device_a, a.size() * sizeof(__half)));
  CUDA_CHECK(cudaMalloc(&device_b, b.size() * sizeof(__half)));
  CUDA_CHECK(cudaMalloc(&device_c, c.size() * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(device_a, a.data(), a.size() * sizeof(__half), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(device_b, b.data(), b.size() * sizeof(__half), cudaMemcpyHostToDevice));

  const CUtensorMap map_a = tensor_map(MatrixView<const __half>{device_a, m, k, k}, BM);
  const CUtensorMap map_b = tensor_map(MatrixView<const __half>{device_b, k, n, n}, BK);
  const int bytes = sizeof(Tiles) + 1024;
  CUDA_CHECK(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const dim3 blocks((n + BN - 1) / BN, (m + BM - 1) / BM);
  gemm<<<blocks, THREADS, bytes>>>(map_a, map_b, {device_c, m, n, n}, k);
  CUDA_CHECK_LAUNCH();

  CUDA_CHECK(cudaMemcpy(c.data(), device_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device_a));
  CUDA_CHECK(cudaFree(device_b));
  CUDA_CHECK(cudaFree(device_c));

  // All values are small multiples of 1/4, so every sum is exact.
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      float expected = 0.0f;
      for (int i = 0; i < k; ++i)
        expected += static_cast<float>(a[row * k + i]) * static_cast<float>(b[i * n + col]);
      if (c[row * n + col] != expected) {
        std::printf("c[%d][%d] is %g, expected %g\n", row, col, c[row * n + col], expected);
        return 1;
      }
    }
  }
  std::printf("ok\n");
}
