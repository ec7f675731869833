// Floating-point arithmetic: what the rows of instructions.inc call with 32- and 64-bit numbers (PTX
// ISA 9.7.3 - 9.7.5). The default rounding is to nearest even; the directed modes run the same loops
// under another rounding mode of the host (see wrappers.cpp). NaN results of 32-bit operations are
// the canonical 0x7fffffff, as on hardware, which also makes x86-64 and arm64 agree bit for bit.
#include <bit>
#include <cmath>
#include <cstdint>

#include "common/simgpu/exec/kernels/float_sums.hpp"
#include "common/simgpu/exec/kernels/rows.hpp"

namespace simgpu::exec::kernels {
namespace {

using floats::canonical;
using floats::multiply_add;

template <class T>
SIMGPU_INLINE T sum(T a, T b) {
  return canonical(a + b);
}
template <class T>
SIMGPU_INLINE T difference(T a, T b) {
  return canonical(a - b);
}
template <class T>
SIMGPU_INLINE T product(T a, T b) {
  return canonical(a * b);
}
template <class T>
SIMGPU_INLINE T quotient(T a, T b) {
  return canonical(a / b);
}
/// The approximate functions: rounded from a double, closer than any hardware's.
SIMGPU_INLINE float rounded(float, double v) {
  return canonical(static_cast<float>(v));
}
SIMGPU_INLINE double rounded(double, double v) {
  return v;
}
template <class T>
SIMGPU_INLINE bool below(T a, T b) {  // -0 is less than +0
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}
SIMGPU_INLINE float quiet_nan(float) {
  return std::bit_cast<float>(0x7fffffffu);
}
SIMGPU_INLINE double quiet_nan(double) {
  return std::bit_cast<double>(0x7fffffffffffffffull);
}
/// One NaN: the other operand. Two: NaN.
template <class T>
SIMGPU_INLINE T least(T a, T b) {
  return a != a ? (b != b ? quiet_nan(a) : b) : b != b ? a : below(b, a) ? b : a;
}
template <class T>
SIMGPU_INLINE T greatest(T a, T b) {
  return a != a ? (b != b ? quiet_nan(a) : b) : b != b ? a : below(a, b) ? b : a;
}
template <class T>
SIMGPU_INLINE T negative(T a) {
  return -a;
}
template <class T>
SIMGPU_INLINE T magnitude(T a) {
  return std::fabs(a);
}
/// .sat: to [0, 1], NaN and -0 to +0.
template <class T>
SIMGPU_INLINE T saturated(T a) {
  return a != a ? T{0} : a < T{0} ? T{0} : a > T{1} ? T{1} : a == T{0} ? T{0} : a;
}
/// .ftz: subnormals to a zero of the same sign.
SIMGPU_INLINE float flushed(float a) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(a);
  return (bits & 0x7f800000u) == 0 ? std::bit_cast<float>(bits & 0x80000000u) : a;
}

template <class T>
using Ours = std::is_floating_point<T>;
#include "common/simgpu/exec/kernels/rows.inc"

}  // namespace

void fill_float(HandlerTable& t) {
  fill_rows(t);
}

}  // namespace simgpu::exec::kernels
