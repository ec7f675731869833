// What a kernel takes for the numbers of A and B: with K = 1 and ones in the other matrix, C holds them as
// they are multiplied. No index and no sum stands in between.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

constexpr int kValues = 16;
using Values = std::vector<double>;
using ValueOf = std::function<double(int)>;

double one(int) {
  return 1;
}

/// C = A * B for K = 1, row by row: A has of_a(0) ... of_a(rows - 1), B of_b(0) ... of_b(cols - 1). Empty: it
/// could not be run, or is no number everywhere.
Values products(const Evidence& evidence, int rows, const ValueOf& of_a, int cols,
                const ValueOf& of_b) {
  const auto run =
      probe(evidence, filled(evidence.type, rows, 1, 0, [&](int i, int) { return of_a(i); }),
            filled(evidence.type, 1, cols, 0, [&](int, int j) { return of_b(j); }));
  Values values;
  if (!run) return values;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      if (!std::isfinite(run->c_after.at(i, j))) return {};
      values.push_back(run->c_after.at(i, j));
    }
  return values;
}

bool near(double x, double y) {
  return std::abs(x - y) <= 1e-4 * std::max(std::abs(x), std::abs(y));
}

// ---- how many bits of a number count

/// Different in all of its bits from one to the next.
double with_all_bits(ElementType type, int i) {
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15u;
  const int bits = significant_bits(type) - 1;
  const std::uint64_t fraction = (static_cast<std::uint64_t>(i) + 1) * kSpread >> (64 - bits) | 1u;
  return 1 + std::ldexp(static_cast<double>(fraction), -bits);
}

/// Significant bits that x has.
int length_of(double x) {
  int exponent = 0;
  auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::abs(std::frexp(x, &exponent)), 53));
  return mantissa == 0 ? 0 : 53 - std::countr_zero(mantissa);
}

double cut_to(double x, int bits) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::trunc(std::ldexp(mantissa, bits)), exponent - bits);
}

/// How many bits of each number count, if as many of all and fewer than it has: what was taken is the
/// number without its last bits, up to one unit of the last bit that is left. 0: not so.
int bits_kept(const Values& given, const Values& taken) {
  int kept = 0;
  for (const double x : taken) kept = std::max(kept, length_of(x));
  if (taken.size() != given.size() || kept < 2) return 0;
  bool fewer = false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const double least = cut_to(given[i], kept), unit = std::ldexp(1.0, 1 - kept);
    if (taken[i] != least && taken[i] != least + unit) return 0;
    fewer |= taken[i] != given[i];
  }
  return fewer ? kept : 0;
}

/// As the bits stand in a register.
std::string pattern(ElementType type, double x) {
  return type == ElementType::float32
             ? fmt::format("0x{:08x}", std::bit_cast<std::uint32_t>(static_cast<float>(x)))
             : fmt::format("0x{:016x}", std::bit_cast<std::uint64_t>(x));
}

bool has_long_numbers(const Evidence& evidence) {
  return evidence.operation == Operation::product &&
         (evidence.type == ElementType::float32 || evidence.type == ElementType::float64);
}

/// As many bits as a big part has, where tensor cores multiply parts and the result is to be as precise as
/// FP32: then it is the small part that is missing.
bool is_big_part(const Evidence& evidence, int kept) {
  constexpr double kMostUnits = 128;
  constexpr int kBitsOfBig = 11;
  return evidence.type == ElementType::float32 && evidence.allowed_units <= kMostUnits &&
         kept == kBitsOfBig &&
         std::any_of(
             evidence.run.launches.begin(), evidence.run.launches.end(),
             [](const simgpu::LaunchReport& launch) { return !launch.total.tensor_ops.empty(); });
}

/// With the numbers 1, 2, 3 ... in the rows of A (or columns of B), each taken one is the number of a line: then
/// no number is changed, and it is the line that is wrong.
std::optional<Diagnosis> another_line(const ValueOf& taken, bool rows) {
  constexpr double kRounded =
      1.0 / 512;  // what is rounded to TF32 several times is a little larger
  int wrong = -1;
  for (int i = kValues - 1; i >= 0; --i) {
    const double x = taken(i), whole = std::round(x);
    if (std::abs(x - whole) > kRounded * x || whole < 1 || whole > kValues) return std::nullopt;
    if (whole != i + 1) wrong = i;
  }
  if (wrong < 0) return std::nullopt;
  const int line = static_cast<int>(std::round(taken(wrong))) - 1;
  return say("WRONG-ELEMENT", "line",
             {{"what", rows ? "row" : "column"},
              {"matrix", rows ? "A" : "B"},
              {"wrong", wrong},
              {"line", line},
              {"apart", std::abs(wrong - line)}});
}

}  // namespace

std::optional<Diagnosis> explain_bits_kept(const Evidence& evidence) {
  if (!has_long_numbers(evidence)) return std::nullopt;
  const ValueOf value = [&](int i) { return with_all_bits(evidence.type, i); };
  Values given;
  for (int i = 0; i < kValues; ++i) given.push_back(value(i));
  const Values of_a = products(evidence, kValues, value, 1, one),
               of_b = products(evidence, 1, one, kValues, value);
  const int a = bits_kept(given, of_a), b = bits_kept(given, of_b);
  if (a == 0 && b == 0) return std::nullopt;
  // One matrix at a time, if not both alike: the shorter numbers are told.
  const bool both = a == b, in_a = both || b == 0 || (a != 0 && a < b);
  if (is_big_part(evidence, in_a ? a : b))
    return say("PART-LOST", "", {{"matrix", factors(in_a, both || !in_a)}});
  const Values& taken = in_a ? of_a : of_b;
  std::size_t i = 0;
  while (taken[i] == given[i]) ++i;
  return say("LOW-PRECISION", "kept",
             {{"matrix", factors(in_a, both || !in_a)},
              {"kept", in_a ? a : b},
              {"bits", significant_bits(evidence.type)},
              {"x", fmt::format("{:.9g}", given[i])},
              {"y", fmt::format("{:.9g}", taken[i])},
              {"given", pattern(evidence.type, given[i])},
              {"taken", pattern(evidence.type, taken[i])}});
}

std::optional<Diagnosis> explain_unused(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product) return std::nullopt;
  constexpr std::uint64_t kOther = 71;  // another stream of numbers
  const Case& c = shown(cases);
  const auto same = [&](bool other_a, bool other_b) -> std::optional<bool> {
    const auto pad = [](const Matrix& m) { return m.ld - m.cols; };
    const Matrix &a = c.run.a, &b = c.run.b;
    const auto run =
        probe(evidence, other_a ? integers_a(evidence.type, c.m, c.k, pad(a), kOther) : a,
              other_b ? integers_b(evidence.type, c.k, c.n, pad(b), kOther) : b);
    if (!run) return std::nullopt;
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j)
        if (!run->c_after.same_bits(c.run.c_after, c.run.c_after.index(i, j))) return false;
    return true;
  };
  // What is the same whatever A and B hold is another matter.
  const std::optional<bool> without_a = same(true, false), without_b = same(false, true);
  if (!without_a || !without_b || *without_a == *without_b) return std::nullopt;
  Diagnosis d = say(
      "WRONG-MATRIX", "unused",
      {{"matrix", factors(*without_a, *without_b)}, {"other", factors(*without_b, *without_a)}});
  describe(evidence, c, d);
  return d;
}

std::optional<Diagnosis> explain_values(const Evidence& evidence, const Cases& cases) {
  if (!has_long_numbers(evidence)) return std::nullopt;
  const ValueOf count = [](int i) { return i + 1.0; };
  const Values all = products(evidence, kValues, count, kValues, count);
  if (all.empty() || all.front() == 0) return std::nullopt;
  const auto at = [&](int i, int j) {
    return all[static_cast<std::size_t>(i) * kValues + static_cast<std::size_t>(j)];
  };
  bool a = false, b = false;
  for (int i = 0; i < kValues; ++i) {
    a |= !near(at(i, 0), at(0, 0) * count(i));
    b |= !near(at(0, i), at(0, 0) * count(i));
    // Whatever is made of a number of A does not depend on the column, nor that of B on the row.
    for (int j = 0; j < kValues; ++j)
      if (!near(at(i, j) * at(0, 0), at(i, 0) * at(0, j))) return std::nullopt;
  }
  if (!a && !b) return std::nullopt;
  const auto taken = [&](int i) { return at(a ? i : 0, a ? 0 : i); };
  if (a != b)
    if (auto other = another_line(taken, a)) {
      describe(evidence, shown(cases), *other);
      return other;
    }
  const auto several = [](int first, const ValueOf& value) {
    return messages::text("part.three", {{"first", number(value(first))},
                                         {"second", number(value(first + 1))},
                                         {"third", number(value(first + 2))}});
  };
  // Three of which the first one is wrong.
  int first = 0;
  while (first < kValues - 3 && near(taken(first), taken(0) * count(first))) ++first;
  if (!near(taken(0), count(0))) first = 0;
  Diagnosis d = say("WRONG-VALUE", "", {{"matrix", factors(a, b)}});
  d.details.push_back(messages::text("detail.values", {{"given", several(first, count)},
                                                       {"a", several(first, taken)},
                                                       {"x", a ? "A" : "B"},
                                                       {"y", a ? "B" : "A"}}));
  describe(evidence, shown(cases), d);
  return d;
}

}  // namespace grader::diag
