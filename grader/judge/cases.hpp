// What a rung is tried on: shapes derived from the lab's tile, and data that makes each kind of bug
// visible.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/reference.hpp"
#include "grader/diagnose/diagnose.hpp"
#include "grader/judge/seeds.hpp"
#include "grader/labs/lab.hpp"

namespace grader {

/// One shape. Padding is in elements beyond the width of a row.
struct Case {
  Extents extents;
  int pad_a = 0, pad_b = 0, pad_c = 0;
  bool precision = false;  ///< also zero-mean data and the precision canary (floating types),
                           ///< wrap-around (int32)
  bool one_type = false;   ///< too large for every type: judged in float, or the rung's first type
  bool extremes = false;   ///< also positive, graded and infinite data (float)

  bool empty() const { return extents.m == 0 || extents.n == 0 || extents.k == 0; }
  bool strided() const { return pad_a || pad_b || pad_c; }
  std::string name() const;  ///< "131x129x127", "17x33x21 (ld > width)"; times signs are drawn
};

/// The cases of a stage: smallest first, so that the first failure is the easiest to look at; cases
/// with an extent of 0 last, because they say little about the lesson. A non-square shape comes
/// before a square one.
std::vector<Case> cases_of(const Lab& lab, const Stage& stage);

/// More cases for a stage that takes any extents, drawn from the key: the others follow from lab.toml,
/// and a submission could be right for those alone. Stages that share a rung share these.
std::vector<Case> drawn_cases(const Lab& lab, const Stage& stage, const Key& key);

/// Name of an extent triple, with times signs.
std::string shape_name(const Extents& extents);

/// What A and B hold.
enum class Fill {
  integers,  ///< -8..8
  other_integers,
  /// Uniform in [-1, 1], all 2^32 values for int32 (sums wrap); rounded to TF32's 11 bits for a TF32
  /// rung: then only the sums may round.
  zero_mean,
  /// The result is what an 11-bit mantissa throws away (FP32, FP64), what sums of 11 bits throw away
  /// (16-bit types), or what cutting TF32 off instead of rounding loses.
  canary,
  positive,  ///< uniform in (0, 1]: errors that have one sign add up
  /// Factors from 2^-100 to 2^100, about 1e-30 to 1e30, mixed, whose products FP32 holds.
  graded,
  infinite,  ///< zero_mean with a few infinities, NaNs and numbers whose products are too large
};
/// The result is exact in any order of summation: it is compared bit by bit.
inline bool small_integers(Fill fill) {
  return fill == Fill::integers || fill == Fill::other_integers;
}

/// What C holds before the call.
enum class Before { poison, garbage };

struct Inputs {
  diag::Matrix a, b, c;
};

/// Deterministic: the numbers depend on everything that is passed, or with a key (seeds.hpp) on the key
/// alone, since each call has its own. Padding of every matrix is poison. C has the extents that the
/// rung's operation gives it.
Inputs make_inputs(diag::ElementType type, const Rung& rung, const Case& shape, Fill fill,
                   Before before, const DataSeed& seed);

/// The limit |C - AB|_ij <= units * u * (|A||B|)_ij for a rung in one type, u of C's type: 32, or
/// 128 on tensor cores with FP32 accumulators. The canary of a TF32 rung also allows for inputs cut
/// off to 11 bits; inputs beyond what rounding explains are worth a note (kRoundedTf32Units).
double allowed_units(const Rung& rung, const std::string& type, Fill fill);

/// How C compares with what it should be.
struct Verification {
  bool right = false;
  bool padding_touched = false;  ///< a row was written beyond its width
  double max_units = 0;          ///< largest error in units of u (|A||B|); 0 for exact comparisons
};

/// Exact unless the fill asks for a bound, which is `units` as allowed_units() gives it. Throws
/// InfraError if the expected result is not finite.
Verification verify(Operation operation, const diag::Matrix& a, const diag::Matrix& b,
                    const diag::Matrix& before, const diag::Matrix& after, Fill fill,
                    double units = kAllowedUnits);

diag::ElementType element_type(const std::string& type);

}  // namespace grader
