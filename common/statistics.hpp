// Statistics of timings: medians, bootstrap intervals, and a decision with three outcomes. Pure
// functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace statistics {

/// Throws std::invalid_argument if there are no values.
inline double median(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("median of no values");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

struct Interval {
  double low = 0, middle = 0, high = 0;  ///< middle: the median
  double half_width() const { return (high - low) / 2; }
};

/// Percentile bootstrap of the median: Efron and Tibshirani, "An Introduction to the Bootstrap",
/// 1993, chapter 13. Deterministic for a seed. Throws std::invalid_argument if there are no values
/// or confidence is not in (0, 1).
inline Interval median_interval(const std::vector<double>& values, double confidence = 0.95,
                                int resamples = 2000, std::uint64_t seed = 1) {
  if (!(confidence > 0 && confidence < 1) || resamples < 1)
    throw std::invalid_argument("median_interval: confidence must lie between 0 and 1");
  Interval interval;
  interval.middle = median(values);
  std::vector<double> medians, sample(values.size());
  medians.reserve(static_cast<std::size_t>(resamples));
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 0x1234567u;
  for (int i = 0; i < resamples; ++i) {
    for (double& value : sample) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      value = values[static_cast<std::size_t>((state >> 33) % values.size())];
    }
    medians.push_back(median(sample));
  }
  std::sort(medians.begin(), medians.end());
  const double tail = (1 - confidence) / 2;
  const auto last = static_cast<double>(medians.size() - 1);
  interval.low = medians[static_cast<std::size_t>(std::floor(tail * last))];
  interval.high = medians[static_cast<std::size_t>(std::ceil((1 - tail) * last))];
  return interval;
}

/// Times of one interleaved pair, in the same unit.
struct Pair {
  double reference = 0, student = 0;
};

/// Median of reference / student over pairs, with its interval: how many times faster than the
/// reference. A slow drift of the clock hits both of a pair and cancels; it would not cancel in a
/// ratio of two medians. Throws std::invalid_argument if a time is not positive.
inline Interval paired_ratio(const std::vector<Pair>& pairs, double confidence = 0.95) {
  std::vector<double> ratios;
  ratios.reserve(pairs.size());
  for (const Pair& pair : pairs) {
    if (!(pair.reference > 0 && pair.student > 0))
      throw std::invalid_argument("paired_ratio: a time is not positive");
    ratios.push_back(pair.reference / pair.student);
  }
  return median_interval(ratios, confidence);
}

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
