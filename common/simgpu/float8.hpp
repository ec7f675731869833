// The 8-bit floating-point formats e4m3 and e5m2 (OCP 8-bit Floating Point Specification 1.0; PTX ISA
// 5.2.3). e4m3 has no infinities and one NaN for each sign; e5m2 is as IEEE's formats.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "common/simgpu/half.hpp"

namespace simgpu {

inline float e5m2_to_float(std::uint8_t v) {
  return half_to_float(static_cast<std::uint16_t>(v << 8));  // the upper half of a binary16
}
inline float e4m3_to_float(std::uint8_t v) {
  const std::uint32_t sign = std::uint32_t{v & 0x80u} << 24;
  const std::uint32_t exponent = v >> 3 & 15u, fraction = v & 7u;
  if ((v & 0x7f) == 0x7f) return std::bit_cast<float>(sign | 0x7fffffffu);
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-9f;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 120) << 23 | fraction << 20);
}

/// All 256 values of a format: [0] e4m3, [1] e5m2.
inline const std::array<float, 256>& float8_values(bool e5m2) {
  static const auto tables = [] {
    std::array<std::array<float, 256>, 2> t{};
    for (unsigned v = 0; v < 256; ++v) {
      t[0][v] = e4m3_to_float(static_cast<std::uint8_t>(v));
      t[1][v] = e5m2_to_float(static_cast<std::uint8_t>(v));
    }
    return t;
  }();
  return tables[e5m2 ? 1 : 0];
}

/// cvt.rn.satfinite: to nearest, ties to even; what is too large becomes the largest finite value.
inline std::uint8_t to_float8(double v, bool e5m2) {
  const unsigned sign = static_cast<unsigned>(std::bit_cast<std::uint64_t>(v) >> 56) & 0x80u;
  if (v != v) return 0x7f;
  const double magnitude = v < 0 ? -v : v;
  const unsigned largest = e5m2 ? 0x7b : 0x7e;
  // Values grow with their bits: the one below, and the next.
  const std::array<float, 256>& values = float8_values(e5m2);
  unsigned below = 0, above = largest;
  if (magnitude >= static_cast<double>(values[largest]))
    return static_cast<std::uint8_t>(sign | largest);
  while (above - below > 1) {
    const unsigned middle = (above + below) / 2;
    (static_cast<double>(values[middle]) <= magnitude ? below : above) = middle;
  }
  const double down = magnitude - static_cast<double>(values[below]),
               up = static_cast<double>(values[above]) - magnitude;
  const bool takes_above = up < down || (up == down && (above & 1u) == 0);
  return static_cast<std::uint8_t>(sign | (takes_above ? above : below));
}

}  // namespace simgpu
