// cvt between every pair of the first tier's types: limits, NaN, rounding, saturation.
#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using s128 = __int128;

template <typename T>
constexpr bool is_float = std::is_floating_point_v<T>;

template <typename T>
std::string type_name() {
  const std::string bits = std::to_string(sizeof(T) * 8);
  return (is_float<T> ? "f" : std::is_signed_v<T> ? "s" : "u") + bits;
}

// 8-bit values live in wider registers; a register of 32 bits shows whether the rest is extended.
template <typename T>
using Held =
    std::conditional_t<sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, s32, u32>, T>;

template <typename From, typename To>
void between_integers() {
  const std::string types = type_name<To>() + "." + type_name<From>();
  check("cvt." + types,
        [](Held<From> a) { return static_cast<Held<To>>(static_cast<To>(static_cast<From>(a))); });
  // .sat is legal only where the destination cannot hold every value of the source.
  using Low = std::numeric_limits<To>;
  if (s128{Low::min()} <= std::numeric_limits<From>::min() &&
      s128{Low::max()} >= std::numeric_limits<From>::max()) {
    return;
  }
  check("cvt.sat." + types, [](Held<From> a) {
    const s128 v = static_cast<From>(a);
    const s128 low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
    return static_cast<Held<To>>(static_cast<To>(v < low ? low : v > high ? high : v));
  });
}

template <typename From>
void from_integer() {
  between_integers<From, u8>();
  between_integers<From, s8>();
  between_integers<From, u16>();
  between_integers<From, s16>();
  between_integers<From, u32>();
  between_integers<From, s32>();
  between_integers<From, u64>();
  between_integers<From, s64>();
}

TEST_CASE("cvt between integers: truncation, extension, saturation", "[opcode][convert]") {
  from_integer<u8>();
  from_integer<s8>();
  from_integer<u16>();
  from_integer<s16>();
  from_integer<u32>();
  from_integer<s32>();
  from_integer<u64>();
  from_integer<s64>();
}

TEST_CASE("cvt into a register wider than the type extends by the type's sign",
          "[opcode][convert]") {
  check("cvt.s8.s32", [](s32 a) { return static_cast<s64>(static_cast<s8>(a)); });
  check("cvt.u8.s32", [](s32 a) { return static_cast<u64>(static_cast<u8>(a)); });
  check("cvt.s16.s32", [](s32 a) { return static_cast<s32>(static_cast<s16>(a)); });
  check("cvt.u16.u32", [](u32 a) { return static_cast<u32>(static_cast<u16>(a)); });
  check("cvt.s32.s8", [](s16 a) { return static_cast<s32>(static_cast<s8>(a)); });
  check("cvt.u32.u8", [](u16 a) { return static_cast<u32>(static_cast<u8>(a)); });
}

template <int Mode, typename To, typename From>
To convert(From a) {
  // clang makes 0 of a u64 by a subtraction, which downward gives -0.
  if constexpr (std::is_integral_v<From>)
    if (a == 0) return To{0};
  volatile From v = a;
  const int before = std::fegetround();
  std::fesetround(Mode);
  volatile To r = static_cast<To>(v);
  std::fesetround(before);
  return r;
}

template <typename From, typename To>
void integer_to_float() {
  const std::string types = "." + type_name<To>() + "." + type_name<From>();
  check("cvt.rn" + types,
        [](Held<From> a) { return convert<FE_TONEAREST, To>(static_cast<From>(a)); });
  check("cvt.rz" + types,
        [](Held<From> a) { return convert<FE_TOWARDZERO, To>(static_cast<From>(a)); });
  check("cvt.rm" + types,
        [](Held<From> a) { return convert<FE_DOWNWARD, To>(static_cast<From>(a)); });
  check("cvt.rp" + types,
        [](Held<From> a) { return convert<FE_UPWARD, To>(static_cast<From>(a)); });
}

TEST_CASE("cvt from integers to floating point in every rounding mode", "[opcode][convert]") {
  integer_to_float<s8, float>();
  integer_to_float<u8, float>();
  integer_to_float<s16, float>();
  integer_to_float<u16, float>();
  integer_to_float<s32, float>();
  integer_to_float<u32, float>();
  integer_to_float<s64, float>();
  integer_to_float<u64, float>();
  integer_to_float<u8, double>();
  integer_to_float<s16, double>();
  integer_to_float<s32, double>();
  integer_to_float<u32, double>();
  integer_to_float<s64, double>();
  integer_to_float<u64, double>();
}

// PTX ISA 9.0, cvt: out of range values clamp to the destination's range. NaN gives 0 for a source
// other than f64 and a destination other than s64/u64, else the value with only the top bit set.
template <typename To, typename From>
To to_integer(From whole) {
  if (std::isnan(whole)) {
    return sizeof(From) < 8 && sizeof(To) < 8 ? To{0}
                                              : static_cast<To>(u64{1} << (sizeof(To) * 8 - 1));
  }
  const From low = static_cast<From>(std::numeric_limits<To>::min());
  const From beyond = std::ldexp(From{1}, std::numeric_limits<To>::digits);  // max + 1, exact
  if (whole < low) return std::numeric_limits<To>::min();
  if (whole >= beyond) return std::numeric_limits<To>::max();
  return static_cast<To>(whole);
}

template <typename From>
From nearest_even(From a) {
  From whole = std::floor(a);
  const From rest = a - whole;
  if (rest > From{0.5} || (rest == From{0.5} && std::fmod(whole, From{2}) != 0)) whole += 1;
  return whole;
}

template <typename From, typename To>
void float_to_integer() {
  const std::string types = "." + type_name<To>() + "." + type_name<From>();
  check("cvt.rzi" + types,
        [](From a) { return static_cast<Held<To>>(to_integer<To>(std::trunc(a))); });
  check("cvt.rmi" + types,
        [](From a) { return static_cast<Held<To>>(to_integer<To>(std::floor(a))); });
  check("cvt.rpi" + types,
        [](From a) { return static_cast<Held<To>>(to_integer<To>(std::ceil(a))); });
  check("cvt.rni" + types,
        [](From a) { return static_cast<Held<To>>(to_integer<To>(nearest_even(a))); });
}

TEST_CASE("cvt from floating point to integers: clamped, NaN, every rounding",
          "[opcode][convert]") {
  float_to_integer<float, s32>();
  float_to_integer<float, u32>();
  float_to_integer<float, s64>();
  float_to_integer<float, u64>();
  float_to_integer<float, s16>();
  float_to_integer<float, u16>();
  float_to_integer<double, s32>();
  float_to_integer<double, u32>();
  float_to_integer<double, s64>();
  float_to_integer<double, u64>();
  float_to_integer<double, s16>();
  float_to_integer<double, u16>();
  float_to_integer<float, s8>();
  float_to_integer<float, u8>();
}

TEST_CASE("cvt between f32 and f64", "[opcode][convert]") {
  check("cvt.f64.f32", [](float a) { return static_cast<double>(a); });
  check("cvt.rn.f32.f64", [](double a) { return convert<FE_TONEAREST, float>(a); });
  check("cvt.rz.f32.f64", [](double a) { return convert<FE_TOWARDZERO, float>(a); });
  check("cvt.rm.f32.f64", [](double a) { return convert<FE_DOWNWARD, float>(a); });
  check("cvt.rp.f32.f64", [](double a) { return convert<FE_UPWARD, float>(a); });
}

TEST_CASE("cvt that rounds to a whole floating-point number", "[opcode][convert]") {
  check("cvt.rni.f32.f32", [](float a) { return std::copysign(nearest_even(a), a); });
  check("cvt.rzi.f32.f32", [](float a) { return std::trunc(a); });
  check("cvt.rmi.f32.f32", [](float a) { return std::floor(a); });
  check("cvt.rpi.f32.f32", [](float a) { return std::ceil(a); });
  check("cvt.rni.f64.f64", [](double a) { return std::copysign(nearest_even(a), a); });
  check("cvt.rzi.f64.f64", [](double a) { return std::trunc(a); });
  check("cvt.rmi.f64.f64", [](double a) { return std::floor(a); });
  check("cvt.rpi.f64.f64", [](double a) { return std::ceil(a); });
}

TEST_CASE("cvt with sat and ftz", "[opcode][convert]") {
  const auto flushed = [](float a) {
    return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a;
  };
  static const auto flush = flushed;
  check("cvt.sat.f32.f32", [](float a) { return !(a > 0.0f) ? 0.0f : a > 1.0f ? 1.0f : a; });
  check("cvt.ftz.f32.f32", [](float a) { return flush(a); });
  check("cvt.rn.sat.f32.f64", [](double a) {
    return !(a > 0.0) ? 0.0f : a > 1.0 ? 1.0f : static_cast<float>(a);
  });
  check("cvt.ftz.f64.f32", [](float a) { return static_cast<double>(flush(a)); });
  check("cvt.rn.ftz.f32.f64", [](double a) { return flush(static_cast<float>(a)); });
  check("cvt.rpi.ftz.s32.f32", [](float a) { return to_integer<s32>(std::ceil(flush(a))); });
  check("cvt.rzi.sat.s32.f32", [](float a) { return to_integer<s32>(std::trunc(a)); });
}

}  // namespace
}  // namespace simgpu::test
