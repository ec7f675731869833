// What three_products.cu builds on: tiles of floats in shared memory, copied there asynchronously,
// fragments of them, and the way from sums to C.
#pragma once

#include "common/async_copy.cuh"
#include "common/mma_sync.cuh"
#include "lab6_summit/given/multiprocessors.cuh"
#include "lab6_summit/given/repair.cuh"

constexpr int V = VEC<float>;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 8;  // one mma multiplies (16, 8) by (8, 8)
constexpr int A_REGISTERS = 4, B_REGISTERS = 2;  // of its operands, per lane

/// A block computes BM x BN of C in steps of BK along K, each of its warps WM x WN of that. Shared
/// memory holds STAGES pairs of tiles of A and B.
template <int BM_, int BN_, int WM_, int WN_, int STAGES_>
struct Shape {
  static constexpr int BM = BM_, BN = BN_, BK = 32, WM = WM_, WN = WN_, STAGES = STAGES_;
  static constexpr int WARPS_N = BN / WN, THREADS = BM / WM * WARPS_N * 32;
  static constexpr int FRAGMENTS_M = WM / MMA_M, FRAGMENTS_N = WN / MMA_N;  // of C, per warp
  static_assert(BM % WM == 0 && BN % WN == 0, "a block's tile must consist of whole warp tiles");
  static_assert(WM % MMA_M == 0 && WN % (4 * MMA_N) == 0, "a read brings four fragments of B");
  static_assert(STAGES >= 2, "one pair of tiles must be free while another is multiplied");
};

/// (ROWS, COLS) floats, row-major, swizzled: the 16-byte chunks of a row change places, so that
/// there are no bank conflicts when ldmatrix reads one chunk of eight rows (of A), nor when lanes
/// read two chunks of four rows (of B).
template <int ROWS, int COLS>
struct Tile {
  static_assert(COLS % 32 == 0, "a row must go around the 32 banks, once or more often");
  alignas(128) float data[ROWS * COLS];

  /// The address of element (row, col).
  __device__ float* at(int row, int col) {
    return &data[row * COLS + (col / V ^ row % 8) * V + col % V];
  }
};

/// The two tiles of one step along K.
template <typename S>
struct Stage {
  Tile<S::BM, S::BK> a;
  Tile<S::BK, S::BN> b;
};

// ---- copies

/// Starts copying the part of m at (row0, col0) into a tile; zero where m has no element. ALIGNED:
/// 16 bytes at a time, otherwise float by float.
template <bool ALIGNED, int THREADS, int ROWS, int COLS>
__device__ void copy_tile(Tile<ROWS, COLS>& tile, MatrixView<const float> m, int row0, int col0) {
  constexpr int WIDTH = ALIGNED ? V : 1, PIECES = COLS / WIDTH;  // of a row
  constexpr int STEP = THREADS / PIECES;  // rows that all threads copy at once
  static_assert(THREADS % PIECES == 0 && ROWS % STEP == 0, "as many copies for every thread");
  const int row = threadIdx.x / PIECES, col = threadIdx.x % PIECES * WIDTH;
  const int rows_left = m.rows - row0 - row;
  const int in_row = max(0, min(WIDTH, m.cols - col0 - col));  // of the piece
  const float* from = &m(row0 + row, col0 + col);
#pragma unroll
  for (int i = 0; i < ROWS; i += STEP) {
    const int count = i < rows_left ? in_row : 0;
    if (ALIGNED)
      copy16_async(tile.at(row + i, col), from, count * 4);
    else
      copy_element_async(tile.at(row + i, col), from, count > 0);
    from += std::ptrdiff_t{STEP} * m.ld;
  }
}

/// Starts copying the step along K at k0 for the block's tile of C at (row0, col0), as one group.
template <bool ALIGNED, typename S>
__device__ void copy_stage(Stage<S>& stage, MatrixView<const float> a, MatrixView<const float> b,
                           int row0, int col0, int k0) {
  copy_tile<ALIGNED, S::THREADS>(stage.a, a, row0, k0);
  copy_tile<ALIGNED, S::THREADS>(stage.b, b, k0, col0);
  commit_copies();
}

// ---- fragments

/// What a warp multiplies per 8 k: (WM, 8) of A and (8, WN) of B, floats in registers.
template <typename S>
struct Fragments {
  float a[S::FRAGMENTS_M][A_REGISTERS], b[S::FRAGMENTS_N][B_REGISTERS];
};

/// A warp's part of C, (WM, WN), in fragments.
template <typename S>
struct Sums {
  float of[S::FRAGMENTS_M][S::FRAGMENTS_N][4];
};

/// Which column of a warp's tile serves as column n of fragment j. Column n of four fragments are
/// neighbours, so that a lane reads and stores four floats at once.
__device__ inline int column_of(int j, int n) {
  return j / 4 * 32 + (n / 2 + n % 2 * 4) * 4 + j % 4;
}

/// Loads the fragments at column k of A's tile and row k of B's, for the part of C at (row, col).
template <typename S>
__device__ void load_fragments(Fragments<S>& f, Stage<S>& stage, int row, int col, int k) {
  constexpr int M = S::FRAGMENTS_M, N = S::FRAGMENTS_N;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < M; ++i) {
    unsigned bits[A_REGISTERS];
    ldmatrix(bits, stage.a.at(row + i * MMA_M + lane % 16, k + lane / 16 * V));
#pragma unroll
    for (int r = 0; r < A_REGISTERS; ++r) f.a[i][r] = __uint_as_float(bits[r]);
  }
#pragma unroll
  for (int j = 0; j < N; j += 4)
#pragma unroll
    for (int r = 0; r < B_REGISTERS; ++r) {
      const float* const first = stage.b.at(k + lane % 4 + r * 4, col + column_of(j, lane / 4));
      const float4 four = *reinterpret_cast<const float4*>(first);
      f.b[j][r] = four.x, f.b[j + 1][r] = four.y, f.b[j + 2][r] = four.z, f.b[j + 3][r] = four.w;
    }
}

// ---- C

/// Calls act(i, j, e, down, right) for each group of four sums of a lane that are neighbours in a row
/// of C: sums.of[i][j + 0..3][e], the first `down` rows and `right` columns into the warp's tile.
template <typename S, typename Act>
__device__ void for_fours(Act act) {
  constexpr int M = S::FRAGMENTS_M, N = S::FRAGMENTS_N;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < M; ++i)
#pragma unroll
    for (int j = 0; j < N; j += 4)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        act(i, j, e, i * MMA_M + lane / 4 + e / 2 * 8, column_of(j, lane % 4 * 2 + e % 2));
}

/// Stores a warp's sums at (row0, col0) of C, 16 bytes at a time where C has them all, and repairs
/// those that are not finite.
template <typename S>
__device__ void store_sums(const Sums<S>& sums, MatrixView<const float> a,
                           MatrixView<const float> b, MatrixView<float> c, int row0, int col0) {
  const bool wide = rows_aligned(c);
  float zero = 0;  // NaN if any of the sums is not finite
  for_fours<S>([&](int i, int j, int e, int down, int right) {
    alignas(16) const float four[] = {sums.of[i][j][e], sums.of[i][j + 1][e], sums.of[i][j + 2][e],
                                      sums.of[i][j + 3][e]};
    const int row = row0 + down, col = col0 + right;
    if (wide && row < c.rows && col + V <= c.cols)
      store_piece<true>(c, row, col, four);
    else
      store_piece<false>(c, row, col, four);
#pragma unroll
    for (int n = 0; n < V; ++n) zero += four[n] - four[n];
  });
  if (zero == 0) return;
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int row = row0 + lane / 4; row < min(row0 + S::WM, c.rows); row += 8)
#pragma unroll 1
    for (int n = 0; n < S::WN / 4; ++n) {
      const int col = col0 + column_of(n % (S::WN / 8), lane % 4 * 2 + n / (S::WN / 8));
      if (col < c.cols) repair(a, b, c, row, col);
    }
}

// ---- launches

/// The same kernel for aligned rows and for any.
using Kernel = void (*)(MatrixView<const float>, MatrixView<const float>, MatrixView<float>);
struct Versions {
  Kernel aligned, any;
};

/// One block for each tile of C, with STAGES pairs of tiles in shared memory.
template <typename S>
void launch(const Versions& versions, MatrixView<const float> a, MatrixView<const float> b,
            MatrixView<float> c, cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  const auto kernel = rows_aligned(a) && rows_aligned(b) ? versions.aligned : versions.any;
  constexpr int BYTES = S::STAGES * sizeof(Stage<S>);
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
  const dim3 grid(ceil_div(c.cols, S::BN), ceil_div(c.rows, S::BM));
  kernel<<<grid, S::THREADS, BYTES, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

/// Large tiles are faster, but one fills a multiprocessor. If the last round would leave more than
/// a tenth of all places idle, small ones are faster.
using LargeTile = Shape<128, 128, 64, 32, 3>;
using SmallTile = Shape<64, 64, 32, 32, 3>;

inline bool large_tiles_fit(MatrixView<float> c) {
  const int tiles = ceil_div(c.rows, LargeTile::BM) * ceil_div(c.cols, LargeTile::BN);
  const int bytes = LargeTile::STAGES * sizeof(Stage<LargeTile>);
  const int at_once = multiprocessors(), rounds = ceil_div(tiles, at_once);
  return tiles * 10 >= rounds * at_once * 9 &&
         bytes <= gpu_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}
