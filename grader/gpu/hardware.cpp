#include "grader/gpu/hardware.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "grader/compile/unit.hpp"
#include "grader/gpu/device_files.hpp"
#include "grader/gpu/lab_run.hpp"
#include "grader/gpu/session.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/stage.hpp"
#include "grader/messages.hpp"
#include "grader/os/pool.hpp"

namespace grader::gpu {

using messages::text;
using report::HardwareResult;
using report::StageResult;
using Clock = std::chrono::steady_clock;

std::vector<std::string> LabRun::types_here(const Rung& rung) const {
  std::vector<std::string> types;
  for (const auto& type : rung.types)
    if (why_not(rung, type, {hardware.device.arch, ""}).empty()) types.push_back(type);
  return types;
}

std::string entry_of(const Rung& rung, const std::string& type) {
  return rung.name + "<" + type + ">";
}
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

namespace {

class LabOnGpu {
 public:
  LabOnGpu(const Hardware& hardware, const HardwareTask& task, const HardwareOptions& options,
           Pool& pool, Stopwatch& stopwatch)
      : on_{hardware, *task.lab, task.build.get(), *task.result, options, pool, {}, {}},
        stopwatch_(stopwatch) {
    const std::string& uuid = hardware.device.uuid;
    if (options.box) on_.box = RunnerBox{*options.box, uuid, device_files(uuid), options.budget};
  }

  void run() {
    for (auto& stage : on_.result.stages) {
      const Stage* known = on_.lab.stage(stage.id);
      if (!known || stage.state != report::State::passed) continue;
      on_.progress("checking " + stage.id + " on the GPU");
      const auto start = Clock::now();
      stage.gpu.emplace();
      believed(stage, [&] { check(*known, stage); });
      stage.gpu->seconds = seconds_since(start);
    }
    forget_sessions();  // their contexts hold memory that the timing may need
    // What breaks down from here on must not look like a pass.
    if (!on_.hardware.tools.sanitizer.empty() && !on_.box) {
      try {
        sanitize(on_);
      } catch (const std::exception& error) {
        for (auto& stage : on_.result.stages)
          if (stage.gpu && stage.gpu->state == HardwareResult::State::passed)
            describe_infra(*stage.gpu, error.what());
      }
    }
    for (auto& stage : on_.result.stages) {
      if (!stage.gpu || stage.gpu->state != HardwareResult::State::passed) continue;
      believed(stage, [&] { time_stage(on_, stopwatch_, *on_.lab.stage(stage.id), stage); });
    }
  }

 private:
  /// Does one part of a stage. That the machine failed may be a stranger's own doing, and then it is
  /// theirs: it is believed if it happens again in fresh processes and the GPU looks like it.
  void believed(StageResult& stage, const std::function<void()>& part) {
    const HardwareResult before = *stage.gpu;
    const int tries = on_.box ? 2 : 1;
    for (int i = 0; i < tries; ++i) {
      *stage.gpu = before;
      try {
        part();
      } catch (const std::exception& error) {
        describe_infra(*stage.gpu, error.what());
      }
      if (stage.gpu->state != HardwareResult::State::infra) return;
      forget_sessions();
    }
    if (on_.box && gpu_is_well()) {
      HardwareResult& gpu = *stage.gpu;
      gpu.state = HardwareResult::State::failed;
      gpu.verdict = Verdict::runtime_error;
      gpu.diagnosis = "PROTOCOL";
      gpu.details = {gpu.headline};
      gpu.headline = text("gpu.broke_down", {{"times", tries}});
      gpu.next_step = text("gpu.broke_down.next");
    }
  }

  /// It answers, and others leave room on it.
  bool gpu_is_well() const {
    constexpr std::uint64_t room_mib = 2048;
    const Driver driver = probe_driver();
    return std::any_of(driver.devices.begin(), driver.devices.end(), [&](const Device& one) {
      return one.uuid == on_.hardware.device.uuid && one.memory_mib >= one.used_mib + room_mib;
    });
  }

  void forget_sessions() {
    checks_.clear();
    sessions_.clear();
  }

  RungCheck& rung_check(const std::string& rung, const std::string& type) {
    auto& session = sessions_[type];
    if (!session) {
      HardwareConfig config;
      config.program = on_.build.runner.path.string();
      config.user = on_.options.user;
      config.box = on_.box;
      session = std::make_unique<HardwareSession>(std::move(config));
    }
    auto& check = checks_[rung + "<" + type + ">"];
    if (!check)
      check = std::make_unique<RungCheck>(*session, on_.lab, on_.lab.rung(rung), type,
                                          CallSeeds(on_.options.seed, on_.options.key));
    return *check;
  }

  // ---- right?

  /// What the shapes gave in one type.
  struct TypeResult {
    std::vector<const CaseResult*> cases;
    std::optional<Failure> large;
    std::string large_shape;
    int row = -1;
    std::string no_memory;
    unsigned shapes = 0;
  };

  void check(const Stage& stage, StageResult& result) {
    const Rung& rung = on_.lab.rung(stage.rung);
    const std::vector<std::string> types = on_.types_here(rung);
    if (!can_run(rung, types, result)) return;

    const std::vector<Case> cases = cases_of(on_.lab, stage);
    std::map<std::string, TypeResult> by_type;
    std::vector<std::function<void()>> jobs;
    for (const auto& type : types) {
      RungCheck& checked = rung_check(rung.name, type);
      TypeResult& seen = by_type[type];
      jobs.push_back(
          [this, &stage, &cases, &checked, &seen] { run_shapes(stage, cases, checked, seen); });
    }
    on_.pool.run(jobs);
    conclude(stage, rung, by_type, result);
  }

  /// False if the stage's launchers cannot be run here; the result then says why.
  bool can_run(const Rung& rung, const std::vector<std::string>& types, StageResult& result) {
    HardwareResult& gpu = *result.gpu;
    const Arch here{on_.hardware.device.arch, ""};
    if (types.empty()) {
      gpu.state = HardwareResult::State::skipped;
      gpu.headline = why_not(rung, rung.types.front(), here);
      return false;
    }
    for (const auto& type : rung.types)
      if (const auto why = why_not(rung, type, here); !why.empty()) gpu.notes.push_back(why);
    const GpuUnit& unit = on_.build.unit(rung.file);
    gpu.file = unit.shown_path;
    if (!unit.usable()) {
      not_built(unit, gpu);
      return false;
    }
    for (const auto& type : types) {
      const std::string entry = entry_of(rung, type);
      if (on_.build.has(entry)) continue;
      gpu.state = HardwareResult::State::failed;
      gpu.verdict = Verdict::compile_error;
      gpu.diagnosis = "SIGNATURE";
      gpu.headline = text("stage.signature", {{"function", entry}});
      gpu.details = {text("stage.signature.wanted", {{"signature", signature(rung.name, type)}})};
      gpu.next_step = text("stage.signature.next");
      return false;
    }
    return true;
  }

  static void not_built(const GpuUnit& unit, HardwareResult& gpu) {
    gpu.state = HardwareResult::State::failed;
    gpu.verdict = unit.gate.empty() ? Verdict::compile_error : Verdict::refused;
    gpu.diagnosis = unit.gate.empty() ? "" : "OBJECT-GATE";
    gpu.headline = unit.headline;
    gpu.details = unit.details;
  }

  /// The cases in one type; if all are right, large extents by Freivalds' check.
  void run_shapes(const Stage& stage, const std::vector<Case>& cases, RungCheck& checked,
                  TypeResult& seen) {
    const Rung& rung = on_.lab.rung(stage.rung);
    const bool main_type = checked.type() == rung.main_type();
    for (const auto& shape : cases) {
      if (shape.one_type && !main_type) continue;
      const CaseResult& one = checked.check(shape);
      ++seen.shapes;
      seen.cases.push_back(&one);
      if (!one.right() && (one.failure->kind != Failure::Kind::wrong || telling(one.shape))) return;
    }
    for (const auto& one : seen.cases)
      if (!one->right()) return;
    Caller& session = *sessions_.at(checked.type());
    for (const auto& shape : large_cases(on_.lab, stage, !main_type)) {
      CallSeeds seeds(on_.options.seed, on_.options.key);
      LargeResult large =
          check_large(session, rung, checked.type(), shape,
                      seeds.next(entry_of(rung, checked.type()) + " " + shape.name()));
      if (large.no_memory && on_.box) {  // says the stranger's process
        large.failure.emplace();
        large.failure->kind = Failure::Kind::infra;
        large.failure->outcome.message = text("gpu.no_memory_at_all", {{"shape", shape.name()}});
      } else if (large.no_memory) {
        seen.no_memory = shape.name();
        return;
      }
      ++seen.shapes;
      if (!large.failure) continue;
      seen.large = std::move(large.failure);
      seen.large_shape = shape.name();
      seen.row = large.row;
      return;
    }
  }

  /// From what the types gave to the stage's result; types in the order of lab.toml.
  void conclude(const Stage& stage, const Rung& rung,
                const std::map<std::string, TypeResult>& by_type, StageResult& result) {
    HardwareResult& gpu = *result.gpu;
    const std::vector<std::string> types = on_.types_here(rung);
    FailurePick pick;
    std::set<std::string> notes;
    for (const auto& type : types) {
      const TypeResult& seen = by_type.at(type);
      for (const auto* one : seen.cases) {
        pick.see(*one);
        notes.insert(one->notes.begin(), one->notes.end());
      }
      if (!seen.no_memory.empty()) notes.insert(text("gpu.no_memory", {{"shape", seen.no_memory}}));
      gpu.shapes = std::max(gpu.shapes, seen.shapes);
    }
    gpu.notes.insert(gpu.notes.end(), notes.begin(), notes.end());
    if (const CaseResult* chosen = pick.chosen()) return wrong(stage, result, pick, *chosen);
    for (const auto& type : types)
      if (by_type.at(type).large) return wrong_when_large(rung, gpu, type, by_type.at(type));
    gpu.headline = text("gpu.right", {{"shapes", gpu.shapes}});
    gpu.verdict = Verdict::accepted;
    for (const auto& type : types) on_.right.insert(entry_of(rung, type));
  }

  void wrong(const Stage& stage, StageResult& result, const FailurePick& pick,
             const CaseResult& chosen) {
    HardwareResult& gpu = *result.gpu;
    const Rung& rung = on_.lab.rung(stage.rung);
    const CallOutcome& outcome = chosen.failure->outcome;
    if (outcome.end == CallEnd::infra) {
      describe_infra(gpu, device_error(outcome) == "cudaErrorMemoryAllocation"
                              ? text("gpu.no_memory_at_all", {{"shape", chosen.shape.name()}})
                              : outcome.message);
      return;
    }
    StageResult described;
    described.id = stage.id;
    describe_failure(described, gpu.file, rung_check(rung.name, chosen.type), *pick.smallest(),
                     chosen);
    gpu.state = described.state == report::State::infra ? HardwareResult::State::infra
                                                        : HardwareResult::State::failed;
    gpu.verdict = described.verdict;
    gpu.diagnosis = described.diagnosis;
    gpu.headline = described.headline;
    gpu.details = described.details;
    gpu.next_step = described.next_step;
    gpu.shape = described.shape;
    gpu.type = described.type;
    gpu.line = described.line;
    if (outcome.end == CallEnd::hung) hangs(gpu, entry_of(rung, chosen.type));
    if (chosen.failure->kind == Failure::Kind::api && !outcome.result.errors.empty())
      name_device_error(gpu, rung, chosen.type, outcome, chosen.shape);
  }

  /// On the simulated GPU an endless kernel is known from endless host code; here nobody can tell.
  static void hangs(HardwareResult& gpu, const std::string& entry) {
    gpu.verdict = Verdict::timeout;
    gpu.diagnosis = "HANG";
    gpu.headline = text("gpu.hang", {{"entry", entry}});
    gpu.next_step = text("gpu.hang.next");
  }

  void wrong_when_large(const Rung& rung, HardwareResult& gpu, const std::string& type,
                        const TypeResult& seen) {
    const std::string entry = entry_of(rung, type);
    gpu.state = HardwareResult::State::failed;
    gpu.verdict = Verdict::wrong_answer;
    gpu.diagnosis = "LARGE";
    gpu.shape = seen.large_shape;
    gpu.type = type;
    const Failure& failure = *seen.large;
    if (failure.kind == Failure::Kind::infra) {
      describe_infra(gpu, failure.outcome.message);
    } else if (failure.outcome.end == CallEnd::hung) {
      hangs(gpu, entry);
    } else if (failure.kind == Failure::Kind::api) {
      gpu.verdict = Verdict::runtime_error;
      name_device_error(gpu, rung, type, failure.outcome, std::nullopt);
    } else if (failure.outcome.run.failed_launch) {
      const diag::Diagnosis named = diag::explain(*failure.outcome.run.failed_launch);
      gpu.verdict = named.verdict;
      gpu.diagnosis = named.id;
      gpu.headline = named.headline;
      gpu.details = named.details;
      gpu.next_step = named.next_step;
    } else {
      gpu.headline = text("gpu.large_wrong",
                          {{"entry", entry}, {"shape", seen.large_shape}, {"row", seen.row}});
      gpu.next_step = text("gpu.large_wrong.next");
    }
  }

  /// An error of the device in words; memcheck, if it is here, names the line.
  void name_device_error(HardwareResult& gpu, const Rung& rung, const std::string& type,
                         const CallOutcome& outcome, const std::optional<Case>& shape) {
    const auto& error = outcome.result.errors.front();
    gpu.diagnosis = "CUDA-ERROR";
    gpu.headline =
        text("gpu.device_error",
             {{"entry", entry_of(rung, type)}, {"error", error.name}, {"meaning", error.message}});
    gpu.details.clear();
    gpu.next_step = text("gpu.device_error.next");
    if (on_.hardware.tools.sanitizer.empty() || !shape) return;
    for (const char* tool : {"memcheck", "synccheck"}) {
      const SanitizerReport found =
          run_sanitizer(on_.sanitizer_run(tool), {on_.small_call(rung, type, *shape)});
      if (found.finding.empty()) continue;
      gpu.details.push_back(text("sanitizer.found", {{"tool", tool}, {"finding", found.finding}}));
      gpu.line = found.line;
      gpu.next_step = text(std::string("sanitizer.found.") + tool + ".next");
      return;
    }
  }

  LabRun on_;
  Stopwatch& stopwatch_;
  std::map<std::string, std::unique_ptr<HardwareSession>> sessions_;  ///< by type
  std::map<std::string, std::unique_ptr<RungCheck>> checks_;          ///< by entry
};

}  // namespace

void judge_on_gpu(const Hardware& hardware, const std::vector<HardwareTask>& tasks,
                  const HardwareOptions& options, report::Report& report) {
  if (hardware.tools.sanitizer.empty() && !options.box)
    report.notes.push_back(text("sanitizer.none"));
  Pool pool(options.jobs);
  Stopwatch stopwatch(options, report);
  for (const auto& task : tasks) {
    try {
      LabOnGpu(hardware, task, options, pool, stopwatch).run();
    } catch (const std::exception& error) {
      // The build broke down: nothing of this lab was tried here, and that must not look like a
      // pass.
      for (auto& stage : task.result->stages) {
        if (stage.state != report::State::passed || stage.gpu) continue;
        stage.gpu.emplace();
        describe_infra(*stage.gpu, error.what());
      }
    }
  }
}

}  // namespace grader::gpu
