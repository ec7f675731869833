// Conversions of 16-bit floating-point formats by integer arithmetic: what host code uses.
#pragma once
#pragma GCC system_header

#include "attributes.h"

#if defined(__CUDA__)
#define __SIMGPU_HALF_MEMBER __attribute__((host, device, nodebug, always_inline))
#else
#define __SIMGPU_HALF_MEMBER
#endif

__SIMGPU_BOTH float __simgpu_float_of_bits(unsigned int bits) {
  float v;
  __builtin_memcpy(&v, &bits, 4);
  return v;
}
__SIMGPU_BOTH unsigned int __simgpu_bits_of_float(float v) {
  unsigned int bits;
  __builtin_memcpy(&bits, &v, 4);
  return bits;
}

__SIMGPU_BOTH float __simgpu_half_to_float(unsigned short h) {
  const unsigned int sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
  if (rest >= 0x7c00u) return __simgpu_float_of_bits(sign | 0x7f800000u | (rest << 13));
  // 2^112 is the difference of the exponents' biases; exact for subnormals too.
  const float magnitude = __simgpu_float_of_bits(rest << 13) * 0x1p112f;
  return __simgpu_float_of_bits(sign | __simgpu_bits_of_float(magnitude));
}
__SIMGPU_BOTH float __simgpu_bfloat16_to_float(unsigned short b) {
  return __simgpu_float_of_bits(static_cast<unsigned int>(b) << 16);
}

/// Rounds once. mode: 0 to nearest even, 1 toward zero, 2 down, 3 up. kBits: fraction bits of the
/// format, kLeast: exponent of its smallest normal number, kMost: of its largest.
template <int kBits, int kLeast, int kMost>
__SIMGPU_BOTH unsigned short __simgpu_round_to_16(double v, int mode) {
  unsigned long long bits;
  __builtin_memcpy(&bits, &v, 8);
  const unsigned int sign = static_cast<unsigned int>(bits >> 48) & 0x8000u;
  const unsigned int infinity = 0x8000u - (1u << kBits);
  const unsigned long long magnitude = bits & 0x7fffffffffffffffull;
  if (magnitude > 0x7ff0000000000000ull) return 0x7fff;
  if (magnitude == 0x7ff0000000000000ull) return static_cast<unsigned short>(sign | infinity);
  if (magnitude == 0) return static_cast<unsigned short>(sign);
  const bool up_mode = (mode == 2 && sign != 0) || (mode == 3 && sign == 0);
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  const unsigned long long significand = (magnitude & 0xfffffffffffffull) | (1ull << 52);
  const int place = (exponent < kLeast ? kLeast : exponent) - kBits;  // of the last bit
  const int shift = 52 - exponent + place;
  unsigned long long kept = 0, rest = 1, tie = 2;
  if (shift < 62) {
    kept = significand >> shift;
    rest = significand & ((1ull << shift) - 1);
    tie = 1ull << (shift - 1);
  }
  if (mode == 0 ? rest > tie || (rest == tie && (kept & 1) != 0) : up_mode && rest != 0) ++kept;
  const unsigned long long biased =
      exponent < kLeast ? 0 : static_cast<unsigned long long>(exponent - kLeast);
  const unsigned long long result = kept + (biased << kBits);
  if (exponent > kMost || result >= infinity)
    return static_cast<unsigned short>(sign | (mode == 0 || up_mode ? infinity : infinity - 1));
  return static_cast<unsigned short>(sign | static_cast<unsigned int>(result));
}
__SIMGPU_BOTH unsigned short __simgpu_half_from_double(double v, int mode) {
  return __simgpu_round_to_16<10, -14, 15>(v, mode);
}
__SIMGPU_BOTH unsigned short __simgpu_bfloat16_from_double(double v, int mode) {
  return __simgpu_round_to_16<7, -126, 127>(v, mode);
}

/// a * b + c with one rounding. The product is exact in double; so is the sum for half.
__SIMGPU_BOTH double __simgpu_half_fma(double a, double b, double c) {
  return a * b + c;
}
/// The sum is rounded to odd, so that rounding it again gives what one rounding gives.
__SIMGPU_BOTH double __simgpu_bfloat16_fma(double a, double b, double c) {
  const volatile double p = a * b, s = p + c, z = s - p;  // volatile: no step may be fused
  const volatile double x = s - z, y = c - z, e = p - x;
  const double rest = e + y, sum = s;
  unsigned long long bits;
  __builtin_memcpy(&bits, &sum, 8);
  if ((rest > 0 || rest < 0) && (bits & 1) == 0) bits += (rest > 0) == (sum > 0) ? 1 : -1;
  double odd;
  __builtin_memcpy(&odd, &bits, 8);
  return odd;
}
