// mma.sync and wmma.mma: D = A * B + C of a warp. See exec/mma.cpp for the arithmetic that is
// promised and fragments.hpp for where elements lie.
//
// Op::list: registers of D, C, A, B in this order, tile after tile. Op::x, y: tiles down and
// across. Fragments are expanded to small dense matrices (A by rows, B by rows of k), multiplied
// and scattered.
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/fragments.hpp"
#include "common/simgpu/exec/kernels/lanes.hpp"
#include "common/simgpu/exec/launch_run.hpp"
#include "common/simgpu/float8.hpp"
#include "common/simgpu/half.hpp"

namespace simgpu::exec::kernels {
namespace {

// Four doubles or eight 32-bit integers; where the machine has no such vectors the compiler splits
// them.
typedef double Doubles __attribute__((vector_size(32)));
typedef std::int32_t Ints __attribute__((vector_size(32)));

/// Eight 16-bit floats.
template <bool kBf>
SIMGPU_INLINE void widen8(const std::uint16_t* from, double* to) {
#if defined(__AVX__) && defined(__F16C__)
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  if constexpr (!kBf) {
    const __m256 v = _mm256_cvtph_ps(bits);
    _mm256_storeu_pd(to, _mm256_cvtps_pd(_mm256_castps256_ps128(v)));
    _mm256_storeu_pd(to + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)));
    return;
  }
#endif
  for (unsigned i = 0; i < 8; ++i)
    to[i] = static_cast<double>(kBf ? bfloat_to_float(from[i]) : half_to_float_lane(from[i]));
}

// One block of A or B, 8 rows of 4p elements, from the lanes of a register. `Dense` is what
// products are made of.
template <bool kBf>
struct SixteenBits {
  static constexpr unsigned kBits = 16, kWidth = 8;
  using Dense = double;
  SIMGPU_INLINE static void row(const std::byte* lanes, unsigned g, bool, Dense* to) {
    widen8<kBf>(reinterpret_cast<const std::uint16_t*>(lanes) + 8 * g, to);
  }
};
struct Tf32 {
  static constexpr unsigned kBits = 32, kWidth = 4;
  using Dense = double;
  /// The low 13 bits are not looked at.
  SIMGPU_INLINE static void row(const std::byte* lanes, unsigned g, bool, Dense* to) {
    const std::uint32_t* v = reinterpret_cast<const std::uint32_t*>(lanes) + 4 * g;
    for (unsigned i = 0; i < 4; ++i)
      to[i] = static_cast<double>(std::bit_cast<float>(v[i] & 0xffffe000u));
  }
};
struct Fp64 {
  static constexpr unsigned kBits = 64, kWidth = 4;
  using Dense = double;
  SIMGPU_INLINE static void row(const std::byte* lanes, unsigned g, bool, Dense* to) {
    std::memcpy(to, reinterpret_cast<const double*>(lanes) + 4 * g, 4 * sizeof(double));
  }
};
struct Int8 {
  static constexpr unsigned kBits = 8, kWidth = 16;
  using Dense = std::int32_t;
  SIMGPU_INLINE static void row(const std::byte* lanes, unsigned g, bool is_unsigned, Dense* to) {
    const std::uint8_t* v = reinterpret_cast<const std::uint8_t*>(lanes) + 16 * g;
    const std::int32_t flip = is_unsigned ? 0 : 0x80;  // two's complement: v ^ 0x80 - 0x80
    for (unsigned i = 0; i < 16; ++i) to[i] = (std::int32_t{v[i]} ^ flip) - flip;
  }
};

struct Float8 {
  static constexpr unsigned kBits = 8, kWidth = 16;
  using Dense = double;
  SIMGPU_INLINE static void row(const std::byte* lanes, unsigned g, bool is_e5m2, Dense* to) {
    const auto& values = float8_values(is_e5m2);
    const std::uint8_t* v = reinterpret_cast<const std::uint8_t*>(lanes) + 16 * g;
    for (unsigned i = 0; i < 16; ++i) to[i] = static_cast<double>(values[v[i]]);
  }
};

/// `second`: of a format's two kinds the second: unsigned bytes, e5m2.
template <class Format, unsigned kRows, unsigned kK>
SIMGPU_INLINE void expand_a(const Warp& w, const Ref* refs, bool second,
                            typename Format::Dense* to) {
  constexpr unsigned n = registers_of_a(kRows, kK, Format::kBits);
  for (unsigned r = 0; r < n; ++r) {
    const std::byte* from = address_of(w, refs[r]);
    const unsigned row = kRows == 16 ? 8 * (r % 2) : 0;
    const unsigned column = Format::kWidth * (kRows == 16 ? r / 2 : r);
    for (unsigned g = 0; g < 8; ++g) Format::row(from, g, second, to + (row + g) * kK + column);
  }
}
/// Eight rows of eight 16-bit values become columns.
SIMGPU_INLINE void transpose8(const std::uint16_t* from, std::uint16_t* to) {
#if defined(__SSE2__)
  __m128i a[8], b[8];
  for (unsigned i = 0; i < 8; ++i)
    a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 8 * i));
  for (unsigned i = 0; i < 4; ++i) {  // pairs of rows i, i + 4
    b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
    b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
  }
  for (unsigned i = 0; i < 4; ++i) {
    a[2 * i] = _mm_unpacklo_epi16(b[i], b[i + 4]);
    a[2 * i + 1] = _mm_unpackhi_epi16(b[i], b[i + 4]);
  }
  for (unsigned i = 0; i < 4; ++i) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16 * i), _mm_unpacklo_epi16(a[i], a[i + 4]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16 * i + 8),
                     _mm_unpackhi_epi16(a[i], a[i + 4]));
  }
#else
  for (unsigned i = 0; i < 8; ++i)
    for (unsigned j = 0; j < 8; ++j) to[8 * j + i] = from[8 * i + j];
#endif
}
/// B arrives by columns.
template <class Format, unsigned kK>
SIMGPU_INLINE void expand_b(const Warp& w, const Ref* refs, bool second,
                            typename Format::Dense* to) {
  constexpr unsigned n = registers_of_b(kK, Format::kBits);
  for (unsigned r = 0; r < n; ++r) {
    const std::byte* from = address_of(w, refs[r]);
    if constexpr (Format::kBits == 16) {
      alignas(16) std::uint16_t rows[64];
      transpose8(reinterpret_cast<const std::uint16_t*>(from), rows);
      for (unsigned q = 0; q < 8; ++q)
        Format::row(reinterpret_cast<const std::byte*>(rows), q, second, to + (r * 8 + q) * 8);
      continue;
    }
    for (unsigned g = 0; g < 8; ++g) {
      typename Format::Dense v[Format::kWidth];
      Format::row(from, g, second, v);
      for (unsigned q = 0; q < Format::kWidth; ++q) to[(r * Format::kWidth + q) * 8 + g] = v[q];
    }
  }
}

/// d[kRows][8] += a[kRows][kK] * b[kK][8], every element a chain over k. Products of all formats
/// but FP64 are exact in double, so that fused or not makes no difference there.
template <bool kFused, unsigned kRows, unsigned kK>
SIMGPU_INLINE void multiply(const double* a, const double* b, double* d) {
#if defined(__AVX2__) && defined(__FMA__)
  for (unsigned i = 0; i < kRows; i += 4) {
    __m256d s[4][2];
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned h = 0; h < 2; ++h) s[r][h] = _mm256_loadu_pd(d + (i + r) * 8 + 4 * h);
    for (unsigned k = 0; k < kK; ++k) {
      const __m256d b0 = _mm256_loadu_pd(b + k * 8), b1 = _mm256_loadu_pd(b + k * 8 + 4);
      for (unsigned r = 0; r < 4; ++r) {
        const __m256d v = _mm256_broadcast_sd(a + (i + r) * kK + k);
        s[r][0] = _mm256_fmadd_pd(v, b0, s[r][0]);
        s[r][1] = _mm256_fmadd_pd(v, b1, s[r][1]);
      }
    }
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned h = 0; h < 2; ++h) _mm256_storeu_pd(d + (i + r) * 8 + 4 * h, s[r][h]);
  }
#else
  for (unsigned i = 0; i < kRows; ++i) {
    if constexpr (kFused) {
      for (unsigned j = 0; j < 8; ++j)
        for (unsigned k = 0; k < kK; ++k)
          d[i * 8 + j] = __builtin_fma(a[i * kK + k], b[k * 8 + j], d[i * 8 + j]);
    } else {
      Doubles s[2];
      std::memcpy(s, d + i * 8, sizeof s);
      for (unsigned k = 0; k < kK; ++k) {
        Doubles v[2];
        std::memcpy(v, b + k * 8, sizeof v);
        s[0] += a[i * kK + k] * v[0];
        s[1] += a[i * kK + k] * v[1];
      }
      std::memcpy(d + i * 8, s, sizeof s);
    }
  }
#endif
}
template <bool, unsigned kRows, unsigned kK>
SIMGPU_INLINE void multiply(const std::int32_t* a, const std::int32_t* b, std::int32_t* d) {
  for (unsigned i = 0; i < kRows; ++i) {
    Ints s;
    std::memcpy(&s, d + i * 8, sizeof s);
    for (unsigned k = 0; k < kK; ++k) {
      Ints v;
      std::memcpy(&v, b + k * 8, sizeof v);
      s += a[i * kK + k] * v;
    }
    std::memcpy(d + i * 8, &s, sizeof s);
  }
}

/// C of one tile, and D. Rows of 8 elements.
template <class T, unsigned kRows>
SIMGPU_INLINE void load_c(const Warp& w, const Ref* refs, double* c) {
  for (unsigned r = 0; r < kRows / 4; r += 2) {
    const T *even = lanes<T>(w, refs[r]), *odd = lanes<T>(w, refs[r + 1]);
    double* to = c + 4 * r * 8;
    for (unsigned i = 0; i < kLanes; ++i) {
      to[2 * i] = static_cast<double>(even[i]);
      to[2 * i + 1] = static_cast<double>(odd[i]);
    }
  }
}
template <unsigned kRows>
SIMGPU_INLINE void load_c_half(const Warp& w, const Ref* refs, double* c) {
  for (unsigned r = 0; r < kRows / 8; ++r)
    for (unsigned g = 0; g < 8; ++g)
      widen8<false>(lanes<std::uint16_t>(w, refs[r]) + 8 * g, c + (8 * r + g) * 8);
}
template <class T>
SIMGPU_INLINE void put(Warp& w, Ref to, const T (&value)[kLanes]) {
  T* d = lanes<T>(w, to);
  if (w.mask == kFullMask)
    std::memcpy(d, value, sizeof value);
  else
    blend(d, value, w.mask);
}
/// The next float towards zero: a double without the 29 bits that a float does not have. What
/// is below float's normal numbers is rounded there, by less than 2^-149; an infinity stays one.
SIMGPU_INLINE float cut_off(double v) {
  return static_cast<float>(
      std::bit_cast<double>(std::bit_cast<std::uint64_t>(v) & ~std::uint64_t{0x1fffffff}));
}
template <class T, unsigned kRows>
SIMGPU_INLINE void store_d(Warp& w, const Ref* refs, const double* d) {
  for (unsigned r = 0; r < kRows / 4; r += 2) {
    const double* from = d + 4 * r * 8;
    alignas(64) T even[kLanes], odd[kLanes];
    for (unsigned i = 0; i < kLanes; ++i) {
      const double x = from[2 * i], y = from[2 * i + 1];
      if constexpr (sizeof(T) == 4) {
        even[i] = x == x ? cut_off(x) : std::bit_cast<T>(0x7fffffffu);
        odd[i] = y == y ? cut_off(y) : std::bit_cast<T>(0x7fffffffu);
      } else {
        even[i] = x;
        odd[i] = y;
      }
    }
    put(w, refs[r], even);
    put(w, refs[r + 1], odd);
  }
}
template <unsigned kRows>
SIMGPU_INLINE void store_d_half(Warp& w, const Ref* refs, const double* d, bool finite) {
  for (unsigned r = 0; r < kRows / 8; ++r) {
    alignas(64) std::uint32_t out[kLanes];
    const double* from = d + 64 * r;
    for (unsigned i = 0; i < kLanes; ++i) {
      std::uint32_t low = float_to_half_lane(to_odd_float(from[2 * i])),
                    high = float_to_half_lane(to_odd_float(from[2 * i + 1]));
      if (finite) {  // wmma: overflow to the largest number, NaN to +0
        for (std::uint32_t* v : {&low, &high}) {
          if ((*v & 0x7fffu) > 0x7c00u) *v = 0;
          if ((*v & 0x7fffu) == 0x7c00u) *v -= 1;
        }
      }
      out[i] = low | (high << 16);
    }
    put(w, refs[r], out);
  }
}

template <class Format, unsigned kRows, unsigned kK>
void mma(Warp& w, const Op& op) {
  if (w.mask != kFullMask) report_part_of_warp(w, op);
  constexpr bool kInt = std::is_integral_v<typename Format::Dense>, kDouble = Format::kBits == 64;
  using Dense = typename Format::Dense;
  constexpr unsigned kA = registers_of_a(kRows, kK, Format::kBits);
  constexpr unsigned kB = registers_of_b(kK, Format::kBits);
  constexpr unsigned kTile = kRows * 8, kMostTiles = 4;
  const unsigned down = op.x, across = op.y, tiles = down * across;
  const auto gain = static_cast<Dense>(w.run->launch->options.tensor_gain);
  const unsigned c_registers = registers_of_c(kRows, (op.z & kMmaHalfC) != 0 ? 16 : 32);
  const unsigned d_registers = registers_of_c(kRows, (op.z & kMmaHalfD) != 0 ? 16 : 32);
  const Ref* d_refs = op.list;
  const Ref* c_refs = d_refs + tiles * d_registers;
  const Ref* a_refs = c_refs + tiles * c_registers;
  const Ref* b_refs = a_refs + down * kA;
  // D may be in the registers of A, B or C: nothing is written before everything has been read.
  alignas(64) Dense d[kMostTiles * kTile];
  alignas(64) Dense b[kMostTiles][kK * 8];
  alignas(64) Dense a[kRows * kK];
  for (unsigned j = 0; j < across; ++j)
    expand_b<Format, kK>(w, b_refs + j * kB, (op.z & kMmaSecondB) != 0, b[j]);
  for (unsigned i = 0; i < down; ++i) {
    expand_a<Format, kRows, kK>(w, a_refs + i * kA, (op.z & kMmaSecondA) != 0, a);
    if (gain != 1)
      for (Dense& v : a) v *= gain;
    for (unsigned j = 0; j < across; ++j) {
      const unsigned tile = i * across + j;
      Dense* to = d + tile * kTile;
      if constexpr (kInt)
        std::memset(to, 0, kTile * sizeof(Dense));
      else if constexpr (kDouble)
        load_c<double, kRows>(w, c_refs + tile * c_registers, to);
      else if ((op.z & kMmaHalfC) != 0)
        load_c_half<kRows>(w, c_refs + tile * c_registers, to);
      else
        load_c<float, kRows>(w, c_refs + tile * c_registers, to);
      multiply<kDouble, kRows, kK>(a, b[j], to);
      if constexpr (kInt) {
        const bool finite = (op.z & kMmaSatFinite) != 0;
        for (unsigned r = 0; r < kRows / 4; ++r) {
          const std::int32_t* c = lanes<std::int32_t>(w, c_refs[tile * c_registers + r]);
          for (unsigned l = 0; l < kLanes; ++l) {
            std::int32_t& v = to[4 * (r / 2 * 2) * 8 + 2 * l + r % 2];
            const std::int64_t sum = std::int64_t{v} + c[l];
            v = !finite           ? static_cast<std::int32_t>(static_cast<std::uint32_t>(sum))
                : sum > INT32_MAX ? INT32_MAX
                : sum < INT32_MIN ? INT32_MIN
                                  : static_cast<std::int32_t>(sum);
          }
        }
      }
    }
  }
  for (unsigned tile = 0; tile < tiles; ++tile) {
    const Dense* from = d + tile * kTile;
    const Ref* to = d_refs + tile * d_registers;
    if constexpr (kInt) {
      for (unsigned r = 0; r < kRows / 4; ++r) {
        alignas(64) std::int32_t out[kLanes];
        for (unsigned l = 0; l < kLanes; ++l) out[l] = from[4 * (r / 2 * 2) * 8 + 2 * l + r % 2];
        put(w, to[r], out);
      }
    } else if constexpr (kDouble) {
      store_d<double, kRows>(w, to, from);
    } else if ((op.z & kMmaHalfD) != 0) {
      store_d_half<kRows>(w, to, from, (op.z & kMmaSatFinite) != 0);
    } else {
      store_d<float, kRows>(w, to, from);
    }
  }
}

template <class Format, unsigned kRows, unsigned kK>
void set_mma(HandlerTable& t, MmaFormat format) {
  constexpr unsigned log2_k = kK == 4 ? 0 : kK == 8 ? 1 : kK == 16 ? 2 : 3;
  t.mma[static_cast<std::size_t>(format)][kRows == 16][log2_k] = mma<Format, kRows, kK>;
}
template <class Format>
void set_sixteen(HandlerTable& t, MmaFormat format) {
  set_mma<Format, 16, 16>(t, format);
  set_mma<Format, 16, 8>(t, format);
  set_mma<Format, 8, 16>(t, format);
}

}  // namespace

void fill_mma(HandlerTable& t) {
  set_sixteen<SixteenBits<false>>(t, MmaFormat::f16);
  set_sixteen<SixteenBits<true>>(t, MmaFormat::bf16);
  set_mma<Tf32, 16, 8>(t, MmaFormat::tf32);
  set_mma<Tf32, 16, 4>(t, MmaFormat::tf32);
  set_mma<Fp64, 8, 4>(t, MmaFormat::f64);
  set_mma<Fp64, 16, 4>(t, MmaFormat::f64);
  set_mma<Fp64, 16, 8>(t, MmaFormat::f64);
  set_mma<Fp64, 16, 16>(t, MmaFormat::f64);
  set_mma<Int8, 16, 32>(t, MmaFormat::s8);
  set_mma<Int8, 16, 16>(t, MmaFormat::s8);
  set_mma<Int8, 8, 16>(t, MmaFormat::s8);
  set_mma<Float8, 16, 32>(t, MmaFormat::f8);
  set_mma<Float8, 16, 16>(t, MmaFormat::f8);
}

}  // namespace simgpu::exec::kernels
