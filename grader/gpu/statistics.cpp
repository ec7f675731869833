#include "grader/gpu/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace statistics {
namespace {

// A type of this file alone: what the library makes of it is then this file's, too, and not the
// linker's choice among those of files that were compiled without optimisation.
struct Ascending {
  bool operator()(double x, double y) const { return x < y; }
};
constexpr Ascending ascending{};

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("median of no values");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end(), ascending);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Interval median_interval(const std::vector<double>& values, double confidence, int resamples,
                         std::uint64_t seed) {
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
  std::sort(medians.begin(), medians.end(), ascending);
  const double tail = (1 - confidence) / 2;
  const auto last = static_cast<double>(medians.size() - 1);
  interval.low = medians[static_cast<std::size_t>(std::floor(tail * last))];
  interval.high = medians[static_cast<std::size_t>(std::ceil((1 - tail) * last))];
  return interval;
}

}  // namespace statistics
