// How tensor_shapes.cu multiplies floats, in TF32. wgmma needs both factors in shared memory with
// rows along k, but the first may come from registers. So the product is computed transposed: the
// first factor is B transposed, 64 columns of B per warpgroup, loaded by the threads; the second is
// A transposed, which for wgmma is A as it is in memory. TMA rounds both to TF32.
#pragma once

#include "lab6_summit/given/shape_tiles.cuh"

/// The column of B's tile that this lane loads as row g = lane / 4 of the first factor; the next
/// one is its row g + 8. So eight lanes load from four rows of B without bank conflicts.
__device__ inline int column_of_b() {
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4;
  return warp / 2 * 32 + g / 2 % 2 * 16 + warp % 2 * 8 + g / 4 * 4 + g % 2 * 2;
}

/// Waits for all products that have been started, except those of the last group.
GEMM_LAB_DEVICE inline void wgmma_wait_but_one() {
  asm volatile("wgmma.wait_group.sync.aligned 1;" : : : "memory");
}

/// sums = this warp's columns of a tile, over all its steps; in the file that includes this.
template <typename L, int COUNT>
__device__ void multiply_transposed(float (&sums)[COUNT], typename L::Shared& own,
                                    PlaceOf<L::STAGES>& place, Steps steps);

/// The two neighbours that this lane holds of row 2 t + odd, of the eight rows from sums[i] on.
template <int COUNT>
__device__ float2 neighbours(const float (&sums)[COUNT], int i, bool odd) {
  float2 x = {sums[i], sums[i + 2]}, y = {sums[i + 1], sums[i + 3]};
  // Selects values, not addresses: otherwise the compiler would put the sums into local memory.
  asm("" : "+f"(x.x), "+f"(x.y), "+f"(y.x), "+f"(y.y));
  return odd ? y : x;
}

/// A barrier for the 128 threads of a warpgroup, 0 or 1.
GEMM_LAB_DEVICE inline void sync_warpgroup(int warpgroup) {
  if (warpgroup == 0)
    asm volatile("bar.sync 2, 128;" : : : "memory");
  else
    asm volatile("bar.sync 3, 128;" : : : "memory");
}

/// Stores a tile, 64 columns per warpgroup, where C has these elements. Eight rows at a time go
/// through shared memory, so that 16 lanes store a row of 256 bytes.
template <typename L, int COUNT>
__device__ void store_columns(const float (&sums)[COUNT], typename L::Shared& shared,
                              MatrixView<float> c, TileOrigin tile) {
  const int warpgroup = threadIdx.x / 128, thread = threadIdx.x % 128, lane = thread % 32;
  const int t = lane % 4, col = column_of_b() % 64, col0 = tile.col + warpgroup * 64;
  const bool aligned = rows_aligned(c) && c.cols % 4 == 0;
#pragma unroll
  for (int i = 0; i < COUNT; i += 4) {
    auto& rows = shared.rows[warpgroup][i / 4 % 2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int odd = e ^ t / 2;  // rows 0, 2, 5, 7 at once: different banks
      *reinterpret_cast<float2*>(&rows[2 * t + odd][col]) = neighbours(sums, i, odd);
    }
    // By now the previous rows have been read, and the next write goes where they were.
    sync_warpgroup(warpgroup);
    const int first = tile.row + 2 * i;
    if (aligned) {
      const int r = thread / 16, x = thread % 16 * 4;
      if (first + r < c.rows && col0 + x < c.cols)
        *reinterpret_cast<float4*>(&c(first + r, col0 + x)) =
            *reinterpret_cast<const float4*>(&rows[r][x]);
    } else {
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        const int r = thread / 32 + n / 2 * 4, x = lane + n % 2 * 32;
        if (first + r < c.rows && col0 + x < c.cols) c(first + r, col0 + x) = rows[r][x];
      }
    }
  }
}

/// Like keep_part, for transposed sums.
template <typename L, int COUNT>
__device__ void keep_columns(const float (&sums)[COUNT], typename L::Shared& shared) {
  const int t = threadIdx.x % 4, col = column_of_b();
  asm volatile("bar.sync 1, %0;" : : "n"(L::WARPS * 32) : "memory");
#pragma unroll
  for (int i = 0; i < COUNT; i += 4)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int odd = e ^ t / 2;
      *reinterpret_cast<float2*>(&shared.part[2 * i + 2 * t + odd][col]) = neighbours(sums, i, odd);
    }
}

// ---- either kind of factors

/// Registers move from the warpgroup that copies to the two that multiply: 40 + 2 x 232 out of 3 x
/// 168. All warps of a warpgroup must call this.
template <typename L>
GEMM_LAB_DEVICE void take_registers() {
  if constexpr (L::MOVES_REGISTERS) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
}
template <typename L>
GEMM_LAB_DEVICE void leave_registers() {
  if constexpr (L::MOVES_REGISTERS) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
}

/// sums = this warp's part of a tile, over all its steps.
template <typename L, int COUNT>
__device__ void make_sums(float (&sums)[COUNT], typename L::Shared& shared,
                          PlaceOf<L::STAGES>& place, Steps steps) {
  if constexpr (L::TRANSPOSED)
    multiply_transposed<L>(sums, shared, place, steps);
  else
    multiply_steps<L>(sums, shared, place, steps);
}
/// Stores them to C, or keeps them in this block's shared memory.
template <typename L, int COUNT>
__device__ void store_tile(const float (&sums)[COUNT], typename L::Shared& shared,
                           MatrixView<float> c, TileOrigin tile) {
  const int warp = threadIdx.x / 32;
  if constexpr (L::TRANSPOSED)
    store_columns<L>(sums, shared, c, tile);
  else
    store_rows(sums, shared.rows[warp], c, tile.row + warp * 16, tile.col);
}
template <typename L, int COUNT>
__device__ void keep_tile(const float (&sums)[COUNT], typename L::Shared& shared) {
  if constexpr (L::TRANSPOSED)
    keep_columns<L>(sums, shared);
  else
    keep_part<L>(sums, shared);
}
