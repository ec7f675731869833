// Statistics of timings: medians, bootstrap intervals, and a decision with three outcomes. Pure
// functions. A CUDA program of one file includes statistics.cpp.
#pragma once

#include <cstdint>
#include <vector>

namespace statistics {

/// Throws std::invalid_argument if there are no values.
double median(std::vector<double> values);

struct Interval {
  double low = 0, middle = 0, high = 0;  ///< middle: the median
  double half_width() const { return (high - low) / 2; }
};

/// Percentile bootstrap of the median: Efron and Tibshirani, "An Introduction to the Bootstrap",
/// 1993, chapter 13. Deterministic for a seed. Throws std::invalid_argument if there are no values
/// or confidence is not in (0, 1).
Interval median_interval(const std::vector<double>& values, double confidence = 0.95,
                         int resamples = 2000, std::uint64_t seed = 1);

enum class Decision { pass, fail, inconclusive };

/// Is the ratio at least `bar`, with `grace` (a fraction) in the student's favour? Decided only
/// when the whole interval lies on one side of bar * (1 - grace).
inline Decision decide(const Interval& ratio, double bar, double grace = 0.03) {
  const double edge = bar * (1 - grace);
  if (ratio.low >= edge) return Decision::pass;
  if (ratio.high < edge) return Decision::fail;
  return Decision::inconclusive;
}

/// The same after all blocks have been pooled: an interval that still straddles leaves the word to
/// its median, if that is known to `half_width` (a fraction of it).
inline Decision decide_pooled(const Interval& ratio, double bar, double grace = 0.03,
                              double half_width = 0.01) {
  const Decision first = decide(ratio, bar, grace);
  if (first != Decision::inconclusive || ratio.half_width() > half_width * ratio.middle)
    return first;
  return ratio.middle >= bar * (1 - grace) ? Decision::pass : Decision::fail;
}

}  // namespace statistics
