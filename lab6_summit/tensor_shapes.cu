// Lab 6, 6.4.1 to 6.4.5: tensor cores at every shape. The tutorial's page of that name explains
// each TODO (and "three products" 6.4.5). You will learn to realign rows so that TMA can read them,
// to let the blocks of a cluster share a tile and add its sums through their shared memory, to
// choose tile and cluster by estimated time, to feed TF32 from registers, and to split FP32 on the
// way to tensor cores.
#include "common/matrix.hpp"
#include "lab6_summit/given/three_shapes.cuh"

// ---- 6.4.1: rows that begin anywhere

constexpr int PIECES = 2, REALIGN_THREADS = 128;  // 16-byte pieces per thread

/// Copies a.from to a.to and b.from to b.to, row by row, REALIGN_THREADS * PIECES pieces per block.
/// 16 blocks are all the threads that a multiprocessor has room for: many loads in flight.
template <typename T>
__global__ void __launch_bounds__(REALIGN_THREADS, 16) realign(Realigned<T> a, Realigned<T> b) {
  constexpr int V = VEC<T>;  // elements of a piece
  let_next_launch_begin(), wait_for_last_launch();
  for (int r = blockIdx.y; r < a.from.rows + b.from.rows; r += gridDim.y) {
    const auto [from, to, cols] = row_of(a, b, r);
    // How many elements after a multiple of 16 bytes the row begins.
    const int shift = reinterpret_cast<std::size_t>(from) % 16 / sizeof(T);
    const int col0 = (blockIdx.x * REALIGN_THREADS * PIECES + threadIdx.x) * V;
    constexpr int STEP = REALIGN_THREADS * V;  // from one piece of a thread to its next
    Piece pieces[PIECES] = {};
    // TODO(6.4.1) Fill pieces[i] with the elements at columns col0 + i * STEP and following: with
    //             two aligned loads of 16 bytes and take_shifted() (one load if shift is 0), or
    //             with take_elements() where such a load would reach outside the row.
    pieces[0].words[0] = unwritten<unsigned>() + shift + col0 + cols + STEP;
#pragma unroll
    for (int i = 0; i < PIECES; ++i)
      if (const int col = col0 + i * STEP; col < cols) store_piece(to + col, pieces[i]);
  }
}

/// Which of A and B are copied: at least those that TMA cannot read, because their rows do not
/// begin at multiples of 16 bytes.
struct Copies {
  bool a, b;
};
template <typename T>
Copies copies_needed(MatrixView<const T> a, MatrixView<const T> b) {
  return {!rows_aligned(a), !rows_aligned(b)};
}

/// A and B, or copies of them, which a single launch makes.
template <typename T>
class ReadyForTma {
 public:
  ReadyForTma(MatrixView<const T> a, MatrixView<const T> b, Copies copies, cudaStream_t stream)
      : a_(a), b_(b), memory_(stream) {
    if (!copies.a && !copies.b) return;
    const int ld_a = whole_lines(a), ld_b = whole_lines(b);
    const std::size_t count_a = copies.a ? static_cast<std::size_t>(a.rows) * ld_a : 0;
    const std::size_t count_b = copies.b ? static_cast<std::size_t>(b.rows) * ld_b : 0;
    T* const data = memory_.allocate(count_a + count_b);
    Realigned<T> of_a = {}, of_b = {};
    if (copies.a) of_a = {a, {data, a.rows, a.cols, ld_a}}, a_ = of_a.to;
    if (copies.b) of_b = {b, {data + count_a, b.rows, b.cols, ld_b}}, b_ = of_b.to;
    const int rows = of_a.from.rows + of_b.from.rows, widest = max(of_a.to.ld, of_b.to.ld);
    const dim3 grid(ceil_div(widest, REALIGN_THREADS * PIECES * VEC<T>), min(rows, 65535));
    launch_early(realign<T>, grid, REALIGN_THREADS, 0, 1, stream, of_a, of_b);
  }
  MatrixView<const T> a() const { return a_; }
  MatrixView<const T> b() const { return b_; }

 private:
  MatrixView<const T> a_, b_;
  StreamMemory<T> memory_;
};

// ---- 6.4.2: a tile by a cluster

/// C = the sum of all blocks' `part`s of one tile, from block 0 on: the same result in every run.
template <typename L>
__device__ void add_parts(const float (&part)[L::BM][L::LD], MatrixView<float> c, TileOrigin tile) {
  const int rank = cluster_rank(), blocks = cluster_size();
  constexpr int ACROSS = L::BN / 4;  // a row is stored four columns at a time
  // TODO(6.4.2) sync_cluster(): then all parts are stored. Each block adds and stores its share of
  //             the BM rows: load_from(block, &part[row][col]) of all blocks in order, store_four()
  //             of the sum. No block may exit while another one still reads its memory.
  const float sum = unwritten<float>() + rank + blocks + ACROSS + part[0][0];
  store_four(c, tile.row, tile.col, {sum, 0, 0, 0});
}

/// C = A * B: cluster i computes the (BM, BN) tiles i, i + clusters, ... Its blocks share the steps
/// along K. A cluster of several blocks computes one tile only.
template <typename L>
__global__ void __launch_bounds__(L::THREADS, L::RESIDENT)
    shape_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 MatrixView<float> c, int depth) {
  auto& shared = shared_of<L>();
  wait_for_last_launch();
  const int blocks = cluster_size(), cluster = blockIdx.x / blocks, warp = threadIdx.x / 32;
  const Steps steps = steps_of(cluster_rank(), blocks, (depth + L::BK - 1) / L::BK);
  PlaceOf<L::STAGES> place;
  if (warp < L::WARPS) {
    take_registers<L>();
    for (int n = cluster; n < tile_count<L::BM, L::BN>(c); n += gridDim.x / blocks) {
      float sums[L::SUMS];
      make_sums<L>(sums, shared, place, steps);
      if (blocks == 1)
        store_tile<L>(sums, shared, c, tile_origin<L::BM, L::BN>(n, c));
      else
        keep_tile<L>(sums, shared);
    }
  } else {
    leave_registers<L>();
    for (int n = cluster; n < tile_count<L::BM, L::BN>(c); n += gridDim.x / blocks)
      if (threadIdx.x == L::WARPS * 32)
        copy_steps<L>(shared, place, a, b, tile_origin<L::BM, L::BN>(n, c), steps);
  }
  if (blocks > 1) add_parts<L>(shared.part, c, tile_origin<L::BM, L::BN>(cluster, c));
}

/// C = A * B with this tile size; a cluster of `splits` blocks computes each tile.
template <typename L>
void multiply(MatrixView<const typename L::T> a, MatrixView<const typename L::T> b,
              MatrixView<float> c, int splits, cudaStream_t stream) {
  launch<L>(shape_kernel<L>, a, b, c, splits, stream, a.cols);
}

/// Sets C to 0 if K = 0, which TMA cannot handle. Returns true if nothing is left to do.
inline bool nothing_to_add(int depth, MatrixView<float> c, cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return true;
  if (depth > 0) return false;
  const std::size_t row = c.cols * sizeof(float), pitch = c.ld * sizeof(float);
  CUDA_CHECK(cudaMemset2DAsync(c.data, pitch, 0, row, c.rows, stream));
  return true;
}

/// The largest cluster (a power of 2) with which all tiles run at once and every block has a step.
template <typename L>
int splits_for(MatrixView<float> c, int depth) {
  const int tiles = tile_count<L::BM, L::BN>(c), steps = ceil_div(depth, L::BK);
  int splits = 1;
  while (splits < 8 && 2 * splits <= steps && 2 * splits * tiles <= multiprocessors()) splits *= 2;
  return splits;
}

template <typename In, typename Out>
void gemm_cluster(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                  cudaStream_t stream) {
  if (nothing_to_add(a.cols, c, stream)) return;
  using L = Tile<In, 64, 64, 3>;
  const ReadyForTma<In> ready(a, b, copies_needed(a, b), stream);
  multiply<L>(ready.a(), ready.b(), c, splits_for<L>(c, a.cols), stream);
}

// ---- 6.4.3: every shape

/// A tile, and how long a multiprocessor of an H200 takes for a step of 64 terms of all its blocks,
/// in microseconds: `alone` with one block, `full` with as many as fit, which are `resident`.
/// `off_lines`: as a factor, if rows of A or B do not begin at cache lines, of 128 bytes.
template <typename T>
struct Choice {
  int bm, bn, resident;
  float alone, full, off_lines;
  void (*multiply)(MatrixView<const T>, MatrixView<const T>, MatrixView<float>, int, cudaStream_t);
};

template <typename L>
constexpr Choice<typename L::T> choice(float alone, float full, float off_lines,
                                       decltype(Choice<typename L::T>::multiply) by = multiply<L>) {
  return {L::BM, L::BN, L::RESIDENT, alone, full, off_lines, by};
}

/// From products whose blocks ran in one or two rounds on an H200:
/// docs/results/h200/tensor-shapes.txt. off_lines is from the end of tuning-lab-6.txt.
template <typename T, int BYTES = sizeof(T)>
const Choice<T> table[7] = {
    choice<Tile<T, 128, 256, 1>>(0.71f, 0.71f, 1.25f),
    choice<Tile<T, 128, 192, 1>>(0.54f, 0.54f, 1.35f),
    choice<Tile<T, 128, 128, 1>>(0.36f, 0.36f, 1.5f),
    choice<Tile<T, 64, 128, 2>>(0.25f, 0.44f, 1.9f),
    choice<Tile<T, 128, 64, 2>>(0.25f, 0.48f, 1.9f),
    choice<Tile<T, 64, 64, 2>>(0.19f, 0.31f, 1.9f),
    choice<Tile<T, 64, 64, 3>>(0.20f, 0.42f, 1.9f),
};

/// In TF32, a tensor core makes half as many products at a time. off_lines as above.
template <typename T>
const Choice<T> table<T, 4>[6] = {
    choice<Tile<T, 256, 128, 1>>(1.42f, 1.42f, 1.25f),
    choice<Tile<T, 192, 128, 1>>(1.12f, 1.12f, 1.35f),
    choice<Tile<T, 128, 128, 1>>(0.74f, 0.74f, 1.5f),
    choice<Tile<T, 128, 64, 2>>(0.55f, 1.06f, 1.9f),
    choice<Tile<T, 64, 128, 2>>(0.55f, 1.06f, 1.9f),
    choice<Tile<T, 64, 64, 3>>(0.37f, 0.95f, 1.9f),
};

/// Estimates how many microseconds the product takes with this tile and `splits` blocks per tile.
template <typename T>
float microseconds(const Choice<T>& tile, int m, int n, int k, int splits, int processors) {
  // Microseconds for a launch; before and after a block's steps; per cluster, and per block in it.
  constexpr float LAUNCH = 2, BLOCK = 1.5f, CLUSTER = 0.5f, PART = 1.1f;
  // TODO(6.4.3) Return LAUNCH plus the time of the busiest multiprocessor. How many blocks does it
  //             get, in how many rounds of `resident`? A step takes `full` in a full round, between
  //             `alone` and `full` in the last one. Each round also takes BLOCK and, with more than
  //             one split, CLUSTER + splits * PART.
  return LAUNCH + BLOCK + CLUSTER + PART + 0 * (tile.bm + m + n + k + splits + processors);
}

/// Blocks that run at once, as a fraction of those that there is room for.
template <typename T>
float share_of_rooms(const Choice<T>& tile, int m, int n, int splits, int processors) {
  const int blocks = ceil_div(m, tile.bm) * ceil_div(n, tile.bn) * splits;
  return min(1.0f, static_cast<float>(blocks) / (tile.resident * processors));
}

/// The time to copy, in microseconds: a launch, and 3.5 MB read or written per microsecond.
template <typename T>
float microseconds_of(Copies copies, MatrixView<const T> a, MatrixView<const T> b) {
  const float of_a = copies.a ? static_cast<float>(a.rows) * a.cols : 0;
  const float of_b = copies.b ? static_cast<float>(b.rows) * b.cols : 0;
  return copies.a || copies.b ? 3 + 2 * sizeof(T) * (of_a + of_b) / 3.5e6f : 0;
}

/// The fastest combination of tile, number of splits and copies.
template <typename T>
struct Chosen {
  const Choice<T>* tile;
  int splits;
  Copies copies;
};
template <typename T, int COUNT>
Chosen<T> choose(MatrixView<const T> a, MatrixView<const T> b, const Choice<T> (&tiles)[COUNT]) {
  const int processors = multiprocessors();
  const Copies needed = copies_needed(a, b), off_lines = {!rows_at_lines(a), !rows_at_lines(b)};
  Chosen<T> best = {};
  float least = 0;
  for (int all_copied = 0; all_copied < 2; ++all_copied) {
    const Copies copies = {needed.a || (all_copied && off_lines.a),
                           needed.b || (all_copied && off_lines.b)};
    const bool slow = (off_lines.a && !copies.a) || (off_lines.b && !copies.b);
    for (const Choice<T>& tile : tiles)
      for (int splits = 1; splits <= 8 && (splits - 1) * 64 < a.cols; splits *= 2) {
        const float share = share_of_rooms(tile, a.rows, b.cols, splits, processors);
        const float time = microseconds(tile, a.rows, b.cols, a.cols, splits, processors) *
                               (slow ? 1 + (tile.off_lines - 1) * share : 1) +
                           microseconds_of(copies, a, b);
        if (!best.tile || time < least) best = {&tile, splits, copies}, least = time;
      }
  }
  return best;
}

/// C = A * B with the best of these tiles.
template <typename T, int COUNT>
void multiply_by_best(MatrixView<const T> a, MatrixView<const T> b, MatrixView<float> c,
                      const Choice<T> (&tiles)[COUNT], cudaStream_t stream) {
  if (nothing_to_add(a.cols, c, stream)) return;
  const Chosen<T> best = choose(a, b, tiles);
  const ReadyForTma<T> ready(a, b, best.copies, stream);
  best.tile->multiply(ready.a(), ready.b(), c, best.splits, stream);
}

template <typename In, typename Out>
void gemm_tensor_shapes(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                        cudaStream_t stream) {
  multiply_by_best(a, b, c, table<In>, stream);
}

// ---- 6.4.4: TF32

/// Loads what this lane holds of the first factor, from column k0 on: FRAGMENTS fragments of (16,
/// 8), one after the other along k. Of each: rows g and g + 8 at column t = lane % 4, then both at
/// column t + 4.
template <typename L, int FRAGMENTS>
__device__ void load_rows(unsigned (&rows)[FRAGMENTS][4], const typename L::Stage& stage, int k0) {
  const int col = column_of_b(), t = threadIdx.x % 4;
  // TODO(6.4.4) Load columns col and col + 1 of B's rows k0 + t, k0 + t + 4, ... (they become rows
  //             g and g + 8), two adjacent floats at a time. They are in box col / 32, swizzled by
  //             TMA: chunk c of row k, 16 bytes, is in the place of chunk c ^ (k % 8).
  rows[0][0] = unwritten<unsigned>() + __float_as_uint(stage.b[col / 32][k0 + t][0]);
}

/// Starts the products of half a step, beginning at column k0.
template <typename L, int FRAGMENTS, int COUNT>
__device__ void start_half(float (&sums)[COUNT], const unsigned (&rows)[FRAGMENTS][4],
                           const typename L::Stage& stage, int k0) {
  wgmma_fence(sums);
#pragma unroll
  for (int i = 0; i < FRAGMENTS; ++i) wgmma(sums, rows[i], descriptor(&stage.a[0][k0 + i * 8]));
  wgmma_commit();
}

/// sums = this warp's columns of a tile, over all its steps. While tensor cores multiply one half
/// of a step, the fragments of the next half are loaded.
template <typename L, int COUNT>
__device__ void multiply_transposed(float (&sums)[COUNT], typename L::Shared& own,
                                    PlaceOf<L::STAGES>& place, Steps steps) {
  constexpr int HALF = L::BK / 2;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) sums[i] = 0;
  unsigned first[HALF / 8][4], second[HALF / 8][4];
  if (steps.first < steps.end) {
    own.full[place.stage].wait(place.parity);
    load_rows<L>(first, own.ring[place.stage], 0);
  }
  for (int t = steps.first; t < steps.end; ++t) {
    const int now = place.stage;
    const auto& stage = own.ring[now];
    start_half<L>(sums, first, stage, 0);
    load_rows<L>(second, stage, HALF);
    start_half<L>(sums, second, stage, HALF);
    wgmma_wait_but_one();
    place.advance();
    if (t + 1 < steps.end) {
      own.full[place.stage].wait(place.parity);
      load_rows<L>(first, own.ring[place.stage], 0);
    }
    wgmma_wait(sums);
    if (threadIdx.x % 32 == 0) own.empty[now].arrive();
  }
}

/// Float in memory, TF32 in the tensor cores.
template <typename In, typename Out>
void gemm_tf32_shapes(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                      cudaStream_t stream) {
  gemm_tensor_shapes(a, b, c, stream);
}

// ---- 6.4.5: three products

/// What a tensor core would ignore of x, rounded to TF32.
__device__ inline float left_out(float x) {
  const float rest = x - __uint_as_float(__float_as_uint(x) & 0xffffe000u);
  return __uint_as_float(round_to_tf32(__float_as_uint(rest)));
}

/// Computes the small parts of A, step by step. `thread` numbers those of the SPLITTERS warps.
template <typename L>
__device__ void split_steps(typename L::Shared& own, PlaceOf<L::STAGES>& place, Steps steps,
                            int thread) {
  for (int t = steps.first; t < steps.end; ++t, place.advance()) {
    auto& stage = own.ring[place.stage];
    own.full[place.stage].wait(place.parity);
    for_pieces<L>(stage, thread, [](float x) { return left_out(x); });
    fence_for_tensor_cores();
    __syncwarp();
    if (thread % 32 == 0) own.split[place.stage].arrive();
  }
}

/// sums = this warp's columns of a tile, over all its steps, by three products.
template <typename L, int COUNT>
__device__ void multiply_three(float (&sums)[COUNT], typename L::Shared& own,
                               PlaceOf<L::STAGES>& place, Steps steps) {
  constexpr int FRAGMENTS = L::BK / 8;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) sums[i] = 0;
  for (int t = steps.first; t < steps.end; ++t, place.advance()) {
    const auto& stage = own.ring[place.stage];
    unsigned big[FRAGMENTS][4], small[FRAGMENTS][4];
    float step[COUNT] = {};  // the sums of these terms only
    // TODO(6.4.5) Wait for `full`, load_rows() of B and split them as in 6.3.3. Wait for `split`:
    //             now A's parts are in stage.a (big) and stage.small. Make three products per
    //             fragment, small ones first, and wait. Then arrive at `empty`, and add `step` to
    //             `sums`.
    load_rows<L>(big, stage, 0), load_rows<L>(small, stage, 0);
    sums[0] += unwritten<float>() + step[0];
  }
}

/// C = A * B, like shape_kernel. What is not finite is computed again from whole_a and whole_b.
template <typename L>
__global__ void __launch_bounds__(L::THREADS, L::RESIDENT)
    three_shapes_kernel(const __grid_constant__ CUtensorMap a,
                        const __grid_constant__ CUtensorMap b, MatrixView<float> c,
                        MatrixView<const float> whole_a, MatrixView<const float> whole_b) {
  auto& shared = shared_of<L>();
  wait_for_last_launch();
  const int blocks = cluster_size(), cluster = blockIdx.x / blocks, warp = threadIdx.x / 32;
  const Steps steps = steps_of(cluster_rank(), blocks, (whole_a.cols + L::BK - 1) / L::BK);
  PlaceOf<L::STAGES> place;
  const auto for_tiles = [&](auto act) {
    for (int n = cluster; n < tile_count<L::BM, L::BN>(c); n += gridDim.x / blocks)
      act(tile_origin<L::BM, L::BN>(n, c));
  };
  if (warp < L::WARPS) {
    take_registers<L>();
    for_tiles([&](TileOrigin tile) {
      float sums[L::SUMS];
      multiply_three<L>(sums, shared, place, steps);
      if (blocks > 1) return keep_columns<L>(sums, shared);
      store_columns<L>(sums, shared, c, tile);
      repair_columns(sums, whole_a, whole_b, c, tile);
    });
  } else {
    leave_registers<L>();
    if (warp > L::WARPS) {
      const int thread = threadIdx.x - (L::WARPS + 1) * 32;
      for_tiles([&](TileOrigin) { split_steps<L>(shared, place, steps, thread); });
    } else if (threadIdx.x % 32 == 0) {
      for_tiles([&](TileOrigin tile) { copy_steps<L>(shared, place, a, b, tile, steps); });
    }
  }
  if (blocks == 1) return;
  const TileOrigin tile = tile_origin<L::BM, L::BN>(cluster, c);
  add_parts<L>(shared.part, c, tile);
  repair_rows<L>(whole_a, whole_b, c, tile);
}

template <typename L>
void multiply_as_three(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c,
                       int splits, cudaStream_t stream) {
  launch<L>(three_shapes_kernel<L>, a, b, c, splits, stream, a, b);
}
template <typename T, typename L>
constexpr Choice<T> choice_of_three(float alone, float full, float off_lines) {
  return choice<L>(alone, full, off_lines, multiply_as_three<L>);
}

/// Fitted to a measurement on an H100; an H200 confirms it: docs/results/h200/three-products.txt.
template <typename T>
const Choice<T> table_of_three[4] = {
    choice_of_three<T, ThreeTile<128, 128, 1>>(2.30f, 2.30f, 1.25f),
    choice_of_three<T, ThreeTile<64, 128, 1>>(1.25f, 1.25f, 1.5f),
    choice_of_three<T, ThreeTile<128, 64, 1>>(1.65f, 1.65f, 1.5f),
    choice_of_three<T, ThreeTile<64, 64, 2>>(0.95f, 1.45f, 1.9f),
};

/// FP32 accuracy at every shape.
template <typename T>
void gemm_three_shapes(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                       cudaStream_t stream) {
  multiply_by_best(a, b, c, table_of_three<T>, stream);
}

// The kernel that tests 6.4.1:
#include "lab6_summit/given/realign_checks.cuh"
