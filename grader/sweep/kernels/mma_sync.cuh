// Tensor cores by mma.sync: swizzled tiles, ldmatrix where it can, copies in stages by cp.async.
#pragma once

#include <mma.h>

#include "grader/sweep/kernels/wmma.cuh"

namespace sweep {

/// ROWS x COLS elements whose 16-byte chunks are permuted within each row, so that what a warp
/// reads at once lies in all banks. SPAN: chunks of one row that it takes at once.
template <typename T, int ROWS, int COLS, int SPAN>
struct Swizzled {
  static constexpr int V = 16 / sizeof(T);
  static_assert(COLS % (8 * V) == 0, "a row must go around the banks");
  T data[ROWS * COLS];
  __device__ T* at(int row, int col) {
    return &data[row * COLS + ((col / V) ^ (row * SPAN % 8)) * V + col % V];
  }
};

template <typename T, int BM, int BN, int BK>
struct TilePair {
  Swizzled<T, BM, BK, sizeof(T) <= 4 ? 1 : 2> a;
  Swizzled<T, BK, BN, sizeof(T) <= 2 ? 1 : 2> b;
};

template <typename T>
using Register = std::conditional_t<std::is_same_v<T, double>, double, unsigned>;
template <typename T>
constexpr int MMA_K = sizeof(T) == 2 ? 16 : 8;

__device__ inline unsigned address_in_shared(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

template <bool TRANSPOSED>
__device__ void load_matrices(unsigned (&r)[4], const void* row) {
  if constexpr (TRANSPOSED)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address_in_shared(row))
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address_in_shared(row))
                 : "memory");
}

#if GEMM_LAB_SWEEP_TENSOR_CORES
/// 16 x K of A. PTX ISA, "Matrix Fragments for mma.m16n8k16" and the like.
template <typename T, int ROWS, int COLS, int SPAN>
__device__ void load_a(Register<T> (&f)[4], Swizzled<T, ROWS, COLS, SPAN>& tile, int row, int k) {
  const int lane = threadIdx.x % 32;
  if constexpr (sizeof(T) <= 4) {
    load_matrices<false>(f, tile.at(row + lane % 16, k + lane / 16 * (16 / sizeof(T))));
    if constexpr (sizeof(T) == 4)
      for (unsigned& bits : f)
        bits = __float_as_uint(nvcuda::wmma::__float_to_tf32(__uint_as_float(bits)));
  } else {
#pragma unroll
    for (int r = 0; r < 4; ++r)
      f[r] = *tile.at(row + lane / 4 + r % 2 * 8, k + lane % 4 + r / 2 * 4);
  }
}

/// K x 16 of B: two operands of 8 columns.
template <typename T, int ROWS, int COLS, int SPAN>
__device__ void load_b(Register<T> (&f)[4], Swizzled<T, ROWS, COLS, SPAN>& tile, int k, int col) {
  const int lane = threadIdx.x % 32;
  if constexpr (sizeof(T) == 2) {
    load_matrices<true>(f, tile.at(k + lane % 16, col + lane / 16 * 8));
  } else {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const T value = *tile.at(k + lane % 4 + r % 2 * 4, col + lane / 4 + r / 2 * 8);
      if constexpr (sizeof(T) == 4)
        f[r] = __float_as_uint(nvcuda::wmma::__float_to_tf32(value));
      else
        f[r] = value;
    }
  }
}

#define GEMM_LAB_MMA(shape_and_types, constraint_d, constraint)                          \
  asm volatile("mma.sync.aligned." shape_and_types                                       \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"        \
               : "+" constraint_d(d[0]), "+" constraint_d(d[1]), "+" constraint_d(d[2]), \
                 "+" constraint_d(d[3])                                                  \
               : constraint(a[0]), constraint(a[1]), constraint(a[2]), constraint(a[3]), \
                 constraint(b0), constraint(b1))

/// d += a * b, 16 x 8 x MMA_K.
template <typename T>
__device__ void mma(Result<T> (&d)[4], const Register<T> (&a)[4], Register<T> b0, Register<T> b1) {
  if constexpr (std::is_same_v<T, __half>) {
    GEMM_LAB_MMA("m16n8k16.row.col.f32.f16.f16.f32", "f", "r");
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    GEMM_LAB_MMA("m16n8k16.row.col.f32.bf16.bf16.f32", "f", "r");
  } else if constexpr (std::is_same_v<T, float>) {
    GEMM_LAB_MMA("m16n8k8.row.col.f32.tf32.tf32.f32", "f", "r");
  } else {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    GEMM_LAB_MMA("m16n8k8.row.col.f64.f64.f64.f64", "d", "d");
#else  // before Hopper 8 x 8 x 4 is all there is
#pragma unroll
    for (int i = 0; i < 4; ++i)
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+d"(d[i % 2 * 2]), "+d"(d[i % 2 * 2 + 1])
                   : "d"(a[i]), "d"(i < 2 ? b0 : b1));
#endif
  }
}
#undef GEMM_LAB_MMA
#endif

/// One BM x BN tile of C per block, WM x WN per warp; tiles 128 bytes deep in a ring of STAGES.
/// Whole tiles only, rows aligned to 16 bytes.
template <int STAGES, int BM, int BN, int WM, int WN, typename In>
__global__ void __launch_bounds__(BM / WM * (BN / WN) * 32)
    mma_kernel(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Result<In>> c) {
#if GEMM_LAB_SWEEP_TENSOR_CORES
  constexpr int BK = 128 / sizeof(In), V = 16 / sizeof(In), K = MMA_K<In>;
  constexpr int THREADS = BM / WM * (BN / WN) * 32;
  extern __shared__ __align__(128) unsigned char memory[];
  auto* const ring = reinterpret_cast<TilePair<In, BM, BN, BK>*>(memory);
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN, tiles = a.cols / BK;
  const int row = warp / (BN / WN) * WM, col = warp % (BN / WN) * WN;
  const auto copy16 = [](void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(address_in_shared(to)), "l"(__cvta_generic_to_global(from))
                 : "memory");
  };
  const auto copy = [&](int t) {  // a group per step, an empty one beyond the last
    if (t < tiles) {
      auto& pair = ring[t % STAGES];
#pragma unroll
      for (int i = thread; i < BM * (BK / V); i += THREADS) {
        const int r = i / (BK / V), k = i % (BK / V) * V;
        copy16(pair.a.at(r, k), &a(row0 + r, t * BK + k));
      }
#pragma unroll
      for (int i = thread; i < BK * (BN / V); i += THREADS) {
        const int k = i / (BN / V), j = i % (BN / V) * V;
        copy16(pair.b.at(k, j), &b(t * BK + k, col0 + j));
      }
    }
    asm volatile("cp.async.commit_group;" : : : "memory");
  };
  Result<In> acc[WM / 16][WN / 8][4] = {};
  for (int t = 0; t < STAGES - 1; ++t) copy(t);
  for (int t = 0; t < tiles; ++t) {
    asm volatile("cp.async.wait_group %0;" : : "n"(STAGES - 2) : "memory");
    __syncthreads();
    copy(t + STAGES - 1);
    auto& pair = ring[t % STAGES];
#pragma unroll
    for (int k = 0; k < BK; k += K) {
      Register<In> a_k[WM / 16][4], b_k[WN / 16][4];
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) load_a<In>(a_k[i], pair.a, row + 16 * i, k);
#pragma unroll
      for (int j = 0; j < WN / 16; ++j) load_b<In>(b_k[j], pair.b, k, col + 16 * j);
#pragma unroll
      for (int i = 0; i < WM / 16; ++i)
#pragma unroll
        for (int j = 0; j < WN / 8; ++j)
          mma<In>(acc[i][j], a_k[i], b_k[j / 2][j % 2 * 2], b_k[j / 2][j % 2 * 2 + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < WM / 16; ++i)
#pragma unroll
    for (int j = 0; j < WN / 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        c(row0 + row + 16 * i + lane / 4 + e / 2 * 8, col0 + col + 8 * j + lane % 4 * 2 + e % 2) =
            acc[i][j][e];
#endif
}

template <int STAGES, int BM, int BN, int WM, int WN, typename In>
Way<In> mma_sync(int n) {
  constexpr unsigned BYTES = STAGES * sizeof(TilePair<In, BM, BN, 128 / sizeof(In)>);
  return one_kernel<In>(mma_kernel<STAGES, BM, BN, WM, WN, In>,
                        dim3(ceil_div(n, BN), ceil_div(n, BM)), dim3(BM / WM * (BN / WN) * 32),
                        BYTES);
}

template <int BM, int BN, int WM, int WN, typename In>
void add_mma_tile(Plan& plan, int shape, const char* label, bool all_stages) {
  const bool is_tf32 = std::is_same_v<In, float>;
  const auto add = [&](int stages, auto make) {
    for (const int n : {1024, 2048, 4096}) {
      if (all_stages)
        plan.add<In>({"stages", std::string("mma.sync ") + label, n, stages, ""}, make, 80,
                     is_tf32);
      if (stages == 3)
        plan.add<In>({"tile shape", "mma.sync, 3 stages", n, shape, label}, make, 80, is_tf32);
    }
  };
  add(2, [](int n) { return mma_sync<2, BM, BN, WM, WN, In>(n); });
  add(3, [](int n) { return mma_sync<3, BM, BN, WM, WN, In>(n); });
  add(4, [](int n) { return mma_sync<4, BM, BN, WM, WN, In>(n); });
}

/// A double takes two registers and four times the tile's bytes.
template <typename In>
void add_mma_tiles(Plan& plan) {
  if constexpr (std::is_same_v<In, double>) {
    add_mma_tile<64, 32, 32, 16, In>(plan, 0, "64x32, 32x16", false);
    add_mma_tile<64, 64, 32, 32, In>(plan, 1, "64x64, 32x32", true);
    add_mma_tile<128, 64, 32, 32, In>(plan, 2, "128x64, 32x32", false);
    add_mma_tile<128, 64, 64, 32, In>(plan, 3, "128x64, 64x32", false);
  } else {
    add_mma_tile<64, 64, 32, 32, In>(plan, 0, "64x64, 32x32", false);
    add_mma_tile<128, 64, 64, 32, In>(plan, 1, "128x64, 64x32", false);
    add_mma_tile<128, 128, 64, 32, In>(plan, 2, "128x128, 64x32", true);
    add_mma_tile<128, 128, 64, 64, In>(plan, 3, "128x128, 64x64", false);
    add_mma_tile<128, 256, 64, 64, In>(plan, 4, "128x256, 64x64", false);
  }
}

}  // namespace sweep
