// Lab 5.3b and 5.3c: the pipeline of mma.cu in TF32 and FP64, on the tutorial's page "Fragments by
// hand", too. You will learn what changes when an element takes 4 or 8 bytes: ldmatrix cannot
// transpose it, lanes read elements themselves, and the swizzle depends on how they read.
#include "common/async_copy.cuh"
#include "common/matrix.hpp"
#include "common/mma_sync.cuh"
#include "lab5_tensor_core/given/launch.cuh"
#include "lab5_tensor_core/given/shape.cuh"

/// How many registers of A and B one mma takes from each lane, by the type in memory.
template <typename T>
struct Mma;
template <>
struct Mma<float> {  // TF32
  using Register = unsigned;
  static constexpr int A = 4, B = 2, ROWS_AT_ONCE = 8;  // rows that one phase of a read touches
};
template <>
struct Mma<double> {
  using Register = double;
  static constexpr int A = 2, B = 1, ROWS_AT_ONCE = 4;
};

/// (ROWS, COLS) elements, row-major, swizzled: the 16-byte chunks of a row change places. A read is
/// served 128 bytes at a time. For TF32 that is one chunk from each of eight rows; for FP64, which
/// lanes read 8 bytes at a time, two adjacent chunks from each of four rows.
template <typename T, int ROWS, int COLS>
struct Tile {
  static_assert(COLS % (8 * VEC<T>) == 0, "a row must go around the 32 banks, once or more often");
  T data[ROWS * COLS];

  /// The address of element (row, col).
  __device__ T* at(int row, int col) {
    constexpr int CHUNKS_AT_ONCE = 8 / Mma<T>::ROWS_AT_ONCE;
    const int chunk = col / VEC<T>, place = chunk ^ (row * CHUNKS_AT_ONCE % 8);
    return &data[row * COLS + place * VEC<T> + col % VEC<T>];
  }
};

/// Starts copying the part of m at (row0, col0) into the tile; zero where m has no element. If rows
/// are not aligned, each element has a copy of its own.
template <Matrices KNOWN, int THREADS, typename T, int ROWS, int COLS>
__device__ void copy_tile(Tile<T, ROWS, COLS>& tile, MatrixView<const T> m, int row0, int col0) {
  constexpr int ROW_CHUNKS = COLS / VEC<T>;
  constexpr int STEP = THREADS / ROW_CHUNKS;  // a thread copies one chunk of every STEP-th row
  static_assert(THREADS % ROW_CHUNKS == 0 && ROWS % STEP == 0, "as many chunks for every thread");
  const int row = threadIdx.x / ROW_CHUNKS, col = threadIdx.x % ROW_CHUNKS * VEC<T>;
  const int rows_left = m.rows - row0 - row, cols_left = m.cols - col0 - col;
  const int in_row = cols_left < 0 ? 0 : cols_left < VEC<T> ? cols_left : VEC<T>;  // of the chunk
  const int whole = row0 < m.rows && col0 < m.cols ? VEC<T> : 0;
  const T* from = &m(row0 + row, col0 + col);
  constexpr int AT_ONCE = KNOWN == Matrices::whole ? ROWS / STEP : 1;  // questions take registers
#pragma unroll AT_ONCE
  for (int i = 0; i < ROWS; i += STEP) {
    T* const to = tile.at(row + i, col);
    const int count = KNOWN == Matrices::whole ? whole : i < rows_left ? in_row : 0;
    if (KNOWN != Matrices::any) {
      copy16_async(to, from, count * sizeof(T));
    } else {
#pragma unroll
      for (int e = 0; e < VEC<T>; ++e) copy_element_async(&to[e], from + e, e < count);
    }
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

/// What a warp multiplies per MMA_K: (WM, MMA_K) of A and (MMA_K, WN) of B, in registers.
template <typename S, typename T>
struct Fragments {
  typename Mma<T>::Register a[S::FRAGMENTS_M][Mma<T>::A], b[S::FRAGMENTS_N][Mma<T>::B];
};

// ---- 5.3b.1: TF32

/// Which column of a warp's tile serves as column n of fragment j. Any order would do. In this one,
/// column n of four fragments are neighbours, so that a lane reads and stores four floats at once.
__device__ inline int tf32_column(int j, int n) {
  return j / 4 * 32 + (n / 2 + n % 2 * 4) * 4 + j % 4;
}

/// Loads the fragments at column k of A's tile and row k of B's, for the part of C at (row, col).
template <typename S>
__device__ void load_fragments(Fragments<S, float>& f, Stage<S, float>& stage, int row, int col,
                               int k) {
  static_assert(S::FRAGMENTS_N % 4 == 0, "16 bytes bring an element of four fragments each");
  const int lane = threadIdx.x % 32;
  // TODO(5.3b.1) f.a[i]: one ldmatrix, as in load_a of mma.cu. f.b[j] ... f.b[j + 3]: ldmatrix can
  //              only transpose 16-bit elements, so load 16 bytes yourself, which are b[r] of all
  //              four (see tf32_column). Round every register with round_to_tf32().
  // >>> skeleton
  // f = {};
  // f.a[0][0] = unwritten<unsigned>() + lane + row + col + k;
  // <<< skeleton
  // >>> solution
#pragma unroll
  for (int i = 0; i < S::FRAGMENTS_M; ++i) {
    ldmatrix(f.a[i], stage.a.at(row + i * MMA_M + lane % 16, k + lane / 16 * VEC<float>));
#pragma unroll
    for (int r = 0; r < Mma<float>::A; ++r) f.a[i][r] = round_to_tf32(f.a[i][r]);
  }
#pragma unroll
  for (int j = 0; j < S::FRAGMENTS_N; j += 4)
#pragma unroll
    for (int r = 0; r < Mma<float>::B; ++r) {
      const float* const first = stage.b.at(k + lane % 4 + r * 4, col + tf32_column(j, lane / 4));
      const uint4 four = *reinterpret_cast<const uint4*>(first);
      f.b[j][r] = round_to_tf32(four.x), f.b[j + 1][r] = round_to_tf32(four.y);
      f.b[j + 2][r] = round_to_tf32(four.z), f.b[j + 3][r] = round_to_tf32(four.w);
    }
  // <<< solution
}

// ---- 5.3c: FP64

/// The same in FP64.
template <typename S>
__device__ void load_fragments(Fragments<S, double>& f, Stage<S, double>& stage, int row, int col,
                               int k) {
  const int lane = threadIdx.x % 32;
  // TODO(5.3c) ldmatrix does not know 8-byte elements, so each lane loads its own: two for each
  //            fragment of A and one for each fragment of B. mma_sync.cuh says which.
  // >>> skeleton
  // f = {};
  // f.a[0][0] = unwritten<double>() + lane + row + col + k;
  // <<< skeleton
  // >>> solution
#pragma unroll
  for (int i = 0; i < S::FRAGMENTS_M; ++i)
#pragma unroll
    for (int r = 0; r < Mma<double>::A; ++r)
      f.a[i][r] = *stage.a.at(row + i * MMA_M + lane / 4 + r * 8, k + lane % 4);
#pragma unroll
  for (int j = 0; j < S::FRAGMENTS_N; ++j)
    f.b[j][0] = *stage.b.at(k + lane % 4, col + j * MMA_N + lane / 4);
  // <<< solution
}

// ---- sums

/// (WM, WN) sums of a warp. Fragment (i, j) is a (16, 8) part.
template <typename S, typename T>
using Sums = T[S::FRAGMENTS_M][S::FRAGMENTS_N][4];

/// sums += a * b. Odd rows go backwards, so that they begin with the fragment of B just used.
template <typename S, typename T>
__device__ void multiply(Sums<S, T>& sums, const Fragments<S, T>& f) {
#pragma unroll
  for (int i = 0; i < S::FRAGMENTS_M; ++i)
#pragma unroll
    for (int n = 0; n < S::FRAGMENTS_N; ++n) {
      const int j = i % 2 ? S::FRAGMENTS_N - 1 - n : n;
      mma_wide(sums[i][j], f.a[i], f.b[j]);
    }
}

/// Stores a warp's sums at (row0, col0) of C, 16 bytes at a time. TF32: d[e] of four fragments are
/// neighbours in a row of C.
template <bool WHOLE, int ROWS, int COLS>
__device__ void store_sums(const float (&sums)[ROWS][COLS][4], MatrixView<float> c, int row0,
                           int col0) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < ROWS; ++i)
#pragma unroll
    for (int j = 0; j < COLS; j += 4)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int row = i * MMA_M + lane / 4 + e / 2 * 8, n = lane % 4 * 2 + e % 2;
        alignas(16) const float four[] = {sums[i][j][e], sums[i][j + 1][e], sums[i][j + 2][e],
                                          sums[i][j + 3][e]};
        store_piece<WHOLE>(c, row0 + row, col0 + tf32_column(j, n), four);
      }
}
/// FP64: d[e] and d[e + 1] are neighbours.
template <bool WHOLE, int ROWS, int COLS>
__device__ void store_sums(const double (&sums)[ROWS][COLS][4], MatrixView<double> c, int row0,
                           int col0) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < ROWS; ++i)
#pragma unroll
    for (int j = 0; j < COLS; ++j)
#pragma unroll
      for (int e = 0; e < 4; e += 2) {
        const int row = i * MMA_M + lane / 4 + e / 2 * 8, col = j * MMA_N + lane % 4 * 2;
        alignas(16) const double two[] = {sums[i][j][e], sums[i][j][e + 1]};
        store_piece<WHOLE>(c, row0 + row, col0 + col, two);
      }
}

template <typename S, typename T>
__device__ void store_tile(const Sums<S, T>& sums, MatrixView<T> c, int row0, int col0) {
  const bool whole = blockIdx.y * S::BM + S::BM <= c.rows && blockIdx.x * S::BN + S::BN <= c.cols;
  if (whole && rows_aligned(c))
    store_sums<true>(sums, c, row0, col0);
  else
    store_sums<false>(sums, c, row0, col0);
}

// ---- 5.3b: the pipeline

/// C = A * B, one (BM, BN) tile of C per block, as in mma.cu: a ring of STAGES pairs of tiles.
/// While one is multiplied, copies of the others are in flight. Fragments are loaded MMA_K ahead.
template <Matrices KNOWN, typename S, typename T>
__global__ void __launch_bounds__(S::THREADS)
    mma_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
#if GEMM_LAB_TENSOR_CORES
  extern __shared__ __align__(128) unsigned char memory[];
  auto* const ring = reinterpret_cast<Stage<S, T>*>(memory);  // (STAGES) pairs of tiles
  const int row0 = blockIdx.y * S::BM, col0 = blockIdx.x * S::BN, warp = threadIdx.x / 32;
  const int row = warp / S::WARPS_N * S::WM, col = warp % S::WARPS_N * S::WN;  // in that tile
  Sums<S, T> sums = {};  // (WM, WN), in fragments
  Fragments<S, T>
      fragments[2];  // (WM, MMA_K) and (MMA_K, WN): one is multiplied, the other being loaded
  // TODO(5.3b) Copy your loop of 5.3. The functions that it calls have the same names here.
  // >>> skeleton
  // (void)ring;
  // sums[0][0][0] = fragments[0].a[0][0] = unwritten<int>();
  // <<< skeleton
  // >>> solution
  for (int s = 0; s < S::STAGES - 1; ++s) copy_stage<KNOWN>(ring[s], a, b, row0, col0, s * S::BK);
  wait_for_copies<S::STAGES - 2>();  // mine of step 0 have arrived
  __syncthreads();                   // everybody's
  load_fragments(fragments[0], ring[0], row, col, 0);
  int now = 0, free = S::STAGES - 1;  // the places of this step, and of the one before it
#pragma unroll 1
  for (int k0 = 0; k0 < a.cols; k0 += S::BK) {
    const int next = now + 1 < S::STAGES ? now + 1 : 0;
#pragma unroll
    for (int k = 0; k < S::K_STEPS; ++k) {
      if (k + 1 < S::K_STEPS) {
        load_fragments(fragments[(k + 1) % 2], ring[now], row, col, (k + 1) * S::MMA_K);
      } else {
        wait_for_copies<S::STAGES - 2>();  // mine of the next step have arrived
        __syncthreads();  // everybody's; and nobody reads this step's tiles any more
        load_fragments(fragments[0], ring[next], row, col, 0);
      }
      if (k == 0) copy_stage<KNOWN>(ring[free], a, b, row0, col0, k0 + (S::STAGES - 1) * S::BK);
      multiply(sums, fragments[k % 2]);
    }
    free = now;
    now = next;
  }
  // <<< solution
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

/// 5.3b. Three pairs of tiles, 48 KiB each, if a block can have that much, else two.
template <typename In, typename Out>
void gemm_mma_tf32(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                   cudaStream_t stream) {
  if (shared_memory_per_block() >= 144 << 10)
    launch_mma<Shape<In, 128, 256, 64, 64, 3>>(a, b, c, stream);
  else
    launch_mma<Shape<In, 128, 256, 64, 64, 2>>(a, b, c, stream);
}

/// 5.3c. Smaller tiles: a double takes two registers.
template <typename In, typename Out>
void gemm_mma_f64(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                  cudaStream_t stream) {
  launch_mma<Shape<In, 128, 64, 64, 32, 3>>(a, b, c, stream);
}

// The rung of 5.3b.1:
#include "lab5_tensor_core/given/step_by_step.cuh"
template <typename In, typename Out>
void gemm_tf32_step_by_step(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                            cudaStream_t stream) {
  gemm_step_by_step(a, b, c, stream);
}
