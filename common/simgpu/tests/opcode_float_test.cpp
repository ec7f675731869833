// Floating-point arithmetic: every rounding mode, ftz, sat, NaN and signed zeros, against the
// host's IEEE arithmetic with its rounding mode switched.
#include <cfenv>
#include <cmath>
#include <limits>

#include "common/catch2.hpp"
#include "common/simgpu/tests/harness.hpp"

namespace simgpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// One operation under a rounding mode. The volatiles keep the compiler from folding or moving it.
template <int Mode, typename T, typename Operation>
T rounded(Operation operation, T a, T b = T{}, T c = T{}) {
  volatile T x = a, y = b, z = c;
  const int before = std::fegetround();
  std::fesetround(Mode);
  volatile T result = operation(x, y, z);
  std::fesetround(before);
  return result;
}

template <typename T>
T flush(T v) {
  return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(T{0}, v) : v;
}
float saturate(float v) {
  return !(v > 0.0f) ? 0.0f : v > 1.0f ? 1.0f : v;
}  // NaN and -0 give +0

template <typename T>
T plus(T a, T b, T) {
  return a + b;
}
template <typename T>
T minus(T a, T b, T) {
  return a - b;
}
template <typename T>
T times(T a, T b, T) {
  return a * b;
}
template <typename T>
T over(T a, T b, T) {
  return a / b;
}
template <typename T>
T fused(T a, T b, T c) {
  return std::fma(a, b, c);
}
template <typename T>
T root(T a, T, T) {
  return std::sqrt(a);
}

template <typename T, int Mode>
void arithmetic(const std::string& rounding, const std::string& type) {
  const std::string suffix = rounding + type;
  check("add" + suffix, [](T a, T b) { return rounded<Mode>(plus<T>, a, b); });
  check("sub" + suffix, [](T a, T b) { return rounded<Mode>(minus<T>, a, b); });
  check("mul" + suffix, [](T a, T b) { return rounded<Mode>(times<T>, a, b); });
  if (rounding.empty()) return;  // fma, div, sqrt and rcp need a rounding mode
  check("fma" + suffix, [](T a, T b, T c) { return rounded<Mode>(fused<T>, a, b, c); });
  check("mad" + suffix, [](T a, T b, T c) { return rounded<Mode>(fused<T>, a, b, c); });
  check("div" + suffix, [](T a, T b) { return rounded<Mode>(over<T>, a, b); });
  check("sqrt" + suffix, [](T a) { return rounded<Mode>(root<T>, a); });
  check("rcp" + suffix, [](T a) { return rounded<Mode>(over<T>, T{1}, a); });
}

TEST_CASE("f32 arithmetic in every rounding mode", "[opcode][float]") {
  arithmetic<float, FE_TONEAREST>("", ".f32");
  arithmetic<float, FE_TONEAREST>(".rn", ".f32");
  arithmetic<float, FE_TOWARDZERO>(".rz", ".f32");
  arithmetic<float, FE_DOWNWARD>(".rm", ".f32");
  arithmetic<float, FE_UPWARD>(".rp", ".f32");
}

TEST_CASE("f64 arithmetic in every rounding mode", "[opcode][float]") {
  arithmetic<double, FE_TONEAREST>("", ".f64");
  arithmetic<double, FE_TONEAREST>(".rn", ".f64");
  arithmetic<double, FE_TOWARDZERO>(".rz", ".f64");
  arithmetic<double, FE_DOWNWARD>(".rm", ".f64");
  arithmetic<double, FE_UPWARD>(".rp", ".f64");
}

TEST_CASE("f32 with subnormals flushed", "[opcode][float]") {
  check("add.ftz.f32", [](float a, float b) { return flush(flush(a) + flush(b)); });
  check("sub.rn.ftz.f32", [](float a, float b) { return flush(flush(a) - flush(b)); });
  // Hardware decides before rounding whether a result is subnormal, so a product just under the
  // smallest normal number gives 0 there and that number by rounding first: either is accepted
  // here.
  FormOptions off_border;
  off_border.accept = [](const u64* in) {
    return std::fabs(from_slot<float>(in[0]) * from_slot<float>(in[1])) !=
           std::numeric_limits<float>::min();
  };
  check(
      "mul.rn.ftz.f32", [](float a, float b) { return flush(flush(a) * flush(b)); }, off_border);
  check(
      "fma.rn.ftz.f32",
      [](float a, float b, float c) { return flush(std::fma(flush(a), flush(b), flush(c))); },
      off_border);
  check("div.rn.ftz.f32", [](float a, float b) { return flush(flush(a) / flush(b)); });
  check("sqrt.rn.ftz.f32", [](float a) { return flush(std::sqrt(flush(a))); });
  check("abs.ftz.f32", [](float a) { return std::fabs(flush(a)); });
  check("neg.ftz.f32", [](float a) { return -flush(a); });
}

TEST_CASE("f32 saturated to [0, 1]", "[opcode][float]") {
  check("add.sat.f32", [](float a, float b) { return saturate(a + b); });
  check("sub.sat.f32", [](float a, float b) { return saturate(a - b); });
  check("mul.rn.sat.f32", [](float a, float b) { return saturate(a * b); });
  check("fma.rn.sat.f32", [](float a, float b, float c) { return saturate(std::fma(a, b, c)); });
  check("add.ftz.sat.f32", [](float a, float b) { return saturate(flush(flush(a) + flush(b))); });
}

TEST_CASE("sign operations", "[opcode][float]") {
  check("abs.f32", [](float a) { return std::fabs(a); });
  check("abs.f64", [](double a) { return std::fabs(a); });
  check("neg.f32", [](float a) { return -a; });
  check("neg.f64", [](double a) { return -a; });
  // PTX: the sign of the first operand on the second.
  check("copysign.f32", [](float a, float b) { return std::copysign(b, a); });
  check("copysign.f64", [](double a, double b) { return std::copysign(b, a); });
}

// A single NaN loses, two give NaN; -0 is less than +0.
template <typename T>
T minimum(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename T>
T maximum(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

TEST_CASE("min and max with NaN and signed zeros", "[opcode][float]") {
  check("min.f32", [](float a, float b) { return minimum(a, b); });
  check("max.f32", [](float a, float b) { return maximum(a, b); });
  check("min.f64", [](double a, double b) { return minimum(a, b); });
  check("max.f64", [](double a, double b) { return maximum(a, b); });
  check("min.ftz.f32", [](float a, float b) { return minimum(flush(a), flush(b)); });
  check("max.ftz.f32", [](float a, float b) { return maximum(flush(a), flush(b)); });
  check("min.NaN.f32", [](float a, float b) {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<float>::quiet_NaN() : minimum(a, b);
  });
  check("max.NaN.f32", [](float a, float b) {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<float>::quiet_NaN() : maximum(a, b);
  });
}

// Zeros count as normal.
TEST_CASE("testp", "[opcode][float]") {
  check("testp.finite.f32", [](float a) { return static_cast<bool>(std::isfinite(a)); });
  check("testp.infinite.f32", [](float a) { return static_cast<bool>(std::isinf(a)); });
  check("testp.number.f32", [](float a) { return !std::isnan(a); });
  check("testp.notanumber.f32", [](float a) { return static_cast<bool>(std::isnan(a)); });
  check("testp.normal.f32", [](float a) { return std::isnormal(a) || a == 0; });
  check("testp.subnormal.f32", [](float a) { return std::fpclassify(a) == FP_SUBNORMAL; });
  check("testp.finite.f64", [](double a) { return static_cast<bool>(std::isfinite(a)); });
  check("testp.infinite.f64", [](double a) { return static_cast<bool>(std::isinf(a)); });
  check("testp.number.f64", [](double a) { return !std::isnan(a); });
  check("testp.notanumber.f64", [](double a) { return static_cast<bool>(std::isnan(a)); });
  check("testp.normal.f64", [](double a) { return std::isnormal(a) || a == 0; });
  check("testp.subnormal.f64", [](double a) { return std::fpclassify(a) == FP_SUBNORMAL; });
}

bool moderate(u64 slot, double low, double high) {
  const double v = std::fabs(static_cast<double>(from_slot<float>(slot)));
  return v >= low && v <= high;
}

// Approximate forms: PTX states error bounds (2 ulp for div.full, 1-2 ulp and absolute bounds for
// the others); the simulator may be more exact. Operands stay inside the range for which a bound is
// stated.
TEST_CASE("approximate functions", "[opcode][float]") {
  FormOptions two_ulps;
  two_ulps.ulps = 2;
  two_ulps.accept = [](const u64* in) { return moderate(in[0], 1e-30, 1e30); };
  check(
      "rcp.approx.f32", [](float a) { return 1.0f / a; }, two_ulps);
  check(
      "sqrt.approx.f32", [](float a) { return std::sqrt(a); }, two_ulps);
  check(
      "rsqrt.approx.f32",
      [](float a) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))); },
      two_ulps);
  FormOptions ratio = two_ulps;
  ratio.accept = [](const u64* in) {
    return moderate(in[0], 1e-15, 1e15) && moderate(in[1], 1e-15, 1e15);
  };
  check(
      "div.full.f32", [](float a, float b) { return a / b; }, ratio);
  check(
      "div.approx.f32", [](float a, float b) { return a / b; }, ratio);
  FormOptions exponent = two_ulps;
  exponent.accept = [](const u64* in) { return moderate(in[0], 0, 100); };
  check(
      "ex2.approx.f32",
      [](float a) { return static_cast<float>(std::exp2(static_cast<double>(a))); }, exponent);
  FormOptions logarithm = two_ulps;
  logarithm.accept = [](const u64* in) {
    return moderate(in[0], 3, 1e30);
  };  // relative error off 1 only
  check(
      "lg2.approx.f32",
      [](float a) { return static_cast<float>(std::log2(static_cast<double>(a))); }, logarithm);
  FormOptions reciprocal;
  reciprocal.ulps = 4;
  reciprocal.accept = [](const u64* in) {
    const double v = from_slot<double>(in[0]);
    return v > 1e-200 && v < 1e200;
  };
  check(
      "rsqrt.approx.f64", [](double a) { return 1.0 / std::sqrt(a); },
      [&] {
        auto o = reciprocal;
        o.ulps = 0x1p33;
        return o;
      }());  // a 20-bit approximation is allowed
}

TEST_CASE("special values of approximate functions", "[opcode][float]") {
  FormOptions special;
  special.random_tuples = 0;
  special.accept = [](const u64* in) {
    const float v = from_slot<float>(in[0]);
    return v == 0.0f || std::isinf(v) || std::isnan(v);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  static const float not_a_number = nan;
  check(
      "rcp.approx.f32", [](float a) { return 1.0f / a; }, special);
  check(
      "sqrt.approx.f32", [](float a) { return std::sqrt(a); }, special);
  check(
      "rsqrt.approx.f32",
      [](float a) { return std::signbit(a) && std::isinf(a) ? not_a_number : 1.0f / std::sqrt(a); },
      special);
  check(
      "ex2.approx.f32", [](float a) { return std::exp2(a); }, special);
  check(
      "lg2.approx.f32", [](float a) { return std::log2(a); }, special);
  FormOptions small;
  small.accept = [](const u64* in) { return moderate(in[0], 0, 3.2); };
  small.ulps = 0;
  // Absolute bound 2^-20.5 in [-pi, pi]: compared as a predicate.
  check(
      "{ .reg .f32 s; sin.approx.f32 s, %a; mov.f32 %x, s; }",
      [](float a) { return static_cast<float>(std::sin(static_cast<double>(a))); },
      [&] {
        auto o = small;
        o.ulps = 0x1p31;
        return o;
      }());
  // sin^2 + cos^2 is 1 whatever the implementation.
  check(R"({ .reg .f32 s, c; .reg .pred p; sin.approx.f32 s, %a; cos.approx.f32 c, %a;
           mul.f32 s, s, s; fma.rn.f32 s, c, c, s; add.f32 s, s, 0fBF800000; abs.f32 s, s;
           setp.lt.f32 %x, s, 0f37000000; })",
        [](float) { return true; }, small);
  FormOptions tangent;
  tangent.ulps = 1 << 13;  // relative error 2^-11
  tangent.accept = [](const u64* in) { return moderate(in[0], 1e-3, 20); };
  check(
      "tanh.approx.f32", [](float a) { return std::tanh(a); }, tangent);
}

TEST_CASE("floating-point immediates", "[opcode][float]") {
  check("add.f32 %x, %a, 0f3F800000;", [](float a) { return a + 1.0f; });
  check("mul.f32 %x, %a, 0fC0000000;", [](float a) { return a * -2.0f; });
  check("fma.rn.f32 %x, %a, 0f40000000, 0fBF800000;",
        [](float a) { return std::fma(a, 2.0f, -1.0f); });
  check("add.f64 %x, %a, 0d3FF0000000000000;", [](double a) { return a + 1.0; });
  check("mul.f64 %x, %a, 0dC000000000000000;", [](double a) { return a * -2.0; });
  check("add.f64 %x, %a, 1.5;", [](double a) { return a + 1.5; });
  check("add.f32 %x, %a, 2.5;", [](float a) { return a + 2.5f; });
}

// A kernel's registers may all be .b32/.b64 (clang 22): the instruction's type decides, not the
// register's.
TEST_CASE("floating-point arithmetic in untyped registers", "[opcode][float]") {
  check(
      "{ .reg .b32 t, u, v; mov.b32 u, %a; mov.b32 v, %b; add.f32 t, u, v; mul.f32 t, t, u; "
      "mov.b32 %x, t; }",
      [](u32 a, u32 b) {
        const float x = from_slot<float>(a), y = from_slot<float>(b);
        volatile float sum = x + y;
        return from_slot<float>(to_slot(sum * x));
      });
}

}  // namespace
}  // namespace simgpu::test
