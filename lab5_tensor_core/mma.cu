// Lab 5.3: tensor cores by hand, for FP16 and BF16. You will learn where a warp's registers hold a
// matrix, how a swizzle keeps its shared tile free of bank conflicts, and how to multiply one pair
// of tiles while the copies of the next ones are on their way.
#include "common/matrix.hpp"
#include "lab5_tensor_core/given/async_copy.cuh"
#include "lab5_tensor_core/given/launch.cuh"
#include "lab5_tensor_core/given/mma_sync.cuh"
#include "lab5_tensor_core/given/shape.cuh"

constexpr int CHUNK = 8;  // elements of 2 bytes in 16 bytes

// ---- 5.3.1: a tile in shared memory

/// (ROWS, COLS) elements of 2 bytes, row-major, swizzled: the 16-byte chunks of a row change places,
/// so that the same chunk of eight rows lies in eight different groups of four banks.
template <typename T, int ROWS, int COLS>
struct Tile {
  static_assert(COLS % (8 * CHUNK) == 0, "a row must go around the 32 banks, once or more often");
  T data[ROWS * COLS];

  /// Where element (row, col) is.
  __device__ T* at(int row, int col) {
    const int chunk = col / CHUNK;
    // TODO(5.3.1) Rows begin in the same bank. At which place of its row does this chunk lie, if
    //             eight rows are to have it at eight different ones? An xor with the row does it.
    const int place = unwritten<int>() + chunk;
    return &data[row * COLS + place * CHUNK + col % CHUNK];
  }
  /// The chunk that begins there, read as a lane of ldmatrix reads it.
  __device__ uint4 chunk_at(int row, int col) {
    return *reinterpret_cast<const uint4*>(at(row, col));
  }
};

/// Begins to copy the part of m at (row0, col0) into the tile; zero where m has no element. Without
/// aligned rows it arrives at once, element by element.
template <Matrices KNOWN, int THREADS, typename T, int ROWS, int COLS>
__device__ void copy_tile(Tile<T, ROWS, COLS>& tile, MatrixView<const T> m, int row0, int col0) {
  constexpr int ROW_CHUNKS = COLS / CHUNK;
  constexpr int STEP = THREADS / ROW_CHUNKS;  // a thread copies one chunk of every STEP-th row
  static_assert(THREADS % ROW_CHUNKS == 0 && ROWS % STEP == 0, "as many chunks for every thread");
  const int row = threadIdx.x / ROW_CHUNKS, col = threadIdx.x % ROW_CHUNKS * CHUNK;
  const int rows_left = m.rows - row0 - row, cols_left = m.cols - col0 - col;
  const int in_row = cols_left < 0 ? 0 : cols_left < CHUNK ? cols_left : CHUNK;  // of the chunk
  const int whole = row0 < m.rows && col0 < m.cols ? CHUNK : 0;
  const T* from = &m(row0 + row, col0 + col);
  constexpr int AT_ONCE = KNOWN == Matrices::any ? 1 : ROWS / STEP;  // gather: many registers
#pragma unroll AT_ONCE
  for (int i = 0; i < ROWS; i += STEP) {
    T* const to = tile.at(row + i, col);
    const int count = KNOWN == Matrices::whole ? whole : i < rows_left ? in_row : 0;
    if (KNOWN == Matrices::any)
      *reinterpret_cast<uint4*>(to) = gather(from, count);
    else
      copy16_async(to, from, count * sizeof(T));
    from += static_cast<std::ptrdiff_t>(STEP) * m.ld;
  }
}

/// The two tiles of one step along K.
template <typename S, typename T>
struct Stage {
  Tile<T, S::BM, S::BK> a;  // (BM, BK), row-major, swizzled
  Tile<T, S::BK, S::BN> b;  // (BK, BN), row-major, swizzled
};

/// Begins to copy the step along K at k0 for the block's tile of C at (row0, col0), as one group.
template <Matrices KNOWN, typename S, typename T>
__device__ void copy_stage(Stage<S, T>& stage, MatrixView<const T> a, MatrixView<const T> b,
                           int row0, int col0, int k0) {
  copy_tile<KNOWN, S::THREADS>(stage.a, a, row0, k0);
  copy_tile<KNOWN, S::THREADS>(stage.b, b, k0, col0);
  commit_copies();
}

// ---- 5.3.2 and 5.3.4: fragments of A and B

/// a: the (16, 16) part of A's tile at (row, k).
template <typename T, int ROWS, int COLS>
__device__ void load_a(unsigned (&a)[4], Tile<T, ROWS, COLS>& tile, int row, int k) {
  const int lane = threadIdx.x % 32;
  // TODO(5.3.2) One ldmatrix. Which 8 x 8 matrix is a[0], a[1], ...? Which row does this lane name?
  a[0] = unwritten<unsigned>() + lane + row + k;
}

/// b and next: the (16, 8) parts of B's tile at (k, col) and (k, col + 8).
template <typename T, int ROWS, int COLS>
__device__ void load_b(unsigned (&b)[2], unsigned (&next)[2], Tile<T, ROWS, COLS>& tile, int k,
                       int col) {
  const int lane = threadIdx.x % 32;
  // TODO(5.3.4) One ldmatrix brings all four registers. The rows of the tile have neighbours along
  //             n, a register of B has neighbours along k.
  b[0] = next[0] = unwritten<unsigned>() + lane + k + col;
}

/// What a warp multiplies at once: (WM, 16) of A and (16, WN) of B, in registers.
template <typename S, typename T>
struct Fragments {
  unsigned a[S::FRAGMENTS_M][4], b[S::FRAGMENTS_N][2];
};

/// The fragments at column k of a's tile and row k of b's, for the part of C at (row, col).
template <typename S, typename T>
__device__ void load_fragments(Fragments<S, T>& f, Stage<S, T>& stage, int row, int col, int k) {
#pragma unroll
  for (int i = 0; i < S::FRAGMENTS_M; ++i) load_a(f.a[i], stage.a, row + i * MMA_M, k);
#pragma unroll
  for (int j = 0; j < S::FRAGMENTS_N; j += 2)
    load_b(f.b[j], f.b[j + 1], stage.b, k, col + j * MMA_N);
}

/// (WM, WN) sums of a warp. Fragment (i, j) is the (16, 8) part at (i * 16, j * 8).
template <typename S, typename Out>
using Sums = Out[S::FRAGMENTS_M][S::FRAGMENTS_N][4];

/// sums += a * b. Odd rows go backwards, so that they begin with the fragment of B just used.
template <typename S, typename T>
__device__ void multiply(Sums<S, float>& sums, const Fragments<S, T>& f) {
#pragma unroll
  for (int i = 0; i < S::FRAGMENTS_M; ++i)
#pragma unroll
    for (int n = 0; n < S::FRAGMENTS_N; ++n) {
      const int j = i % 2 ? S::FRAGMENTS_N - 1 - n : n;
      mma<T>(sums[i][j], f.a[i], f.b[j]);
    }
}

// ---- 5.3.3: where the sums lie

struct Place {
  int row, col;
};

/// Where this lane's d[e] lies in its (16, 8) fragment of C.
__device__ inline Place place_of_sum(int e) {
  const int lane = threadIdx.x % 32;
  // TODO(5.3.3) See the table in mma_sync.cuh.
  return {unwritten<int>() + lane, e};
}

/// Stores a warp's sums at (row0, col0) of C, as far as C exists. WHOLE: all of it does, in rows
/// that begin at multiples of 16 bytes.
template <bool WHOLE, int FRAGMENTS_M, int FRAGMENTS_N>
__device__ void store_sums(const float (&sums)[FRAGMENTS_M][FRAGMENTS_N][4], MatrixView<float> c,
                           int row0, int col0) {
  const int odd = threadIdx.x % 2;
#pragma unroll
  for (int i = 0; i < FRAGMENTS_M; ++i)
#pragma unroll
    for (int j = 0; j < FRAGMENTS_N; j += 2)
#pragma unroll
      for (int e = 0; e < 4; e += 2) {
        const Place place = place_of_sum(e);
        alignas(16) float four[] = {sums[i][j][e], sums[i][j][e + 1],  //
                                    sums[i][j + 1][e], sums[i][j + 1][e + 1]};
        trade_neighbours(four);  // an odd lane now has four of fragment j + 1
        store_piece<WHOLE>(c, row0 + i * MMA_M + place.row,
                           col0 + (j + odd) * MMA_N + place.col / 4 * 4, four);
      }
}

template <typename S>
__device__ void store_tile(const Sums<S, float>& sums, MatrixView<float> c, int row0, int col0) {
  const bool whole = blockIdx.y * S::BM + S::BM <= c.rows && blockIdx.x * S::BN + S::BN <= c.cols;
  if (whole && rows_aligned(c))
    store_sums<true>(sums, c, row0, col0);
  else
    store_sums<false>(sums, c, row0, col0);
}

// ---- 5.3: a pipeline of tiles

/// C = A * B, one (BM, BN) tile of C per block. STAGES pairs of tiles in a ring: while one is multiplied, the copies of the
/// next STAGES - 1 are on their way. Fragments are loaded 16 k ahead of their products.
template <Matrices KNOWN, typename S, typename T>
__global__ void __launch_bounds__(S::THREADS)
    mma_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<float> c) {
#if GEMM_LAB_TENSOR_CORES
  extern __shared__ __align__(128) unsigned char memory[];
  auto* const ring = reinterpret_cast<Stage<S, T>*>(memory);  // (STAGES) pairs of tiles
  const int row0 = blockIdx.y * S::BM, col0 = blockIdx.x * S::BN, warp = threadIdx.x / 32;
  const int row = warp / S::WARPS_N * S::WM, col = warp % S::WARPS_N * S::WN;  // in that tile
  Sums<S, float> sums = {};      // (WM, WN), in fragments
  Fragments<S, T> fragments[2];  // (WM, 16) and (16, WN): one is multiplied, the other being loaded
  // TODO(5.3) Begin the copies of STAGES - 1 steps, wait for the first one's, load its first
  //           fragments. Then for each step and each of its K_STEPS: load the next fragments,
  //           multiply these. At the first k, begin another copy in the place that has become
  //           free. Before the next fragments come from the next tiles, wait until these have
  //           arrived: mine, then everybody's. That is one barrier a step: which place may be
  //           overwritten after it? Steps beyond the last may be copied: they are zeros.
  (void)ring;
  sums[0][0][0] = fragments[0].a[0][0] = unwritten<int>();
  store_tile<S>(sums, c, row0 + row, col0 + col);
#endif
}

// ---- launchers

template <typename S, typename In, typename Out>
void launch_mma(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                cudaStream_t stream) {
  launch<S, In, Out>({mma_kernel<Matrices::whole, S, In>, mma_kernel<Matrices::aligned, S, In>,
                      mma_kernel<Matrices::any, S, In>},
                     S::STAGES * sizeof(Stage<S, In>), a, b, c, stream);
}

/// Three pairs of tiles of 48 KiB where a block may have them (data-centre GPUs), else two.
template <typename In, typename Out>
void gemm_mma(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
              cudaStream_t stream) {
  if (shared_memory_per_block() >= 144 << 10)
    launch_mma<Shape<In, 128, 256, 64, 64, 3>>(a, b, c, stream);
  else
    launch_mma<Shape<In, 128, 256, 64, 64, 2>>(a, b, c, stream);
}

// Rungs of 5.3.1 to 5.3.4, which try the parts above one by one:
#include "lab5_tensor_core/given/mma_round_trips.cuh"
#include "lab5_tensor_core/given/step_by_step.cuh"
