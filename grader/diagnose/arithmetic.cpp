// Right indices and wrong arithmetic: where a sum starts, its sign, the operator between factors,
// and a thread's two small arrays exchanged in its outer product.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

/// Every element holds what `value` says, in every case, and some of that is wrong. Empty: it is
/// not known there.
using Value = std::function<std::optional<double>(const Case&, int, int)>;

bool holds(const Cases& cases, const Value& value) {
  std::int64_t explained = 0;
  for (const Case& c : cases)
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const std::optional<double> expected = value(c, i, j);
        if (!expected) continue;
        if (*expected != c.got(i, j)) return false;
        explained += c.state_at(i, j) != State::right;
      }
  return explained >= 2;
}

/// By how much every element of every case is too large; 0 if that differs.
double common_offset(const Cases& cases) {
  const Case& c = shown(cases);
  if (c.size() == 0) return 0;
  const double offset = c.got(0, 0) - c.correct[0];
  if (!std::isfinite(offset)) return 0;
  return holds(cases, [offset](const Case& k, int i,
                               int j) { return std::optional(k.correct[k.at(i, j)] + offset); })
             ? offset
             : 0;
}

double combined(const Case& c, int i, int j, double (*combine)(double, double)) {
  double sum = 0;
  for (int k = 0; k < c.k; ++k) sum += combine(c.run.a.at(i, k), c.run.b.at(k, j));
  return sum;
}

struct Operator {
  const char* sign;
  double (*combine)(double, double);
};
constexpr Operator kOperators[] = {
    {"+", [](double x, double y) { return x + y; }},
    {"-", [](double x, double y) { return x - y; }},
};

/// a_k += a(row, k) where a_k = a(row, k) was meant, and b_k alike.
double of_grown_factors(const Case& c, int i, int j, bool of_a, bool of_b) {
  double sum = 0, a = 0, b = 0;
  for (int k = 0; k < c.k; ++k) {
    a = c.run.a.at(i, k) + (of_a ? a : 0);
    b = c.run.b.at(k, j) + (of_b ? b : 0);
    sum += a * b;
  }
  return sum;
}

std::optional<Diagnosis> grown_factors(const Cases& cases) {
  constexpr std::pair<bool, bool> kBoth = {true, true}, kA = {true, false}, kB = {false, true};
  for (const auto& [of_a, of_b] : {kBoth, kA, kB})
    if (holds(cases, [a = of_a, b = of_b](const Case& c, int i, int j) {
          return std::optional(of_grown_factors(c, i, j, a, b));
        }))
      return say("WRONG-OPERATOR", "sums",
                 {{"what", of_a && of_b ? messages::text("part.sums")
                           : of_a       ? messages::text("part.sum.a")
                                        : messages::text("part.sum.b")}});
  return std::nullopt;
}

/// The largest product, or 0 where the search begins with that.
std::optional<Diagnosis> largest_product(const Cases& cases) {
  for (const bool from_zero : {true, false})
    if (holds(cases, [from_zero](const Case& c, int i, int j) -> std::optional<double> {
          if (c.k == 0) return std::nullopt;
          double most = from_zero ? 0 : -INFINITY;
          for (int k = 0; k < c.k; ++k) most = std::max(most, c.run.a.at(i, k) * c.run.b.at(k, j));
          return most;
        }))
      return say("WRONG-OPERATOR", "most", {});
  return std::nullopt;
}

std::optional<Diagnosis> wrong_operator(const Cases& cases) {
  for (const Operator& op : kOperators)
    if (holds(cases, [&](const Case& c, int i, int j) {
          return std::optional(combined(c, i, j, op.combine));
        }))
      return say("WRONG-OPERATOR", "", {{"operator", op.sign}});
  for (const int factor : {2, 3, 4})
    if (holds(cases, [factor](const Case& c, int i, int j) {
          return std::optional(factor * c.correct[c.at(i, j)]);
        }))
      return say("K-TILE-REPEATED", "all", {{"times", factor}});
  return std::nullopt;
}

/// An element of a 16-bit type, its bits read as those of the other one.
double as_other_type(const Matrix& m, int row, int col) {
  const std::byte* const place = m.storage.data() + m.index(row, col) * size_of(m.type);
  if (m.type == ElementType::float16) {
    BFloat16 other{};
    std::memcpy(&other, place, sizeof other);
    return static_cast<double>(other);
  }
  Half other{};
  std::memcpy(&other, place, sizeof other);
  return static_cast<double>(other);
}

/// Tensor cores that are told half for bfloat16, or the other way round. What they add up is not
/// whole any more, and rounded.
std::optional<Diagnosis> other_type(const Evidence& evidence, const Cases& cases) {
  if (size_of(evidence.type) != 2 || !on_tensor_cores(cases)) return std::nullopt;
  constexpr double kRounding = 1e-4;  // far above that of FP32, far below what another type does
  std::int64_t explained = 0;
  for (const Case& c : cases)
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        double sum = 0, size = 0;
        for (int k = 0; k < c.k; ++k) {
          const double product = as_other_type(c.run.a, i, k) * as_other_type(c.run.b, k, j);
          sum += product, size += std::abs(product);
        }
        if (!(std::abs(c.got(i, j) - sum) <= kRounding * size)) return std::nullopt;
        explained += c.state_at(i, j) != State::right;
      }
  if (explained < 2) return std::nullopt;
  const bool half = evidence.type == ElementType::float16;
  return say("WRONG-VALUE", "type",
             {{"type", half ? "half" : "bfloat16"}, {"other", half ? "bfloat16" : "half"}});
}

/// Two sums, of a row of A and of a column of B, multiplied at the end.
std::optional<Diagnosis> multiplied_sums(const Cases& cases) {
  const auto value = [](const Case& c, int i, int j) {
    double a = 0, b = 0;
    for (int k = 0; k < c.k; ++k) a += c.run.a.at(i, k), b += c.run.b.at(k, j);
    return std::optional(a * b);
  };
  return holds(cases, value) ? std::optional(say("WRONG-OPERATOR", "product", {})) : std::nullopt;
}

/// The sum up to the first k at which A's factor, or B's, is 0; all of it where there is none.
double up_to_zero(const Case& c, int i, int j, bool by_a) {
  double sum = 0;
  for (int k = 0; k < c.k; ++k) {
    const double a = c.run.a.at(i, k), b = c.run.b.at(k, j);
    if ((by_a ? a : b) == 0) break;
    sum += a * b;
  }
  return sum;
}

std::optional<Diagnosis> ends_at_zero(const Cases& cases) {
  for (const bool by_a : {true, false})
    if (holds(cases, [by_a](const Case& c, int i, int j) {
          return std::optional(up_to_zero(c, i, j, by_a));
        }))
      return say("K-MISSING", "zero",
                 {{"what", messages::text(by_a ? "part.row_of_a" : "part.column_of_b")}});
  return std::nullopt;
}

/// After how many products the sum of (i, j) was what C holds, if that is less than all; 0: never.
int products_in(const Case& c, int i, int j) {
  double sum = 0;
  for (int k = 0; k + 1 < c.k; ++k) {
    sum += c.run.a.at(i, k) * c.run.b.at(k, j);
    if (sum == c.got(i, j)) return k + 1;
  }
  return 0;
}

/// Every wrong element is the sum of its first products, not of equally many each.
std::optional<Diagnosis> ends_early(const Cases& cases) {
  constexpr std::int64_t kTelling = 4;
  std::int64_t wrong = 0;
  std::set<int> ends;
  for (const Case& c : cases)
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        if (c.state_at(i, j) == State::right) continue;
        const int count = products_in(c, i, j);
        if (count == 0) return std::nullopt;
        ends.insert(count);
        ++wrong;
      }
  if (wrong < kTelling || ends.size() < 2) return std::nullopt;
  const Case& c = shown(cases);
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j)
      if (c.state_at(i, j) != State::right)
        return say("K-MISSING", "early",
                   {{"place", element("C", i, j)},
                    {"count", products_in(c, i, j)},
                    {"k", c.k},
                    {"got", number(c.got(i, j))}});
  return std::nullopt;
}

/// A quotient as a type holds it.
double quotient(double sum, int by, ElementType type) {
  if (type == ElementType::int32) return std::trunc(sum / by);
  return type == ElementType::float64 ? sum / by : static_cast<float>(sum / by);
}

std::optional<Diagnosis> divided(const Evidence& evidence, const Cases& cases) {
  if (!holds(cases, [&](const Case& c, int i, int j) -> std::optional<double> {
        if (c.k == 0) return std::nullopt;
        return quotient(c.correct[c.at(i, j)], c.k, result_type(evidence.type));
      }))
    return std::nullopt;
  return say("WRONG-OPERATOR", "divided", {});
}

/// What a step makes of the sum so far, where that is more than an addition.
struct Step {
  const char* formula;
  double start;
  double (*next)(double sum, double a, double b);
};
constexpr Step kSteps[] = {
    {"sum * A[i][k] + B[k][j]", 0, [](double s, double a, double b) { return s * a + b; }},
    {"sum * B[k][j] + A[i][k]", 0, [](double s, double a, double b) { return s * b + a; }},
    {"(sum + A[i][k]) * B[k][j]", 0, [](double s, double a, double b) { return (s + a) * b; }},
    {"(sum + B[k][j]) * A[i][k]", 0, [](double s, double a, double b) { return (s + b) * a; }},
    {"sum + |A[i][k] * B[k][j]|", 0,
     [](double s, double a, double b) { return s + std::abs(a * b); }},
    {"sum * A[i][k] * B[k][j]", 1, [](double s, double a, double b) { return s * a * b; }},
};

/// Three steps, so that everything stays exact.
std::optional<Diagnosis> wrong_step(const Evidence& evidence, const Cases& cases) {
  const Case& of = shown(cases);
  const auto few = probe_case(evidence, {of.m, of.n, 3, 0, 0, 0}, 41);
  if (!few || few->wrong == 0) return std::nullopt;
  for (const Step& step : kSteps)
    if (holds({*few}, [&step](const Case& c, int i, int j) {
          double sum = step.start;
          for (int k = 0; k < c.k; ++k) sum = step.next(sum, c.run.a.at(i, k), c.run.b.at(k, j));
          return std::optional(sum);
        }))
      return say("WRONG-OPERATOR", "step", {{"step", step.formula}});
  return std::nullopt;
}

/// The elements of one thread along one extent: `count` of them, `step` apart, in tiles of `tile`.
struct Owned {
  int count = 1, step = 1, tile = 1;
  int number(int place) const { return place % tile / step; }  ///< which of the thread's it is
  int moved(int place, int number_) const { return place + (number_ - number(place)) * step; }
};

std::vector<Owned> ways_to_own(int count, int tile) {
  std::vector<Owned> ways;
  if (count > 1) ways.push_back({count, 1, count});
  if (count > 1 && tile > count && tile % count == 0) ways.push_back({count, tile / count, tile});
  return ways;
}

/// A warp's tile in fragments: these are what it has two arrays of.
std::vector<Owned> fragments_of(int tile) {
  std::vector<Owned> ways;
  for (const int side : {16, 8})
    if (tile > side && tile % side == 0) ways.push_back({tile / side, side, tile});
  return ways;
}

/// Which of a thread's two arrays is read at the other one's index.
struct Mixed {
  bool a, b;
  const char *variant, *of_fragments;
};
constexpr Mixed kBoth = {true, true, "factors", "fragments"},
                kOne[] = {{true, false, "factor.a", "fragment.a"},
                          {false, true, "factor.b", "fragment.b"}};

/// acc[i][j] += a_k[j] * b_k[i], or one of the two. What is read beyond the shorter of the two arrays
/// is not known.
std::optional<Diagnosis> mixed_factors(const Evidence& evidence, const Cases& cases,
                                       const Mixed& mixed) {
  const Tile& t = evidence.tile;
  const bool fragments = on_tensor_cores(cases);
  for (const Owned& rows : fragments ? fragments_of(t.wm) : ways_to_own(t.tm, t.bm))
    for (const Owned& cols : fragments ? fragments_of(t.wn) : ways_to_own(t.tn, t.bn)) {
      const auto source = [&](const Case& c, int i, int j) -> std::optional<double> {
        const int in_row = mixed.a ? cols.number(j) : rows.number(i);
        const int in_col = mixed.b ? rows.number(i) : cols.number(j);
        if (in_row >= rows.count || in_col >= cols.count) return std::nullopt;
        const int row = rows.moved(i, in_row), col = cols.moved(j, in_col);
        if (row >= c.m || col >= c.n) return std::nullopt;
        return c.correct[c.at(row, col)];
      };
      if (holds(cases, source))
        return say("TILE-MAP", fragments ? mixed.of_fragments : mixed.variant,
                   {{"tile", fmt::format("{} x {}", rows.count, cols.count)},
                    {"tm", rows.count},
                    {"tn", cols.count}});
    }
  return std::nullopt;
}

/// acc[j][i] += a_k[i] * b_k[j]: the places of a thread's tile follow each other, so that row j and
/// column i is often another place of it, which then has several sums.
std::optional<Diagnosis> exchanged_sums(const Evidence& evidence, const Cases& cases) {
  const Tile& t = evidence.tile;
  if (t.tm < 2 || t.tn < 2 || on_tensor_cores(cases)) return std::nullopt;
  for (const Owned& rows : ways_to_own(t.tm, t.bm))
    for (const Owned& cols : ways_to_own(t.tn, t.bn)) {
      const auto value = [&](const Case& c, int i, int j) -> std::optional<double> {
        // Tiles at the edge may be made in another way.
        if (rows.moved(i, t.tm - 1) >= c.m || cols.moved(j, t.tn - 1) >= c.n) return std::nullopt;
        const int place = rows.number(i) * t.tn + cols.number(j);
        double sum = 0;
        for (int n = 0; n < t.tn; ++n)
          if (const int m = place - n * t.tn; m >= 0 && m < t.tm)  // acc[n][m] is this place
            sum += c.correct[c.at(rows.moved(i, m), cols.moved(j, n))];
        return sum;
      };
      if (holds(cases, value))
        return say("TILE-MAP", "sums",
                   {{"tile", fmt::format("{} x {}", t.tm, t.tn)}, {"tm", t.tm}, {"tn", t.tn}});
    }
  return std::nullopt;
}

/// All elements of a thread's tile hold the sum of all of them.
std::optional<Diagnosis> one_sum_for_all(const Evidence& evidence, const Cases& cases) {
  const Tile& t = evidence.tile;
  if (std::int64_t{t.tm} * t.tn < 2 || on_tensor_cores(cases)) return std::nullopt;
  for (const Owned& rows : ways_to_own(t.tm, t.bm))
    for (const Owned& cols : ways_to_own(t.tn, t.bn)) {
      const auto value = [&](const Case& c, int i, int j) -> std::optional<double> {
        if (rows.moved(i, t.tm - 1) >= c.m || cols.moved(j, t.tn - 1) >= c.n) return std::nullopt;
        double sum = 0;
        for (int m = 0; m < t.tm; ++m)
          for (int n = 0; n < t.tn; ++n) sum += c.correct[c.at(rows.moved(i, m), cols.moved(j, n))];
        return sum;
      };
      if (holds(cases, value))
        return say("SUMS-MIXED", "tile",
                   {{"tile", fmt::format("{} x {}", t.tm, t.tn)}, {"tm", t.tm}, {"tn", t.tn}});
    }
  return std::nullopt;
}

}  // namespace

std::optional<Diagnosis> explain_factors(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product) return std::nullopt;
  for (const Mixed& mixed : kOne)
    if (auto d = mixed_factors(evidence, cases, mixed)) {
      describe(evidence, shown(cases), *d);
      return d;
    }
  return std::nullopt;
}

std::optional<Diagnosis> explain_arithmetic(const Evidence& evidence, const Cases& cases) {
  std::optional<Diagnosis> d;
  if (const double offset = common_offset(cases); offset != 0)
    d = say("ACC-INIT", "offset",
            {{"by", number(std::abs(offset))}, {"how", offset > 0 ? "large" : "small"}});
  if (!d && evidence.operation == Operation::product) {
    const auto negated = [](const Case& c, int i, int j) {
      return std::optional(-c.correct[c.at(i, j)]);
    };
    if (holds(cases, negated)) d = say("WRONG-SIGN", "", {});
    if (!d) d = wrong_operator(cases);
    if (!d) d = other_type(evidence, cases);
    if (!d) d = grown_factors(cases);
    if (!d) d = multiplied_sums(cases);
    if (!d) d = largest_product(cases);
    if (!d) d = ends_at_zero(cases);
    if (!d) d = ends_early(cases);
    if (!d) d = divided(evidence, cases);
    if (!d) d = wrong_step(evidence, cases);
    if (!d) d = mixed_factors(evidence, cases, kBoth);
    if (!d) d = exchanged_sums(evidence, cases);
    if (!d) d = one_sum_for_all(evidence, cases);
  }
  if (d) describe(evidence, shown(cases), *d);
  return d;
}

}  // namespace grader::diag
