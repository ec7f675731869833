// For fp64_shapes.cu: tiles of doubles, the thread that requests them, and the way to C.
#pragma once

#include "common/mma_sync.cuh"
#include "lab6_summit/given/cluster.cuh"
#include "lab6_summit/given/wgmma_parts.cuh"

constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 4;  // one mma multiplies (16, 4) by (4, 8)

/// A (BM, BN) tile of C, in steps of 32 terms; a warp computes (WM, WN) of it. One thread of
/// another warp requests copies. RESIDENT blocks share a multiprocessor.
template <int BM_, int BN_, int WM_, int WN_, int STAGES_, int RESIDENT_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = 32, WM = WM_, WN = WN_;
  static constexpr int STAGES = STAGES_, RESIDENT = RESIDENT_;
  static constexpr int WARPS_N = BN / WN, WARPS = BM / WM * WARPS_N;
  static constexpr int FRAGMENTS_M = WM / MMA_M, FRAGMENTS_N = WN / MMA_N;  // of C, per warp
  // Sums of (64, 32) leave too few registers for everything else, unless warps that do not multiply
  // give some of theirs away. Only whole warpgroups can do that.
  static constexpr bool MOVES_REGISTERS = WM * WN >= 2048;
  static constexpr int THREADS = WARPS * 32 + (MOVES_REGISTERS ? 128 : 32), FEW = 40;
  static constexpr int MANY = (65536 / RESIDENT - 128 * FEW) / (WARPS * 32) / 8 * 8;

  /// The tiles of one step: even rows, then odd rows. Each row has four more doubles than are
  /// multiplied, so that four consecutive rows begin in different banks.
  struct alignas(128) Stage {
    double a[2][BM / 2][BK + 4];
    double b[2][BK / 2][BN + 4];
  };
  struct Shared {
    union {
      Stage ring[STAGES];
      double part[BM][BN + 4];  // of a tile's sums, if a cluster shares it; after the ring
    };
    Barrier full[STAGES], empty[STAGES];  // full: all bytes are there; empty: all are read
  };
};

/// A tile, and how long a multiprocessor of an H200 takes for a step of 32 terms of all its blocks,
/// in microseconds: `alone` with one block, `full` with as many as fit, which are `resident`.
/// `multiply` gets how many blocks share a tile (6.5.2), or all steps (6.5.3).
struct Choice {
  int bm, bn, resident;
  float alone, full;
  void (*multiply)(MatrixView<const double>, MatrixView<const double>, MatrixView<double>, int,
                   cudaStream_t);
};

// ---- copies

/// Every other row of a matrix. Row 2 r + parity begins `shift` doubles (0 or 1) after the address
/// that is r * pitch bytes after `first`.
struct EveryOtherRow {
  const double* first;
  int shift;
  std::size_t pitch;
};

/// At which double of a row in shared memory its data begins: [0] for even rows, [1] for odd rows.
struct Shifts {
  int a[2], b[2];
};

/// What else a kernel needs. If A or B has no odd row, odd_a or odd_b moves its boxes past the end.
struct Layout {
  Shifts shifts;
  int odd_a, odd_b, depth;
};

/// The even and the odd rows of a matrix, described to TMA.
struct MatrixForTma {
  CUtensorMap half[2];
};

/// `rows(m, parity)` is your every_other_row() of 6.5. An empty matrix has no map.
template <typename Rows>
MatrixForTma for_tma(MatrixView<const double> m, int box_rows, int box_cols, Rows rows,
                     int (&shift)[2], int& odd) {
  MatrixForTma both = {};
  odd = m.rows > 1 ? 0 : 1 << 30;
  if (m.rows == 0 || m.cols == 0) return both;
  for (int parity = 0; parity < 2; ++parity) {
    const EveryOtherRow half = rows(m, m.rows > 1 ? parity : 0);
    const cuuint64_t extents[] = {cuuint64_t(m.cols + half.shift),
                                  cuuint64_t(max(1, (m.rows + 1 - parity) / 2))};
    const cuuint64_t pitch = half.pitch;
    const cuuint32_t box[] = {cuuint32_t(box_cols), cuuint32_t(box_rows)}, steps[] = {1, 1};
    tensor_map_check(tensor_map_encoder()(
        &both.half[parity], CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 2, const_cast<double*>(half.first),
        extents, &pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    shift[parity] = half.shift;
  }
  return both;
}

/// The block's shared memory, with its barriers initialised. All threads must call it.
template <typename L>
__device__ typename L::Shared& shared_of() {
  extern __shared__ __align__(128) unsigned char memory[];
  unsigned before = 0;  // bytes before the ring; swizzled boxes begin at multiples of 1024 (6.5.4)
  if constexpr (alignof(typename L::Shared) > 128)
    before = (1024 - shared_address(memory) % 1024) % 1024;
  auto& shared = *reinterpret_cast<typename L::Shared*>(memory + before);
  if (threadIdx.x == 0) {
    for (int s = 0; s < L::STAGES; ++s) shared.full[s].init(1), shared.empty[s].init(L::WARPS);
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");  // now visible to TMA
  }
  __syncthreads();
  if constexpr (L::RESIDENT == 1) let_next_launch_begin();
  return shared;
}

/// Requests the boxes of a tile's steps. One thread calls it.
template <typename L>
__device__ void copy_steps(typename L::Shared& own, PlaceOf<L::STAGES>& place,
                           const CUtensorMap& a_even, const CUtensorMap& a_odd,
                           const CUtensorMap& b_even, const CUtensorMap& b_odd, TileOrigin tile,
                           Steps steps, const Layout& layout) {
  for (int t = steps.first; t < steps.end; ++t, place.advance()) {
    auto& stage = own.ring[place.stage];
    Barrier& arrived = own.full[place.stage];
    const int k = t * L::BK;
    own.empty[place.stage].wait(place.parity ^ 1);
    arrived.arrive_and_expect(sizeof stage);
    copy_box(stage.a[0], a_even, tile.row / 2, k, arrived);
    copy_box(stage.a[1], a_odd, tile.row / 2, layout.odd_a + k, arrived);
    copy_box(stage.b[0], b_even, k / 2, tile.col, arrived);
    copy_box(stage.b[1], b_odd, k / 2, layout.odd_b + tile.col, arrived);
  }
}

/// Warps that do not multiply give away registers; those that multiply take them.
template <typename L>
GEMM_LAB_DEVICE void give_registers() {
  if (L::MOVES_REGISTERS) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(L::FEW));
}
template <typename L>
GEMM_LAB_DEVICE void take_registers() {
  if constexpr (L::MOVES_REGISTERS)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(L::MANY));
}

// ---- products

/// What a warp multiplies per 4 terms: (WM, 4) of A and (4, WN) of B, in registers.
template <typename L>
struct Fragments {
  double a[L::FRAGMENTS_M][2], b[L::FRAGMENTS_N][1];
};

/// A warp's (WM, WN) sums. d[e] of fragment (i, j) is row 16 i + 2 g + e / 2, column 8 j + 2 t + e
/// % 2: rows g and g + 8 of an mma are an even row and the odd row after it.
template <typename L>
using Sums = double[L::FRAGMENTS_M][L::FRAGMENTS_N][4];

/// sums += a * b. Odd rows go backwards, so that they begin with the fragment of B just used.
template <typename L>
__device__ void multiply(Sums<L>& sums, const Fragments<L>& f) {
#pragma unroll
  for (int m = 0; m < L::FRAGMENTS_M; ++m)
#pragma unroll
    for (int turn = 0; turn < L::FRAGMENTS_N; ++turn) {
      const int n = m % 2 ? L::FRAGMENTS_N - 1 - turn : turn;
      mma_wide(sums[m][n], f.a[m], f.b[n]);
    }
}

// ---- C

/// Calls act(row, col, pair) for every two sums that are neighbours in a row of the warp's tile.
template <typename L, typename Act>
__device__ void for_pairs(const Sums<L>& sums, Act act) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int m = 0; m < L::FRAGMENTS_M; ++m)
#pragma unroll
    for (int e = 0; e < 4; e += 2)
#pragma unroll
      for (int n = 0; n < L::FRAGMENTS_N; ++n)
        act(m * MMA_M + lane / 4 * 2 + e / 2, n * MMA_N + lane % 4 * 2,
            make_double2(sums[m][n][e], sums[m][n][e + 1]));
}

/// Stores two sums to a row of C, where C has these elements.
GEMM_LAB_DEVICE inline void store_two(MatrixView<double> c, bool aligned, int row, int col,
                                      double2 pair) {
  alignas(16) const double two[] = {pair.x, pair.y};
  if (aligned && row < c.rows && col + 1 < c.cols)
    store_piece<true>(c, row, col, two);
  else
    store_piece<false>(c, row, col, two);
}

/// Loads two doubles from the shared memory of block `rank`; `own` is their place in this block's.
GEMM_LAB_DEVICE inline double2 load_from(int rank, const double* own) {
  double2 v;
  asm volatile(
      "{\n.reg .u32 there;\n"
      "mapa.shared::cluster.u32 there, %2, %3;\n"
      "ld.shared::cluster.v2.f64 {%0, %1}, [there];\n}"
      : "=d"(v.x), "=d"(v.y)
      : "r"(shared_address(own)), "r"(rank)
      : "memory");
  return v;
}

/// C = the sum of the `part`s of all blocks of the cluster, added from block 0 on, as in 6.4.2.
template <typename L>
__device__ void add_parts(const double (&part)[L::BM][L::BN + 4], MatrixView<double> c,
                          TileOrigin tile) {
  const int rank = cluster_rank(), blocks = cluster_size();
  constexpr int ACROSS = L::BN / 2;
  const bool aligned = rows_aligned(c);
  sync_cluster();
  const int pairs = L::BM * ACROSS, from = pairs * rank / blocks, to = pairs * (rank + 1) / blocks;
  for (int pair = from + threadIdx.x; pair < to; pair += L::THREADS) {
    const int row = pair / ACROSS, col = pair % ACROSS * 2;
    double2 sum = {};
#pragma unroll 8
    for (int other = 0; other < blocks; ++other) {
      const double2 one = load_from(other, &part[row][col]);
      sum.x += one.x, sum.y += one.y;
    }
    store_two(c, aligned, tile.row + row, tile.col + col, sum);
  }
  sync_cluster();
}

// ---- launches

using Fp64Kernel = void (*)(CUtensorMap a_even, CUtensorMap a_odd, CUtensorMap b_even,
                            CUtensorMap b_odd, MatrixView<double> c, Layout layout);

/// Launches a cluster of `splits` blocks for every tile of C.
template <typename L, typename Rows>
void launch(Fp64Kernel kernel, Rows rows, MatrixView<const double> a, MatrixView<const double> b,
            MatrixView<double> c, int splits, cudaStream_t stream) {
  constexpr int BYTES = sizeof(typename L::Shared);
  Layout layout = {};
  layout.depth = a.cols;
  const auto of_a = for_tma(a, L::BM / 2, L::BK + 4, rows, layout.shifts.a, layout.odd_a);
  const auto of_b = for_tma(b, L::BK / 2, L::BN + 4, rows, layout.shifts.b, layout.odd_b);
  launch_early(kernel, tile_count<L::BM, L::BN>(c) * splits, dim3(L::THREADS), BYTES, splits,
               stream, of_a.half[0], of_a.half[1], of_b.half[0], of_b.half[1], c, layout);
}
