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
