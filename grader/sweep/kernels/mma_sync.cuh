// Tensor cores by mma.sync, in the kernel of lab 5 (5.3): stages and shapes of tiles.
#pragma once

#include "grader/sweep/driver.cuh"
#include "grader/sweep/kernels/lab5.cuh"

namespace sweep {

/// As deep as in the lab: 128 bytes.
template <int STAGES, int BM, int BN, int WM, int WN, typename In>
Way<In> mma_sync(int n) {
  constexpr int BK = 128 / sizeof(In);
  return one_kernel<In>(mma_kernel<STAGES, BM, BN, BK, WM, WN, In, Result<In>>,
                        dim3(ceil_div(n, BN), ceil_div(n, BM)), dim3(BM / WM * (BN / WN) * 32),
                        STAGES * sizeof(Stage<In, BM, BN, BK>));
}

template <int STAGES, int BM, int BN, int WM, int WN, typename In>
void add_mma(Plan& plan, const std::string& experiment, const std::string& variant, int x,
             const char* label) {
  for (const int n : {1024, 2048, 4096})
    plan.add<In>({experiment, variant, n, x, label}, mma_sync<STAGES, BM, BN, WM, WN, In>, 80,
                 std::is_same_v<In, float>);
}

template <int BM, int BN, int WM, int WN, typename In>
void add_mma_tile(Plan& plan, int shape, const char* tile) {
  add_mma<3, BM, BN, WM, WN, In>(plan, "tile shape", "mma.sync, 3 stages", shape, tile);
}

template <int BM, int BN, int WM, int WN, typename In>
void add_mma_stages(Plan& plan, const char* tile) {
  const std::string variant = std::string("mma.sync ") + tile;
  add_mma<2, BM, BN, WM, WN, In>(plan, "stages", variant, 2, "");
  add_mma<3, BM, BN, WM, WN, In>(plan, "stages", variant, 3, "");
  add_mma<4, BM, BN, WM, WN, In>(plan, "stages", variant, 4, "");
}

/// A double takes two registers. The lab takes 128x256, 64x64; in double 128x64, 64x32.
template <typename In>
void add_mma_tiles(Plan& plan) {
  if constexpr (std::is_same_v<In, double>) {
    add_mma_tile<64, 32, 32, 16, In>(plan, 0, "64x32, 32x16");
    add_mma_tile<64, 64, 32, 32, In>(plan, 1, "64x64, 32x32");
    add_mma_tile<128, 64, 32, 32, In>(plan, 2, "128x64, 32x32");
    add_mma_tile<128, 64, 64, 32, In>(plan, 3, "128x64, 64x32");
    add_mma_tile<128, 128, 64, 32, In>(plan, 4, "128x128, 64x32");
    add_mma_stages<64, 64, 32, 32, In>(plan, "64x64, 32x32");
    add_mma_stages<128, 64, 64, 32, In>(plan, "128x64, 64x32");
  } else {
    add_mma_tile<64, 64, 32, 32, In>(plan, 0, "64x64, 32x32");
    add_mma_tile<128, 64, 64, 32, In>(plan, 1, "128x64, 64x32");
    add_mma_tile<128, 128, 64, 32, In>(plan, 2, "128x128, 64x32");
    add_mma_tile<128, 128, 64, 64, In>(plan, 3, "128x128, 64x64");
    add_mma_tile<128, 256, 64, 64, In>(plan, 4, "128x256, 64x64");
    add_mma_stages<128, 128, 64, 32, In>(plan, "128x128, 64x32");
    add_mma_stages<128, 256, 64, 64, In>(plan, "128x256, 64x64");
  }
}

}  // namespace sweep
