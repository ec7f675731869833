// Tensor cores by mma.sync, in the kernels of lab 5 (5.3, 5.3b, 5.3c): stages and shapes of tiles.
// They come from the solutions, so that the sweep cannot lag behind them.
#pragma once

#include "common/async_copy.cuh"
#include "common/mma_sync.cuh"
#include "grader/author/sweep/driver.cuh"
#include "lab5_tensor_core/given/launch.cuh"
#include "lab5_tensor_core/given/shape.cuh"

// Both files have a Tile and an mma_kernel of their own.
namespace narrow {
#include "lab5_tensor_core/solution/mma.cu"
}
namespace wide {
#include "lab5_tensor_core/solution/mma_wide.cu"
}

namespace sweep {

/// The version of the kernel that the lab would take for n x n x n, and its stage's bytes.
template <::Matrices KNOWN, typename S, typename In>
Way<In> mma_version(int n) {
  const dim3 grid(ceil_div(n, S::BN), ceil_div(n, S::BM));
  if constexpr (sizeof(In) == 2)
    return one_kernel<In>(narrow::mma_kernel<KNOWN, S, In>, grid, dim3(S::THREADS),
                          S::STAGES * sizeof(narrow::Stage<S, In>));
  else
    return one_kernel<In>(wide::mma_kernel<KNOWN, S, In>, grid, dim3(S::THREADS),
                          S::STAGES * sizeof(wide::Stage<S, In>));
}

template <int STAGES, int BM, int BN, int WM, int WN, typename In>
Way<In> mma_sync(int n) {
  using S = Shape<In, BM, BN, WM, WN, STAGES>;
  if (n % VEC<In> != 0) return mma_version<::Matrices::any, S, In>(n);
  if (n % BM != 0 || n % BN != 0 || n % S::BK != 0)
    return mma_version<::Matrices::aligned, S, In>(n);
  return mma_version<::Matrices::whole, S, In>(n);
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
