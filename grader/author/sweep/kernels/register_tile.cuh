// TILE x TILE elements of C per thread in registers, operands straight from global memory.
#pragma once

#include "grader/author/sweep/driver.cuh"

namespace sweep {

enum class Columns {
  neighbours,  ///< a thread's columns are neighbours, those of its warp TILE apart
  interleaved  ///< for every j the columns of a warp are neighbours
};

enum class Loop {
  usual,        ///< over k, unrolled as the compiler does without being told
  not_unrolled  ///< one k at a time: each step waits for its own loads, and small tiles for little else
};

/// LDG: operands by __ldg, the read-only path. Whole tiles only: n must be a multiple of 16 * TILE.
///
/// More than 16 x 16 accumulators fit into no thread's 255 registers: then the arrays lie in local
/// memory, whether the loops over them are unrolled or not. Unrolled, they take a compiler minutes.
template <int TILE, Columns COLUMNS, bool LDG, Loop LOOP, typename In>
__global__ void __launch_bounds__(256)
    register_tile_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Result<In>> c) {
  constexpr int STEP = COLUMNS == Columns::neighbours ? 1 : 16;
  constexpr int UNROLL = TILE <= 16 ? TILE : 4;
  const int row0 = (blockIdx.y * 16 + threadIdx.y) * TILE;
  const int col0 = blockIdx.x * 16 * TILE + threadIdx.x * (STEP == 1 ? TILE : 1);
  const auto load = [](const In& from) { return LDG ? __ldg(&from) : from; };
  Result<In> acc[TILE][TILE] = {};
  const auto step = [&](int k) {
    In a_k[TILE], b_k[TILE];
#pragma unroll UNROLL
    for (int i = 0; i < TILE; ++i) a_k[i] = load(a(row0 + i, k));
#pragma unroll UNROLL
    for (int j = 0; j < TILE; ++j) b_k[j] = load(b(k, col0 + j * STEP));
#pragma unroll UNROLL
    for (int i = 0; i < TILE; ++i)
#pragma unroll UNROLL
      for (int j = 0; j < TILE; ++j) acc[i][j] += a_k[i] * b_k[j];
  };
  if constexpr (LOOP == Loop::not_unrolled) {
#pragma unroll 1
    for (int k = 0; k < a.cols; ++k) step(k);
  } else {
    for (int k = 0; k < a.cols; ++k) step(k);
  }
#pragma unroll UNROLL
  for (int i = 0; i < TILE; ++i)
#pragma unroll UNROLL
    for (int j = 0; j < TILE; ++j) c(row0 + i, col0 + j * STEP) = acc[i][j];
}

template <int TILE, Columns COLUMNS, bool LDG, Loop LOOP, typename In>
void add_register_tile(Plan& plan, const char* experiment, const char* variant) {
  for (const int n : {1024, 2048, 4096})
    plan.add<In>({experiment, variant, n, TILE, ""}, [](int size) {
      const dim3 grid(ceil_div(size, 16 * TILE), ceil_div(size, 16 * TILE));
      return one_kernel<In>(register_tile_kernel<TILE, COLUMNS, LDG, LOOP, In>, grid, dim3(16, 16));
    });
}

template <Columns COLUMNS, typename In>
void add_register_tiles(Plan& plan, const char* variant) {
  add_register_tile<1, COLUMNS, false, Loop::usual, In>(plan, "register tile", variant);
  add_register_tile<2, COLUMNS, false, Loop::usual, In>(plan, "register tile", variant);
  add_register_tile<4, COLUMNS, false, Loop::usual, In>(plan, "register tile", variant);
  add_register_tile<8, COLUMNS, false, Loop::usual, In>(plan, "register tile", variant);
  add_register_tile<16, COLUMNS, false, Loop::usual, In>(plan, "register tile", variant);
  add_register_tile<32, COLUMNS, false, Loop::usual, In>(plan, "register tile", variant);
  add_register_tile<64, COLUMNS, false, Loop::usual, In>(plan, "register tile", variant);
}

/// The loop over k left as it is. From 32 on, time goes to local memory, however it is unrolled.
template <Columns COLUMNS, typename In>
void add_loops_not_unrolled(Plan& plan, const char* variant) {
  add_register_tile<1, COLUMNS, false, Loop::not_unrolled, In>(plan, "register tile", variant);
  add_register_tile<2, COLUMNS, false, Loop::not_unrolled, In>(plan, "register tile", variant);
  add_register_tile<4, COLUMNS, false, Loop::not_unrolled, In>(plan, "register tile", variant);
  add_register_tile<8, COLUMNS, false, Loop::not_unrolled, In>(plan, "register tile", variant);
  add_register_tile<16, COLUMNS, false, Loop::not_unrolled, In>(plan, "register tile", variant);
}

/// Plain loads against __ldg.
template <typename In>
void add_read_only_loads(Plan& plan) {
  constexpr Columns interleaved = Columns::interleaved;
  add_register_tile<1, interleaved, false, Loop::usual, In>(plan, "read-only loads", "plain");
  add_register_tile<2, interleaved, false, Loop::usual, In>(plan, "read-only loads", "plain");
  add_register_tile<4, interleaved, false, Loop::usual, In>(plan, "read-only loads", "plain");
  add_register_tile<8, interleaved, false, Loop::usual, In>(plan, "read-only loads", "plain");
  add_register_tile<1, interleaved, true, Loop::usual, In>(plan, "read-only loads", "__ldg");
  add_register_tile<2, interleaved, true, Loop::usual, In>(plan, "read-only loads", "__ldg");
  add_register_tile<4, interleaved, true, Loop::usual, In>(plan, "read-only loads", "__ldg");
  add_register_tile<8, interleaved, true, Loop::usual, In>(plan, "read-only loads", "__ldg");
}

}  // namespace sweep
