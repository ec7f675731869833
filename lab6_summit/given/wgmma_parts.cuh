// What the wgmma kernels of lab 6 share: places of a ring, tiles' order, registers of sums for asm.
#pragma once

#include "common/hopper.cuh"
#include "common/tensor_core.cuh"
#include "lab6_summit/given/early_launch.cuh"
#include "lab6_summit/given/multiprocessors.cuh"

/// A place in the ring, and the parity of its current phase, which changes with every round.
template <int STAGES>
struct PlaceOf {
  int stage = 0;
  unsigned parity = 0;
  __device__ void advance() {
    if (++stage == STAGES) stage = 0, parity ^= 1;
  }
};

/// Where the n-th (BM, BN) tile begins in C: down DOWN rows of tiles, then to the right, as in 5.4.
struct TileOrigin {
  int row, col;
};
template <int BM, int BN, int DOWN = 8, typename T>
__device__ TileOrigin tile_origin(int n, MatrixView<T> c) {
  const int rows = (c.rows + BM - 1) / BM, cols = (c.cols + BN - 1) / BN;
  const int first = n / (DOWN * cols) * DOWN, within = n % (DOWN * cols);
  const int down = min(rows - first, DOWN);
  return {(first + within % down) * BM, within / down * BN};
}
template <int BM, int BN, typename T>
GEMM_LAB_HOST_DEVICE int tile_count(MatrixView<T> c) {
  return ((c.rows + BM - 1) / BM) * ((c.cols + BN - 1) / BN);
}

/// The leading dimension of a copy of m whose rows begin at cache lines (128 bytes). TMA only needs
/// multiples of 16 bytes, but then every row of a box lies in two lines.
template <typename T>
int whole_lines(MatrixView<const T> m) {
  constexpr int LINE = 128 / sizeof(T);
  return ceil_div(m.cols, LINE) * LINE;
}

/// A matrix, or a copy of it if TMA cannot read its rows where they are.
template <typename T>
class ForTma {
 public:
  ForTma(MatrixView<const T> m, cudaStream_t stream) : view_(m), memory_(stream) {
    if (rows_aligned(m)) return;
    const int ld = whole_lines(m);
    T* const data = memory_.allocate(static_cast<std::size_t>(m.rows) * ld);
    CUDA_CHECK(cudaMemcpy2DAsync(data, ld * sizeof(T), m.data, m.ld * sizeof(T), m.cols * sizeof(T),
                                 m.rows, cudaMemcpyDeviceToDevice, stream));
    view_ = {data, m.rows, m.cols, ld};
  }
  MatrixView<const T> view() const { return view_; }

 private:
  MatrixView<const T> view_;
  StreamMemory<T> memory_;
};

#define REGISTERS_16 REGISTERS_10() "%10, %11, %12, %13, %14, %15"
#define REGISTERS_30 REGISTERS_10() REGISTERS_10(1) REGISTERS_10(2)
#define REGISTERS_32 REGISTERS_30 "%30, %31"
#define REGISTERS_40 REGISTERS_30 "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39"
#define REGISTERS_48 REGISTERS_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define REGISTERS_64 REGISTERS_60 "%60, %61, %62, %63"
#define REGISTERS_96 REGISTERS_90 "%90, %91, %92, %93, %94, %95"

// The product in TF32 for n columns, and the registers of a, in the notation of asm.
#define WGMMA_TF32(n, sums, a0, a1, a2, a3, described, ...)                                      \
  asm volatile("wgmma.mma_async.sync.aligned.m64n" n "k8.f32.tf32.tf32 {" sums "}, {" a0 ", " a1 \
               ", " a2 ", " a3 "}, " described ", 1, 1, 1;"                                      \
               : __VA_ARGS__                                                                     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))

/// Starts d += a * b in TF32, (64, 2 COUNT) by the four warps of a warpgroup, 8 along k: a is in
/// registers, b described, d laid out as in 5.4. Do not touch a or d before wgmma_wait.
template <int COUNT>
GEMM_LAB_DEVICE void wgmma(float (&d)[COUNT], const unsigned (&a)[4], std::uint64_t b) {
  if constexpr (COUNT == 16)
    WGMMA_TF32("32", REGISTERS_16, "%16", "%17", "%18", "%19", "%20", SUMS_16(0));
  else if constexpr (COUNT == 32)
    WGMMA_TF32("64", REGISTERS_32, "%32", "%33", "%34", "%35", "%36", SUMS_16(0), SUMS_16(16));
  else if constexpr (COUNT == 40)
    WGMMA_TF32("80", REGISTERS_40, "%40", "%41", "%42", "%43", "%44", SUMS_16(0), SUMS_16(16),
               SUMS_8(32));
  else if constexpr (COUNT == 48)
    WGMMA_TF32("96", REGISTERS_48, "%48", "%49", "%50", "%51", "%52", SUMS_16(0), SUMS_16(16),
               SUMS_16(32));
  else if constexpr (COUNT == 64)
    WGMMA_TF32("128", REGISTERS_64, "%64", "%65", "%66", "%67", "%68", SUMS_64(0));
  else if constexpr (COUNT == 96)
    WGMMA_TF32("192", REGISTERS_96, "%96", "%97", "%98", "%99", "%100", SUMS_64(0), SUMS_16(64),
               SUMS_16(80));
  else
    WGMMA_TF32("256", REGISTERS_128, "%128", "%129", "%130", "%131", "%132", SUMS_64(0),
               SUMS_64(64));
}
