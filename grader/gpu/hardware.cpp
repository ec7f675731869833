#include "grader/gpu/hardware.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/core.h>

#include "grader/compile/unit.hpp"
#include "grader/errors.hpp"
#include "grader/gpu/device_files.hpp"
#include "grader/gpu/sanitizer.hpp"
#include "grader/gpu/session.hpp"
#include "grader/gpu/speed.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/stage.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/pool.hpp"
#include "grader/report/text.hpp"

namespace grader::gpu {
namespace {

using messages::text;
using report::HardwareResult;
using report::LabResult;
using report::SanitizerResult;
using report::SpeedResult;
using report::StageResult;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Who measures: one worker for all labs, started when the first goal needs it.
class Stopwatch {
 public:
  Stopwatch(const HardwareOptions& options, report::Report& report)
      : options_(options), report_(report) {}

  /// Null if speed cannot be judged here; the reason is then noted, once.
  TimingWorker* worker() {
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
  Observer* observer() { return nvml_.get(); }

  void give_up(const std::string& why) {
    worker_.reset();
    if (!given_up_) report_.notes.push_back(text("gpu.worker_failed", {{"what", why}}));
    given_up_ = true;
  }

  /// Time of the student's last rung at this type and shape.
  struct Before {
    std::string rung;
    double ms = 0;
  };
  std::map<std::string, Before> before;

 private:
  static std::string version(int number) {
    if (number == 0) return {};
    return fmt::format("{}.{}", number / 10000, number / 100 % 100);
  }
  const HardwareOptions& options_;
  report::Report& report_;
  std::unique_ptr<TimingWorker> worker_;
  std::unique_ptr<Nvml> nvml_;
  bool given_up_ = false;
};

class LabOnGpu {
 public:
  LabOnGpu(const Hardware& hardware, const HardwareTask& task, const HardwareOptions& options,
           Pool& pool, Stopwatch& stopwatch)
      : hardware_(hardware),
        lab_(*task.lab),
        build_(task.build.get()),
        result_(*task.result),
        options_(options),
        pool_(pool),
        stopwatch_(stopwatch) {
    if (options_.box)
      box_ = RunnerBox{*options_.box, hardware_.device.uuid, device_files(hardware_.device.uuid),
                       options_.budget};
  }

  void run() {
    for (auto& stage : result_.stages) {
      const Stage* known = lab_.stage(stage.id);
      if (!known || stage.state != report::State::passed) continue;
      progress("checking " + stage.id + " on the GPU");
      const auto start = Clock::now();
      stage.gpu.emplace();
      believed(stage, [&] { check(*known, stage); });
      stage.gpu->seconds = since(start);
    }
    forget_sessions();  // their contexts hold memory that the timing may need
    // What breaks down from here on must not look like a pass.
    if (!hardware_.tools.sanitizer.empty() && !box_) {
      try {
        sanitize();
      } catch (const std::exception& error) {
        for (auto& stage : result_.stages)
          if (stage.gpu && stage.gpu->state == HardwareResult::State::passed)
            infra(*stage.gpu, error.what());
      }
    }
    for (auto& stage : result_.stages) {
      if (!stage.gpu || stage.gpu->state != HardwareResult::State::passed) continue;
      believed(stage, [&] { time(*lab_.stage(stage.id), stage); });
    }
  }

 private:
  /// Does one part of a stage. That the machine failed may be a stranger's own doing, and then it is
  /// theirs: it is believed if it happens again in fresh processes and the GPU looks like it.
  void believed(StageResult& stage, const std::function<void()>& part) {
    const HardwareResult before = *stage.gpu;
    const int tries = box_ ? 2 : 1;
    for (int i = 0; i < tries; ++i) {
      *stage.gpu = before;
      try {
        part();
      } catch (const std::exception& error) {
        infra(*stage.gpu, error.what());
      }
      if (stage.gpu->state != HardwareResult::State::infra) return;
      forget_sessions();
    }
    if (box_ && gpu_is_well()) {
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
      return one.uuid == hardware_.device.uuid && one.memory_mib >= one.used_mib + room_mib;
    });
  }

  void forget_sessions() {
    checks_.clear();
    sessions_.clear();
  }

  void progress(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }
  static void infra(HardwareResult& gpu, const std::string& what) {
    gpu.state = HardwareResult::State::infra;
    gpu.verdict = Verdict::infra_error;
    gpu.headline = text("verdict.infra", {{"what", what}});
    gpu.next_step = text("verdict.infra.next");
  }

  RungCheck& rung_check(const std::string& rung, const std::string& type) {
    auto& session = sessions_[type];
    if (!session) {
      HardwareConfig config;
      config.program = build_.runner.path.string();
      config.user = options_.user;
      config.box = box_;
      session = std::make_unique<HardwareSession>(std::move(config));
    }
    auto& check = checks_[rung + "<" + type + ">"];
    if (!check)
      check = std::make_unique<RungCheck>(*session, lab_, lab_.rung(rung), type,
                                          CallSeeds(options_.seed, options_.key));
    return *check;
  }

  /// Types of the stage's rung that this GPU runs.
  std::vector<std::string> types_here(const Rung& rung) const {
    std::vector<std::string> types;
    for (const auto& type : rung.types)
      if (why_not(rung, type, {hardware_.device.arch, ""}).empty()) types.push_back(type);
    return types;
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
    const Rung& rung = lab_.rung(stage.rung);
    const std::vector<std::string> types = types_here(rung);
    if (!can_run(rung, types, result)) return;

    const std::vector<Case> cases = cases_of(lab_, stage);
    std::map<std::string, TypeResult> by_type;
    std::vector<std::function<void()>> jobs;
    for (const auto& type : types) {
      RungCheck& checked = rung_check(rung.name, type);
      TypeResult& seen = by_type[type];
      jobs.push_back(
          [this, &stage, &cases, &checked, &seen] { run_shapes(stage, cases, checked, seen); });
    }
    pool_.run(jobs);
    conclude(stage, rung, by_type, result);
  }

  /// False if the stage's launchers cannot be run here; the result then says why.
  bool can_run(const Rung& rung, const std::vector<std::string>& types, StageResult& result) {
    HardwareResult& gpu = *result.gpu;
    const Arch here{hardware_.device.arch, ""};
    if (types.empty()) {
      gpu.state = HardwareResult::State::skipped;
      gpu.headline = why_not(rung, rung.types.front(), here);
      return false;
    }
    for (const auto& type : rung.types)
      if (const auto why = why_not(rung, type, here); !why.empty()) gpu.notes.push_back(why);
    const GpuUnit& unit = build_.unit(rung.file);
    gpu.file = unit.shown_path;
    if (!unit.usable()) {
      not_built(unit, gpu);
      return false;
    }
    for (const auto& type : types) {
      const std::string entry = rung.name + "<" + type + ">";
      if (build_.has(entry)) continue;
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
    const Rung& rung = lab_.rung(stage.rung);
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
    for (const auto& shape : large_cases(lab_, stage, !main_type)) {
      CallSeeds seeds(options_.seed, options_.key);
      LargeResult large =
          check_large(session, rung, checked.type(), shape,
                      seeds.next(rung.name + "<" + checked.type() + "> " + shape.name()));
      if (large.no_memory && box_) {  // says the stranger's process
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
    const std::vector<std::string> types = types_here(rung);
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
    for (const auto& type : types) right_.insert(rung.name + "<" + type + ">");
  }

  void wrong(const Stage& stage, StageResult& result, const FailurePick& pick,
             const CaseResult& chosen) {
    HardwareResult& gpu = *result.gpu;
    const Rung& rung = lab_.rung(stage.rung);
    const CallOutcome& outcome = chosen.failure->outcome;
    if (outcome.end == CallEnd::infra) {
      infra(gpu, device_error(outcome) == "cudaErrorMemoryAllocation"
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
    if (outcome.end == CallEnd::hung) hangs(gpu, rung.name + "<" + chosen.type + ">");
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
    const std::string entry = rung.name + "<" + type + ">";
    gpu.state = HardwareResult::State::failed;
    gpu.verdict = Verdict::wrong_answer;
    gpu.diagnosis = "LARGE";
    gpu.shape = seen.large_shape;
    gpu.type = type;
    const Failure& failure = *seen.large;
    if (failure.kind == Failure::Kind::infra) {
      infra(gpu, failure.outcome.message);
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
    gpu.headline = text("gpu.device_error", {{"entry", rung.name + "<" + type + ">"},
                                             {"error", error.name},
                                             {"meaning", error.message}});
    gpu.details.clear();
    gpu.next_step = text("gpu.device_error.next");
    if (hardware_.tools.sanitizer.empty() || !shape) return;
    for (const char* tool : {"memcheck", "synccheck"}) {
      const SanitizerReport found =
          run_sanitizer(sanitizer_run(tool), {small_call(rung, type, *shape)});
      if (found.finding.empty()) continue;
      gpu.details.push_back(text("sanitizer.found", {{"tool", tool}, {"finding", found.finding}}));
      gpu.line = found.line;
      gpu.next_step = text(std::string("sanitizer.found.") + tool + ".next");
      return;
    }
  }

  std::string read_source(const std::string& file) const {
    try {
      return read_file(options_.root / build_.unit(file).shown_path, 1u << 20);
    } catch (const std::exception&) {
      return {};
    }
  }

  // ---- compute-sanitizer

  SanitizerRun sanitizer_run(const std::string& tool) const {
    SanitizerRun run;
    run.sanitizer = hardware_.tools.sanitizer;
    run.tool = tool;
    run.program = build_.runner.path.string();
    run.folder = options_.scratch;
    run.user = options_.user;
    return run;
  }

  CallSpec small_call(const Rung& rung, const std::string& type, const Case& shape) const {
    const Inputs inputs =
        make_inputs(element_type(type), rung, shape, Fill::integers, Before::poison, options_.seed);
    CallSpec spec;
    spec.entry = rung.name + "<" + type + ">";
    spec.a = inputs.a;
    spec.b = inputs.b;
    spec.c = inputs.c;
    return spec;
  }

  /// Two of the stage's shapes: ragged, with more than one tile if that is small; and with rows
  /// that are further apart than they are wide.
  std::vector<CallSpec> sanitizer_calls(const Stage& stage, const std::string& type) const {
    const Rung& rung = lab_.rung(stage.rung);
    std::vector<CallSpec> calls;
    bool dense = false, strided = false;
    for (const auto& shape : cases_of(lab_, stage)) {
      bool& done = shape.strided() ? strided : dense;
      if (done || !telling(shape) || shape.extents.m * shape.extents.n > 300 * 300) continue;
      done = true;
      calls.push_back(small_call(rung, type, shape));
    }
    return calls;
  }

  void sanitize() {
    struct Part {
      StageResult* stage;
      std::string type;
      std::vector<CallSpec> calls;
    };
    std::vector<Part> parts;
    std::vector<CallSpec> all;
    std::set<std::string> taken;
    for (auto& stage : result_.stages) {
      if (!stage.gpu || stage.gpu->state != HardwareResult::State::passed) continue;
      const Stage& known = *lab_.stage(stage.id);
      for (const auto& type : types_here(lab_.rung(known.rung))) {
        // Stages that share a rung share its findings: the first of them shows them.
        if (!taken.insert(known.rung + "<" + type + ">").second) continue;
        parts.push_back({&stage, type, sanitizer_calls(known, type)});
        all.insert(all.end(), parts.back().calls.begin(), parts.back().calls.end());
      }
    }
    if (all.empty()) return;
    progress("compute-sanitizer over " + lab_.name);
    const auto start = Clock::now();
    const auto& tools = sanitizer_tools();
    // Everything in one process per tool. Only if that is not clean, each launcher by itself.
    std::vector<SanitizerReport> reports(tools.size());
    std::vector<std::function<void()>> jobs;
    for (std::size_t i = 0; i < tools.size(); ++i)
      jobs.push_back([&, i] { reports[i] = run_sanitizer(sanitizer_run(tools[i]), all); });
    pool_.run(jobs);
    for (std::size_t i = 0; i < tools.size(); ++i) {
      for (const auto& part : parts) {
        if (part.stage->gpu->state != HardwareResult::State::passed) continue;
        const SanitizerReport report =
            reports[i].clean() ? reports[i] : run_sanitizer(sanitizer_run(tools[i]), part.calls);
        note(*part.stage, tools[i], part.type, report);
      }
    }
    const double each = since(start) / static_cast<double>(parts.size());
    for (const auto& part : parts) part.stage->gpu->seconds += each;
  }

  void note(StageResult& stage, const std::string& tool, const std::string& type,
            const SanitizerReport& report) const {
    HardwareResult& gpu = *stage.gpu;
    auto known = std::find_if(gpu.sanitizer.begin(), gpu.sanitizer.end(),
                              [&](const SanitizerResult& one) { return one.tool == tool; });
    if (known == gpu.sanitizer.end()) {
      gpu.sanitizer.push_back({});
      known = gpu.sanitizer.end() - 1;
      known->tool = tool;
      known->clean = true;
    }
    if (report.clean()) return;
    // The simulated GPU counts the bytes that an asynchronous copy really reads, and found nothing
    // at these shapes; memcheck counts all that it fills. Told, but no failure.
    if (tool == "memcheck" && report.readable && report.only_wide_reads &&
        read_source(lab_.rung(stage.rung).file).find("async") != std::string::npos) {
      const std::string told = text("sanitizer.async", {{"type", type}});
      if (std::find(gpu.notes.begin(), gpu.notes.end(), told) == gpu.notes.end())
        gpu.notes.push_back(told);
      return;
    }
    known->clean = false;
    known->type = type;
    known->unreadable = !report.readable;
    known->finding = report.readable ? report.finding : report.trouble;
    known->file = report.file;
    known->line = report.line;
    gpu.type = type;
    if (!report.readable) {
      gpu.state = HardwareResult::State::infra;
      gpu.verdict = Verdict::infra_error;
      gpu.headline = text("sanitizer.unreadable", {{"tool", tool}, {"why", report.trouble}});
      gpu.next_step = text("verdict.infra.next");
      return;
    }
    gpu.state = HardwareResult::State::failed;
    gpu.verdict = Verdict::sanitizer;
    gpu.diagnosis = tool;
    std::transform(gpu.diagnosis.begin(), gpu.diagnosis.end(), gpu.diagnosis.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    gpu.headline = text("sanitizer.found", {{"tool", tool}, {"finding", report.finding}});
    gpu.next_step = text("sanitizer.found." + tool + ".next");
    gpu.line = report.line;
    const std::string own = gpu.file.substr(gpu.file.rfind('/') + 1);
    if (!report.file.empty() && report.file.substr(report.file.rfind('/') + 1) != own) {
      gpu.line = 0;  // in a header: named in words
      gpu.details.push_back(fmt::format("{}:{}", report.file, report.line));
    }
  }

  // ---- fast enough?

  void time(const Stage& stage, StageResult& result) {
    HardwareResult& gpu = *result.gpu;
    for (const auto& goal : lab_.speed) {
      if (goal.stage != stage.id) continue;
      const Rung& rung = lab_.rung(stage.rung);
      if (!right_.count(rung.name + "<" + goal.type + ">")) continue;  // not on this GPU
      TimingWorker* const worker = stopwatch_.worker();
      if (!worker) return;
      progress("timing " + stage.id + " in " + goal.type);
      const auto start = Clock::now();
      try {
        time(goal, rung, *worker, gpu);
      } catch (const UserError& error) {
        stopwatch_.give_up(error.what());
      }
      gpu.seconds += since(start);
      if (gpu.state != HardwareResult::State::passed && gpu.verdict != Verdict::too_slow) return;
    }
  }

  void time(const SpeedGoal& goal, const Rung& rung, TimingWorker& worker, HardwareResult& gpu) {
    RunnerSpec spec;
    spec.program = build_.runner.path.string();
    spec.user = options_.user;
    spec.box = box_;
    Runner runner(std::move(spec));
    const std::string arch = fmt::format("sm_{}", hardware_.device.arch);
    const std::string entry = rung.name + "<" + goal.type + ">";
    Competitor competitor{runner, entry};
    const TimedComparison seen = compare(worker, &competitor, problem_of(goal, rung),
                                         stopwatch_.observer(), options_for(goal, arch));
    const SpeedDecision decision = judge_speed(goal, seen, arch);

    SpeedResult speed = speed_result(goal, seen, decision);
    if (seen.outcome == TimingOutcome::trouble) {
      wrong_when_timed(gpu, entry, seen.trouble, speed);
      return;
    }
    if (speed.ms > 0) {
      auto& before = stopwatch_.before[goal.type + shape_name(speed.at)];
      if (before.ms > 0 && before.rung != rung.name) {
        speed.previous = before.rung;
        speed.over_previous = before.ms / speed.ms;
      }
      before = {rung.name, speed.ms};
    }
    if (seen.smaller()) gpu.notes.push_back(seen.note);
    gpu.inconclusive = gpu.inconclusive || speed.verdict == SpeedVerdict::inconclusive;
    if (speed.verdict == SpeedVerdict::fail && gpu.state == HardwareResult::State::passed)
      too_slow(gpu, speed);
    gpu.speed.push_back(std::move(speed));
  }

  /// Right when it was checked, and not when it was timed.
  static void wrong_when_timed(HardwareResult& gpu, const std::string& entry,
                               const Trouble& trouble, const SpeedResult& speed) {
    if (trouble.kind == Trouble::Kind::ended && trouble.fault &&
        trouble.fault->end == CallEnd::infra) {
      infra(gpu, trouble.detail);
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

  void too_slow(HardwareResult& gpu, const SpeedResult& speed) const {
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
    gpu.next_step = text("gpu.slow.next", {{"lab", lab_.id}});
  }

  const Hardware& hardware_;
  const Lab& lab_;
  const GpuBuild& build_;
  LabResult& result_;
  const HardwareOptions& options_;
  Pool& pool_;
  Stopwatch& stopwatch_;
  std::optional<RunnerBox> box_;
  std::map<std::string, std::unique_ptr<HardwareSession>> sessions_;  ///< by type
  std::map<std::string, std::unique_ptr<RungCheck>> checks_;          ///< by entry
  std::set<std::string> right_;                                       ///< entries
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
        stage.gpu->state = HardwareResult::State::infra;
        stage.gpu->verdict = Verdict::infra_error;
        stage.gpu->headline = text("verdict.infra", {{"what", error.what()}});
        stage.gpu->next_step = text("verdict.infra.next");
      }
    }
  }
}

}  // namespace grader::gpu
