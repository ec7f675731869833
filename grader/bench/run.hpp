// The loop of a bench: what is known stays, what is missing is measured, and after every point the
// file is whole.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grader/bench/record.hpp"

namespace grader::bench {

/// Who measures on the GPU; simulated in tests.
class Meter {
 public:
  virtual ~Meter() = default;
  /// The hash of what a rung is compiled from: a record of another one is measured again.
  virtual std::string source_sha256(const Point& point) = 0;
  virtual std::string source(const Point& point) = 0;
  /// A reason not to try this point at all, as a record without times; or nothing.
  virtual std::optional<Record> not_measurable(const Point& point) = 0;
  virtual Yardsticks yardsticks(const std::string& math, const Shape& shape) = 0;
  virtual Record measure(const Point& point, const Yardsticks& yardsticks) = 0;
};

struct LoopOptions {
  double most_launch_ms = 250;  ///< a launch that is expected to take longer is skipped
  double limit_seconds = 0;     ///< no new point after that; 0 = no limit
  /// A point whose interval is wider than this fraction of its middle is measured again: in few
  /// and short rounds, one hiccup of the machine is enough. So often at most, in all:
  double most_spread = 0.2;
  unsigned attempts = 3;
  std::function<void(const Results&)> save;
  std::function<void(const std::string&)> progress;  ///< a short line before each point
  std::function<double()> clock;                     ///< seconds; default: the steady clock
};

struct RunSummary {
  std::size_t kept = 0, measured = 0, left = 0;  ///< left: the limit came first
};

/// What one launch of this point will take, from the nearest shape at which it or, if it never ran,
/// the naive yardstick was measured; 0 = unknown.
double estimate_ms(const Results& results, const Point& point);

/// Measures what `plan` holds and `results` does not.
RunSummary run_points(const std::vector<Point>& plan, Meter& meter, Results& results,
                      const LoopOptions& options);

}  // namespace grader::bench
