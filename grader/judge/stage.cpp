#include "grader/judge/stage.hpp"

#include <omp.h>

#include <algorithm>
#include <cctype>

#include "grader/messages.hpp"
#include "grader/report/text.hpp"

namespace grader {
namespace {

using messages::text;
using report::StageResult;
using simgpu::FindingKind;

std::string first_finding_place(const CallOutcome& outcome, const std::string& file,
                                unsigned& line) {
  if (const simgpu::Finding* finding = diag::worst_finding(outcome.run.launches);
      finding && finding->at.where.line != 0) {
    line = finding->at.where.line;
    return file;
  }
  return {};
}

}  // namespace

bool telling(const Case& shape) {
  const Extents& e = shape.extents;
  return e.m >= 5 && e.n >= 5 && (e.k >= 5 || e.k == 1) && e.m != e.n && e.m * e.n >= 64;
}

LabBench::LabBench(const Lab& lab, const Build& build, const JudgeOptions& options, Pool& pool)
    : lab_(lab), build_(build), options_(options), pool_(pool) {
  config_.grader_program = own_program();
  config_.user = options.user;
  config_.host_threads = options.jobs > 1 ? 1 : 2;
}

const EntryPoint* LabBench::entry(const std::string& name) const {
  for (const auto& one : build_.entries)
    if (one.name == name) return &one;
  return nullptr;
}

RungCheck* LabBench::check(const std::string& rung, const std::string& type) {
  const std::string name = rung + "<" + type + ">";
  const EntryPoint* point = entry(name);
  if (!point || !point->defined) return nullptr;
  auto& slot = checks_[name];
  if (!slot)
    slot = std::make_unique<RungCheck>(session(type), lab_, lab_.rung(rung), type, options_.seed);
  return slot.get();
}

Session& LabBench::session(const std::string& type) {
  auto& slot = sessions_[type];
  if (!slot) slot = std::make_unique<Session>(build_, config_);
  return *slot;
}

Session& LabBench::first_session() {
  return session(lab_.rungs.front().types.front());
}

std::map<std::string, std::vector<const CaseResult*>> LabBench::run_cases(
    const Stage& stage, const std::vector<Case>& cases) {
  std::map<std::string, std::vector<const CaseResult*>> results;
  std::vector<std::function<void()>> jobs;
  for (const auto& type : lab_.rung(stage.rung).types) {
    RungCheck* const checked = check(stage.rung, type);
    auto& list = results[type];
    if (!checked) continue;
    const bool main_type = type == lab_.rung(stage.rung).main_type();
    jobs.push_back([checked, main_type, &list, &cases] {
      omp_set_num_threads(1);  // the sessions use the cores; a spinning team would take them away
      unsigned failed = 0;
      for (const auto& shape : cases) {
        if (shape.one_type && !main_type) {
          list.push_back(nullptr);
          continue;
        }
        const CaseResult& result = checked->check(shape);
        list.push_back(&result);
        if (result.right()) continue;
        // Stop as soon as there is a failure that can be explained; never flood.
        const bool hopeless = result.failure->kind != Failure::Kind::wrong;
        if (hopeless || telling(shape) || ++failed >= 6) break;
      }
    });
  }
  pool_.run(jobs);
  return results;
}

std::vector<LabBench::GoalRun> LabBench::run_goals(const Stage& stage) {
  std::vector<GoalRun> runs;
  const auto& types = lab_.rung(stage.rung).types;
  const std::string& main_type = lab_.rung(stage.rung).main_type();
  for (const auto& goal : lab_.goals) {
    if (goal.stage != stage.id) continue;
    for (const auto& at : goal.at) {
      for (const auto& type : types) {
        // Large extents cost a tenth of a second each: there in one type, at ragged ones in all.
        const bool large = at.m * at.n * at.k > (std::int64_t{4} << 20);
        if (large && type != main_type) continue;
        runs.push_back({&goal, type, at, nullptr});
      }
    }
  }
  std::map<std::string, std::vector<GoalRun*>> by_type;
  for (auto& run : runs) by_type[run.type].push_back(&run);
  std::vector<std::function<void()>> jobs;
  for (auto& [type, list] : by_type) {
    RungCheck* const checked = check(stage.rung, type);
    if (!checked) continue;
    jobs.push_back([checked, &list = list] {
      omp_set_num_threads(1);
      for (auto* run : list) run->measured = &checked->measure(run->at);
    });
  }
  pool_.run(jobs);
  return runs;
}

void describe_failure(StageResult& stage, LabBench& bench, RungCheck& check,
                      const CaseResult& smallest, const CaseResult& chosen) {
  const Failure& failure = *chosen.failure;
  const CallOutcome& outcome = failure.outcome;
  stage.state = report::State::failed;
  stage.shape = chosen.shape.name();
  stage.type = chosen.type;
  stage.file = first_finding_place(outcome, bench.build().shown_path, stage.line);
  stage.printed = chosen.printed;
  const std::string entry = check.entry();

  switch (failure.kind) {
    case Failure::Kind::infra:
      stage.state = report::State::infra;
      stage.verdict = "INFRA_ERROR";
      stage.headline = text("verdict.infra", {{"what", outcome.message}});
      stage.next_step = text("verdict.infra.next");
      return;
    case Failure::Kind::api: {
      stage.verdict = "RUNTIME_ERROR";
      if (!outcome.result.refused.empty()) {
        const auto& refusal = outcome.result.refused.front();
        stage.diagnosis = refusal.unsupported ? "UNSUPPORTED-CALL" : "REFUSED-CALL";
        stage.headline = text("verdict.refused", {{"entry", entry}, {"call", refusal.call}});
        stage.details = {refusal.reason};
        stage.next_step =
            text(refusal.unsupported ? "verdict.unsupported.next" : "verdict.refused.next");
      } else {
        const auto& error = outcome.result.errors.front();
        stage.diagnosis = "CUDA-ERROR";
        stage.headline =
            text("verdict.api", {{"entry", entry}, {"call", error.call}, {"error", error.name}});
        if (!error.message.empty()) stage.details = {error.message};
        stage.next_step = text("verdict.api.next");
      }
      return;
    }
    case Failure::Kind::ended: {
      stage.verdict = "RUNTIME_ERROR";
      switch (outcome.end) {
        case End::crashed:
          stage.diagnosis = "CRASH";
          stage.headline =
              text("verdict.crash", {{"entry", entry}, {"signal", signal_name(outcome.signal)}});
          stage.next_step = text("verdict.crash.next");
          break;
        case End::exited:
          stage.diagnosis = "EXIT";
          stage.headline = text(
              "verdict.exit", {{"entry", entry}, {"status", std::to_string(outcome.exit_status)}});
          stage.next_step = text("verdict.exit.next");
          break;
        case End::threw:
          stage.diagnosis = "EXCEPTION";
          stage.headline = text("verdict.threw", {{"entry", entry}});
          stage.details = {outcome.message};
          stage.next_step = text("verdict.threw.next");
          break;
        case End::hung:
          stage.verdict = "TIMEOUT";
          stage.diagnosis = "HANG";
          stage.headline = text("verdict.hang", {{"entry", entry}});
          stage.next_step = text("verdict.hang.next");
          break;
        case End::memory:
          stage.verdict = "MEM_LIMIT";
          stage.diagnosis = "MEMORY";
          stage.headline = text("verdict.memory", {{"entry", entry}});
          stage.next_step = text("verdict.memory.next");
          break;
        default:
          stage.diagnosis = "PROTOCOL";
          stage.headline = text("verdict.protocol", {{"entry", entry}});
          stage.details = {outcome.message};
          stage.next_step = text("verdict.protocol.next");
      }
      return;
    }
    case Failure::Kind::wrong:
      break;
  }
  const diag::Diagnosis named = check.diagnose(chosen);
  stage.verdict = named.verdict;
  stage.diagnosis = named.id;
  stage.headline = named.headline;
  stage.details = named.details;
  stage.next_step = named.next_step;
  if (smallest.shape.name() != chosen.shape.name())
    stage.details.push_back(text("detail.smallest", {{"shape", smallest.shape.name()}}));
}

report::GoalResult goal_result(const LabBench::GoalRun& run) {
  report::GoalResult result;
  result.key = run.goal->key;
  result.what = run.goal->what;
  result.type = run.type;
  result.at = run.at;
  result.advice = run.goal->advice;
  const Observed& seen = run.measured->observed;
  result.measured = run.goal->measure(seen);
  result.bound = run.goal->bound(run.at, run.goal->parameters, seen.element_bytes);
  result.met = result.measured <= result.bound;  // false for NaN
  if (!result.met) result.diagnosis = run.goal->diagnosis;
  return result;
}

void describe_missed(StageResult& stage, const std::vector<LabBench::GoalRun>& runs) {
  // The goal that is furthest off says most; aligned extents come first in each goal and win ties.
  const LabBench::GoalRun* worst = nullptr;
  report::GoalResult shown;
  double ratio = 0;
  for (const auto& run : runs) {
    const report::GoalResult result = goal_result(run);
    if (result.met || result.advice) continue;
    const double off = result.bound > 0 ? result.measured / result.bound : 1e30;
    if (!worst || off > ratio * 1.001) {
      worst = &run;
      shown = result;
      ratio = off;
    }
  }
  if (!worst) return;
  const std::string sentence = text("goal.sentence", {{"what", shown.what},
                                                      {"measured", report::number(shown.measured)},
                                                      {"bound", report::number(shown.bound)},
                                                      {"shape", shape_name(shown.at)},
                                                      {"type", shown.type}});
  const diag::Diagnosis named = diag::explain_goal(worst->goal->diagnosis, sentence);
  stage.state = report::State::failed;
  stage.verdict = "GOAL_MISSED";
  stage.diagnosis = named.id;
  stage.headline = named.headline;
  stage.details.push_back(worst->goal->missed);
  stage.details.insert(stage.details.end(), named.details.begin(), named.details.end());
  stage.next_step = named.next_step;
  stage.shape = shape_name(shown.at);
  stage.type = shown.type;
}

}  // namespace grader
