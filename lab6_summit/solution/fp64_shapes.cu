// Lab 6, 6.5 to 6.5.3: FP64 on tensor cores at every shape. The tutorial's page of that name
// explains each TODO. You will learn to let TMA read rows that begin at any double, to read them
// without bank conflicts where no swizzle is possible, and again to choose by estimated time.
#include "common/matrix.hpp"
#include "lab6_summit/given/stream_k.cuh"

// ---- 6.5: rows that begin anywhere

/// Describes rows parity, parity + 2, parity + 4 ... of m to TMA, which needs rows that begin at
/// multiples of 16 bytes and are multiples of 16 bytes apart.
inline EveryOtherRow every_other_row(MatrixView<const double> m, int parity) {
  // TODO(6.5) Return {first, shift, pitch} (see EveryOtherRow). If row `parity` begins at a
  //           multiple of 16 bytes, `first` is its address and shift 0; else `first` is the double
  //           before it and shift 1. pitch is the number of bytes from one of these rows to the
  //           next.
  // >>> skeleton
  // (void)m, (void)parity;
  // return {};  // no rows: nothing is copied
  // <<< skeleton
  // >>> solution
  const double* const row = m.data + std::ptrdiff_t{parity} * m.ld;
  const int shift = reinterpret_cast<std::size_t>(row) % 16 / sizeof(double);
  return {row - shift, shift, 2 * sizeof(double) * m.ld};
  // <<< solution
}

// ---- 6.5.1: four terms of eight

/// Loads the fragments of four of the eight terms k ... k + 7, for the part of the tile at (row,
/// col), or of the other four if `second`. Row r of A's tile is stage.a[r % 2][r / 2] and begins
/// after shifts.a[r % 2] doubles; the same goes for B.
template <typename L>
__device__ void load_fragments(Fragments<L>& f, const typename L::Stage& stage, Shifts shifts,
                               int row, int col, int k, bool second) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  // TODO(6.5.1) Load f.a[i][h] from row row + 16 i + 2 g + h of A, and f.b[j][0] from column col +
  //             8 j + g of B. Choose a term for each t, the same for A and B, such that the four
  //             terms of a row of A are in different banks, and the four rows of B as well. In
  //             either, a row begins 4 doubles (8 banks) after the previous row of the same parity.
  // >>> skeleton
  // f = {};
  // f.a[0][0] = unwritten<double>() + g + t + row + col + k + second + shifts.a[0];
  // <<< skeleton
  // >>> solution
  const int odd = (t + 1) / 2 % 2 ^ static_cast<int>(second);  // terms 0, 3, 5, 6; or 1, 2, 4, 7
  const int term = k + 2 * t + odd, shift_b = odd ? shifts.b[1] : shifts.b[0];
#pragma unroll
  for (int i = 0; i < L::FRAGMENTS_M; ++i)
#pragma unroll
    for (int h = 0; h < 2; ++h) f.a[i][h] = stage.a[h][row / 2 + 8 * i + g][term + shifts.a[h]];
#pragma unroll
  for (int j = 0; j < L::FRAGMENTS_N; ++j)
    f.b[j][0] = stage.b[odd][term / 2][col + 8 * j + g + shift_b];
  // <<< solution
}

// ---- the loop

/// sums = this warp's part of a tile, over all its steps. Fragments are loaded four terms ahead of
/// their products. A place is empty once its last fragments have been multiplied.
template <typename L>
__device__ void multiply_steps(Sums<L>& sums, typename L::Shared& own, PlaceOf<L::STAGES>& place,
                               Shifts shifts, int row, int col, Steps steps) {
  if (steps.first == steps.end) return;
  Fragments<L> fragments[2];
  own.full[place.stage].wait(place.parity);
  load_fragments<L>(fragments[0], own.ring[place.stage], shifts, row, col, 0, false);
#pragma unroll 1
  for (int s = steps.first; s < steps.end; ++s) {
    const int now = place.stage;
#pragma unroll
    for (int k = 0; k < L::BK; k += MMA_K) {
      const int next = (k + MMA_K) % L::BK, i = next / MMA_K % 2;
      if (next == 0 && s + 1 < steps.end) {  // otherwise the first fragments again, unused
        place.advance();
        own.full[place.stage].wait(place.parity);
      }
      load_fragments<L>(fragments[i], own.ring[place.stage], shifts, row, col, next / 8 * 8, i > 0);
      multiply<L>(sums, fragments[1 - i]);
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) own.empty[now].arrive();
  }
  place.advance();
}

/// C = A * B, one (BM, BN) tile per cluster, whose blocks share the steps along K.
template <typename L>
__global__ void __launch_bounds__(L::THREADS, L::RESIDENT)
    fp64_kernel(const __grid_constant__ CUtensorMap a_even,
                const __grid_constant__ CUtensorMap a_odd,
                const __grid_constant__ CUtensorMap b_even,
                const __grid_constant__ CUtensorMap b_odd, MatrixView<double> c, Layout layout) {
  auto& shared = shared_of<L>();
  wait_for_last_launch();
  const int blocks = cluster_size(), warp = threadIdx.x / 32;
  const TileOrigin tile = tile_origin<L::BM, L::BN, 16>(blockIdx.x / blocks, c);
  const Steps steps = steps_of(cluster_rank(), blocks, (layout.depth + L::BK - 1) / L::BK);
  PlaceOf<L::STAGES> place;
  if (warp < L::WARPS) {
    take_registers<L>();
    const int row = warp / L::WARPS_N * L::WM, col = warp % L::WARPS_N * L::WN;
    Sums<L> sums = {};
    multiply_steps<L>(sums, shared, place, layout.shifts, row, col, steps);
    if (blocks == 1) {
      const bool aligned = rows_aligned(c);
      for_pairs<L>(sums, [&](int down, int right, double2 pair) {
        store_two(c, aligned, tile.row + row + down, tile.col + col + right, pair);
      });
    } else {  // the sums overwrite the ring: all warps must be done
      asm volatile("bar.sync 1, %0;" : : "n"(L::WARPS * 32) : "memory");
      for_pairs<L>(sums, [&](int down, int right, double2 pair) {
        *reinterpret_cast<double2*>(&shared.part[row + down][col + right]) = pair;
      });
    }
  } else {
    give_registers<L>();
    if (threadIdx.x == L::WARPS * 32)
      copy_steps<L>(shared, place, a_even, a_odd, b_even, b_odd, tile, steps, layout);
  }
  if (blocks > 1) add_parts<L>(shared.part, c, tile);
}

/// C = A * B with this tile size; a cluster of `splits` blocks computes each tile.
template <typename L>
void multiply(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c,
              int splits, cudaStream_t stream) {
  launch<L>(fp64_kernel<L>, every_other_row, a, b, c, splits, stream);
}

template <typename T>
void gemm_f64_any_row(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                      cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  multiply<Tile<64, 64, 32, 32, 3, 2>>(a, b, c, 1, stream);
}

// ---- 6.5.2: every shape

template <typename T, typename L>
constexpr Choice choice(float alone, float full) {
  return {L::BM, L::BN, L::RESIDENT, alone, full, multiply<L>};
}

/// Measured on an H200 (fp64-shapes.txt). A template, so that it is compiled only where it is used.
template <typename T>
const Choice table[] = {
    choice<T, Tile<128, 128, 64, 32, 3, 1>>(2.25f, 2.25f),
    choice<T, Tile<128, 64, 64, 32, 2, 2>>(1.38f, 2.33f),
    choice<T, Tile<96, 96, 48, 24, 4, 1>>(1.28f, 1.28f),
    choice<T, Tile<64, 64, 32, 32, 3, 2>>(0.73f, 1.23f),
    choice<T, Tile<32, 64, 16, 32, 2, 4>>(0.76f, 1.49f),
};

/// Estimates how many microseconds the product takes with this tile and `splits` blocks per tile.
inline float microseconds(const Choice& tile, int m, int n, int k, int splits, int processors) {
  // Microseconds for a launch; before and after a block's steps, per 64 x 64 of its tile; per
  // cluster, and per block in it.
  constexpr float LAUNCH = 3, BLOCK = 1, CLUSTER = 2, PART = 0.5f;
  // TODO(6.5.2) As in 6.4.3, with steps of 32 terms: LAUNCH, and the rounds of the busiest
  //             multiprocessor, of which the last may have fewer blocks. BLOCK is per 64 x 64
  //             elements of a tile.
  // >>> skeleton
  // return LAUNCH + BLOCK + CLUSTER + PART + 0 * (tile.bm + m + n + k + splits + processors);
  // <<< skeleton
  // >>> solution
  const int tiles = ceil_div(m, tile.bm) * ceil_div(n, tile.bn);
  const int blocks = ceil_div(tiles * splits, processors);
  const int rounds = blocks / tile.resident, rest = blocks % tile.resident;
  const float steps = static_cast<float>(ceil_div(ceil_div(k, 32), splits));
  const float around = BLOCK * tile.bm * tile.bn / (64 * 64);
  const float block = splits > 1 ? around + CLUSTER + splits * PART : around;
  const float time = LAUNCH + rounds * (block + steps * tile.full);
  if (rest == 0) return time;
  const float share = (rest - 1.0f) / max(1, tile.resident - 1);
  return time + block + steps * (tile.alone + (tile.full - tile.alone) * share);
  // <<< solution
}

/// The fastest combination of tile and number of splits.
struct Chosen {
  const Choice* tile;
  int splits;
};
template <typename T>
Chosen choose(int m, int n, int k) {
  const int processors = multiprocessors();
  Chosen best = {};
  float least = 0;
  for (const Choice& tile : table<T>)
    for (int splits = 1; splits == 1 || (splits <= 8 && (splits - 1) * 32 < k); splits *= 2) {
      // A cluster runs within a group of 16 or 18 multiprocessors, so some of these stay unused.
      const int usable = splits > 2 ? processors - processors / 7 : processors;
      const float time = microseconds(tile, m, n, k, splits, usable);
      if (!best.tile || time < least) best = {&tile, splits}, least = time;
    }
  return best;
}

template <typename T>
void gemm_f64_shapes(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                     cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  const Chosen best = choose<T>(c.rows, c.cols, a.cols);
  best.tile->multiply(a, b, c, best.splits, stream);
}

// ---- 6.5.3: stream-K

/// Finishes a piece of a tile. `sums` are this warp's, for its part at (row, col) of the tile. The
/// blocks that share a tile add their sums in pairs: in the first round rank 0 adds those of rank 1,
/// 2 those of 3 and so on; in the next 0 adds those of 2, 4 those of 6; until rank 0 has them all.
template <typename L>
__device__ void finish_piece(Sums<L>& sums, const Piece& piece, int block, const Handover& handover,
                             MatrixView<double> c, int row, int col) {
  // TODO(6.5.3) This block has rank piece.rank of piece.blocks; the next rank is block + 1. Call
  //             add_handed_over() for each block whose sums this one adds, round by round: it
  //             waits for them. Then rank 0 calls store_tile(), every other rank hand_over().
  // >>> skeleton
  // (void)sums, (void)piece, (void)block, (void)handover, (void)c, (void)row, (void)col;
  // <<< skeleton
  // >>> solution
  for (int step = 1; piece.rank % (2 * step) == 0 && piece.rank + step < piece.blocks; step *= 2)
    add_handed_over<L>(sums, handover, block + step);
  if (piece.rank > 0)
    hand_over<L>(handover, block, sums);
  else
    store_tile<L>(sums, piece.tile, c, row, col);
  // <<< solution
}

/// C = A * B. Blocks start in the order of blockIdx.x. The last one has the first share of the steps,
/// so a block waits only for blocks that have started before it.
template <typename L>
__global__ void __launch_bounds__(L::THREADS, L::RESIDENT)
    shares_kernel(const __grid_constant__ CUtensorMap a_even,
                  const __grid_constant__ CUtensorMap a_odd,
                  const __grid_constant__ CUtensorMap b_even,
                  const __grid_constant__ CUtensorMap b_odd, MatrixView<double> c, Layout layout,
                  Shares shares, Handover handover) {
  auto& shared = shared_of<L>();
  wait_for_last_launch();
  const int block = gridDim.x - 1 - blockIdx.x, warp = threadIdx.x / 32;
  PlaceOf<L::STAGES> place;
  if (warp < L::WARPS) {
    take_registers<L>();
    const int row = warp / L::WARPS_N * L::WM, col = warp % L::WARPS_N * L::WN;
#pragma unroll 1
    for (int step = 0; step < shares.steps_of(block);) {
      const Piece piece = shares.piece_at(block, step);
      Sums<L> sums = {};
      multiply_steps<L>(sums, shared, place, layout.shifts, row, col, piece.steps);
      finish_piece<L>(sums, piece, block, handover, c, row, col);
      step += piece.steps.count();
    }
  } else {
    give_registers<L>();
    if (threadIdx.x == L::WARPS * 32)
      copy_shares<L>(shared, place, a_even, a_odd, b_even, b_odd, c, layout, shares, block);
  }
}

/// C = A * B with this tile; `blocks` blocks share the steps of all tiles.
template <typename L>
void multiply_shares(MatrixView<const double> a, MatrixView<const double> b, MatrixView<double> c,
                     int blocks, cudaStream_t stream) {
  launch_shares<L>(shares_kernel<L>, every_other_row, a, b, c, blocks, stream);
}

template <typename T, typename L>
constexpr Choice shared_choice(float alone, float full) {
  return {L::BM, L::BN, L::RESIDENT, alone, full, multiply_shares<L>};
}

/// Measured like `table`.
template <typename T>
const Choice shared_table[] = {
    shared_choice<T, Tile<128, 128, 64, 32, 3, 1>>(2.25f, 2.25f),
    shared_choice<T, Tile<96, 96, 48, 24, 4, 1>>(1.28f, 1.28f),
    shared_choice<T, Tile<64, 64, 32, 32, 3, 2>>(0.73f, 1.23f),
};

/// The tile that takes the least time if its steps are shared.
template <typename T>
const Choice& choose_shared(int m, int n, int k) {
  const int processors = multiprocessors();
  const Choice* best = shared_table<T>;
  for (const Choice& tile : shared_table<T>)
    if (microseconds_shared(tile, m, n, k, processors) <
        microseconds_shared(*best, m, n, k, processors))
      best = &tile;
  return *best;
}

template <typename T>
void gemm_f64_stream_k(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                       cudaStream_t stream) {
  const int m = c.rows, n = c.cols, k = a.cols;
  if (m == 0 || n == 0 || k == 0) return gemm_f64_any_row(a, b, c, stream);  // no steps
  const Choice& tile = choose_shared<T>(m, n, k);
  tile.multiply(a, b, c, blocks_for(tile, m, n, k, multiprocessors()), stream);
}

/// True if sharing steps should be faster than whole tiles and clusters.
template <typename T>
bool better_shared(int m, int n, int k) {
  const int processors = multiprocessors();
  const Chosen whole = choose<T>(m, n, k);
  return k > 0 && microseconds_shared(choose_shared<T>(m, n, k), m, n, k, processors) <
                      microseconds(*whole.tile, m, n, k, whole.splits, processors);
}

/// The faster of 6.5.2 and 6.5.3.
template <typename T>
void gemm_f64(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, cudaStream_t stream) {
  if (better_shared<T>(c.rows, c.cols, a.cols))
    gemm_f64_stream_k(a, b, c, stream);
  else
    gemm_f64_shapes(a, b, c, stream);
}

// The kernel that tests 6.5:
#include "lab6_summit/given/fp64_checks.cuh"
