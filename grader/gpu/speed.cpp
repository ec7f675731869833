#include "grader/gpu/speed.hpp"

#include <algorithm>

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

Decision judge_speed(const SpeedGoal& goal, const Comparison& comparison, const std::string& arch) {
  using statistics::Interval;
  Decision decision;
  decision.bars = bars_on(goal, arch);
  decision.suspect = !comparison.suspect.empty();
  switch (comparison.outcome) {
    case Outcome::measured:
      break;
    case Outcome::trouble:
      decision.verdict = SpeedVerdict::fail;
      decision.reason = "speed.not_right";
      return decision;
    case Outcome::too_large:
      decision.reason = "speed.too_large";
      return decision;
    case Outcome::unavailable:
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

}  // namespace grader::gpu
