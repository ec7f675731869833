// Speed goals: [[speed]] of a lab.toml, and what a measurement says about one.
//
//     [[speed]]
//     stage = "1.2"                   # judged once the stage is right
//     type = "float"                  # one of the rung's types
//     shape = [4096, 4096, 4096]      # M, N, K
//     naive = 0.9                     # t_naive / t_candidate must reach this, and
//     cublas = 0.10                   # t_cublas / t_candidate this; one of the two may be absent
//     previous = "lab1_naive:gemm_naive@L1-01-x-along-rows"   # the technique below the bar (see
//                                     # Technique in labs/lab.hpp); default: the naive yardstick
//     [speed.arch.sm_75]              # on this architecture instead
//     naive = 0.8
//
// Bars lie in the gap between the technique and the one before it, at most 0.85 of the solution's
// worst run: `make calibrate` puts them there for a new GPU. On an architecture without an entry
// the general numbers hold.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/gpu/timing.hpp"
#include "grader/labs/lab.hpp"
#include "grader/report/model.hpp"
#include "grader/verdict.hpp"

namespace grader::gpu {

/// The bars that hold on an architecture ("sm_90").
SpeedBars bars_on(const SpeedGoal& goal, const std::string& arch);

struct SpeedDecision {
  SpeedVerdict verdict = SpeedVerdict::not_measured;
  /// Why inconclusive or not measured: a key of the message catalogue, "" for pass and fail.
  std::string reason;
  SpeedBars bars;  ///< as judged, without the grace
  /// Which yardstick decided: "naive" or "cublas"; of two, the one that failed or came closest.
  std::string by;
  double ratio = 0, bar = 0;  ///< against that one
  bool suspect =
      false;  ///< a cross-check did not hold: a person should look (TimedComparison::suspect)
};

/// Trouble is a fail (reason "speed.not_right", and the comparison says what). A fail while other
/// processes compute on the device, or at a smaller shape than the bar's, is inconclusive. Without
/// cuBLAS on the machine a goal is judged by its naive bar alone.
SpeedDecision judge_speed(const SpeedGoal& goal, const TimedComparison& comparison,
                          const std::string& arch);

/// A measurement and its decision as the report shows them, but for what came before it.
report::SpeedResult speed_result(const SpeedGoal& goal, const TimedComparison& seen,
                                 const SpeedDecision& decision);

/// Options of a measurement for this goal: its bars, and only the yardsticks it needs.
Options options_for(const SpeedGoal& goal, const std::string& arch, Options base = {});

Problem problem_of(const SpeedGoal& goal, const Rung& rung);

}  // namespace grader::gpu
