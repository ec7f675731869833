#include "grader/report/model.hpp"

#include <algorithm>

#include "grader/messages.hpp"

namespace grader::report {

std::string_view to_string(State state) {
  switch (state) {
    case State::passed:
      return "passed";
    case State::failed:
      return "failed";
    case State::not_started:
      return "not_started";
    case State::locked:
      return "locked";
    case State::infra:
      return "infra";
    case State::skipped:
      return "skipped";
  }
  return "?";
}

std::string_view to_string(HardwareResult::State state) {
  switch (state) {
    case HardwareResult::State::passed:
      return "passed";
    case HardwareResult::State::failed:
      return "failed";
    case HardwareResult::State::skipped:
      return "skipped";
    case HardwareResult::State::infra:
      return "infra";
  }
  return "?";
}

Score score(const LabResult& lab) {
  Score sum;
  for (const auto& stage : lab.stages) {
    if (stage.state == State::skipped) continue;
    ++sum.stages;
    sum.passed += stage.state == State::passed;
    (stage.bonus ? sum.bonus_earned : sum.earned) += stage.earned;
    (stage.bonus ? sum.bonus_possible : sum.possible) += stage.points;
  }
  return sum;
}

Score score(const Report& report) {
  Score sum;
  for (const auto& lab : report.labs) {
    const Score one = score(lab);
    sum.earned += one.earned;
    sum.possible += one.possible;
    sum.bonus_earned += one.bonus_earned;
    sum.bonus_possible += one.bonus_possible;
    sum.passed += one.passed;
    sum.stages += one.stages;
  }
  return sum;
}

ExitCode exit_code(const Report& report) {
  using Gpu = HardwareResult::State;
  bool infra = false, build = false, failed = false, noisy = false;
  for (const auto& lab : report.labs) {
    build = build || (lab.build != BuildStatus::built && lab.build != BuildStatus::infra);
    for (const auto& stage : lab.stages) {
      infra = infra || stage.state == State::infra;
      // A bonus stage that nobody has begun is no failure.
      const bool open =
          stage.bonus && (stage.state == State::not_started || stage.state == State::locked);
      failed = failed || (stage.state != State::passed && stage.state != State::skipped && !open);
      if (!stage.gpu) continue;
      infra = infra || stage.gpu->state == Gpu::infra;
      failed = failed || stage.gpu->state == Gpu::failed;
      noisy = noisy || stage.gpu->inconclusive;
    }
  }
  return infra    ? exit_infrastructure
         : build  ? exit_build
         : failed ? exit_failed
         : noisy  ? exit_inconclusive
                  : exit_ok;
}

std::string next_command(const Report& report, const std::vector<int>& all_labs) {
  for (const auto& lab : report.labs) {
    if (lab.build == BuildStatus::infra) return "make doctor";
    if (lab.build != BuildStatus::built) return "make check LAB=" + std::to_string(lab.id);
    for (const auto& stage : lab.stages) {
      if (stage.gpu && stage.gpu->state == HardwareResult::State::infra) return "make doctor";
      if (stage.gpu && stage.gpu->state == HardwareResult::State::failed)
        return "make hint STAGE=" + stage.id;
      if (stage.gpu && stage.gpu->inconclusive) return "make check LAB=" + std::to_string(lab.id);
      if (stage.state == State::passed || stage.state == State::locked ||
          stage.state == State::skipped)
        continue;
      if (stage.state == State::infra) return "make doctor";
      // A bonus stage that nobody has touched does not stand in the way of the next lab.
      if (stage.bonus && stage.state == State::not_started) continue;
      if (stage.state == State::not_started)
        return messages::text(
            "check.next.write",
            {{"id", stage.id}, {"file", stage.file}, {"line", stage.line}, {"lab", lab.id}});
      return "make hint STAGE=" + stage.id;
    }
  }
  const int last = report.labs.empty() ? 0 : report.labs.back().id;
  const auto following = std::upper_bound(all_labs.begin(), all_labs.end(), last);
  if (following != all_labs.end()) return "make check LAB=" + std::to_string(*following);
  return "make submit";
}

}  // namespace grader::report
