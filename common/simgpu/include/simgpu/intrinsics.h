// Integer, bit, conversion and rounded-arithmetic intrinsics, cached loads and address spaces.
// Part of <cuda_runtime.h>; device code only.
#pragma once
#pragma GCC system_header

#include <stddef.h>

#include "../vector_types.h"

// ---- bits and integers
__SIMGPU_DEVICE int __popc(unsigned int x) {
  return __builtin_popcount(x);
}
/// The bit of `x` that is the |offset|-th set one from bit `base` on, upwards or (offset < 0)
/// downwards; all ones if there is none. With offset 0 it is `base` itself, if it is set.
__SIMGPU_DEVICE unsigned int __fns(unsigned int x, unsigned int base, int offset) {
  if (offset == 0) return base < 32 && (x >> base & 1) ? base : 0xffffffffu;
  int left = offset < 0 ? -offset : offset;
  for (int bit = static_cast<int>(base); bit >= 0 && bit < 32; bit += offset < 0 ? -1 : 1)
    if ((x >> bit & 1) && --left == 0) return static_cast<unsigned int>(bit);
  return 0xffffffffu;
}
__SIMGPU_DEVICE int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}
// clz of 0 is 32 (64), which the compiler's builtin leaves undefined.
__SIMGPU_DEVICE int __clz(int x) {
  int n;
  asm("clz.b32 %0, %1;" : "=r"(n) : "r"(x));
  return n;
}
__SIMGPU_DEVICE int __clzll(long long x) {
  int n;
  asm("clz.b64 %0, %1;" : "=r"(n) : "l"(x));
  return n;
}
__SIMGPU_DEVICE unsigned int __brev(unsigned int x) {
  return __builtin_bitreverse32(x);
}
__SIMGPU_DEVICE unsigned long long __brevll(unsigned long long x) {
  return __builtin_bitreverse64(x);
}
__SIMGPU_DEVICE int __ffs(int x) {
  return 32 - __clz(static_cast<int>(x & (0u - x)));
}
__SIMGPU_DEVICE int __ffsll(long long x) {
  return 64 - __clzll(static_cast<long long>(x & (0ull - x)));
}
__SIMGPU_DEVICE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  unsigned int result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(selector));
  return result;
}
__SIMGPU_DEVICE unsigned int __funnelshift_l(unsigned int low, unsigned int high,
                                             unsigned int shift) {
  unsigned int result;
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
  return result;
}
__SIMGPU_DEVICE unsigned int __funnelshift_lc(unsigned int low, unsigned int high,
                                              unsigned int shift) {
  unsigned int result;
  asm("shf.l.clamp.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
  return result;
}
__SIMGPU_DEVICE unsigned int __funnelshift_r(unsigned int low, unsigned int high,
                                             unsigned int shift) {
  unsigned int result;
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
  return result;
}
__SIMGPU_DEVICE unsigned int __funnelshift_rc(unsigned int low, unsigned int high,
                                              unsigned int shift) {
  unsigned int result;
  asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
  return result;
}
__SIMGPU_DEVICE int __mul24(int x, int y) {
  return (static_cast<int>(static_cast<unsigned int>(x) << 8) >> 8) *
         (static_cast<int>(static_cast<unsigned int>(y) << 8) >> 8);
}
__SIMGPU_DEVICE unsigned int __umul24(unsigned int x, unsigned int y) {
  return (x & 0xffffffu) * (y & 0xffffffu);
}
__SIMGPU_DEVICE int __mulhi(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) * y) >> 32);
}
__SIMGPU_DEVICE unsigned int __umulhi(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) * y) >> 32);
}
__SIMGPU_DEVICE long long __mul64hi(long long x, long long y) {
  long long result;
  asm("mul.hi.s64 %0, %1, %2;" : "=l"(result) : "l"(x), "l"(y));
  return result;
}
__SIMGPU_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  unsigned long long result;
  asm("mul.hi.u64 %0, %1, %2;" : "=l"(result) : "l"(x), "l"(y));
  return result;
}
__SIMGPU_DEVICE unsigned int __sad(int x, int y, unsigned int z) {
  return z + (x > y ? static_cast<unsigned int>(x) - static_cast<unsigned int>(y)
                    : static_cast<unsigned int>(y) - static_cast<unsigned int>(x));
}
__SIMGPU_DEVICE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
  return z + (x > y ? x - y : y - x);
}
__SIMGPU_DEVICE int __hadd(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) + y) >> 1);
}
__SIMGPU_DEVICE int __rhadd(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1);
}
__SIMGPU_DEVICE unsigned int __uhadd(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) + y) >> 1);
}
__SIMGPU_DEVICE unsigned int __urhadd(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}
__SIMGPU_DEVICE int __dp4a(int a, int b, int c) {
  int d;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
__SIMGPU_DEVICE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  unsigned int d;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
#define __SIMGPU_WORD_OF(Vector, Word)              \
  __SIMGPU_DEVICE Word __simgpu_word_of(Vector v) { \
    Word w;                                         \
    __builtin_memcpy(&w, &v, sizeof w);             \
    return w;                                       \
  }
__SIMGPU_WORD_OF(char4, int)
__SIMGPU_WORD_OF(uchar4, unsigned int)
__SIMGPU_WORD_OF(short2, int)
__SIMGPU_WORD_OF(ushort2, unsigned int)
#undef __SIMGPU_WORD_OF
__SIMGPU_DEVICE int __dp4a(char4 a, char4 b, int c) {
  return __dp4a(__simgpu_word_of(a), __simgpu_word_of(b), c);
}
__SIMGPU_DEVICE unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
  return __dp4a(__simgpu_word_of(a), __simgpu_word_of(b), c);
}
// Products of the two 16-bit parts of a with the low or high two bytes of b.
#define __SIMGPU_DP2A(Name, Form, T, Type, Two, Four)                                          \
  __SIMGPU_DEVICE T Name(T a, T b, T c) {                                                      \
    T d;                                                                                       \
    asm("dp2a." Form "." Type "." Type " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); \
    return d;                                                                                  \
  }                                                                                            \
  __SIMGPU_DEVICE T Name(Two a, Four b, T c) {                                                 \
    return Name(__simgpu_word_of(a), __simgpu_word_of(b), c);                                  \
  }
__SIMGPU_DP2A(__dp2a_lo, "lo", int, "s32", short2, char4)
__SIMGPU_DP2A(__dp2a_lo, "lo", unsigned int, "u32", ushort2, uchar4)
__SIMGPU_DP2A(__dp2a_hi, "hi", int, "s32", short2, char4)
__SIMGPU_DP2A(__dp2a_hi, "hi", unsigned int, "u32", ushort2, uchar4)
#undef __SIMGPU_DP2A

// ---- the same bits as another type
__SIMGPU_DEVICE int __float_as_int(float x) {
  int bits;
  __builtin_memcpy(&bits, &x, 4);
  return bits;
}
__SIMGPU_DEVICE unsigned int __float_as_uint(float x) {
  unsigned int bits;
  __builtin_memcpy(&bits, &x, 4);
  return bits;
}
__SIMGPU_DEVICE float __int_as_float(int bits) {
  float x;
  __builtin_memcpy(&x, &bits, 4);
  return x;
}
__SIMGPU_DEVICE float __uint_as_float(unsigned int bits) {
  float x;
  __builtin_memcpy(&x, &bits, 4);
  return x;
}
__SIMGPU_DEVICE long long __double_as_longlong(double x) {
  long long bits;
  __builtin_memcpy(&bits, &x, 8);
  return bits;
}
__SIMGPU_DEVICE double __longlong_as_double(long long bits) {
  double x;
  __builtin_memcpy(&x, &bits, 8);
  return x;
}
__SIMGPU_DEVICE int __double2hiint(double x) {
  return static_cast<int>(__double_as_longlong(x) >> 32);
}
__SIMGPU_DEVICE int __double2loint(double x) {
  return static_cast<int>(__double_as_longlong(x));
}
__SIMGPU_DEVICE double __hiloint2double(int high, int low) {
  return __longlong_as_double((static_cast<long long>(high) << 32) |
                              static_cast<unsigned int>(low));
}

// ---- conversions with a rounding mode: rn nearest even, rz towards zero, ru up, rd down
#define __SIMGPU_CONVERT(Name, To, ToConstraint, From, FromConstraint, Opcode) \
  __SIMGPU_DEVICE To Name(From x) {                                            \
    To result;                                                                 \
    asm(Opcode " %0, %1;" : "=" ToConstraint(result) : FromConstraint(x));     \
    return result;                                                             \
  }
#define __SIMGPU_TO_INTEGER(Prefix, From, FromConstraint, FromType)                               \
  __SIMGPU_CONVERT(Prefix##2int_rn, int, "r", From, FromConstraint, "cvt.rni.s32." FromType)      \
  __SIMGPU_CONVERT(Prefix##2int_rz, int, "r", From, FromConstraint, "cvt.rzi.s32." FromType)      \
  __SIMGPU_CONVERT(Prefix##2int_ru, int, "r", From, FromConstraint, "cvt.rpi.s32." FromType)      \
  __SIMGPU_CONVERT(Prefix##2int_rd, int, "r", From, FromConstraint, "cvt.rmi.s32." FromType)      \
  __SIMGPU_CONVERT(Prefix##2uint_rn, unsigned int, "r", From, FromConstraint,                     \
                   "cvt.rni.u32." FromType)                                                       \
  __SIMGPU_CONVERT(Prefix##2uint_rz, unsigned int, "r", From, FromConstraint,                     \
                   "cvt.rzi.u32." FromType)                                                       \
  __SIMGPU_CONVERT(Prefix##2uint_ru, unsigned int, "r", From, FromConstraint,                     \
                   "cvt.rpi.u32." FromType)                                                       \
  __SIMGPU_CONVERT(Prefix##2uint_rd, unsigned int, "r", From, FromConstraint,                     \
                   "cvt.rmi.u32." FromType)                                                       \
  __SIMGPU_CONVERT(Prefix##2ll_rn, long long, "l", From, FromConstraint, "cvt.rni.s64." FromType) \
  __SIMGPU_CONVERT(Prefix##2ll_rz, long long, "l", From, FromConstraint, "cvt.rzi.s64." FromType) \
  __SIMGPU_CONVERT(Prefix##2ll_ru, long long, "l", From, FromConstraint, "cvt.rpi.s64." FromType) \
  __SIMGPU_CONVERT(Prefix##2ll_rd, long long, "l", From, FromConstraint, "cvt.rmi.s64." FromType) \
  __SIMGPU_CONVERT(Prefix##2ull_rn, unsigned long long, "l", From, FromConstraint,                \
                   "cvt.rni.u64." FromType)                                                       \
  __SIMGPU_CONVERT(Prefix##2ull_rz, unsigned long long, "l", From, FromConstraint,                \
                   "cvt.rzi.u64." FromType)                                                       \
  __SIMGPU_CONVERT(Prefix##2ull_ru, unsigned long long, "l", From, FromConstraint,                \
                   "cvt.rpi.u64." FromType)                                                       \
  __SIMGPU_CONVERT(Prefix##2ull_rd, unsigned long long, "l", From, FromConstraint,                \
                   "cvt.rmi.u64." FromType)
__SIMGPU_TO_INTEGER(__float, float, "f", "f32")
__SIMGPU_TO_INTEGER(__double, double, "d", "f64")

#define __SIMGPU_TO_FLOATING(Name, To, ToConstraint, ToType, From, FromConstraint, FromType)     \
  __SIMGPU_CONVERT(Name##_rn, To, ToConstraint, From, FromConstraint, "cvt.rn." ToType FromType) \
  __SIMGPU_CONVERT(Name##_rz, To, ToConstraint, From, FromConstraint, "cvt.rz." ToType FromType) \
  __SIMGPU_CONVERT(Name##_ru, To, ToConstraint, From, FromConstraint, "cvt.rp." ToType FromType) \
  __SIMGPU_CONVERT(Name##_rd, To, ToConstraint, From, FromConstraint, "cvt.rm." ToType FromType)
__SIMGPU_TO_FLOATING(__int2float, float, "f", "f32.", int, "r", "s32")
__SIMGPU_TO_FLOATING(__uint2float, float, "f", "f32.", unsigned int, "r", "u32")
__SIMGPU_TO_FLOATING(__ll2float, float, "f", "f32.", long long, "l", "s64")
__SIMGPU_TO_FLOATING(__ull2float, float, "f", "f32.", unsigned long long, "l", "u64")
__SIMGPU_TO_FLOATING(__ll2double, double, "d", "f64.", long long, "l", "s64")
__SIMGPU_TO_FLOATING(__ull2double, double, "d", "f64.", unsigned long long, "l", "u64")
__SIMGPU_TO_FLOATING(__double2float, float, "f", "f32.", double, "d", "f64")
__SIMGPU_DEVICE double __int2double_rn(int x) {
  return x;
}
__SIMGPU_DEVICE double __uint2double_rn(unsigned int x) {
  return x;
}
#undef __SIMGPU_TO_FLOATING
#undef __SIMGPU_TO_INTEGER
#undef __SIMGPU_CONVERT

// ---- arithmetic with a rounding mode; never contracted into another operation
#define __SIMGPU_BINARY(Name, T, C, Opcode)                  \
  __SIMGPU_DEVICE T Name(T x, T y) {                         \
    T result;                                                \
    asm(Opcode " %0, %1, %2;" : "=" C(result) : C(x), C(y)); \
    return result;                                           \
  }
#define __SIMGPU_UNARY(Name, T, C, Opcode)         \
  __SIMGPU_DEVICE T Name(T x) {                    \
    T result;                                      \
    asm(Opcode " %0, %1;" : "=" C(result) : C(x)); \
    return result;                                 \
  }
#define __SIMGPU_TERNARY(Name, T, C, Opcode)                           \
  __SIMGPU_DEVICE T Name(T x, T y, T z) {                              \
    T result;                                                          \
    asm(Opcode " %0, %1, %2, %3;" : "=" C(result) : C(x), C(y), C(z)); \
    return result;                                                     \
  }
#define __SIMGPU_ROUNDED(Form, Name, T, C, Opcode, Type)                              \
  Form(Name##_rn, T, C, Opcode ".rn." Type) Form(Name##_rz, T, C, Opcode ".rz." Type) \
      Form(Name##_ru, T, C, Opcode ".rp." Type) Form(Name##_rd, T, C, Opcode ".rm." Type)
__SIMGPU_ROUNDED(__SIMGPU_BINARY, __fadd, float, "f", "add", "f32")
__SIMGPU_ROUNDED(__SIMGPU_BINARY, __fsub, float, "f", "sub", "f32")
__SIMGPU_ROUNDED(__SIMGPU_BINARY, __fmul, float, "f", "mul", "f32")
__SIMGPU_ROUNDED(__SIMGPU_BINARY, __fdiv, float, "f", "div", "f32")
__SIMGPU_ROUNDED(__SIMGPU_TERNARY, __fmaf, float, "f", "fma", "f32")
__SIMGPU_ROUNDED(__SIMGPU_UNARY, __fsqrt, float, "f", "sqrt", "f32")
__SIMGPU_ROUNDED(__SIMGPU_UNARY, __frcp, float, "f", "rcp", "f32")
__SIMGPU_ROUNDED(__SIMGPU_BINARY, __dadd, double, "d", "add", "f64")
__SIMGPU_ROUNDED(__SIMGPU_BINARY, __dsub, double, "d", "sub", "f64")
__SIMGPU_ROUNDED(__SIMGPU_BINARY, __dmul, double, "d", "mul", "f64")
__SIMGPU_ROUNDED(__SIMGPU_BINARY, __ddiv, double, "d", "div", "f64")
__SIMGPU_ROUNDED(__SIMGPU_TERNARY, __fma, double, "d", "fma", "f64")
__SIMGPU_ROUNDED(__SIMGPU_UNARY, __dsqrt, double, "d", "sqrt", "f64")
__SIMGPU_ROUNDED(__SIMGPU_UNARY, __drcp, double, "d", "rcp", "f64")

// ---- fast approximations
__SIMGPU_UNARY(__frsqrt_rn, float, "f", "rsqrt.approx.f32")
__SIMGPU_UNARY(__simgpu_ex2, float, "f", "ex2.approx.f32")
__SIMGPU_UNARY(__simgpu_lg2, float, "f", "lg2.approx.f32")
__SIMGPU_UNARY(__simgpu_tanh, float, "f", "tanh.approx.f32")
__SIMGPU_UNARY(__sinf, float, "f", "sin.approx.f32")
__SIMGPU_UNARY(__cosf, float, "f", "cos.approx.f32")
__SIMGPU_BINARY(__fdividef, float, "f", "div.approx.f32")
__SIMGPU_DEVICE float __tanf(float x) {
  return __fdividef(__sinf(x), __cosf(x));
}
__SIMGPU_DEVICE float __tanhf(float x) {
  return __simgpu_tanh(x);
}
__SIMGPU_DEVICE float __expf(float x) {
  return __simgpu_ex2(x * 1.4426950408889634f);
}
__SIMGPU_DEVICE float __exp10f(float x) {
  return __simgpu_ex2(x * 3.3219280948873623f);
}
__SIMGPU_DEVICE float __log2f(float x) {
  return __simgpu_lg2(x);
}
__SIMGPU_DEVICE float __logf(float x) {
  return __simgpu_lg2(x) * 0.6931471805599453f;
}
__SIMGPU_DEVICE float __log10f(float x) {
  return __simgpu_lg2(x) * 0.3010299956639812f;
}
__SIMGPU_DEVICE float __powf(float x, float y) {
  return __simgpu_ex2(y * __simgpu_lg2(x));
}
__SIMGPU_DEVICE float __saturatef(float x) {
  return x >= 0.0f ? (x <= 1.0f ? x : 1.0f) : 0.0f;  // NaN becomes 0, as in CUDA
}
#undef __SIMGPU_ROUNDED
#undef __SIMGPU_TERNARY
#undef __SIMGPU_UNARY
#undef __SIMGPU_BINARY

// ---- cache hints. The simulator models no cache, so all but __ldg are plain accesses of the same
// width.
// __ldg goes through the read-only path (ld.global.nc) like nvcc's.
#define __SIMGPU_LDG(T, C, Type)                                                     \
  __SIMGPU_DEVICE T __ldg(const T* p) {                                              \
    T value;                                                                         \
    asm("ld.global.nc." Type " %0, [%1];" : "=" C(value) : "l"(__simgpu_global(p))); \
    return value;                                                                    \
  }
#define __SIMGPU_LDG_SMALL(T, Type)                                                 \
  __SIMGPU_DEVICE T __ldg(const T* p) {                                             \
    unsigned int value;                                                             \
    asm("ld.global.nc." Type " %0, [%1];" : "=r"(value) : "l"(__simgpu_global(p))); \
    return static_cast<T>(value);                                                   \
  }
#define __SIMGPU_LDG_2(T, C, Type)                 \
  __SIMGPU_DEVICE T __ldg(const T* p) {            \
    T value;                                       \
    asm("ld.global.nc.v2." Type " {%0, %1}, [%2];" \
        : "=" C(value.x), "=" C(value.y)           \
        : "l"(__simgpu_global(p)));                \
    return value;                                  \
  }
#define __SIMGPU_LDG_4(T, C, Type)                                       \
  __SIMGPU_DEVICE T __ldg(const T* p) {                                  \
    T value;                                                             \
    asm("ld.global.nc.v4." Type " {%0, %1, %2, %3}, [%4];"               \
        : "=" C(value.x), "=" C(value.y), "=" C(value.z), "=" C(value.w) \
        : "l"(__simgpu_global(p)));                                      \
    return value;                                                        \
  }
__SIMGPU_DEVICE unsigned long long __simgpu_global(const void* p) {
  return reinterpret_cast<unsigned long long>((const __attribute__((address_space(1))) void*)(p));
}
__SIMGPU_LDG_SMALL(char, "s8")
__SIMGPU_LDG_SMALL(signed char, "s8")
__SIMGPU_LDG_SMALL(unsigned char, "u8")
__SIMGPU_LDG_SMALL(short, "s16")
__SIMGPU_LDG_SMALL(unsigned short, "u16")
__SIMGPU_LDG(int, "r", "s32")
__SIMGPU_LDG(unsigned int, "r", "u32")
__SIMGPU_LDG(long, "l", "s64")
__SIMGPU_LDG(unsigned long, "l", "u64")
__SIMGPU_LDG(long long, "l", "s64")
__SIMGPU_LDG(unsigned long long, "l", "u64")
__SIMGPU_LDG(float, "f", "f32")
__SIMGPU_LDG(double, "d", "f64")
__SIMGPU_LDG_2(int2, "r", "s32")
__SIMGPU_LDG_2(uint2, "r", "u32")
__SIMGPU_LDG_2(longlong2, "l", "s64")
__SIMGPU_LDG_2(ulonglong2, "l", "u64")
__SIMGPU_LDG_2(float2, "f", "f32")
__SIMGPU_LDG_2(double2, "d", "f64")
__SIMGPU_LDG_4(int4, "r", "s32")
__SIMGPU_LDG_4(uint4, "r", "u32")
__SIMGPU_LDG_4(float4, "f", "f32")
// Vectors of bytes and of 16 bits, as the words that they fill.
#define __SIMGPU_LDG_WORD(T, Word)                                     \
  __SIMGPU_DEVICE T __ldg(const T* p) {                                \
    static_assert(sizeof(T) == sizeof(Word), "");                      \
    const Word word = __ldg(reinterpret_cast<const Word*>(p));         \
    T value;                                                           \
    __builtin_memcpy(static_cast<void*>(&value), &word, sizeof value); \
    return value;                                                      \
  }
__SIMGPU_LDG_WORD(char2, unsigned short)
__SIMGPU_LDG_WORD(uchar2, unsigned short)
__SIMGPU_LDG_WORD(char4, unsigned int)
__SIMGPU_LDG_WORD(uchar4, unsigned int)
__SIMGPU_LDG_WORD(short2, unsigned int)
__SIMGPU_LDG_WORD(ushort2, unsigned int)
__SIMGPU_LDG_WORD(short4, uint2)
__SIMGPU_LDG_WORD(ushort4, uint2)
#undef __SIMGPU_LDG_WORD
#undef __SIMGPU_LDG
#undef __SIMGPU_LDG_SMALL
#undef __SIMGPU_LDG_2
#undef __SIMGPU_LDG_4

/// Each time: a loop may wait for what it brings.
template <class T>
__SIMGPU_DEVICE T __simgpu_fetched_again(const T* p) {
  if constexpr (!__is_class(T)) {
    return *const_cast<const volatile T*>(p);
  } else {
    asm volatile("" ::: "memory");
    return *p;
  }
}
#define __SIMGPU_CACHED(T)                     \
  __SIMGPU_DEVICE T __ldcg(const T* p) {       \
    return *p;                                 \
  }                                            \
  __SIMGPU_DEVICE T __ldca(const T* p) {       \
    return *p;                                 \
  }                                            \
  __SIMGPU_DEVICE T __ldcs(const T* p) {       \
    return *p;                                 \
  }                                            \
  __SIMGPU_DEVICE T __ldlu(const T* p) {       \
    return *p;                                 \
  }                                            \
  __SIMGPU_DEVICE T __ldcv(const T* p) {       \
    return __simgpu_fetched_again(p);          \
  }                                            \
  __SIMGPU_DEVICE void __stwb(T* p, T value) { \
    *p = value;                                \
  }                                            \
  __SIMGPU_DEVICE void __stcg(T* p, T value) { \
    *p = value;                                \
  }                                            \
  __SIMGPU_DEVICE void __stcs(T* p, T value) { \
    *p = value;                                \
  }                                            \
  __SIMGPU_DEVICE void __stwt(T* p, T value) { \
    *p = value;                                \
  }
__SIMGPU_CACHED(char)
__SIMGPU_CACHED(signed char)
__SIMGPU_CACHED(unsigned char)
__SIMGPU_CACHED(short)
__SIMGPU_CACHED(unsigned short)
__SIMGPU_CACHED(int)
__SIMGPU_CACHED(unsigned int)
__SIMGPU_CACHED(long)
__SIMGPU_CACHED(unsigned long)
__SIMGPU_CACHED(long long)
__SIMGPU_CACHED(unsigned long long)
__SIMGPU_CACHED(float)
__SIMGPU_CACHED(double)
__SIMGPU_CACHED(int2)
__SIMGPU_CACHED(uint2)
__SIMGPU_CACHED(longlong2)
__SIMGPU_CACHED(ulonglong2)
__SIMGPU_CACHED(float2)
__SIMGPU_CACHED(double2)
__SIMGPU_CACHED(int4)
__SIMGPU_CACHED(uint4)
__SIMGPU_CACHED(float4)
__SIMGPU_CACHED(char2)
__SIMGPU_CACHED(uchar2)
__SIMGPU_CACHED(char4)
__SIMGPU_CACHED(uchar4)
__SIMGPU_CACHED(short2)
__SIMGPU_CACHED(ushort2)
__SIMGPU_CACHED(short4)
__SIMGPU_CACHED(ushort4)
#undef __SIMGPU_CACHED

// ---- address spaces, as inline PTX needs them
__SIMGPU_DEVICE size_t __cvta_generic_to_shared(const void* p) {
  return reinterpret_cast<size_t>((const __attribute__((address_space(3))) void*)(p));
}
__SIMGPU_DEVICE size_t __cvta_generic_to_global(const void* p) {
  return __simgpu_global(p);
}
__SIMGPU_DEVICE void* __cvta_shared_to_generic(size_t p) {
  return (void*)(__attribute__((address_space(3))) void*)(p);
}
__SIMGPU_DEVICE void* __cvta_global_to_generic(size_t p) {
  return (void*)(__attribute__((address_space(1))) void*)(p);
}
__SIMGPU_DEVICE unsigned int __isShared(const void* p) {
  return __nvvm_isspacep_shared(p);
}
__SIMGPU_DEVICE unsigned int __isGlobal(const void* p) {
  return __nvvm_isspacep_global(p);
}
__SIMGPU_DEVICE unsigned int __isConstant(const void* p) {
  return __nvvm_isspacep_const(p);
}
__SIMGPU_DEVICE unsigned int __isLocal(const void* p) {
  return __nvvm_isspacep_local(p);
}
