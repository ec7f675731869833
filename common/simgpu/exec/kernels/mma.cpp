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
#include "common/simgpu/exec/kernels/tensor_sums.hpp"
#include "common/simgpu/exec/launch_run.hpp"
#include "common/simgpu/float8.hpp"
#include "common/simgpu/half.hpp"

namespace simgpu::exec::kernels {
namespace {

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
/// In which order the eight columns of a tile stand while it is multiplied. `split`: the even ones, then
/// the odd ones, as the registers of C and D hold them.
enum class Columns : std::uint8_t { ordered, split };
template <Columns kColumns>
constexpr unsigned column_at(unsigned place) {
  return kColumns == Columns::ordered ? place : 2 * (place % 4) + place / 4;
}

/// Eight rows of eight 16-bit values become columns.
template <Columns kColumns>
SIMGPU_INLINE void transpose8(const std::uint16_t* from, std::uint16_t* to) {
#if defined(__SSE2__)
  __m128i a[8], b[8];
  for (unsigned i = 0; i < 8; ++i)
    a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 8 * column_at<kColumns>(i)));
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
    for (unsigned j = 0; j < 8; ++j) to[8 * j + i] = from[8 * column_at<kColumns>(i) + j];
#endif
}
/// B arrives by columns.
template <class Format, unsigned kK, Columns kColumns>
SIMGPU_INLINE void expand_b(const Warp& w, const Ref* refs, bool second,
                            typename Format::Dense* to) {
  constexpr unsigned n = registers_of_b(kK, Format::kBits);
  for (unsigned r = 0; r < n; ++r) {
    const std::byte* from = address_of(w, refs[r]);
    if constexpr (Format::kBits == 16) {
      alignas(16) std::uint16_t rows[64];
      transpose8<kColumns>(reinterpret_cast<const std::uint16_t*>(from), rows);
      for (unsigned q = 0; q < 8; ++q)
        Format::row(reinterpret_cast<const std::byte*>(rows), q, second, to + (r * 8 + q) * 8);
      continue;
    }
    for (unsigned g = 0; g < 8; ++g) {
      typename Format::Dense v[Format::kWidth];
      Format::row(from, column_at<kColumns>(g), second, v);
      for (unsigned q = 0; q < Format::kWidth; ++q) to[(r * Format::kWidth + q) * 8 + g] = v[q];
    }
  }
}

#if defined(__AVX2__) && defined(__FMA__)
/// Four sums as cut_off() and store_d() have them.
SIMGPU_INLINE __m128 cut_off4(__m256d v) {
  const __m256d bits = _mm256_castsi256_pd(_mm256_set1_epi64x(~std::int64_t{0x1fffffff}));
  const __m128 cut = _mm256_cvtpd_ps(_mm256_and_pd(v, bits)),
               nan = _mm_castsi128_ps(_mm_set1_epi32(0x7fffffff));
  const __m256 unordered = _mm256_castpd_ps(_mm256_cmp_pd(v, v, _CMP_UNORD_Q));
  const __m128 is_nan =
      _mm_shuffle_ps(_mm256_castps256_ps128(unordered), _mm256_extractf128_ps(unordered, 1), 0x88);
  return _mm_blendv_ps(cut, nan, is_nan);
}

/// D = A * B + C of 16 x 8 FP32 sums, straight from and to the registers; B's columns are split.
template <unsigned kK>
SIMGPU_INLINE void multiply_in_registers(const double* a, const double* b,
                                         const float* const (&c)[4], float* const (&d)[4]) {
  for (unsigned i = 0; i < 16; i += 4) {
    const unsigned even = i / 8 * 2, lane = i % 8 * 4;
    __m256d s[4][2];
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned h = 0; h < 2; ++h)
        s[r][h] = _mm256_cvtps_pd(_mm_loadu_ps(c[even + h] + lane + 4 * r));
    for (unsigned k = 0; k < kK; ++k) {
      const __m256d b0 = _mm256_load_pd(b + k * 8), b1 = _mm256_load_pd(b + k * 8 + 4);
      for (unsigned r = 0; r < 4; ++r) {
        const __m256d v = _mm256_broadcast_sd(a + (i + r) * kK + k);
        s[r][0] = _mm256_fmadd_pd(v, b0, s[r][0]);
        s[r][1] = _mm256_fmadd_pd(v, b1, s[r][1]);
      }
    }
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned h = 0; h < 2; ++h) _mm_storeu_ps(d[even + h] + lane + 4 * r, cut_off4(s[r][h]));
  }
}

/// A fragment of A or B that this host thread has expanded, and what it was made of.
template <unsigned kRegisters, unsigned kElements>
struct KnownFragment {
  alignas(64) std::byte lanes[kRegisters][4 * kLanes] = {};
  alignas(64) double dense[kElements] = {};
  bool second = false, filled = false;

  /// Its elements as `expand` makes them.
  template <class F>
  SIMGPU_INLINE const double* expanded(const Warp& w, const Ref* refs, bool is_second, F expand) {
    __m256i differs = _mm256_setzero_si256();
    for (unsigned r = 0; r < kRegisters; ++r)
      for (unsigned k = 0; k < sizeof lanes[r]; k += 32)
        differs = _mm256_or_si256(
            differs, _mm256_xor_si256(load32(address_of(w, refs[r]) + k), load32(lanes[r] + k)));
    if (_mm256_testz_si256(differs, differs) != 0 && second == is_second && filled) return dense;
    for (unsigned r = 0; r < kRegisters; ++r)
      std::memcpy(lanes[r], address_of(w, refs[r]), sizeof lanes[r]);
    second = is_second;
    filled = true;
    expand(dense);
    return dense;
  }

 private:
  SIMGPU_INLINE static __m256i load32(const std::byte* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
};

/// A kernel multiplies each of several A by each of several B. The last ones are kept, by where their
/// registers lie.
template <class Format, unsigned kK>
struct KnownFragments {
  static constexpr unsigned kPlaces = 8;
  KnownFragment<registers_of_a(16, kK, Format::kBits), 16 * kK> a;
  KnownFragment<registers_of_b(kK, Format::kBits), kK * 8> b[kPlaces];

  static unsigned place_of(Ref first_register) {
    constexpr unsigned kBytes = 4 * kLanes * registers_of_b(kK, Format::kBits);
    return static_cast<std::uint64_t>(first_register) / kBytes % kPlaces;
  }
};

/// The common case: one tile of FP32 sums, all lanes, and D in the registers of C or in none of them.
/// False: it is another one.
template <class Format, unsigned kK>
SIMGPU_INLINE bool multiply_one_tile(Warp& w, const Op& op) {
  constexpr unsigned kSums = 4;
  if (op.x * op.y != 1 || (op.z & (kMmaHalfC | kMmaHalfD)) != 0 || w.mask != kFullMask ||
      w.run->launch->options.tensor_gain != 1)
    return false;
  const Ref *d_refs = op.list, *c_refs = d_refs + kSums, *a_refs = c_refs + kSums,
            *b_refs = a_refs + registers_of_a(16, kK, Format::kBits);
  const float* c[kSums];
  float* d[kSums];
  unsigned clashes = 0;
  for (unsigned i = 0; i < kSums; ++i) {
    c[i] = lanes<float>(w, c_refs[i]);
    d[i] = lanes<float>(w, d_refs[i]);
    for (unsigned j = 0; j < kSums; ++j)
      clashes |= static_cast<unsigned>(i != j) & static_cast<unsigned>(d_refs[i] == c_refs[j]);
  }
  if (clashes != 0) return false;
  static thread_local KnownFragments<Format, kK> known;
  const bool second_a = (op.z & kMmaSecondA) != 0, second_b = (op.z & kMmaSecondB) != 0;
  const double* a = known.a.expanded(w, a_refs, second_a, [&](double* to) SIMGPU_LAMBDA {
    expand_a<Format, 16, kK>(w, a_refs, second_a, to);
  });
  const double* b = known.b[known.place_of(b_refs[0])].expanded(
      w, b_refs, second_b, [&](double* to) SIMGPU_LAMBDA {
        expand_b<Format, kK, Columns::split>(w, b_refs, second_b, to);
      });
  multiply_in_registers<kK>(a, b, c, d);
  return true;
}
#endif

template <class Format, unsigned kRows, unsigned kK>
void mma(Warp& w, const Op& op) {
  meet_aligned(w);
#if defined(__AVX2__) && defined(__FMA__)
  if constexpr (kRows == 16 && Format::kBits != 64 &&
                std::is_same_v<typename Format::Dense, double>)
    if (multiply_one_tile<Format, kK>(w, op)) return;
#endif
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
    expand_b<Format, kK, Columns::ordered>(w, b_refs + j * kB, (op.z & kMmaSecondB) != 0, b[j]);
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
        add_c<kRows>(w, c_refs + tile * c_registers, (op.z & kMmaSatFinite) != 0, to);
      }
    }
  }
  for (unsigned tile = 0; tile < tiles; ++tile) {
    const Dense* from = d + tile * kTile;
    const Ref* to = d_refs + tile * d_registers;
    if constexpr (kInt) {
      store_d_integer<kRows>(w, w.mask, to, from);
    } else if constexpr (kDouble) {
      store_d<double, kRows>(w, w.mask, to, from);
    } else if ((op.z & kMmaHalfD) != 0) {
      store_d_half<kRows>(w, w.mask, to, from, (op.z & kMmaSatFinite) != 0);
    } else {
      store_d<float, kRows>(w, w.mask, to, from);
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
