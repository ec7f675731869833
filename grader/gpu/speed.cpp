#include "grader/gpu/speed.hpp"

#include <algorithm>
#include <limits>

#include "grader/messages.hpp"

namespace grader::gpu {

SpeedBars bars_on(const SpeedGoal& goal, const std::string& arch) {
  SpeedBars bars = goal.bars;
  if (const auto found = goal.arch.find(arch); found != goal.arch.end()) {
    if (found->second.naive) bars.naive = found->second.naive;
    if (found->second.cublas) bars.cublas = found->second.cublas;
  }
  return bars;
}

Problem problem_of(const SpeedGoal& goal, const Rung& rung) {
  return {wire_type(goal.type, rung.precision == Precision::tf32), goal.m, goal.n, goal.k};
}

Options options_for(const SpeedGoal& goal, const std::string& arch, Options base) {
  const SpeedBars bars = bars_on(goal, arch);
  base.naive_bar = bars.naive;
  base.cublas_bar = bars.cublas;
  base.naive = bars.naive.has_value();
  base.cublas = bars.cublas.has_value();
  return base;
}

SpeedDecision judge_speed(const SpeedGoal& goal, const TimedComparison& comparison,
                          const std::string& arch) {
  using statistics::Interval;
  SpeedDecision decision;
  decision.bars = bars_on(goal, arch);
  decision.suspect = !comparison.suspect.empty();
  switch (comparison.outcome) {
    case TimingOutcome::measured:
      break;
    case TimingOutcome::trouble:
      decision.verdict = SpeedVerdict::fail;
      decision.reason = "speed.not_right";
      return decision;
    case TimingOutcome::too_large:
      decision.reason = "speed.too_large";
      return decision;
    case TimingOutcome::unavailable:
      decision.reason = "speed.no_ipc";
      return decision;
  }
  bool any = false, failed = false, open = false;
  const auto judge = [&](const char* name, const std::optional<double>& bar,
                         const std::optional<Interval>& ratio) {
    if (!bar || !ratio) return;
    const auto seen = statistics::decide_pooled(*ratio, *bar);
    failed = failed || seen == statistics::Decision::fail;
    open = open || seen == statistics::Decision::inconclusive;
    if (!any || ratio->middle / *bar < decision.ratio / decision.bar) {
      decision.by = name;
      decision.ratio = ratio->middle;
      decision.bar = *bar;
    }
    any = true;
  };
  judge("naive", decision.bars.naive, comparison.over_naive);
  judge("cublas", decision.bars.cublas, comparison.over_cublas);
  if (!any) {
    decision.verdict = SpeedVerdict::not_measured;
    decision.reason = decision.bars.cublas ? "speed.no_cublas" : "speed.no_bar";
    return decision;
  }
  const bool busy = comparison.others > 0, smaller = comparison.smaller();
  if (failed && !busy && !smaller) {
    decision.verdict = SpeedVerdict::fail;
  } else if (failed || open) {
    decision.verdict = SpeedVerdict::inconclusive;
    decision.reason = busy ? "speed.busy" : failed ? "speed.memory_short" : "speed.noisy";
  } else {
    decision.verdict = SpeedVerdict::pass;
  }
  return decision;
}

report::SpeedResult speed_result(const SpeedGoal& goal, const TimedComparison& seen,
                                 const SpeedDecision& decision) {
  report::SpeedResult speed;
  speed.type = goal.type;
  speed.at = {seen.problem.m, seen.problem.n, seen.problem.k};
  speed.verdict = decision.verdict;
  if (decision.verdict == SpeedVerdict::inconclusive ||
      decision.verdict == SpeedVerdict::not_measured)
    speed.reason = messages::exists(decision.reason) ? messages::text(decision.reason)
                   : !seen.note.empty()              ? seen.note
                                                     : decision.reason;
  speed.by = decision.by;
  speed.ratio = decision.ratio;
  speed.bar = decision.bar;
  const auto put = [](const std::optional<statistics::Interval>& from, double(&to)[3]) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    to[0] = from ? from->low : none;
    to[1] = from ? from->middle : none;
    to[2] = from ? from->high : none;
  };
  put(seen.over_naive, speed.over_naive);
  put(seen.over_cublas, speed.over_cublas);
  if (seen.candidate) {
    speed.ms = seen.candidate->median_ms();
    speed.launches = seen.candidate->launches;
    if (!seen.candidate->device_ms.empty()) {
      auto events = seen.candidate->device_ms;
      std::nth_element(events.begin(), events.begin() + events.size() / 2, events.end());
      speed.events_ms = events[events.size() / 2];
    }
  }
  if (seen.naive) speed.naive_ms = seen.naive->median_ms();
  if (seen.cublas) speed.cublas_ms = seen.cublas->median_ms();
  speed.tflops = seen.tflops();
  speed.rounds = seen.rounds;
  speed.clock_low = seen.clock_low.value_or(0);
  speed.clock_median = seen.clock_median.value_or(0);
  speed.clock_high = seen.clock_high.value_or(0);
  speed.throttle = throttle_text(seen.throttle);
  speed.suspect = seen.suspect;
  speed.seconds = seen.seconds;
  return speed;
}

}  // namespace grader::gpu
