// For fp64_aligned.cu: the tile of doubles, the thread that requests it, the product and C.
#pragma once

#include "lab6_summit/given/stream_k.cuh"

/// A (BM, BN) tile of C, in steps of 16 terms; a warp computes (WM, WN) of it, as products of
/// 8 rows and 16 columns.
template <int BM_, int BN_, int WM_, int WN_, int STAGES_>
struct AlignedTile {
  static constexpr int BM = BM_, BN = BN_, BK = 16, WM = WM_, WN = WN_;
  static constexpr int STAGES = STAGES_, RESIDENT = 1;
  static constexpr int WARPS_N = BN / WN, WARPS = BM / WM * WARPS_N;
  static constexpr int FRAGMENTS_M = WM / 8, FRAGMENTS_N = WN / 16;
  static constexpr bool MOVES_REGISTERS = true;
  static constexpr int THREADS = WARPS * 32 + 128, FEW = 24, MANY = 240;

  /// The tiles of one step, in rows of 128 bytes that copy_box has swizzled.
  struct alignas(1024) Stage {
    double a[BM][BK];           // (BM, BK), rows along k
    double b[BN / 16][BK][16];  // boxes of (BK, 16), rows along n
  };
  struct Shared {
    Stage ring[STAGES];
    Barrier full[STAGES], empty[STAGES];  // full: all bytes are there; empty: all are read
  };
};

/// Where chunk `place` of row `row` begins in a box, in bytes.
GEMM_LAB_DEVICE inline int chunk(int row, int place) {
  return row * 128 + place * 16;
}
/// Of A: eight terms, the next eight. Of B: one term, the next one.
struct Chunks {
  int a[2], b[2];
};
/// The same, but in registers: the compiler would rather compute them again in every step.
GEMM_LAB_DEVICE inline Chunks kept(Chunks c) {
  asm volatile("" : "+r"(c.a[0]), "+r"(c.a[1]), "+r"(c.b[0]), "+r"(c.b[1]));
  return c;
}
GEMM_LAB_DEVICE inline double2 load_chunk(const void* box, int chunk) {
  return *reinterpret_cast<const double2*>(static_cast<const char*>(box) + chunk);
}

/// Loads eight rows of A, 16 terms.
GEMM_LAB_DEVICE inline void load_rows(double (&a)[4], const void* rows, const Chunks& chunks) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const double2 pair = load_chunk(rows, chunks.a[i]);
    a[2 * i] = pair.x, a[2 * i + 1] = pair.y;
  }
}
/// Loads 16 columns of B, 16 terms: terms 8 to 15 lie eight rows further down.
GEMM_LAB_DEVICE inline void load_columns(double (&b)[8], const void* box, const Chunks& chunks) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const double2 pair = load_chunk(box, chunks.b[i % 2] + chunk(i / 2 * 8, 0));
    b[2 * i] = pair.x, b[2 * i + 1] = pair.y;
  }
}

/// sums += b * a, (16, 16) by (16, 8), which is a part of C transposed. As FP64 always has it, b[2 i]
/// and b[2 i + 1] are rows g and g + 8, in the column of k that a[i] has as well. d[1] and d[2] change
/// places, so that two sums in a row of C are neighbours.
GEMM_LAB_DEVICE inline void multiply_transposed(double (&d)[4], const double (&b)[8],
                                                const double (&a)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %2, %1, %3}, "
      "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %2, %1, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]), "d"(b[4]), "d"(b[5]), "d"(b[6]), "d"(b[7]),
        "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]));
}

/// Requests the boxes of all steps of a block. One thread calls it.
template <typename L>
__device__ void copy_aligned(typename L::Shared& own, PlaceOf<L::STAGES>& place,
                             const CUtensorMap& a, const CUtensorMap& b, MatrixView<double> c,
                             const Shares& shares, int block) {
  for (int step = 0; step < shares.steps_of(block);) {
    const Piece piece = shares.piece_at(block, step);
    const TileOrigin tile = tile_origin<L::BM, L::BN, 16>(piece.tile, c);
    for (int s = piece.steps.first; s < piece.steps.end; ++s, place.advance()) {
      auto& stage = own.ring[place.stage];
      Barrier& arrived = own.full[place.stage];
      own.empty[place.stage].wait(place.parity ^ 1);
      arrived.arrive_and_expect(sizeof stage);
      copy_box(stage.a, a, tile.row, s * L::BK, arrived);
      for (int j = 0; j < L::BN / 16; ++j)
        copy_box(stage.b[j], b, s * L::BK, tile.col + 16 * j, arrived);
    }
    step += piece.steps.count();
  }
}

/// Adds what the next block hands over, which has added what the blocks behind it had: in a large C,
/// hardly any tile has more than two blocks. Then hands its sums over or, if it is the first of its
/// tile, stores them. Lane (g, t) has columns 2 g and 2 g + 1 of rows t and t + 4.
template <typename L>
__device__ void finish_aligned(Sums<L>& sums, const Piece& piece, int block,
                               const Handover& handover, MatrixView<double> c, int row, int col) {
  if (piece.rank + 1 < piece.blocks) add_handed_over<L>(sums, handover, block + 1);
  if (piece.rank > 0) return hand_over<L>(handover, block, sums);
  const TileOrigin tile = tile_origin<L::BM, L::BN, 16>(piece.tile, c);
  const bool aligned = rows_aligned(c);
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int m = 0; m < L::FRAGMENTS_M; ++m)
#pragma unroll
    for (int e = 0; e < 4; e += 2)
#pragma unroll
      for (int n = 0; n < L::FRAGMENTS_N; ++n)
        store_two(c, aligned, tile.row + row + 8 * m + t + 2 * e, tile.col + col + 16 * n + 2 * g,
                  make_double2(sums[m][n][e], sums[m][n][e + 1]));
}

using AlignedKernel = void (*)(CUtensorMap a, CUtensorMap b, MatrixView<double> c, Shares shares,
                               Handover handover);

/// C = A * B by `kernel`, whose blocks share the steps of all tiles.
template <typename L>
void launch_aligned(AlignedKernel kernel, MatrixView<const double> a, MatrixView<const double> b,
                    MatrixView<double> c, cudaStream_t stream) {
  constexpr int BYTES = sizeof(typename L::Shared) + 1024;
  if (c.rows == 0 || c.cols == 0) return;
  if (a.cols == 0) {  // there is no tensor map of nothing
    CUDA_CHECK(cudaMemset2DAsync(c.data, c.ld * sizeof(double), 0, c.cols * sizeof(double), c.rows,
                                 stream));
    return;
  }
  const Choice tile = {L::BM, L::BN, L::RESIDENT, 0, 0, nullptr};
  const int blocks = blocks_for(tile, c.rows, c.cols, a.cols, multiprocessors());
  const Shares shares = {blocks, tile_count<L::BM, L::BN>(c), ceil_div(a.cols, L::BK)};
  const ForTma<double> rows_of_a(a, stream), rows_of_b(b, stream);
  const Scratch<L> scratch(shares, stream);
  launch_early(kernel, blocks, dim3(L::THREADS), BYTES, 1, stream,
               tensor_map(rows_of_a.view(), L::BM, CU_TENSOR_MAP_DATA_TYPE_FLOAT64),
               tensor_map(rows_of_b.view(), L::BK, CU_TENSOR_MAP_DATA_TYPE_FLOAT64), c, shares,
               scratch.handover);
}
