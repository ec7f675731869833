// Lab 2: each thread keeps a tile of C in registers. The tutorial's page explains each TODO.
//
// You will learn why a thread should compute many elements (it then uses each loaded value many
// times), how to handle the edges of C without a branch in the inner loop, and how to keep a warp's
// loads contiguous although every thread owns several columns.
#include "common/kernel.cuh"

/// All kernels here run in blocks of BX x BY threads; each thread computes TM x TN elements of C.
constexpr int BX = 16, BY = 16, THREADS = BX * BY;

// ---- 2.1: TM x TN elements of C per thread

/// Adds A * B to acc, the calling thread's tile: acc[i][j] belongs to row rows[i] of A and column
/// cols[j] of B. With all loops over i and j unrolled, acc lives in registers.
template <int TM, int TN, typename T>
__device__ void accumulate(T (&acc)[TM][TN], MatrixView<const T> a, MatrixView<const T> b,
                           const int (&rows)[TM], const int (&cols)[TN]) {
  static_assert(TM > 0 && TN > 0, "a thread must own at least one element of C");
  // TODO(2.1) For every k: load a(rows[i], k) into an array a_k[TM] and b(k, cols[j]) into b_k[TN],
  //           then add each a_k[i] * b_k[j] to acc[i][j]. Put `#pragma unroll` before every loop
  //           over i or j: arrays stay in registers only if the compiler knows all indices.
  // >>> skeleton
  // acc[0][0] = unwritten<T>();
  // <<< skeleton
  // >>> solution
#pragma unroll 4  // the loads of four k steps are then under way at once
  for (int k = 0; k < a.cols; ++k) {
    T a_k[TM], b_k[TN];  // (TM) of column k of A, (TN) of row k of B
#pragma unroll
    for (int i = 0; i < TM; ++i) a_k[i] = a(rows[i], k);
#pragma unroll
    for (int j = 0; j < TN; ++j) b_k[j] = b(k, cols[j]);
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
      for (int j = 0; j < TN; ++j) acc[i][j] += a_k[i] * b_k[j];
  }
  // <<< solution
}

/// A tile that hangs over the edge of C, computed one element at a time as in lab 1. It is correct
/// but slow: no loaded value is reused, and the rest of the warp waits. 2.2 does better.
template <int TM, int TN, typename T>
__device__ void one_by_one(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, int row0,
                           int col0) {
  for (int row = row0; row < min(row0 + TM, c.rows); ++row) {
    for (int col = col0; col < min(col0 + TN, c.cols); ++col) {
      T sum = 0;
      for (int k = 0; k < a.cols; ++k) sum += a(row, k) * b(k, col);
      c(row, col) = sum;
    }
  }
}

/// __launch_bounds__(THREADS, 2): blocks of at most THREADS threads, and few enough registers that
/// two blocks fit on a multiprocessor.
template <int TM, int TN, typename T>
__global__ void __launch_bounds__(THREADS, 2)
    register_tile_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  const int row0 = (blockIdx.y * BY + threadIdx.y) * TM;
  const int col0 = (blockIdx.x * BX + threadIdx.x) * TN;
  if (row0 + TM > c.rows || col0 + TN > c.cols) return one_by_one<TM, TN>(a, b, c, row0, col0);

  int rows[TM], cols[TN];
#pragma unroll
  for (int i = 0; i < TM; ++i) rows[i] = row0 + i;
#pragma unroll
  for (int j = 0; j < TN; ++j) cols[j] = col0 + j;

  T acc[TM][TN] = {};  // (TM, TN) of C, in registers
  accumulate(acc, a, b, rows, cols);
#pragma unroll  // here too: an index that is not known at compile time sends acc to local memory
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) c(rows[i], cols[j]) = acc[i][j];
}

// ---- 2.2: the edges, without a branch in the hot loop

/// The TM x TN elements of C at rows row0, row0 + 1, ... and columns col0, col0 + STEP, ... STEP is
/// 1 until 2.3. With CLAMP, some of them may lie outside C; without, all exist: no bounds checks.
template <bool CLAMP, int TM, int TN, int STEP, typename T>
__device__ void thread_tile(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, int row0,
                            int col0) {
  if (CLAMP && (row0 >= c.rows || col0 >= c.cols)) return;
  // TODO(2.2) Fill rows[TM] and cols[TN]. With CLAMP, use the last row or column of C for any that
  //           does not exist: its products are computed for nothing. Call accumulate() with a
  //           zeroed acc[TM][TN], then store acc; with CLAMP, only the elements that C has.
  // >>> solution
  int rows[TM], cols[TN];
#pragma unroll
  for (int i = 0; i < TM; ++i) rows[i] = CLAMP ? min(row0 + i, c.rows - 1) : row0 + i;
#pragma unroll
  for (int j = 0; j < TN; ++j) cols[j] = CLAMP ? min(col0 + j * STEP, c.cols - 1) : col0 + j * STEP;
  T acc[TM][TN] = {};  // (TM, TN) of C, in registers
  accumulate(acc, a, b, rows, cols);
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j)
      if (!CLAMP || (row0 + i < c.rows && col0 + j * STEP < c.cols))
        c(rows[i], cols[j]) = acc[i][j];
  // <<< solution
}

/// Whether a block lies entirely inside C is the same for all of its threads, and a branch that all
/// threads of a warp take the same way costs almost nothing.
template <int TM, int TN, int STEP, typename T>
__device__ void block_tile(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, int row0,
                           int col0) {
  const int row_end = (blockIdx.y + 1) * (BY * TM), col_end = (blockIdx.x + 1) * (BX * TN);
  if (row_end <= c.rows && col_end <= c.cols)
    thread_tile<false, TM, TN, STEP>(a, b, c, row0, col0);
  else
    thread_tile<true, TM, TN, STEP>(a, b, c, row0, col0);
}

template <int TM, int TN, typename T>
__global__ void __launch_bounds__(THREADS, 2)
    clamped_tile_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  const int row0 = (blockIdx.y * BY + threadIdx.y) * TM;
  const int col0 = (blockIdx.x * BX + threadIdx.x) * TN;
  block_tile<TM, TN, 1>(a, b, c, row0, col0);
}

// ---- 2.3: which columns a thread owns

/// A block still computes (BY * TM) x (BX * TN) elements of C and each thread TM x TN of them. But
/// the columns of a thread need not be adjacent. What its warp loads at the same time should be.
template <int TM, int TN, typename T>
__global__ void __launch_bounds__(THREADS, 2)
    interleaved_tile_kernel(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
  // TODO(2.3) A thread owns columns col0 + j * STEP. Choose row0, col0 and STEP so that for every j
  //           adjacent threads own adjacent columns, and call block_tile<TM, TN, STEP>() with them.
  // >>> solution
  const int row0 = (blockIdx.y * BY + threadIdx.y) * TM;
  const int col0 = blockIdx.x * (BX * TN) + threadIdx.x;
  block_tile<TM, TN, BX>(a, b, c, row0, col0);
  // <<< solution
}

// ---- launchers

constexpr int TN = 4;
template <typename T>
constexpr int TM = sizeof(T) > 4 ? 4 : 8;  // a double takes two registers

template <typename T>
dim3 grid_for(MatrixView<T> c) {
  return dim3(ceil_div(c.cols, BX * TN), ceil_div(c.rows, BY * TM<T>));
}

template <typename T>
void gemm_register_tile(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                        cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  register_tile_kernel<TM<T>, TN><<<grid_for(c), dim3(BX, BY), 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

template <typename T>
void gemm_clamped_tile(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                       cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  clamped_tile_kernel<TM<T>, TN><<<grid_for(c), dim3(BX, BY), 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

template <typename T>
void gemm_interleaved_tile(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                           cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  interleaved_tile_kernel<TM<T>, TN><<<grid_for(c), dim3(BX, BY), 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}
