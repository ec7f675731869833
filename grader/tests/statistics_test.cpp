#include "grader/gpu/statistics.hpp"

#include <cmath>

#include "common/catch2.hpp"
#include "common/inputs.hpp"

namespace {

/// Standard normal, by Box and Muller.
double normal(inputs::SplitMix64& random) {
  const double u = (static_cast<double>(random() >> 11) + 1) / 9007199254740993.0;
  const double v = static_cast<double>(random() >> 11) / 9007199254740992.0;
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
}

}  // namespace

TEST_CASE("median") {
  CHECK(statistics::median({3}) == 3);
  CHECK(statistics::median({3, 1, 2}) == 2);
  CHECK(statistics::median({4, 1, 3, 2}) == 2.5);
  CHECK_THROWS_AS(statistics::median({}), std::invalid_argument);
}

TEST_CASE("the bootstrap interval covers the true median about as often as it says") {
  inputs::SplitMix64 random(17);
  int covered = 0;
  constexpr int trials = 400;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> values;
    for (int i = 0; i < 25; ++i) values.push_back(10 + normal(random));
    const auto interval = statistics::median_interval(values, 0.95, 500);
    CHECK(interval.low <= interval.middle);
    CHECK(interval.middle <= interval.high);
    covered += interval.low <= 10 && 10 <= interval.high;
  }
  CHECK(covered >= trials * 90 / 100);
  CHECK(covered <= trials * 99 / 100);
}

TEST_CASE("three outcomes") {
  using statistics::Decision;
  CHECK(statistics::decide({0.60, 0.61, 0.62}, 0.60) == Decision::pass);
  CHECK(statistics::decide({0.583, 0.59, 0.60}, 0.60) == Decision::pass);  // within the grace
  CHECK(statistics::decide({0.50, 0.52, 0.55}, 0.60) == Decision::fail);
  CHECK(statistics::decide({0.55, 0.60, 0.65}, 0.60) == Decision::inconclusive);
}
