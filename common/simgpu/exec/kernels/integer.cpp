// Integer arithmetic, shifts and bit operations (PTX ISA 9.7.1, 9.7.2, 9.7.8). Results wrap; signed
// operations are computed in unsigned types so that nothing here overflows in the C++ sense.
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "common/simgpu/exec/kernels/lanes.hpp"

namespace simgpu::exec::kernels {
namespace {

template <class T>
using Wide =
    std::conditional_t<sizeof(T) == 2,
                       std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

template <class T>
SIMGPU_INLINE T mul_high(T a, T b) {
  if constexpr (sizeof(T) < 8) {
    using W = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> kBits<T>);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>((static_cast<Int128>(a) * b) >> 64);
  } else {
    return static_cast<T>((static_cast<UInt128>(a) * b) >> 64);
  }
}

/// Division as the hardware's software sequence does it: x / 0 has all bits set, INT_MIN / -1
/// wraps.
template <class T>
SIMGPU_INLINE T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return static_cast<T>(Work<T>{0} - static_cast<Work<T>>(a));
  return static_cast<T>(a / b);
}
template <class T>
SIMGPU_INLINE T remainder(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}

template <class T>
SIMGPU_INLINE T clamp_to(std::int64_t v) {
  constexpr std::int64_t lo = std::numeric_limits<T>::min(), hi = std::numeric_limits<T>::max();
  return static_cast<T>(v < lo ? lo : v > hi ? hi : v);
}

struct Add {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return static_cast<T>(static_cast<Work<T>>(a) + static_cast<Work<T>>(b));
  }
};
struct Sub {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return static_cast<T>(static_cast<Work<T>>(a) - static_cast<Work<T>>(b));
  }
};
struct MulLo {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return static_cast<T>(static_cast<Work<T>>(a) * static_cast<Work<T>>(b));
  }
};
struct MulHi {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return mul_high(a, b);
  }
};
struct Div {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return quotient(a, b);
  }
};
struct Rem {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return remainder(a, b);
  }
};
struct Min {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return a < b ? b : a;
  }
};
struct And {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return a ^ b;
  }
};
struct Neg {
  template <class T>
  SIMGPU_INLINE static T f(T a) {
    return static_cast<T>(Work<T>{0} - static_cast<Work<T>>(a));
  }
};
struct Abs {
  template <class T>
  SIMGPU_INLINE static T f(T a) {
    return a < 0 ? Neg::f(a) : a;
  }
};
struct Not {
  template <class T>
  SIMGPU_INLINE static T f(T a) {
    return static_cast<T>(~a);
  }
};
struct AddSat {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return clamp_to<T>(std::int64_t{a} + b);
  }
};
struct SubSat {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    return clamp_to<T>(std::int64_t{a} - b);
  }
};

struct Mul24Lo {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(std::int64_t{(a << 8) >> 8} * ((b << 8) >> 8));
    else
      return static_cast<T>(std::uint64_t{a & 0xffffffu} * (b & 0xffffffu));
  }
};
struct Mul24Hi {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b) {
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>((std::int64_t{(a << 8) >> 8} * ((b << 8) >> 8)) >> 16);
    else
      return static_cast<T>((std::uint64_t{a & 0xffffffu} * (b & 0xffffffu)) >> 16);
  }
};

struct MadLo {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b, T c) {
    return Add::f(MulLo::f(a, b), c);
  }
};
struct MadHi {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b, T c) {
    return Add::f(mul_high(a, b), c);
  }
};
struct Mad24Lo {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b, T c) {
    return Add::f(Mul24Lo::f(a, b), c);
  }
};
struct Mad24Hi {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b, T c) {
    return Add::f(Mul24Hi::f(a, b), c);
  }
};
struct MadHiSat {
  template <class T>
  SIMGPU_INLINE static T f(T a, T b, T c) {
    return clamp_to<T>(std::int64_t{mul_high(a, b)} + c);
  }
};
template <class T>
SIMGPU_INLINE std::uint32_t leading_bit(T a, bool shift) {
  using U = Unsigned<T>;
  U u = static_cast<U>(a);
  if constexpr (std::is_signed_v<T>)
    if (a < 0) u = static_cast<U>(~u);
  if (u == 0) return 0xffffffffu;
  const std::uint32_t bit = kBits<T> - 1 - static_cast<std::uint32_t>(std::countl_zero(u));
  return shift ? kBits<T> - 1 - bit : bit;
}
/// prmt: each selector nibble picks one of the eight bytes {b, a}; its top bit replicates the sign
/// instead.
SIMGPU_INLINE std::uint32_t permute(std::uint32_t a, std::uint32_t b, std::uint32_t sel) {
  const std::uint64_t all = (std::uint64_t{b} << 32) | a;
  std::uint32_t r = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const std::uint32_t s = (sel >> (4 * k)) & 0xf;
    std::uint32_t byte = static_cast<std::uint32_t>(all >> (8 * (s & 7))) & 0xff;
    if (s & 8) byte = (byte & 0x80) ? 0xff : 0;
    r |= byte << (8 * k);
  }
  return r;
}
/// The special modes in the order f4e, b4e, rc8, ecl, ecr, rc16: selector nibbles for each value of
/// c & 3.
SIMGPU_INLINE std::uint32_t permute_mode(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                         unsigned mode) {
  constexpr std::uint16_t table[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123},
      {0x0000, 0x1111, 0x2222, 0x3333}, {0x3210, 0x3211, 0x3222, 0x3333},
      {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
  return permute(a, b, table[mode][c & 3]);
}

template <class F, class T>
void unary(Warp& w, const Op& op) {
  const T* a = lanes<T>(w, op.a);
  each_lane<T>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA { return F::f(a[i]); });
}
template <class F, class T>
void binary(Warp& w, const Op& op) {
  const T *a = lanes<T>(w, op.a), *b = lanes<T>(w, op.b);
  each_lane<T>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA { return F::template f<T>(a[i], b[i]); });
}
template <class F, class T>
void ternary(Warp& w, const Op& op) {
  const T *a = lanes<T>(w, op.a), *b = lanes<T>(w, op.b), *c = lanes<T>(w, op.c);
  each_lane<T>(w, op.dst,
               [=](unsigned i) SIMGPU_LAMBDA { return F::template f<T>(a[i], b[i], c[i]); });
}
template <class T>
void mul_wide(Warp& w, const Op& op) {
  const T *a = lanes<T>(w, op.a), *b = lanes<T>(w, op.b);
  using W = Wide<T>;
  each_lane<W>(w, op.dst,
               [=](unsigned i) SIMGPU_LAMBDA { return static_cast<W>(W{a[i]} * W{b[i]}); });
}
template <class T>
void mad_wide(Warp& w, const Op& op) {
  const T *a = lanes<T>(w, op.a), *b = lanes<T>(w, op.b);
  using W = Wide<T>;
  const W* c = lanes<W>(w, op.c);
  each_lane<W>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA {
    return static_cast<W>(static_cast<Work<W>>(W{a[i]} * W{b[i]}) + static_cast<Work<W>>(c[i]));
  });
}

template <bool kLeft, bool kWrap>
void funnel_shift(Warp& w, const Op& op) {
  const std::uint32_t *a = lanes<std::uint32_t>(w, op.a), *b = lanes<std::uint32_t>(w, op.b),
                      *c = lanes<std::uint32_t>(w, op.c);
  each_lane<std::uint32_t>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA {
    const std::uint32_t n = kWrap ? (c[i] & 31) : (c[i] < 32 ? c[i] : 32);
    const std::uint64_t both = (std::uint64_t{b[i]} << 32) | a[i];
    return static_cast<std::uint32_t>(kLeft ? (both << n) >> 32 : both >> n);
  });
}
template <class T, bool kShift>
void bfind(Warp& w, const Op& op) {
  const T* a = lanes<T>(w, op.a);
  each_lane<std::uint32_t>(w, op.dst,
                           [=](unsigned i) SIMGPU_LAMBDA { return leading_bit<T>(a[i], kShift); });
}
void prmt(Warp& w, const Op& op) {
  const std::uint32_t *a = lanes<std::uint32_t>(w, op.a), *b = lanes<std::uint32_t>(w, op.b),
                      *c = lanes<std::uint32_t>(w, op.c);
  each_lane<std::uint32_t>(w, op.dst,
                           [=](unsigned i) SIMGPU_LAMBDA { return permute(a[i], b[i], c[i]); });
}
void prmt_mode(Warp& w, const Op& op) {
  const std::uint32_t *a = lanes<std::uint32_t>(w, op.a), *b = lanes<std::uint32_t>(w, op.b),
                      *c = lanes<std::uint32_t>(w, op.c);
  const unsigned mode = op.x;
  each_lane<std::uint32_t>(
      w, op.dst, [=](unsigned i) SIMGPU_LAMBDA { return permute_mode(a[i], b[i], c[i], mode); });
}
void lop3(Warp& w, const Op& op) {
  const std::uint32_t *a = lanes<std::uint32_t>(w, op.a), *b = lanes<std::uint32_t>(w, op.b),
                      *c = lanes<std::uint32_t>(w, op.c);
  const auto lut = static_cast<std::uint32_t>(op.imm);
  each_lane<std::uint32_t>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA {
    std::uint32_t r = 0;
    for (unsigned k = 0; k < 8; ++k) {
      const std::uint32_t term =
          ((k & 4) ? a[i] : ~a[i]) & ((k & 2) ? b[i] : ~b[i]) & ((k & 1) ? c[i] : ~c[i]);
      r |= (lut >> k) & 1u ? term : 0u;
    }
    return r;
  });
}
/// x: bit 0 = a is signed, bit 1 = b is signed, bit 2 = .hi (dp2a).
void dp4a(Warp& w, const Op& op) {
  const std::uint32_t *a = lanes<std::uint32_t>(w, op.a), *b = lanes<std::uint32_t>(w, op.b),
                      *c = lanes<std::uint32_t>(w, op.c);
  const bool sa = op.x & 1, sb = op.x & 2;
  each_lane<std::uint32_t>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA {
    std::uint32_t sum = c[i];
    for (unsigned k = 0; k < 32; k += 8) {
      const std::uint32_t x = (a[i] >> k) & 0xff, y = (b[i] >> k) & 0xff;
      const std::uint32_t xs = sa ? static_cast<std::uint32_t>(static_cast<std::int8_t>(x)) : x;
      const std::uint32_t ys = sb ? static_cast<std::uint32_t>(static_cast<std::int8_t>(y)) : y;
      sum += xs * ys;
    }
    return sum;
  });
}
void dp2a(Warp& w, const Op& op) {
  const std::uint32_t *a = lanes<std::uint32_t>(w, op.a), *b = lanes<std::uint32_t>(w, op.b),
                      *c = lanes<std::uint32_t>(w, op.c);
  const bool sa = op.x & 1, sb = op.x & 2;
  const unsigned first = op.x & 4 ? 16 : 0;
  each_lane<std::uint32_t>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA {
    std::uint32_t sum = c[i];
    for (unsigned k = 0; k < 2; ++k) {
      const std::uint32_t x = (a[i] >> (16 * k)) & 0xffff, y = (b[i] >> (first + 8 * k)) & 0xff;
      const std::uint32_t xs = sa ? static_cast<std::uint32_t>(static_cast<std::int16_t>(x)) : x;
      const std::uint32_t ys = sb ? static_cast<std::uint32_t>(static_cast<std::int8_t>(y)) : y;
      sum += xs * ys;
    }
    return sum;
  });
}

/// Extended precision. The carry is a predicate (dst2) of the frame; x: bit 0 = carry in, bit 1 =
/// carry out, y: 0 add, 1 sub, 2 mad.lo, 3 mad.hi.
template <class T>
void carry(Warp& w, const Op& op) {
  const T *a = lanes<T>(w, op.a), *b = lanes<T>(w, op.b), *c = lanes<T>(w, op.y >= 2 ? op.c : op.a);
  using U = Unsigned<T>;
  const std::uint32_t in = op.x & 1 ? mask_of(w, op.dst2) : 0;
  T result[kLanes];
  std::uint32_t out = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const U ci = (in >> i) & 1u;
    U x = static_cast<U>(a[i]), y = static_cast<U>(b[i]);
    if (op.y >= 2) {
      x = static_cast<U>(op.y == 2 ? MulLo::f(a[i], b[i]) : mul_high(a[i], b[i]));
      y = static_cast<U>(c[i]);
    }
    U sum;
    bool over;
    if (op.y == 1) {
      sum = static_cast<U>(x - y - ci);
      over = x < y || (x == y && ci);
    } else {
      sum = static_cast<U>(x + y + ci);
      over = sum < x || (sum == x && ci);
    }
    result[i] = static_cast<T>(sum);
    out |= static_cast<std::uint32_t>(over) << i;
  }
  blend(lanes<T>(w, op.dst), result, w.mask);
  if (op.x & 2) write_pred(w, op.dst2, out);
}

// ---- the table
template <class F>
void set_binary(HandlerTable& t, Alu op) {
  Handler* h = t.alu[idx(op)];
  h[idx(Ty::u16)] = binary<F, U16>;
  h[idx(Ty::u32)] = binary<F, U32>;
  h[idx(Ty::u64)] = binary<F, U64>;
  h[idx(Ty::s16)] = binary<F, I16>;
  h[idx(Ty::s32)] = binary<F, I32>;
  h[idx(Ty::s64)] = binary<F, I64>;
}
template <class F>
void set_ternary(HandlerTable& t, Alu op) {
  Handler* h = t.alu[idx(op)];
  h[idx(Ty::u16)] = ternary<F, U16>;
  h[idx(Ty::u32)] = ternary<F, U32>;
  h[idx(Ty::u64)] = ternary<F, U64>;
  h[idx(Ty::s16)] = ternary<F, I16>;
  h[idx(Ty::s32)] = ternary<F, I32>;
  h[idx(Ty::s64)] = ternary<F, I64>;
}
template <class F>
void set_unary_signed(HandlerTable& t, Alu op) {
  Handler* h = t.alu[idx(op)];
  h[idx(Ty::s16)] = unary<F, I16>;
  h[idx(Ty::s32)] = unary<F, I32>;
  h[idx(Ty::s64)] = unary<F, I64>;
}
template <class F>
void set_unary_bits(HandlerTable& t, Alu op) {
  Handler* h = t.alu[idx(op)];
  h[idx(Ty::u16)] = unary<F, U16>;
  h[idx(Ty::u32)] = unary<F, U32>;
  h[idx(Ty::u64)] = unary<F, U64>;
}
}  // namespace

void fill_integer(HandlerTable& t) {
  set_binary<Add>(t, Alu::add);
  set_binary<Sub>(t, Alu::sub);
  set_binary<MulLo>(t, Alu::mul_lo);
  set_binary<MulHi>(t, Alu::mul_hi);
  set_binary<Div>(t, Alu::div);
  set_binary<Rem>(t, Alu::rem);
  set_binary<Min>(t, Alu::min);
  set_binary<Max>(t, Alu::max);
  set_binary<And>(t, Alu::and_);
  set_binary<Or>(t, Alu::or_);
  set_binary<Xor>(t, Alu::xor_);
  set_ternary<MadLo>(t, Alu::mad_lo);
  set_ternary<MadHi>(t, Alu::mad_hi);
  set_unary_signed<Neg>(t, Alu::neg);
  set_unary_signed<Abs>(t, Alu::abs);
  set_unary_bits<Not>(t, Alu::not_);
  auto set = [&](Alu op, Ty type, Handler h) { t.alu[idx(op)][idx(type)] = h; };
  set(Alu::add_sat, Ty::s32, binary<AddSat, I32>);
  set(Alu::sub_sat, Ty::s32, binary<SubSat, I32>);
  set(Alu::mad_hi_sat, Ty::s32, ternary<MadHiSat, I32>);
  set(Alu::mul24_lo, Ty::u32, binary<Mul24Lo, U32>);
  set(Alu::mul24_lo, Ty::s32, binary<Mul24Lo, I32>);
  set(Alu::mul24_hi, Ty::u32, binary<Mul24Hi, U32>);
  set(Alu::mul24_hi, Ty::s32, binary<Mul24Hi, I32>);
  set(Alu::mad24_lo, Ty::u32, ternary<Mad24Lo, U32>);
  set(Alu::mad24_lo, Ty::s32, ternary<Mad24Lo, I32>);
  set(Alu::mad24_hi, Ty::u32, ternary<Mad24Hi, U32>);
  set(Alu::mad24_hi, Ty::s32, ternary<Mad24Hi, I32>);
  set(Alu::mul_wide, Ty::u16, mul_wide<U16>);
  set(Alu::mul_wide, Ty::s16, mul_wide<I16>);
  set(Alu::mul_wide, Ty::u32, mul_wide<U32>);
  set(Alu::mul_wide, Ty::s32, mul_wide<I32>);
  set(Alu::mad_wide, Ty::u16, mad_wide<U16>);
  set(Alu::mad_wide, Ty::s16, mad_wide<I16>);
  set(Alu::mad_wide, Ty::u32, mad_wide<U32>);
  set(Alu::mad_wide, Ty::s32, mad_wide<I32>);
  set(Alu::shf_l_clamp, Ty::u32, funnel_shift<true, false>);
  set(Alu::shf_l_wrap, Ty::u32, funnel_shift<true, true>);
  set(Alu::shf_r_clamp, Ty::u32, funnel_shift<false, false>);
  set(Alu::shf_r_wrap, Ty::u32, funnel_shift<false, true>);
  set(Alu::bfind, Ty::u32, bfind<U32, false>);
  set(Alu::bfind, Ty::s32, bfind<I32, false>);
  set(Alu::bfind, Ty::u64, bfind<U64, false>);
  set(Alu::bfind, Ty::s64, bfind<I64, false>);
  set(Alu::bfind_shift, Ty::u32, bfind<U32, true>);
  set(Alu::bfind_shift, Ty::s32, bfind<I32, true>);
  set(Alu::bfind_shift, Ty::u64, bfind<U64, true>);
  set(Alu::bfind_shift, Ty::s64, bfind<I64, true>);
  set(Alu::prmt, Ty::u32, prmt);
  set(Alu::prmt_mode, Ty::u32, prmt_mode);
  set(Alu::lop3, Ty::u32, lop3);
  set(Alu::dp4a, Ty::u32, dp4a);
  set(Alu::dp2a, Ty::u32, dp2a);
  set(Alu::add_carry, Ty::u32, carry<U32>);
  set(Alu::add_carry, Ty::s32, carry<I32>);
  set(Alu::add_carry, Ty::u64, carry<U64>);
  set(Alu::add_carry, Ty::s64, carry<I64>);
}

}  // namespace simgpu::exec::kernels
