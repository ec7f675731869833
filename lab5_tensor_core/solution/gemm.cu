// Lab 5: tensor cores.
//
// You will learn to give whole small matrices to a warp instead of numbers to its threads: first by
// CUDA's WMMA interface, in FP64, FP16, BF16 and TF32, then by the PTX instructions below it, with
// fragments that you place yourself, a swizzled tile, and copies that run while the warps multiply.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"

namespace wmma = nvcuda::wmma;

// Tensor cores take half from compute capability 7.0 on; double, bfloat16 and TF32 from 8.0 on, as
// shared memory does asynchronous copies. Before 8.0, kernels that need any of these are empty.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define GEMM_LAB_TENSOR_CORES 1
#else
#define GEMM_LAB_TENSOR_CORES 0
#endif

constexpr int ceil_div(int n, int d) {
  return (n + d - 1) / d;
}

/// How many elements make 16 bytes.
template <typename T>
constexpr int VEC = 16 / sizeof(T);

/// True if every row of m begins at a multiple of 16 bytes.
template <typename T>
__device__ bool rows_aligned(MatrixView<T> m) {
  return reinterpret_cast<std::size_t>(m.data) % 16 == 0 && m.ld % VEC<T> == 0;
}

/// 16 bytes, element by element: the first `left` from `from` on, then zeros. No load waits for
/// another.
template <typename T>
__device__ uint4 gather(const T* from, int left) {
  alignas(16) T piece[VEC<T>];
#pragma unroll
  for (int e = 0; e < VEC<T>; ++e) piece[e] = e < left ? from[e] : T(0.0f);
  const auto* const words = reinterpret_cast<const unsigned*>(piece);
  return {words[0], words[1], words[2], words[3]};
}

/// The 16 bytes of m from (row, col) on, zeros where it has no elements; in one piece where the
/// rows of m are aligned (`wide`).
template <typename T>
__device__ uint4 piece_at(MatrixView<const T> m, int row, int col, bool wide) {
  const int left = row < m.rows ? m.cols - col : 0;  // elements of m from here on
  if (left <= 0) return uint4{};
  const T* const from = &m(row, col);
  return wide && left >= VEC<T> ? *reinterpret_cast<const uint4*>(from) : gather(from, left);
}

/// Fetches the ROWS x COLS part of m at (row0, col0); tile[r][k] has element (r, k), or zero where
/// m has none. A thread starts all its loads before it stores what the first one brought: it waits
/// for memory once, not for each piece.
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

// ---- 5.1: fragments

/// Elements per row of a fragment of C in shared memory: eight more for a wide one, so that the
/// rows a warp stores at once begin in different banks.
template <int N>
constexpr int SCRATCH_PITCH = N < 16 ? N : N + 8;

/// Stores a fragment of C whose first element is (row, col), as far as C exists there. A fragment
/// has no edges: all of it goes to `scratch`, which is the warp's own, and from there what exists
/// to C.
template <int M, int N, int K, typename Out>
__device__ void store_fragment(const wmma::fragment<wmma::accumulator, M, N, K, Out>& acc,
                               Out (&scratch)[M][SCRATCH_PITCH<N>], MatrixView<Out> c, int row,
                               int col) {
  // TODO(5.1) store_matrix_sync; when all lanes have done it, 32 elements at a time to C. Eight
  //           neighbours of each of four rows at once lie in 32 different banks.
  // >>> solution
  wmma::store_matrix_sync(&scratch[0][0], acc, SCRATCH_PITCH<N>, wmma::mem_row_major);
  __syncwarp();  // all of it is there
#pragma unroll
  for (int e = threadIdx.x % 32; e < M * N; e += 32) {
    const int r = e / 8 % M, j = e / (8 * M) * 8 + e % 8;  // eight neighbours of four rows at once
    if (row + r < c.rows && col + j < c.cols) c(row + r, col + j) = scratch[r][j];
  }
  __syncwarp();  // the next fragment may be put there
  // <<< solution
}

/// One BM x BN tile of C per block, one fragment of 8 x 8 per warp.
template <int BM, int BN, int BK, typename In, typename Out>
__global__ void __launch_bounds__(BM / 8 * (BN / 8) * 32)
    one_fragment_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c) {
#if GEMM_LAB_TENSOR_CORES
  constexpr int M = 8, N = 8, K = 4, THREADS = BM / M * (BN / N) * 32;  // WMMA's shape for double
  static_assert(BM % M == 0 && BN % N == 0, "a block's tile must consist of whole fragments");
  static_assert(BK % K == 0, "the depth of a tile must be a multiple of a fragment's");
  static_assert(THREADS <= 1024, "a block must not have more than 32 warps");
  alignas(32) __shared__ In a_tile[BM][BK + 4], b_tile[BK][BN + 4];  // 4 more: other banks
  alignas(32) __shared__ Out scratch[THREADS / 32][M][SCRATCH_PITCH<N>];
  // TODO(5.1) Where in the tile is the fragment of this warp? Then lab 3's loop, but its inner loop
  //           goes in steps of K and loads and multiplies fragments instead of numbers.
  // >>> solution
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const bool wide_a = rows_aligned(a), wide_b = rows_aligned(b);
  const int warp = threadIdx.x / 32, row = warp / (BN / N) * M, col = warp % (BN / N) * N;
  wmma::fragment<wmma::accumulator, M, N, K, Out> acc;
  wmma::fill_fragment(acc, 0.0);
  for (int k0 = 0; k0 < a.cols; k0 += BK) {
    fetch_tile<THREADS, BM, BK>(a_tile, a, row0, k0, wide_a);
    fetch_tile<THREADS, BK, BN>(b_tile, b, k0, col0, wide_b);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k += K) {
      wmma::fragment<wmma::matrix_a, M, N, K, In, wmma::row_major> a_k;
      wmma::fragment<wmma::matrix_b, M, N, K, In, wmma::row_major> b_k;
      wmma::load_matrix_sync(a_k, &a_tile[row][k], BK + 4);
      wmma::load_matrix_sync(b_k, &b_tile[k][col], BN + 4);
      wmma::mma_sync(acc, a_k, b_k, acc);
    }
    __syncthreads();
  }
  store_fragment(acc, scratch[warp], c, row0 + row, col0 + col);
  // <<< solution
#endif
}

template <typename In, typename Out>
void gemm_wmma_f64(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                   cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int BM = 32, BN = 32, BK = 32, THREADS = BM / 8 * (BN / 8) * 32;
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  one_fragment_kernel<BM, BN, BK><<<grid, THREADS, 0, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

// ---- 5.2: a tile of fragments per warp

/// Whether the GPU that this is compiled for multiplies fragments of T.
template <typename T>
constexpr bool HAS_FRAGMENTS = GEMM_LAB_TENSOR_CORES || std::is_same_v<T, __half>;

/// WMMA's 16 x 16 x K for operands that lie in memory as T. PAD_A and PAD_B elements at the end of
/// each row of the tiles let a warp read its fragments without bank conflicts.
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

/// Rounds what a fragment of A or B has taken from memory to what a tensor core reads of it.
template <typename Fragment>
__device__ void round_operand(Fragment& f) {
#if GEMM_LAB_TENSOR_CORES
  if constexpr (sizeof(f.x[0]) == 4) {  // of a float, it reads the upper 19 bits
    // TODO(5.2b) Round each f.x[i], i < f.num_elements, by wmma::__float_to_tf32.
    // >>> solution
#pragma unroll
    for (int i = 0; i < f.num_elements; ++i) f.x[i] = wmma::__float_to_tf32(f.x[i]);
    // <<< solution
  }
#endif
}

/// acc += a_tile * b_tile for the rows from `row` and the columns from `col` on, in fragments.
template <int ROWS, int COLS, int BM, int BK, int PITCH_A, int PITCH_B, typename In, typename Acc>
__device__ void multiply_fragments(Acc (&acc)[ROWS][COLS], const In (&a_tile)[BM][PITCH_A],
                                   const In (&b_tile)[BK][PITCH_B], int row, int col) {
  using Operand = typename Wmma<In>::Operand;
  constexpr int K = Wmma<In>::K;
  static_assert(BK % K == 0, "the depth of a tile must be a multiple of a fragment's");
  // TODO(5.2) It is lab 2's outer product: for each k, ROWS fragments of A and COLS of B, each
  //           loaded once (and given to round_operand), then ROWS * COLS products.
  // >>> solution
#pragma unroll
  for (int k = 0; k < BK; k += K) {
    wmma::fragment<wmma::matrix_a, 16, 16, K, Operand, wmma::row_major> a_k[ROWS];
    wmma::fragment<wmma::matrix_b, 16, 16, K, Operand, wmma::row_major> b_k[COLS];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      wmma::load_matrix_sync(a_k[i], &a_tile[row + 16 * i][k], PITCH_A);
      round_operand(a_k[i]);
    }
#pragma unroll
    for (int j = 0; j < COLS; ++j) {
      wmma::load_matrix_sync(b_k[j], &b_tile[k][col + 16 * j], PITCH_B);
      round_operand(b_k[j]);
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
      for (int j = 0; j < COLS; ++j) wmma::mma_sync(acc[i][j], a_k[i], b_k[j], acc[i][j]);
  }
  // <<< solution
}

/// One BM x BN tile of C per block, WM x WN of it per warp. Where the sums leave room, two blocks
/// shall fit into a multiprocessor: while one waits for its fetch, the other multiplies.
template <int BM, int BN, int BK, int WM, int WN, typename In, typename Out>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32, (WM * WN <= 64 * 32) ? 2 : 1)
    fragments_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c) {
  if constexpr (HAS_FRAGMENTS<In>) {
    using W = Wmma<In>;
    constexpr int WARPS = BM / WM * (BN / WN), THREADS = WARPS * 32;
    static_assert(BM % WM == 0 && BN % WN == 0, "a block's tile must consist of whole warp tiles");
    static_assert(WM % 16 == 0 && WN % 16 == 0, "a warp's tile must consist of whole fragments");
    static_assert(THREADS <= 1024, "a block must not have more than 32 warps");
    alignas(32) __shared__ In a_tile[BM][BK + W::PAD_A], b_tile[BK][BN + W::PAD_B];
    alignas(32) __shared__ Out scratch[WARPS][16][SCRATCH_PITCH<16>];
    static_assert(sizeof(a_tile) + sizeof(b_tile) + sizeof(scratch) <= 48 << 10,
                  "all of it must fit into 48 KiB");
    wmma::fragment<wmma::accumulator, 16, 16, W::K, Out> acc[WM / 16][WN / 16];
    // TODO(5.2) Clear all accumulators; the loop over K; store each of them.
    // >>> solution
    const int warp = threadIdx.x / 32, row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const bool wide_a = rows_aligned(a), wide_b = rows_aligned(b);
    const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;
#pragma unroll
    for (int i = 0; i < WM / 16; ++i)
#pragma unroll
      for (int j = 0; j < WN / 16; ++j) wmma::fill_fragment(acc[i][j], 0.0f);
    for (int k0 = 0; k0 < a.cols; k0 += BK) {
      fetch_tile<THREADS, BM, BK>(a_tile, a, row0, k0, wide_a);
      fetch_tile<THREADS, BK, BN>(b_tile, b, k0, col0, wide_b);
      __syncthreads();
      multiply_fragments(acc, a_tile, b_tile, row, col);
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < WM / 16; ++i)
#pragma unroll
      for (int j = 0; j < WN / 16; ++j)
        store_fragment(acc[i][j], scratch[warp], c, row0 + row + 16 * i, col0 + col + 16 * j);
    // <<< solution
  }
}

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

/// Float in memory, TF32 in the tensor cores: FP32's range with 10 bits after the point.
template <typename In, typename Out>
void gemm_wmma_tf32(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                    cudaStream_t stream) {
  // TODO(5.2b) Launch the same kernel for float, once round_operand does what it says.
  // >>> solution
  gemm_wmma(a, b, c, stream);
  // <<< solution
}

// ---- 5.3 bonus: mma.sync and a pipeline of tiles

/// PTX wants addresses inside shared memory, 32 bits wide.
__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

/// Copies 16 bytes from global to shared memory without waiting: the first `bytes` from `from`,
/// then zeros. `from` must be a valid address even if bytes is 0.
__device__ inline void copy16_async(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
}
/// As copy16_async for one element of 4 or 8 bytes, wherever one may lie: copied, or made zero.
template <typename T>
__device__ void copy_element_async(T* to, const T* from, bool exists) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
               :
               : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "n"(sizeof(T)),
                 "r"(exists ? static_cast<int>(sizeof(T)) : 0)
               : "memory");
}
/// Closes a group: the copies that this thread has begun since the last one.
__device__ inline void commit_copies() {
  asm volatile("cp.async.commit_group;" : : : "memory");
}
/// Waits until at most `groups` groups of this thread, the last ones, are still on their way.
template <int groups>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" : : "n"(groups) : "memory");
}

/// Four 8 x 8 matrices of 16-bit elements, a register each. Lane l gives the address of 16 bytes:
/// row l % 8 of matrix l / 8. It gets elements (l / 4, l % 4 * 2) and (l / 4, l % 4 * 2 + 1) of
/// each matrix. Of a row of four floats, that is float l % 4.
__device__ inline void ldmatrix(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}
/// The same, each matrix transposed: lane l gets (l % 4 * 2, l / 4) and (l % 4 * 2 + 1, l / 4).
__device__ inline void ldmatrix_transposed(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(row))
               : "memory");
}

/// d += a * b, 16 x 8 x K, with A registers of a and B of b per lane. A register holds P neighbours
/// along k: two 16-bit elements, else one. With g = lane / 4 and t = lane % 4:
///   a[r]        row g + 8 * (r % 2),  k = P * (t + 4 * (r / 2)) ...
///   b[r]        column g,             k = P * (t + 4 * r) ...
///   d[e]        row g + 8 * (e / 2),  column 2 * t + e % 2
template <typename T>
struct Mma;
template <>
struct Mma<__half> {
  using Register = unsigned;
  static constexpr int K = 16, A = 4, B = 2;
  __device__ static void add(float (&d)[4], const unsigned (&a)[A], const unsigned (&b)[B]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};
template <>
struct Mma<__nv_bfloat16> {
  using Register = unsigned;
  static constexpr int K = 16, A = 4, B = 2;
  __device__ static void add(float (&d)[4], const unsigned (&a)[A], const unsigned (&b)[B]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};
template <>
struct Mma<float> {  // TF32
  using Register = unsigned;
  static constexpr int K = 8, A = 4, B = 2;
  __device__ static void add(float (&d)[4], const unsigned (&a)[A], const unsigned (&b)[B]) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};
template <>
struct Mma<double> {
  using Register = double;
  static constexpr int K = 4, A = 2, B = 1;
  __device__ static void add(double (&d)[4], const double (&a)[A], const double (&b)[B]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile(
        "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(b[0]));
#else  // the only shape before Hopper has 8 rows: two of them, in the same registers
#pragma unroll
    for (int i = 0; i < 2; ++i)
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+d"(d[2 * i]), "+d"(d[2 * i + 1])
                   : "d"(a[i]), "d"(b[0]));
#endif
  }
};

/// A tile in shared memory, row by row without padding, its 16-byte chunks permuted inside each
/// row. SPAN says how many neighbouring chunks of a row one phase of a read takes: ldmatrix takes
/// one from each of eight rows; lanes that each read 8 bytes for themselves take two from each of
/// four.
template <typename T, int ROWS, int COLS, int SPAN>
struct Tile {
  static_assert(COLS % (8 * VEC<T>) == 0, "a row must go around the 32 banks, once or more often");
  T data[ROWS * COLS];

  /// Where element (row, col) is.
  __device__ T* at(int row, int col) {
    // TODO(5.3) Let chunk col / VEC lie where chunk ^ n would, with n from the row, so that a phase
    //           touches all 32 banks. This is the place without a swizzle:
    // >>> skeleton
    // return &data[row * COLS + col];
    // <<< skeleton
    // >>> solution
    const int from = col / VEC<T>, chunk = from ^ (row * SPAN % 8);
    return &data[row * COLS + chunk * VEC<T> + col % VEC<T>];
    // <<< solution
  }
};

/// Begins to copy the part of m at (row0, col0) into the tile; zero where m has no element. What
/// cannot be copied asynchronously is there at once. INSIDE: m is known to have all of it, in
/// aligned rows, so that there is nothing to ask.
template <bool INSIDE, int THREADS, typename T, int ROWS, int COLS, int SPAN>
__device__ void copy_tile(Tile<T, ROWS, COLS, SPAN>& tile, MatrixView<const T> m, int row0,
                          int col0, bool wide) {
  constexpr int V = VEC<T>, PIECES = COLS / V;  // per row
  constexpr int STEP = THREADS / PIECES;        // rows from one piece of a thread to its next
  static_assert(THREADS % PIECES == 0 && ROWS % STEP == 0, "as many pieces for every thread");
  const int r = threadIdx.x / PIECES, k = threadIdx.x % PIECES * V, col = col0 + k;
  const T* from = &m(row0 + r, col);
  constexpr int AT_ONCE = INSIDE ? ROWS / STEP : 1;  // with all the questions, registers run short
#pragma unroll AT_ONCE
  for (int i = 0; i < ROWS; i += STEP) {
    T* to = tile.at(r + i, k);
    const int left = row0 + r + i < m.rows && col < m.cols ? m.cols - col : 0;  // that exist
    // TODO(5.3) One asynchronous copy if the rows are aligned, else element by element.
    // >>> solution
    if (INSIDE) {
      copy16_async(to, from, 16);
    } else if (wide) {
      copy16_async(to, left > 0 ? from : m.data, (left < V ? left : V) * sizeof(T));
    } else if constexpr (sizeof(T) >= 4) {
#pragma unroll
      for (int e = 0; e < V; ++e)
        copy_element_async(&to[e], e < left ? from + e : m.data, e < left);
    } else {
      *reinterpret_cast<uint4*>(to) = gather(from, left);
    }
    // <<< solution
    from += static_cast<std::ptrdiff_t>(STEP) * m.ld;
  }
}

#if GEMM_LAB_TENSOR_CORES
/// A float's bits, rounded to what a tensor core reads: half of the last bit that counts is added,
/// it cuts off the rest. 0x7fffffff, the NaN of arithmetic, would overflow into the sign, so the
/// larger counts. NaNs from 0xfffff000 on, of no arithmetic, become 0. One instruction on Hopper.
__device__ inline unsigned round_to_tf32(unsigned bits) {
  const int rounded = static_cast<int>(bits + 0x1000u), as_it_was = static_cast<int>(bits);
  return static_cast<unsigned>(rounded > as_it_was ? rounded : as_it_was);
}

/// The fragment of A whose first element is (row, k) of the tile, as Mma wants it.
template <typename Register, int R, typename A>
__device__ void load_a(Register (&f)[R], A& tile, int row, int k) {
  [[maybe_unused]] const int lane = threadIdx.x % 32;
  using T = std::remove_reference_t<decltype(tile.data[0])>;
  if constexpr (sizeof(T) <= 4) {
    // TODO(5.3) One ldmatrix. Which 8 x 8 matrix is a[0], a[1], ...? Which row does this lane name?
    // >>> solution
    ldmatrix(f, tile.at(row + lane % 16, k + lane / 16 * VEC<T>));
    // <<< solution
  } else {
    // TODO(5.3c) ldmatrix has no 8-byte elements: each lane reads its two itself.
    // >>> solution
#pragma unroll
    for (int r = 0; r < R; ++r) f[r] = *tile.at(row + lane / 4 + r * 8, k + lane % 4);
    // <<< solution
  }
  if constexpr (sizeof(T) == 4) {
    // TODO(5.3b) Round the four floats, as in 5.2b: round_to_tf32 does it in fewer instructions.
    // >>> solution
#pragma unroll
    for (int r = 0; r < R; ++r) f[r] = round_to_tf32(f[r]);
    // <<< solution
  }
}

/// Which column of a warp's tile is column n of fragment j. One could do without: but if the same
/// column of four fragments are neighbours, a lane reads four floats at once, and stores four.
template <typename T>
__device__ int column_of(int j, int n) {
  return sizeof(T) == 4 ? j / 4 * 32 + (n / 2 + n % 2 * 4) * 4 + j % 4 : j * 8 + n;
}

/// All N fragments of B that a warp multiplies, in row k of the tile and from column col on.
template <typename Register, int N, int R, typename B>
__device__ void load_b(Register (&f)[N][R], B& tile, int k, int col) {
  [[maybe_unused]] const int lane = threadIdx.x % 32;
  using T = std::remove_reference_t<decltype(tile.data[0])>;
  if constexpr (sizeof(T) == 2) {
    static_assert(N % 2 == 0, "an ldmatrix brings two fragments");
#pragma unroll
    for (int j = 0; j < N; j += 2) {
      Register two[2 * R] = {};
      // TODO(5.3) The rows of the tile have neighbours in n, a register of B neighbours in k.
      // >>> solution
      ldmatrix_transposed(two, tile.at(k + lane % 16, col + 8 * j + lane / 16 * VEC<T>));
      // <<< solution
#pragma unroll
      for (int r = 0; r < 2 * R; ++r) f[j + r / R][r % R] = two[r];
    }
  } else if constexpr (sizeof(T) == 4) {
    static_assert(N % 4 == 0, "16 bytes bring an element of four fragments each");
    // TODO(5.3b) .trans knows only 16-bit elements: read 16 bytes, b[r] of fragments j ... j + 3,
    //            each rounded by round_to_tf32.
    // >>> solution
#pragma unroll
    for (int j = 0; j < N; j += 4)
#pragma unroll
      for (int r = 0; r < R; ++r) {
        const T* const first = tile.at(k + lane % 4 + r * 4, col + column_of<T>(j, lane / 4));
        const uint4 four = *reinterpret_cast<const uint4*>(first);
        f[j][r] = round_to_tf32(four.x), f[j + 1][r] = round_to_tf32(four.y);
        f[j + 2][r] = round_to_tf32(four.z), f[j + 3][r] = round_to_tf32(four.w);
      }
    // <<< solution
  } else {
    // TODO(5.3c) Element by element.
    // >>> solution
#pragma unroll
    for (int j = 0; j < N; ++j) f[j][0] = *tile.at(k + lane % 4, col + 8 * j + lane / 4);
    // <<< solution
  }
}

/// What a warp multiplies by one mma per fragment of C: WM x K of A, K x WN of B.
template <typename T, int WM, int WN>
struct Fragments {
  typename Mma<T>::Register a[WM / 16][Mma<T>::A] = {}, b[WN / 8][Mma<T>::B] = {};
};

/// The fragments from column k of a's tile and row k of b's, for the rows of C from `row` and its
/// columns from `col` on.
template <typename T, int WM, int WN, typename A, typename B>
__device__ void load_fragments(Fragments<T, WM, WN>& f, A& a, B& b, int row, int col, int k) {
#pragma unroll
  for (int i = 0; i < WM / 16; ++i) load_a(f.a[i], a, row + 16 * i, k);
  load_b(f.b, b, k, col);
}

/// acc += a * b, to and fro: where a row turns, the fragment of B stays the same.
template <typename T, int WM, int WN, typename Out>
__device__ void add_products(Out (&acc)[WM / 16][WN / 8][4], const Fragments<T, WM, WN>& f) {
#pragma unroll
  for (int i = 0; i < WM / 16; ++i)
#pragma unroll
    for (int n = 0; n < WN / 8; ++n) {
      const int j = i % 2 ? WN / 8 - 1 - n : n;
      Mma<T>::add(acc[i][j], f.a[i], f.b[j]);
    }
}

/// 16 bytes of a row of C: by one store if C is known to have them, in aligned rows (INSIDE), else
/// element by element, as far as they exist.
template <bool INSIDE, typename Out>
__device__ void store_row(MatrixView<Out> c, int row, int col, const Out (&values)[VEC<Out>]) {
  if (INSIDE) {
    *reinterpret_cast<uint4*>(&c(row, col)) = *reinterpret_cast<const uint4*>(values);
  } else if (row < c.rows) {
#pragma unroll
    for (int e = 0; e < VEC<Out>; ++e)
      if (col + e < c.cols) c(row, col + e) = values[e];
  }
}

/// Of a row of C, v has two neighbours in fragment j and two in j + 1. Lanes 2 t and 2 t + 1 trade:
/// the even one gets four neighbours in j, the odd one four in j + 1. 16 bytes to store, not 8.
__device__ inline void trade_neighbours(float (&v)[4]) {
  const bool odd = threadIdx.x % 2 != 0;
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const float in_j = v[e], in_next = v[2 + e];
    const float theirs = __shfl_xor_sync(~0u, odd ? in_j : in_next, 1);
    v[e] = odd ? theirs : in_j;
    v[2 + e] = odd ? in_next : theirs;
  }
}

/// Stores a warp's fragments whose first element is (row, col), as far as C exists. T: what A and B
/// consist of. Neighbours in a row of C are d[e] and d[e + 1] or, for TF32, d[e] of four fragments.
template <bool INSIDE, typename T, int ROWS, int COLS, typename Out>
__device__ void store_fragments(const Out (&acc)[ROWS][COLS][4], MatrixView<Out> c, int row,
                                int col) {
  constexpr int E = sizeof(T) == 4 ? 1 : 2, J = VEC<Out> / E;  // 16 bytes: E of J fragments
  static_assert(COLS % J == 0, "a warp's tile must consist of whole stores");
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < ROWS; ++i)
#pragma unroll
    for (int j = 0; j < COLS; j += J)
#pragma unroll
      for (int e = 0; e < 4; e += E) {
        // TODO(5.3) Which row of C does d[e] of this lane belong to, and which column n of its
        //           fragment? See Mma.
        // >>> skeleton
        // int r = -1, n = 0;
        // if (r < 0) return;  // until you know, nothing is stored
        // <<< skeleton
        // >>> solution
        const int r = row + 16 * i + lane / 4 + e / 2 * 8, n = lane % 4 * 2 + e % 2;
        // <<< solution
        alignas(16) Out values[J * E];
#pragma unroll
        for (int v = 0; v < J * E; ++v) values[v] = acc[i][j + v / E][e + v % E];
        int first = column_of<T>(j, n);
        if constexpr (sizeof(T) == 2) {
          trade_neighbours(values);
          first = column_of<T>(j + lane % 2, n / 4 * 4);
        }
        store_row<INSIDE>(c, r, col + first, values);
      }
}
#endif

/// The two tiles of one step along K. For any type, BK elements are 128 bytes: a row of A's tile, a
/// column of B's.
template <typename T, int BM, int BN, int BK>
struct Stage {
  Tile<T, BM, BK, sizeof(T) <= 4 ? 1 : 2> a;
  Tile<T, BK, BN, sizeof(T) <= 4 ? 1 : 2> b;
};

/// One BM x BN tile of C per block, WM x WN of it per warp. STAGES pairs of tiles in a ring: while
/// one is multiplied, the copies of the next STAGES - 1 are on their way. Of a pair, K columns of A
/// and K rows of B are multiplied at a time, while the fragments of the next K are being loaded.
template <int STAGES, int BM, int BN, int BK, int WM, int WN, typename In, typename Out>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32)
    mma_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c) {
  static_assert(STAGES >= 2, "one pair of tiles must be complete while another is being filled");
  static_assert(BM % WM == 0 && BN % WN == 0, "a block's tile must consist of whole warp tiles");
  static_assert(WM % 16 == 0 && WN % 8 == 0, "a warp's tile must consist of whole fragments");
#if GEMM_LAB_TENSOR_CORES
  constexpr int THREADS = BM / WM * (BN / WN) * 32, K = Mma<In>::K;
  static_assert(BK % (2 * K) == 0, "the first fragments of a tile must go to the first set");
  extern __shared__ __align__(128) unsigned char memory[];
  auto* const ring = reinterpret_cast<Stage<In, BM, BN, BK>*>(memory);
  const int warp = threadIdx.x / 32, row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;
  const int tiles = (a.cols + BK - 1) / BK;
  const bool wide_a = rows_aligned(a), wide_b = rows_aligned(b);
  /// Begins step t in this place of the ring, if there is one; a group in any case.
  const auto copy = [&](auto inside, int t, int stage) {
    constexpr bool INSIDE = decltype(inside)::value;
    if (INSIDE || t < tiles) {
      copy_tile<INSIDE, THREADS>(ring[stage].a, a, row0, t * BK, wide_a);
      copy_tile<INSIDE, THREADS>(ring[stage].b, b, t * BK, col0, wide_b);
    }
    commit_copies();
  };
  Fragments<In, WM, WN> fragments[2];  // used in turn
  const auto load = [&](int stage, int k) {
    load_fragments(fragments[k / K % 2], ring[stage].a, ring[stage].b, row, col, k);
  };
  Out acc[WM / 16][WN / 8][4] = {};
  int t = 0, stage = 0;  // the step that is being multiplied, and its place in the ring
  /// Waits for the tiles in this place of the ring and loads their first fragments.
  const auto next_tiles = [&](int next) {
    // TODO(5.3) Wait until the copies have arrived: mine, then everybody's.
    // >>> solution
    wait_for_copies<STAGES - 2>();  // mine have arrived
    __syncthreads();                // everybody's; and nobody reads the tiles before any more
    // <<< solution
    load(next, 0);
  };
  /// Multiplies step t. INSIDE: the step whose copies it begins lies inside of A and B.
  const auto multiply = [&](auto inside) {
    const int next = stage + 1 < STAGES ? stage + 1 : 0;
    // TODO(5.3) For each k: load the next fragments, then add_products of these. At the first k,
    //           begin another copy in the place that has become free. Before the next fragments
    //           come from the next tiles, next_tiles - if there are any. One barrier a step is
    //           enough: which place may be overwritten after it?
    // >>> solution
#pragma unroll
    for (int k = 0; k < BK; k += K) {
      if (k + K < BK)
        load(stage, k + K);
      else if (decltype(inside)::value || t + 1 < tiles)
        next_tiles(next);
      if (k == 0) copy(inside, t + STAGES - 1, stage > 0 ? stage - 1 : STAGES - 1);
      add_products(acc, fragments[k / K % 2]);
    }
    // <<< solution
    stage = next;
  };
  // Inside, a step is one stretch of code without a branch: the compiler puts its copies and loads
  // between its products. The last steps, and blocks at the edge, have all the questions to ask.
  const bool inside = row0 + BM <= a.rows && col0 + BN <= b.cols;
  const int whole = inside && wide_a && wide_b ? a.cols / BK : 0;  // steps with nothing to ask
#pragma unroll 1
  for (int s = 0; s < STAGES - 1; ++s)
    s < whole ? copy(std::true_type{}, s, s) : copy(std::false_type{}, s, s);
  if (tiles > 0) next_tiles(stage);
#pragma unroll 1
  for (; t + STAGES - 1 < whole; ++t) multiply(std::true_type{});
#pragma unroll 1
  for (; t < tiles; ++t) multiply(std::false_type{});
  if (inside && rows_aligned(c))
    store_fragments<true, In>(acc, c, row0 + row, col0 + col);
  else
    store_fragments<false, In>(acc, c, row0 + row, col0 + col);
#endif
}

/// Launches mma_kernel. Tiles of A are 128 bytes deep, which is BK elements.
template <int STAGES, int BM, int BN, int WM, int WN, typename In, typename Out>
void launch_mma(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int BK = 128 / sizeof(In), THREADS = BM / WM * (BN / WN) * 32;
  constexpr int BYTES = STAGES * sizeof(Stage<In, BM, BN, BK>);
  const auto kernel = mma_kernel<STAGES, BM, BN, BK, WM, WN, In, Out>;
  // More than 48 KiB a block must be asked for.
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
  const dim3 grid(ceil_div(c.cols, BN), ceil_div(c.rows, BM));
  kernel<<<grid, THREADS, BYTES, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

/// Three stages of 48 KiB where a block may have them (data-centre GPUs), else two.
template <typename In, typename Out>
void gemm_mma(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
              cudaStream_t stream) {
  int device = 0, limit = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  if (limit >= 144 << 10)
    launch_mma<3, 128, 256, 64, 64>(a, b, c, stream);
  else
    launch_mma<2, 128, 256, 64, 64>(a, b, c, stream);
}

template <typename In, typename Out>
void gemm_mma_tf32(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                   cudaStream_t stream) {
  // TODO(5.3b) Launch the same kernel for float, once load_a and load_b do what they say.
  // >>> solution
  gemm_mma(a, b, c, stream);
  // <<< solution
}

template <typename In, typename Out>
void gemm_mma_f64(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                  cudaStream_t stream) {
  // TODO(5.3c) launch_mma for double, in smaller tiles, 128 x 64 and 64 x 32: a double takes two
  //            registers. Three stages.
  // >>> solution
  launch_mma<3, 128, 64, 64, 32>(a, b, c, stream);
  // <<< solution
}

#define INSTANTIATE(rung, In, Out) \
  template void rung(MatrixView<const In>, MatrixView<const In>, MatrixView<Out>, cudaStream_t);
INSTANTIATE(gemm_wmma_f64, double, double)
INSTANTIATE(gemm_wmma, __half, float)
INSTANTIATE(gemm_wmma, __nv_bfloat16, float)
INSTANTIATE(gemm_wmma_tf32, float, float)
INSTANTIATE(gemm_mma, __half, float)
INSTANTIATE(gemm_mma, __nv_bfloat16, float)
INSTANTIATE(gemm_mma_tf32, float, float)
INSTANTIATE(gemm_mma_f64, double, double)
