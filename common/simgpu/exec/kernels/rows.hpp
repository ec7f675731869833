// How a row of instructions.inc becomes a handler for each of its lane types. integer.cpp, float.cpp
// and half.cpp define what the rows call, then include rows.inc.
#pragma once

#include <cmath>
#include <cstring>
#include <string_view>

#include "common/simgpu/exec/kernels/lanes.hpp"
#include "common/simgpu/half.hpp"

namespace simgpu::exec::kernels {

// ---- what T may be, by the names that the rows use
using F32 = float;
using F64 = double;
/// Predicates: one word for the whole warp.
struct P {};
/// A 16-bit number in a format that C++ does not have. It becomes a double by itself; a double is
/// rounded to it once, to nearest even. NaN results are 0x7fff.
struct F16 {
  static constexpr U16 kLeastNormal = 0x0400;
  U16 bits = 0;
  F16() = default;
  SIMGPU_INLINE explicit F16(double v) : bits(float_to_half_lane(to_odd_float(v))) {}
  SIMGPU_INLINE operator double() const { return static_cast<double>(half_to_float_lane(bits)); }
};
struct BF16 {
  static constexpr U16 kLeastNormal = 0x0080;
  U16 bits = 0;
  BF16() = default;
  SIMGPU_INLINE explicit BF16(double v) : bits(float_to_bfloat_lane(to_odd_float(v))) {}
  SIMGPU_INLINE operator double() const { return static_cast<double>(bfloat_to_float(bits)); }
};
/// Two numbers in a lane, the first in the low half.
template <class Number>
struct Two {};
using F16x2 = Two<F16>;
using BF16x2 = Two<BF16>;

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, F16> || std::is_same_v<T, BF16>;
template <class T>
inline constexpr bool kIsTwo = std::is_same_v<T, F16x2> || std::is_same_v<T, BF16x2>;

template <class T>
constexpr Ty type_of() {
  constexpr bool is_signed = std::is_signed_v<T>;
  if constexpr (std::is_same_v<T, P>)
    return Ty::pred;
  else if constexpr (std::is_same_v<T, F16>)
    return Ty::f16;
  else if constexpr (std::is_same_v<T, BF16>)
    return Ty::bf16;
  else if constexpr (std::is_same_v<T, F16x2>)
    return Ty::f16x2;
  else if constexpr (std::is_same_v<T, BF16x2>)
    return Ty::bf16x2;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? Ty::f32 : Ty::f64;
  else if constexpr (sizeof(T) == 2)
    return is_signed ? Ty::s16 : Ty::u16;
  else if constexpr (sizeof(T) == 4)
    return is_signed ? Ty::s32 : Ty::u32;
  else
    return is_signed ? Ty::s64 : Ty::u64;
}

// ---- operands
template <class T>
struct Widened;  ///< twice as wide
template <>
struct Widened<U16> : std::type_identity<U32> {};
template <>
struct Widened<I16> : std::type_identity<I32> {};
template <>
struct Widened<U32> : std::type_identity<U64> {};
template <>
struct Widened<I32> : std::type_identity<I64> {};

struct Immediate {};

/// The type of operand k of "dT sT s3" where the type suffix is T; void: there is no such operand.
template <class T, std::size_t k, const std::string_view& kOperands>
constexpr auto operand_type() {
  if constexpr (3 * k + 1 >= kOperands.size())
    return std::type_identity<void>{};
  else if constexpr (kOperands[3 * k] == 'i')
    return std::type_identity<Immediate>{};
  else if constexpr (kOperands[3 * k + 1] == '1')
    return std::type_identity<P>{};
  else if constexpr (kOperands[3 * k + 1] == '3')
    return std::type_identity<U32>{};
  else if constexpr (kOperands[3 * k + 1] == 'I')
    return std::type_identity<I32>{};
  else if constexpr (kOperands[3 * k + 1] == 'F')
    return std::type_identity<F32>{};
  else if constexpr (kOperands[3 * k + 1] == 'W')
    return Widened<T>{};
  else
    return std::type_identity<T>{};
}
template <class T, std::size_t k, class Row>
using OperandType = typename decltype(operand_type<T, k, Row::kOperands>())::type;

/// The lanes of a source; zeros if the row has no such source.
template <class S>
struct Source {
  Source(const Warp& w, const Op&, Ref ref) : lanes_(lanes<S>(w, ref)) {}
  SIMGPU_INLINE S operator[](unsigned i) const { return lanes_[i]; }
  const S* lanes_;
};
template <>
struct Source<P> {
  Source(const Warp& w, const Op&, Ref ref) : mask_(mask_of(w, ref)) {}
  SIMGPU_INLINE bool operator[](unsigned i) const { return (mask_ >> i) & 1u; }
  U32 mask_;
};
template <>
struct Source<Immediate> {
  Source(const Warp&, const Op& op, Ref) : value_(static_cast<U32>(op.imm)) {}
  SIMGPU_INLINE U32 operator[](unsigned) const { return value_; }
  U32 value_;
};
template <>
struct Source<void> {
  Source(const Warp&, const Op&, Ref) {}
  SIMGPU_INLINE U32 operator[](unsigned) const { return 0; }
};

// ---- handlers
/// 16-bit results of all lanes, one or two in each.
template <unsigned kParts, class Number>
SIMGPU_INLINE void put_halves(Warp& w, Ref dst, const Number* value) {
  if (w.mask == kFullMask) {
    std::memcpy(address_of(w, dst), value, kLanes * kParts * sizeof *value);
  } else {
    using Lane = std::conditional_t<kParts == 1, U16, U32>;
    Lane whole[kLanes];
    std::memcpy(whole, value, sizeof whole);
    blend(lanes<Lane>(w, dst), static_cast<const Lane*>(whole), w.mask);
  }
}

template <class Row, class Number, unsigned kParts>
SIMGPU_INLINE void halves(Warp& w, const Op& op) {
  constexpr unsigned n = kLanes * kParts;
  const Source<OperandType<Number, 1, Row>> a(w, op, op.a);
  const Source<OperandType<Number, 2, Row>> b(w, op, op.b);
  const Source<OperandType<Number, 3, Row>> c(w, op, op.c);
  alignas(64) Number out[n];
  for (unsigned i = 0; i < n; ++i) out[i] = static_cast<Number>(Row::result(a[i], b[i], c[i], 0u));
  put_halves<kParts>(w, op.dst, out);
}

template <class Row, class T>
void lanewise(Warp& w, const Op& op) {
  using D = OperandType<T, 0, Row>;
  if constexpr (std::is_same_v<T, P>) {
    const U32 a = mask_of(w, op.a);
    write_pred(w, op.dst, Row::result(a, op.b == kNoRef ? 0 : mask_of(w, op.b), 0u, 0u));
  } else if constexpr (std::is_same_v<T, F16x2>) {
    halves<Row, F16, 2>(w, op);
  } else if constexpr (std::is_same_v<T, BF16x2>) {
    halves<Row, BF16, 2>(w, op);
  } else if constexpr (kIsHalf<T>) {
    halves<Row, T, 1>(w, op);
  } else {
    const Source<OperandType<T, 1, Row>> a(w, op, op.a);
    const Source<OperandType<T, 2, Row>> b(w, op, op.b);
    const Source<OperandType<T, 3, Row>> c(w, op, op.c);
    const Source<OperandType<T, 4, Row>> d(w, op, op.d);
    if constexpr (std::is_same_v<D, P>)
      write_pred(w, op.dst, lane_mask([=](unsigned i) SIMGPU_LAMBDA {
                   return Row::result(a[i], b[i], c[i], d[i]);
                 }));
    else
      each_lane<D>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA {
        return static_cast<D>(Row::result(a[i], b[i], c[i], d[i]));
      });
  }
}

/// The mask `m` of a comparison, combined with predicate c as x (a ptx::BoolOp) says.
SIMGPU_INLINE U32 combined(const Warp& w, const Op& op, U32 m) {
  if (op.x == 0) return m;
  const U32 c = mask_of(w, op.c);
  return op.x == 1 ? (m & c) : op.x == 2 ? (m | c) : (m ^ c);
}

/// Number k of each lane's kParts, of a 16-bit format.
template <class Number, unsigned kParts>
[[gnu::noinline]] void widen(const Number* from, unsigned k, double* to) {
  SIMGPU_LANE_LOOP to[i] = from[kParts * i + k];
}
/// Once for all formats that become doubles: with a loop for each, this took most of the time in
/// which half.cpp is compiled.
template <class Row>
[[gnu::noinline]] U32 compared(const double* a, const double* b) {
  return lane_mask([=](unsigned i) SIMGPU_LAMBDA { return bool{Row::result(a[i], b[i])}; });
}

/// Of one number in a lane, dst2 is the opposite of dst; of two, the low ones go to dst and the high
/// ones to dst2.
template <class Row, class T>
void comparison(Warp& w, const Op& op) {
  using Number = std::conditional_t<std::is_same_v<T, F16x2>, F16,
                                    std::conditional_t<std::is_same_v<T, BF16x2>, BF16, T>>;
  const Number *a = lanes<Number>(w, op.a), *b = lanes<Number>(w, op.b);
  constexpr unsigned kParts = kIsTwo<T> ? 2 : 1;
  const auto part = [=]([[maybe_unused]] unsigned k) SIMGPU_LAMBDA {
    if constexpr (kIsHalf<Number>) {
      alignas(64) double x[kLanes], y[kLanes];
      widen<Number, kParts>(a, k, x);
      widen<Number, kParts>(b, k, y);
      return compared<Row>(x, y);
    } else {
      return lane_mask([=](unsigned i) SIMGPU_LAMBDA { return Row::result(a[i], b[i]); });
    }
  };
  const U32 m = part(0);
  // The predicate that is combined may be a destination: both results before either is written.
  const U32 first = combined(w, op, m);
  const U32 second = op.dst2 == kNoRef ? 0 : combined(w, op, kIsTwo<T> ? part(kParts - 1) : ~m);
  if (op.dst2 != kNoRef) write_pred(w, op.dst2, second);
  if (op.dst != kNoRef) write_pred(w, op.dst, first);
}

/// LANES(U16, U32): the types of a row, as the parameters of a function type.
using LANES = void;
template <class>
struct Fill;
template <class... T>
struct Fill<void(T...)> {
  /// Handlers of the row for those of its types that kOurs selects.
  template <class Row, template <class> class Ours>
  static void operations(Handler* by_type) {
    (..., [&] {
      if constexpr (Ours<T>::value) by_type[idx(type_of<T>())] = lanewise<Row, T>;
    }());
  }
  template <class Row, template <class> class Ours>
  static void comparisons(Handler* by_type) {
    (..., [&] {
      if constexpr (Ours<T>::value) by_type[idx(type_of<T>())] = comparison<Row, T>;
    }());
  }
};

}  // namespace simgpu::exec::kernels
