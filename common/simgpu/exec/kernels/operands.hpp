// A and B of tensor cores, from registers or bytes to what products are made of: dense rows of double,
// or of int32 for integers. For mma.sync, wmma and wgmma alike; exec/fragments.hpp says where elements lie.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "common/simgpu/exec/fragments.hpp"
#include "common/simgpu/exec/kernels/lanes.hpp"
#include "common/simgpu/float8.hpp"
#include "common/simgpu/half.hpp"

namespace simgpu::exec::kernels {

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

// The formats of A and B. row() expands kWidth neighbouring elements, 16 bytes of them (FP64: 32): the
// `g`-th such row behind `from`. A register's 32 lanes are eight rows of a fragment.
template <bool kBf>
struct SixteenBits {
  static constexpr unsigned kBits = 16, kWidth = 8;
  using Dense = double;
  SIMGPU_INLINE static void row(const std::byte* from, unsigned g, bool, Dense* to) {
    widen8<kBf>(reinterpret_cast<const std::uint16_t*>(from) + 8 * g, to);
  }
};
struct Tf32 {
  static constexpr unsigned kBits = 32, kWidth = 4;
  using Dense = double;
  /// The low 13 bits are not looked at.
  SIMGPU_INLINE static void row(const std::byte* from, unsigned g, bool, Dense* to) {
    const std::uint32_t* v = reinterpret_cast<const std::uint32_t*>(from) + 4 * g;
    for (unsigned i = 0; i < 4; ++i)
      to[i] = static_cast<double>(std::bit_cast<float>(v[i] & 0xffffe000u));
  }
};
struct Fp64 {
  static constexpr unsigned kBits = 64, kWidth = 4;
  using Dense = double;
  SIMGPU_INLINE static void row(const std::byte* from, unsigned g, bool, Dense* to) {
    std::memcpy(to, reinterpret_cast<const double*>(from) + 4 * g, 4 * sizeof(double));
  }
};
struct Int8 {
  static constexpr unsigned kBits = 8, kWidth = 16;
  using Dense = std::int32_t;
  SIMGPU_INLINE static void row(const std::byte* from, unsigned g, bool is_unsigned, Dense* to) {
    const std::uint8_t* v = reinterpret_cast<const std::uint8_t*>(from) + 16 * g;
    const std::int32_t flip = is_unsigned ? 0 : 0x80;  // two's complement: v ^ 0x80 - 0x80
    for (unsigned i = 0; i < 16; ++i) to[i] = (std::int32_t{v[i]} ^ flip) - flip;
  }
};
struct Int4 {
  static constexpr unsigned kBits = 4, kWidth = 32;
  using Dense = std::int32_t;
  /// The lower half of a byte comes first.
  SIMGPU_INLINE static void row(const std::byte* from, unsigned g, bool is_unsigned, Dense* to) {
    const std::uint8_t* v = reinterpret_cast<const std::uint8_t*>(from) + 16 * g;
    const std::int32_t flip = is_unsigned ? 0 : 8;
    for (unsigned i = 0; i < 16; ++i) {
      to[2 * i] = ((std::int32_t{v[i]} & 15) ^ flip) - flip;
      to[2 * i + 1] = ((std::int32_t{v[i]} >> 4) ^ flip) - flip;
    }
  }
};

struct Float8 {
  static constexpr unsigned kBits = 8, kWidth = 16;
  using Dense = double;
  SIMGPU_INLINE static void row(const std::byte* from, unsigned g, bool is_e5m2, Dense* to) {
    const auto& values = float8_values(is_e5m2);
    const std::uint8_t* v = reinterpret_cast<const std::uint8_t*>(from) + 16 * g;
    for (unsigned i = 0; i < 16; ++i) to[i] = static_cast<double>(values[v[i]]);
  }
};

/// The fragment of A. `second`: the second of a format's two kinds, unsigned bytes or e5m2.
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
/// In which order the eight columns of a tile stand while it is multiplied. `split`: the even ones, then
/// the odd ones, as the registers of C and D hold them.
enum class Columns : std::uint8_t { ordered, split };
template <Columns kColumns>
constexpr unsigned column_at(unsigned place) {
  return kColumns == Columns::ordered ? place : 2 * (place % 4) + place / 4;
}

/// Eight rows of eight 16-bit values, `pitch` apart, become columns.
template <Columns kColumns>
SIMGPU_INLINE void transpose8(const std::uint16_t* from, unsigned pitch, std::uint16_t* to) {
#if defined(__SSE2__)
  __m128i a[8], b[8];
  for (unsigned i = 0; i < 8; ++i)
    a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + pitch * column_at<kColumns>(i)));
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
    for (unsigned j = 0; j < 8; ++j) to[8 * j + i] = from[pitch * column_at<kColumns>(i) + j];
#endif
}
/// Eight 16-bit values of a row, in the order of `kColumns`.
template <Columns kColumns>
SIMGPU_INLINE void order8(const std::byte* from, std::uint16_t* to) {
  std::memcpy(to, from, 16);
  if constexpr (kColumns == Columns::split) {
#if defined(__SSSE3__)
    const __m128i places = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<__m128i*>(to)), places));
#else
    std::uint16_t row[8];
    std::memcpy(row, from, sizeof row);
    for (unsigned i = 0; i < 8; ++i) to[i] = row[column_at<kColumns>(i)];
#endif
  }
}

/// Eight columns of B, `pitch` bytes apart, of which 16 bytes become rows of k.
template <class Format, Columns kColumns>
SIMGPU_INLINE void expand_columns(const std::byte* from, unsigned pitch, bool second,
                                  typename Format::Dense* to) {
  if constexpr (Format::kBits == 16) {
    alignas(16) std::uint16_t rows[64];
    transpose8<kColumns>(reinterpret_cast<const std::uint16_t*>(from), pitch / 2, rows);
    for (unsigned q = 0; q < 8; ++q)
      Format::row(reinterpret_cast<const std::byte*>(rows), q, second, to + q * 8);
  } else {
    for (unsigned g = 0; g < 8; ++g) {
      typename Format::Dense v[Format::kWidth];
      Format::row(from + pitch * column_at<kColumns>(g), 0, second, v);
      for (unsigned q = 0; q < Format::kWidth; ++q) to[q * 8 + g] = v[q];
    }
  }
}
/// The fragment of B: its registers hold columns.
template <class Format, unsigned kK, Columns kColumns>
SIMGPU_INLINE void expand_b(const Warp& w, const Ref* refs, bool second,
                            typename Format::Dense* to) {
  constexpr unsigned n = registers_of_b(kK, Format::kBits),
                     kPitch = Format::kWidth * Format::kBits / 8;
  for (unsigned r = 0; r < n; ++r)
    expand_columns<Format, kColumns>(address_of(w, refs[r]), kPitch, second,
                                     to + r * Format::kWidth * 8);
}

}  // namespace simgpu::exec::kernels
