// Lab 4: shared memory at full width.
//
// You will learn to predict bank conflicts and to remove them, to move 16 bytes per instruction
// where alignment allows it, to lay out the lanes of a warp so that they share what they read, and
// to copy the next tiles while this one is being multiplied.
#include <cuda_runtime.h>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"

constexpr int ceil_div(int n, int d) {
  return (n + d - 1) / d;
}

// ---- 4.1: see the conflict

/// A BM x BN tile of C per block of 8 warps. A warp has 32 x 16 elements of it: its lanes are 8
/// rows of 4, each with 4 x 4 elements, 8 rows and 4 columns apart. Right, and slower than lab 2's
/// kernel without shared memory.
template <int BM, int BN, int BK, typename In, typename Out>
__global__ void __launch_bounds__(256)
    column_walk_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c) {
  static_assert(BM == 64 && BN == 64, "eight warps of 32 x 16 elements must cover the tile");
  static_assert(BK == 32, "one lane fetches one column of a_tile");
  // TODO(4.1) Predict (below), then remove the conflict: another layout, padding, or a swizzle.
  // >>> skeleton
  // __shared__ In a_tile[BM][BK], b_tile[BK][BN];
  // <<< skeleton
  // >>> solution
  __shared__ In a_tile[BM][BK + 1], b_tile[BK][BN];  // each row begins one bank further
  // <<< solution
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int row = warp / 4 * 32 + lane / 4, col = warp % 4 * 16 + lane % 4;
  Out acc[4][4] = {};
  for (int k0 = 0; k0 < a.cols; k0 += BK) {
    for (int r = warp; r < BM; r += 8)
      a_tile[r][lane] = row0 + r < a.rows && k0 + lane < a.cols ? a(row0 + r, k0 + lane) : In(0);
    for (int k = warp; k < BK; k += 8)
      for (int j = lane; j < BN; j += 32)
        b_tile[k][j] = k0 + k < b.rows && col0 + j < b.cols ? b(k0 + k, col0 + j) : In(0);
    __syncthreads();
#pragma unroll 1  // so that what you read here is what the hardware does
    for (int k = 0; k < BK; ++k) {
      In a_k[4], b_k[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) a_k[i] = a_tile[row + 8 * i][k];
#pragma unroll
      for (int j = 0; j < 4; ++j) b_k[j] = b_tile[k][col + 4 * j];
#pragma unroll
      for (int i = 0; i < 16; ++i) acc[i / 4][i % 4] += a_k[i / 4] * b_k[i % 4];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int r = row0 + row + i / 4 * 8, j = col0 + col + i % 4 * 4;
    if (r < c.rows && j < c.cols) c(r, j) = acc[i / 4][i % 4];
  }
}

/// How many wavefronts one warp's read of a_tile takes in the kernel as given, in float: "1" to
/// "32".
const char* predicted_wavefronts() {
  // TODO(4.1) Which words do lanes 0, 4, 8, ... read at once? In which of the 32 banks do they lie?
  // >>> skeleton
  // return "";
  // <<< skeleton
  // >>> solution
  return "8";
  // <<< solution
}

template <typename In, typename Out>
void gemm_column_walk(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                      cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int BM = 64, BN = 64, BK = 32;
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  column_walk_kernel<BM, BN, BK><<<grid, 256, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 4.2: 16 bytes per access

template <typename T>
struct VecOf;
template <>
struct VecOf<int> {
  using type = int4;
};
template <>
struct VecOf<float> {
  using type = float4;
};
template <>
struct VecOf<double> {
  using type = double2;
};

/// How many elements make 16 bytes.
template <typename T>
constexpr int VEC = 16 / sizeof(T);

/// Moves VEC neighbours by one load and one store. Where `from` or `to` is memory and not an array
/// in registers, its address must be a multiple of 16.
template <typename T>
__device__ void move16(T* to, const T* from) {
  using Vec = typename VecOf<T>::type;
  *reinterpret_cast<Vec*>(to) = *reinterpret_cast<const Vec*>(from);
}

/// True if every row of m begins at a multiple of 16 bytes.
template <typename T>
__device__ bool rows_aligned(MatrixView<T> m) {
  return reinterpret_cast<std::size_t>(m.data) % 16 == 0 && m.ld % VEC<T> == 0;
}

/// The VEC elements of m at (row, col ...), with col a multiple of VEC. What lies outside of m
/// becomes zero. `wide`: the rows of m are aligned.
template <typename T>
__device__ void load_piece(T (&piece)[VEC<T>], MatrixView<const T> m, int row, int col, bool wide) {
  // TODO(4.2) One move of 16 bytes if it may be: aligned, and all of it inside. Otherwise one by
  //           one.
  // >>> solution
  if (wide && row < m.rows && col + VEC<T> <= m.cols) {
    move16(piece, &m(row, col));
  } else {
#pragma unroll
    for (int e = 0; e < VEC<T>; ++e)
      piece[e] = row < m.rows && col + e < m.cols ? m(row, col + e) : T(0);
  }
  // <<< solution
}

/// Fetches the ROWS x COLS part of m at (row0, col0); tile[r][k] has element (r, k).
template <int THREADS, int ROWS, int COLS, int PITCH, typename T>
__device__ void fetch_tile(T (&tile)[ROWS][PITCH], MatrixView<const T> m, int row0, int col0,
                           bool wide) {
  constexpr int PIECES = COLS / VEC<T>;  // per row
  static_assert(ROWS * PIECES % THREADS == 0, "every thread must fetch the same number of pieces");
#pragma unroll
  for (int i = 0; i < ROWS * PIECES / THREADS; ++i) {
    const int p = threadIdx.x + i * THREADS, r = p / PIECES, k = p % PIECES * VEC<T>;
    alignas(16) T piece[VEC<T>] = {};
    load_piece(piece, m, row0 + r, col0 + k, wide);
    move16(&tile[r][k], piece);
  }
}

/// As fetch_tile, but transposed on the way: tile[k][r] has element (r, k). A thread stores the
/// elements of its piece one by one, each into another row of the tile.
template <int THREADS, int ROWS, int COLS, int PITCH, typename T>
__device__ void fetch_transposed(T (&tile)[COLS][PITCH], MatrixView<const T> m, int row0, int col0,
                                 bool wide) {
  constexpr int PIECES = COLS / VEC<T>;
  static_assert(ROWS * PIECES % THREADS == 0, "every thread must fetch the same number of pieces");
  static_assert(PITCH >= ROWS, "a row of the transposed tile must hold a column of the part");
  // TODO(4.2) As fetch_tile; only the place of the elements differs.
  // >>> solution
#pragma unroll
  for (int i = 0; i < ROWS * PIECES / THREADS; ++i) {
    const int p = threadIdx.x + i * THREADS, r = p / PIECES, k = p % PIECES * VEC<T>;
    alignas(16) T piece[VEC<T>] = {};
    load_piece(piece, m, row0 + r, col0 + k, wide);
#pragma unroll
    for (int e = 0; e < VEC<T>; ++e) tile[k + e][r] = piece[e];
  }
  // <<< solution
}

/// acc += a_tile * b_tile for the calling thread's TM rows and TN columns. They come in pieces of
/// VEC neighbours: rows row, row + 1, ... then row + ROW_STEP, ..., and columns alike. a_tile is
/// transposed, so that the rows of a piece are neighbours in memory.
template <int ROW_STEP, int COL_STEP, int TM, int TN, int BK, int PITCH_A, int PITCH_B, typename In,
          typename Out>
__device__ void multiply_tiles(Out (&acc)[TM][TN], const In (&a_tile)[BK][PITCH_A],
                               const In (&b_tile)[BK][PITCH_B], int row, int col) {
  constexpr int V = VEC<In>;
  static_assert(PITCH_A % V == 0 && PITCH_B % V == 0, "each row of a tile must begin at 16 bytes");
  // TODO(4.2) For each k: TM / V pieces of a_tile, TN / V pieces of b_tile, TM * TN products.
  // >>> solution
#pragma unroll
  for (int k = 0; k < BK; ++k) {
    alignas(16) In a_k[TM], b_k[TN];
#pragma unroll
    for (int i = 0; i < TM; i += V) move16(&a_k[i], &a_tile[k][row + i / V * ROW_STEP]);
#pragma unroll
    for (int j = 0; j < TN; j += V) move16(&b_k[j], &b_tile[k][col + j / V * COL_STEP]);
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j) acc[i][j] += a_k[i] * b_k[j];
  }
  // <<< solution
}

/// Stores acc where multiply_tiles' rows and columns lie in C, as far as they exist, 16 bytes at a
/// time if the rows of C are aligned.
template <int ROW_STEP, int COL_STEP, int TM, int TN, typename Out>
__device__ void store_tile(const Out (&acc)[TM][TN], MatrixView<Out> c, int row, int col) {
  constexpr int V = VEC<Out>;
  const bool wide = rows_aligned(c);
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int r = row + i / V * ROW_STEP + i % V;
#pragma unroll
    for (int j = 0; j < TN; j += V) {
      const int first = col + j / V * COL_STEP;
      alignas(16) Out piece[V];
#pragma unroll
      for (int e = 0; e < V; ++e) piece[e] = acc[i][j + e];
      if (wide && r < c.rows && first + V <= c.cols) {
        move16(&c(r, first), piece);
      } else {
#pragma unroll
        for (int e = 0; e < V; ++e)
          if (r < c.rows && first + e < c.cols) c(r, first + e) = piece[e];
      }
    }
  }
}

/// One BM x BN tile of C per block, TM x TN elements per thread; neighbouring threads have
/// neighbouring pieces of a row.
template <int BM, int BN, int BK, int TM, int TN, typename In, typename Out>
__global__ void __launch_bounds__(BM / TM * (BN / TN))
    vector_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c) {
  constexpr int V = VEC<In>, COLUMNS = BN / TN, THREADS = BM / TM * COLUMNS;
  static_assert(THREADS % 32 == 0, "a block must consist of whole warps");
  static_assert(TM % V == 0 && TN % V == 0, "a thread's tile must consist of whole pieces");
  // TODO(4.2) Both tiles, A's transposed: does a warp store it without conflicts, does every row
  //           begin at a multiple of 16 bytes? Then lab 3's loop with the functions above: threads
  //           0, 1, 2 ... have the first pieces of columns 0, V, 2 V ..., COLUMNS threads a row.
  // >>> solution
  alignas(16) __shared__ In a_tile[BK][BM + V];  // V more: a warp stores into 32 banks
  alignas(16) __shared__ In b_tile[BK][BN];
  static_assert(sizeof(a_tile) + sizeof(b_tile) <= 48 << 10, "both tiles must fit into 48 KiB");
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int row = threadIdx.x / COLUMNS * V, col = threadIdx.x % COLUMNS * V;
  const bool wide_a = rows_aligned(a), wide_b = rows_aligned(b);
  Out acc[TM][TN] = {};
  for (int k0 = 0; k0 < a.cols; k0 += BK) {
    fetch_transposed<THREADS, BM>(a_tile, a, row0, k0, wide_a);
    fetch_tile<THREADS, BK, BN>(b_tile, b, k0, col0, wide_b);
    __syncthreads();
    multiply_tiles<BM / TM * V, COLUMNS * V>(acc, a_tile, b_tile, row, col);
    __syncthreads();
  }
  store_tile<BM / TM * V, COLUMNS * V>(acc, c, row0 + row, col0 + col);
  // <<< solution
}

template <typename In, typename Out>
void gemm_vector(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                 cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8, THREADS = BM / TM * (BN / TN);
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  vector_kernel<BM, BN, BK, TM, TN><<<grid, THREADS, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 4.3 bonus: a tile per warp

/// Where a warp's lane has its piece in a sub-tile of 8 x 4 pieces. Lanes n and n ^ 1 share their
/// rows, lanes n and n ^ 2 their columns: the hardware then serves both lanes of a pair at once.
__device__ inline int lane_row(int lane) {
  return lane / 8 * 2 + lane / 2 % 2;
}
__device__ inline int lane_col(int lane) {
  return lane / 4 % 2 * 2 + lane % 2;
}

/// One BM x BN tile of C per block, of which each warp computes WM x WN elements: sub-tiles of
/// 8 x 4 pieces, one piece of V rows and V columns per lane and sub-tile.
template <int BM, int BN, int BK, int WM, int WN, typename In, typename Out>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32)
    warp_tile_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c) {
  constexpr int V = VEC<In>, THREADS = BM / WM * (BN / WN) * 32;
  static_assert(BM % WM == 0 && BN % WN == 0, "a block's tile must consist of whole warp tiles");
  static_assert(THREADS <= 1024, "a block must not have more than 32 warps");
  static_assert(WM % (8 * V) == 0 && WN % (4 * V) == 0, "a warp's must consist of sub-tiles");
  alignas(16) __shared__ In a_tile[BK][BM + V];
  alignas(16) __shared__ In b_tile[BK][BN];
  static_assert(sizeof(a_tile) + sizeof(b_tile) <= 48 << 10, "both tiles must fit into 48 KiB");
  // TODO(4.3) Where the warp's tile begins in the block's, and the lane's first piece in that. The
  //           rest is vector_kernel with another step from piece to piece.
  // >>> solution
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int row = warp / (BN / WN) * WM + lane_row(lane) * V;
  const int col = warp % (BN / WN) * WN + lane_col(lane) * V;
  const bool wide_a = rows_aligned(a), wide_b = rows_aligned(b);
  Out acc[WM / 8][WN / 4] = {};
  for (int k0 = 0; k0 < a.cols; k0 += BK) {
    fetch_transposed<THREADS, BM>(a_tile, a, row0, k0, wide_a);
    fetch_tile<THREADS, BK, BN>(b_tile, b, k0, col0, wide_b);
    __syncthreads();
    multiply_tiles<8 * V, 4 * V>(acc, a_tile, b_tile, row, col);
    __syncthreads();
  }
  store_tile<8 * V, 4 * V>(acc, c, row0 + row, col0 + col);
  // <<< solution
}

template <typename In, typename Out>
void gemm_warp_tile(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                    cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int WM = 64, WN = sizeof(Out) > 4 ? 32 : 64;  // a double takes two registers
  constexpr int BM = 2 * WM, BN = 2 * WN, BK = 8, THREADS = 4 * 32;
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  warp_tile_kernel<BM, BN, BK, WM, WN><<<grid, THREADS, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

#define INSTANTIATE_ONE(rung, In, Out) \
  template void rung(MatrixView<const In>, MatrixView<const In>, MatrixView<Out>, cudaStream_t);
#define INSTANTIATE(In, Out)                 \
  INSTANTIATE_ONE(gemm_column_walk, In, Out) \
  INSTANTIATE_ONE(gemm_vector, In, Out)      \
  INSTANTIATE_ONE(gemm_warp_tile, In, Out)
INSTANTIATE(int, int)
INSTANTIATE(float, float)
INSTANTIATE(double, double)
