// nvcuda::wmma: matrix fragments of a warp, loaded, multiplied and stored by all 32 lanes together.
//
// The names and meanings of CUDA's header, in a text of our own. Shapes and types of compute
// capability 8.0: half, __nv_bfloat16, signed and unsigned char with 16x16x16, 32x8x16 and 8x32x16,
// precision::tf32 with 16x16x8, double with 8x8x4, experimental::precision::s4 and u4 with 8x8x32, b1 with
// 8x8x128. What x[i] of a lane stands for in the matrix is
// unspecified, in CUDA too; only operations on all elements alike make sense.
#pragma once
#pragma GCC system_header

// NVIDIA's guards: programs ask for them, and a toolkit's header that is found later adds nothing.
#define __CUDA_MMA_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#if defined(__CUDA__)
namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
namespace precision {
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };

template <typename Use, int m, int n, int k, typename T, typename Layout = void>
struct fragment;

#define __SIMGPU_FRAGMENT(Use, m, n, k, T, Stored, Layout, Elements)                             \
  template <>                                                                                    \
  struct fragment<Use, m, n, k, T, Layout> {                                                     \
    typedef T element_type;                                                                      \
    typedef Stored storage_element_type;                                                         \
    enum { num_elements = Elements, num_storage_elements = Elements };                           \
    alignas(sizeof(Stored) * Elements < 16 ? sizeof(Stored) * Elements : 16) Stored x[Elements]; \
  };

// Registers of A, B; constraint and number of C's and D's.
#define __SIMGPU_R1(p) "{%[" p "0]}"
#define __SIMGPU_R2(p) "{%[" p "0], %[" p "1]}"
#define __SIMGPU_R4(p) "{%[" p "0], %[" p "1], %[" p "2], %[" p "3]}"
#define __SIMGPU_R8(p) \
  "{%[" p "0], %[" p "1], %[" p "2], %[" p "3], %[" p "4], %[" p "5], %[" p "6], %[" p "7]}"
#define __SIMGPU_O1(p, c, w) [p##0] c((w)[0])
#define __SIMGPU_O2(p, c, w) __SIMGPU_O1(p, c, w), [p##1] c((w)[1])
#define __SIMGPU_O4(p, c, w) __SIMGPU_O2(p, c, w), [p##2] c((w)[2]), [p##3] c((w)[3])
#define __SIMGPU_O8(p, c, w) \
  __SIMGPU_O4(p, c, w), [p##4] c((w)[4]), [p##5] c((w)[5]), [p##6] c((w)[6]), [p##7] c((w)[7])

// ---- A and B
#define __SIMGPU_LOAD_AB(Letter, Use, m, n, k, T, From, Layout, Name, Type, Word, C, N)      \
  __SIMGPU_DEVICE void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f, const From* p, \
                                        unsigned ldm) {                                      \
    Word w[N];                                                                               \
    asm volatile("wmma.load." Letter ".sync.aligned." Name ".m" #m "n" #n "k" #k "." Type    \
                 " " __SIMGPU_R##N("w") ", [%[p]], %[s];"                                    \
                 : __SIMGPU_O##N(w, "=" C, w)                                                \
                 : [p] "l"(p), [s] "r"(ldm)                                                  \
                 : "memory");                                                                \
    __builtin_memcpy(f.x, w, sizeof w);                                                      \
  }
#define __SIMGPU_AB(Letter, Use, m, n, k, T, Stored, Type, Word, C, N, Elements)        \
  __SIMGPU_FRAGMENT(Use, m, n, k, T, Stored, row_major, Elements)                       \
  __SIMGPU_FRAGMENT(Use, m, n, k, T, Stored, col_major, Elements)                       \
  __SIMGPU_LOAD_AB(Letter, Use, m, n, k, T, Stored, row_major, "row", Type, Word, C, N) \
  __SIMGPU_LOAD_AB(Letter, Use, m, n, k, T, Stored, col_major, "col", Type, Word, C, N)
#define __SIMGPU_A_AND_B(m, n, k, T, Stored, Type, Word, C, NA, EA, NB, EB) \
  __SIMGPU_AB("a", matrix_a, m, n, k, T, Stored, Type, Word, C, NA, EA)     \
  __SIMGPU_AB("b", matrix_b, m, n, k, T, Stored, Type, Word, C, NB, EB)

// ---- C and D
#define __SIMGPU_LOAD_C(m, n, k, Name, Type, C, N)                             \
  asm volatile("wmma.load.c.sync.aligned." Name ".m" #m "n" #n "k" #k "." Type \
               " " __SIMGPU_R##N("w") ", [%[p]], %[s];"                        \
               : __SIMGPU_O##N(w, "=" C, w)                                    \
               : [p] "l"(p), [s] "r"(ldm)                                      \
               : "memory")
#define __SIMGPU_STORE_D(m, n, k, Name, Type, C, N)                             \
  asm volatile("wmma.store.d.sync.aligned." Name ".m" #m "n" #n "k" #k "." Type \
               " [%[p]], " __SIMGPU_R##N("w") ", %[s];"                         \
               :                                                                \
               : __SIMGPU_O##N(w, C, w), [p] "l"(p), [s] "r"(ldm)               \
               : "memory")
#define __SIMGPU_C(m, n, k, T, Type, Word, C, N, Elements)                                 \
  __SIMGPU_FRAGMENT(accumulator, m, n, k, T, T, void, Elements)                            \
  __SIMGPU_DEVICE void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* p,  \
                                        unsigned ldm, layout_t layout) {                   \
    Word w[N];                                                                             \
    if (layout == mem_row_major)                                                           \
      __SIMGPU_LOAD_C(m, n, k, "row", Type, C, N);                                         \
    else                                                                                   \
      __SIMGPU_LOAD_C(m, n, k, "col", Type, C, N);                                         \
    __builtin_memcpy(f.x, w, sizeof w);                                                    \
  }                                                                                        \
  __SIMGPU_DEVICE void store_matrix_sync(T* p, const fragment<accumulator, m, n, k, T>& f, \
                                         unsigned ldm, layout_t layout) {                  \
    Word w[N];                                                                             \
    __builtin_memcpy(w, f.x, sizeof w);                                                    \
    if (layout == mem_row_major)                                                           \
      __SIMGPU_STORE_D(m, n, k, "row", Type, C, N);                                        \
    else                                                                                   \
      __SIMGPU_STORE_D(m, n, k, "col", Type, C, N);                                        \
  }

// ---- D = A * B + C
#define __SIMGPU_MMA(m, n, k, T, LA, NameA, LB, NameB, Types, TD, WD, CD, ND, TC, WC, CC, NC, W,  \
                     CW, NA, NB)                                                                  \
  __SIMGPU_DEVICE void mma_sync(                                                                  \
      fragment<accumulator, m, n, k, TD>& d, const fragment<matrix_a, m, n, k, T, LA>& a,         \
      const fragment<matrix_b, m, n, k, T, LB>& b, const fragment<accumulator, m, n, k, TC>& c) { \
    WD wd[ND];                                                                                    \
    WC wc[NC];                                                                                    \
    W wa[NA], wb[NB];                                                                             \
    __builtin_memcpy(wa, a.x, sizeof wa);                                                         \
    __builtin_memcpy(wb, b.x, sizeof wb);                                                         \
    __builtin_memcpy(wc, c.x, sizeof wc);                                                         \
    asm volatile("wmma.mma.sync.aligned." NameA "." NameB ".m" #m "n" #n "k" #k "." Types         \
                 " " __SIMGPU_R##ND("d") ", " __SIMGPU_R##NA("a") ", " __SIMGPU_R##NB(            \
                     "b") ", " __SIMGPU_R##NC("c") ";"                                            \
                 : __SIMGPU_O##ND(d, "=" CD, wd)                                                  \
                 : __SIMGPU_O##NA(a, CW, wa), __SIMGPU_O##NB(b, CW, wb),                          \
                   __SIMGPU_O##NC(c, CC, wc));                                                    \
    __builtin_memcpy(d.x, wd, sizeof wd);                                                         \
  }
#define __SIMGPU_MMAS(m, n, k, T, Types, TD, WD, CD, ND, TC, WC, CC, NC, W, CW, NA, NB)           \
  __SIMGPU_MMA(m, n, k, T, row_major, "row", row_major, "row", Types, TD, WD, CD, ND, TC, WC, CC, \
               NC, W, CW, NA, NB)                                                                 \
  __SIMGPU_MMA(m, n, k, T, row_major, "row", col_major, "col", Types, TD, WD, CD, ND, TC, WC, CC, \
               NC, W, CW, NA, NB)                                                                 \
  __SIMGPU_MMA(m, n, k, T, col_major, "col", row_major, "row", Types, TD, WD, CD, ND, TC, WC, CC, \
               NC, W, CW, NA, NB)                                                                 \
  __SIMGPU_MMA(m, n, k, T, col_major, "col", col_major, "col", Types, TD, WD, CD, ND, TC, WC, CC, \
               NC, W, CW, NA, NB)

#define __SIMGPU_SHAPE(m, n, k, NB16A, EB16A, NB16B, EB16B, N8A, E8A, N8B, E8B)                    \
  __SIMGPU_A_AND_B(m, n, k, __half, __half, "f16", unsigned, "r", 8, 16, 8, 16)                    \
  __SIMGPU_A_AND_B(m, n, k, __nv_bfloat16, __nv_bfloat16, "bf16", unsigned, "r", NB16A, EB16A,     \
                   NB16B, EB16B)                                                                   \
  __SIMGPU_A_AND_B(m, n, k, signed char, signed char, "s8", unsigned, "r", N8A, E8A, N8B, E8B)     \
  __SIMGPU_A_AND_B(m, n, k, unsigned char, unsigned char, "u8", unsigned, "r", N8A, E8A, N8B, E8B) \
  __SIMGPU_C(m, n, k, float, "f32", float, "f", 8, 8)                                              \
  __SIMGPU_C(m, n, k, __half, "f16", unsigned, "r", 4, 8)                                          \
  __SIMGPU_C(m, n, k, int, "s32", int, "r", 8, 8)                                                  \
  __SIMGPU_MMAS(m, n, k, __half, "f32.f32", float, float, "f", 8, float, float, "f", 8, unsigned,  \
                "r", 8, 8)                                                                         \
  __SIMGPU_MMAS(m, n, k, __half, "f16.f16", __half, unsigned, "r", 4, __half, unsigned, "r", 4,    \
                unsigned, "r", 8, 8)                                                               \
  __SIMGPU_MMAS(m, n, k, __half, "f32.f16", float, float, "f", 8, __half, unsigned, "r", 4,        \
                unsigned, "r", 8, 8)                                                               \
  __SIMGPU_MMAS(m, n, k, __half, "f16.f32", __half, unsigned, "r", 4, float, float, "f", 8,        \
                unsigned, "r", 8, 8)                                                               \
  __SIMGPU_MMAS(m, n, k, __nv_bfloat16, "f32.bf16.bf16.f32", float, float, "f", 8, float, float,   \
                "f", 8, unsigned, "r", NB16A, NB16B)                                               \
  __SIMGPU_MMAS(m, n, k, signed char, "s32.s8.s8.s32", int, int, "r", 8, int, int, "r", 8,         \
                unsigned, "r", N8A, N8B)                                                           \
  __SIMGPU_MMAS(m, n, k, unsigned char, "s32.u8.u8.s32", int, int, "r", 8, int, int, "r", 8,       \
                unsigned, "r", N8A, N8B)

__SIMGPU_SHAPE(16, 16, 16, 4, 8, 4, 8, 2, 8, 2, 8)
__SIMGPU_SHAPE(32, 8, 16, 8, 16, 2, 4, 4, 16, 1, 4)
__SIMGPU_SHAPE(8, 32, 16, 2, 4, 8, 16, 1, 4, 4, 16)

__SIMGPU_A_AND_B(16, 16, 8, precision::tf32, float, "tf32", unsigned, "r", 4, 4, 4, 4)
__SIMGPU_C(16, 16, 8, float, "f32", float, "f", 8, 8)
__SIMGPU_MMAS(16, 16, 8, precision::tf32, "f32.tf32.tf32.f32", float, float, "f", 8, float, float,
              "f", 8, unsigned, "r", 4, 4)

__SIMGPU_A_AND_B(8, 8, 4, double, double, "f64", double, "d", 1, 1, 1, 1)
__SIMGPU_C(8, 8, 4, double, "f64", double, "d", 2, 2)
__SIMGPU_MMAS(8, 8, 4, double, "f64.f64.f64.f64", double, double, "d", 2, double, double, "d", 2,
              double, "d", 1, 1)

// ---- 4-bit integers and single bits: memory and x hold 8, or 32, of them in a word
namespace experimental {
namespace precision {
struct s4;
struct u4;
struct b1;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

#define __SIMGPU_PACKED(Letter, Use, k, T, Stored, Layout, Name)                                 \
  template <>                                                                                    \
  struct fragment<Use, 8, 8, k, experimental::precision::T, Layout> {                            \
    typedef experimental::precision::T element_type;                                             \
    typedef Stored storage_element_type;                                                         \
    enum { num_elements = k / 4, num_storage_elements = 1 };                                     \
    Stored x[1];                                                                                 \
  };                                                                                             \
  __SIMGPU_DEVICE void load_matrix_sync(                                                         \
      fragment<Use, 8, 8, k, experimental::precision::T, Layout>& f, const void* p,              \
      unsigned ldm) {                                                                            \
    asm volatile("wmma.load." Letter ".sync.aligned." Name ".m8n8k" #k "." #T " {%0}, [%1], %2;" \
                 : "=r"(f.x[0])                                                                  \
                 : "l"(p), "r"(ldm)                                                              \
                 : "memory");                                                                    \
  }
#define __SIMGPU_PACKED_MMA(Op, Finite, k, T)                                                 \
  asm volatile("wmma.mma" Op ".sync.aligned.row.col.m8n8k" #k ".s32." #T "." #T ".s32" Finite \
               " {%0, %1}, {%2}, {%3}, {%4, %5};"                                             \
               : "=r"(to[0]), "=r"(to[1])                                                     \
               : "r"(a.x[0]), "r"(b.x[0]), "r"(c.x[0]), "r"(c.x[1]))
// `first` and `second` are the instructions that `choice` decides between.
#define __SIMGPU_PACKED_PRODUCT(Name, k, T, choice, first, second, ...)            \
  __SIMGPU_DEVICE void Name(                                                       \
      fragment<accumulator, 8, 8, k, int>& d,                                      \
      const fragment<matrix_a, 8, 8, k, experimental::precision::T, row_major>& a, \
      const fragment<matrix_b, 8, 8, k, experimental::precision::T, col_major>& b, \
      const fragment<accumulator, 8, 8, k, int>& c, __VA_ARGS__) {                 \
    int to[2];                                                                     \
    if (choice)                                                                    \
      first;                                                                       \
    else                                                                           \
      second;                                                                      \
    d.x[0] = to[0];                                                                \
    d.x[1] = to[1];                                                                \
  }
#define __SIMGPU_FOUR_BITS(T, Stored)                                                          \
  __SIMGPU_PACKED("a", matrix_a, 32, T, Stored, row_major, "row")                              \
  __SIMGPU_PACKED("b", matrix_b, 32, T, Stored, col_major, "col")                              \
  __SIMGPU_PACKED_PRODUCT(mma_sync, 32, T, satf, __SIMGPU_PACKED_MMA("", ".satfinite", 32, T), \
                          __SIMGPU_PACKED_MMA("", "", 32, T), bool satf = false)

__SIMGPU_C(8, 8, 32, int, "s32", int, "r", 2, 2)
__SIMGPU_FOUR_BITS(s4, int)
__SIMGPU_FOUR_BITS(u4, unsigned)
__SIMGPU_C(8, 8, 128, int, "s32", int, "r", 2, 2)
__SIMGPU_PACKED("a", matrix_a, 128, b1, unsigned, row_major, "row")
__SIMGPU_PACKED("b", matrix_b, 128, b1, unsigned, col_major, "col")
__SIMGPU_PACKED_PRODUCT(bmma_sync, 128, b1, op == experimental::bmmaBitOpAND,
                        __SIMGPU_PACKED_MMA(".and.popc", "", 128, b1),
                        __SIMGPU_PACKED_MMA(".xor.popc", "", 128, b1),
                        experimental::bmmaBitOp op = experimental::bmmaBitOpXOR,
                        experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC)

#undef __SIMGPU_FOUR_BITS
#undef __SIMGPU_PACKED_PRODUCT
#undef __SIMGPU_PACKED_MMA
#undef __SIMGPU_PACKED
#undef __SIMGPU_SHAPE
#undef __SIMGPU_MMAS
#undef __SIMGPU_MMA
#undef __SIMGPU_C
#undef __SIMGPU_STORE_D
#undef __SIMGPU_LOAD_C
#undef __SIMGPU_A_AND_B
#undef __SIMGPU_AB
#undef __SIMGPU_LOAD_AB
#undef __SIMGPU_O8
#undef __SIMGPU_O4
#undef __SIMGPU_O2
#undef __SIMGPU_O1
#undef __SIMGPU_R8
#undef __SIMGPU_R4
#undef __SIMGPU_R2
#undef __SIMGPU_R1
#undef __SIMGPU_FRAGMENT

/// Every element becomes `value`.
template <typename Use, int m, int n, int k, typename T, typename Layout, typename V>
__SIMGPU_DEVICE void fill_fragment(fragment<Use, m, n, k, T, Layout>& f, const V& value) {
  typedef typename fragment<Use, m, n, k, T, Layout>::storage_element_type Stored;
  constexpr int all = fragment<Use, m, n, k, T, Layout>::num_elements;
  constexpr int stored = fragment<Use, m, n, k, T, Layout>::num_storage_elements;
  Stored v = static_cast<Stored>(value);
  if constexpr (all != stored) {  // packed: the bits of one element, as often as a word holds them
    constexpr unsigned bits = 32u * stored / all;
    v = static_cast<Stored>((static_cast<unsigned>(v) & ((1u << bits) - 1)) *
                            (~0u / ((1u << bits) - 1)));
  }
#pragma unroll
  for (int i = 0; i < stored; ++i) f.x[i] = v;
}

/// A float rounded to tf32's 10 fraction bits, ties away from zero. Without it tensor cores cut
/// off.
[[nodiscard]] __SIMGPU_DEVICE float __float_to_tf32(float v) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
  return __uint_as_float(bits);
}

}  // namespace wmma
}  // namespace nvcuda
#endif
