// Lab 6, the summit: FP32 at every size. The tutorial's page on lab 6 explains each TODO.
//
// You will learn to fill the GPU when C has too few tiles, to split a sum along K so that the
// result is the same in every run, to copy rows that begin anywhere in pieces as wide as possible,
// and to choose the tile and the split by their estimated cost.
#include "common/matrix.hpp"
#include "lab6_summit/given/multiprocessors.cuh"
#include "lab6_summit/given/pipeline.cuh"

// ---- 6.0: the loop of 4.4

template <bool INSIDE, typename Copies, typename S>
__device__ void multiply_part(float (&sums)[S::TM][S::TN], Stage<S>* ring,
                              MatrixView<const float> a, MatrixView<const float> b, Part part,
                              int row, int col) {
  const int steps = (part.k_end - part.k0 + S::BK - 1) / S::BK;
  Fragments<S> fragments[2];                // one is multiplied while the other is loaded
  const auto copy_stage = [&](int place) {  // starts the copies of one more step, as one group
    copy_a<INSIDE>(ring[place], a, part);
    Copies::template copy_b<INSIDE>(ring[place], b, part);
    commit_copies();
    part.k0 += S::BK;
  };
  // TODO(6.0) Your loop of 4.4 over `steps` steps, with copy_stage(place), wait_for_copies<n>(),
  //           load_fragments() and add_products(): copies run STAGES - 1 steps ahead, the next
  //           fragments are loaded while the current ones are multiplied, and there is one barrier
  //           per step. Copying beyond the last step does no harm: elements beyond k_end are zeros.
  // >>> skeleton
  // copy_stage(0);
  // sums[0][0] = fragments[0].a[0] = unwritten<float>() + steps + row + col;
  // <<< skeleton
  // >>> solution
#pragma unroll 1
  for (int s = 0; s < S::STAGES - 1; ++s) copy_stage(s);
  wait_for_copies<S::STAGES - 2>();  // my copies of step 0 have arrived
  __syncthreads();                   // and everybody else's
  load_fragments(fragments[0], ring[0], row, col, 0);
  int now = 0, free = S::STAGES - 1;  // the places of this step and of the previous one
  // A block alone on its multiprocessor has registers for a round of the ring in each pass of the
  // loop. Then places are constants: 1.5 % fewer instructions. At which k of a step the copies of
  // another one start was chosen by measurement, for either kind of loop.
  constexpr int TURNS = S::RESIDENT == 1 ? S::STAGES : 1;
#pragma unroll 1
  for (int s = 0; s < steps; s += TURNS)
#pragma unroll
    for (int turn = 0; turn < TURNS; ++turn) {
      if (TURNS > 1) now = turn, free = (turn + S::STAGES - 1) % S::STAGES;
      const int next = now + 1 < S::STAGES ? now + 1 : 0;
#pragma unroll
      for (int k = 0; k < S::BK; ++k) {
        if (k == (TURNS > 1 ? 1 : 3)) copy_stage(free);  // 2 % faster than with k == 0
        if (k + 1 < S::BK) {
          load_fragments(fragments[(k + 1) % 2], ring[now], row, col, k + 1);
        } else {
          wait_for_copies<S::STAGES - 2>();  // my copies of the next step have arrived
          __syncthreads();  // and everybody else's; nobody reads this step's tiles any more
          load_fragments(fragments[0], ring[next], row, col, 0);
        }
        add_products(sums, fragments[k % 2]);
      }
      free = now, now = next;
    }
  // <<< solution
}

/// One tile of C per block: tile blockIdx.x, counted row by row. If there are few, the GPU idles.
template <bool INSIDE, typename S>
__global__ void __launch_bounds__(S::THREADS, S::RESIDENT)
    tile_kernel(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c) {
  const int across = (b.cols + S::BN - 1) / S::BN;
  const int row0 = blockIdx.x / across * S::BM, col0 = blockIdx.x % across * S::BN;
  make_part<INSIDE, FloatByFloat, S>(a, b, c, {row0, col0, 0, a.cols});
}

/// One tile for all shapes; 6.2 has others.
using OneTile = Shape<128, 128, 16, 64, 32, 3, 2>;

template <typename T>
void gemm_unsplit(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                  cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  using S = OneTile;
  const bool inside = c.rows >= S::BM && c.cols >= S::BN;
  const auto kernel = inside ? tile_kernel<true, S> : tile_kernel<false, S>;
  constexpr int BYTES = S::STAGES * sizeof(Stage<S>);
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
  const int tiles = ceil_div(c.rows, S::BM) * ceil_div(c.cols, S::BN);
  kernel<<<tiles, S::THREADS, BYTES, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 6.1: split along K

/// Partial sums of C in scratch memory: `splits` matrices like C, one after the other.
struct Partials {
  float* data;
  int rows, cols, ld;  ///< of each
  int splits;

  GEMM_LAB_HOST_DEVICE std::size_t elements() const { return static_cast<std::size_t>(rows) * ld; }
  GEMM_LAB_HOST_DEVICE MatrixView<float> operator[](int split) const {
    return {data + split * elements(), rows, cols, ld};
  }
};

/// How a product is divided along K: `splits` blocks share a tile of C. Each sums `depth` terms,
/// the last one possibly fewer.
struct Split {
  int depth, splits;
};

/// Each block computes a tile of one of the matrices of partial sums (or of C, if there is no
/// split): tile blockIdx.x, counted row by row, of split blockIdx.y.
template <bool INSIDE, typename Copies, typename S>
__global__ void __launch_bounds__(S::THREADS, S::RESIDENT)
    part_kernel(MatrixView<const float> a, MatrixView<const float> b, Partials sums, int depth) {
  const int across = (b.cols + S::BN - 1) / S::BN;
  const int row0 = blockIdx.x / across * S::BM, col0 = blockIdx.x % across * S::BN;
  // TODO(6.1) Compute k0 and k_end, this block's range of K: `depth` terms per split, fewer in the
  //           last one. Then call make_part<INSIDE, Copies, S>() with row0, col0 and that range.
  //           Which of the matrices sums[0], sums[1], ... do its results go to?
  // >>> skeleton
  // sums[0](row0, col0) = unwritten<float>() + depth;
  // <<< skeleton
  // >>> solution
  const int k0 = blockIdx.y * depth, k_end = min(k0 + depth, a.cols);
  make_part<INSIDE, Copies, S>(a, b, sums[blockIdx.y], {row0, col0, k0, k_end});
  // <<< solution
}

/// C = the sum of all partial sums, added in the order of the splits: the same result in every run.
__global__ void add_partials(Partials sums, MatrixView<float> c) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x, row = n / c.cols, col = n % c.cols;
  if (row >= c.rows) return;
  float sum = 0;
#pragma unroll 8
  for (int s = 0; s < sums.splits; ++s) sum += sums[s](row, col);
  c(row, col) = sum;
}

/// How many terms each block of a tile sums, and how many blocks share a tile, if there are `tiles`
/// tiles, `blocks` blocks run at the same time, and a block handles `step` terms per step.
inline Split split_for(int tiles, int k, int step, int blocks) {
  const int steps = max(1, ceil_div(k, step)), wanted = min(max(1, blocks / tiles), steps);
  const int depth = ceil_div(steps, wanted) * step;
  return {depth, max(1, ceil_div(k, depth))};
}

/// C = A * B by part_kernel and, if there is more than one split, add_partials.
template <typename Copies, typename S>
void multiply_split(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c,
                    Split split, cudaStream_t stream) {
  const bool inside = c.rows >= S::BM && c.cols >= S::BN;
  const auto kernel = inside ? part_kernel<true, Copies, S> : part_kernel<false, Copies, S>;
  constexpr int BYTES = S::STAGES * sizeof(Stage<S>);
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
  const dim3 grid(ceil_div(c.rows, S::BM) * ceil_div(c.cols, S::BN), split.splits);
  Partials sums = {c.data, c.rows, c.cols, c.ld, split.splits};
  StreamMemory<float> memory(stream);
  if (split.splits > 1) {
    sums.ld = ceil_div(c.cols, V) * V;
    sums.data = memory.allocate(sums.elements() * split.splits);
  }
  kernel<<<grid, S::THREADS, BYTES, stream>>>(a, b, sums, split.depth);
  CUDA_CHECK_LAUNCH();
  if (split.splits == 1) return;
  add_partials<<<ceil_div(c.rows * c.cols, 128), 128, 0, stream>>>(sums, c);
  CUDA_CHECK_LAUNCH();
}

/// Uses as many splits as there are free places for blocks.
template <typename Copies>
void multiply_with(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c,
                   cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  using S = OneTile;
  const int tiles = ceil_div(c.rows, S::BM) * ceil_div(c.cols, S::BN);
  const Split split = split_for(tiles, a.cols, S::BK, S::RESIDENT * multiprocessors());
  multiply_split<Copies, S>(a, b, c, split, stream);
}

template <typename T>
void gemm_split_k(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                  cudaStream_t stream) {
  multiply_with<FloatByFloat>(a, b, c, stream);
}

// ---- 6.2.1: rows that begin anywhere

/// Starts copying B's tile of a step. Rows of b begin and end at multiples of WIDTH floats.
template <int WIDTH>
struct Wide {
  template <bool INSIDE, typename S>
  __device__ static void copy_b(Stage<S>& stage, MatrixView<const float> b, const Part& part) {
    constexpr int PIECES = S::BN / WIDTH, LANES = PIECES < WARP ? PIECES : WARP;  // of a row
    constexpr int STEP = S::THREADS / LANES;  // rows that all threads copy at once
    // TODO(6.2.1) Like FloatByFloat::copy_b, with pieces: LANES adjacent threads copy adjacent
    //             pieces of a row by copy_async<WIDTH>(), whose count is WIDTH, or 0 outside B.
    // >>> skeleton
    // stage.b[0][0] = unwritten<float>() + STEP + part.k0 + b.ld;
    // <<< skeleton
    // >>> solution
    const int r = threadIdx.x / LANES, col = threadIdx.x % LANES * WIDTH;
#pragma unroll
    for (int i = 0; i < S::BK; i += STEP) {
      if (STEP > S::BK && r >= S::BK) break;  // more threads than pieces
      const float* const from = &b(part.k0 + r + i, part.col0 + col);
      const bool exists = part.k0 + r + i < part.k_end;
#pragma unroll
      for (int j = 0; j < S::BN; j += LANES * WIDTH) {
        const bool inside = INSIDE || part.col0 + col + j < b.cols;
        copy_async<WIDTH>(&stage.b[r + i][col + j], from + j, exists && inside ? WIDTH : 0);
      }
    }
    // <<< solution
  }
};

/// The widest copy (4, 2 or 1 floats) that every row of m consists of, each aligned to its size.
inline int widest_copy(MatrixView<const float> m) {
  for (int width = V; width > 1; width /= 2) {
    const bool first = reinterpret_cast<std::size_t>(m.data) % (width * sizeof(float)) == 0;
    if (first && m.ld % width == 0 && m.cols % width == 0) return width;
  }
  return 1;
}

template <typename T>
void gemm_any_row(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                  cudaStream_t stream) {
  const int width = widest_copy(b);
  if (width == 4) return multiply_with<Wide<4>>(a, b, c, stream);
  if (width == 2) return multiply_with<Wide<2>>(a, b, c, stream);
  multiply_with<Wide<1>>(a, b, c, stream);
}

// ---- 6.2: every shape

/// A tile, and the multiply-adds per cycle that it reaches on a multiprocessor of an H200 (peak:
/// 128): `alone` with one block there, `full` with as many as fit, which are `resident`.
struct Choice {
  int bm, bn, bk, resident;
  float alone, full;
  void (*multiply)(MatrixView<const float>, MatrixView<const float>, MatrixView<float>, Split,
                   cudaStream_t);
};

template <typename Copies, typename S>
constexpr Choice choice(float alone, float full) {
  return {S::BM, S::BN, S::BK, S::RESIDENT, alone, full, multiply_split<Copies, S>};
}

// TODO(6.2) Fill the table: a few of the tiles measured on the tutorial's page, for large and for
//           thin C. cycles(): LAUNCH plus the cycles of the busiest multiprocessor. How many blocks
//           does it get, in how many rounds of `resident`? A full round makes `full` multiply-adds
//           per cycle, one block `alone`; in between, interpolate. A round also takes BLOCK. With
//           splits, add a LAUNCH, and the time to store and load m * n floats per split.
// >>> skeleton
// template <typename Copies>
// const Choice table[] = {choice<Copies, Shape<128, 256, 8, 64, 64, 3, 1>>(102, 102)};
// /// Cycles of a launch, and around a block's loop; floats of partial sums moved per cycle.
// constexpr float LAUNCH = 6000, BLOCK = 2500, FLOATS = 400;
// /// Estimates the product's cycles with this tile and split on `processors` multiprocessors.
// inline float cycles(const Choice& tile, int m, int n, int k, Split split, int processors) {
//   return LAUNCH + BLOCK + FLOATS + 0 * (tile.bm + m + n + k + split.depth + processors);
// }
// <<< skeleton
// >>> solution
template <typename Copies>
const Choice table[] = {
    choice<Copies, Shape<128, 256, 8, 64, 64, 2, 1>>(102, 102),
    choice<Copies, Shape<128, 64, 8, 64, 32, 4, 4>>(75, 87),
    choice<Copies, Shape<96, 128, 8, 48, 64, 4, 3>>(81, 93),
    choice<Copies, Shape<64, 256, 8, 32, 64, 4, 2>>(96, 97),
    choice<Copies, Shape<32, 256, 16, 32, 64, 4, 3>>(83, 94),
    choice<Copies, Shape<32, 128, 16, 32, 32, 4, 4>>(70, 83),
    choice<Copies, Shape<32, 64, 32, 16, 32, 4, 4>>(62, 75),
};

/// Cycles of a launch, and around a block's loop; floats of partial sums moved per cycle.
constexpr float LAUNCH = 6000, BLOCK = 2500, FLOATS = 400;

/// Estimates the product's cycles with this tile and split on `processors` multiprocessors.
inline float cycles(const Choice& tile, int m, int n, int k, Split split, int processors) {
  const int tiles = ceil_div(m, tile.bm) * ceil_div(n, tile.bn);
  const int blocks = ceil_div(tiles * split.splits, processors);
  const int rounds = blocks / tile.resident, rest = blocks % tile.resident;
  const float products = static_cast<float>(tile.bm * tile.bn) * split.depth;
  float sum = LAUNCH + rounds * (BLOCK + tile.resident * products / tile.full);
  if (rest > 0) {
    const float share = (rest - 1.0f) / max(1, tile.resident - 1);
    sum += BLOCK + rest * products / (tile.alone + (tile.full - tile.alone) * share);
  }
  if (split.splits > 1) sum += LAUNCH + 2.0f * split.splits * m * n / FLOATS;
  return sum;
}
// <<< solution

/// How a product is computed, and at what cost. No product costs nothing.
struct Plan {
  const Choice* tile = nullptr;
  Split split = {};
  float cost = 0;
};

/// The tile and split with the lowest cost. A product waits for the one before: one more LAUNCH. It
/// tries one block per tile, and the splits that give every multiprocessor 1, 2, 3 ... blocks.
template <typename Copies>
Plan cheapest(int m, int n, int k, int processors) {
  Plan best;
  if (m == 0 || n == 0) return best;
  for (const Choice& tile : table<Copies>)
    for (int blocks = 0; blocks <= 4 * tile.resident; ++blocks) {
      const int tiles = ceil_div(m, tile.bm) * ceil_div(n, tile.bn);
      const Split split = split_for(tiles, k, tile.bk, blocks * processors);
      const bool inside = m >= tile.bm && n >= tile.bn;  // else the loop checks bounds, 20 % slower
      const float cost = LAUNCH + cycles(tile, m, n, k, split, processors) * (inside ? 1 : 1.2f);
      if (!best.tile || cost < best.cost) best = {&tile, split, cost};
    }
  return best;
}

/// C in up to three products: rows x cols of it, the rows below, and the columns beside both.
struct Cut {
  int rows, cols;
  Plan corner, below, beside;

  float cost() const { return corner.cost + below.cost + beside.cost; }
};

/// The rows and columns after the last whole tile may be cheaper as products of their own: at 2049
/// one row and one column would cost another row and another column of tiles.
template <typename Copies>
void multiply_by_table(MatrixView<const float> a, MatrixView<const float> b, MatrixView<float> c,
                       cudaStream_t stream) {
  const int processors = multiprocessors(), m = c.rows, n = c.cols, k = a.cols;
  const auto plan = [&](int rows, int cols) { return cheapest<Copies>(rows, cols, k, processors); };
  Cut best = {m, n, plan(m, n), {}, {}};
  if (best.cost() > 40 * LAUNCH)  // else choosing takes the CPU longer than the GPU would save
    for (const int rows : {m, m / 128 * 128})  // whole tiles of 128 x 256
      for (const int cols : {n, n / 256 * 256}) {
        const Cut other = {rows, cols, plan(rows, cols), plan(m - rows, cols), plan(m, n - cols)};
        if (other.cost() < best.cost()) best = other;
      }
  const auto multiply = [&](const Plan& part, int row, int col, int rows, int cols) {
    if (part.tile)
      part.tile->multiply({&a(row, 0), rows, k, a.ld}, {&b(0, col), k, cols, b.ld},
                          {&c(row, col), rows, cols, c.ld}, part.split, stream);
  };
  multiply(best.corner, 0, 0, best.rows, best.cols);
  multiply(best.below, best.rows, 0, m - best.rows, best.cols);
  multiply(best.beside, 0, best.cols, m, n - best.cols);
}

template <typename T>
void gemm_every_shape(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                      cudaStream_t stream) {
  if (widest_copy(b) == V) return multiply_by_table<Wide<V>>(a, b, c, stream);
  multiply_by_table<FloatByFloat>(a, b, c, stream);
}
