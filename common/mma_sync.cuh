// mma.sync: one warp computes d += a * b, 16 x 8 x K. The table shows which lane holds what (PTX
// ISA, "Matrix fragments for mma"), with g = lane / 4 and t = lane % 4. A register of a or b holds
// P neighbours along k: two 16-bit elements (K = 16), otherwise one (K = 8 for TF32, 4 for FP64).
//
//   a[r]   row g + 8 * (r % 2)    k = P * (t + 4 * (r / 2)) ...
//   b[r]   column g               k = P * (t + 4 * r) ...
//   d[e]   row g + 8 * (e / 2)    column 2 * t + e % 2
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "common/tensor_core.cuh"

#define GEMM_LAB_MMA(shape, type)                                                     \
  asm volatile("mma.sync.aligned." shape ".row.col.f32." type "." type                \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                       \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

/// FP16 and BF16, 16 x 8 x 16.
template <typename T>
GEMM_LAB_DEVICE void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  if constexpr (std::is_same_v<T, __half>)
    GEMM_LAB_MMA("m16n8k16", "f16");
  else
    GEMM_LAB_MMA("m16n8k16", "bf16");
}
/// TF32, 16 x 8 x 8. The tensor core reads only the upper 19 bits of each float.
GEMM_LAB_DEVICE inline void mma_wide(float (&d)[4], const unsigned (&a)[4],
                                     const unsigned (&b)[2]) {
  GEMM_LAB_MMA("m16n8k8", "tf32");
}
#undef GEMM_LAB_MMA

/// FP64, 16 x 8 x 4.
GEMM_LAB_DEVICE inline void mma_wide(double (&d)[4], const double (&a)[2], const double (&b)[1]) {
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

/// Rounds a float's bits to TF32: adds half of the last bit that the tensor core reads; the core
/// then drops the rest. 0x7fffffff, the NaN that arithmetic gives, would overflow into the sign:
/// hence the maximum. NaNs from 0xfffff000 on, which arithmetic never gives, become 0. One
/// instruction on Hopper.
GEMM_LAB_DEVICE inline unsigned round_to_tf32(unsigned bits) {
  const int rounded = static_cast<int>(bits + 0x1000u), as_it_was = static_cast<int>(bits);
  return static_cast<unsigned>(rounded > as_it_was ? rounded : as_it_was);
}

/// v: two neighbours in a row of C in fragment j, and two in j + 1. Lanes 2 t and 2 t + 1 trade, so
/// that the even one holds four in j and the odd one four in j + 1: 16 bytes per store, not 8.
GEMM_LAB_DEVICE inline void trade_neighbours(float (&v)[4]) {
  const bool odd = threadIdx.x % 2 != 0;
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const float in_j = v[e], in_next = v[2 + e];
    const float theirs = __shfl_xor_sync(~0u, odd ? in_j : in_next, 1);
    v[e] = odd ? theirs : in_j;
    v[2 + e] = odd ? in_next : theirs;
  }
}
