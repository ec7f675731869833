// Hopper's barriers, copy engine (TMA) and warpgroup product (wgmma), one PTX instruction each.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "common/async_copy.cuh"
#include "common/tensor_map.cuh"

#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error "wgmma is Hopper's alone: compile with -gencode arch=compute_90a,code=sm_90a"
#endif

// ---- barriers in shared memory

/// Counts arrivals and the bytes that TMA delivers. When everything it expects is there, its phase
/// ends and the next one begins. Phases are told apart by parity: 0 for the first, then 1, 0, ...
struct Barrier {
  std::uint64_t state;

  GEMM_LAB_DEVICE void init(int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(shared_address(this)), "r"(arrivals)
                 : "memory");
  }
  GEMM_LAB_DEVICE void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
                 :
                 : "r"(shared_address(this))
                 : "memory");
  }
  /// Arrives, and makes this phase also wait until TMA has delivered this many bytes.
  GEMM_LAB_DEVICE void arrive_and_expect(int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(shared_address(this)), "r"(bytes)
                 : "memory");
  }
  /// Waits until the phase of this parity has ended. On a new barrier, parity 1 counts as ended.
  GEMM_LAB_DEVICE void wait(unsigned parity) {
    unsigned ended = 0;
    while (!ended)
      asm volatile(
          "{\n.reg .pred p;\n"
          "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n}"
          : "=r"(ended)
          : "r"(shared_address(this)), "r"(parity)
          : "memory");
  }
};

// ---- TMA: one thread requests a box of a matrix

/// Starts copying the box at (row, col) to shared memory, zeros outside the matrix; the barrier
/// counts its bytes. Swizzled: chunk c (16 bytes) of row r goes to the place of chunk c ^ (r % 8).
GEMM_LAB_DEVICE inline void copy_box(void* to, const CUtensorMap& map, int row, int col,
                                     Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];"
      :
      : "r"(shared_address(to)), "l"(&map), "r"(col), "r"(row), "r"(shared_address(&barrier))
      : "memory");
}

/// As TFLOAT32, TMA rounds floats while it copies them; a tensor core would drop their low bits.
template <typename T>
constexpr CUtensorMapDataType TYPE = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
template <>
inline constexpr CUtensorMapDataType TYPE<__half> = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
template <>
inline constexpr CUtensorMapDataType TYPE<__nv_bfloat16> = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;

/// Describes m to TMA, which will copy it in swizzled boxes of `rows` rows of 128 bytes.
template <typename T>
CUtensorMap tensor_map(MatrixView<const T> m, int rows, CUtensorMapDataType type = TYPE<T>) {
  const cuuint64_t extents[] = {cuuint64_t(m.cols), cuuint64_t(m.rows)};  // innermost first
  const cuuint64_t row_bytes = m.ld * sizeof(T);
  const cuuint32_t box[] = {128 / sizeof(T), cuuint32_t(rows)}, steps[] = {1, 1};
  CUtensorMap map;
  tensor_map_check(
      tensor_map_encoder()(&map, type, 2, const_cast<T*>(m.data), extents, &row_bytes, box, steps,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                           CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

// ---- wgmma: four warps multiply two tiles in shared memory

/// Call before the first wgmma of a group: it makes earlier writes to d visible to wgmma. It does
/// not name d: without the empty asm, the compiler could move such writes after it.
template <int COUNT>
GEMM_LAB_DEVICE void wgmma_fence(float (&d)[COUNT]) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) asm volatile("" : "+f"(d[i]) : : "memory");
  asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}
GEMM_LAB_DEVICE inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}
/// Waits for all committed wgmma. Only then may d be read (see above) and tiles be overwritten.
template <int COUNT>
GEMM_LAB_DEVICE void wgmma_wait(float (&d)[COUNT]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
#pragma unroll
  for (int i = 0; i < COUNT; ++i) asm volatile("" : "+f"(d[i]) : : "memory");
}

/// Describes the operand at `from` to wgmma, in units of 16 bytes: rows of 128 bytes, swizzled by
/// copy_box, eight in 1024 bytes. `next`: bytes from 64 columns to the next 64, if rows do not run
/// along k. Only 18 bits of the address are used: in a cluster, higher ones hold the block's rank.
GEMM_LAB_DEVICE inline std::uint64_t descriptor(const void* from, int next = 16) {
  constexpr std::uint64_t EIGHT_ROWS = 1024 / 16, SWIZZLE_128 = 1;
  return (shared_address(from) & 0x3ffff) / 16 | std::uint64_t(next / 16) << 16 | EIGHT_ROWS << 32 |
         SWIZZLE_128 << 62;
}

// Registers in the notation of asm. REGISTERS_10(3) names %30 to %39, SUMS_8(i) d[i] to d[i + 7].
#define REGISTERS_10(n)                                                                            \
  "%" #n "0, %" #n "1, %" #n "2, %" #n "3, %" #n "4, %" #n "5, %" #n "6, %" #n "7, %" #n "8, %" #n \
  "9, "
#define REGISTERS_60 \
  REGISTERS_10() REGISTERS_10(1) REGISTERS_10(2) REGISTERS_10(3) REGISTERS_10(4) REGISTERS_10(5)
#define REGISTERS_90 REGISTERS_60 REGISTERS_10(6) REGISTERS_10(7) REGISTERS_10(8)
#define REGISTERS_128                           \
  REGISTERS_90 REGISTERS_10(9) REGISTERS_10(10) \
      REGISTERS_10(11) "%120, %121, %122, %123, %124, %125, %126, %127"
#define SUMS_8(i)                                                                             \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define SUMS_16(i) SUMS_8(i), SUMS_8(i + 8)
#define SUMS_64(i) SUMS_16(i), SUMS_16(i + 16), SUMS_16(i + 32), SUMS_16(i + 48)

#define WGMMA_256(k, type, b_along_n)                                                             \
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k" k ".f32." type "." type " {" REGISTERS_128 \
               "}, %128, %129, 1, 1, 1" b_along_n ";"                                             \
               : SUMS_64(0), SUMS_64(64)                                                          \
               : "l"(a), "l"(b))

/// d += a * b: the four warps of a warpgroup compute 64 x 256 sums, over 32 bytes along k. Rows of
/// a run along k and rows of b along n; for TF32, wgmma requires rows of b to run along k as well.
/// Warp w holds rows 16 w ... 16 w + 15 of d. With g = lane / 4 and t = lane % 4, register 4 j + e
/// is row g + e / 2 * 8 of these, column 8 j + 2 t + e % 2.
template <typename T>
GEMM_LAB_DEVICE void wgmma_64x256(float (&d)[128], std::uint64_t a, std::uint64_t b) {
  if constexpr (std::is_same_v<T, __half>)
    WGMMA_256("16", "f16", ", 0, 1");
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    WGMMA_256("16", "bf16", ", 0, 1");
  else
    WGMMA_256("8", "tf32", "");
}
