// Right indices, and sums that are not precise enough: in which way?
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {

ExactSum exact_sum(const Run& run, int i, int j) {
  ExactSum s;
  for (int k = 0; k < run.a.cols; ++k) {
    const double product = run.a.at(i, k) * run.b.at(k, j);
    s.sum += product;
    s.magnitude += std::fabs(product);
  }
  return s;
}

namespace {

/// All values of C have at most `bits` significant bits.
bool has_few_bits(const Matrix& c, int bits) {
  bool any = false;
  for (int i = 0; i < c.rows; ++i)
    for (int j = 0; j < c.cols; ++j) {
      const double value = c.at(i, j);
      if (!std::isfinite(value)) return false;
      int exponent = 0;
      const double mantissa = std::ldexp(std::frexp(value, &exponent), bits);
      if (mantissa != std::floor(mantissa)) return false;
      any |= value != 0;
    }
  return any;
}

/// All elements are what a few of the largest and smallest ints make when they are added: next to 0, or to
/// such a limit. So a sum has several parts that have ended there.
bool adds_limits(const Matrix& c) {
  constexpr double kParts = 16;
  for (int i = 0; i < c.rows; ++i)
    for (int j = 0; j < c.cols; ++j) {
      const double size = std::abs(c.at(i, j));
      if (size > kParts && size < 0x1p31 - kParts) return false;
    }
  return c.rows * c.cols > 1;
}

/// Some elements are the largest int, or the smallest, and more than chance puts there: what is too
/// large for an int becomes that when it is made of a float or a double. Sums of ints wrap around.
bool ends_at_limits(const Matrix& c) {
  int limits = 0;
  for (int i = 0; i < c.rows; ++i)
    for (int j = 0; j < c.cols; ++j) limits += c.at(i, j) == 0x1p31 - 1 || c.at(i, j) == -0x1p31;
  return c.type == ElementType::int32 && (limits > 1 || adds_limits(c));
}

double rounded_to(double value, int bits) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits)), exponent - bits);
}

/// C = A * B with other factors explains nearly all of the error (not quite: ties may be rounded
/// either way, and sums have errors of their own). `rest`: of its squares, how much may remain.
template <typename OfA, typename OfB>
bool looks_like(const Run& run, OfA of_a, OfB of_b, double rest = 1.0 / 25) {
  const int m = run.c_before.rows, n = run.c_before.cols;
  double before = 0, after = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double other = 0;
      for (int k = 0; k < run.a.cols; ++k) other += of_a(run.a.at(i, k)) * of_b(run.b.at(k, j));
      before += std::pow(run.c_after.at(i, j) - exact_sum(run, i, j).sum, 2);
      after += std::pow(run.c_after.at(i, j) - other, 2);
    }
  return after < before * rest;
}
bool looks_rounded(const Run& run, int bits) {
  const auto rounded = [bits](double value) { return rounded_to(value, bits); };
  return looks_like(run, rounded, rounded);
}

/// FP32 made of two parts of 11 bits: the small part of A, or of B, is in no product, is subtracted
/// instead of added, or has lost its sign.
std::optional<Diagnosis> part_lost(const Run& run) {
  const auto whole = [](double value) { return value; };
  const auto big = [](double value) { return rounded_to(value, 11); };
  const auto subtracted = [&](double value) { return 2 * big(value) - value; };
  const auto positive = [&](double value) { return big(value) + std::fabs(value - big(value)); };
  for (const bool of_a : {true, false}) {
    const char* const matrix = of_a ? "A" : "B";
    if (of_a ? looks_like(run, big, whole) : looks_like(run, whole, big))
      return say("PART-LOST", "", {{"matrix", matrix}});
    if (of_a ? looks_like(run, subtracted, whole) : looks_like(run, whole, subtracted))
      return say("PART-LOST", "sign", {{"matrix", matrix}});
    if (of_a ? looks_like(run, positive, whole) : looks_like(run, whole, positive))
      return say("PART-LOST", "positive", {{"matrix", matrix}});
  }
  if (looks_like(run, subtracted, subtracted))
    return say("PART-LOST", "sign", {{"matrix", factors(true, true)}});
  if (looks_like(run, positive, positive))
    return say("PART-LOST", "positive", {{"matrix", factors(true, true)}});
  return std::nullopt;
}

/// FP32 made of two parts: big has more bits than a tensor core reads of it, and small is the number
/// without all of them.
std::optional<Diagnosis> bits_left_in_big(const Run& run) {
  constexpr std::uint32_t kRead = 0xffffe000u, kHalf = 0x1000u;
  constexpr double kRest = 1e-5;  // sums that are simply too small leave more
  const auto as_read = [](float part) {
    return static_cast<double>(std::bit_cast<float>(std::bit_cast<std::uint32_t>(part) & kRead));
  };
  const auto whole = [](double value) { return value; };
  for (const std::uint32_t kept : {0xffffffffu, 0xfffff000u, 0xfffff800u, 0xffffff00u}) {
    const auto both_parts = [&](double value) {
      const auto x = static_cast<float>(value);
      const auto big = std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + kHalf) & kept);
      return as_read(big) + as_read(x - big);
    };
    if (looks_like(run, both_parts, both_parts, kRest) ||
        looks_like(run, both_parts, whole, kRest) || looks_like(run, whole, both_parts, kRest))
      return say("PART-LOST", "bits", {});
  }
  return std::nullopt;
}

/// FP32 made of two parts that come from two ways to shorten a number: one rounds to the nearest, the other cuts off,
/// as a tensor core does with a number that nobody has rounded.
std::optional<Diagnosis> two_roundings(const Run& run) {
  constexpr std::uint32_t kRead = 0xffffe000u, kHalf = 0x1000u;
  constexpr double kRest = 1e-5;  // as above
  const auto shortened = [](float x, bool nearest) {
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + (nearest ? kHalf : 0)) & kRead);
  };
  const auto whole = [](double value) { return value; };
  for (const bool nearest : {false, true}) {
    const auto both_parts = [&](double value) {
      const auto x = static_cast<float>(value);
      return static_cast<double>(shortened(x, nearest)) +
             static_cast<double>(shortened(x - shortened(x, !nearest), false));
    };
    if (looks_like(run, both_parts, both_parts, kRest) ||
        looks_like(run, both_parts, whole, kRest) || looks_like(run, whole, both_parts, kRest))
      return say("PART-LOST", nearest ? "nearest" : "cut", {});
  }
  return std::nullopt;
}

/// FP32 made of two parts: big has so few bits that what a tensor core reads of small does not hold
/// the rest.
std::optional<Diagnosis> few_bits_in_big(const Run& run) {
  constexpr std::uint32_t kHalf = 0x1000u;  // as round_to_tf32() adds, before more is cleared
  constexpr double kRest = 1.0 / 300;       // sums that are cut off, too small as well, leave more
  const auto bits_of = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  const auto as_read = [bits_of](float part) {
    return static_cast<double>(std::bit_cast<float>(bits_of(part) & 0xffffe000u));
  };
  const auto whole = [](double value) { return value; };
  for (const int cleared : {14, 15, 16, 17, 18, 19, 20})
    for (const std::uint32_t added : {kHalf, 1u << (cleared - 1), 0u}) {
      const auto both_parts = [&](double value) {
        const auto x = static_cast<float>(value);
        const auto big = std::bit_cast<float>((bits_of(x) + added) & ~((1u << cleared) - 1));
        return static_cast<double>(big) + as_read(x - big);
      };
      if (looks_like(run, both_parts, both_parts, kRest) ||
          looks_like(run, both_parts, whole, kRest) || looks_like(run, whole, both_parts, kRest))
        return say("PART-LOST", "few", {{"bits", 24 - cleared}, {"cleared", cleared}});
    }
  return std::nullopt;
}

/// The small parts count, but not once: `times` as often as they should.
std::optional<Diagnosis> part_scaled(const Run& run) {
  struct Fit {
    double of_both = 0, squares = 0, errors = 0;
  };
  std::array<Fit, 3> fits;  // the small part of A, of B, of both
  const int m = run.c_before.rows, n = run.c_before.cols;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double of_a = 0, of_b = 0;
      for (int k = 0; k < run.a.cols; ++k) {
        const double a = run.a.at(i, k), b = run.b.at(k, j);
        of_a += (a - rounded_to(a, 11)) * b;
        of_b += a * (b - rounded_to(b, 11));
      }
      const double error = run.c_after.at(i, j) - exact_sum(run, i, j).sum;
      const double parts[] = {of_a, of_b, of_a + of_b};
      for (std::size_t f = 0; f < fits.size(); ++f) {
        fits[f].of_both += error * parts[f];
        fits[f].squares += parts[f] * parts[f];
        fits[f].errors += error * error;
      }
    }
  const std::string names[] = {"A", "B", factors(true, true)};
  for (std::size_t f = 0; f < fits.size(); ++f) {
    const Fit& fit = fits[f];
    if (!(fit.squares > 0) || !std::isfinite(fit.errors)) continue;
    const double more = fit.of_both / fit.squares;
    const double rest = fit.errors - more * fit.of_both;
    if (std::abs(more) < 0.25 || rest > fit.errors / 100) continue;
    return say("PART-LOST", "scaled",
               {{"matrix", names[f]}, {"times", number(std::round(100 * (1 + more)) / 100)}});
  }
  // So much that the product of the small parts counts as well.
  for (const double times : {1024.0, 2048.0, 4096.0, 8192.0}) {
    const auto scaled = [times](double value) {
      return rounded_to(value, 11) + times * (value - rounded_to(value, 11));
    };
    if (looks_like(run, scaled, scaled))
      return say("PART-LOST", "scaled",
                 {{"matrix", factors(true, true)}, {"times", number(times)}});
  }
  return std::nullopt;
}

/// What is wrong with the parts of a factor.
std::optional<Diagnosis> part_told(const Run& run) {
  for (const auto told : {part_lost, bits_left_in_big, two_roundings, part_scaled, few_bits_in_big})
    if (auto d = told(run)) return d;
  return std::nullopt;
}

bool with_tensor_cores(const Run& run) {
  return std::any_of(
      run.launches.begin(), run.launches.end(),
      [](const simgpu::LaunchReport& launch) { return !launch.total.tensor_ops.empty(); });
}

/// Tensor cores made something else: to the last bit, C holds what a thread makes of a row and a column, one
/// multiply-add in FP32 after the other. Code that is given with some stages does so where sums are not finite.
std::optional<Diagnosis> made_again(const Run& run) {
  constexpr int kFewTerms = 32;  // a sum of small numbers may be the same in any order
  if (run.c_after.type != ElementType::float32 || run.a.cols < kFewTerms || !with_tensor_cores(run))
    return std::nullopt;
  std::int64_t same = 0;
  const std::int64_t total = std::int64_t{run.c_after.rows} * run.c_after.cols;
  for (int i = 0; i < run.c_after.rows; ++i)
    for (int j = 0; j < run.c_after.cols; ++j) {
      float sum = 0;
      for (int k = 0; k < run.a.cols; ++k)
        sum = std::fma(static_cast<float>(run.a.at(i, k)), static_cast<float>(run.b.at(k, j)), sum);
      same += run.c_after.at(i, j) == static_cast<double>(sum);
    }
  if (total == 0 || 2 * same < total) return std::nullopt;
  return say("ACC-INIT", "again", {{"count", same}, {"total", total}});
}

/// Tensor cores made it, and all errors are as small as the products of small parts are.
std::optional<Diagnosis> small_products(const Evidence& evidence, const Run& run) {
  constexpr double kMostUnits = 128;  // of a stage that is to be as precise as FP32
  if (evidence.allowed_units > kMostUnits) return std::nullopt;
  if (!with_tensor_cores(run)) return std::nullopt;
  for (int i = 0; i < run.c_before.rows; ++i)
    for (int j = 0; j < run.c_before.cols; ++j) {
      const auto [exact, magnitude] = exact_sum(run, i, j);
      if (!(std::abs(run.c_after.at(i, j) - exact) <= magnitude * 0x1p-10)) return std::nullopt;
    }
  // Where is it small enough to be right?
  Case c;
  c.run = run;
  c.m = run.c_before.rows, c.n = run.c_before.cols, c.k = run.a.cols;
  c.state.assign(static_cast<std::size_t>(c.size()), State::right);
  const double unit = std::ldexp(1.0, -significant_bits(evidence.type));
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      const auto [exact, magnitude] = exact_sum(run, i, j);
      if (std::abs(run.c_after.at(i, j) - exact) <= 8 * unit * magnitude) continue;
      c.state[c.at(i, j)] = State::wrong;
      ++c.wrong;
    }
  if (const std::string part = wrong_part(evidence, c); !part.empty())
    return say("PART-LOST", "where", {{"part", part}});
  if (const std::string part = right_part(evidence, c); !part.empty())
    return say("PART-LOST", "elsewhere", {{"part", part}});
  return say("PART-LOST", "other", {});
}

/// Nearly every element is too small, by no more than K additions that cut off can lose: tensor
/// cores do so. Rounded sums are too large as often.
std::optional<Diagnosis> sums_cut_off(const Run& run, double factor) {
  std::int64_t too_small = 0, total = 0;
  for (int i = 0; i < run.c_before.rows; ++i)
    for (int j = 0; j < run.c_before.cols; ++j) {
      const auto [exact, magnitude] = exact_sum(run, i, j);
      const double lost = (exact - run.c_after.at(i, j)) * (exact < 0 ? -1 : 1);
      too_small += lost > 0 && lost <= run.a.cols * 0x1p-24 * magnitude;
      ++total;
    }
  if (total == 0 || too_small < total - total / 20) return std::nullopt;
  return say("SUMS-CUT-OFF", "", {{"factor", number(std::round(factor))}});
}

/// "1.2", "740".
std::string in_short(double factor) {
  return number(factor < 10 ? std::round(10 * factor) / 10 : std::round(factor));
}

/// Odd multiples of 2^-22 beside 1, 2 or 3: numbers whose small part is not 0.
double with_small_part(int row, int col) {
  return 1 + (3 * row + 5 * col) % 3 + (2 * ((7 * row + 11 * col) % 128) + 1) * 0x1p-22;
}

/// A number whose value, taken for bits of a float, is 1: those bits are a number next to 0 for any small one.
constexpr double kBitsOfOne = 0x3f800000;

}  // namespace

std::optional<Diagnosis> explain_values_for_bits(const Evidence& evidence, const Cases& cases) {
  if (evidence.type != ElementType::float32 || evidence.operation != Operation::product ||
      !on_tensor_cores(cases))
    return std::nullopt;
  const Run& shape = shown(cases).run;
  struct Factors {
    std::string matrix;
    double of_a, of_b;
  };
  for (const auto& [matrix, of_a, of_b] :
       {Factors{"A", kBitsOfOne, 1}, Factors{"B", 1, kBitsOfOne},
        Factors{messages::text("part.a_and_of_b"), kBitsOfOne, kBitsOfOne}}) {
    const auto all = [](const Matrix& m, double value) {
      return filled(m.type, m.rows, m.cols, m.ld - m.cols, [value](int, int) { return value; });
    };
    const std::optional<Run> run = probe(evidence, all(shape.a, of_a), all(shape.b, of_b));
    if (!run) return std::nullopt;
    bool ones = run->a.cols > 0;
    for (int i = 0; i < run->c_after.rows; ++i)
      for (int j = 0; j < run->c_after.cols; ++j)
        ones = ones && run->c_after.at(i, j) == run->a.cols;
    if (ones) return say("ALL-ZERO", "bits", {{"matrix", matrix}});
  }
  return std::nullopt;
}

std::optional<Diagnosis> explain_parts(const Evidence& evidence, const Cases& cases) {
  if (evidence.type != ElementType::float32 || evidence.operation != Operation::product)
    return std::nullopt;  // what tests the parts alone need not use tensor cores
  const Run& shape = shown(cases).run;
  const auto factor = [](const Matrix& m) {
    return filled(m.type, m.rows, m.cols, m.ld - m.cols, with_small_part);
  };
  const std::optional<Run> run = probe(evidence, factor(shape.a), factor(shape.b));
  if (!run) return std::nullopt;
  // All terms are positive: no sum is small by chance.
  bool any = false;
  for (int i = 0; i < run->c_after.rows; ++i)
    for (int j = 0; j < run->c_after.cols; ++j) {
      const double value = run->c_after.at(i, j);
      if (!(std::abs(value) <= exact_sum(*run, i, j).magnitude * 0x1p-9)) return std::nullopt;
      any |= value != 0;
    }
  if (!any) return std::nullopt;
  return say("PART-LOST", "big", {});
}

namespace {

/// Where bits may have been lost, by what the result looks like: the rest of a message's key, or nothing.
std::string guess_of(ElementType type, const Run& run) {
  if (ends_at_limits(run.c_after)) return "limits";
  if (has_few_bits(run.c_after, 11)) return "result11";
  if (run.c_after.type != ElementType::float32 && has_few_bits(run.c_after, 24)) return "result24";
  if (type == ElementType::int32) return "";
  for (const auto& [bits, guess] : {std::pair{11, "input11"}, std::pair{8, "input8"}})
    if (significant_bits(type) > bits && looks_rounded(run, bits)) return guess;
  return type == ElementType::float64 && looks_rounded(run, 24) ? "input24" : "";
}

/// A and B hold numbers that half has not, and what should have become of them is no number.
bool beyond_half(const Run& run) {
  constexpr double kMostOfHalf = 65504;
  double most = 0;
  for (int i = 0; i < run.a.rows; ++i)
    for (int k = 0; k < run.a.cols; ++k) most = std::max(most, std::abs(run.a.at(i, k)));
  return run.a.type == ElementType::float32 && std::isfinite(most) && most > kMostOfHalf;
}

/// NaN where not even a sum in half could be other than finite: how many elements of C.
std::int64_t nan_from_small_numbers(const Run& run) {
  constexpr double kMostOfHalf = 65504;
  const auto most = [](const Matrix& m) {
    double x = 0;
    for (int i = 0; i < m.rows; ++i)
      for (int j = 0; j < m.cols; ++j)
        x = std::isfinite(m.at(i, j)) ? std::max(x, std::abs(m.at(i, j))) : INFINITY;
    return x;
  };
  const double a = most(run.a), b = most(run.b);
  if (!(std::max({a, b, a * b * run.a.cols}) < kMostOfHalf)) return 0;
  std::int64_t count = 0;
  for (int i = 0; i < run.c_after.rows; ++i)
    for (int j = 0; j < run.c_after.cols; ++j) count += std::isnan(run.c_after.at(i, j)) ? 1 : 0;
  return count;
}

/// C is made of whole numbers where A and B are not: something on the way is an int.
bool only_whole_numbers(const Run& run) {
  const auto whole = [](const Matrix& m) {
    for (int i = 0; i < m.rows; ++i)
      for (int j = 0; j < m.cols; ++j)
        if (const double x = m.at(i, j); !std::isfinite(x) || x != std::trunc(x)) return false;
    return true;
  };
  const Matrix& c = run.c_after;
  return std::int64_t{c.rows} * c.cols > 1 && whole(c) && !whole(run.a) && !whole(run.b);
}

}  // namespace

Diagnosis low_precision(const Evidence& evidence, const Run& run, double factor) {
  std::string guess;
  if (evidence.operation == Operation::product) {
    if (auto d = made_again(run)) return *std::move(d);
    if (only_whole_numbers(run)) return say("LOW-PRECISION", "whole", {});
    if (!std::isfinite(factor) && beyond_half(run)) return say("LOW-PRECISION", "range", {});
    if (const std::int64_t count = nan_from_small_numbers(run); count > 0)
      return say("LOW-PRECISION", "nan",
                 {{"count", count}, {"total", std::int64_t{run.c_after.rows} * run.c_after.cols}});
    guess = guess_of(evidence.type, run);
    if (guess.empty() && evidence.type == ElementType::float32) {
      if (auto d = part_told(run)) return *std::move(d);
      if (auto d = explain_bits_kept(evidence)) return *std::move(d);
      if (auto d = sums_cut_off(run, factor)) return *std::move(d);
      if (auto d = small_products(evidence, run)) return *std::move(d);
    }
  }
  const std::string guessed = guess.empty() ? "" : messages::text("LOW-PRECISION.guess." + guess);
  if (evidence.type == ElementType::int32)
    return say("LOW-PRECISION", guess == "limits" ? "int.limits" : "int", {{"guess", guessed}});
  Diagnosis d =
      say("LOW-PRECISION",
          !std::isfinite(factor)                                        ? "far"
          : guess == "input11" && evidence.type == ElementType::float32 ? "cut"
                                                                        : "",
          {{"factor", std::isfinite(factor) ? in_short(factor) : ""}, {"guess", guessed}});
  if (std::isfinite(factor))
    d.details.push_back(
        messages::text("detail.error", {{"factor", in_short(factor)},
                                        {"units", number(evidence.allowed_units)},
                                        {"bits", significant_bits(run.c_after.type)}}));
  return d;
}

}  // namespace grader::diag
