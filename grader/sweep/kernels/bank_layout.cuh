// Layouts of A's tile in shared memory, and the bank conflicts they have.
#pragma once

#include "grader/sweep/driver.cuh"
#include "grader/sweep/kernels/banks.cuh"

namespace sweep {

/// Row by row, PAD elements between the end of a row and the next one.
template <int ROWS, int COLS, int PAD>
struct Padded {
  static constexpr int ELEMENTS = ROWS * (COLS + PAD);
  __host__ __device__ static int place(int r, int k) { return r * (COLS + PAD) + k; }
};
/// Row by row, column k of row r where k ^ r is.
template <int ROWS, int COLS, int>
struct Xor {
  static constexpr int ELEMENTS = ROWS * COLS;
  __host__ __device__ static int place(int r, int k) { return r * COLS + (k ^ r % COLS); }
};
/// Column by column: a warp reads neighbours, and stores into one bank.
template <int ROWS, int COLS, int PAD>
struct Turned {
  static constexpr int ELEMENTS = COLS * (ROWS + PAD);
  __host__ __device__ static int place(int r, int k) { return k * (ROWS + PAD) + r; }
};

/// A 64 x 64 tile of C per block of 8 warps. A lane has 4 x 4 elements, 8 rows and 4 columns apart:
/// at each k a warp reads eight different rows of A's tile at once.
template <typename Layout, typename In>
__global__ void __launch_bounds__(256)
    bank_layout_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Result<In>> c) {
  constexpr int BM = 64, BN = 64, BK = 32;
  __shared__ In a_tile[Layout::ELEMENTS], b_tile[BK][BN];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int row = warp / 4 * 32 + lane / 4, col = warp % 4 * 16 + lane % 4;
  Result<In> acc[4][4] = {};
  for (int k0 = 0; k0 < a.cols; k0 += BK) {
    for (int r = warp; r < BM; r += 8) {
      const bool inside = row0 + r < a.rows && k0 + lane < a.cols;
      a_tile[Layout::place(r, lane)] = inside ? a(row0 + r, k0 + lane) : In(0);
    }
    for (int k = warp; k < BK; k += 8)
      for (int j = lane; j < BN; j += 32)
        b_tile[k][j] = k0 + k < b.rows && col0 + j < b.cols ? b(k0 + k, col0 + j) : In(0);
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < BK; ++k) {
      In a_k[4], b_k[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) a_k[i] = a_tile[Layout::place(row + 8 * i, k)];
#pragma unroll
      for (int j = 0; j < 4; ++j) b_k[j] = b_tile[k][col + 4 * j];
#pragma unroll
      for (int i = 0; i < 16; ++i) acc[i / 4][i % 4] += a_k[i / 4] * b_k[i % 4];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int r = row0 + row + i / 4 * 8, j = col0 + col + i % 4 * 4;
    if (r < c.rows && j < c.cols) c(r, j) = acc[i / 4][i % 4];
  }
}

template <typename Layout, typename In>
Way<In> bank_layout(int n) {
  Way<In> way = one_kernel<In>(bank_layout_kernel<Layout, In>,
                               dim3(ceil_div(n, 64), ceil_div(n, 64)), dim3(256));
  // The read of A at k = 0: neighbouring groups of four lanes want neighbouring rows.
  way.wavefronts = wavefronts<In>([](int lane) { return Layout::place(lane / 4, 0); });
  return way;
}

template <typename Layout, typename In>
void add_layout(Plan& plan, const char* experiment, const char* variant, int x, const char* label) {
  for (const int n : {1024, 2048, 4096})
    plan.add<In>({experiment, variant, n, x, label},
                 [](int size) { return bank_layout<Layout, In>(size); });
}

/// Rows of 32 + padding elements; then padding against a swizzle and against turning the tile.
template <typename In>
void add_layouts(Plan& plan) {
  const char* const reads = "a warp reads 8 rows";
  add_layout<Padded<64, 32, 0>, In>(plan, "padding", reads, 0, "");
  add_layout<Padded<64, 32, 1>, In>(plan, "padding", reads, 1, "");
  add_layout<Padded<64, 32, 2>, In>(plan, "padding", reads, 2, "");
  add_layout<Padded<64, 32, 4>, In>(plan, "padding", reads, 4, "");
  add_layout<Padded<64, 32, 8>, In>(plan, "padding", reads, 8, "");
  add_layout<Padded<64, 32, 16>, In>(plan, "padding", reads, 16, "");
  add_layout<Padded<64, 32, 0>, In>(plan, "layout", reads, 0, "by rows");
  add_layout<Padded<64, 32, 1>, In>(plan, "layout", reads, 1, "padded by 1");
  add_layout<Xor<64, 32, 0>, In>(plan, "layout", reads, 2, "xor");
  add_layout<Turned<64, 32, 0>, In>(plan, "layout", reads, 3, "turned");
  add_layout<Turned<64, 32, 1>, In>(plan, "layout", reads, 4, "turned, padded");
}

}  // namespace sweep
