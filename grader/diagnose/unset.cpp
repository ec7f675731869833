// Products of registers that nobody has set: with a factor of zeros they are not zero.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {
namespace {

/// Elements of C that are not 0 though one of the operands, or both, are; empty: the call failed.
using LeftOver = std::vector<bool>;

LeftOver left_without(const Evidence& evidence, const Case& c, bool a, bool b) {
  const auto of = [](const Matrix& m, bool zero) {
    return filled(m.type, m.rows, m.cols, m.ld - m.cols,
                  [zero](int, int) { return zero ? 0.0 : 1.0; });
  };
  const std::optional<Run> run = probe(evidence, of(c.run.a, a), of(c.run.b, b));
  if (!run) return {};
  LeftOver left(c.correct.size());
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) left[c.at(i, j)] = run->c_after.at(i, j) != 0;
  return left;
}

bool any_left(const LeftOver& left) {
  return std::find(left.begin(), left.end(), true) != left.end();
}

}  // namespace

std::optional<Diagnosis> explain_unset(const Evidence& evidence, const Cases& cases) {
  if (evidence.operation != Operation::product || !evidence.run_probe) return std::nullopt;
  const Case& c = shown(cases);
  if (c.k == 0 || c.wrong == 0 || worst_finding(c.run.launches) != nullptr) return std::nullopt;
  if (const LeftOver both = left_without(evidence, c, true, true); both.empty() || any_left(both))
    return std::nullopt;  // it is not the factors
  const LeftOver a = left_without(evidence, c, true, false),
                 b = left_without(evidence, c, false, true);
  if (a.empty() || b.empty() || any_left(a) == any_left(b)) return std::nullopt;
  const LeftOver& left = any_left(a) ? a : b;
  std::string part = part_where(evidence, c, [&](int i, int j) { return left[c.at(i, j)]; });
  if (part.empty()) part = messages::raw("part.some");
  Diagnosis d = say("ACC-INIT", "factor", {{"matrix", any_left(a) ? "A" : "B"}, {"part", part}});
  describe(evidence, c, d);
  return d;
}

}  // namespace grader::diag
