// Lab 3: tiles of A and B in shared memory. The tutorial's pages on lab 3 explain each TODO.
//
// You will learn how the threads of a block fetch a tile together, which two barriers keep them
// from reading or overwriting it too early, and why a shared tile pays off only when it feeds the
// register tile of lab 2.
#include "common/kernel.cuh"

// ---- 3.0: correct, but slow in two ways

/// The letters of the lines of suspicious_kernel that do more work than necessary, such as "AB".
const char* suspects() {
  // TODO(3.0.1) Return the letters of the slow lines. Ask of each line: which addresses do the 32
  //             threads of a warp access at the same time, and how often does the line run?
  return "";
}

/// From a public course report: one TILE x TILE tile of C per block. Its results are correct (if
/// K > 0), but some of the lettered lines make the hardware do up to 16 times the necessary work.
template <int TILE, typename T>
__global__ void suspicious_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  __shared__ T a_tile[TILE][TILE], b_tile[TILE][TILE];  // (TILE, TILE), both
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty;  // (A)
  const int col = blockIdx.x * TILE + tx;  // (B)
  T sum = 0;
  // TODO(3.0) Name the slow lines in suspects() above, then fix them here. C must stay the same.
  for (int k0 = 0; k0 < a.cols; k0 += TILE) {
    a_tile[tx][ty] = row < a.rows && k0 + tx < a.cols ? a(row, k0 + tx) : T(0);  // (C)
    b_tile[tx][ty] = k0 + ty < b.rows && col < b.cols ? b(k0 + ty, col) : T(0);  // (D)
    __syncthreads();                                                             // (E)
    for (int k = 0; k < TILE; ++k) sum += a_tile[k][ty] * b_tile[tx][k];         // (F)
    __syncthreads();                                                             // (G)
    if (row < c.rows && col < c.cols) c(row, col) = sum;                         // (H)
  }
}

template <typename T>
void gemm_suspicious(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                     cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int TILE = 16;
  const dim3 grid(ceil_div(c.cols, TILE), ceil_div(c.rows, TILE));
  suspicious_kernel<TILE><<<grid, dim3(TILE, TILE), 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 3.1: fetching a tile together

/// Copies the ROWS x COLS part of m that begins at (row0, col0) into tile. Elements outside m
/// become zero, which adds nothing to a sum. All THREADS threads of the block must call it.
template <int THREADS, int ROWS, int COLS, typename T>
__device__ void fetch_tile(T (&tile)[ROWS][COLS], MatrixView<const T> m, int row0, int col0) {
  static_assert(ROWS * COLS % THREADS == 0, "every thread must fetch the same number of elements");
  // TODO(3.1) Number the elements of the tile row by row. Thread t of the block (which may be 2D)
  //           copies elements t, t + THREADS, t + 2 * THREADS, ... so that a warp loads neighbours.
  //           Where m has no such element, store T(0).
  tile[0][0] = unwritten<T>();
}

/// Tests your fetch_tile, and later your packing: writes the tile of A at (row0, col0) back to C.
/// To every element it adds whatever the tile holds beyond the edge of A, which must be zero.
template <int ROWS, int COLS, typename T>
__device__ void write_back(const T (&tile)[ROWS][COLS], MatrixView<const T> a, MatrixView<T> c,
                           int row0, int col0) {
  const int row = row0 + threadIdx.x;
  if (threadIdx.y > 0 || threadIdx.x >= ROWS || row >= c.rows) return;
  const int width = min(COLS, a.cols - col0);
  T beyond = 0;
#pragma unroll 1  // a test need not be fast
  for (int r = 0; r < ROWS; ++r)
    for (int k = row0 + r < a.rows ? width : 0; k < COLS; ++k) beyond += tile[r][k];
  for (int k = 0; k < width; ++k) c(row, col0 + k) = tile[threadIdx.x][k] + beyond;
}

/// C = A, tile by tile through shared memory.
template <int ROWS, int COLS, int TX, int TY, typename T>
__global__ void round_trip_kernel(MatrixView<const T> a, MatrixView<T> c) {
  static_assert(ROWS <= TX, "each row of the tile needs a thread that writes it back");
  __shared__ T tile[ROWS][COLS];  // (ROWS, COLS), row-major
  const int row0 = blockIdx.y * ROWS, col0 = blockIdx.x * COLS;
  fetch_tile<TX * TY>(tile, a, row0, col0);
  __syncthreads();
  write_back(tile, a, c, row0, col0);
}

/// B is not used.
template <typename T>
void round_trip(MatrixView<const T> a, MatrixView<const T>, MatrixView<T> c, cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int ROWS = 64, COLS = 16, TX = 64, TY = 4;  // TX x TY threads
  const dim3 grid(ceil_div(a.cols, COLS), ceil_div(a.rows, ROWS));
  round_trip_kernel<ROWS, COLS, TX, TY><<<grid, dim3(TX, TY), 0, stream>>>(a, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 3.2: two barriers, any K

/// One TILE x TILE tile of C per block, one element per thread.
template <int TILE, typename T>
__global__ void tiled_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  __shared__ T a_tile[TILE][TILE], b_tile[TILE][TILE];  // (TILE, TILE), row-major
  static_assert(sizeof(a_tile) + sizeof(b_tile) <= 48 << 10, "both tiles must fit into 48 KiB");
  // TODO(3.2) For every tile along K: fetch a_tile and b_tile, then add this thread's TILE products
  //           to its sum. Two barriers: no thread may read an incomplete tile, or overwrite one
  //           that others still read. After the loop, store the sum if its element lies in C.
}

template <typename T>
void gemm_tiled(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int TILE = 32;
  const dim3 grid(ceil_div(c.cols, TILE), ceil_div(c.rows, TILE));
  tiled_kernel<TILE><<<grid, dim3(TILE, TILE), 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 3.3: the register tile of lab 2, fed from the shared tiles of 3.2

/// acc += a_tile * b_tile for the calling thread's TM rows, beginning at row0, and TN columns col0,
/// col0 + STEP, col0 + 2 * STEP, ...: accumulate() of lab 2, now reading from shared memory.
/// b_tile is (BK, BN), row-major. In 3.5 it is stored by columns, which makes it (BN, BK).
template <int STEP, bool B_BY_COLUMNS = false, int TM, int TN, int BM, int BK, int ROWS, int COLS,
          typename T>
__device__ void multiply_tiles(T (&acc)[TM][TN], const T (&a_tile)[BM][BK],
                               const T (&b_tile)[ROWS][COLS], int row0, int col0) {
  constexpr int BN = B_BY_COLUMNS ? ROWS : COLS;
  static_assert(BN == TN * STEP, "the interleaved columns must cover the tile exactly");
#pragma unroll 2  // more would need more registers than two blocks can share
  for (int k = 0; k < BK; ++k) {
    T a_k[TM], b_k[TN];  // (TM) of column k, (TN) of row k
#pragma unroll
    for (int i = 0; i < TM; ++i) a_k[i] = a_tile[row0 + i][k];
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int col = col0 + j * STEP;
      b_k[j] = B_BY_COLUMNS ? b_tile[col][k] : b_tile[k][col];
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j) acc[i][j] += a_k[i] * b_k[j];
  }
}

/// Stores acc at rows row, row + 1, ... and columns col, col + STEP, ... of C, where they exist.
template <int STEP, int TM, int TN, typename T>
__device__ void store_tile(const T (&acc)[TM][TN], MatrixView<T> c, int row, int col) {
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j)
      if (row + i < c.rows && col + j * STEP < c.cols) c(row + i, col + j * STEP) = acc[i][j];
}

/// One BM x BN tile of C per block, TM x TN elements per thread, BK columns of A at a time.
template <int BM, int BN, int BK, int TM, int TN, typename T>
__global__ void __launch_bounds__(BM / TM * (BN / TN), 2)
    block_tile_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  static_assert(BM % TM == 0 && BN % TN == 0, "a block's tile must consist of whole thread tiles");
  constexpr int STEP = BN / TN, THREADS = BM / TM * STEP;
  __shared__ T a_tile[BM][BK];  // (BM, BK), row-major
  __shared__ T b_tile[BK][BN];  // (BK, BN), row-major
  static_assert(sizeof(a_tile) + sizeof(b_tile) <= 48 << 10, "both tiles must fit into 48 KiB");
  static_assert(THREADS % 32 == 0, "a block must consist of whole warps");
  // TODO(3.3) Compute where the block's tile begins in C (row0, col0), and where this thread's part
  //           begins in that tile (row, col): STEP threads share TM rows. Then write the loop of
  //           3.2 with multiply_tiles<STEP>() as the product, and call store_tile<STEP>() after it.
}

template <typename T>
void gemm_block_tile(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                     cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int TM = 8, TN = sizeof(T) > 4 ? 4 : 8;  // a double takes two registers
  constexpr int BM = 16 * TM, BN = 16 * TN, BK = 16, THREADS = 16 * 16;
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  block_tile_kernel<BM, BN, BK, TM, TN><<<grid, THREADS, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 3.4 bonus: pack A and B into tiles first, as GEMMs on CPUs do

/// The place of element (r, k) in a packed (ROWS, COLS) tile: by rows, or by columns in 3.5.
template <bool BY_COLUMNS, int ROWS, int COLS>
__device__ int place_in_tile(int r, int k);

/// Rewrites m as ROWS x COLS tiles, one after the other. Each is contiguous, and padded with zeros
/// where it hangs over the edge. One block per tile.
template <int THREADS, int ROWS, int COLS, bool BY_COLUMNS, typename T>
__global__ void pack_kernel(MatrixView<const T> m, T* packed) {
  static_assert(ROWS * COLS % THREADS == 0, "every thread must pack the same number of elements");
  // TODO(3.4.1) Like fetch_tile, but store to `packed`. Tile y * gridDim.x + x is block (x, y)'s;
  //             each takes ROWS * COLS elements. Inside it, place_in_tile() says where (r, k) goes.
}

/// Copies a packed tile into shared memory: contiguous, aligned, complete, so no bounds checks.
template <int THREADS, int ROWS, int COLS, typename T>
__device__ void copy_tile(T (&tile)[ROWS][COLS], const T* packed) {
  static_assert(ROWS * COLS % THREADS == 0, "every thread must copy the same number of elements");
#pragma unroll
  for (int i = 0; i < ROWS * COLS / THREADS; ++i) {
    const int e = threadIdx.x + i * THREADS;
    tile[e / COLS][e % COLS] = packed[e];
  }
}

/// Tests your pack_kernel: turns a packed matrix back into rows.
template <int THREADS, int ROWS, int COLS, typename T>
__global__ void unpack_kernel(const T* packed, MatrixView<const T> a, MatrixView<T> c) {
  __shared__ T tile[ROWS][COLS];  // (ROWS, COLS), row-major
  const std::size_t number = blockIdx.y * gridDim.x + blockIdx.x;
  copy_tile<THREADS>(tile, packed + number * (ROWS * COLS));
  __syncthreads();
  write_back(tile, a, c, blockIdx.y * ROWS, blockIdx.x * COLS);
}

/// C = A: packs A, then unpacks it.
template <typename T>
void packed_round_trip(MatrixView<const T> a, MatrixView<const T>, MatrixView<T> c,
                       cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int THREADS = 256, ROWS = 128, COLS = 16;
  const dim3 grid(ceil_div(a.cols, COLS), ceil_div(a.rows, ROWS));
  StreamMemory<T> memory(stream);
  T* const packed = memory.allocate(std::size_t{1} * grid.x * grid.y * ROWS * COLS);
  pack_kernel<THREADS, ROWS, COLS, false><<<grid, THREADS, 0, stream>>>(a, packed);
  CUDA_CHECK_LAUNCH();
  unpack_kernel<THREADS, ROWS, COLS>
      <<<grid, THREADS, 0, stream>>>(static_cast<const T*>(packed), a, c);
  CUDA_CHECK_LAUNCH();
}

/// Like block_tile_kernel, from packed tiles. a_packed: k_tiles tiles of BM x BK per row of tiles
/// of C. b_packed: gridDim.x tiles of BK x BN (in 3.5 by columns) for each of the k_tiles.
template <int BM, int BN, int BK, int TM, int TN, bool B_BY_COLUMNS, typename T>
__global__ void __launch_bounds__(BM / TM * (BN / TN), 2)
    packed_kernel(const T* a_packed, const T* b_packed, MatrixView<T> c, int k_tiles) {
  constexpr int STEP = BN / TN, THREADS = BM / TM * STEP;
  __shared__ T a_tile[BM][BK];                                          // (BM, BK), row-major
  __shared__ T b_tile[B_BY_COLUMNS ? BN : BK][B_BY_COLUMNS ? BK : BN];  // (BK, BN), as it is packed
  static_assert(sizeof(a_tile) + sizeof(b_tile) <= 48 << 10, "both tiles must fit into 48 KiB");
  static_assert(THREADS % 32 == 0, "a block must consist of whole warps");
  // TODO(3.4) Your code of 3.3, with copy_tile() in place of fetch_tile(). Tiles are numbered row
  //           by row: which tile of a_packed and which of b_packed does the block need in step t?
}

/// Packs A and B, then multiplies.
template <bool B_BY_COLUMNS, typename T>
void multiply_packed(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                     cudaStream_t stream) {
  constexpr int TM = 8, TN = sizeof(T) > 4 ? 4 : 8;
  constexpr int BM = 16 * TM, BN = 16 * TN, BK = 16, THREADS = 16 * 16;
  const int m_tiles = ceil_div(c.rows, BM), n_tiles = ceil_div(c.cols, BN);
  const int k_tiles = ceil_div(a.cols, BK);
  // Room for one tile more than needed: if K = 0, nothing is packed, but C must still become zero.
  StreamMemory<T> a_memory(stream), b_memory(stream);
  T* const a_packed = a_memory.allocate(std::size_t{1} * m_tiles * (k_tiles + 1) * BM * BK);
  T* const b_packed = b_memory.allocate(std::size_t{1} * (k_tiles + 1) * n_tiles * BK * BN);
  if (k_tiles > 0) {
    pack_kernel<THREADS, BM, BK, false>
        <<<dim3(k_tiles, m_tiles), THREADS, 0, stream>>>(a, a_packed);
    CUDA_CHECK_LAUNCH();
    pack_kernel<THREADS, BK, BN, B_BY_COLUMNS>
        <<<dim3(n_tiles, k_tiles), THREADS, 0, stream>>>(b, b_packed);
    CUDA_CHECK_LAUNCH();
  }
  packed_kernel<BM, BN, BK, TM, TN, B_BY_COLUMNS><<<dim3(n_tiles, m_tiles), THREADS, 0, stream>>>(
      static_cast<const T*>(a_packed), static_cast<const T*>(b_packed), c, k_tiles);
  CUDA_CHECK_LAUNCH();
}

template <typename T>
void gemm_packed(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                 cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  multiply_packed<false>(a, b, c, stream);
}

// ---- 3.5 bonus: B packed by columns

template <bool BY_COLUMNS, int ROWS, int COLS>
__device__ int place_in_tile(int r, int k) {
  if (!BY_COLUMNS) return r * COLS + k;
  // TODO(3.5) Return the place of (r, k) if the tile is stored column after column.
  return unwritten<int>();
}

template <typename T>
void gemm_packed_by_columns(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                            cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  multiply_packed<true>(a, b, c, stream);
}
