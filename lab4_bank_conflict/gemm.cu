// Lab 4: shared memory at full width.
//
// You will learn to predict bank conflicts and to remove them, to move 16 bytes per instruction
// where alignment allows it, to lay out the lanes of a warp so that they share what they read, and
// to copy the next tiles while this one is being multiplied.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"

constexpr int ceil_div(int n, int d) {
  return (n + d - 1) / d;
}

// ---- 4.1: see the conflict

/// Where element (r, k) of a BM x BK tile of A lies in shared memory: row by row.
template <int BM, int BK>
struct RowByRow {
  static constexpr int ELEMENTS = BM * BK;
  __device__ static int place(int r, int k) { return r * BK + k; }
};

/// The same elements, so that a warp neither reads nor stores them with conflicts.
template <int BM, int BK>
struct ConflictFree {
  // TODO(4.1) Predict (below), then remove the conflict: another layout, padding, or a swizzle.
  static constexpr int ELEMENTS = BM * BK;
  __device__ static int place(int r, int k) { return r * BK + k; }
};

/// A BM x BN tile of C per block of 8 warps. A warp has 32 x 16 elements of it: its lanes are 8
/// rows of 4, each with 4 x 4 elements, 8 rows and 4 columns apart. With RowByRow it is right, and
/// slower than lab 2's kernel without shared memory.
template <template <int, int> class Layout, int BM, int BN, int BK, typename T>
__global__ void __launch_bounds__(256)
    column_walk_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  static_assert(BM == 64 && BN == 64, "eight warps of 32 x 16 elements must cover the tile");
  static_assert(BK == 32, "one lane fetches one column of the tile of A");
  using A = Layout<BM, BK>;
  __shared__ T a_tile[A::ELEMENTS], b_tile[BK][BN];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int row = warp / 4 * 32 + lane / 4, col = warp % 4 * 16 + lane % 4;
  T acc[4][4] = {};
  for (int k0 = 0; k0 < a.cols; k0 += BK) {
    for (int r = warp; r < BM; r += 8) {
      const bool inside = row0 + r < a.rows && k0 + lane < a.cols;
      a_tile[A::place(r, lane)] = inside ? a(row0 + r, k0 + lane) : T(0);
    }
    for (int k = warp; k < BK; k += 8)
      for (int j = lane; j < BN; j += 32)
        b_tile[k][j] = k0 + k < b.rows && col0 + j < b.cols ? b(k0 + k, col0 + j) : T(0);
    __syncthreads();
#pragma unroll 1  // so that what you read here is what the hardware does
    for (int k = 0; k < BK; ++k) {
      T a_k[4], b_k[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) a_k[i] = a_tile[A::place(row + 8 * i, k)];
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

/// How many wavefronts a warp takes to read one a_k[i] with RowByRow, in float. It is compared with
/// what is counted in gemm_column_walk.
// TODO(4.1) Which words do lanes 0, 4, 8, ... read at once? In which of the 32 banks do they lie?
constexpr int predicted_wavefronts = 0;
int prediction() {
  return predicted_wavefronts;
}

template <template <int, int> class Layout, typename T>
void multiply_with(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                   cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int BM = 64, BN = 64, BK = 32;
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  column_walk_kernel<Layout, BM, BN, BK><<<grid, 256, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

/// As given: what your prediction is compared with.
template <typename T>
void gemm_column_walk(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                      cudaStream_t stream) {
  multiply_with<RowByRow>(a, b, c, stream);
}

template <typename T>
void gemm_conflict_free(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                        cudaStream_t stream) {
  multiply_with<ConflictFree>(a, b, c, stream);
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
/// elements of its piece one by one, each into another row of the tile. Two neighbouring threads
/// fetch the 32 bytes of a sector, the next two the row below.
template <int THREADS, int ROWS, int COLS, int PITCH, typename T>
__device__ void fetch_transposed(T (&tile)[COLS][PITCH], MatrixView<const T> m, int row0, int col0,
                                 bool wide) {
  constexpr int V = VEC<T>, PIECES = COLS / V;
  static_assert(ROWS * PIECES % THREADS == 0, "every thread must fetch the same number of pieces");
  static_assert(PIECES % 2 == 0, "a row of the part must consist of whole sectors");
  static_assert(PITCH >= ROWS, "a row of the transposed tile must hold a column of the part");
  // TODO(4.2) Piece p is piece p % 2 of row p / 2 % ROWS, in sector p / (2 * ROWS) of that row.
}

/// What a thread needs of one row of a tile: N elements in pieces of VEC neighbours, the first at
/// `from`, the others STEP elements apart.
template <int STEP, int N, typename T>
__device__ void load_fragment(T (&fragment)[N], const T* from) {
  static_assert(N % VEC<T> == 0, "a fragment must consist of whole pieces");
  // TODO(4.2) A move of 16 bytes for each piece.
}

/// acc += a_k * b_k, a column times a row, to and fro: where a row turns, b_k[j] is still at hand.
/// FROM_RIGHT: row 0 goes from right to left. A row then begins where one of i and j is even and
/// the other odd. Registers have two banks, even and odd, and a product waits if all three of its
/// numbers are in one. Which registers they are in is up to the compiler: measure whether it pays.
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

/// acc += a_tile * b_tile for the calling thread's TM rows and TN columns. They come in pieces of
/// VEC neighbours: rows row, row + 1, ... then row + ROW_STEP, ..., and columns alike. a_tile is
/// transposed, so that the rows of a piece are neighbours in memory.
template <int ROW_STEP, int COL_STEP, bool FROM_RIGHT = false, int TM, int TN, int BK, int PITCH_A,
          int PITCH_B, typename T>
__device__ void multiply_tiles(T (&acc)[TM][TN], const T (&a_tile)[BK][PITCH_A],
                               const T (&b_tile)[BK][PITCH_B], int row, int col) {
  static_assert(PITCH_A % VEC<T> == 0 && PITCH_B % VEC<T> == 0, "rows must begin at 16 bytes");
#pragma unroll
  for (int k = 0; k < BK; ++k) {
    alignas(16) T a_k[TM] = {}, b_k[TN] = {};
    load_fragment<ROW_STEP>(a_k, &a_tile[k][row]);
    load_fragment<COL_STEP>(b_k, &b_tile[k][col]);
    add_products<FROM_RIGHT>(acc, a_k, b_k);
  }
}

/// Stores acc where multiply_tiles' rows and columns lie in C, as far as they exist, 16 bytes at a
/// time if the rows of C are aligned.
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

/// One BM x BN tile of C per block, TM x TN elements per thread; neighbouring threads have
/// neighbouring pieces of a row.
template <int BM, int BN, int BK, int TM, int TN, typename T>
__global__ void __launch_bounds__(BM / TM * (BN / TN), 2)
    vector_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  constexpr int V = VEC<T>, COLUMNS = BN / TN, THREADS = BM / TM * COLUMNS;
  static_assert(THREADS % 32 == 0, "a block must consist of whole warps");
  static_assert(TM % V == 0 && TN % V == 0, "a thread's tile must consist of whole pieces");
  // TODO(4.2) Both tiles, A's transposed: does a warp store it without conflicts, does every row
  //           begin at a multiple of 16 bytes? Then lab 3's loop with the functions above: threads
  //           0, 1, 2 ... have the first pieces of columns 0, V, 2 V ..., COLUMNS threads a row.
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
template <int BM, int BN, int BK, int WM, int WN, typename T>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32, 2)
    warp_tile_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  constexpr int V = VEC<T>, THREADS = BM / WM * (BN / WN) * 32;
  static_assert(BM % WM == 0 && BN % WN == 0, "a block's tile must consist of whole warp tiles");
  static_assert(THREADS <= 1024, "a block must not have more than 32 warps");
  static_assert(WM % (8 * V) == 0 && WN % (4 * V) == 0, "a warp's must consist of sub-tiles");
  alignas(16) __shared__ T a_tile[BK][BM + 4];
  alignas(16) __shared__ T b_tile[BK][BN];
  static_assert(sizeof(a_tile) + sizeof(b_tile) <= 48 << 10, "both tiles must fit into 48 KiB");
  // TODO(4.3) Where the warp's tile begins in the block's, and the lane's first piece in that. The
  //           rest is vector_kernel with another step from piece to piece.
}

template <typename T>
void gemm_warp_tile(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                    cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int WM = 64, WN = sizeof(T) > 4 ? 16 : 32;  // a double takes two registers
  constexpr int BM = 2 * WM, BN = 4 * WN, BK = 16, THREADS = 8 * 32;
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  warp_tile_kernel<BM, BN, BK, WM, WN><<<grid, THREADS, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 4.4 bonus: copies behind the multiplication

/// Starts to copy the ROWS x COLS part of m at (row0, col0): tile[r][k] gets element (r, k), zero
/// outside of m. 16 bytes per copy if the rows of m are aligned, else one element per copy. INSIDE:
/// m is known to have all of the part, in aligned rows, so that there is nothing to ask.
template <bool INSIDE, int THREADS, int ROWS, int COLS, int PITCH, typename T>
__device__ void copy_tile(T (&tile)[ROWS][PITCH], MatrixView<const T> m, int row0, int col0,
                          bool wide) {
  constexpr int V = VEC<T>, PIECES = COLS / V, STEP = THREADS / PIECES;  // rows between two copies
  static_assert(THREADS % PIECES == 0 && ROWS % STEP == 0, "each thread must start as many copies");
  // TODO(4.4) __pipeline_memcpy_async(to, from, bytes, zero_bytes): of `bytes`, the last zero_bytes
  //           become zero without being read. Where there is nothing to copy, store zeros.
}

/// As copy_tile, but transposed: tile[k][r] gets element (r, k). A copy cannot take 16 bytes apart,
/// so each takes one element, and alignment does not matter.
template <bool INSIDE, int THREADS, int ROWS, int COLS, int PITCH, typename T>
__device__ void copy_transposed(T (&tile)[COLS][PITCH], MatrixView<const T> m, int row0, int col0) {
  constexpr int STEP = THREADS / COLS;  // rows from one copy of a thread to its next
  static_assert(THREADS % COLS == 0 && ROWS % STEP == 0, "each thread must start as many copies");
  // TODO(4.4) Neighbouring threads copy neighbours of a row of m.
}

/// As warp_tile_kernel, with STAGES pairs of tiles used in turn: while one pair is multiplied, the
/// next STAGES - 1 are on their way. One barrier per k tile.
template <int STAGES, int BM, int BN, int BK, int WM, int WN, typename T>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32)
    pipelined_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  constexpr int V = VEC<T>, THREADS = BM / WM * (BN / WN) * 32;
  static_assert(STAGES >= 2, "one pair of tiles must be free while another is multiplied");
  static_assert(BK % 2 == 0, "the first fragments of a tile must go to the first pair");
  static_assert(BM % WM == 0 && BN % WN == 0, "a block's tile must consist of whole warp tiles");
  static_assert(WM % (8 * V) == 0 && WN % (4 * V) == 0, "a warp's must consist of sub-tiles");
  static_assert(THREADS <= 1024, "a block must not have more than 32 warps");
  alignas(16) __shared__ T a_ring[STAGES][BK][BM + V];
  alignas(16) __shared__ T b_ring[STAGES][BK][BN];
  static_assert(sizeof(a_ring) + sizeof(b_ring) <= 48 << 10, "all stages must fit into 48 KiB");
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int row = warp / (BN / WN) * WM + lane_row(lane) * V;
  const int col = warp % (BN / WN) * WN + lane_col(lane) * V;
  const bool wide = rows_aligned(b);
  /// Starts the copies of the k tile at k0 and makes them one group. Beyond K the group is empty,
  /// so that there is one per k tile all the same.
  const auto start_copy = [&](auto inside, int k0, int stage) {
    constexpr bool INSIDE = decltype(inside)::value;
    if (INSIDE || k0 < a.cols) {
      copy_transposed<INSIDE, THREADS, BM>(a_ring[stage], a, row0, k0);
      copy_tile<INSIDE, THREADS, BK, BN>(b_ring[stage], b, k0, col0, wide);
    }
    __pipeline_commit();
  };
  /// The fragments of row k of the tiles in `stage`; there are two pairs, used in turn.
  alignas(16) T a_k[2][WM / 8] = {}, b_k[2][WN / 4] = {};
  const auto load_fragments = [&](int stage, int k) {
    load_fragment<8 * V>(a_k[k % 2], &a_ring[stage][k][row]);
    load_fragment<4 * V>(b_k[k % 2], &b_ring[stage][k][col]);
  };
  T acc[WM / 8][WN / 4] = {};
  int k0 = 0, stage = 0;  // the k tile that is being multiplied, and its place in the rings
  /// Waits for the tile in `next` and loads its first fragments.
  const auto next_tile = [&](int next) {
    // TODO(4.4) Wait until the tile's group is complete (how many younger ones may still be under
    //           way?), then for everybody else's.
    load_fragments(next, 0);
  };
  /// Multiplies the tile at k0. INSIDE: the copies that it starts lie inside of A and B.
  const auto multiply = [&](auto inside) {
    const int next = stage + 1 < STAGES ? stage + 1 : 0;
    // TODO(4.4) For every k: load the next fragments, multiply these. Before the next fragments
    //           come from the next tile, next_tile - if there is one. After its barrier nobody
    //           reads the tile before any more, and at k = 0 the next copy may go to its place.
    stage = next;
  };
#pragma unroll 1
  for (int s = 0; s < STAGES - 1; ++s) start_copy(std::false_type{}, s * BK, s);
  if (a.cols > 0) next_tile(stage);
  // Inside, a step is one stretch of code without a branch: the compiler puts its copies and loads
  // between its products. The last steps, and blocks at the edge, have all the questions to ask.
  const bool inside = wide && row0 + BM <= a.rows && col0 + BN <= b.cols;
  const int last = inside ? a.cols - STAGES * BK : -1;
#pragma unroll 1
  for (; k0 <= last; k0 += BK) multiply(std::true_type{});
#pragma unroll 1
  for (; k0 < a.cols; k0 += BK) multiply(std::false_type{});
  store_tile<8 * V, 4 * V>(acc, c, row0 + row, col0 + col);
}

template <typename T>
void gemm_pipelined(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                    cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int STAGES = 3, WM = 64, WN = sizeof(T) > 4 ? 16 : 64;
  constexpr int BM = 2 * WM, BN = 4 * WN, BK = 8;
  constexpr int THREADS = BM / WM * (BN / WN) * 32;
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  pipelined_kernel<STAGES, BM, BN, BK, WM, WN><<<grid, THREADS, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}
