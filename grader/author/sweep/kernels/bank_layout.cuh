// Layouts of A's tile in shared memory, and the bank conflicts they have, in lab 4's first kernel.
#pragma once

#include "grader/author/sweep/driver.cuh"
#include "grader/author/sweep/kernels/banks.cuh"
#include "grader/author/sweep/kernels/lab4.cuh"

namespace sweep {

/// Row by row, PAD elements between the end of a row and the next one.
template <int PAD>
struct PaddedBy {
  template <int ROWS, int COLS>
  struct Layout {
    static constexpr int ELEMENTS = ROWS * (COLS + PAD);
    __host__ __device__ static int place(int r, int k) { return r * (COLS + PAD) + k; }
  };
};
/// Row by row, column k of row r where k ^ r is.
template <int ROWS, int COLS>
struct Xor {
  static constexpr int ELEMENTS = ROWS * COLS;
  __host__ __device__ static int place(int r, int k) { return r * COLS + (k ^ r % COLS); }
};
/// Column by column: a warp reads neighbours, and stores into one bank if PAD is 0.
template <int PAD>
struct TurnedAndPaddedBy {
  template <int ROWS, int COLS>
  struct Layout {
    static constexpr int ELEMENTS = COLS * (ROWS + PAD);
    __host__ __device__ static int place(int r, int k) { return k * (ROWS + PAD) + r; }
  };
};

template <template <int, int> class Layout, typename In>
Way<In> bank_layout(int n) {
  constexpr int BM = 64, BN = 64, BK = 32;
  Way<In> way = one_kernel<In>(column_walk_kernel<Layout, BM, BN, BK, In>,
                               dim3(ceil_div(n, BN), ceil_div(n, BM)), dim3(256));
  // The read of A at k = 0: neighbouring groups of four lanes want neighbouring rows.
  way.wavefronts = wavefronts<In>([](int lane) { return Layout<BM, BK>::place(lane / 4, 0); });
  return way;
}

template <template <int, int> class Layout, typename In>
void add_layout(Plan& plan, const char* experiment, int x, const char* label) {
  for (const int n : {1024, 2048, 4096})
    plan.add<In>({experiment, "a warp reads 8 rows", n, x, label},
                 [](int size) { return bank_layout<Layout, In>(size); });
}

/// Rows of 32 + padding elements; then padding against a swizzle and against turning the tile.
template <typename In>
void add_layouts(Plan& plan) {
  add_layout<PaddedBy<0>::Layout, In>(plan, "padding", 0, "");
  add_layout<PaddedBy<1>::Layout, In>(plan, "padding", 1, "");
  add_layout<PaddedBy<2>::Layout, In>(plan, "padding", 2, "");
  add_layout<PaddedBy<4>::Layout, In>(plan, "padding", 4, "");
  add_layout<PaddedBy<8>::Layout, In>(plan, "padding", 8, "");
  add_layout<PaddedBy<16>::Layout, In>(plan, "padding", 16, "");
  add_layout<PaddedBy<0>::Layout, In>(plan, "layout", 0, "by rows");
  add_layout<PaddedBy<1>::Layout, In>(plan, "layout", 1, "padded by 1");
  add_layout<Xor, In>(plan, "layout", 2, "xor");
  add_layout<TurnedAndPaddedBy<0>::Layout, In>(plan, "layout", 3, "turned");
  add_layout<TurnedAndPaddedBy<1>::Layout, In>(plan, "layout", 4, "turned, padded");
}

}  // namespace sweep
