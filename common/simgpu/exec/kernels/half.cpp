// Arithmetic and comparisons of 16-bit formats and of pairs of them (PTX ISA 9.7.4, 9.7.7). Results
// are worked out in double and rounded once, to nearest even. Sums, differences and products of two
// f16 or bf16 numbers are exact in double or so close that the second rounding cannot matter; the
// sum of a bf16 fma is not, and is rounded to odd there. NaN results are 0x7fff.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "common/simgpu/exec/half.hpp"
#include "common/simgpu/exec/kernels/lanes.hpp"

namespace simgpu::exec::kernels {
namespace {

struct Half {
  static constexpr std::uint16_t kLeastNormal = 0x0400;
  SIMGPU_INLINE static double in(std::uint16_t v) {
    return static_cast<double>(half_to_float_lane(v));
  }
  SIMGPU_INLINE static std::uint16_t out(double v) { return float_to_half_lane(to_odd_float(v)); }
};
struct Bfloat {
  static constexpr std::uint16_t kLeastNormal = 0x0080;
  SIMGPU_INLINE static double in(std::uint16_t v) {
    return static_cast<double>(bfloat_to_float(v));
  }
  SIMGPU_INLINE static std::uint16_t out(double v) { return float_to_bfloat_lane(to_odd_float(v)); }
};

/// a * b + c where a * b is exact: rounded to odd.
SIMGPU_INLINE double multiply_add(double a, double b, double c) {
  const double p = a * b, s = p + c, z = s - p;
  const double rest = (p - (s - z)) + (c - z);  // s + rest is the exact sum
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(s);
  const bool above = rest > 0, below = rest < 0;
  const bool away = (bits >> 63) != 0 ? below : above;
  const std::uint64_t step = away ? 1 : ~std::uint64_t{0};
  const bool adjust = (above | below) & ((bits & 1) == 0);
  return std::bit_cast<double>(bits + (adjust ? step : 0));
}

struct HAdd {
  SIMGPU_INLINE static double f(double a, double b) { return a + b; }
};
struct HSub {
  SIMGPU_INLINE static double f(double a, double b) { return a - b; }
};
struct HMul {
  SIMGPU_INLINE static double f(double a, double b) { return a * b; }
};
struct HFma {
  SIMGPU_INLINE static double f(double a, double b, double c) { return multiply_add(a, b, c); }
};
struct HFmaRelu {
  SIMGPU_INLINE static double f(double a, double b, double c) {
    const double r = multiply_add(a, b, c);
    return r < 0 ? 0.0 : r;
  }
};
SIMGPU_INLINE bool less(double a, double b) {  // -0 is less than +0
  return a < b ||
         (a == b && std::bit_cast<std::int64_t>(a) < 0 && std::bit_cast<std::int64_t>(b) >= 0);
}
struct HMin {
  SIMGPU_INLINE static double f(double a, double b) {
    return a != a ? b : b != b ? a : less(b, a) ? b : a;
  }
};
struct HMax {
  SIMGPU_INLINE static double f(double a, double b) {
    return a != a ? b : b != b ? a : less(a, b) ? b : a;
  }
};
struct HMinNan {
  SIMGPU_INLINE static double f(double a, double b) {
    return a != a ? a : b != b ? b : less(b, a) ? b : a;
  }
};
struct HMaxNan {
  SIMGPU_INLINE static double f(double a, double b) {
    return a != a ? a : b != b ? b : less(a, b) ? b : a;
  }
};
/// .sat: to [0, 1], NaN to +0.
struct HSaturate {
  SIMGPU_INLINE static double f(double a) { return !(a > 0) ? 0.0 : a > 1 ? 1.0 : a; }
};
struct HEx2 {
  SIMGPU_INLINE static double f(double a) { return std::exp2(a); }
};
struct HTanh {
  SIMGPU_INLINE static double f(double a) { return std::tanh(a); }
};

/// Writes `n` results; lanes hold kParts of them.
template <unsigned kParts>
SIMGPU_INLINE void put_halves(Warp& w, Ref dst, const std::uint16_t* value) {
  if (w.mask == kFullMask) {
    std::memcpy(lanes<std::uint16_t>(w, dst), value, kLanes * kParts * sizeof *value);
  } else if constexpr (kParts == 1) {
    blend(lanes<std::uint16_t>(w, dst), value, w.mask);
  } else {
    std::uint32_t pairs[kLanes];
    std::memcpy(pairs, value, sizeof pairs);
    blend(lanes<std::uint32_t>(w, dst), static_cast<const std::uint32_t*>(pairs), w.mask);
  }
}

template <class F, class Format, unsigned kParts, unsigned kOperands>
void half_op(Warp& w, const Op& op) {
  constexpr unsigned n = kLanes * kParts;
  const std::uint16_t *a = lanes<std::uint16_t>(w, op.a),
                      *b = kOperands > 1 ? lanes<std::uint16_t>(w, op.b) : a,
                      *c = kOperands > 2 ? lanes<std::uint16_t>(w, op.c) : a;
  alignas(64) std::uint16_t out[n];
  for (unsigned i = 0; i < n; ++i) {
    double r;
    if constexpr (kOperands == 1)
      r = F::f(Format::in(a[i]));
    else if constexpr (kOperands == 2)
      r = F::f(Format::in(a[i]), Format::in(b[i]));
    else
      r = F::f(Format::in(a[i]), Format::in(b[i]), Format::in(c[i]));
    out[i] = Format::out(r);
  }
  put_halves<kParts>(w, op.dst, out);
}

// What only looks at bits.
struct BNeg {
  template <class>
  SIMGPU_INLINE static std::uint16_t f(std::uint16_t v) {
    return static_cast<std::uint16_t>(v ^ 0x8000u);
  }
};
struct BAbs {
  template <class>
  SIMGPU_INLINE static std::uint16_t f(std::uint16_t v) {
    return static_cast<std::uint16_t>(v & 0x7fffu);
  }
};
/// .ftz: subnormals to a zero of the same sign.
struct BFlush {
  template <class Format>
  SIMGPU_INLINE static std::uint16_t f(std::uint16_t v) {
    return static_cast<std::uint16_t>((v & 0x7fffu) < Format::kLeastNormal ? v & 0x8000u : v);
  }
};
template <class F, class Format, unsigned kParts>
void half_bits(Warp& w, const Op& op) {
  constexpr unsigned n = kLanes * kParts;
  const std::uint16_t* a = lanes<std::uint16_t>(w, op.a);
  alignas(64) std::uint16_t out[n];
  for (unsigned i = 0; i < n; ++i) out[i] = F::template f<Format>(a[i]);
  put_halves<kParts>(w, op.dst, out);
}

template <class F, unsigned kOperands>
void set_half(HandlerTable& t, Alu op) {
  Handler* h = t.alu[idx(op)];
  h[idx(Ty::f16)] = half_op<F, Half, 1, kOperands>;
  h[idx(Ty::bf16)] = half_op<F, Bfloat, 1, kOperands>;
  h[idx(Ty::f16x2)] = half_op<F, Half, 2, kOperands>;
  h[idx(Ty::bf16x2)] = half_op<F, Bfloat, 2, kOperands>;
}
template <class F>
void set_half_bits(HandlerTable& t, Alu op) {
  Handler* h = t.alu[idx(op)];
  h[idx(Ty::f16)] = half_bits<F, Half, 1>;
  h[idx(Ty::bf16)] = half_bits<F, Bfloat, 1>;
  h[idx(Ty::f16x2)] = half_bits<F, Half, 2>;
  h[idx(Ty::bf16x2)] = half_bits<F, Bfloat, 2>;
}

/// The relation of two numbers as one bit: less, equal, greater, unordered. A comparison is the set
/// of relations for which it holds.
enum : unsigned { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };
SIMGPU_INLINE unsigned relation(double a, double b) {
  return a < b ? kLess : a > b ? kGreater : a == b ? kEqual : kUnordered;
}
SIMGPU_INLINE std::uint32_t combined(const Warp& w, const Op& op, std::uint32_t m) {
  if (op.x == 0) return m;
  const std::uint32_t c = mask_of(w, op.c);
  return op.x == 1 ? (m & c) : op.x == 2 ? (m | c) : (m ^ c);
}
/// One comparison a lane: dst, and its opposite in dst2.
template <unsigned kHolds, class Format>
void half_compare(Warp& w, const Op& op) {
  const std::uint16_t *a = lanes<std::uint16_t>(w, op.a), *b = lanes<std::uint16_t>(w, op.b);
  std::uint32_t m = 0;
  for (unsigned i = 0; i < kLanes; ++i)
    m |= static_cast<std::uint32_t>((relation(Format::in(a[i]), Format::in(b[i])) & kHolds) != 0)
         << i;
  if (op.dst2 != kNoRef) write_pred(w, op.dst2, combined(w, op, ~m));
  if (op.dst != kNoRef) write_pred(w, op.dst, combined(w, op, m));
}
/// Two a lane: of the low halves in dst, of the high ones in dst2.
template <unsigned kHolds, class Format>
void pair_compare(Warp& w, const Op& op) {
  const std::uint16_t *a = lanes<std::uint16_t>(w, op.a), *b = lanes<std::uint16_t>(w, op.b);
  std::uint32_t m[2] = {0, 0};
  for (unsigned i = 0; i < 2 * kLanes; ++i)
    m[i % 2] |=
        static_cast<std::uint32_t>((relation(Format::in(a[i]), Format::in(b[i])) & kHolds) != 0)
        << (i / 2);
  const std::uint32_t low = combined(w, op, m[0]), high = combined(w, op, m[1]);
  if (op.dst2 != kNoRef) write_pred(w, op.dst2, high);
  if (op.dst != kNoRef) write_pred(w, op.dst, low);
}
template <unsigned kHolds>
void set_half_compare(HandlerTable& t, ptx::Compare op) {
  Handler* h = t.compare[idx(op)];
  h[idx(Ty::f16)] = half_compare<kHolds, Half>;
  h[idx(Ty::bf16)] = half_compare<kHolds, Bfloat>;
  h[idx(Ty::f16x2)] = pair_compare<kHolds, Half>;
  h[idx(Ty::bf16x2)] = pair_compare<kHolds, Bfloat>;
}

}  // namespace

void fill_half(HandlerTable& t) {
  set_half<HAdd, 2>(t, Alu::add);
  set_half<HSub, 2>(t, Alu::sub);
  set_half<HMul, 2>(t, Alu::mul_lo);
  set_half<HFma, 3>(t, Alu::fma);
  set_half<HFmaRelu, 3>(t, Alu::fma_relu);
  set_half<HMin, 2>(t, Alu::min);
  set_half<HMax, 2>(t, Alu::max);
  set_half<HMinNan, 2>(t, Alu::min_nan);
  set_half<HMaxNan, 2>(t, Alu::max_nan);
  set_half<HSaturate, 1>(t, Alu::saturate);
  set_half<HEx2, 1>(t, Alu::ex2);
  set_half<HTanh, 1>(t, Alu::tanh);
  set_half_bits<BNeg>(t, Alu::neg);
  set_half_bits<BAbs>(t, Alu::abs);
  set_half_bits<BFlush>(t, Alu::flush);

  using C = ptx::Compare;
  set_half_compare<kEqual>(t, C::eq);
  set_half_compare<kLess | kGreater>(t, C::ne);
  set_half_compare<kLess>(t, C::lt);
  set_half_compare<kLess | kEqual>(t, C::le);
  set_half_compare<kGreater>(t, C::gt);
  set_half_compare<kGreater | kEqual>(t, C::ge);
  set_half_compare<kEqual | kUnordered>(t, C::equ);
  set_half_compare<kLess | kGreater | kUnordered>(t, C::neu);
  set_half_compare<kLess | kUnordered>(t, C::ltu);
  set_half_compare<kLess | kEqual | kUnordered>(t, C::leu);
  set_half_compare<kGreater | kUnordered>(t, C::gtu);
  set_half_compare<kGreater | kEqual | kUnordered>(t, C::geu);
  set_half_compare<kLess | kEqual | kGreater>(t, C::num);
  set_half_compare<kUnordered>(t, C::nan);
}

}  // namespace simgpu::exec::kernels
