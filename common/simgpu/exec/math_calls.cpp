#include "common/simgpu/exec/math_calls.hpp"

#include <cmath>
#include <limits>

namespace simgpu::exec {
namespace {

constexpr double kPi = 3.14159265358979323846, kRootTwo = 1.41421356237309504880;
constexpr double kRootPi = 1.77245385090551602730;

/// The x with erfc(x) = y, 0 < y < 2, by Newton's method on the logarithm for small y (there erfc
/// falls by orders of magnitude) and on erfc itself otherwise.
double erfc_inverse(double y) {
  if (!(y >= 0.0 && y <= 2.0)) return std::numeric_limits<double>::quiet_NaN();
  if (y == 0.0) return HUGE_VAL;
  if (y == 2.0) return -HUGE_VAL;
  if (y > 1.0) return -erfc_inverse(2.0 - y);
  // erfc(x) is about exp(-x^2) / (x sqrt(pi)).
  double x = y > 0.3 ? (1.0 - y) * kRootPi / 2 : std::sqrt(-std::log(y));
  for (int step = 0; step < 60; ++step) {
    const double at = std::erfc(x), slope = -2.0 / kRootPi * std::exp(-x * x);
    const double next =
        y < 0.1 ? x - (std::log(at) - std::log(y)) * at / slope : x - (at - y) / slope;
    if (std::fabs(next - x) <= 1e-16 * std::fabs(x)) return next;
    x = next;
  }
  return x;
}

/// Near zero from erf, which keeps the digits that 1 - y has lost.
double erf_inverse(double y) {
  if (std::fabs(y) > 0.5) return y > 0 ? erfc_inverse(1.0 - y) : -erfc_inverse(1.0 + y);
  double x = y * kRootPi / 2;
  for (int step = 0; step < 8; ++step) x -= (std::erf(x) - y) * kRootPi / 2 * std::exp(x * x);
  return y == 0.0 ? y : x;
}

/// exp(x^2) erfc(x); beyond 25, where erfc underflows, by its continued fraction.
double erfc_scaled(double x) {
  if (x < 25.0) return std::exp(x * x) * std::erfc(x);
  double fraction = x;
  for (int k = 60; k > 0; --k) fraction = x + 0.5 * k / fraction;
  return 1.0 / (kRootPi * fraction);
}

/// sin(pi x) and cos(pi x): exact reduction first, so that whole and half numbers are exact.
double sin_pi(double x) {
  const double r = std::fmod(x, 2.0);
  if (r == std::trunc(r)) return std::copysign(0.0, x);
  if (std::fabs(r) == 0.5 || std::fabs(r) == 1.5) return (r == 0.5 || r == -1.5) ? 1.0 : -1.0;
  return std::sin(kPi * r);
}
double cos_pi(double x) {
  const double r = std::fabs(std::fmod(x, 2.0));
  if (r == 0.5 || r == 1.5) return 0.0;
  return std::cos(kPi * r);
}

double mantissa(double x) {
  int exponent = 0;
  return std::frexp(x, &exponent);
}
double exponent(double x) {
  int result = 0;
  std::frexp(x, &result);
  return std::isfinite(x) ? result : 0;
}
double quotient(double x, double y) {
  int result = 0;
  std::remquo(x, y, &result);
  return result;
}
/// C leaves the integer open for what has no logarithm; CUDA's are these.
double int_log(double x) {
  if (x == 0.0 || std::isnan(x)) return std::numeric_limits<int>::min();
  return std::isinf(x) ? std::numeric_limits<int>::max() : std::ilogb(x);
}
int whole(double n) {
  return n > 100000 ? 100000 : n < -100000 ? -100000 : static_cast<int>(n);
}

const MathFunction kFunctions[] = {
    {"exp", 1, std::exp, {}},
    {"log", 1, std::log, {}},
    {"log2", 1, std::log2, {}},
    {"log10", 1, std::log10, {}},
    {"sin", 1, std::sin, {}},
    {"cos", 1, std::cos, {}},
    {"sincos_cos", 1, std::cos, {}},
    {"tan", 1, std::tan, {}},
    {"sinh", 1, std::sinh, {}},
    {"cosh", 1, std::cosh, {}},
    {"tanh", 1, std::tanh, {}},
    {"acos", 1, std::acos, {}},
    {"asin", 1, std::asin, {}},
    {"atan", 1, std::atan, {}},
    {"acosh", 1, std::acosh, {}},
    {"asinh", 1, std::asinh, {}},
    {"atanh", 1, std::atanh, {}},
    {"cbrt", 1, std::cbrt, {}},
    {"erf", 1, std::erf, {}},
    {"erfc", 1, std::erfc, {}},
    {"tgamma", 1, std::tgamma, {}},
    // lgamma() writes the global signgam: kernels run on several host threads.
    {"lgamma",
     1,
     [](double x) {
       int sign = 0;
       return ::lgamma_r(x, &sign);
     },
     {}},
    {"expm1", 1, std::expm1, {}},
    {"log1p", 1, std::log1p, {}},
    {"logb", 1, std::logb, {}},
    {"erfinv", 1, erf_inverse, {}},
    {"erfcinv", 1, erfc_inverse, {}},
    {"erfcx", 1, erfc_scaled, {}},
    {"normcdf", 1, [](double x) { return 0.5 * std::erfc(-x / kRootTwo); }, {}},
    {"normcdfinv", 1, [](double p) { return -kRootTwo * erfc_inverse(2.0 * p); }, {}},
    {"rcbrt", 1, [](double x) { return 1.0 / std::cbrt(x); }, {}},
    {"exp10", 1, [](double x) { return std::pow(10.0, x); }, {}},
    {"sinpi", 1, sin_pi, {}},
    {"cospi", 1, cos_pi, {}},
    {"j0", 1, ::j0, {}},
    {"j1", 1, ::j1, {}},
    {"y0", 1, ::y0, {}},
    {"y1", 1, ::y1, {}},
    {"cyl_bessel_i0", 1, [](double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }, {}},
    {"cyl_bessel_i1",
     1,
     [](double x) { return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x); },
     {}},
    {"mantissa", 1, mantissa, {}},
    {"exponent", 1, exponent, {}},
    {"ilogb", 1, int_log, {}},
    {"rint", 1, std::rint, {}},
    {"round", 1, std::round, {}},
    {"trunc", 1, std::trunc, {}},
    {"atan2", 2, {}, std::atan2},
    {"pow", 2, {}, std::pow},
    {"fmod", 2, {}, std::fmod},
    {"hypot", 2, {}, std::hypot},
    {"rhypot", 2, {}, [](double x, double y) { return 1.0 / std::hypot(x, y); }},
    {"fdim", 2, {}, std::fdim},
    {"remainder", 2, {}, std::remainder},
    {"quotient", 2, {}, quotient},
    {"nextafter", 2, {}, std::nextafter},
    {"nextafterf",
     2,
     {},
     [](double x, double y) {
       return static_cast<double>(std::nextafter(static_cast<float>(x), static_cast<float>(y)));
     }},
    {"jn", 2, {}, [](double n, double x) { return ::jn(whole(n), x); }},
    {"yn", 2, {}, [](double n, double x) { return ::yn(whole(n), x); }},
    {"ldexp", 2, {}, [](double x, double n) { return std::ldexp(x, whole(n)); }},
};

/// Of float functions without -use_fast_math, counted in what nvcc 13.0 makes of one call each. Where
/// that branches, the way of ordinary arguments: sinf has two more for some quadrants, of which one
/// is counted.
struct FloatCost {
  std::string_view name;
  unsigned fma = 0;
};
const FloatCost kFloatCosts[] = {
    {"acosf", 10},  {"acoshf", 14},     {"asinf", 9},   {"asinhf", 14},
    {"atan2f", 14}, {"atanf", 8},       {"atanhf", 11}, {"cbrtf", 2},
    {"cosf", 8},    {"coshf", 3},       {"cospif", 10}, {"erfcf", 20},
    {"erff", 7},    {"exp10f", 4},      {"expf", 4},    {"expm1f", 8},
    {"hypotf", 3},  {"log10f", 11},     {"log1pf", 11}, {"log2f", 11},
    {"logf", 11},   {"normcdff", 22},   {"powf", 19},   {"rcbrtf", 2},
    {"sinf", 8},    {"sinhf", 7},       {"sinpif", 10}, {"tanf", 9},
    {"tanhf", 6},   {"sincos_cosf", 3},  // beside sinf's
};

/// Without its prefix; empty if it has another.
std::string_view math_name(std::string_view declared) {
  constexpr std::string_view prefix = "__simgpu_math_";
  return declared.substr(0, prefix.size()) == prefix ? declared.substr(prefix.size())
                                                     : std::string_view();
}

}  // namespace

const MathFunction* find_math_function(std::string_view declared) {
  const std::string_view name = math_name(declared);
  if (name.empty()) return nullptr;
  const MathFunction* in_double = nullptr;
  for (const MathFunction& f : kFunctions) {
    if (f.name == name) return &f;
    if (name.back() == 'f' && f.name == name.substr(0, name.size() - 1)) in_double = &f;
  }
  return in_double;
}

unsigned multiply_adds_of(std::string_view declared) {
  const std::string_view name = math_name(declared);
  for (const FloatCost& cost : kFloatCosts)
    if (cost.name == name) return cost.fma;
  return 0;
}

}  // namespace simgpu::exec
