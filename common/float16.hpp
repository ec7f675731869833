// The host's 16-bit element types, half (IEEE 754 binary16) and bfloat16, without CUDA headers.
//
// Both hold just the bits, so a HostMatrix<Half> has the same layout as a matrix of __half on the
// device, and a HostMatrix<BFloat16> the same as one of __nv_bfloat16: copying bytes is enough.
// These types only store; arithmetic is done in float or double. C++17, for .cu files as well.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace float16 {

/// `value` rounded once to a 16-bit format: to nearest, ties to even, subnormals included. Overflow
/// gives infinity, NaN a quiet NaN. Assumes the default rounding mode of the host.
template <int ExponentBits, int FractionBits>
std::uint16_t rounded(double value) {
  static_assert(ExponentBits + FractionBits == 15, "one bit is the sign");
  constexpr int bias = (1 << (ExponentBits - 1)) - 1;
  constexpr int infinity = ((1 << ExponentBits) - 1) << FractionBits;
  const int sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return static_cast<std::uint16_t>(sign | infinity | 1 << (FractionBits - 1));
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return static_cast<std::uint16_t>(sign);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // 2^(exponent - 1) <= magnitude < 2^exponent
  // Subnormal numbers share the smallest exponent.
  const int lead = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
  if (lead > bias) return static_cast<std::uint16_t>(sign | infinity);
  // In units of the last place, so at most 2^(FractionBits + 1). A carry goes into the exponent,
  // and turns the largest number into infinity.
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, FractionBits - lead)));
  return static_cast<std::uint16_t>(sign | (((lead + bias - 1) << FractionBits) + units));
}

}  // namespace float16

/// The value of type T that has these bits.
template <typename T, typename Bits>
T of_bits(Bits bits) {
  static_assert(sizeof(T) == sizeof(Bits));
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// IEEE 754 binary16: 11 significant bits, largest finite value 65504. Bit for bit a __half.
struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  explicit Half(double value) : bits(float16::rounded<5, 10>(value)) {}

  explicit operator float() const {
    const std::uint32_t sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;
    if (rest >= 0x7c00u) return of_bits<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    // Shifting leaves the exponent too small by 112. The product is exact, for subnormals as well.
    const float magnitude = of_bits<float>(rest << 13) * 0x1p112f;
    return sign != 0 ? -magnitude : magnitude;
  }
  explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
};

/// The upper half of a float: 8 significant bits, the range of float. Bit for bit a __nv_bfloat16.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(double value) : bits(float16::rounded<8, 7>(value)) {}

  explicit operator float() const { return of_bits<float>(static_cast<std::uint32_t>(bits) << 16); }
  explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
};

static_assert(sizeof(Half) == 2 && alignof(Half) == 2 && std::is_trivially_copyable_v<Half>);
static_assert(sizeof(BFloat16) == 2 && alignof(BFloat16) == 2 &&
              std::is_trivially_copyable_v<BFloat16>);

template <typename T>
inline constexpr bool is_float16 = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// float, double, Half, BFloat16: types whose sums round.
template <typename T>
inline constexpr bool is_real = std::is_floating_point_v<T> || is_float16<T>;

/// The element type of C for operands of type T: float for 16-bit operands, else T itself.
template <typename T>
using ResultOf = std::conditional_t<is_float16<T>, float, T>;

/// Significant bits, the hidden one included: 11, 8, 24, 53; 31 for int32.
template <typename T>
constexpr int significant_bits() {
  return std::is_same_v<T, Half>       ? 11
         : std::is_same_v<T, BFloat16> ? 8
                                       : std::numeric_limits<T>::digits;
}
