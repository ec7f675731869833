// Lab 6, 6.6.1 and 6.6.2: large products, and tensor cores that never wait. You will learn to start
// a step's products before those of the last one have ended, and to let two warpgroups take turns:
// one multiplies while the other stores its tile.
#include "common/matrix.hpp"
#include "lab6_summit/given/alternating_tiles.cuh"

// ---- 6.6.1: a step ahead

/// Starts the products of all steps of a tile. The last step's are still under way when it returns,
/// and its place, the one before `place`, is not free yet: finish_tile() sees to that.
template <typename L>
__device__ void start_tile(float (&sums)[2][L::HALF], typename L::Shared& shared,
                           PlaceOf<L::STAGES>& place, int steps) {
  clear(sums);
  // TODO(6.6.1) For each step: wait until its place is full, start_step(). Then wgmma_wait_but_one():
  //             now the products of the step before have ended, and one lane of each warp arrives at
  //             `empty` of its place (one_before()). There is none before the first step.
  sums[0][0] = unwritten<float>() + steps + place.stage + shared.rows[0][0][0];
}

/// C = A * B: a warpgroup computes this block's tiles, one after the other.
template <typename L>
__global__ void __launch_bounds__(L::THREADS, 1)
    ahead_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 MatrixView<float> c, const __grid_constant__ CUtensorMap rows_of_c, int depth) {
  auto& shared = shared_with_turns<L>();
  wait_for_last_launch();
  const Steps steps = {0, (depth + L::BK - 1) / L::BK};
  PlaceOf<L::STAGES> place;
  for (int n = blockIdx.x; n < tile_count<L::BM, L::BN>(c); n += gridDim.x) {
    const TileOrigin tile = tile_origin<L::BM, L::BN>(n, c);
    if (threadIdx.x < 128) {
      float sums[2][L::HALF];
      start_tile<L>(sums, shared, place, steps.end);
      finish_tile<L>(sums, shared, place);
      store_own_tile<L>(sums, shared, c, rows_of_c, tile);
    } else if (threadIdx.x == 128) {
      copy_steps<L>(shared, place, a, b, tile, steps);
    }
  }
  finish_stores();
}

template <typename In, typename Out>
void gemm_ahead(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                cudaStream_t stream) {
  using L = OwnTile<In, 128, 1>;
  multiply_own_tiles<L>(ahead_kernel<L>, a, b, c, stream);
}

// ---- 6.6.2: turns

/// C = A * B: two warpgroups compute this block's tiles in turn, the first one tiles 0, 2, 4, ...
template <typename L>
__global__ void __launch_bounds__(L::THREADS, 1)
    alternating_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                       MatrixView<float> c, const __grid_constant__ CUtensorMap rows_of_c,
                       int depth) {
  auto& shared = shared_with_turns<L>();
  wait_for_last_launch();
  const Steps steps = {0, (depth + L::BK - 1) / L::BK};
  const int tiles = tile_count<L::BM, L::BN>(c), group = threadIdx.x / 128;
  PlaceOf<L::STAGES> place;
  if (group < L::GROUPS) {
    take_registers<L>();
    const bool tells = threadIdx.x % 32 == 0;  // this lane arrives for its warp
    int turns = 0;                             // that this block has had, of both groups
    for (int n = blockIdx.x; n < tiles; n += gridDim.x, ++turns) {
      // TODO(6.6.2) If it is the other group's turn, skip() its steps. Otherwise: wait for turn[group]
      //             (not before the first tile of all: nobody ends a phase for it), start_tile(),
      //             arrive at the other group's turn, finish_tile(), store_own_tile() at
      //             tile_origin<L::BM, L::BN>(n, c). Phases have parities 0, 1, 0, ...
      skip(place, steps.end);
      c(0, 0) = unwritten<float>() + tells + turns + n;
    }
  } else {
    leave_registers<L>();
    if (threadIdx.x == L::GROUPS * 128)
      for (int n = blockIdx.x; n < tiles; n += gridDim.x)
        copy_steps<L>(shared, place, a, b, tile_origin<L::BM, L::BN>(n, c), steps);
  }
  finish_stores();
}

/// Per column, a tile of 192 takes about as long as one of 128: fewer columns in turn are better.
template <typename In, typename Out>
void gemm_alternating(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                      cudaStream_t stream) {
  using Narrow = OwnTile<In, 128, 2>;
  using Wide = OwnTile<In, 192, 2>;
  if (columns_in_turn<Wide>(c) < columns_in_turn<Narrow>(c))
    multiply_own_tiles<Wide>(alternating_kernel<Wide>, a, b, c, stream);
  else
    multiply_own_tiles<Narrow>(alternating_kernel<Narrow>, a, b, c, stream);
}
