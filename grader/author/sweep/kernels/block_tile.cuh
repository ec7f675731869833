// A BM x BN tile of C per block, TM x TN elements per thread in registers, BK columns of A and rows
// of B at a time through shared memory.
#pragma once

#include "grader/author/sweep/driver.cuh"
#include "grader/author/sweep/kernels/banks.cuh"

namespace sweep {

/// PAD elements at the end of each row of both tiles; LDG: global loads by __ldg.
template <int BM, int BN, int BK, int TM, int TN, int PAD, bool LDG, typename In>
__global__ void __launch_bounds__(BM / TM * (BN / TN))
    block_tile_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Result<In>> c) {
  constexpr int STEP = BN / TN, THREADS = BM / TM * STEP;
  static_assert(BM * BK % THREADS == 0 && BK * BN % THREADS == 0, "equal shares for all threads");
  __shared__ In a_tile[BM][BK + PAD], b_tile[BK][BN + PAD];
  const auto load = [](const In& from) { return LDG ? __ldg(&from) : from; };
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN, thread = threadIdx.x;
  const int row = thread / STEP * TM, col = thread % STEP;
  Result<In> acc[TM][TN] = {};
  for (int k0 = 0; k0 < a.cols; k0 += BK) {
#pragma unroll
    for (int i = thread; i < BM * BK; i += THREADS) {
      const int r = i / BK, k = i % BK;
      const bool inside = row0 + r < a.rows && k0 + k < a.cols;
      a_tile[r][k] = inside ? load(a(row0 + r, k0 + k)) : In(0);
    }
#pragma unroll
    for (int i = thread; i < BK * BN; i += THREADS) {
      const int k = i / BN, j = i % BN;
      const bool inside = k0 + k < b.rows && col0 + j < b.cols;
      b_tile[k][j] = inside ? load(b(k0 + k, col0 + j)) : In(0);
    }
    __syncthreads();
#pragma unroll 2
    for (int k = 0; k < BK; ++k) {
      In a_k[TM], b_k[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) a_k[i] = a_tile[row + i][k];
#pragma unroll
      for (int j = 0; j < TN; ++j) b_k[j] = b_tile[k][col + j * STEP];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += a_k[i] * b_k[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j)
      if (row0 + row + i < c.rows && col0 + col + j * STEP < c.cols)
        c(row0 + row + i, col0 + col + j * STEP) = acc[i][j];
}

template <int BM, int BN, int BK, int TM, int TN, typename In, int PAD = 0, bool LDG = false>
Way<In> block_tile(int n, int carve_out = -1) {
  Way<In> way = one_kernel<In>(block_tile_kernel<BM, BN, BK, TM, TN, PAD, LDG, In>,
                               dim3(ceil_div(n, BN), ceil_div(n, BM)), dim3(BM / TM * (BN / TN)), 0,
                               carve_out);
  constexpr int STEP = BN / TN;
  const int from_a = wavefronts<In>([](int lane) { return lane / STEP * TM * (BK + PAD); });
  const int from_b = wavefronts<In>([](int lane) { return lane % STEP; });
  way.wavefronts = std::max(from_a, from_b);
  return way;
}

/// Large and small tiles over the size of the matrix, odd sizes among them. Here x is n.
template <typename In>
void add_block_tiles(Plan& plan) {
  std::vector<int> sizes;
  for (int n = 256; n <= 2048; n += 128) sizes.push_back(n);
  for (const int n : {1023, 1025, 2047, 2049}) sizes.push_back(n);
  std::sort(sizes.begin(), sizes.end());
  for (const int n : sizes) {
    plan.add<In>({"size", "128 x 16, 8 x 8 per thread", n, n, ""},
                 [](int size) { return block_tile<128, 128, 16, 8, 8, In>(size); });
    plan.add<In>({"size", "64 x 16, 4 x 4 per thread", n, n, ""},
                 [](int size) { return block_tile<64, 64, 16, 4, 4, In>(size); });
    plan.add<In>({"size", "32 x 32, 4 x 4 per thread", n, n, ""},
                 [](int size) { return block_tile<32, 32, 32, 4, 4, In>(size); });
  }
}

/// [N][N] against [N][N + 1], and plain loads against __ldg.
template <typename In>
void add_block_tile_switches(Plan& plan) {
  for (const int n : {512, 1024, 2048}) {
    plan.add<In>({"padding", "block tile 128 x 16", n, 0, ""},
                 [](int size) { return block_tile<128, 128, 16, 8, 8, In, 0>(size); });
    plan.add<In>({"padding", "block tile 128 x 16", n, 1, ""},
                 [](int size) { return block_tile<128, 128, 16, 8, 8, In, 1>(size); });
    plan.add<In>({"read-only loads", "block tile 128 x 16", n, 0, "plain"},
                 [](int size) { return block_tile<128, 128, 16, 8, 8, In, 0, false>(size); });
    plan.add<In>({"read-only loads", "block tile 128 x 16", n, 1, "__ldg"},
                 [](int size) { return block_tile<128, 128, 16, 8, 8, In, 0, true>(size); });
  }
}

/// How much of L1 is to be shared memory. The driver takes the next larger size that exists.
template <typename In>
void add_carve_outs(Plan& plan) {
  for (const int n : {512, 1024, 2048})
    for (const int per_cent : {0, 25, 50, 75, 100})
      plan.add<In>({"carve-out", "block tile 64 x 16", n, per_cent, ""}, [per_cent](int size) {
        return block_tile<64, 64, 16, 4, 4, In>(size, per_cent);
      });
}

}  // namespace sweep
