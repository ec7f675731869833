// Products of registers that nobody has set: with a factor of zeros they are not zero.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

/// C where all elements of A, and of B, are the same, one of them or both 0; empty: the call failed.
using LeftOver = std::vector<double>;

LeftOver left_with(const Evidence& evidence, const Case& c, double a, double b) {
  const auto of = [](const Matrix& m, double value) {
    return filled(m.type, m.rows, m.cols, m.ld - m.cols, [value](int, int) { return value; });
  };
  const std::optional<Run> run = probe(evidence, of(c.run.a, a), of(c.run.b, b));
  if (!run) return {};
  LeftOver left(c.correct.size());
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) left[c.at(i, j)] = run->c_after.at(i, j);
  return left;
}

bool any_left(const LeftOver& left) {
  return std::any_of(left.begin(), left.end(), [](double value) { return value != 0; });
}

/// What is left grows with the square of the factor that is not 0: its elements are multiplied by each other.
bool grows_squared(const LeftOver& once, const LeftOver& twice) {
  return once.size() == twice.size() &&
         std::equal(once.begin(), once.end(), twice.begin(),
                    [](double one, double two) { return two == 4 * one; });
}

}  // namespace

std::optional<Diagnosis> explain_unset(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product || !evidence.run_probe) return std::nullopt;
  const Case& c = shown(cases);
  if (c.k == 0 || c.wrong == 0 || worst_finding(c.run.launches) != nullptr) return std::nullopt;
  if (const LeftOver both = left_with(evidence, c, 0, 0); both.empty() || any_left(both))
    return std::nullopt;  // it is not the factors
  const LeftOver a = left_with(evidence, c, 0, 1), b = left_with(evidence, c, 1, 0);
  if (a.empty() || b.empty() || any_left(a) == any_left(b)) return std::nullopt;
  const bool of_a = any_left(a);
  const LeftOver& left = of_a ? a : b;
  std::string part = part_where(evidence, c, [&](int i, int j) { return left[c.at(i, j)] != 0; });
  if (part.empty()) part = messages::raw("part.some");
  const bool other =
      grows_squared(left, of_a ? left_with(evidence, c, 0, 2) : left_with(evidence, c, 2, 0));
  Diagnosis d = say(other ? "WRONG-INDEX" : "ACC-INIT", other ? "beside" : "factor",
                    {{"matrix", of_a ? "A" : "B"}, {"other", of_a ? "B" : "A"}, {"part", part}});
  describe(evidence, c, d);
  return d;
}

}  // namespace grader::diag
