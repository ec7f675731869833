// What kernels by wgmma of lab 6 have in common: places of a ring, the order of tiles, the registers of
// sums as asm wants them.
#pragma once

#include "common/hopper.cuh"
#include "common/tensor_core.cuh"

/// A place in the ring, and how often the ring has been passed.
template <int STAGES>
struct PlaceOf {
  int stage = 0;
  unsigned parity = 0;
  __device__ void advance() {
    if (++stage == STAGES) stage = 0, parity ^= 1;
  }
};

/// The origin in C of the n-th (BM, BN) tile: down eight rows of tiles, then to the right, as in 5.4.
struct TileOrigin {
  int row, col;
};
template <int BM, int BN>
__device__ TileOrigin tile_origin(int n, MatrixView<float> c) {
  constexpr int DOWN = 8;
  const int rows = (c.rows + BM - 1) / BM, cols = (c.cols + BN - 1) / BN;
  const int first = n / (DOWN * cols) * DOWN, within = n % (DOWN * cols);
  const int down = min(rows - first, DOWN);
  return {(first + within % down) * BM, within / down * BN};
}
template <int BM, int BN>
GEMM_LAB_HOST_DEVICE int tile_count(MatrixView<float> c) {
  return ((c.rows + BM - 1) / BM) * ((c.cols + BN - 1) / BN);
}

// Registers of d, as asm wants them.
#define SUMS_16(i)                                                                            \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7]), "+f"(d[i + 8]), "+f"(d[i + 9]), "+f"(d[i + 10]),        \
      "+f"(d[i + 11]), "+f"(d[i + 12]), "+f"(d[i + 13]), "+f"(d[i + 14]), "+f"(d[i + 15])
#define SUMS_64 SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48)
#define REGISTERS_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define REGISTERS_32 \
  REGISTERS_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define REGISTERS_48 \
  REGISTERS_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define REGISTERS_64 \
  REGISTERS_48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

/// wgmma_fence and wgmma_wait, for these sums. Neither instruction names d: without the empty asm the
/// compiler may move what writes d behind the fence, and what reads it before the wait.
template <int COUNT>
GEMM_LAB_DEVICE void wgmma_fence(float (&d)[COUNT]) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) asm volatile("" : "+f"(d[i]) : : "memory");
  wgmma_fence();
}
template <int COUNT>
GEMM_LAB_DEVICE void wgmma_wait(float (&d)[COUNT]) {
  wgmma_wait();
#pragma unroll
  for (int i = 0; i < COUNT; ++i) asm volatile("" : "+f"(d[i]) : : "memory");
}

inline int multiprocessors() {
  int device = 0, count = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}
