// Lab 5.4: Hopper's warpgroup multiplication.
//
// You will learn to let four warps start one large multiplication that reads both operands from
// shared memory by itself, and to describe to it how they lie there. Needs a Hopper GPU: compile
// for compute_90a. Nothing here runs on the simulated GPU.
//
// The tiles arrive by cp.async, with the 128-byte swizzle written out, so that any leading
// dimension will do. TMA would write the same layout by one instruction for a whole tile, but only
// from matrices whose rows begin at multiples of 16 bytes.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"

constexpr int ceil_div(int n, int d) {
  return (n + d - 1) / d;
}

/// PTX wants addresses inside shared memory, 32 bits wide.
__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
/// Copies 16 bytes from global to shared memory without waiting: the first `bytes` from `from`,
/// then zeros.
__device__ inline void copy16_async(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
}
__device__ inline void commit_copies() {
  asm volatile("cp.async.commit_group;" : : : "memory");
}
template <int groups>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" : : "n"(groups) : "memory");
}

/// What this thread has written to shared memory becomes visible to wgmma, which reads it through
/// another path (the asynchronous proxy). Then a barrier, for the others.
__device__ inline void fence_for_wgmma() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}
/// Before the first wgmma of a group: registers written so far are complete.
__device__ inline void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
/// Waits until at most `groups` groups are under way; only then may their sums be read and their
/// tiles be overwritten.
template <int groups>
__device__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(groups) : "memory");
}

/// 64 x 64 elements: rows of 128 bytes, of which chunk c of row r lies where chunk c ^ (r % 8)
/// would. This is what the hardware calls the 128-byte swizzle; it wants 1024-byte alignment.
struct alignas(1024) Tile64 {
  __nv_bfloat16 data[64 * 64];
  __device__ __nv_bfloat16* at(int row, int col) {
    return &data[row * 64 + (((col / 8) ^ (row % 8)) * 8) + col % 8];
  }
};

/// Describes a Tile64 from (row, col) on to wgmma: the address, the distance from eight rows to the
/// next eight (1024 bytes), the kind of swizzle; addresses and distances in units of 16 bytes.
__device__ inline std::uint64_t descriptor(Tile64& tile, int row, int col) {
  constexpr std::uint64_t EIGHT_ROWS = 1024 / 16, SWIZZLE_128 = 1;
  const std::uint64_t address = shared_address(&tile) + row * 128 + col * 2;
  return (address & 0x3ffff) / 16 | std::uint64_t{1} << 16 | EIGHT_ROWS << 32 | SWIZZLE_128 << 62;
}

/// d += a * b, 64 x 64 x 16, by the four warps of a warpgroup: a has rows along k, b rows along n,
/// hence the last 1. Warp w has rows 16 w ... 16 w + 15 of d; with g = lane / 4 and t = lane % 4
/// register 4 j + e has row g + e / 2 * 8 of these and column 8 j + 2 t + e % 2.
__device__ inline void wgmma_64x64x16(float (&d)[32], std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, 1, 1, 1, 0, 1;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b));
#endif
}

/// Begins to copy the 64 x 64 part of m at (row0, col0); zero where m has no element.
template <int THREADS>
__device__ void copy_tile(Tile64& tile, MatrixView<const __nv_bfloat16> m, int row0, int col0,
                          bool wide) {
#pragma unroll
  for (int i = 0; i < 64 * 8 / THREADS; ++i) {
    const int p = threadIdx.x + i * THREADS, r = p / 8, k = p % 8 * 8;
    const int row = row0 + r, col = col0 + k;
    const int left = row < m.rows && col < m.cols ? m.cols - col : 0;  // elements that exist
    __nv_bfloat16* to = tile.at(r, k);
    if (wide) {
      copy16_async(to, left > 0 ? &m(row, col) : m.data, (left < 8 ? left : 8) * 2);
    } else {
#pragma unroll
      for (int e = 0; e < 8; ++e) to[e] = e < left ? m(row, col + e) : __nv_bfloat16(0.0f);
    }
  }
}

struct Stage {
  Tile64 a, b[2];  // 64 x 64 of A; 64 x 128 of B
};

/// One 64 x 128 tile of C per block of one warpgroup, 64 steps of k at a time.
template <int STAGES>
__global__ void __launch_bounds__(128)
    wgmma_kernel(MatrixView<const __nv_bfloat16> a, MatrixView<const __nv_bfloat16> b,
                 MatrixView<float> c) {
  static_assert(STAGES >= 3, "one being multiplied, one complete, one being filled");
  extern __shared__ unsigned char memory[];
  // Dynamic shared memory begins at 16 bytes at least; the swizzle wants 1024.
  auto* const ring =
      reinterpret_cast<Stage*>(memory + (1024 - shared_address(memory) % 1024) % 1024);
  const int row0 = blockIdx.y * 64, col0 = blockIdx.x * 128, tiles = (a.cols + 63) / 64;
  const bool wide_a = reinterpret_cast<std::size_t>(a.data) % 16 == 0 && a.ld % 8 == 0;
  const bool wide_b = reinterpret_cast<std::size_t>(b.data) % 16 == 0 && b.ld % 8 == 0;
  const auto copy = [&](int t) {  // begins step t, if there is one; a group in any case
    if (t < tiles) {
      Stage& to = ring[t % STAGES];
      copy_tile<128>(to.a, a, row0, t * 64, wide_a);
      copy_tile<128>(to.b[0], b, t * 64, col0, wide_b);
      copy_tile<128>(to.b[1], b, t * 64, col0 + 64, wide_b);
    }
    commit_copies();
  };
  float acc[2][32] = {};  // 64 columns each
  // TODO(5.4) The loop of 5.3. New in it: what was copied must be fenced for wgmma before the
  //           barrier; a step is four times two wgmma, each k 32 bytes further along a's rows and
  //           16 rows of 128 bytes further in b; and wgmma must be waited for.
  // >>> solution
  for (int t = 0; t < STAGES - 2; ++t) copy(t);
  for (int t = 0; t < tiles; ++t) {
    copy(t + STAGES - 2);           // step t - 2 lay there: all have passed its wait
    wait_for_copies<STAGES - 2>();  // mine of step t have arrived
    fence_for_wgmma();
    __syncthreads();
    Stage& now = ring[t % STAGES];
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < 64; k += 16)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        wgmma_64x64x16(acc[half], descriptor(now.a, 0, k), descriptor(now.b[half], k, 0));
    wgmma_commit();
    wgmma_wait<0>();
  }
  // <<< solution
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    // TODO(5.4) Row and column of register i % 32 of half i / 32.
    // >>> skeleton
    // const int row = c.rows + warp + lane, col = c.cols;
    // <<< skeleton
    // >>> solution
    const int row = row0 + warp * 16 + lane / 4 + i % 4 / 2 * 8;
    const int col = col0 + i / 32 * 64 + i % 32 / 4 * 8 + lane % 4 * 2 + i % 2;
    // <<< solution
    if (row < c.rows && col < c.cols) c(row, col) = acc[i / 32][i % 32];
  }
}

template <typename In, typename Out>
void gemm_wgmma(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c,
                cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  constexpr int STAGES = 4, BYTES = STAGES * sizeof(Stage) + 1024;
  const auto kernel = wgmma_kernel<STAGES>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
  const dim3 grid(ceil_div(c.cols, 128), ceil_div(c.rows, 64));
  kernel<<<grid, 128, BYTES, stream>>>(a, b, c);
  CUDA_CHECK_LAUNCH();
}

template void gemm_wgmma(MatrixView<const __nv_bfloat16>, MatrixView<const __nv_bfloat16>,
                         MatrixView<float>, cudaStream_t);
