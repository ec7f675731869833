// A SIDE x SIDE tile of C per block, one element per thread, operands through shared memory.
#pragma once

#include "grader/author/sweep/kernels/banks.cuh"
#include "grader/author/sweep/kernels/naive.cuh"

namespace sweep {

/// COLUMNS: a warp walks a column of the tiles, as in a published course report: right results,
/// bank conflicts. PAD elements at the end of each row put its neighbours below into other banks.
template <int SIDE, bool COLUMNS, int PAD, typename In>
__global__ void __launch_bounds__(SIDE* SIDE)
    shared_tile_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Result<In>> c) {
  __shared__ In a_tile[SIDE][SIDE + PAD], b_tile[SIDE][SIDE + PAD];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * SIDE + y, col = blockIdx.x * SIDE + x;
  Result<In> sum = 0;
  for (int k0 = 0; k0 < a.cols; k0 += SIDE) {
    const In from_a = row < a.rows && k0 + x < a.cols ? a(row, k0 + x) : In(0);
    const In from_b = k0 + y < b.rows && col < b.cols ? b(k0 + y, col) : In(0);
    (COLUMNS ? a_tile[x][y] : a_tile[y][x]) = from_a;
    (COLUMNS ? b_tile[x][y] : b_tile[y][x]) = from_b;
    __syncthreads();
    for (int k = 0; k < SIDE; ++k)
      sum += COLUMNS ? a_tile[k][y] * b_tile[x][k] : a_tile[y][k] * b_tile[k][x];
    __syncthreads();
  }
  if (row < c.rows && col < c.cols) c(row, col) = sum;
}

template <int SIDE, typename In, bool COLUMNS = false, int PAD = 0>
Way<In> shared_tile(int n, int carve_out = -1) {
  Way<In> way =
      one_kernel<In>(shared_tile_kernel<SIDE, COLUMNS, PAD, In>,
                     dim3(ceil_div(n, SIDE), ceil_div(n, SIDE)), dim3(SIDE, SIDE), 0, carve_out);
  // The worse of the two reads in the loop, at k = 0.
  const auto pitch = [](int r, int c) { return r * (SIDE + PAD) + c; };
  const int from_a = wavefronts<In>([&](int lane) {
    const int y = lane / SIDE % SIDE;
    return COLUMNS ? pitch(0, y) : pitch(y, 0);
  });
  const int from_b = wavefronts<In>([&](int lane) {
    const int x = lane % SIDE;
    return COLUMNS ? pitch(x, 0) : pitch(0, x);
  });
  way.wavefronts = std::max(from_a, from_b);
  return way;
}

template <int SIDE, typename In>
void add_shared_side(Plan& plan, int n) {
  if (!worth_its_time<In>(n, SIDE)) return;
  plan.add<In>({"side", "shared", n, SIDE, ""},
               [](int size) { return shared_tile<SIDE, In>(size); });
}

/// Tiles of 1 x 1 up to 32 x 32 elements, with as many threads.
template <typename In>
void add_shared_sides(Plan& plan) {
  for (const int n : {256, 512, 1024, 2048, 4096}) {
    add_shared_side<1, In>(plan, n);
    add_shared_side<2, In>(plan, n);
    add_shared_side<4, In>(plan, n);
    add_shared_side<8, In>(plan, n);
    add_shared_side<16, In>(plan, n);
    add_shared_side<32, In>(plan, n);
  }
}

/// [N][N] against [N][N + 1], for tiles that a warp walks along rows and along columns.
template <typename In>
void add_tile_padding(Plan& plan) {
  for (const int n : {512, 1024, 2048}) {
    plan.add<In>({"padding", "tile 32, by rows", n, 0, ""},
                 [](int size) { return shared_tile<32, In, false, 0>(size); });
    plan.add<In>({"padding", "tile 32, by rows", n, 1, ""},
                 [](int size) { return shared_tile<32, In, false, 1>(size); });
    plan.add<In>({"padding", "tile 32, by columns", n, 0, ""},
                 [](int size) { return shared_tile<32, In, true, 0>(size); });
    plan.add<In>({"padding", "tile 32, by columns", n, 1, ""},
                 [](int size) { return shared_tile<32, In, true, 1>(size); });
  }
}

}  // namespace sweep
