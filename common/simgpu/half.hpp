// IEEE binary16 and bfloat16 <-> float and double, in plain integer arithmetic. The `_lane`
// functions have no branches, so that loops over lanes become vector code; they round to nearest
// even. NaN results are the canonical 0x7fff.
#pragma once

#include <bit>
#include <cstdint>

namespace simgpu {

inline float half_to_float(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t exponent = (h >> 10) & 0x1fu, fraction = h & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // exact
  return sign != 0 ? -magnitude : magnitude;
}

/// Rounds the exact value `v` once. mode: 0 nearest even, 1 toward zero, 2 down, 3 up.
template <unsigned kFractionBits, int kMinExponent, int kMaxExponent>
inline std::uint16_t round_to_16(double v, int mode) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(v);
  const std::uint16_t sign = static_cast<std::uint16_t>((bits >> 48) & 0x8000u);
  constexpr unsigned kBits = kFractionBits;
  constexpr std::uint16_t kInfinity = static_cast<std::uint16_t>(0x7fffu & ~((1u << kBits) - 1));
  if (v != v) return 0x7fff;
  const std::uint64_t magnitude = bits & 0x7fffffffffffffffull;
  if (magnitude == 0x7ff0000000000000ull) return static_cast<std::uint16_t>(sign | kInfinity);
  if (magnitude == 0) return sign;
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  std::uint64_t significand = (magnitude & 0xfffffffffffffull) | (1ull << 52);
  if ((magnitude >> 52) == 0)
    return sign;  // a double subnormal is far below any 16-bit value's half unit
  // Units in the last place of the result: 2^(e - kBits), not below the subnormals' unit.
  const int unit = (exponent < kMinExponent ? kMinExponent : exponent) - static_cast<int>(kBits);
  const int shift = 52 - exponent + unit;
  std::uint64_t kept, rest, half;
  if (shift >= 63) {
    kept = 0;
    rest = 1;
    half = 2;
  } else {
    kept = significand >> shift;
    rest = significand & ((1ull << shift) - 1);
    half = 1ull << (shift - 1);
  }
  bool up = false;
  if (mode == 0)
    up = rest > half || (rest == half && (kept & 1));
  else if (mode == 2)
    up = rest != 0 && sign != 0;
  else if (mode == 3)
    up = rest != 0 && sign == 0;
  kept += up ? 1 : 0;
  // kept counts units: a normal number has its hidden bit at kBits; carries propagate into the
  // exponent.
  const int biased = exponent < kMinExponent ? 0 : exponent - kMinExponent;
  const std::uint64_t result = kept + (static_cast<std::uint64_t>(biased) << kBits);
  if (exponent > kMaxExponent || result >= kInfinity) {
    const bool to_infinity = mode == 0 || (mode == 2 && sign != 0) || (mode == 3 && sign == 0);
    return static_cast<std::uint16_t>(sign | (to_infinity ? kInfinity : kInfinity - 1));
  }
  return static_cast<std::uint16_t>(sign | result);
}

inline std::uint16_t to_half(double v, int mode = 0) {
  return round_to_16<10, -14, 15>(v, mode);
}
inline std::uint16_t to_bfloat(double v, int mode = 0) {
  return round_to_16<7, -126, 127>(v, mode);
}
inline float bfloat_to_float(std::uint16_t b) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16);
}

[[gnu::always_inline]] inline float half_to_float_lane(std::uint16_t h) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(h & 0x7fffu) << 13;
  // The exponent's bias differs by 112; a multiplication also makes subnormals normal.
  const std::uint32_t scaled =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const std::uint32_t special = (h & 0x7fffu) >= 0x7c00u ? 0x7f800000u : 0u;
  return std::bit_cast<float>(scaled | special | (static_cast<std::uint32_t>(h & 0x8000u) << 16));
}

/// The float next to `v` that keeps, in its last bit, whether anything was cut off (round to odd):
/// rounding it again, to at most 22 bits, gives what rounding `v` once gives.
[[gnu::always_inline]] inline float to_odd_float(double v) {
  const float near = static_cast<float>(v);
  const double back = static_cast<double>(near);
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(near);
  const bool above = v > back, below = v < back;
  const bool even = (bits & 1u) == 0;
  const bool away = (bits >> 31) != 0 ? below : above;  // v is further from 0 than `near`
  const std::uint32_t step = away ? 1u : 0xffffffffu;
  return std::bit_cast<float>(bits + (((above | below) & even) ? step : 0u));
}

[[gnu::always_inline]] inline std::uint16_t float_to_half_lane(float v) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(v);
  const std::uint32_t sign = (bits >> 16) & 0x8000u, f = bits & 0x7fffffffu;
  const std::uint32_t normal = (f - (112u << 23) + 0xfffu + ((f >> 13) & 1u)) >> 13;
  // Below 2^-14 results are multiples of 2^-24, which is the last place of 0.5.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(f) + 0.5f) - 0x3f000000u;
  const std::uint32_t special = f > 0x7f800000u ? 0x7fffu : 0x7c00u;
  const std::uint32_t finite = f < 0x38800000u ? subnormal : normal;
  const std::uint32_t r = f >= 0x47800000u ? special : finite;
  return static_cast<std::uint16_t>(r | (f > 0x7f800000u ? 0u : sign));
}
[[gnu::always_inline]] inline std::uint16_t float_to_bfloat_lane(float v) {
  const std::uint32_t f = std::bit_cast<std::uint32_t>(v);
  const std::uint32_t r = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
  return static_cast<std::uint16_t>((f & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : r);
}

}  // namespace simgpu
