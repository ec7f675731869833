// The arithmetic of the rows of instructions.inc.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "common/simgpu/exec/kernels/lanes.hpp"

namespace simgpu::exec::kernels {
namespace {

// ---- what rows call
template <class T>
SIMGPU_INLINE T wrapping_add(T a, T b) {
  return static_cast<T>(static_cast<Work<T>>(a) + static_cast<Work<T>>(b));
}
template <class T>
SIMGPU_INLINE T wrapping_sub(T a, T b) {
  return static_cast<T>(static_cast<Work<T>>(a) - static_cast<Work<T>>(b));
}
/// Shift amounts are 32-bit unsigned and clamp at the width.
template <class T>
SIMGPU_INLINE T shift_left(T a, U32 n) {
  return n >= kBits<T> ? T{0} : static_cast<T>(static_cast<Work<T>>(a) << (n & (kBits<T> - 1)));
}
template <class T>
SIMGPU_INLINE T shift_right(T a, U32 n) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>(a >> (n >= kBits<T> ? kBits<T> - 1 : n));
  else
    return n >= kBits<T> ? T{0} : static_cast<T>(a >> (n & (kBits<T> - 1)));
}
template <class T>
SIMGPU_INLINE T bit_field_extract(T a, std::uint32_t pos, std::uint32_t len) {
  pos &= 0xff;
  len &= 0xff;
  using U = Unsigned<T>;
  if (len == 0) return 0;
  const U u = static_cast<U>(a);
  // Bits beyond the top read as the sign (of the field's, or of the register's, last bit).
  const std::uint32_t last = pos + len - 1 < kBits<T> - 1 ? pos + len - 1 : kBits<T> - 1;
  const bool sign = std::is_signed_v<T> && ((u >> last) & 1u);
  U field = pos >= kBits<T> ? U{0} : static_cast<U>(u >> pos);
  const std::uint32_t have = pos >= kBits<T> ? 0 : (len < kBits<T> - pos ? len : kBits<T> - pos);
  const U keep = have == 0          ? U{0}
                 : have >= kBits<T> ? static_cast<U>(~U{0})
                                    : static_cast<U>((U{1} << have) - 1);
  field = static_cast<U>(field & keep);
  return static_cast<T>(sign ? (field | static_cast<U>(~keep)) : field);
}
template <class T>
SIMGPU_INLINE T bit_field_insert(T a, T b, std::uint32_t pos, std::uint32_t len) {
  pos &= 0xff;
  len &= 0xff;
  if (pos >= kBits<T> || len == 0) return b;
  const std::uint32_t have = len < kBits<T> - pos ? len : kBits<T> - pos;
  const T ones = have >= kBits<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << have) - 1);
  const T keep = static_cast<T>(ones << pos);
  return static_cast<T>((b & ~keep) | ((a << pos) & keep));
}
template <class T>
SIMGPU_INLINE T reverse_bits(T v) {
  T r = 0;
  for (unsigned k = 0; k < kBits<T>; ++k, v = static_cast<T>(v >> 1))
    r = static_cast<T>((r << 1) | (v & 1));
  return r;
}
/// `width` ones from bit `from` on, both at most 32.
SIMGPU_INLINE U32 bit_mask(U32 from, U32 width) {
  return static_cast<U32>(((U64{1} << width) - 1) << from);
}
/// The low `n` bits of `a`, at most 31, as a number of type T.
template <class T>
SIMGPU_INLINE T extend(T a, U32 n) {
  const U32 shift = (32 - n) & 31;
  return n == 0 ? T{0} : static_cast<T>(static_cast<T>(static_cast<U32>(a) << shift) >> shift);
}

// ---- a row becomes a handler for each of its types
/// The type of operand k of "dT sT s3" where the type suffix is T; void: there is no such operand.
template <class T, std::size_t k, const std::string_view& kOperands>
constexpr auto operand_type() {
  if constexpr (3 * k + 1 >= kOperands.size())
    return std::type_identity<void>{};
  else if constexpr (kOperands[3 * k + 1] == '3')
    return std::type_identity<U32>{};
  else
    return std::type_identity<T>{};
}
template <class T, std::size_t k, class Row>
using OperandType = typename decltype(operand_type<T, k, Row::kOperands>())::type;

/// The lanes of a source; zeros if the row has no such source.
template <class S>
struct Source {
  Source(const Warp& w, Ref ref) : lanes_(lanes<S>(w, ref)) {}
  SIMGPU_INLINE S operator[](unsigned i) const { return lanes_[i]; }
  const S* lanes_;
};
template <>
struct Source<void> {
  Source(const Warp&, Ref) {}
  SIMGPU_INLINE U32 operator[](unsigned) const { return 0; }
};

template <class Row, class T>
void lanewise(Warp& w, const Op& op) {
  const Source<OperandType<T, 1, Row>> a(w, op.a);
  const Source<OperandType<T, 2, Row>> b(w, op.b);
  const Source<OperandType<T, 3, Row>> c(w, op.c);
  const Source<OperandType<T, 4, Row>> d(w, op.d);
  using D = OperandType<T, 0, Row>;
  each_lane<D>(w, op.dst, [=](unsigned i) SIMGPU_LAMBDA {
    return static_cast<D>(Row::result(a[i], b[i], c[i], d[i]));
  });
}

template <class T>
constexpr Ty type_of() {
  constexpr bool is_signed = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 2:
      return is_signed ? Ty::s16 : Ty::u16;
    case 4:
      return is_signed ? Ty::s32 : Ty::u32;
    default:
      return is_signed ? Ty::s64 : Ty::u64;
  }
}

template <class Row, class... T>
void set(HandlerTable& t, Alu op) {
  ((t.alu[idx(op)][idx(type_of<T>())] = lanewise<Row, T>), ...);
}

#define LANES(...) __VA_ARGS__
#define LANEWISE(id, text, types, operands, category, lanes, ...)                        \
  struct Row_##id {                                                                      \
    static constexpr std::string_view kOperands = operands;                              \
    SIMGPU_INLINE static auto result([[maybe_unused]] auto a, [[maybe_unused]] auto b,   \
                                     [[maybe_unused]] auto c, [[maybe_unused]] auto d) { \
      return __VA_ARGS__;                                                                \
    }                                                                                    \
  };
#include "common/simgpu/instructions.inc"
#undef LANEWISE

}  // namespace

void fill_lanewise(HandlerTable& t) {
#define LANEWISE(id, text, types, operands, category, lanes, ...) set<Row_##id, lanes>(t, Alu::id);
#include "common/simgpu/instructions.inc"
#undef LANEWISE
}

}  // namespace simgpu::exec::kernels
