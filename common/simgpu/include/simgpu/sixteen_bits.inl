// One 16-bit format: the class, its pair, conversions, arithmetic, comparisons. Included by cuda_fp16.h
// and cuda_bf16.h, each of which names the types and the format's PTX suffixes by macros; no include
// guard on purpose.
#pragma GCC system_header

struct __SIMGPU_16_2;

/// One number. Trivial: it may lie in __shared__ arrays and unions.
struct alignas(2) __SIMGPU_16 {
  unsigned short __x;

  __SIMGPU_16() = default;
  __SIMGPU_HALF_MEMBER constexpr __SIMGPU_16(const __SIMGPU_16_RAW& raw) : __x(raw.x) {}
  __SIMGPU_HALF_MEMBER __SIMGPU_16(float v);
  __SIMGPU_HALF_MEMBER __SIMGPU_16(double v);
  __SIMGPU_HALF_MEMBER __SIMGPU_16(int v);
  __SIMGPU_HALF_MEMBER __SIMGPU_16(unsigned int v);
  __SIMGPU_HALF_MEMBER __SIMGPU_16(short v);
  __SIMGPU_HALF_MEMBER __SIMGPU_16(unsigned short v);
  __SIMGPU_HALF_MEMBER __SIMGPU_16(long v);
  __SIMGPU_HALF_MEMBER __SIMGPU_16(unsigned long v);
  __SIMGPU_HALF_MEMBER __SIMGPU_16(long long v);
  __SIMGPU_HALF_MEMBER __SIMGPU_16(unsigned long long v);
  __SIMGPU_HALF_MEMBER __SIMGPU_16& operator=(const __SIMGPU_16_RAW& raw) {
    __x = raw.x;
    return *this;
  }
  __SIMGPU_HALF_MEMBER __SIMGPU_16& operator=(float v) { return *this = __SIMGPU_16(v); }
  __SIMGPU_HALF_MEMBER __SIMGPU_16& operator=(double v) { return *this = __SIMGPU_16(v); }
  __SIMGPU_HALF_MEMBER __SIMGPU_16& operator=(int v) { return *this = __SIMGPU_16(v); }
  __SIMGPU_HALF_MEMBER __SIMGPU_16& operator=(unsigned int v) { return *this = __SIMGPU_16(v); }

  __SIMGPU_HALF_MEMBER operator __SIMGPU_16_RAW() const { return __SIMGPU_16_RAW{__x}; }
  __SIMGPU_HALF_MEMBER operator float() const;
  __SIMGPU_HALF_MEMBER constexpr operator bool() const { return (__x & 0x7fffu) != 0; }
  __SIMGPU_HALF_MEMBER operator signed char() const;
  __SIMGPU_HALF_MEMBER operator unsigned char() const;
  __SIMGPU_HALF_MEMBER operator short() const;
  __SIMGPU_HALF_MEMBER operator unsigned short() const;
  __SIMGPU_HALF_MEMBER operator int() const;
  __SIMGPU_HALF_MEMBER operator unsigned int() const;
  __SIMGPU_HALF_MEMBER operator long() const;
  __SIMGPU_HALF_MEMBER operator unsigned long() const;
  __SIMGPU_HALF_MEMBER operator long long() const;
  __SIMGPU_HALF_MEMBER operator unsigned long long() const;
};

/// Two numbers in 32 bits, x the lower. Copies are one access of 4 bytes.
struct alignas(4) __SIMGPU_16_2 {
  __SIMGPU_16 x, y;

  __SIMGPU_16_2() = default;
  __SIMGPU_HALF_MEMBER constexpr __SIMGPU_16_2(const __SIMGPU_16& a, const __SIMGPU_16& b)
      : x(a), y(b) {}
  __SIMGPU_HALF_MEMBER __SIMGPU_16_2(const __SIMGPU_16_2_RAW& raw)
      : x(__SIMGPU_16_RAW{raw.x}), y(__SIMGPU_16_RAW{raw.y}) {}
  __SIMGPU_HALF_MEMBER operator __SIMGPU_16_2_RAW() const {
    return __SIMGPU_16_2_RAW{x.__x, y.__x};
  }
#if defined(__CUDA_ARCH__) && !defined(__SIMGPU_PLAIN_VECTORS)
  // As two members clang copies two elements of 2 bytes.
  __SIMGPU_HALF_MEMBER __SIMGPU_16_2(const __SIMGPU_16_2& other) {
    __builtin_memcpy(this, &other, 4);
  }
  __SIMGPU_HALF_MEMBER __SIMGPU_16_2& operator=(const __SIMGPU_16_2& other) {
    __builtin_memcpy(this, &other, 4);
    return *this;
  }
#endif
};

// ---- bits
__SIMGPU_BOTH __SIMGPU_16 __SIMGPU_16_NAME(__ushort_as_, )(const unsigned short bits) {
  return __SIMGPU_16_RAW{bits};
}
__SIMGPU_BOTH unsigned short __SIMGPU_16_NAME(__, _as_ushort)(const __SIMGPU_16 v) {
  return v.__x;
}
__SIMGPU_BOTH __SIMGPU_16 __SIMGPU_16_NAME(__short_as_, )(const short bits) {
  return __SIMGPU_16_RAW{static_cast<unsigned short>(bits)};
}
__SIMGPU_BOTH short __SIMGPU_16_NAME(__, _as_short)(const __SIMGPU_16 v) {
  return static_cast<short>(v.__x);
}
__SIMGPU_BOTH unsigned int __SIMGPU_16_NAME(__simgpu_word_of_, 2)(const __SIMGPU_16_2& v) {
  return v.x.__x | (static_cast<unsigned int>(v.y.__x) << 16);
}
__SIMGPU_BOTH __SIMGPU_16_2 __SIMGPU_16_NAME(__simgpu_pair_of_, 2)(unsigned int word) {
  return __SIMGPU_16_2(__SIMGPU_16_RAW{static_cast<unsigned short>(word)},
                       __SIMGPU_16_RAW{static_cast<unsigned short>(word >> 16)});
}

// ---- conversions
__SIMGPU_BOTH float __SIMGPU_16_NAME(__, 2float)(const __SIMGPU_16 v) {
#if defined(__CUDA_ARCH__)
  if (__SIMGPU_16_ONE == 0x3c00) {
    float r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(v.__x));
    return r;
  }
#endif
  return __SIMGPU_16_TO_FLOAT(v.__x);
}

#if defined(__CUDA_ARCH__)
#define __SIMGPU_16_FROM(Name, T, Constraint, Type, Round, Mode)                          \
  __SIMGPU_BOTH __SIMGPU_16 Name(const T v) {                                             \
    unsigned short r;                                                                     \
    asm("cvt." Round "." __SIMGPU_16_TYPE "." Type " %0, %1;" : "=h"(r) : Constraint(v)); \
    return __SIMGPU_16_RAW{r};                                                            \
  }
#else
#define __SIMGPU_16_FROM(Name, T, Constraint, Type, Round, Mode)                   \
  __SIMGPU_BOTH __SIMGPU_16 Name(const T v) {                                      \
    return __SIMGPU_16_RAW{__SIMGPU_16_FROM_DOUBLE(static_cast<double>(v), Mode)}; \
  }
#endif
#define __SIMGPU_16_FROM_4(Before, T, Constraint, Type)                         \
  __SIMGPU_16_FROM(__SIMGPU_16_NAME(Before, _rn), T, Constraint, Type, "rn", 0) \
  __SIMGPU_16_FROM(__SIMGPU_16_NAME(Before, _rz), T, Constraint, Type, "rz", 1) \
  __SIMGPU_16_FROM(__SIMGPU_16_NAME(Before, _rd), T, Constraint, Type, "rm", 2) \
  __SIMGPU_16_FROM(__SIMGPU_16_NAME(Before, _ru), T, Constraint, Type, "rp", 3)
__SIMGPU_16_FROM_4(__float2, float, "f", "f32")
__SIMGPU_16_FROM_4(__int2, int, "r", "s32")
__SIMGPU_16_FROM_4(__uint2, unsigned int, "r", "u32")
__SIMGPU_16_FROM_4(__short2, short, "h", "s16")
__SIMGPU_16_FROM_4(__ushort2, unsigned short, "h", "u16")
__SIMGPU_16_FROM(__SIMGPU_16_NAME(__float2, ), float, "f", "f32", "rn", 0)
__SIMGPU_16_FROM(__SIMGPU_16_NAME(__double2, ), double, "d", "f64", "rn", 0)
#if defined(__CUDA_ARCH__)
__SIMGPU_16_FROM_4(__ll2, long long, "l", "s64")
__SIMGPU_16_FROM_4(__ull2, unsigned long long, "l", "u64")
#else
// 64 bits do not fit a double: the sign and whether anything is cut off is all that matters below.
__SIMGPU_BOTH double __SIMGPU_16_NAME(__simgpu_odd_, )(unsigned long long v) {
  if (v >> 53 != 0) v = (v & ~0x7ffull) | ((v & 0x7ffull) != 0 ? 0x800ull : 0);
  return static_cast<double>(v);
}
#define __SIMGPU_16_FROM_64(Suffix, Mode)                                                        \
  __SIMGPU_BOTH __SIMGPU_16 __SIMGPU_16_NAME(__ull2, Suffix)(const unsigned long long v) {       \
    return __SIMGPU_16_RAW{__SIMGPU_16_FROM_DOUBLE(__SIMGPU_16_NAME(__simgpu_odd_, )(v), Mode)}; \
  }                                                                                              \
  __SIMGPU_BOTH __SIMGPU_16 __SIMGPU_16_NAME(__ll2, Suffix)(const long long v) {                 \
    const double m = __SIMGPU_16_NAME(__simgpu_odd_, )(                                          \
        v < 0 ? 0 - static_cast<unsigned long long>(v) : static_cast<unsigned long long>(v));    \
    return __SIMGPU_16_RAW{__SIMGPU_16_FROM_DOUBLE(v < 0 ? -m : m, Mode)};                       \
  }
__SIMGPU_16_FROM_64(_rn, 0)
__SIMGPU_16_FROM_64(_rz, 1)
__SIMGPU_16_FROM_64(_rd, 2)
__SIMGPU_16_FROM_64(_ru, 3)
#undef __SIMGPU_16_FROM_64
#endif
#undef __SIMGPU_16_FROM_4
#undef __SIMGPU_16_FROM

// To integers: NaN gives 0, what does not fit the nearest limit.
#define __SIMGPU_16_TO(Name, T, Limit, Low, High, Round)                              \
  __SIMGPU_BOTH T Name(const __SIMGPU_16 h) {                                         \
    const float f = Round(__SIMGPU_16_NAME(__, 2float)(h));                           \
    if (!(f == f)) return 0;                                                          \
    return f >= Limit ? High : f < static_cast<float>(Low) ? Low : static_cast<T>(f); \
  }
#define __SIMGPU_16_TO_ALL(Word, ...)                                               \
  __SIMGPU_16_TO(__SIMGPU_16_NAME(__, 2##Word##_rz), __VA_ARGS__, __builtin_truncf) \
  __SIMGPU_16_TO(__SIMGPU_16_NAME(__, 2##Word##_rn), __VA_ARGS__, __builtin_rintf)  \
  __SIMGPU_16_TO(__SIMGPU_16_NAME(__, 2##Word##_rd), __VA_ARGS__, __builtin_floorf) \
  __SIMGPU_16_TO(__SIMGPU_16_NAME(__, 2##Word##_ru), __VA_ARGS__, __builtin_ceilf)
__SIMGPU_16_TO_ALL(int, int, 2147483648.0f, (-2147483647 - 1), 2147483647)
__SIMGPU_16_TO_ALL(uint, unsigned int, 4294967296.0f, 0u, 4294967295u)
__SIMGPU_16_TO_ALL(short, short, 32768.0f, -32768, 32767)
__SIMGPU_16_TO_ALL(ushort, unsigned short, 65536.0f, 0, 65535)
__SIMGPU_16_TO_ALL(ll, long long, 0x1p63f, (-9223372036854775807ll - 1), 9223372036854775807ll)
__SIMGPU_16_TO_ALL(ull, unsigned long long, 0x1p64f, 0ull, 18446744073709551615ull)
__SIMGPU_16_TO(__SIMGPU_16_NAME(__, 2char_rz), signed char, 128.0f, -128, 127, __builtin_truncf)
__SIMGPU_16_TO(__SIMGPU_16_NAME(__, 2uchar_rz), unsigned char, 256.0f, 0, 255, __builtin_truncf)
#undef __SIMGPU_16_TO_ALL
#undef __SIMGPU_16_TO

inline __SIMGPU_HALF_MEMBER __SIMGPU_16::__SIMGPU_16(float v)
    : __x(__SIMGPU_16_NAME(__float2, )(v).__x) {}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::__SIMGPU_16(double v)
    : __x(__SIMGPU_16_NAME(__double2, )(v).__x) {}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::__SIMGPU_16(int v)
    : __x(__SIMGPU_16_NAME(__int2, _rn)(v).__x) {}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::__SIMGPU_16(unsigned int v)
    : __x(__SIMGPU_16_NAME(__uint2, _rn)(v).__x) {}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::__SIMGPU_16(short v)
    : __x(__SIMGPU_16_NAME(__short2, _rn)(v).__x) {}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::__SIMGPU_16(unsigned short v)
    : __x(__SIMGPU_16_NAME(__ushort2, _rn)(v).__x) {}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::__SIMGPU_16(long v)
    : __x(__SIMGPU_16_NAME(__ll2, _rn)(v).__x) {}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::__SIMGPU_16(unsigned long v)
    : __x(__SIMGPU_16_NAME(__ull2, _rn)(v).__x) {}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::__SIMGPU_16(long long v)
    : __x(__SIMGPU_16_NAME(__ll2, _rn)(v).__x) {}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::__SIMGPU_16(unsigned long long v)
    : __x(__SIMGPU_16_NAME(__ull2, _rn)(v).__x) {}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::operator float() const {
  return __SIMGPU_16_NAME(__, 2float)(*this);
}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::operator signed char() const {
  return __SIMGPU_16_NAME(__, 2char_rz)(*this);
}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::operator unsigned char() const {
  return __SIMGPU_16_NAME(__, 2uchar_rz)(*this);
}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::operator short() const {
  return __SIMGPU_16_NAME(__, 2short_rz)(*this);
}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::operator unsigned short() const {
  return __SIMGPU_16_NAME(__, 2ushort_rz)(*this);
}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::operator int() const {
  return __SIMGPU_16_NAME(__, 2int_rz)(*this);
}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::operator unsigned int() const {
  return __SIMGPU_16_NAME(__, 2uint_rz)(*this);
}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::operator long() const {
  return static_cast<long>(__SIMGPU_16_NAME(__, 2ll_rz)(*this));
}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::operator unsigned long() const {
  return static_cast<unsigned long>(__SIMGPU_16_NAME(__, 2ull_rz)(*this));
}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::operator long long() const {
  return __SIMGPU_16_NAME(__, 2ll_rz)(*this);
}
inline __SIMGPU_HALF_MEMBER __SIMGPU_16::operator unsigned long long() const {
  return __SIMGPU_16_NAME(__, 2ull_rz)(*this);
}

// ---- pairs
__SIMGPU_BOTH __SIMGPU_16_2 __SIMGPU_16_NAME2(__floats2, _rn)(const float a, const float b) {
#if defined(__CUDA_ARCH__)
  unsigned int word;
  asm("cvt.rn." __SIMGPU_16_X2 ".f32 %0, %1, %2;" : "=r"(word) : "f"(b), "f"(a));
  return __SIMGPU_16_NAME(__simgpu_pair_of_, 2)(word);
#else
  return __SIMGPU_16_2(__SIMGPU_16_NAME(__float2, )(a), __SIMGPU_16_NAME(__float2, )(b));
#endif
}
__SIMGPU_BOTH __SIMGPU_16_2 __SIMGPU_16_NAME2(__float2, _rn)(const float a) {
  return __SIMGPU_16_NAME2(__floats2, _rn)(a, a);
}
__SIMGPU_BOTH __SIMGPU_16_2 __SIMGPU_16_NAME2(__float22, _rn)(const float2 v) {
  return __SIMGPU_16_NAME2(__floats2, _rn)(v.x, v.y);
}
__SIMGPU_BOTH float __low2float(const __SIMGPU_16_2 v) {
  return __SIMGPU_16_NAME(__, 2float)(v.x);
}
__SIMGPU_BOTH float __high2float(const __SIMGPU_16_2 v) {
  return __SIMGPU_16_NAME(__, 2float)(v.y);
}
__SIMGPU_BOTH float2 __SIMGPU_16_NAME(__, 22float2)(const __SIMGPU_16_2 v) {
  float2 r;
  r.x = __low2float(v);
  r.y = __high2float(v);
  return r;
}
__SIMGPU_BOTH __SIMGPU_16 __SIMGPU_16_NAME(__low2, )(const __SIMGPU_16_2 v) {
  return v.x;
}
__SIMGPU_BOTH __SIMGPU_16 __SIMGPU_16_NAME(__high2, )(const __SIMGPU_16_2 v) {
  return v.y;
}
__SIMGPU_BOTH __SIMGPU_16_2 __SIMGPU_16_NAME2(__low2, )(const __SIMGPU_16_2 v) {
  return __SIMGPU_16_2(v.x, v.x);
}
__SIMGPU_BOTH __SIMGPU_16_2 __SIMGPU_16_NAME2(__high2, )(const __SIMGPU_16_2 v) {
  return __SIMGPU_16_2(v.y, v.y);
}
__SIMGPU_BOTH __SIMGPU_16_2 __SIMGPU_16_SPLAT(const __SIMGPU_16 v) {
  return __SIMGPU_16_2(v, v);
}
__SIMGPU_BOTH __SIMGPU_16_2 __SIMGPU_16_NAME2(__halves2, )(const __SIMGPU_16 a,
                                                           const __SIMGPU_16 b) {
  return __SIMGPU_16_2(a, b);
}
__SIMGPU_BOTH __SIMGPU_16_2 __SIMGPU_16_NAME2(make_, )(const __SIMGPU_16 x, const __SIMGPU_16 y) {
  return __SIMGPU_16_2(x, y);
}
__SIMGPU_BOTH __SIMGPU_16_2 __lowhigh2highlow(const __SIMGPU_16_2 v) {
  return __SIMGPU_16_2(v.y, v.x);
}
__SIMGPU_BOTH __SIMGPU_16_2 __SIMGPU_16_NAME2(__lows2, )(const __SIMGPU_16_2 a,
                                                         const __SIMGPU_16_2 b) {
  return __SIMGPU_16_2(a.x, b.x);
}
__SIMGPU_BOTH __SIMGPU_16_2 __SIMGPU_16_NAME2(__highs2, )(const __SIMGPU_16_2 a,
                                                          const __SIMGPU_16_2 b) {
  return __SIMGPU_16_2(a.y, b.y);
}

// ---- arithmetic
#if defined(__CUDA_ARCH__)
#define __SIMGPU_16_UNARY(Name, Name2, Ptx, Host)                                                  \
  __SIMGPU_BOTH __SIMGPU_16 Name(const __SIMGPU_16 a) {                                            \
    unsigned short r;                                                                              \
    asm(Ptx __SIMGPU_16_TYPE " %0, %1;" : "=h"(r) : "h"(a.__x));                                   \
    return __SIMGPU_16_RAW{r};                                                                     \
  }                                                                                                \
  __SIMGPU_BOTH __SIMGPU_16_2 Name2(const __SIMGPU_16_2 a) {                                       \
    unsigned int r;                                                                                \
    asm(Ptx __SIMGPU_16_X2 " %0, %1;" : "=r"(r) : "r"(__SIMGPU_16_NAME(__simgpu_word_of_, 2)(a))); \
    return __SIMGPU_16_NAME(__simgpu_pair_of_, 2)(r);                                              \
  }
#define __SIMGPU_16_BINARY(Name, Name2, Ptx, Host)                                  \
  __SIMGPU_BOTH __SIMGPU_16 Name(const __SIMGPU_16 a, const __SIMGPU_16 b) {        \
    unsigned short r;                                                               \
    asm(Ptx __SIMGPU_16_TYPE " %0, %1, %2;" : "=h"(r) : "h"(a.__x), "h"(b.__x));    \
    return __SIMGPU_16_RAW{r};                                                      \
  }                                                                                 \
  __SIMGPU_BOTH __SIMGPU_16_2 Name2(const __SIMGPU_16_2 a, const __SIMGPU_16_2 b) { \
    unsigned int r;                                                                 \
    asm(Ptx __SIMGPU_16_X2 " %0, %1, %2;"                                           \
        : "=r"(r)                                                                   \
        : "r"(__SIMGPU_16_NAME(__simgpu_word_of_, 2)(a)),                           \
          "r"(__SIMGPU_16_NAME(__simgpu_word_of_, 2)(b)));                          \
    return __SIMGPU_16_NAME(__simgpu_pair_of_, 2)(r);                               \
  }
#define __SIMGPU_16_TERNARY(Name, Name2, Ptx, Host)                                               \
  __SIMGPU_BOTH __SIMGPU_16 Name(const __SIMGPU_16 a, const __SIMGPU_16 b, const __SIMGPU_16 c) { \
    unsigned short r;                                                                             \
    asm(Ptx __SIMGPU_16_TYPE " %0, %1, %2, %3;" : "=h"(r) : "h"(a.__x), "h"(b.__x), "h"(c.__x));  \
    return __SIMGPU_16_RAW{r};                                                                    \
  }                                                                                               \
  __SIMGPU_BOTH __SIMGPU_16_2 Name2(const __SIMGPU_16_2 a, const __SIMGPU_16_2 b,                 \
                                    const __SIMGPU_16_2 c) {                                      \
    unsigned int r;                                                                               \
    asm(Ptx __SIMGPU_16_X2 " %0, %1, %2, %3;"                                                     \
        : "=r"(r)                                                                                 \
        : "r"(__SIMGPU_16_NAME(__simgpu_word_of_, 2)(a)),                                         \
          "r"(__SIMGPU_16_NAME(__simgpu_word_of_, 2)(b)),                                         \
          "r"(__SIMGPU_16_NAME(__simgpu_word_of_, 2)(c)));                                        \
    return __SIMGPU_16_NAME(__simgpu_pair_of_, 2)(r);                                             \
  }
#else
#define __SIMGPU_16_UNARY(Name, Name2, Ptx, Host)                      \
  __SIMGPU_BOTH __SIMGPU_16 Name(const __SIMGPU_16 h) {                \
    const double a = static_cast<double>(__SIMGPU_16_TO_FLOAT(h.__x)); \
    return __SIMGPU_16_RAW{__SIMGPU_16_FROM_DOUBLE(Host, 0)};          \
  }                                                                    \
  __SIMGPU_BOTH __SIMGPU_16_2 Name2(const __SIMGPU_16_2 a) {           \
    return __SIMGPU_16_2(Name(a.x), Name(a.y));                        \
  }
#define __SIMGPU_16_BINARY(Name, Name2, Ptx, Host)                                  \
  __SIMGPU_BOTH __SIMGPU_16 Name(const __SIMGPU_16 h, const __SIMGPU_16 i) {        \
    const double a = static_cast<double>(__SIMGPU_16_TO_FLOAT(h.__x));              \
    const double b = static_cast<double>(__SIMGPU_16_TO_FLOAT(i.__x));              \
    return __SIMGPU_16_RAW{__SIMGPU_16_FROM_DOUBLE(Host, 0)};                       \
  }                                                                                 \
  __SIMGPU_BOTH __SIMGPU_16_2 Name2(const __SIMGPU_16_2 a, const __SIMGPU_16_2 b) { \
    return __SIMGPU_16_2(Name(a.x, b.x), Name(a.y, b.y));                           \
  }
#define __SIMGPU_16_TERNARY(Name, Name2, Ptx, Host)                                               \
  __SIMGPU_BOTH __SIMGPU_16 Name(const __SIMGPU_16 h, const __SIMGPU_16 i, const __SIMGPU_16 j) { \
    const double a = static_cast<double>(__SIMGPU_16_TO_FLOAT(h.__x));                            \
    const double b = static_cast<double>(__SIMGPU_16_TO_FLOAT(i.__x));                            \
    const double c = static_cast<double>(__SIMGPU_16_TO_FLOAT(j.__x));                            \
    return __SIMGPU_16_RAW{__SIMGPU_16_FROM_DOUBLE(Host, 0)};                                     \
  }                                                                                               \
  __SIMGPU_BOTH __SIMGPU_16_2 Name2(const __SIMGPU_16_2 a, const __SIMGPU_16_2 b,                 \
                                    const __SIMGPU_16_2 c) {                                      \
    return __SIMGPU_16_2(Name(a.x, b.x, c.x), Name(a.y, b.y, c.y));                               \
  }
#endif

// The names are the same for both formats: overloads.
__SIMGPU_16_BINARY(__hadd, __hadd2, "add.", a + b)
__SIMGPU_16_BINARY(__hsub, __hsub2, "sub.", a - b)
__SIMGPU_16_BINARY(__hmul, __hmul2, "mul.", a* b)
__SIMGPU_16_BINARY(__hadd_rn, __hadd2_rn, "add.rn.", a + b)
__SIMGPU_16_BINARY(__hsub_rn, __hsub2_rn, "sub.rn.", a - b)
__SIMGPU_16_BINARY(__hmul_rn, __hmul2_rn, "mul.rn.", a* b)
__SIMGPU_16_TERNARY(__hfma, __hfma2, "fma.rn.", (__SIMGPU_16_FMA(a, b, c)))
__SIMGPU_16_TERNARY(__hfma_relu, __hfma2_relu, "fma.rn.relu.",
                    (__SIMGPU_16_FMA(a, b, c) < 0 ? 0.0 : __SIMGPU_16_FMA(a, b, c)))
__SIMGPU_16_UNARY(__hneg, __hneg2, "neg.", -a)
__SIMGPU_16_UNARY(__habs, __habs2, "abs.", (a < 0 || (a == 0 && 1 / a < 0) ? -a : a))
__SIMGPU_16_BINARY(__hmax, __hmax2, "max.",
                   (a != a                           ? b
                    : b != b                         ? a
                    : a < b || (a == b && 1 / a < 0) ? b
                                                     : a))
__SIMGPU_16_BINARY(__hmin, __hmin2, "min.",
                   (a != a                           ? b
                    : b != b                         ? a
                    : b < a || (a == b && 1 / b < 0) ? b
                                                     : a))
__SIMGPU_16_BINARY(__hmax_nan, __hmax2_nan, "max.NaN.",
                   (a != a                           ? a
                    : b != b                         ? b
                    : a < b || (a == b && 1 / a < 0) ? b
                                                     : a))
__SIMGPU_16_BINARY(__hmin_nan, __hmin2_nan, "min.NaN.",
                   (a != a                           ? a
                    : b != b                         ? b
                    : b < a || (a == b && 1 / b < 0) ? b
                                                     : a))
#undef __SIMGPU_16_UNARY
#undef __SIMGPU_16_BINARY
#undef __SIMGPU_16_TERNARY

/// Quotient of the numbers as floats, rounded: within one unit in the last place.
__SIMGPU_BOTH __SIMGPU_16 __hdiv(const __SIMGPU_16 a, const __SIMGPU_16 b) {
  return __SIMGPU_16_NAME(
      __float2, )(__SIMGPU_16_NAME(__, 2float)(a) / __SIMGPU_16_NAME(__, 2float)(b));
}
__SIMGPU_BOTH __SIMGPU_16_2 __h2div(const __SIMGPU_16_2 a, const __SIMGPU_16_2 b) {
  return __SIMGPU_16_2(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}
/// Clamped to [0, 1], NaN to 0.
__SIMGPU_BOTH __SIMGPU_16 __SIMGPU_16_NAME(__simgpu_saturate_, )(const __SIMGPU_16 v) {
  const float f = __SIMGPU_16_NAME(__, 2float)(v);
  return !(f > 0.0f) ? __SIMGPU_16(__SIMGPU_16_RAW{0})
         : f > 1.0f  ? __SIMGPU_16(__SIMGPU_16_RAW{__SIMGPU_16_ONE})
                     : v;
}
__SIMGPU_BOTH __SIMGPU_16 __hadd_sat(const __SIMGPU_16 a, const __SIMGPU_16 b) {
  return __SIMGPU_16_NAME(__simgpu_saturate_, )(__hadd(a, b));
}
__SIMGPU_BOTH __SIMGPU_16 __hsub_sat(const __SIMGPU_16 a, const __SIMGPU_16 b) {
  return __SIMGPU_16_NAME(__simgpu_saturate_, )(__hsub(a, b));
}
__SIMGPU_BOTH __SIMGPU_16 __hmul_sat(const __SIMGPU_16 a, const __SIMGPU_16 b) {
  return __SIMGPU_16_NAME(__simgpu_saturate_, )(__hmul(a, b));
}
__SIMGPU_BOTH __SIMGPU_16 __hfma_sat(const __SIMGPU_16 a, const __SIMGPU_16 b,
                                     const __SIMGPU_16 c) {
  return __SIMGPU_16_NAME(__simgpu_saturate_, )(__hfma(a, b, c));
}

__SIMGPU_BOTH __SIMGPU_16_2 __hadd2_sat(const __SIMGPU_16_2 a, const __SIMGPU_16_2 b) {
  return __SIMGPU_16_2(__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y));
}
__SIMGPU_BOTH __SIMGPU_16_2 __hsub2_sat(const __SIMGPU_16_2 a, const __SIMGPU_16_2 b) {
  return __SIMGPU_16_2(__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y));
}
__SIMGPU_BOTH __SIMGPU_16_2 __hmul2_sat(const __SIMGPU_16_2 a, const __SIMGPU_16_2 b) {
  return __SIMGPU_16_2(__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y));
}
__SIMGPU_BOTH __SIMGPU_16_2 __hfma2_sat(const __SIMGPU_16_2 a, const __SIMGPU_16_2 b,
                                        const __SIMGPU_16_2 c) {
  return __SIMGPU_16_2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}

// ---- comparisons: the plain ones are false for NaN (not equal too), the ...u ones true
#define __SIMGPU_16_COMPARE(Name, Holds)                                                  \
  __SIMGPU_BOTH bool Name(const __SIMGPU_16 h, const __SIMGPU_16 i) {                     \
    const float a = __SIMGPU_16_NAME(__, 2float)(h), b = __SIMGPU_16_NAME(__, 2float)(i); \
    return Holds;                                                                         \
  }
#define __SIMGPU_16_COMPARE_PAIR(Name, All, Pair)                                        \
  __SIMGPU_BOTH bool All(const __SIMGPU_16_2 a, const __SIMGPU_16_2 b) {                 \
    return Name(a.x, b.x) && Name(a.y, b.y);                                             \
  }                                                                                      \
  __SIMGPU_BOTH __SIMGPU_16_2 Pair(const __SIMGPU_16_2 a, const __SIMGPU_16_2 b) {       \
    const unsigned short one = __SIMGPU_16_ONE, zero = 0;                                \
    return __SIMGPU_16_2(__SIMGPU_16_RAW{Name(a.x, b.x) ? one : zero},                   \
                         __SIMGPU_16_RAW{Name(a.y, b.y) ? one : zero});                  \
  }                                                                                      \
  __SIMGPU_BOTH unsigned int Pair##_mask(const __SIMGPU_16_2 a, const __SIMGPU_16_2 b) { \
    return (Name(a.x, b.x) ? 0xffffu : 0u) | (Name(a.y, b.y) ? 0xffff0000u : 0u);        \
  }
#define __SIMGPU_16_COMPARES(Name, Holds) \
  __SIMGPU_16_COMPARE(__h##Name, Holds)   \
  __SIMGPU_16_COMPARE_PAIR(__h##Name, __hb##Name##2, __h##Name##2)
__SIMGPU_16_COMPARES(eq, a == b)
__SIMGPU_16_COMPARES(ne, (a < b || a > b))
__SIMGPU_16_COMPARES(lt, a < b)
__SIMGPU_16_COMPARES(le, a <= b)
__SIMGPU_16_COMPARES(gt, a > b)
__SIMGPU_16_COMPARES(ge, a >= b)
__SIMGPU_16_COMPARES(equ, !(a < b || a > b))
__SIMGPU_16_COMPARES(neu, !(a == b))
__SIMGPU_16_COMPARES(ltu, !(a >= b))
__SIMGPU_16_COMPARES(leu, !(a > b))
__SIMGPU_16_COMPARES(gtu, !(a <= b))
__SIMGPU_16_COMPARES(geu, !(a < b))
#undef __SIMGPU_16_COMPARES
#undef __SIMGPU_16_COMPARE_PAIR
#undef __SIMGPU_16_COMPARE
__SIMGPU_BOTH bool __hisnan(const __SIMGPU_16 v) {
  return (v.__x & 0x7fffu) > static_cast<unsigned int>(__SIMGPU_16_ONE == 0x3c00 ? 0x7c00 : 0x7f80);
}
/// 1 or 0 for each half.
__SIMGPU_BOTH __SIMGPU_16_2 __hisnan2(const __SIMGPU_16_2 v) {
  const unsigned short one = __SIMGPU_16_ONE, zero = 0;
  return __SIMGPU_16_2(__SIMGPU_16_RAW{__hisnan(v.x) ? one : zero},
                       __SIMGPU_16_RAW{__hisnan(v.y) ? one : zero});
}
/// 1 for +infinity, -1 for -infinity, else 0.
__SIMGPU_BOTH int __hisinf(const __SIMGPU_16 v) {
  const unsigned int infinity = __SIMGPU_16_ONE == 0x3c00 ? 0x7c00 : 0x7f80;
  return (v.__x & 0x7fffu) != infinity ? 0 : (v.__x & 0x8000u) != 0 ? -1 : 1;
}

// ---- operators
__SIMGPU_BOTH __SIMGPU_16 operator+(const __SIMGPU_16& a, const __SIMGPU_16& b) {
  return __hadd(a, b);
}
__SIMGPU_BOTH __SIMGPU_16 operator-(const __SIMGPU_16& a, const __SIMGPU_16& b) {
  return __hsub(a, b);
}
__SIMGPU_BOTH __SIMGPU_16 operator*(const __SIMGPU_16& a, const __SIMGPU_16& b) {
  return __hmul(a, b);
}
__SIMGPU_BOTH __SIMGPU_16 operator/(const __SIMGPU_16& a, const __SIMGPU_16& b) {
  return __hdiv(a, b);
}
__SIMGPU_BOTH __SIMGPU_16 operator+(const __SIMGPU_16& a) {
  return a;
}
__SIMGPU_BOTH __SIMGPU_16 operator-(const __SIMGPU_16& a) {
  return __hneg(a);
}
__SIMGPU_BOTH __SIMGPU_16_2 operator+(const __SIMGPU_16_2& a, const __SIMGPU_16_2& b) {
  return __hadd2(a, b);
}
__SIMGPU_BOTH __SIMGPU_16_2 operator-(const __SIMGPU_16_2& a, const __SIMGPU_16_2& b) {
  return __hsub2(a, b);
}
__SIMGPU_BOTH __SIMGPU_16_2 operator*(const __SIMGPU_16_2& a, const __SIMGPU_16_2& b) {
  return __hmul2(a, b);
}
__SIMGPU_BOTH __SIMGPU_16_2 operator/(const __SIMGPU_16_2& a, const __SIMGPU_16_2& b) {
  return __h2div(a, b);
}
__SIMGPU_BOTH __SIMGPU_16_2 operator-(const __SIMGPU_16_2& a) {
  return __hneg2(a);
}
#define __SIMGPU_16_ASSIGN(Op)                                                            \
  __SIMGPU_BOTH __SIMGPU_16& operator Op##=(__SIMGPU_16& a, const __SIMGPU_16& b) {       \
    return a = a Op b;                                                                    \
  }                                                                                       \
  __SIMGPU_BOTH __SIMGPU_16_2& operator Op##=(__SIMGPU_16_2& a, const __SIMGPU_16_2& b) { \
    return a = a Op b;                                                                    \
  }
__SIMGPU_16_ASSIGN(+)
__SIMGPU_16_ASSIGN(-)
__SIMGPU_16_ASSIGN(*)
__SIMGPU_16_ASSIGN(/)
#undef __SIMGPU_16_ASSIGN
#define __SIMGPU_16_OPERATOR(Op, Name, All)                                        \
  __SIMGPU_BOTH bool operator Op(const __SIMGPU_16& a, const __SIMGPU_16& b) {     \
    return Name(a, b);                                                             \
  }                                                                                \
  __SIMGPU_BOTH bool operator Op(const __SIMGPU_16_2& a, const __SIMGPU_16_2& b) { \
    return All(a, b);                                                              \
  }
__SIMGPU_16_OPERATOR(==, __heq, __hbeq2)
__SIMGPU_16_OPERATOR(!=, __hneu, __hbneu2)
__SIMGPU_16_OPERATOR(<, __hlt, __hblt2)
__SIMGPU_16_OPERATOR(<=, __hle, __hble2)
__SIMGPU_16_OPERATOR(>, __hgt, __hbgt2)
__SIMGPU_16_OPERATOR(>=, __hge, __hbge2)
#undef __SIMGPU_16_OPERATOR
__SIMGPU_BOTH __SIMGPU_16& operator++(__SIMGPU_16& a) {
  return a += __SIMGPU_16(__SIMGPU_16_RAW{__SIMGPU_16_ONE});
}
__SIMGPU_BOTH __SIMGPU_16& operator--(__SIMGPU_16& a) {
  return a -= __SIMGPU_16(__SIMGPU_16_RAW{__SIMGPU_16_ONE});
}

// ---- device only: functions of the special function unit, shuffles, loads past the cache, atomics
#if defined(__CUDA__)
#define __SIMGPU_16_THROUGH_FLOAT(Name, Name2, Expression)     \
  __SIMGPU_DEVICE __SIMGPU_16 Name(const __SIMGPU_16 h) {      \
    const float a = __SIMGPU_16_NAME(__, 2float)(h);           \
    return __SIMGPU_16_NAME(__float2, )(Expression);           \
  }                                                            \
  __SIMGPU_DEVICE __SIMGPU_16_2 Name2(const __SIMGPU_16_2 a) { \
    return __SIMGPU_16_2(Name(a.x), Name(a.y));                \
  }
__SIMGPU_16_THROUGH_FLOAT(hsqrt, h2sqrt, ::sqrtf(a))
__SIMGPU_16_THROUGH_FLOAT(hrsqrt, h2rsqrt, ::rsqrtf(a))
__SIMGPU_16_THROUGH_FLOAT(hrcp, h2rcp, 1.0f / a)
__SIMGPU_16_THROUGH_FLOAT(hexp, h2exp, ::expf(a))
__SIMGPU_16_THROUGH_FLOAT(hexp2, h2exp2, ::exp2f(a))
__SIMGPU_16_THROUGH_FLOAT(hlog, h2log, ::logf(a))
__SIMGPU_16_THROUGH_FLOAT(hlog2, h2log2, ::log2f(a))
__SIMGPU_16_THROUGH_FLOAT(hexp10, h2exp10, ::exp10f(a))
__SIMGPU_16_THROUGH_FLOAT(hlog10, h2log10, ::log10f(a))
__SIMGPU_16_THROUGH_FLOAT(hsin, h2sin, ::sinf(a))
__SIMGPU_16_THROUGH_FLOAT(hcos, h2cos, ::cosf(a))
__SIMGPU_16_THROUGH_FLOAT(hfloor, h2floor, ::floorf(a))
__SIMGPU_16_THROUGH_FLOAT(hceil, h2ceil, ::ceilf(a))
__SIMGPU_16_THROUGH_FLOAT(htrunc, h2trunc, ::truncf(a))
__SIMGPU_16_THROUGH_FLOAT(hrint, h2rint, ::rintf(a))
__SIMGPU_16_THROUGH_FLOAT(htanh, h2tanh, ::tanhf(a))
__SIMGPU_16_THROUGH_FLOAT(htanh_approx, h2tanh_approx, ::tanhf(a))
/// a * b + c of complex numbers, the real part first.
__SIMGPU_DEVICE __SIMGPU_16_2 __hcmadd(const __SIMGPU_16_2 a, const __SIMGPU_16_2 b,
                                       const __SIMGPU_16_2 c) {
  return __SIMGPU_16_2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)),
                       __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}
#undef __SIMGPU_16_THROUGH_FLOAT

#define __SIMGPU_16_SHUFFLE(Name, Operand)                                                 \
  __SIMGPU_DEVICE __SIMGPU_16_2 Name(unsigned int mask, __SIMGPU_16_2 value, Operand lane, \
                                     int width = 32) {                                     \
    return __SIMGPU_16_NAME(__simgpu_pair_of_, 2)(                                         \
        Name(mask, __SIMGPU_16_NAME(__simgpu_word_of_, 2)(value), lane, width));           \
  }                                                                                        \
  __SIMGPU_DEVICE __SIMGPU_16 Name(unsigned int mask, __SIMGPU_16 value, Operand lane,     \
                                   int width = 32) {                                       \
    return __SIMGPU_16_RAW{static_cast<unsigned short>(                                    \
        Name(mask, static_cast<unsigned int>(value.__x), lane, width))};                   \
  }
__SIMGPU_16_SHUFFLE(__shfl_sync, int)
__SIMGPU_16_SHUFFLE(__shfl_up_sync, unsigned int)
__SIMGPU_16_SHUFFLE(__shfl_down_sync, unsigned int)
__SIMGPU_16_SHUFFLE(__shfl_xor_sync, int)
#undef __SIMGPU_16_SHUFFLE

#define __SIMGPU_16_LOAD(Name)                                                                     \
  __SIMGPU_DEVICE __SIMGPU_16 Name(const __SIMGPU_16* p) {                                         \
    return __SIMGPU_16_RAW{Name(reinterpret_cast<const unsigned short*>(p))};                      \
  }                                                                                                \
  __SIMGPU_DEVICE __SIMGPU_16_2 Name(const __SIMGPU_16_2* p) {                                     \
    return __SIMGPU_16_NAME(__simgpu_pair_of_, 2)(Name(reinterpret_cast<const unsigned int*>(p))); \
  }
__SIMGPU_16_LOAD(__ldg)
__SIMGPU_16_LOAD(__ldca)
__SIMGPU_16_LOAD(__ldcg)
__SIMGPU_16_LOAD(__ldcs)
__SIMGPU_16_LOAD(__ldlu)
__SIMGPU_16_LOAD(__ldcv)
#undef __SIMGPU_16_LOAD

#define __SIMGPU_16_STORE(Name)                                           \
  __SIMGPU_DEVICE void Name(__SIMGPU_16* p, const __SIMGPU_16 value) {     \
    Name(reinterpret_cast<unsigned short*>(p), value.__x);                \
  }                                                                       \
  __SIMGPU_DEVICE void Name(__SIMGPU_16_2* p, const __SIMGPU_16_2 value) { \
    Name(reinterpret_cast<unsigned int*>(p),                              \
         __SIMGPU_16_NAME(__simgpu_word_of_, 2)(value));                  \
  }
__SIMGPU_16_STORE(__stwb)
__SIMGPU_16_STORE(__stcg)
__SIMGPU_16_STORE(__stcs)
__SIMGPU_16_STORE(__stwt)
#undef __SIMGPU_16_STORE

__SIMGPU_DEVICE __SIMGPU_16 atomicAdd(__SIMGPU_16* address, const __SIMGPU_16 value) {
  unsigned short old;
  asm volatile("atom.add.noftz." __SIMGPU_16_TYPE " %0, [%1], %2;"
               : "=h"(old)
               : "l"(address), "h"(value.__x)
               : "memory");
  return __SIMGPU_16_RAW{old};
}
__SIMGPU_DEVICE __SIMGPU_16_2 atomicAdd(__SIMGPU_16_2* address, const __SIMGPU_16_2 value) {
  unsigned int old;
  asm volatile("atom.add.noftz." __SIMGPU_16_X2 " %0, [%1], %2;"
               : "=r"(old)
               : "l"(address), "r"(__SIMGPU_16_NAME(__simgpu_word_of_, 2)(value))
               : "memory");
  return __SIMGPU_16_NAME(__simgpu_pair_of_, 2)(old);
}
#endif

#undef __SIMGPU_16
#undef __SIMGPU_16_2
#undef __SIMGPU_16_RAW
#undef __SIMGPU_16_2_RAW
#undef __SIMGPU_16_TYPE
#undef __SIMGPU_16_X2
#undef __SIMGPU_16_NAME
#undef __SIMGPU_16_NAME2
#undef __SIMGPU_16_TO_FLOAT
#undef __SIMGPU_16_FROM_DOUBLE
#undef __SIMGPU_16_ONE
#undef __SIMGPU_16_FMA
#undef __SIMGPU_16_SPLAT
