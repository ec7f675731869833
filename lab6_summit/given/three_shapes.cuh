// What 6.4.5 builds on: the tiles of 6.4.4, with room for what tensor cores ignore of A, and the
// repair of elements that are not finite.
#pragma once

#include "common/mma_sync.cuh"
#include "lab6_summit/given/repair.cuh"
#include "lab6_summit/given/tf32_tiles.cuh"

/// A tile for three products. A is copied with all its bits. One warpgroup does not multiply: a
/// thread of its first warp requests copies, the other warps (SPLITTERS) store A's small parts.
template <int BM, int BN, int RESIDENT>
struct ThreeTile : Tile<float, BM, BN, RESIDENT> {
  using Base = Tile<float, BM, BN, RESIDENT>;
  static constexpr int BK = Base::BK, SPLITTERS = 3, THREADS = Base::WARPS * 32 + 128;
  static constexpr bool MOVES_REGISTERS = Base::WARPS == 8 && BM == 128;
  static constexpr CUtensorMapDataType COPIED_AS = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;

  struct alignas(1024) Stage {
    float a[BM][BK],
        small[BM][BK];  // A, and what a tensor core ignores of it, in the same places
    float b[BN / BK][BK][BK];
  };
  static constexpr int STAGES = Base::ROOM / int{sizeof(Stage)};

  struct Shared {
    union {
      Stage ring[STAGES];
      float part[BM][Base::LD];
    };
    Barrier full[STAGES], empty[STAGES], split[STAGES];  // split: the small parts are there
    alignas(16) ColumnsOfC rows[Base::WARPS / 4];
  };
};

/// Makes what this thread has stored in shared memory visible to tensor cores and TMA.
GEMM_LAB_DEVICE inline void fence_for_tensor_cores() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

/// The SPLITTERS warps compute stage.small = act(stage.a): 16 bytes per access, four loads ahead.
template <typename L, typename Act>
__device__ void for_pieces(typename L::Stage& stage, int thread, Act act) {
  constexpr int PIECES = L::BM * L::BK / 4, THREADS = L::SPLITTERS * 32, AHEAD = 4;
  const auto* const from = reinterpret_cast<const float4*>(stage.a);
  auto* const to = reinterpret_cast<float4*>(stage.small);
#pragma unroll 1
  for (int first = thread; first < PIECES; first += AHEAD * THREADS) {
    float4 x[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      if (first + i * THREADS < PIECES) x[i] = from[first + i * THREADS];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      if (first + i * THREADS < PIECES)
        to[first + i * THREADS] = {act(x[i].x), act(x[i].y), act(x[i].z), act(x[i].w)};
  }
}

/// Repairs the elements of C whose sums this thread has; call it after store_columns.
template <int COUNT>
__device__ void repair_columns(const float (&sums)[COUNT], MatrixView<const float> a,
                               MatrixView<const float> b, MatrixView<float> c, TileOrigin tile) {
  float zero = 0;  // NaN if any of the sums is not finite
#pragma unroll
  for (int i = 0; i < COUNT; ++i) zero += sums[i] - sums[i];
  sync_warpgroup(threadIdx.x / 128);  // other threads have stored them by now
  if (zero == 0) return;
#pragma unroll 1
  for (int i = 0; i < COUNT; ++i) {
    const int row = tile.row + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
    const int col = tile.col + column_of_b() + i % 4 / 2;
    if (row < c.rows && col < c.cols) repair(a, b, c, row, col);
  }
}
/// Repairs this block's share of a cluster's tile; call it after add_parts.
template <typename L>
__device__ void repair_rows(MatrixView<const float> a, MatrixView<const float> b,
                            MatrixView<float> c, TileOrigin tile) {
  const int rank = cluster_rank(), blocks = cluster_size();
  const int first = L::BM * rank / blocks * L::BN, end = L::BM * (rank + 1) / blocks * L::BN;
  float zero = 0;
#pragma unroll 8  // eight loads in flight
  for (int i = first + threadIdx.x; i < end; i += L::THREADS) {
    const int row = tile.row + i / L::BN, col = tile.col + i % L::BN;
    const float x = row < c.rows && col < c.cols ? c(row, col) : 0;
    zero += x - x;
  }
  if (zero == 0) return;
#pragma unroll 1
  for (int i = first + threadIdx.x; i < end; i += L::THREADS) {
    const int row = tile.row + i / L::BN, col = tile.col + i % L::BN;
    if (row < c.rows && col < c.cols) repair(a, b, c, row, col);
  }
}
