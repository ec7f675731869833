// Two sentences per curve family, from what was measured: where the minimum lies, and what turns
// there.
#pragma once

#include <string>
#include <vector>

#include "grader/sweep/record.hpp"

namespace grader::sweep {

struct Sentences {
  std::string experiment, variant, type;  ///< variant "": about all variants (experiment "size")
  std::string minimum;                    ///< where it lies, for each size
  std::string turn;                       ///< what changes on the way to it and beyond it
};

/// Differences below this fraction are not called differences.
constexpr double kFlat = 0.03;

/// In the order of the points. Families without any time get no sentences.
std::vector<Sentences> sentences(const Results& results);

/// The parts, for tests. `curves`: the points of one experiment, variant and type, all sizes.
std::string minimum_sentence(const std::vector<Point>& curves);
std::string turn_sentence(const std::vector<Point>& curves, int multiprocessors);

/// What differs between two points, as clauses: "registers 40 -> 168", strongest cause first. Empty
/// if nothing counted differs.
std::vector<std::string> changes(const Point& from, const Point& to, int multiprocessors);

}  // namespace grader::sweep
