// Integer arithmetic, logic, shifts, bit fields and selections: what the rows of instructions.inc
// call (PTX ISA 9.7.1, 9.7.2, 9.7.8). Results wrap; signed operations are computed in unsigned types
// so that nothing here overflows in the C++ sense.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/simgpu/exec/kernels/rows.hpp"
#include "common/simgpu/exec/video.hpp"

namespace simgpu::exec::kernels {
namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

template <class T>
SIMGPU_INLINE T sum(T a, T b) {
  return static_cast<T>(static_cast<Work<T>>(a) + static_cast<Work<T>>(b));
}
template <class T>
SIMGPU_INLINE T difference(T a, T b) {
  return static_cast<T>(static_cast<Work<T>>(a) - static_cast<Work<T>>(b));
}
template <class T>
SIMGPU_INLINE T product(T a, T b) {
  return static_cast<T>(static_cast<Work<T>>(a) * static_cast<Work<T>>(b));
}
template <class T>
SIMGPU_INLINE T multiply_add(T a, T b, T c) {
  return sum(product(a, b), c);
}
template <class T>
SIMGPU_INLINE auto wide_product(T a, T b) {
  using W = typename Widened<T>::type;
  return static_cast<W>(W{a} * W{b});
}
template <class T>
SIMGPU_INLINE T high_product(T a, T b) {
  if constexpr (sizeof(T) < 8) {
    using W = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> kBits<T>);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>((static_cast<Int128>(a) * b) >> 64);
  } else {
    return static_cast<T>((static_cast<UInt128>(a) * b) >> 64);
  }
}

/// Of the low 24 bits of both.
SIMGPU_INLINE I64 product24(I32 a, I32 b) {
  return I64{(a << 8) >> 8} * ((b << 8) >> 8);
}
SIMGPU_INLINE U64 product24(U32 a, U32 b) {
  return U64{a & 0xffffffu} * (b & 0xffffffu);
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
SIMGPU_INLINE T remaining(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}

SIMGPU_INLINE I32 clamped(I64 v) {
  constexpr I64 lo = std::numeric_limits<I32>::min(), hi = std::numeric_limits<I32>::max();
  return static_cast<I32>(v < lo ? lo : v > hi ? hi : v);
}
template <class T>
SIMGPU_INLINE T least(T a, T b) {
  return a < b ? a : b;
}
template <class T>
SIMGPU_INLINE T greatest(T a, T b) {
  return a < b ? b : a;
}
template <class T>
SIMGPU_INLINE T negative(T a) {
  return static_cast<T>(Work<T>{0} - static_cast<Work<T>>(a));
}
template <class T>
SIMGPU_INLINE T magnitude(T a) {
  return a < 0 ? negative(a) : a;
}
/// Four products of bytes, or two of 16-bit numbers with bytes, summed onto c. What is signed is of a
/// signed type.
template <class A, class B>
SIMGPU_INLINE U32 dot_bytes(A a, B b, U32 c) {
  for (unsigned k = 0; k < 32; k += 8)
    c += static_cast<U32>(static_cast<A>(a << (24 - k)) >> 24) *
         static_cast<U32>(static_cast<B>(b << (24 - k)) >> 24);
  return c;
}
/// Part k of a word of parts of `width` bits.
SIMGPU_INLINE I32 part_of(U32 word, unsigned k, unsigned width, bool is_signed) {
  const U32 up = word << (32 - width - k * width);
  return is_signed ? static_cast<I32>(up) >> (32 - width) : static_cast<I32>(up >> (32 - width));
}
SIMGPU_INLINE I32 within(I32 value, unsigned width, bool is_signed) {
  const I32 most = (1 << (is_signed ? width - 1 : width)) - 1;
  return std::clamp(value, is_signed ? -most - 1 : 0, most);
}
SIMGPU_INLINE I32 video_part(U32 form, I32 a, I32 b) {
  switch (static_cast<VideoOp>(form & 7)) {
    case VideoOp::add:
      return a + b;
    case VideoOp::sub:
      return a - b;
    case VideoOp::average:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case VideoOp::difference:
      return a < b ? b - a : a - b;
    case VideoOp::min:
      return std::min(a, b);
    case VideoOp::max:
      return std::max(a, b);
    default:
      return ((form >> (kVideoCompare + (a < b ? 0 : a == b ? 1 : 2))) & 1) != 0 ? 1 : 0;
  }
}
SIMGPU_INLINE U32 packed_video(U32 a, U32 b, U32 c, U32 form) {
  const unsigned width = (form & kVideoBytes) != 0 ? 8 : 16;
  const bool adds = (form & kVideoAdds) != 0, is_signed = (form & kVideoSigned) != 0;
  U32 result = adds ? c : 0;
  for (unsigned k = 0; k < 32 / width; ++k) {
    I32 part = video_part(form, part_of(a, k, width, (form & kVideoSignedA) != 0),
                          part_of(b, k, width, (form & kVideoSignedB) != 0));
    if ((form & kVideoSaturates) != 0) part = within(part, width, is_signed);
    result += adds ? static_cast<U32>(part)
                   : (static_cast<U32>(part) & ((1u << width) - 1)) << (k * width);
  }
  return result;
}
/// cvt.pack: two numbers of 16 bits, or of 8 bits above the lower half of c.
SIMGPU_INLINE U32 packed_saturated(U32 a, U32 b, U32 c, U32 form) {
  const unsigned width = (form & kVideoBytes) != 0 ? 8 : 16;
  const auto part = [&](U32 value) {
    return static_cast<U32>(within(static_cast<I32>(value), width, (form & kVideoSigned) != 0)) &
           ((1u << width) - 1);
  };
  return (width == 8 ? c << 16 : 0) | part(a) << width | part(b);
}
template <class A, class B>
SIMGPU_INLINE U32 dot_halves(A a, B b, U32 c) {
  for (unsigned k = 0; k < 2; ++k)
    c += static_cast<U32>(static_cast<A>(a << (16 - 16 * k)) >> 16) *
         static_cast<U32>(static_cast<B>(b << (24 - 8 * k)) >> 24);
  return c;
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
SIMGPU_INLINE std::uint32_t permute(std::uint32_t a, std::uint32_t b, U64 sel) {
  const std::uint64_t all = (std::uint64_t{b} << 32) | a;
  std::uint32_t r = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const auto s = static_cast<U32>(sel >> (4 * k)) & 0xf;
    std::uint32_t byte = static_cast<std::uint32_t>(all >> (8 * (s & 7))) & 0xff;
    if (s & 8) byte = (byte & 0x80) ? 0xff : 0;
    r |= byte << (8 * k);
  }
  return r;
}
/// Both as one number of 64 bits.
SIMGPU_INLINE U64 funnel(U32 low, U32 high) {
  return (U64{high} << 32) | low;
}
/// lop3: bit by bit, what the table has at place 4 a + 2 b + c.
SIMGPU_INLINE U32 look_up(U32 a, U32 b, U32 c, U32 table) {
  U32 r = 0;
  for (unsigned k = 0; k < 8; ++k) {
    const U32 term = ((k & 4) ? a : ~a) & ((k & 2) ? b : ~b) & ((k & 1) ? c : ~c);
    r |= (table >> k) & 1u ? term : 0u;
  }
  return r;
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
      x = static_cast<U>(op.y == 2 ? product(a[i], b[i]) : high_product(a[i], b[i]));
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

template <class T>
using Ours = std::bool_constant<std::is_integral_v<T> || std::is_same_v<T, P>>;
#include "common/simgpu/exec/kernels/rows.inc"

}  // namespace

void fill_integer(HandlerTable& t) {
  fill_rows(t);
  Handler* h = t.alu[idx(Alu::add_carry)];
  h[idx(Ty::u32)] = carry<U32>;
  h[idx(Ty::s32)] = carry<I32>;
  h[idx(Ty::u64)] = carry<U64>;
  h[idx(Ty::s64)] = carry<I64>;
}

}  // namespace simgpu::exec::kernels
