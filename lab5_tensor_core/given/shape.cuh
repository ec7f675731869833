// How a product is divided among blocks, warps and steps of mma.sync.
#pragma once

#include "common/tensor_core.cuh"

constexpr int MMA_M = 16, MMA_N = 8;  // one mma multiplies (16, K) by (K, 8), K being 32 bytes

/// A block computes BM x BN of C in steps of BK (128 bytes) along K, each of its warps WM x WN of
/// it. Shared memory holds STAGES pairs of tiles of A and B at a time.
template <typename T, int BM_, int BN_, int WM_, int WN_, int STAGES_>
struct Shape {
  static constexpr int BM = BM_, BN = BN_, WM = WM_, WN = WN_, STAGES = STAGES_;
  static constexpr int MMA_K = 32 / sizeof(T), BK = 128 / sizeof(T), K_STEPS = BK / MMA_K;
  static constexpr int WARPS_M = BM / WM, WARPS_N = BN / WN, THREADS = WARPS_M * WARPS_N * 32;
  static constexpr int FRAGMENTS_M = WM / MMA_M, FRAGMENTS_N = WN / MMA_N;  // of C, per warp
  static_assert(BM % WM == 0 && BN % WN == 0, "a block's tile must consist of whole warp tiles");
  static_assert(WM % MMA_M == 0 && WN % (2 * MMA_N) == 0, "a read brings two fragments of B");
  static_assert(K_STEPS % 2 == 0, "the first fragments of a tile must go to the first set");
  static_assert(STAGES >= 2, "one pair must be complete while another is being filled");
};
