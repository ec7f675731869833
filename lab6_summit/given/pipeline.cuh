// The parts of 4.4's pipeline, in FP32, for any range of K, tile and alignment. You write its loop.
#pragma once

#include "lab6_summit/given/copies.cuh"

/// A warp's 32 lanes, in 4 rows of 8, over what they compute: pieces of V rows and V columns each.
constexpr int LANES_M = 4, LANES_N = 8, WARP = LANES_M * LANES_N, V = VEC<float>;

/// A block computes BM x BN of C in steps of BK along K, a warp WM x WN of that, in sub-tiles of 4
/// x 8 pieces. Shared memory holds STAGES pairs of tiles. The compiler must use few enough
/// registers that RESIDENT blocks fit on a multiprocessor.
template <int BM_, int BN_, int BK_, int WM_, int WN_, int STAGES_, int RESIDENT_>
struct Shape {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_;
  static constexpr int STAGES = STAGES_, RESIDENT = RESIDENT_;
  static constexpr int WARPS_N = BN / WN, WARPS = BM / WM * WARPS_N, THREADS = WARPS * WARP;
  static constexpr int TM = WM / LANES_M, TN = WN / LANES_N;            // of C per lane
  static constexpr int ROW_STEP = LANES_M * V, COL_STEP = LANES_N * V;  // from piece to piece
  static_assert(BM % WM == 0 && BN % WN == 0, "a block's tile must consist of whole warp tiles");
  static_assert(WM % ROW_STEP == 0 && WN % COL_STEP == 0, "a warp's must consist of sub-tiles");
  static_assert(STAGES >= 2, "one pair of tiles must be free while another is multiplied");
  static_assert(BK % 8 == 0, "eight neighbours along K, a sector, are copied by eight lanes");
};

/// What a block multiplies: rows from row0 on, columns from col0 on, k0 to k_end of K.
struct Part {
  int row0, col0, k0, k_end;
};

// ---- copies

/// The two tiles of one step along K.
template <typename S>
struct Stage {
  alignas(16) float a[S::BK][S::BM + V];  // (BK, BM), A transposed, padded
  alignas(16) float b[S::BK][S::BN];      // (BK, BN), row-major
};

/// Starts copying A's tile of a step, transposed: eight lanes copy eight neighbours of a row.
template <bool INSIDE, typename S>
__device__ void copy_a(Stage<S>& stage, MatrixView<const float> a, const Part& part) {
  constexpr int STEP = S::THREADS / 8;  // rows from one copy of a thread to its next
  static_assert(S::BM % STEP == 0, "each thread must start as many copies");
  const int r = threadIdx.x / 8, k = threadIdx.x % 8;
#pragma unroll
  for (int n = 0; n < S::BK; n += 8) {
    const float* from = &a(part.row0 + r, part.k0 + k + n);
    const int exists = part.k0 + k + n < part.k_end;
#pragma unroll
    for (int i = 0; i < S::BM; i += STEP, from += std::ptrdiff_t{STEP} * a.ld)
      copy_async<1>(&stage.a[k + n][r + i], from,
                    INSIDE || part.row0 + r + i < a.rows ? exists : 0);
  }
}

/// Starts copying B's tile of a step, float by float, which works for any alignment.
struct FloatByFloat {
  template <bool INSIDE, typename S>
  __device__ static void copy_b(Stage<S>& stage, MatrixView<const float> b, const Part& part) {
    constexpr int STEP = S::THREADS / WARP;  // rows that all threads copy at once: a warp each
    static_assert(S::BN % WARP == 0, "a row must consist of whole copies of a warp");
    const int r = threadIdx.x / WARP, col = threadIdx.x % WARP;
#pragma unroll
    for (int down = 0; down < S::BK; down += STEP) {
      if (STEP > S::BK && r >= S::BK) break;  // more warps than rows
      const float* const source = &b(part.k0 + r + down, part.col0 + col);
      const int exists = part.k0 + r + down < part.k_end;
#pragma unroll
      for (int j = 0; j < S::BN; j += WARP)
        copy_async<1>(&stage.b[r + down][col + j], source + j,
                      INSIDE || part.col0 + col + j < b.cols ? exists : 0);
    }
  }
};

// ---- products

/// What a thread multiplies in one k: its part of a column of A's tile and of a row of B's tile.
template <typename S>
struct Fragments {
  alignas(16) float a[S::TM], b[S::TN];
};

template <typename S>
__device__ void load_fragments(Fragments<S>& f, const Stage<S>& stage, int row, int col, int k) {
#pragma unroll
  for (int i = 0; i < S::TM; i += V)
    *reinterpret_cast<float4*>(&f.a[i]) =
        *reinterpret_cast<const float4*>(&stage.a[k][row + i / V * S::ROW_STEP]);
#pragma unroll
  for (int j = 0; j < S::TN; j += V)
    *reinterpret_cast<float4*>(&f.b[j]) =
        *reinterpret_cast<const float4*>(&stage.b[k][col + j / V * S::COL_STEP]);
}

/// sums += a column times a row. Even rows go backwards, so that odd ones begin with the b[j] just
/// used. This was the fastest of 13 orders and two arrangements of lanes (tuning-lab-6.txt).
template <int TM, int TN, typename S>
__device__ void add_products(float (&sums)[TM][TN], const Fragments<S>& f) {
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int n = 0; n < TN; ++n) {
      const int j = i % 2 ? n : TN - 1 - n;
      sums[i][j] += f.a[i] * f.b[j];
    }
}

/// sums += A * B for this part, with B copied by Copies::copy_b. You write it in gemm.cu (6.0).
/// `ring` has STAGES pairs of tiles; the thread's first piece is at (row, col). INSIDE: all rows
/// and columns of the part exist.
template <bool INSIDE, typename Copies, typename S>
__device__ void multiply_part(float (&sums)[S::TM][S::TN], Stage<S>* ring,
                              MatrixView<const float> a, MatrixView<const float> b, Part part,
                              int row, int col);

/// Stores a thread's sums, the first at (row, col) of C, 16 bytes at a time if the rows of C are
/// aligned. It leaves out what is not in C, and what is above or to the left of the block's part.
template <typename S>
__device__ void store_sums(const float (&sums)[S::TM][S::TN], MatrixView<float> c, const Part& part,
                           int row, int col) {
  const bool wide = rows_aligned(c) && col % V == 0;
#pragma unroll
  for (int i = 0; i < S::TM; ++i) {
    const int r = row + i / V * S::ROW_STEP + i % V;
    if (r < part.row0 || r >= c.rows) continue;
#pragma unroll
    for (int j = 0; j < S::TN; j += V) {
      const int first = col + j / V * S::COL_STEP;
      if (wide && first >= part.col0 && first + V <= c.cols) {
        *reinterpret_cast<float4*>(&c(r, first)) =
            make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
      } else {
#pragma unroll
        for (int e = 0; e < V; ++e)
          if (first + e >= part.col0 && first + e < c.cols) c(r, first + e) = sums[i][j + e];
      }
    }
  }
}

/// Row and column of a lane's piece in a sub-tile of 4 x 8 pieces, in pairs as in 4.3.
__device__ inline int lane_row(int lane) {
  return lane / 16 * 2 + lane / 2 % 2;
}
__device__ inline int lane_col(int lane) {
  return lane / 4 % 4 * 2 + lane % 2;
}

/// Stores A * B for this part to c. INSIDE: C is at least as large as a tile. A tile that would
/// hang over the edge then moves up or left until all of it exists, so that the loop needs no
/// bounds checks. What is computed twice is stored once.
template <bool INSIDE, typename Copies, typename S>
__device__ void make_part(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c,
                          const Part& part) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const ring = reinterpret_cast<Stage<S>*>(memory);  // (STAGES) pairs of tiles
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const int row = warp / S::WARPS_N * S::WM + lane_row(lane) * V;
  const int col = warp % S::WARPS_N * S::WN + lane_col(lane) * V;
  float sums[S::TM][S::TN] = {};  // in pieces
  Part moved = part;
  if (INSIDE) {
    moved.row0 = min(part.row0, a.rows - S::BM);
    moved.col0 = min(part.col0, b.cols - S::BN);
  }
  multiply_part<INSIDE, Copies, S>(sums, ring, a, b, moved, row, col);
  store_sums<S>(sums, c, part, moved.row0 + row, moved.col0 + col);
}
