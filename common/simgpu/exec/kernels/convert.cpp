// cvt (PTX ISA 9.7.9.21). Op::x = ptx::Rounding, y: bit 0 = .sat, bit 1 = .ftz, bit 2 = .relu.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "common/simgpu/exec/kernels/lanes.hpp"
#include "common/simgpu/float8.hpp"
#include "common/simgpu/half.hpp"

namespace simgpu::exec::kernels {
namespace {

enum : std::uint8_t { kSat = 1, kFtz = 2, kRelu = 4 };

/// Rounds to an integral value; directed modes of the host are not touched.
template <class T>
SIMGPU_INLINE T to_integral(T v, unsigned round) {
  switch (static_cast<ptx::Rounding>(round)) {
    case ptx::Rounding::rzi:
    case ptx::Rounding::rz:
      return std::trunc(v);
    case ptx::Rounding::rmi:
    case ptx::Rounding::rm:
      return std::floor(v);
    case ptx::Rounding::rpi:
    case ptx::Rounding::rp:
      return std::ceil(v);
    case ptx::Rounding::none:
      return std::trunc(v);
    default:
      return std::nearbyint(v);
  }
}
SIMGPU_INLINE float flush_subnormal(float v) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(v);
  return (bits & 0x7f800000u) == 0 ? std::bit_cast<float>(bits & 0x80000000u) : v;
}

/// All lanes rounded to integral values: once per format, not in each conversion from it. (Loops
/// that conversions share are functions of their own; all in one took twice as long to compile.)
template <class From>
[[gnu::noinline]] void to_integral_lanes(const From* a, From* out, unsigned round, bool flush) {
  SIMGPU_LANE_LOOP {
    From v = a[i];
    if constexpr (sizeof(From) == 4)
      if (flush) v = flush_subnormal(v);
    out[i] = to_integral(v, round);
  }
}

/// Of an integral value. Out of range clamps. NaN: 0, but the top bit alone when the source or the
/// destination has 64 bits.
template <class To, class From>
SIMGPU_INLINE To float_to_int(From r) {
  if (r != r) {
    if constexpr (sizeof(To) == 8 || sizeof(From) == 8)
      return static_cast<To>(std::uint64_t{1} << (sizeof(To) * 8 - 1));
    else
      return 0;
  }
  constexpr From lo = static_cast<From>(std::numeric_limits<To>::min());
  // 2^bits (or 2^(bits - 1)): exact in both formats, unlike max() itself.
  constexpr From hi = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * From{2};
  if (r >= hi) return std::numeric_limits<To>::max();
  if (r <= lo) return std::numeric_limits<To>::min();
  return static_cast<To>(r);
}

/// .sat: what To cannot hold becomes the nearest that it can.
template <class From>
[[gnu::noinline]] void clamp_lanes(const From* a, From* out, From least, From most) {
  SIMGPU_LANE_LOOP out[i] = a[i] < least ? least : a[i] > most ? most : a[i];
}
/// The bits of the result are those of unsigned numbers, but where a signed one becomes longer: one
/// loop serves several conversions.
template <class To, class From>
[[gnu::noinline]] void resize(Warp& w, Ref dst, const From* a) {
  each_lane<To>(w, dst, [=](unsigned i) SIMGPU_LAMBDA { return static_cast<To>(a[i]); });
}
template <class To, class From>
void cvt_int_int(Warp& w, const Op& op) {
  using Bits = std::conditional_t<(sizeof(To) > sizeof(From)), From, Unsigned<From>>;
  const From* a = lanes<From>(w, op.a);
  alignas(64) From within[kLanes];
  if (op.y & kSat) {
    using Limits = std::numeric_limits<To>;
    const From least = std::in_range<From>(Limits::min()) ? static_cast<From>(Limits::min())
                                                          : std::numeric_limits<From>::min();
    const From most = std::in_range<From>(Limits::max()) ? static_cast<From>(Limits::max())
                                                         : std::numeric_limits<From>::max();
    clamp_lanes<From>(a, within, least, most);
    a = within;
  }
  resize<Unsigned<To>, Bits>(w, op.dst, reinterpret_cast<const Bits*>(a));
}
/// Of integral values.
template <class To, class From>
[[gnu::noinline]] void store_integers(Warp& w, Ref dst, const From* v) {
  each_lane<To>(w, dst, [=](unsigned i) SIMGPU_LAMBDA { return float_to_int<To>(v[i]); });
}
template <class To, class From>
void cvt_float_int(Warp& w, const Op& op) {
  alignas(64) From v[kLanes];
  to_integral_lanes<From>(lanes<From>(w, op.a), v, op.x, op.y & kFtz);
  store_integers<To, From>(w, op.dst, v);
}
/// Directed rounding comes from the wrapper, .sat from a second op.
template <class To, class From>
void cvt_int_float(Warp& w, const Op& op) {
  const From* a = lanes<From>(w, op.a);
  each_lane<To>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA { return static_cast<To>(a[i]); });
}
template <class To, class From>
void cvt_float_float(Warp& w, const Op& op) {
  const From* a = lanes<From>(w, op.a);
  [[maybe_unused]] const bool flush = op.y & kFtz;
  const auto source = [=](unsigned i) SIMGPU_LAMBDA {
    if constexpr (sizeof(From) == 4)
      return flush ? flush_subnormal(a[i]) : a[i];
    else
      return a[i];
  };
  if constexpr (std::is_same_v<To, From>) {
    const unsigned round = op.x;
    if (round >= static_cast<unsigned>(ptx::Rounding::rni)) {
      each_lane<To>(w, op.dst,
                    [=](unsigned i) SIMGPU_LAMBDA { return to_integral(source(i), round); });
      return;
    }
  }
  each_lane<To>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA { return static_cast<To>(source(i)); });
}

// ---- 16-bit formats, through float or double
SIMGPU_INLINE double widen16(std::uint16_t v, bool bf) {
  return static_cast<double>(bf ? bfloat_to_float(v) : half_to_float(v));
}
SIMGPU_INLINE int directed(unsigned round) {
  switch (static_cast<ptx::Rounding>(round)) {
    case ptx::Rounding::rz:
      return 1;
    case ptx::Rounding::rm:
      return 2;
    case ptx::Rounding::rp:
      return 3;
    default:
      return 0;
  }
}
[[gnu::noinline]] std::uint16_t narrow16(double v, bool bf, const Op& op) {
  if ((op.y & kRelu) && v < 0) v = 0;
  if (op.y & kSat) v = v != v || v < 0 ? 0 : v > 1 ? 1 : v;
  const int mode = directed(op.x);
  return bf ? to_bfloat(v, mode) : to_half(v, mode);
}
/// Exact, or rounded to odd if a double is too short: a second rounding then gives what one would.
template <class From>
SIMGPU_INLINE double to_double(From v) {
  if constexpr (std::is_integral_v<From> && sizeof(From) == 8) {
    const bool negative = v < From{0};
    std::uint64_t m = negative ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
    if (m >> 53 != 0) m = (m & ~std::uint64_t{0x7ff}) | ((m & 0x7ff) != 0 ? 0x800u : 0u);
    return negative ? -static_cast<double>(m) : static_cast<double>(m);
  } else {
    return static_cast<double>(v);
  }
}
template <class From, bool kBf>
void cvt_to_16(Warp& w, const Op& op) {
  const From* a = lanes<From>(w, op.a);
  if constexpr (std::is_same_v<From, float>)
    if (op.y == 0 && static_cast<ptx::Rounding>(op.x) == ptx::Rounding::rn)
      return each_lane<std::uint16_t>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA {
        return kBf ? float_to_bfloat_lane(a[i]) : float_to_half_lane(a[i]);
      });
  each_lane<std::uint16_t>(w, op.dst, [&](unsigned i) {
    double v = to_double(a[i]);
    if constexpr (std::is_same_v<From, float>)
      if (op.y & kFtz) v = static_cast<double>(flush_subnormal(a[i]));
    return narrow16(v, kBf, op);
  });
}
template <class To, bool kBf>
void cvt_from_16(Warp& w, const Op& op) {
  const std::uint16_t* a = lanes<std::uint16_t>(w, op.a);
  const auto wide = [=](unsigned i) SIMGPU_LAMBDA {
    return kBf ? bfloat_to_float(a[i]) : half_to_float_lane(a[i]);
  };
  if constexpr (std::is_integral_v<To>) {
    alignas(64) float v[kLanes];
    SIMGPU_LANE_LOOP v[i] = wide(i);
    to_integral_lanes<float>(v, v, op.x, false);
    store_integers<To, float>(w, op.dst, v);
  } else {
    each_lane<To>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA { return static_cast<To>(wide(i)); });
  }
}
template <bool kToBf, bool kFromBf>
void cvt_16_16(Warp& w, const Op& op) {
  const std::uint16_t* a = lanes<std::uint16_t>(w, op.a);
  each_lane<std::uint16_t>(w, op.dst, [&](unsigned i) {
    double v = widen16(a[i], kFromBf);
    if (op.x >= static_cast<unsigned>(ptx::Rounding::rni)) v = to_integral(v, op.x);
    return narrow16(v, kToBf, op);
  });
}
/// cvt.rn.f16x2.f32 d, a, b: a becomes the upper half.
template <bool kBf>
void cvt_pair(Warp& w, const Op& op) {
  const float *a = lanes<float>(w, op.a), *b = lanes<float>(w, op.b);
  each_lane<std::uint32_t>(w, op.dst, [&](unsigned i) {
    return (static_cast<std::uint32_t>(narrow16(static_cast<double>(a[i]), kBf, op)) << 16) |
           narrow16(static_cast<double>(b[i]), kBf, op);
  });
}
/// cvt.rna.tf32.f32: 10 fraction bits are kept, ties go away from zero; .rn: ties to even. The PTX
/// ISA does not say which NaN comes of a NaN. For .rna ptxas adds half of the last bit to what is
/// finite and cuts 13 bits off everything: a NaN of only those becomes infinity, here too.
void cvt_tf32(Warp& w, const Op& op) {
  const std::uint32_t* a = lanes<std::uint32_t>(w, op.a);
  const auto round = static_cast<ptx::Rounding>(op.x);
  const bool relu = op.y & kRelu;
  each_lane<std::uint32_t>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA {
    const std::uint32_t v = a[i];
    const bool finite = (v & 0x7f800000u) != 0x7f800000u;
    if (round == ptx::Rounding::rna) return (finite ? v + 0x1000u : v) & 0xffffe000u;
    if (!finite && (v & 0x7fffffu) != 0) return 0x7fffffffu;
    if (relu && (v >> 31) != 0) return 0u;
    const std::uint32_t add = round == ptx::Rounding::rz || !finite ? 0 : 0xfffu + ((v >> 13) & 1u);
    return (v + add) & 0xffffe000u;
  });
}

// ---- pairs of 8-bit floats
[[gnu::noinline]] std::uint16_t narrow8(double v, bool e5m2, const Op& op) {
  return to_float8((op.y & kRelu) && v < 0 ? 0 : v, e5m2);
}
/// cvt.rn.satfinite.e4m3x2.f32 d, a, b: a becomes the upper byte.
template <bool kE5m2>
void cvt_to_pair8(Warp& w, const Op& op) {
  const float *a = lanes<float>(w, op.a), *b = lanes<float>(w, op.b);
  each_lane<std::uint16_t>(w, op.dst, [&](unsigned i) {
    return static_cast<std::uint16_t>(narrow8(static_cast<double>(a[i]), kE5m2, op) << 8 |
                                      narrow8(static_cast<double>(b[i]), kE5m2, op));
  });
}
template <bool kE5m2>
void cvt_halves_to_pair8(Warp& w, const Op& op) {
  const std::uint32_t* a = lanes<std::uint32_t>(w, op.a);
  each_lane<std::uint16_t>(w, op.dst, [&](unsigned i) {
    const double high = widen16(static_cast<std::uint16_t>(a[i] >> 16), false),
                 low = widen16(static_cast<std::uint16_t>(a[i]), false);
    return static_cast<std::uint16_t>(narrow8(high, kE5m2, op) << 8 | narrow8(low, kE5m2, op));
  });
}
template <bool kE5m2>
void cvt_from_pair8(Warp& w, const Op& op) {
  const std::uint16_t* a = lanes<std::uint16_t>(w, op.a);
  const auto& values = float8_values(kE5m2);
  each_lane<std::uint32_t>(w, op.dst, [&](unsigned i) {
    const auto half = [&](unsigned byte) {
      return std::uint32_t{narrow16(static_cast<double>(values[byte & 0xff]), false, op)};
    };
    return half(a[i] >> 8u) << 16 | half(a[i]);
  });
}

template <class To>
void set_from_all(HandlerTable& t, Ty to) {
  Handler* h = t.cvt[idx(to)];
  auto put = [&]<class From>(Ty from, From) {
    if constexpr (std::is_integral_v<To> && std::is_integral_v<From>)
      h[idx(from)] = cvt_int_int<To, From>;
    else if constexpr (std::is_integral_v<To>)
      h[idx(from)] = cvt_float_int<To, From>;
    else if constexpr (std::is_integral_v<From>)
      h[idx(from)] = cvt_int_float<To, From>;
    else
      h[idx(from)] = cvt_float_float<To, From>;
  };
  put(Ty::u8, std::uint8_t{});
  put(Ty::u16, std::uint16_t{});
  put(Ty::u32, std::uint32_t{});
  put(Ty::u64, std::uint64_t{});
  put(Ty::s8, std::int8_t{});
  put(Ty::s16, std::int16_t{});
  put(Ty::s32, std::int32_t{});
  put(Ty::s64, std::int64_t{});
  put(Ty::f32, float{});
  put(Ty::f64, double{});
  h[idx(Ty::f16)] = cvt_from_16<To, false>;
  h[idx(Ty::bf16)] = cvt_from_16<To, true>;
}
template <bool kBf>
void set_16_from_all(HandlerTable& t, Ty to) {
  Handler* h = t.cvt[idx(to)];
  h[idx(Ty::u8)] = cvt_to_16<std::uint8_t, kBf>;
  h[idx(Ty::u16)] = cvt_to_16<std::uint16_t, kBf>;
  h[idx(Ty::u32)] = cvt_to_16<std::uint32_t, kBf>;
  h[idx(Ty::u64)] = cvt_to_16<std::uint64_t, kBf>;
  h[idx(Ty::s8)] = cvt_to_16<std::int8_t, kBf>;
  h[idx(Ty::s16)] = cvt_to_16<std::int16_t, kBf>;
  h[idx(Ty::s32)] = cvt_to_16<std::int32_t, kBf>;
  h[idx(Ty::s64)] = cvt_to_16<std::int64_t, kBf>;
  h[idx(Ty::f32)] = cvt_to_16<float, kBf>;
  h[idx(Ty::f64)] = cvt_to_16<double, kBf>;
  h[idx(Ty::f16)] = cvt_16_16<kBf, false>;
  h[idx(Ty::bf16)] = cvt_16_16<kBf, true>;
}

}  // namespace

void fill_convert(HandlerTable& t) {
  set_from_all<std::uint8_t>(t, Ty::u8);
  set_from_all<std::uint16_t>(t, Ty::u16);
  set_from_all<std::uint32_t>(t, Ty::u32);
  set_from_all<std::uint64_t>(t, Ty::u64);
  set_from_all<std::int8_t>(t, Ty::s8);
  set_from_all<std::int16_t>(t, Ty::s16);
  set_from_all<std::int32_t>(t, Ty::s32);
  set_from_all<std::int64_t>(t, Ty::s64);
  set_from_all<float>(t, Ty::f32);
  set_from_all<double>(t, Ty::f64);
  set_16_from_all<false>(t, Ty::f16);
  set_16_from_all<true>(t, Ty::bf16);
  t.cvt[idx(Ty::f16x2)][idx(Ty::f32)] = cvt_pair<false>;
  t.cvt[idx(Ty::bf16x2)][idx(Ty::f32)] = cvt_pair<true>;
  t.cvt[idx(Ty::e4m3x2)][idx(Ty::f32)] = cvt_to_pair8<false>;
  t.cvt[idx(Ty::e5m2x2)][idx(Ty::f32)] = cvt_to_pair8<true>;
  t.cvt[idx(Ty::e4m3x2)][idx(Ty::f16x2)] = cvt_halves_to_pair8<false>;
  t.cvt[idx(Ty::e5m2x2)][idx(Ty::f16x2)] = cvt_halves_to_pair8<true>;
  t.cvt[idx(Ty::f16x2)][idx(Ty::e4m3x2)] = cvt_from_pair8<false>;
  t.cvt[idx(Ty::f16x2)][idx(Ty::e5m2x2)] = cvt_from_pair8<true>;
  t.cvt[idx(Ty::tf32)][idx(Ty::f32)] = cvt_tf32;
}

}  // namespace simgpu::exec::kernels
