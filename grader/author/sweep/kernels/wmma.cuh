// Tensor cores by WMMA, in the kernels of lab 5: one fragment of 8 x 8 in double per warp (5.1),
// and a tile of fragments per warp (5.2).
#pragma once

#include "grader/author/sweep/driver.cuh"
#include "lab5_tensor_core/solution/wmma.cu"

namespace sweep {

/// SIDE x SIDE of C per block, as deep as in the lab.
template <int SIDE>
void add_wmma_double_side(Plan& plan) {
  for (const int n : {1024, 2048, 4096})
    plan.add<double>(
        {"side", "WMMA 8 x 8 x 4", n, SIDE, ""},
        [](int size) {
          return one_kernel<double>(one_fragment_kernel<SIDE, SIDE, 32, double, double>,
                                    dim3(ceil_div(size, SIDE), ceil_div(size, SIDE)),
                                    dim3(SIDE / 8 * (SIDE / 8) * 32));
        },
        80);
}

inline void add_wmma_double(Plan& plan) {
  add_wmma_double_side<8>(plan);
  add_wmma_double_side<16>(plan);
  add_wmma_double_side<32>(plan);
}

/// DEPTH: of the tiles, in bytes.
template <int DEPTH, int BM, int BN, int WM, int WN, typename In>
void add_wmma_tile(Plan& plan, int x, const char* label) {
  for (const int n : {1024, 2048, 4096})
    plan.add<In>(
        {"tile shape", "WMMA, " + std::to_string(DEPTH) + " bytes deep", n, x, label},
        [](int size) {
          return one_kernel<In>(
              fragments_kernel<BM, BN, DEPTH / sizeof(In), WM, WN, In, Result<In>>,
              dim3(ceil_div(size, BN), ceil_div(size, BM)), dim3(BM / WM * (BN / WN) * 32));
        },
        80, std::is_same_v<In, float>);
}

/// The lab takes 128x128, 64x32, 128 bytes deep. 256x128 fits into 48 KiB only half as deep.
template <int DEPTH, typename In>
void add_wmma_tiles(Plan& plan) {
  add_wmma_tile<DEPTH, 64, 64, 32, 32, In>(plan, 0, "64x64, 32x32");
  add_wmma_tile<DEPTH, 128, 64, 64, 32, In>(plan, 1, "128x64, 64x32");
  add_wmma_tile<DEPTH, 128, 128, 32, 64, In>(plan, 2, "128x128, 32x64");
  add_wmma_tile<DEPTH, 128, 128, 64, 32, In>(plan, 3, "128x128, 64x32");
  add_wmma_tile<DEPTH, 128, 128, 64, 64, In>(plan, 4, "128x128, 64x64");
  if constexpr (DEPTH <= 64) add_wmma_tile<DEPTH, 256, 128, 64, 64, In>(plan, 5, "256x128, 64x64");
}

}  // namespace sweep
