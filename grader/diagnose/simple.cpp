// Results that are wrong in a simple way: one value everywhere, or what C held before.
#include <algorithm>
#include <climits>
#include <cmath>
#include <string>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"

namespace grader::diag {

std::optional<Diagnosis> nan_at_some_shapes(const Cases& cases) {
  int most_right = -1, least_wrong = INT_MAX;
  for (const Case& c : cases) {
    if (c.wrong == 0) {
      most_right = std::max(most_right, c.k);
      continue;
    }
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j)
        if (!std::isnan(c.got(i, j)) || c.state_at(i, j) != State::wrong) return std::nullopt;
    least_wrong = std::min(least_wrong, c.k);
  }
  if (most_right < 0 || least_wrong == INT_MAX) return std::nullopt;
  const bool by_depth = most_right < least_wrong;
  return say("ACC-INIT", "some",
             {{"where", by_depth ? messages::text("part.where_k", {{"k", least_wrong}})
                                 : messages::text("part.at_some")},
              {"right", by_depth ? messages::text("part.where_it", {{"k", most_right}})
                                 : messages::text("part.at_others")}});
}

std::optional<Diagnosis> explain_simple(const Cases& cases) {
  bool zero = true, accumulates = true, nan = true, any = false;
  for (const Case& c : cases) {
    any |= c.wrong > 0;
    for (int i = 0; i < c.m; ++i)
      for (int j = 0; j < c.n; ++j) {
        const double value = c.got(i, j);
        zero = zero && value == 0;
        nan = nan && std::isnan(value) && c.state_at(i, j) == State::wrong;
        accumulates = accumulates && value == c.correct[c.at(i, j)] + c.run.c_before.at(i, j);
      }
  }
  if (!any) return std::nullopt;
  if (accumulates) return say("ACCUMULATES", "", {});
  if (zero) return say("ALL-ZERO", cases.front().operation == Operation::product ? "" : "copy", {});
  // Operands, padding and what C held are finite integers, and memory that was never written is a
  // finding. What is left is a register that nobody set: the simulated GPU starts it as NaN.
  if (nan) return say("ACC-INIT", "never", {});
  return std::nullopt;
}

}  // namespace grader::diag
