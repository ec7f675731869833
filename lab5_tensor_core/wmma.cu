// Lab 5.0 to 5.2b: tensor cores through CUDA's WMMA interface, in FP64, FP16, BF16 and TF32. The
// tutorial's page on lab 5 explains each TODO. You will learn to work with small matrices that
// belong to a whole warp, and why a warp needs a tile of them, as a thread did in lab 2.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"
#include "common/tensor_core.cuh"

namespace wmma = nvcuda::wmma;

// ---- given: tiles

/// Loads 16 bytes of m, beginning at (row, col), with zeros outside m. `wide`: the rows of m are
/// aligned, so that one load is enough.
template <typename T>
__device__ uint4 piece_at(MatrixView<const T> m, int row, int col, bool wide) {
  const int left = row < m.rows ? m.cols - col : 0;  // elements of m from here on
  if (left <= 0) return uint4{};
  const T* const from = &m(row, col);
  return wide && left >= VEC<T> ? *reinterpret_cast<const uint4*>(from) : gather(from, left);
}

/// Fetches the ROWS x COLS part of m at (row0, col0); tile[r][k] has element (r, k), or zero where
/// m has none. A thread issues all of its loads before its first store, so that it waits for memory
/// once instead of once per piece.
template <int THREADS, int ROWS, int COLS, int PITCH, typename T>
__device__ void fetch_tile(T (&tile)[ROWS][PITCH], MatrixView<const T> m, int row0, int col0,
                           bool wide) {
  constexpr int PIECES = COLS / VEC<T>;           // per row
  constexpr int LOADS = ROWS * PIECES / THREADS;  // per thread
  static_assert(ROWS * PIECES % THREADS == 0, "every thread must fetch the same number of pieces");
  static_assert(PITCH % VEC<T> == 0, "each row of a tile must begin at 16 bytes");
  uint4 pieces[LOADS];
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    const int p = threadIdx.x + i * THREADS;
    pieces[i] = piece_at(m, row0 + p / PIECES, col0 + p % PIECES * VEC<T>, wide);
  }
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    const int p = threadIdx.x + i * THREADS;
    *reinterpret_cast<uint4*>(&tile[p / PIECES][p % PIECES * VEC<T>]) = pieces[i];
  }
}

// ---- 5.0: from a fragment to C

/// Elements from row to row of a fragment of C in shared memory: eight more if it is wide, so that
/// the rows which a warp stores at the same time begin in different banks.
template <int N>
constexpr int SCRATCH_PITCH = N < 16 ? N : N + 8;

/// Stores a fragment of C whose first element is (row, col), where C has these elements. WMMA can
/// only store a whole fragment: so it goes to `scratch`, which belongs to this warp, and from there
/// to C.
template <int M, int N, int K, typename Out>
__device__ void store_fragment(const wmma::fragment<wmma::accumulator, M, N, K, Out>& acc,
                               Out (&scratch)[M][SCRATCH_PITCH<N>], MatrixView<Out> c, int row,
                               int col) {
  // TODO(5.0) Store acc to scratch by wmma::store_matrix_sync, and sync the warp. The lanes then
  //           copy what exists to C, 32 elements at a time: 8 neighbours of each of 4 rows lie in
  //           32 different banks. Sync again, since the next fragment overwrites scratch.
}

constexpr int F64_M = 8, F64_N = 8, F64_K = 4;  // WMMA's only shape for double

/// C = A through fragments: a block of four warps handles 16 x 16 elements, a warp 8 x 8.
template <typename In, typename Out>
__global__ void fragment_kernel(MatrixView<const In> a, MatrixView<Out> c) {
#if GEMM_LAB_TENSOR_CORES
  constexpr int SIDE = 16, PITCH = SIDE + 4, THREADS = 128;
  alignas(32) __shared__ In tile[SIDE][PITCH];  // (16, 16), row-major
  alignas(32) __shared__ Out scratch[4][F64_M][SCRATCH_PITCH<F64_N>];
  const int row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE, warp = threadIdx.x / 32;
  const int row = warp / 2 * F64_M, col = warp % 2 * F64_N;
  fetch_tile<THREADS, SIDE, SIDE>(tile, a, row0, col0, rows_aligned(a));
  __syncthreads();
  wmma::fragment<wmma::accumulator, F64_M, F64_N, F64_K, Out> values;  // (8, 8)
  wmma::load_matrix_sync(values, &tile[row][col], PITCH, wmma::mem_row_major);
  store_fragment(values, scratch[warp], c, row0 + row, col0 + col);
#endif
}

template <typename In, typename Out>
void fragments_to_c(MatrixView<const In> a, MatrixView<const In>, MatrixView<Out> c,
                    cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  const dim3 grid(ceil_div(c.cols, 16), ceil_div(c.rows, 16));
  fragment_kernel<<<grid, 128, 0, stream>>>(a, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 5.1: a fragment per warp

/// One BM x BN tile of C per block, one fragment of 8 x 8 per warp.
template <int BM, int BN, int BK, typename In, typename Out>
__global__ void __launch_bounds__(BM / F64_M * (BN / F64_N) * 32)
    one_fragment_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c) {
#if GEMM_LAB_TENSOR_CORES
  constexpr int WARPS_N = BN / F64_N, WARPS = BM / F64_M * WARPS_N, THREADS = WARPS * 32;
  static_assert(BM % F64_M == 0 && BN % F64_N == 0, "a block's tile must be whole fragments");
  static_assert(BK % F64_K == 0, "the depth of a tile must be a multiple of a fragment's");
  static_assert(THREADS <= 1024, "a block must not have more than 32 warps");
  constexpr int PITCH_A = BK + 4, PITCH_B = BN + 4;  // 4 more: rows begin in other banks
  alignas(32) __shared__ In a_tile[BM][PITCH_A];     // (BM, BK), row-major
  alignas(32) __shared__ In b_tile[BK][PITCH_B];     // (BK, BN), row-major
  alignas(32) __shared__ Out scratch[WARPS][F64_M][SCRATCH_PITCH<F64_N>];
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  // TODO(5.1) Compute row and col, where this warp's fragment begins in the tile (WARPS_N lie side
  //           by side). Then write lab 3's loop; its inner loop goes in steps of F64_K, and loads
  //           and multiplies fragments instead of numbers. At the end, call your store_fragment.
  (void)a_tile, (void)b_tile, (void)scratch, (void)row0, (void)col0;
#endif
}

template <typename In, typename Out>
void gemm_wmma_f64(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                   cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int BM = 32, BN = 32, BK = 32, THREADS = BM / F64_M * (BN / F64_N) * 32;
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  one_fragment_kernel<BM, BN, BK><<<grid, THREADS, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 5.2: a tile of fragments per warp

constexpr int WMMA_M = 16, WMMA_N = 16;  // of all types but double

/// Whether the GPU that this is compiled for can multiply fragments of T.
template <typename T>
constexpr bool HAS_FRAGMENTS = GEMM_LAB_TENSOR_CORES || std::is_same_v<T, __half>;

/// WMMA's 16 x 16 x K for operands that are T in memory. PAD_A and PAD_B are elements at the end of
/// each row of a tile: with them, a warp reads its fragments without bank conflicts.
template <typename T>
struct Wmma {
  using Operand = T;  // __half and __nv_bfloat16
  static constexpr int K = 16, PAD_A = 8, PAD_B = 8;
};
#if GEMM_LAB_TENSOR_CORES
template <>
struct Wmma<float> {
  using Operand = wmma::precision::tf32;
  static constexpr int K = 8, PAD_A = 4, PAD_B = 8;
};
#endif

/// Rounds a fragment of A or B to what a tensor core reads of it. Of a float, it reads the upper 19
/// bits (TF32); 16-bit elements it reads as they are.
template <typename Fragment>
__device__ void round_operand(Fragment& f) {
#if GEMM_LAB_TENSOR_CORES
  if constexpr (sizeof(f.x[0]) == 4) {
    // TODO(5.2b) Round each f.x[i], i < f.num_elements, with wmma::__float_to_tf32().
    f.x[0] = unwritten<float>();
  }
#endif
}

/// One BM x BN tile of C per block, WM x WN of it per warp. If the sums leave enough registers, two
/// blocks share a multiprocessor: while one waits for its tiles, the other multiplies.
template <int BM, int BN, int BK, int WM, int WN, typename In, typename Out>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32, (WM * WN <= 64 * 32) ? 2 : 1)
    fragments_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c) {
  if constexpr (HAS_FRAGMENTS<In>) {
    using W = Wmma<In>;
    constexpr int WARPS_N = BN / WN, WARPS = BM / WM * WARPS_N, THREADS = WARPS * 32;
    constexpr int ROWS = WM / WMMA_M, COLS = WN / WMMA_N;  // fragments of C per warp
    static_assert(BM % WM == 0 && BN % WN == 0, "a block's tile must consist of whole warp tiles");
    static_assert(WM % WMMA_M == 0 && WN % WMMA_N == 0, "a warp's tile must be whole fragments");
    static_assert(BK % W::K == 0, "the depth of a tile must be a multiple of a fragment's");
    static_assert(THREADS <= 1024, "a block must not have more than 32 warps");
    constexpr int PITCH_A = BK + W::PAD_A, PITCH_B = BN + W::PAD_B;
    alignas(32) __shared__ In a_tile[BM][PITCH_A];  // (BM, BK), row-major, padded
    alignas(32) __shared__ In b_tile[BK][PITCH_B];  // (BK, BN), row-major, padded
    alignas(32) __shared__ Out scratch[WARPS][WMMA_M][SCRATCH_PITCH<WMMA_N>];
    static_assert(sizeof(a_tile) + sizeof(b_tile) + sizeof(scratch) <= 48 << 10,
                  "all of it must fit into 48 KiB");
    const int warp = threadIdx.x / 32, row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const bool wide_a = rows_aligned(a);  // asked once, not in every step
    const bool wide_b = rows_aligned(b);
    const int row = warp / WARPS_N * WM, col = warp % WARPS_N * WN;
    wmma::fragment<wmma::accumulator, WMMA_M, WMMA_N, W::K, Out> acc[ROWS][COLS];  // (WM, WN)
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
      for (int j = 0; j < COLS; ++j) wmma::fill_fragment(acc[i][j], 0.0f);
    for (int k0 = 0; k0 < a.cols; k0 += BK) {
      fetch_tile<THREADS, BM, BK>(a_tile, a, row0, k0, wide_a);
      fetch_tile<THREADS, BK, BN>(b_tile, b, k0, col0, wide_b);
      __syncthreads();
#pragma unroll
      for (int k = 0; k < BK; k += W::K) {
        using Operand = typename W::Operand;
        wmma::fragment<wmma::matrix_a, WMMA_M, WMMA_N, W::K, Operand, wmma::row_major> a_k[ROWS];
        wmma::fragment<wmma::matrix_b, WMMA_M, WMMA_N, W::K, Operand, wmma::row_major> b_k[COLS];
        // TODO(5.2) Lab 2's outer product, with fragments: load ROWS of A, (WM, K), and COLS of B,
        //           (K, WN), each once, and pass each to round_operand. Then ROWS * COLS products.
        //           Unroll all of these loops, or the fragments end up in local memory.
        a_k[0].x[0] = b_k[0].x[0] = unwritten<In>();
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
      for (int j = 0; j < COLS; ++j)
        store_fragment(acc[i][j], scratch[warp], c, row0 + row + WMMA_M * i,
                       col0 + col + WMMA_N * j);
  }
}

/// Tiles of A have rows of 128 bytes, whatever the type.
template <typename In, typename Out>
void gemm_wmma(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
               cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int BM = 128, BN = 128, BK = 128 / sizeof(In), WM = 64, WN = 32;
  constexpr int THREADS = BM / WM * (BN / WN) * 32;
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  fragments_kernel<BM, BN, BK, WM, WN><<<grid, THREADS, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

/// 5.2b: float in memory, TF32 in the tensor cores: the range of FP32, but 10 bits after the point.
template <typename In, typename Out>
void gemm_wmma_tf32(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                    cudaStream_t stream) {
  gemm_wmma(a, b, c, stream);
}
