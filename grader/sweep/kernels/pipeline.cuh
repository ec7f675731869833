// A tile per warp, and the next tiles on their way by cp.async while this one is multiplied.
#pragma once

#include <cuda_pipeline.h>

#include "grader/sweep/driver.cuh"

namespace sweep {

/// The vector type of 16 bytes, and how many elements it holds.
template <typename In>
struct Wide {
  using Vector = int4;
};
template <>
struct Wide<float> {
  using Vector = float4;
};
template <>
struct Wide<double> {
  using Vector = double2;
};
template <typename In>
constexpr int WIDE = 16 / sizeof(In);

/// STAGES pairs of tiles in a ring; with one, every copy is waited for at once. A BM x BN tile of C
/// per block, WM x WN per warp: its lanes are 8 rows of 4, each with pieces of WIDE rows and
/// columns. Whole tiles only, rows aligned to 16 bytes.
template <int STAGES, int BM, int BN, int BK, int WM, int WN, typename In>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32)
    pipeline_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Result<In>> c) {
  constexpr int V = WIDE<In>, THREADS = BM / WM * (BN / WN) * 32, TM = WM / 8, TN = WN / 4;
  static_assert(WM % (8 * V) == 0 && WN % (4 * V) == 0, "a warp's tile consists of whole pieces");
  static_assert(BM * BK % THREADS == 0 && BK * BN / V % THREADS == 0, "equal shares");
  using Vector = typename Wide<In>::Vector;
  struct Stage {
    In a[BK][BM + V];  // transposed on the way, element by element
    In b[BK][BN];
  };
  extern __shared__ __align__(128) unsigned char memory[];
  auto* const ring = reinterpret_cast<Stage*>(memory);
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN, tiles = a.cols / BK;
  const int row = warp / (BN / WN) * WM + (lane / 8 * 2 + lane / 2 % 2) * V;
  const int col = warp % (BN / WN) * WN + (lane / 4 % 2 * 2 + lane % 2) * V;
  const auto copy = [&](int t) {  // a group per step, an empty one beyond the last
    if (t < tiles) {
      Stage& stage = ring[t % STAGES];
#pragma unroll
      for (int i = thread; i < BM * BK; i += THREADS)
        __pipeline_memcpy_async(&stage.a[i % BK][i / BK], &a(row0 + i / BK, t * BK + i % BK),
                                sizeof(In));
#pragma unroll
      for (int i = thread; i < BK * BN / V; i += THREADS) {
        const int k = i / (BN / V), j = i % (BN / V) * V;
        __pipeline_memcpy_async(&stage.b[k][j], &b(t * BK + k, col0 + j), 16);
      }
    }
    __pipeline_commit();
  };
  Result<In> acc[TM][TN] = {};
  for (int t = 0; t < STAGES - 1; ++t) copy(t);
  for (int t = 0; t < tiles; ++t) {
    if constexpr (STAGES == 1) {
      if (t > 0) __syncthreads();  // nobody reads the tile any more
      copy(t);
      __pipeline_wait_prior(0);
      __syncthreads();
    } else {
      __pipeline_wait_prior(STAGES - 2);
      __syncthreads();  // step t is there, and nobody reads step t - 1 any more
      copy(t + STAGES - 1);
    }
    const Stage& stage = ring[t % STAGES];
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      alignas(16) In a_k[TM], b_k[TN];
#pragma unroll
      for (int i = 0; i < TM; i += V)
        *reinterpret_cast<Vector*>(&a_k[i]) =
            *reinterpret_cast<const Vector*>(&stage.a[k][row + i * 8]);
#pragma unroll
      for (int j = 0; j < TN; j += V)
        *reinterpret_cast<Vector*>(&b_k[j]) =
            *reinterpret_cast<const Vector*>(&stage.b[k][col + j * 4]);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += a_k[i] * b_k[j];
    }
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j)
      c(row0 + row + i / V * 8 * V + i % V, col0 + col + j / V * 4 * V + j % V) = acc[i][j];
}

template <int STAGES, int BM, int BN, int WM, int WN, typename In>
Way<In> pipeline(int n) {
  constexpr int BK = sizeof(In) > 4 ? 8 : 16;
  constexpr unsigned BYTES = STAGES * (BK * (BM + WIDE<In>)+BK * BN) * sizeof(In);
  return one_kernel<In>(pipeline_kernel<STAGES, BM, BN, BK, WM, WN, In>,
                        dim3(ceil_div(n, BN), ceil_div(n, BM)), dim3(BM / WM * (BN / WN) * 32),
                        BYTES);
}

template <int BM, int BN, int WM, int WN, typename In>
void add_stages(Plan& plan, const char* tile, int shape) {
  const auto each = [&](int stages, auto make) {
    for (const int n : {1024, 2048, 4096}) {
      plan.add<In>({"stages", std::string("tile ") + tile, n, stages, ""}, make);
      // The tile shapes once more, side by side.
      if (stages == 3) plan.add<In>({"tile shape", "3 stages", n, shape, tile}, make);
    }
  };
  each(1, [](int n) { return pipeline<1, BM, BN, WM, WN, In>(n); });
  each(2, [](int n) { return pipeline<2, BM, BN, WM, WN, In>(n); });
  each(3, [](int n) { return pipeline<3, BM, BN, WM, WN, In>(n); });
  each(4, [](int n) { return pipeline<4, BM, BN, WM, WN, In>(n); });
}

/// For 4-byte elements; a double takes two registers, and half the columns.
template <typename In>
void add_pipelines(Plan& plan) {
  if constexpr (sizeof(In) <= 4) {
    add_stages<64, 64, 32, 32, In>(plan, "64 x 64", 0);
    add_stages<128, 64, 64, 32, In>(plan, "128 x 64", 1);
    add_stages<128, 128, 64, 32, In>(plan, "128 x 128", 2);
    add_stages<128, 256, 64, 64, In>(plan, "128 x 256", 3);
  } else {
    add_stages<64, 32, 32, 16, In>(plan, "64 x 32", 0);
    add_stages<64, 64, 32, 32, In>(plan, "64 x 64", 1);
    add_stages<128, 64, 64, 16, In>(plan, "128 x 64", 2);
    add_stages<128, 128, 64, 32, In>(plan, "128 x 128", 3);
  }
}

}  // namespace sweep
