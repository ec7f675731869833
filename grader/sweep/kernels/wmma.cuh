// Tensor cores by WMMA: fragments of 16 x 16, a tile of them per warp; and one fragment of 8 x 8 in
// double per warp.
#pragma once

#include <mma.h>

#include "grader/sweep/driver.cuh"

namespace sweep {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define GEMM_LAB_SWEEP_TENSOR_CORES 1
#else
#define GEMM_LAB_SWEEP_TENSOR_CORES 0
#endif

/// What a fragment of T is made of, its depth, and the padding that keeps its rows in other banks.
template <typename T>
struct Fragment {
  using Operand = T;
  static constexpr int K = 16, PAD = 8;
};
template <>
struct Fragment<float> {
#if GEMM_LAB_SWEEP_TENSOR_CORES
  using Operand = nvcuda::wmma::precision::tf32;
#else
  using Operand = float;  // the kernels are empty there
#endif
  static constexpr int K = 8, PAD = 4;
};

/// Both tiles, 16 bytes at a time. Whole tiles only.
template <int THREADS, int ROWS, int COLS, int PITCH, typename In>
__device__ void fetch_whole(In (&tile)[ROWS][PITCH], MatrixView<const In> m, int row0, int col0) {
  constexpr int V = 16 / sizeof(In), PIECES = COLS / V;
  static_assert(ROWS * PIECES % THREADS == 0, "equal shares for all threads");
#pragma unroll
  for (int i = threadIdx.x; i < ROWS * PIECES; i += THREADS)
    *reinterpret_cast<uint4*>(&tile[i / PIECES][i % PIECES * V]) =
        *reinterpret_cast<const uint4*>(&m(row0 + i / PIECES, col0 + i % PIECES * V));
}

template <int BM, int BN, int WM, int WN, typename In>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32)
    wmma_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Result<In>> c) {
#if GEMM_LAB_SWEEP_TENSOR_CORES
  namespace wmma = nvcuda::wmma;
  using F = Fragment<In>;
  using Operand = typename F::Operand;
  constexpr int K = F::K, BK = 64 / sizeof(In), THREADS = BM / WM * (BN / WN) * 32;
  __shared__ __align__(32) In a_tile[BM][BK + F::PAD];
  __shared__ __align__(32) In b_tile[BK][BN + 8];
  const int warp = threadIdx.x / 32, row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;
  wmma::fragment<wmma::accumulator, 16, 16, K, float> acc[WM / 16][WN / 16];
#pragma unroll
  for (int i = 0; i < WM / 16; ++i)
#pragma unroll
    for (int j = 0; j < WN / 16; ++j) wmma::fill_fragment(acc[i][j], 0.0f);
  for (int k0 = 0; k0 < a.cols; k0 += BK) {
    fetch_whole<THREADS, BM, BK>(a_tile, a, row0, k0);
    fetch_whole<THREADS, BK, BN>(b_tile, b, k0, col0);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k += K) {
      wmma::fragment<wmma::matrix_a, 16, 16, K, Operand, wmma::row_major> a_k[WM / 16];
      wmma::fragment<wmma::matrix_b, 16, 16, K, Operand, wmma::row_major> b_k[WN / 16];
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {
        wmma::load_matrix_sync(a_k[i], &a_tile[row + 16 * i][k], BK + F::PAD);
        if constexpr (std::is_same_v<In, float>)
          for (int e = 0; e < a_k[i].num_elements; ++e)
            a_k[i].x[e] = wmma::__float_to_tf32(a_k[i].x[e]);
      }
#pragma unroll
      for (int j = 0; j < WN / 16; ++j) {
        wmma::load_matrix_sync(b_k[j], &b_tile[k][col + 16 * j], BN + 8);
        if constexpr (std::is_same_v<In, float>)
          for (int e = 0; e < b_k[j].num_elements; ++e)
            b_k[j].x[e] = wmma::__float_to_tf32(b_k[j].x[e]);
      }
#pragma unroll
      for (int i = 0; i < WM / 16; ++i)
#pragma unroll
        for (int j = 0; j < WN / 16; ++j) wmma::mma_sync(acc[i][j], a_k[i], b_k[j], acc[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < WM / 16; ++i)
#pragma unroll
    for (int j = 0; j < WN / 16; ++j)
      wmma::store_matrix_sync(&c(row0 + row + 16 * i, col0 + col + 16 * j), acc[i][j], c.ld,
                              wmma::mem_row_major);
#endif
}

/// SIDE x SIDE of C per block, an 8 x 8 fragment per warp, 8 x 8 x 4 a step.
template <int SIDE>
__global__ void __launch_bounds__(SIDE / 8 * (SIDE / 8) * 32)
    wmma_double_kernel(MatrixView<const double> a, MatrixView<const double> b,
                       MatrixView<double> c) {
#if GEMM_LAB_SWEEP_TENSOR_CORES
  namespace wmma = nvcuda::wmma;
  constexpr int BK = 16, THREADS = SIDE / 8 * (SIDE / 8) * 32;
  __shared__ __align__(32) double a_tile[SIDE][BK + 4], b_tile[BK][SIDE + 4];
  const int warp = threadIdx.x / 32, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
  const int row = warp / (SIDE / 8) * 8, col = warp % (SIDE / 8) * 8;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> acc;
  wmma::fill_fragment(acc, 0.0);
  for (int k0 = 0; k0 < a.cols; k0 += BK) {
    for (int i = threadIdx.x; i < SIDE * BK; i += THREADS) {
      a_tile[i / BK][i % BK] = a(row0 + i / BK, k0 + i % BK);
      b_tile[i / SIDE][i % SIDE] = b(k0 + i / SIDE, col0 + i % SIDE);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k += 4) {
      wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> a_k;
      wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> b_k;
      wmma::load_matrix_sync(a_k, &a_tile[row][k], BK + 4);
      wmma::load_matrix_sync(b_k, &b_tile[k][col], SIDE + 4);
      wmma::mma_sync(acc, a_k, b_k, acc);
    }
    __syncthreads();
  }
  wmma::store_matrix_sync(&c(row0 + row, col0 + col), acc, c.ld, wmma::mem_row_major);
#endif
}

template <int BM, int BN, int WM, int WN, typename In>
void add_wmma_tile(Plan& plan, int x, const char* label) {
  const bool is_tf32 = std::is_same_v<In, float>;
  for (const int n : {1024, 2048, 4096})
    plan.add<In>(
        {"tile shape", "WMMA", n, x, label},
        [](int size) {
          return one_kernel<In>(wmma_kernel<BM, BN, WM, WN, In>,
                                dim3(ceil_div(size, BN), ceil_div(size, BM)),
                                dim3(BM / WM * (BN / WN) * 32));
        },
        80, is_tf32);
}

template <typename In>
void add_wmma_tiles(Plan& plan) {
  add_wmma_tile<64, 64, 32, 32, In>(plan, 0, "64x64, 32x32");
  add_wmma_tile<128, 64, 64, 32, In>(plan, 1, "128x64, 64x32");
  add_wmma_tile<128, 128, 32, 64, In>(plan, 2, "128x128, 32x64");
  add_wmma_tile<128, 128, 64, 32, In>(plan, 3, "128x128, 64x32");
  add_wmma_tile<128, 128, 64, 64, In>(plan, 4, "128x128, 64x64");
  add_wmma_tile<256, 128, 64, 64, In>(plan, 5, "256x128, 64x64");
}

template <int SIDE>
void add_wmma_double_side(Plan& plan) {
  for (const int n : {1024, 2048, 4096})
    plan.add<double>(
        {"side", "WMMA 8 x 8 x 4", n, SIDE, ""},
        [](int size) {
          return one_kernel<double>(wmma_double_kernel<SIDE>,
                                    dim3(ceil_div(size, SIDE), ceil_div(size, SIDE)),
                                    dim3(SIDE / 8 * (SIDE / 8) * 32));
        },
        80);
}

inline void add_wmma_double(Plan& plan) {
  add_wmma_double_side<8>(plan);
  add_wmma_double_side<16>(plan);
  add_wmma_double_side<32>(plan);
}

}  // namespace sweep
