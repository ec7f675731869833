#include <chrono>
#include <exception>
#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include "grader/errors.hpp"
#include "grader/gpu/lab_run.hpp"
#include "grader/gpu/speed.hpp"
#include "grader/judge/stage.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"

namespace grader::gpu {

using messages::text;
using report::HardwareResult;
using report::SpeedResult;
using report::StageResult;

namespace {

/// "13.1", of 130100; "" of 0.
std::string version(int number) {
  if (number == 0) return {};
  return fmt::format("{}.{}", number / 10000, number / 100 % 100);
}

/// Right when it was checked, and not when it was timed.
void wrong_when_timed(HardwareResult& gpu, const std::string& entry, const Trouble& trouble,
                      const SpeedResult& speed) {
  if (trouble.kind == Trouble::Kind::ended && trouble.fault &&
      trouble.fault->end == CallEnd::infra) {
    describe_infra(gpu, trouble.detail);
    return;
  }
  gpu.state = HardwareResult::State::failed;
  gpu.verdict = Verdict::wrong_answer;
  gpu.diagnosis = "WRONG-WHEN-TIMED";
  gpu.headline = text("gpu.timed_wrong", {{"entry", entry}, {"what", printable(trouble.detail)}});
  gpu.next_step = text("gpu.timed_wrong.next");
  gpu.type = speed.type;
  gpu.shape = shape_name(speed.at);
}

void too_slow(const LabRun& on, HardwareResult& gpu, const SpeedResult& speed) {
  gpu.state = HardwareResult::State::failed;
  gpu.verdict = Verdict::too_slow;
  gpu.diagnosis = "TOO-SLOW";
  gpu.type = speed.type;
  gpu.shape = shape_name(speed.at);
  gpu.headline =
      text("gpu.slow", {{"ratio", fmt::format("{:.2f}", speed.ratio)},
                        {"what", speed.by == "cublas" ? "cuBLAS" : "the naive kernel's speed"},
                        {"shape", gpu.shape},
                        {"type", gpu.type},
                        {"bar", fmt::format("{:.2f}", speed.bar)}});
  gpu.next_step = text("gpu.slow.next", {{"lab", on.lab.id}});
}

void time_goal(LabRun& on, Stopwatch& stopwatch, const SpeedGoal& goal, const Rung& rung,
               TimingWorker& worker, HardwareResult& gpu) {
  RunnerSpec spec;
  spec.program = on.build.runner.path.string();
  spec.user = on.options.user;
  spec.box = on.box;
  Runner runner(std::move(spec));
  const std::string arch = fmt::format("sm_{}", on.hardware.device.arch);
  const std::string entry = entry_of(rung, goal.type);
  Competitor competitor{runner, entry};
  const TimedComparison seen = compare(worker, &competitor, problem_of(goal, rung),
                                       stopwatch.observer(), options_for(goal, arch));
  const SpeedDecision decision = judge_speed(goal, seen, arch);

  SpeedResult speed = speed_result(goal, seen, decision);
  if (seen.outcome == TimingOutcome::trouble) {
    wrong_when_timed(gpu, entry, seen.trouble, speed);
    return;
  }
  if (speed.ms > 0) {
    auto& before = stopwatch.before[goal.type + shape_name(speed.at)];
    if (before.ms > 0 && before.rung != rung.name) {
      speed.previous = before.rung;
      speed.over_previous = before.ms / speed.ms;
    }
    before = {rung.name, speed.ms};
  }
  if (seen.smaller()) gpu.notes.push_back(seen.note);
  gpu.inconclusive = gpu.inconclusive || speed.verdict == SpeedVerdict::inconclusive;
  if (speed.verdict == SpeedVerdict::fail && gpu.state == HardwareResult::State::passed)
    too_slow(on, gpu, speed);
  gpu.speed.push_back(std::move(speed));
}

}  // namespace

TimingWorker* Stopwatch::worker() {
  if (worker_ || given_up_) return worker_.get();
  std::error_code error;
  try {
    if (!std::filesystem::exists(options_.worker, error)) {
      throw InfraError(text("gpu.no_worker", {{"file", options_.worker.filename().string()}}));
    }
    WorkerSpec spec;
    spec.program = options_.worker.string();
    worker_ = std::make_unique<TimingWorker>(std::move(spec));
    const DeviceInfo& info = worker_->info();
    nvml_ = std::make_unique<Nvml>(info.uuid);
    if (report_.gpu) {
      report_.gpu->name = info.name;
      report_.gpu->uuid = info.uuid;
      report_.gpu->cublas = version(info.cublas);
    }
    if (info.cublas == 0) report_.notes.push_back(text("gpu.no_cublas"));
  } catch (const std::exception& failed) {
    give_up(failed.what());
  }
  return worker_.get();
}

void Stopwatch::give_up(const std::string& why) {
  worker_.reset();
  if (!given_up_) report_.notes.push_back(text("gpu.worker_failed", {{"what", why}}));
  given_up_ = true;
}

void time_stage(LabRun& on, Stopwatch& stopwatch, const Stage& stage, StageResult& result) {
  HardwareResult& gpu = *result.gpu;
  for (const auto& goal : on.lab.speed) {
    if (goal.stage != stage.id) continue;
    const Rung& rung = on.lab.rung(stage.rung);
    if (!on.right.count(entry_of(rung, goal.type))) continue;  // not on this GPU
    TimingWorker* const worker = stopwatch.worker();
    if (!worker) return;
    on.progress("timing " + stage.id + " in " + goal.type);
    const auto start = std::chrono::steady_clock::now();
    try {
      time_goal(on, stopwatch, goal, rung, *worker, gpu);
    } catch (const UserError& error) {
      stopwatch.give_up(error.what());
    }
    gpu.seconds += seconds_since(start);
    if (gpu.state != HardwareResult::State::passed && gpu.verdict != Verdict::too_slow) return;
  }
}

}  // namespace grader::gpu
