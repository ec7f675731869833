// A tile per warp, in the kernels of lab 4: with one pair of tiles in shared memory (4.3), and with
// the next ones on their way while one is multiplied (4.4).
#pragma once

#include "grader/author/sweep/driver.cuh"
#include "grader/author/sweep/kernels/lab4.cuh"

namespace sweep {

template <int BM, int BN, int WM, int WN>
constexpr int WARP_TILE_THREADS = BM / WM*(BN / WN) * 32;

/// As deep as in the lab.
template <int BM, int BN, int WM, int WN, typename In>
Way<In> warp_tile(int n) {
  constexpr int BK = 16;
  return one_kernel<In>(warp_tile_kernel<BM, BN, BK, WM, WN, In>,
                        dim3(ceil_div(n, BN), ceil_div(n, BM)),
                        dim3(WARP_TILE_THREADS<BM, BN, WM, WN>));
}

constexpr int PIPELINE_BK = 8;  // as in the lab

/// How many stages fit into the 48 KiB that are to be had without asking.
template <int BM, int BN, typename In>
constexpr int MOST_STAGES = (48 << 10) / (PIPELINE_BK * (BM + VEC<In> + BN) * sizeof(In));

template <int STAGES, int BM, int BN, int WM, int WN, typename In>
Way<In> pipelined(int n) {
  return one_kernel<In>(pipelined_kernel<STAGES, BM, BN, PIPELINE_BK, WM, WN, In>,
                        dim3(ceil_div(n, BN), ceil_div(n, BM)),
                        dim3(WARP_TILE_THREADS<BM, BN, WM, WN>));
}

template <int STAGES, int BM, int BN, int WM, int WN, typename In>
void add_stages(Plan& plan, const char* tile, int shape) {
  constexpr int MOST = MOST_STAGES<BM, BN, In>;
  if constexpr (STAGES <= MOST && MOST > 2)  // two alone are no curve
    for (const int n : {1024, 2048, 4096}) {
      const auto make = [](int size) { return pipelined<STAGES, BM, BN, WM, WN, In>(size); };
      plan.add<In>({"stages", std::string("4.4, tile ") + tile, n, STAGES, ""}, make);
      // The tile shapes once more, side by side.
      if (STAGES == 3) plan.add<In>({"tile shape", "4.4, 3 stages", n, shape, tile}, make);
    }
}

template <int BM, int BN, int WM, int WN, typename In>
void add_tile(Plan& plan, const char* tile, int shape) {
  for (const int n : {1024, 2048, 4096})
    plan.add<In>({"tile shape", "4.3", n, shape, tile},
                 [](int size) { return warp_tile<BM, BN, WM, WN, In>(size); });
  add_stages<2, BM, BN, WM, WN, In>(plan, tile, shape);
  add_stages<3, BM, BN, WM, WN, In>(plan, tile, shape);
  add_stages<4, BM, BN, WM, WN, In>(plan, tile, shape);
  add_stages<5, BM, BN, WM, WN, In>(plan, tile, shape);
}

/// For 4-byte elements; a double takes two registers, and half the columns. 4.3 takes 128 x 128 in
/// the lab and 4.4 128 x 256, in double both take 128 x 64.
template <typename In>
void add_pipelines(Plan& plan) {
  if constexpr (sizeof(In) <= 4) {
    add_tile<64, 64, 32, 32, In>(plan, "64 x 64", 0);
    add_tile<128, 64, 64, 32, In>(plan, "128 x 64", 1);
    add_tile<128, 128, 64, 32, In>(plan, "128 x 128", 2);
    add_tile<128, 256, 64, 64, In>(plan, "128 x 256", 3);
  } else {
    add_tile<64, 32, 32, 16, In>(plan, "64 x 32", 0);
    add_tile<64, 64, 32, 32, In>(plan, "64 x 64", 1);
    add_tile<128, 64, 64, 16, In>(plan, "128 x 64", 2);
    add_tile<128, 128, 64, 32, In>(plan, "128 x 128", 3);
  }
}

}  // namespace sweep
