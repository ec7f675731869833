// Lab 6, 6.3.3 and 6.3.4: three products by wgmma; the tutorial's page "three products" explains
// each TODO. You will learn to feed tensor cores a factor from registers, where it can be split,
// and to let one warpgroup split and round while another one multiplies.
#include "common/matrix.hpp"
#include "lab6_summit/given/wgmma_tiles.cuh"

// ---- 6.3.3: the parts of B, transposed

/// The bits of two numbers whose sum is a float. A tensor core reads the upper 19 bits of each.
struct Parts {
  unsigned big, small;
};

__device__ inline Parts split(float x) {
  const unsigned bits = __float_as_uint(x);
  // TODO(6.3.3) Copy your split() of 6.3.
  // >>> skeleton
  // return {unwritten<unsigned>() + bits, 0};
  // <<< skeleton
  // >>> solution
  const unsigned big = round_to_tf32(bits) & 0xffffe000u;
  return {big, __float_as_uint(x - __uint_as_float(big))};
  // <<< solution
}

/// Stores the two parts of b, transposed: 32 x 32 elements per block, 32 x 8 threads. wgmma needs
/// both parts of B in shared memory with rows along k, so that is how they are laid out here.
__global__ void split_transposed(MatrixView<const float> b, MatrixView<float> big,
                                 MatrixView<float> small) {
  // One column more, so that rows begin in 32 different banks: columns are read without conflicts.
  [[maybe_unused]] __shared__ float tile[32][32 + 1];
  let_next_launch_begin(), wait_for_last_launch();
  const int across = (b.cols + 31) / 32, x = threadIdx.x;
  const int row0 = blockIdx.x / across * 32, col0 = blockIdx.x % across * 32;
#pragma unroll
  for (int y = threadIdx.y; y < 32; y += 8)
    if (row0 + y < b.rows && col0 + x < b.cols) tile[y][x] = b(row0 + y, col0 + x);
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < 32; y += 8)
    if (col0 + y < big.rows && row0 + x < big.cols) {
      const Parts parts = split(tile[x][y]);
      big(col0 + y, row0 + x) = __uint_as_float(parts.big);
      small(col0 + y, row0 + x) = __uint_as_float(parts.small);
    }
}

// ---- 6.3.4: the kernel

/// The fragments of A for one step, in two parts: the 16 rows of a warp.
struct SplitRows {
  unsigned big[BK / WGMMA_K][4], small[BK / WGMMA_K][4];  // (16, 8) each
};
__device__ inline void load_parts(SplitRows& rows, const float (&tile)[BM][BK], int row) {
#pragma unroll
  for (int i = 0; i < BK / WGMMA_K; ++i) {
    float fragment[4];
    load_fragment(fragment, tile, row, i * WGMMA_K);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const Parts parts = split(fragment[e]);
      rows.big[i][e] = parts.big, rows.small[i][e] = parts.small;
    }
  }
}

/// C = A * B; block i computes the (BM, BN) tiles i, i + gridDim.x, ... Elements that are not
/// finite are computed again from whole_a and whole_b.
template <int BN>
__global__ void __launch_bounds__(THREADS, 1)
    three_wgmma_kernel(const __grid_constant__ CUtensorMap a,
                       const __grid_constant__ CUtensorMap b_big,
                       const __grid_constant__ CUtensorMap b_small, MatrixView<const float> whole_a,
                       MatrixView<const float> whole_b, MatrixView<float> c) {
  SplitRing<BN>& ring = split_ring<BN>();
  wait_for_last_launch();
  const int steps = (whole_a.cols + BK - 1) / BK, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == WARPS) {
    if (lane == 0) copy_steps(ring, a, b_big, b_small, c, steps);
    return;
  }
  PlaceOf<SplitRing<BN>::STAGES> place;
  SplitRows rows;
  for (int n = blockIdx.x; n < tile_count<BM, BN>(c); n += gridDim.x) {
    float sums[BN / 2] = {};  // (64, BN) by the warpgroup, (16, BN) by this warp
    // TODO(6.3.4) For each step: wait until its place is full, load_parts() of this warp's rows of
    //             A, then wgmma(step, part of A, descriptor(part of B)): three for every 8 along k,
    //             as in 6.3.1, into `step` sums that begin at zero. Fence, commit and wait as in
    //             5.4, arrive at `empty`, and add `step` to `sums` as in 6.3.2.
    // >>> skeleton
    // sums[0] = unwritten<float>();
    // (void)place, (void)rows, (void)steps, (void)lane;
    // <<< skeleton
    // >>> solution
    for (int t = 0; t < steps; ++t, place.advance()) {
      SplitStage<BN>& stage = ring.stage[place.stage];
      ring.full[place.stage].wait(place.parity);
      load_parts(rows, stage.a, warp * 16);
      float step[BN / 2] = {};  // the sums of these BK terms only
      wgmma_fence(step);
#pragma unroll
      for (int i = 0; i < BK / WGMMA_K; ++i) {
        wgmma(step, rows.small[i], descriptor(&stage.b_big[0][i * WGMMA_K]));
        wgmma(step, rows.big[i], descriptor(&stage.b_small[0][i * WGMMA_K]));
      }
#pragma unroll
      for (int i = 0; i < BK / WGMMA_K; ++i)
        wgmma(step, rows.big[i], descriptor(&stage.b_big[0][i * WGMMA_K]));
      wgmma_commit();
      wgmma_wait(step);
      if (lane == 0) ring.empty[place.stage].arrive();
#pragma unroll
      for (int i = 0; i < BN / 2; ++i) sums[i] += step[i];
    }
    // <<< solution
    const TileOrigin tile = tile_origin<BM, BN>(n, c);
    store_sums<BN>(sums, whole_a, whole_b, c, tile.row + warp * 16, tile.col);
  }
}

template <typename T>
void gemm_three_wgmma(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                      cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  if (a.cols == 0) {  // an empty matrix has no tensor map
    CUDA_CHECK(cudaMemset2DAsync(c.data, c.ld * sizeof(T), 0, c.cols * sizeof(T), c.rows, stream));
    return;
  }
  const TwoParts parts(b.cols, b.rows, stream);
  launch_early(split_transposed, ceil_div(b.rows, 32) * ceil_div(b.cols, 32), dim3(32, 8), 0, 1,
               stream, b, parts.big, parts.small);
  switch (best_columns(c)) {
    case 32:
      return launch<32>(three_wgmma_kernel<32>, a, b, parts, c, stream);
    case 64:
      return launch<64>(three_wgmma_kernel<64>, a, b, parts, c, stream);
    case 80:
      return launch<80>(three_wgmma_kernel<80>, a, b, parts, c, stream);
    case 96:
      return launch<96>(three_wgmma_kernel<96>, a, b, parts, c, stream);
    default:
      return launch<128>(three_wgmma_kernel<128>, a, b, parts, c, stream);
  }
}

// The kernel that tests 6.3.3:
#include "lab6_summit/given/wgmma_checks.cuh"
