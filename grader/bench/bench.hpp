// What `make bench` runs: a program of its own, since nobody needs it to pass a lab.
#pragma once

#include <filesystem>
#include <vector>

#include "grader/commands/commands.hpp"

namespace grader {

/// Every rung against cuBLAS, the naive yardstick and the CPU. Resumable: what was measured on this
/// GPU with this source is kept.
struct BenchOptions {
  Place place;
  std::vector<int> labs;  ///< empty = all
  bool quick = false;     ///< three shapes, three rounds
  bool solution = false;
  bool no_cpu = false;
  bool form_only = false;     ///< write predictions.toml if it is missing, and stop
  double limit_seconds = 0;   ///< start no new point after that; 0 = no limit
  std::filesystem::path out;  ///< folder; empty: build/bench, or build/bench/solution
  /// Measure nothing: take what these files have newer than the one in `out`.
  std::vector<std::filesystem::path> add;
};
ExitCode bench_labs(const BenchOptions& options);

}  // namespace grader
