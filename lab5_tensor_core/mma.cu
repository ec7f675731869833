// Lab 5.3: tensor cores by hand, in FP16 and BF16; the tutorial's page "Fragments by hand" explains
// each TODO. You will learn which lane holds which element of a matrix, how a swizzle avoids bank
// conflicts in a shared tile, and how to copy the next tiles while the current ones are multiplied.
#include "common/async_copy.cuh"
#include "common/matrix.hpp"
#include "common/mma_sync.cuh"
#include "lab5_tensor_core/given/launch.cuh"
#include "lab5_tensor_core/given/shape.cuh"

constexpr int CHUNK = 8;  // elements of 2 bytes in 16 bytes

// ---- 5.3.1: a tile in shared memory

/// (ROWS, COLS) elements of 2 bytes, row-major, swizzled: the 16-byte chunks of a row change places
/// so that chunk c of eight consecutive rows lies in eight different groups of four banks.
template <typename T, int ROWS, int COLS>
struct Tile {
  static_assert(COLS % (8 * CHUNK) == 0, "a row must go around the 32 banks, once or more often");
  T data[ROWS * COLS];

  /// The address of element (row, col).
  __device__ T* at(int row, int col) {
    const int chunk = col / CHUNK;
    // TODO(5.3.1) All rows begin in the same bank. Compute the place of this chunk in its row, so
    //             that chunk c of eight rows gets eight different places. Use xor with the row.
    const int place = unwritten<int>() + chunk;
    return &data[row * COLS + place * CHUNK + col % CHUNK];
  }
  /// The chunk that begins there, read as a lane of ldmatrix would read it.
  __device__ uint4 chunk_at(int row, int col) {
    return *reinterpret_cast<const uint4*>(at(row, col));
  }
};

/// Starts copying the part of m at (row0, col0) into the tile; zero where m has no element. If rows
/// are not aligned, it copies element by element, and has finished when it returns.
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

/// Starts copying the step along K at k0 for the block's tile of C at (row0, col0), as one group.
template <Matrices KNOWN, typename S, typename T>
__device__ void copy_stage(Stage<S, T>& stage, MatrixView<const T> a, MatrixView<const T> b,
                           int row0, int col0, int k0) {
  copy_tile<KNOWN, S::THREADS>(stage.a, a, row0, k0);
  copy_tile<KNOWN, S::THREADS>(stage.b, b, k0, col0);
  commit_copies();
}

// ---- 5.3.2 and 5.3.4: fragments of A and B

/// Loads a, the (16, 16) part of A's tile at (row, k).
template <typename T, int ROWS, int COLS>
__device__ void load_a(unsigned (&a)[4], Tile<T, ROWS, COLS>& tile, int row, int k) {
  const int lane = threadIdx.x % 32;
  // TODO(5.3.2) One ldmatrix(a, address). Which 8 x 8 part of the fragment belongs in a[0], a[1],
  //             ... (see mma_sync.cuh)? That tells you which row's address this lane has to pass.
  a[0] = unwritten<unsigned>() + lane + row + k;
}

/// Loads b and next, the (16, 8) parts of B's tile at (k, col) and (k, col + 8).
template <typename T, int ROWS, int COLS>
__device__ void load_b(unsigned (&b)[2], unsigned (&next)[2], Tile<T, ROWS, COLS>& tile, int k,
                       int col) {
  const int lane = threadIdx.x % 32;
  // TODO(5.3.4) One ldmatrix loads all four registers. But rows of the tile run along n, while a
  //             register of B holds neighbours along k: which ldmatrix is it? Fill b and next.
  b[0] = next[0] = unwritten<unsigned>() + lane + k + col;
}

/// What a warp multiplies per 16 k: (WM, 16) of A and (16, WN) of B, in registers.
template <typename S, typename T>
struct Fragments {
  unsigned a[S::FRAGMENTS_M][4], b[S::FRAGMENTS_N][2];
};

/// Loads the fragments at column k of A's tile and row k of B's, for the part of C at (row, col).
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

// ---- 5.3.3: where the sums live

struct Place {
  int row, col;
};

/// Where this lane's d[e] lies in its (16, 8) fragment of C.
__device__ inline Place place_of_sum(int e) {
  const int lane = threadIdx.x % 32;
  // TODO(5.3.3) Return the row and column of d[e]: the table in mma_sync.cuh has them.
  return {unwritten<int>() + lane, e};
}

/// Stores a warp's sums at (row0, col0) of C, where C has these elements. WHOLE: it has all of
/// them, in rows that begin at multiples of 16 bytes.
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

/// C = A * B, one (BM, BN) tile of C per block. A ring holds STAGES pairs of tiles: while one is
/// being multiplied, copies of the next STAGES - 1 are in flight. Fragments are loaded 16 k ahead.
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
  // TODO(5.3) First copy_stage() for STAGES - 1 steps, wait for step 0, load its first fragments.
  //           Then, for every step and each of its K_STEPS: load the next fragments, and multiply()
  //           the current ones. At k = 0, also start copying another step into the free place.
  //           At the last k, first wait for the next tiles: your own copies, then everybody's.
  //           Those tiles hold the next fragments. One barrier per step is enough: which place may
  //           be overwritten after it? Steps beyond the last may be copied: they are zeros.
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

/// Three pairs of tiles, 48 KiB each, if a block can have that much (data-centre GPUs), else two.
template <typename In, typename Out>
void gemm_mma(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
              cudaStream_t stream) {
  if (shared_memory_per_block() >= 144 << 10)
    launch_mma<Shape<In, 128, 256, 64, 64, 3>>(a, b, c, stream);
  else
    launch_mma<Shape<In, 128, 256, 64, 64, 2>>(a, b, c, stream);
}

// The rungs of 5.3.1 to 5.3.4, which test the functions above one at a time:
#include "lab5_tensor_core/given/mma_round_trips.cuh"
#include "lab5_tensor_core/given/step_by_step.cuh"
