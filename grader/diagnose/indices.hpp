// An index as a formula of i, j and k, worked out from values that a kernel was seen to use.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "grader/diagnose/hypotheses.hpp"

namespace grader::diag {

/// times * (x % modulo / divisor); modulo 0: of all of x.
struct Part {
  int times = 0, divisor = 1, modulo = 0;
};

/// What one variable adds to an index.
struct Contribution {
  std::vector<Part> parts;
  int of(int x) const;
};

struct IndexFormula {
  int constant = 0;
  std::array<Contribution, 3> by;  ///< of i, j and k
  int of(int i, int j, int k) const;
  std::string text() const;  ///< "i / 32 * 32 + j % 32 + 1"
};

/// An index as it was seen for all i < m, j < n and some k, `steps`, which begin with 0 and grow;
/// -1: not seen. values[(s * m + i) * n + j].
struct SeenIndices {
  int m = 0, n = 0;
  std::vector<int> steps;
  std::vector<int> values;
};

/// The formula of what was seen, all of it; empty if no formula of this kind is.
std::optional<IndexFormula> fit_index(const SeenIndices& seen, const std::vector<int>& bases);

/// Numbers that indices are divided by: powers of two, and the extents of the lab's tiles.
std::vector<int> index_bases(const Evidence& evidence);

}  // namespace grader::diag
