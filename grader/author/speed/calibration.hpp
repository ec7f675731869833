// Where a speed goal lies, from what was measured; and writing it into lab.toml.
//
// A bar belongs into the gap between a technique and the one before it: high enough that the old
// one misses it even with the grace, low enough that other correct ways of the new one, and the
// solution on a bad day, clear it.
#pragma once

#include <optional>
#include <string>

#include "grader/labs/lab.hpp"

namespace grader::gpu {

/// A bar is at most this share of the solution's worst run.
constexpr double kBelowSolution = 0.85;
/// The bar, less its grace, is at least this many times the best run of the technique before.
constexpr double kAbovePrevious = 1.05;

struct Placed {
  std::optional<double> bar;
  std::string reason;  ///< a key of the catalogue, if there is no place for a bar
};

/// Ratios to one yardstick: the solution's worst run, the previous technique's best. The bar is the
/// geometric middle of the two, at most kBelowSolution of the solution, cut to two digits.
Placed place_bar(double solution_worst, double previous_best, double grace = 0.03);

/// Does the solution clear this bar with margin, and does the technique before it miss it?
bool holds(double bar, double solution_worst, double previous_best, double grace = 0.03);

/// The text of a lab.toml with the bars of one goal changed: its own (`arch` empty) or those of
/// [speed.arch.ARCH], which is added where it is missing. Comments and everything else stay. The
/// goal must come from this very text. Throws std::invalid_argument if the result does not read
/// back as wanted.
std::string with_bars(const std::string& toml, const SpeedGoal& goal, const std::string& arch,
                      const SpeedBars& bars);

}  // namespace grader::gpu
