// Arithmetic of 16-bit formats and of pairs of them: what the rows of instructions.inc call with F16
// and BF16 (PTX ISA 9.7.4, 9.7.7). Results are worked out in double and rounded once, to nearest
// even. Sums, differences and products of two f16 or bf16 numbers are exact in double or so close
// that the second rounding cannot matter; the sum of an fma is not, and is rounded to odd there.
#include <bit>
#include <cmath>
#include <cstdint>

#include "common/simgpu/exec/kernels/rows.hpp"

namespace simgpu::exec::kernels {
namespace {

SIMGPU_INLINE double sum(double a, double b) {
  return a + b;
}
SIMGPU_INLINE double difference(double a, double b) {
  return a - b;
}
SIMGPU_INLINE double product(double a, double b) {
  return a * b;
}
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

SIMGPU_INLINE double not_below_zero(double v) {
  return v < 0 ? 0.0 : v;
}
SIMGPU_INLINE double rounded(double, double v) {
  return v;  // by the conversion to the format
}
SIMGPU_INLINE double quiet_nan(double) {
  return std::bit_cast<double>(0x7ff8000000000000ull);
}
SIMGPU_INLINE bool less(double a, double b) {  // -0 is less than +0
  return a < b ||
         (a == b && std::bit_cast<std::int64_t>(a) < 0 && std::bit_cast<std::int64_t>(b) >= 0);
}
/// One NaN: the other operand. Two: NaN.
SIMGPU_INLINE double least(double a, double b) {
  return a != a ? b : b != b ? a : less(b, a) ? b : a;
}
SIMGPU_INLINE double greatest(double a, double b) {
  return a != a ? b : b != b ? a : less(a, b) ? b : a;
}
/// .sat: to [0, 1], NaN to +0.
SIMGPU_INLINE double saturated(double a) {
  return !(a > 0) ? 0.0 : a > 1 ? 1.0 : a;
}

// What only looks at bits, and keeps those of a NaN.
template <class Number>
SIMGPU_INLINE Number of_bits(int bits) {
  Number r;
  r.bits = static_cast<U16>(bits);
  return r;
}
template <class Number>
SIMGPU_INLINE Number negative(Number v) {
  return of_bits<Number>(v.bits ^ 0x8000);
}
template <class Number>
SIMGPU_INLINE Number magnitude(Number v) {
  return of_bits<Number>(v.bits & 0x7fff);
}
/// .ftz: subnormals to a zero of the same sign.
template <class Number>
SIMGPU_INLINE Number flushed(Number v) {
  return of_bits<Number>((v.bits & 0x7fff) < Number::kLeastNormal ? v.bits & 0x8000 : v.bits);
}

template <class T>
using Ours = std::bool_constant<kIsHalf<T> || kIsTwo<T>>;
#include "common/simgpu/exec/kernels/rows.inc"

}  // namespace

void fill_half(HandlerTable& t) {
  fill_rows(t);
}

}  // namespace simgpu::exec::kernels
