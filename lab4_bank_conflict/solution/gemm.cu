// Lab 4: shared memory at full width. The tutorial's pages on lab 4 explain each TODO.
//
// You will learn to predict bank conflicts and to remove them, to move 16 bytes per instruction
// where alignment allows it, to arrange the lanes of a warp so that they share what they read, and
// to copy the next tiles while the current ones are being multiplied.
#include <cuda_pipeline.h>

#include "common/kernel.cuh"

/// The 32 lanes of a warp are arranged in 8 rows of 4 over the elements that they compute.
constexpr int LANES_M = 8, LANES_N = 4, WARP = LANES_M * LANES_N;

// ---- 4.1.1: see the conflict

/// Where element (r, k) of a (BM, BK) tile of A lies in shared memory: stored row by row.
template <int BM, int BK>
struct RowByRow {
  static constexpr int ELEMENTS = BM * BK;
  __device__ static int place(int r, int k) { return r * BK + k; }
};

/// One BM x BN tile of C per block of 8 warps. A warp computes WM x WN elements of it and each lane
/// TM x TN of those, 8 rows and 4 columns apart. With RowByRow the result is correct, but it takes
/// longer than lab 2's kernel without shared memory.
template <template <int, int> class Layout, int BM, int BN, int BK, typename T>
__global__ void __launch_bounds__(256)
    column_walk_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  constexpr int TM = 4, TN = 4, WM = LANES_M * TM, WN = LANES_N * TN;
  constexpr int WARPS_N = BN / WN, WARPS = BM / WM * WARPS_N;
  static_assert(WARPS == 8, "eight warps of 32 x 16 elements must cover the tile");
  static_assert(BK == WARP, "one lane fetches one column of the tile of A");
  using A = Layout<BM, BK>;
  __shared__ T a_tile[A::ELEMENTS];  // (BM, BK), in this layout
  __shared__ T b_tile[BK][BN];       // (BK, BN), row-major
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int row = warp / WARPS_N * WM + lane / LANES_N, col = warp % WARPS_N * WN + lane % LANES_N;
  T acc[TM][TN] = {};  // (TM, TN)
  for (int k0 = 0; k0 < a.cols; k0 += BK) {
    for (int r = warp; r < BM; r += WARPS) {
      const bool inside = row0 + r < a.rows && k0 + lane < a.cols;
      a_tile[A::place(r, lane)] = inside ? a(row0 + r, k0 + lane) : T(0);
    }
    for (int k = warp; k < BK; k += WARPS)
      for (int j = lane; j < BN; j += WARP)
        b_tile[k][j] = k0 + k < b.rows && col0 + j < b.cols ? b(k0 + k, col0 + j) : T(0);
    __syncthreads();
#pragma unroll 1  // so that what you read here is what the hardware does
    for (int k = 0; k < BK; ++k) {
      T a_k[TM], b_k[TN];  // (TM) of column k, (TN) of row k
#pragma unroll
      for (int i = 0; i < TM; ++i) a_k[i] = a_tile[A::place(row + LANES_M * i, k)];
#pragma unroll
      for (int j = 0; j < TN; ++j) b_k[j] = b_tile[k][col + LANES_N * j];
#pragma unroll
      for (int i = 0; i < TM * TN; ++i) acc[i / TN][i % TN] += a_k[i / TN] * b_k[i % TN];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM * TN; ++i) {
    const int r = row0 + row + i / TN * LANES_M, j = col0 + col + i % TN * LANES_N;
    if (r < c.rows && j < c.cols) c(r, j) = acc[i / TN][i % TN];
  }
}

template <template <int, int> class Layout, typename T>
void multiply_with(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                   cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int BM = 64, BN = 64, BK = 32, THREADS = 256;
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  column_walk_kernel<Layout, BM, BN, BK><<<grid, THREADS, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

/// The kernel as given. Your prediction is compared with its counts.
template <typename T>
void gemm_column_walk(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                      cudaStream_t stream) {
  multiply_with<RowByRow>(a, b, c, stream);
}

/// How many wavefronts a warp takes to read one a_k[i] with RowByRow, in float. It is compared with
/// what is counted in gemm_column_walk.
// TODO(4.1.1) Replace 0: which words do lanes 0, 4, 8, ... 28 read at once, and in which banks?
// >>> skeleton
// constexpr int predicted_wavefronts = 0;
// <<< skeleton
// >>> solution
constexpr int predicted_wavefronts = 8;  // eight rows, all beginning in bank 0
// <<< solution
int prediction() {
  return predicted_wavefronts;
}

// ---- 4.1: and remove it

/// The same tile in a layout that a warp can read and store without bank conflicts.
template <int BM, int BK>
struct ConflictFree {
  // TODO(4.1) Pad, swizzle or rearrange the tile: change place(), and ELEMENTS if the tile grows.
  // >>> skeleton
  // static constexpr int ELEMENTS = BM * BK;
  // __device__ static int place(int r, int k) { return r * BK + k; }
  // <<< skeleton
  // >>> solution
  static constexpr int PITCH = BK + 1;  // each row begins one bank further
  static constexpr int ELEMENTS = BM * PITCH;
  __device__ static int place(int r, int k) { return r * PITCH + k; }
  // <<< solution
};

template <typename T>
void gemm_conflict_free(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                        cudaStream_t stream) {
  multiply_with<ConflictFree>(a, b, c, stream);
}

// ---- 4.2: 16 bytes per access

/// CUDA's type for 16 bytes of each element type. Declarations are enough: only the types are used.
__device__ int4 vector_of(int);
__device__ float4 vector_of(float);
__device__ double2 vector_of(double);

/// Moves VEC adjacent elements by one load and one store. An address in memory must be a multiple
/// of 16; an array in registers may be anywhere.
template <typename T>
__device__ void move16(T* to, const T* from) {
  using Vec = decltype(vector_of(T()));
  *reinterpret_cast<Vec*>(to) = *reinterpret_cast<const Vec*>(from);
}

/// The VEC elements of m at (row, col ...), with col a multiple of VEC. Elements outside m become
/// zero. `wide`: the rows of m are aligned.
template <typename T>
__device__ void load_piece(T (&piece)[VEC<T>], MatrixView<const T> m, int row, int col, bool wide) {
  // TODO(4.2.1) If m is `wide` and has all VEC elements, load them with move16(). Otherwise load
  //             one element at a time, T(0) for those outside m.
  // >>> skeleton
  // piece[0] = unwritten<T>();
  // <<< skeleton
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

/// Like fetch_tile, but it transposes: tile[k][r] has element (r, k). A thread stores the elements
/// of its piece one at a time, each to another row of the tile. Two adjacent threads fetch the 32
/// bytes of a sector, the next two fetch the row below.
template <int THREADS, int ROWS, int COLS, int PITCH, typename T>
__device__ void fetch_transposed(T (&tile)[COLS][PITCH], MatrixView<const T> m, int row0, int col0,
                                 bool wide) {
  constexpr int V = VEC<T>, PIECES = COLS / V;  // per row
  static_assert(ROWS * PIECES % THREADS == 0, "every thread must fetch the same number of pieces");
  static_assert(PIECES % 2 == 0, "a row of the part must consist of whole sectors");
  static_assert(PITCH >= ROWS, "a row of the transposed tile must hold a column of the part");
  // TODO(4.2.2) Like fetch_tile. Piece p: row p / 2 % ROWS, half p % 2 of sector p / (2 * ROWS).
  // >>> skeleton
  // tile[0][0] = unwritten<T>();
  // <<< skeleton
  // >>> solution
#pragma unroll
  for (int i = 0; i < ROWS * PIECES / THREADS; ++i) {
    const int p = threadIdx.x + i * THREADS, r = p / 2 % ROWS;
    const int k = (p / (2 * ROWS) * 2 + p % 2) * V;
    alignas(16) T piece[V] = {};
    load_piece(piece, m, row0 + r, col0 + k, wide);
#pragma unroll
    for (int e = 0; e < V; ++e) tile[k + e][r] = piece[e];
  }
  // <<< solution
}

/// What a thread needs of one row of a tile: N elements in pieces of VEC neighbours. The first
/// piece is at `from`, and each following one is STEP elements further on.
template <int STEP, int N, typename T>
__device__ void load_fragment(T (&fragment)[N], const T* from) {
  static_assert(N % VEC<T> == 0, "a fragment must consist of whole pieces");
  // TODO(4.2.3) One move16() per piece, from shared memory to fragment[0], [VEC], [2 * VEC] ...
  // >>> skeleton
  // fragment[0] = unwritten<T>();
  // <<< skeleton
  // >>> solution
#pragma unroll
  for (int i = 0; i < N; i += VEC<T>) move16(&fragment[i], from + i / VEC<T> * STEP);
  // <<< solution
}

/// acc += a_k * b_k, a column times a row. Odd rows go backwards, so that they begin with the
/// b_k[j] just used. FROM_RIGHT: row 0 goes from right to left, so rows begin where one of i and j
/// is even and the other odd. Registers have two banks, even and odd, and a multiply-add stalls if
/// its three operands share one. The compiler picks the registers, so measure whether it pays.
template <bool FROM_RIGHT = false, int TM, int TN, typename T>
__device__ void add_products(T (&acc)[TM][TN], const T (&a_k)[TM], const T (&b_k)[TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int n = 0; n < TN; ++n) {
      const int j = (i % 2 != 0) != FROM_RIGHT ? TN - 1 - n : n;
      acc[i][j] += a_k[i] * b_k[j];
    }
}

/// acc += a_tile * b_tile for the calling thread's TM rows and TN columns. These come in pieces of
/// VEC neighbours: rows row, row + 1, ... then row + ROW_STEP, ..., and columns in the same way.
/// a_tile is transposed, so that the rows of a piece are adjacent in memory.
template <int ROW_STEP, int COL_STEP, bool FROM_RIGHT = false, int TM, int TN, int BK, int PITCH_A,
          int PITCH_B, typename T>
__device__ void multiply_tiles(T (&acc)[TM][TN], const T (&a_tile)[BK][PITCH_A],
                               const T (&b_tile)[BK][PITCH_B], int row, int col) {
  static_assert(PITCH_A % VEC<T> == 0 && PITCH_B % VEC<T> == 0, "rows must begin at 16 bytes");
#pragma unroll
  for (int k = 0; k < BK; ++k) {
    alignas(16) T a_k[TM] = {}, b_k[TN] = {};  // (TM) of column k, (TN) of row k
    load_fragment<ROW_STEP>(a_k, &a_tile[k][row]);
    load_fragment<COL_STEP>(b_k, &b_tile[k][col]);
    add_products<FROM_RIGHT>(acc, a_k, b_k);
  }
}

/// Stores acc to the rows and columns of multiply_tiles, where C has them, 16 bytes at a time if
/// the rows of C are aligned.
template <int ROW_STEP, int COL_STEP, int TM, int TN, typename T>
__device__ void store_tile(const T (&acc)[TM][TN], MatrixView<T> c, int row, int col) {
  constexpr int V = VEC<T>;
  const bool wide = rows_aligned(c);
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int r = row + i / V * ROW_STEP + i % V;
#pragma unroll
    for (int j = 0; j < TN; j += V) {
      const int first = col + j / V * COL_STEP;
      alignas(16) T piece[V];
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

/// One BM x BN tile of C per block, TM x TN elements per thread; adjacent threads own adjacent
/// pieces of a row.
template <int BM, int BN, int BK, int TM, int TN, typename T>
__global__ void __launch_bounds__(BM / TM * (BN / TN), 2)
    vector_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  constexpr int V = VEC<T>, COLUMNS = BN / TN, THREADS = BM / TM * COLUMNS;
  [[maybe_unused]] constexpr int ROW_STEP = BM / TM * V, COL_STEP = COLUMNS * V;
  static_assert(THREADS % WARP == 0, "a block must consist of whole warps");
  static_assert(TM % V == 0 && TN % V == 0, "a thread's tile must consist of whole pieces");
  // TODO(4.2) Declare both tiles, A's transposed and padded: fetch_transposed must store without
  //           bank conflicts, and rows must begin at multiples of 16 bytes. Thread t begins at row
  //           t / COLUMNS * V, column t % COLUMNS * V. Then lab 3's loop with the functions above.
  // >>> solution
  constexpr int PITCH_A = BM + 4;                // 4 more: a warp stores into 32 banks
  alignas(16) __shared__ T a_tile[BK][PITCH_A];  // (BK, BM), A transposed, padded
  alignas(16) __shared__ T b_tile[BK][BN];       // (BK, BN), row-major
  static_assert(sizeof(a_tile) + sizeof(b_tile) <= 48 << 10, "both tiles must fit into 48 KiB");
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int row = threadIdx.x / COLUMNS * V, col = threadIdx.x % COLUMNS * V;
  const bool wide_a = rows_aligned(a), wide_b = rows_aligned(b);
  T acc[TM][TN] = {};
  for (int k0 = 0; k0 < a.cols; k0 += BK) {
    fetch_transposed<THREADS, BM>(a_tile, a, row0, k0, wide_a);
    fetch_tile<THREADS, BK, BN>(b_tile, b, k0, col0, wide_b);
    __syncthreads();
    multiply_tiles<ROW_STEP, COL_STEP>(acc, a_tile, b_tile, row, col);
    __syncthreads();
  }
  store_tile<ROW_STEP, COL_STEP>(acc, c, row0 + row, col0 + col);
  // <<< solution
}

template <typename T>
void gemm_vector(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                 cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int TM = 8, TN = sizeof(T) > 4 ? 4 : 8;  // a double takes two registers
  constexpr int BM = 16 * TM, BN = 16 * TN, BK = 16, THREADS = 16 * 16;
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  vector_kernel<BM, BN, BK, TM, TN><<<grid, THREADS, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 4.3 bonus: a tile per warp

/// Row and column of a lane's piece in a sub-tile of 8 x 4 pieces. Lanes n and n ^ 1 share their
/// rows, lanes n and n ^ 2 their columns: the hardware then serves both lanes of a pair at once.
__device__ inline int lane_row(int lane) {
  return lane / 8 * 2 + lane / 2 % 2;
}
__device__ inline int lane_col(int lane) {
  return lane / 4 % 2 * 2 + lane % 2;
}

/// How 4.3 and 4.4 divide C: BM x BN per block, WM x WN per warp, in sub-tiles of 8 x 4 pieces. A
/// lane owns one piece, V rows by V columns, of each sub-tile: TM x TN elements in all.
template <typename T, int BM_, int BN_, int BK_, int WM_, int WN_>
struct Shape {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_, V = VEC<T>;
  static constexpr int WARPS_N = BN / WN, WARPS = BM / WM * WARPS_N, THREADS = WARPS * WARP;
  static constexpr int TM = WM / LANES_M, TN = WN / LANES_N;
  static constexpr int ROW_STEP = LANES_M * V, COL_STEP = LANES_N * V;  // from piece to piece
  static_assert(BM % WM == 0 && BN % WN == 0, "a block's tile must consist of whole warp tiles");
  static_assert(WARPS <= 32, "a block must not have more than 32 warps");
  static_assert(WM % ROW_STEP == 0 && WN % COL_STEP == 0, "a warp's must consist of sub-tiles");
};

template <int BM, int BN, int BK, int WM, int WN, typename T>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * WARP, 2)
    warp_tile_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  using S = Shape<T, BM, BN, BK, WM, WN>;
  constexpr int PITCH_A = BM + 4;                // as in 4.2
  alignas(16) __shared__ T a_tile[BK][PITCH_A];  // (BK, BM), A transposed, padded
  alignas(16) __shared__ T b_tile[BK][BN];       // (BK, BN), row-major
  static_assert(sizeof(a_tile) + sizeof(b_tile) <= 48 << 10, "both tiles must fit into 48 KiB");
  // TODO(4.3) Compute row and col, where this lane's first piece begins in the block's tile: add up
  //           where the warp's tile begins and where the piece begins in that. The rest is
  //           vector_kernel with S::ROW_STEP and S::COL_STEP.
  // >>> solution
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int row = warp / S::WARPS_N * WM + lane_row(lane) * S::V;
  const int col = warp % S::WARPS_N * WN + lane_col(lane) * S::V;
  const bool wide_a = rows_aligned(a), wide_b = rows_aligned(b);
  T acc[S::TM][S::TN] = {};  // (TM, TN), in pieces
  for (int k0 = 0; k0 < a.cols; k0 += BK) {
    fetch_transposed<S::THREADS, BM>(a_tile, a, row0, k0, wide_a);
    fetch_tile<S::THREADS, BK, BN>(b_tile, b, k0, col0, wide_b);
    __syncthreads();
    multiply_tiles<S::ROW_STEP, S::COL_STEP, true>(acc, a_tile, b_tile, row, col);
    __syncthreads();
  }
  store_tile<S::ROW_STEP, S::COL_STEP>(acc, c, row0 + row, col0 + col);
  // <<< solution
}

template <typename T>
void gemm_warp_tile(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                    cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int WM = 64, WN = sizeof(T) > 4 ? 16 : 32;  // a double takes two registers
  constexpr int BM = 2 * WM, BN = 4 * WN, BK = 16, THREADS = 2 * 4 * WARP;
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  warp_tile_kernel<BM, BN, BK, WM, WN><<<grid, THREADS, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 4.4 bonus: copies behind the multiplication

/// Starts copying the ROWS x COLS part of m at (row0, col0): tile[r][k] gets element (r, k), or
/// zero outside m. 16 bytes per copy if the rows of m are aligned, otherwise one element per copy.
/// INSIDE: the whole part is known to lie in m, in aligned rows, so there are no bounds checks.
template <bool INSIDE, int THREADS, int ROWS, int COLS, int PITCH, typename T>
__device__ void copy_tile(T (&tile)[ROWS][PITCH], MatrixView<const T> m, int row0, int col0,
                          bool wide) {
  constexpr int V = VEC<T>, PIECES = COLS / V;  // per row
  [[maybe_unused]] constexpr int STEP =
      THREADS / PIECES;  // rows from one copy of a thread to its next
  static_assert(THREADS % PIECES == 0 && ROWS % STEP == 0, "each thread must start as many copies");
  // TODO(4.4.1) Start this thread's copies by __pipeline_memcpy_async(to, from, bytes, zero_bytes):
  //             of `bytes`, the last zero_bytes become zero without being read. Aligned rows: 16
  //             bytes every STEP rows. Store zeros where there is nothing to copy.
  // >>> skeleton
  // tile[0][0] = unwritten<T>();
  // <<< skeleton
  // >>> solution
  if (INSIDE || wide) {
    const int r = threadIdx.x / PIECES, k = threadIdx.x % PIECES * V;
    const T* from = &m(row0 + r, col0 + k);
#pragma unroll
    for (int i = 0; i < ROWS; i += STEP, from += std::ptrdiff_t{STEP} * m.ld) {
      const int left = row0 + r + i < m.rows ? m.cols - (col0 + k) : 0;  // elements of this row
      alignas(16) const T zeros[V] = {};
      if (INSIDE || left >= V)
        __pipeline_memcpy_async(&tile[r + i][k], from, 16);
      else if (left > 0)
        __pipeline_memcpy_async(&tile[r + i][k], from, 16, (V - left) * sizeof(T));
      else
        move16(&tile[r + i][k], zeros);
    }
  } else {
#pragma unroll 1  // the addresses of all of them would fill the registers
    for (int i = 0; i < ROWS * COLS / THREADS; ++i) {
      const int p = threadIdx.x + i * THREADS, r = p / COLS, k = p % COLS;
      if (row0 + r < m.rows && col0 + k < m.cols)
        __pipeline_memcpy_async(&tile[r][k], &m(row0 + r, col0 + k), sizeof(T));
      else
        tile[r][k] = T(0);
    }
  }
  // <<< solution
}

/// Like copy_tile, but transposed: tile[k][r] gets element (r, k). A copy cannot split 16 bytes up,
/// so each copy moves one element, and alignment does not matter.
template <bool INSIDE, int THREADS, int ROWS, int COLS, int PITCH, typename T>
__device__ void copy_transposed(T (&tile)[COLS][PITCH], MatrixView<const T> m, int row0, int col0) {
  constexpr int STEP = THREADS / COLS;  // rows from one copy of a thread to its next
  static_assert(THREADS % COLS == 0 && ROWS % STEP == 0, "each thread must start as many copies");
  // TODO(4.4.2) COLS adjacent threads copy one row, an element each. A thread's next element lies
  //             STEP rows below. Where m has no element, store T(0).
  // >>> skeleton
  // tile[0][0] = unwritten<T>();
  // <<< skeleton
  // >>> solution
  const int r = threadIdx.x / COLS, k = threadIdx.x % COLS;
  const T* from = &m(row0 + r, col0 + k);
#pragma unroll
  for (int i = 0; i < ROWS; i += STEP, from += std::ptrdiff_t{STEP} * m.ld) {
    if (INSIDE || (row0 + r + i < m.rows && col0 + k < m.cols))
      __pipeline_memcpy_async(&tile[k][r + i], from, sizeof(T));
    else
      tile[k][r + i] = T(0);
  }
  // <<< solution
}

/// The two tiles of one step along K.
template <typename S, typename T>
struct Stage {
  static constexpr int PITCH_A = S::BM + S::V;  // copies store single elements: see 4.2
  alignas(16) T a[S::BK][PITCH_A];              // (BK, BM), A transposed, padded
  alignas(16) T b[S::BK][S::BN];                // (BK, BN), row-major
};

/// Starts copying the step along K at k0 for the block's tile of C at (row0, col0), as one group.
/// Beyond K the tiles become zero; INSIDE, without bounds checks, copies the last step once more.
template <bool INSIDE, typename S, typename T>
__device__ void copy_stage(Stage<S, T>& stage, MatrixView<const T> a, MatrixView<const T> b,
                           int row0, int col0, int k0, bool wide) {
  if (INSIDE) k0 = min(k0, a.cols - S::BK);
  copy_transposed<INSIDE, S::THREADS, S::BM>(stage.a, a, row0, k0);
  copy_tile<INSIDE, S::THREADS, S::BK, S::BN>(stage.b, b, k0, col0, wide);
  __pipeline_commit();
}

/// What a thread multiplies in one k: its part of a column of A's tile and of a row of B's tile.
template <typename S, typename T>
struct Fragments {
  alignas(16) T a[S::TM], b[S::TN];
};

template <typename S, typename T>
__device__ void load_fragments(Fragments<S, T>& f, const Stage<S, T>& stage, int row, int col,
                               int k) {
  load_fragment<S::ROW_STEP>(f.a, &stage.a[k][row]);
  load_fragment<S::COL_STEP>(f.b, &stage.b[k][col]);
}

/// acc += A * B for the block's tile of C at (row0, col0), in which the thread's first piece is at
/// (row, col). `ring` has STAGES pairs of tiles: while one is multiplied, copies of the next
/// STAGES - 1 are in flight. INSIDE: all that the block copies lies in A and B, B in aligned rows.
template <bool INSIDE, typename S, int STAGES, typename T>
__device__ void multiply_block(T (&acc)[S::TM][S::TN], Stage<S, T> (&ring)[STAGES],
                               MatrixView<const T> a, MatrixView<const T> b, int row0, int col0,
                               int row, int col, bool wide) {
  Fragments<S, T> fragments[2];  // (TM) and (TN): one is multiplied, the other being loaded
  // TODO(4.4) First copy_stage() for STAGES - 1 steps, wait for step 0, load its first fragments.
  //           Then, for every step and every k in it: load the next fragments, and add_products()
  //           of the current ones. At k = 0, also start copying another step into the free place.
  //           At the last k, first wait for the next tiles: your own copies, then everybody's.
  //           Those tiles hold the next fragments. One barrier per step is enough: which place may
  //           be overwritten after it? Copies of steps beyond the last one do no harm.
  // >>> skeleton
  // acc[0][0] = fragments[0].a[0] = unwritten<T>();
  // <<< skeleton
  // >>> solution
#pragma unroll 1
  for (int s = 0; s < STAGES - 1; ++s)
    copy_stage<INSIDE>(ring[s], a, b, row0, col0, s * S::BK, wide);
  __pipeline_wait_prior(STAGES - 2);  // mine of step 0 have arrived
  __syncthreads();                    // everybody's
  load_fragments(fragments[0], ring[0], row, col, 0);
  int now = 0, free = STAGES - 1;  // the places of this step, and of the one before it
#pragma unroll 1
  for (int k0 = 0; k0 < a.cols; k0 += S::BK) {
    const int next = now + 1 < STAGES ? now + 1 : 0;
#pragma unroll
    for (int k = 0; k < S::BK; ++k) {
      if (k == 0) copy_stage<INSIDE>(ring[free], a, b, row0, col0, k0 + (STAGES - 1) * S::BK, wide);
      if (k + 1 < S::BK) {
        load_fragments(fragments[(k + 1) % 2], ring[now], row, col, k + 1);
      } else {
        __pipeline_wait_prior(STAGES - 2);  // mine of the next step have arrived
        __syncthreads();  // everybody's; and nobody reads this step's tiles any more
        load_fragments(fragments[0], ring[next], row, col, 0);
      }
      add_products(acc, fragments[k % 2].a, fragments[k % 2].b);
    }
    free = now;
    now = next;
  }
  // <<< solution
}

/// Whether a block needs bounds checks is the same for all of its threads, as in 2.2. Without them,
/// a step is straight-line code, so the compiler can place copies and loads between products.
template <int STAGES, int BM, int BN, int BK, int WM, int WN, typename T>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * WARP)
    pipelined_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  using S = Shape<T, BM, BN, BK, WM, WN>;
  static_assert(STAGES >= 2, "one pair of tiles must be free while another is multiplied");
  static_assert(BK % 2 == 0, "the first fragments of a tile must go to the first pair");
  __shared__ Stage<S, T> ring[STAGES];  // (STAGES) pairs of tiles
  static_assert(sizeof(ring) <= 48 << 10, "all stages must fit into 48 KiB");
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int row = warp / S::WARPS_N * WM + lane_row(lane) * S::V;
  const int col = warp % S::WARPS_N * WN + lane_col(lane) * S::V;
  const bool wide = rows_aligned(b), whole_steps = a.cols > 0 && a.cols % BK == 0;
  T acc[S::TM][S::TN] = {};  // (TM, TN), in pieces
  if (wide && whole_steps && row0 + BM <= a.rows && col0 + BN <= b.cols)
    multiply_block<true>(acc, ring, a, b, row0, col0, row, col, true);
  else
    multiply_block<false>(acc, ring, a, b, row0, col0, row, col, wide);
  store_tile<S::ROW_STEP, S::COL_STEP>(acc, c, row0 + row, col0 + col);
}

template <typename T>
void gemm_pipelined(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                    cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int STAGES = 3, WM = 64, WN = sizeof(T) > 4 ? 16 : 64;
  constexpr int BM = 2 * WM, BN = 4 * WN, BK = 8, THREADS = 2 * 4 * WARP;
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  pipelined_kernel<STAGES, BM, BN, BK, WM, WN><<<grid, THREADS, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

// The rungs of 4.2.1 to 4.2.3, 4.4.1 and 4.4.2, which test the functions above one at a time:
#include "lab4_bank_conflict/given/round_trips.cuh"
