#include "grader/gpu/hardware.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "grader/errors.hpp"
#include "grader/gpu/sanitizer.hpp"
#include "grader/gpu/session.hpp"
#include "grader/gpu/speed.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/stage.hpp"
#include "grader/messages.hpp"
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

std::string fixed(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

/// Who measures: one worker for all labs, started when the first goal needs it.
class Stopwatch {
 public:
  Stopwatch(const HardwareOptions& options, report::Report& report)
      : options_(options), report_(report) {}

  /// Null if speed cannot be judged here; the reason is then noted, once.
  Worker* worker() {
    if (worker_ || given_up_) return worker_.get();
    std::error_code error;
    try {
      if (!std::filesystem::exists(options_.worker, error)) {
        throw InfraError(text("gpu.no_worker", {{"file", options_.worker.filename().string()}}));
      }
      WorkerSpec spec;
      spec.program = options_.worker.string();
      worker_ = std::make_unique<Worker>(std::move(spec));
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
    return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100);
  }
  const HardwareOptions& options_;
  report::Report& report_;
  std::unique_ptr<Worker> worker_;
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
        stopwatch_(stopwatch) {}

  void run() {
    for (auto& stage : result_.stages) {
      const Stage* known = lab_.stage(stage.id);
      if (!known || !wanted(*known, stage)) continue;
      progress("checking " + stage.id + " on the GPU");
      const auto start = Clock::now();
      stage.gpu.emplace();
      try {
        check(*known, stage);
      } catch (const std::exception& error) {
        infra(*stage.gpu, error.what());
      }
      stage.gpu->seconds = since(start);
    }
    sessions_.clear();  // their contexts hold memory that the timing may need
    // What breaks down from here on must not look like a pass.
    if (!hardware_.tools.sanitizer.empty()) {
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
      try {
        time(*lab_.stage(stage.id), stage);
      } catch (const std::exception& error) {
        infra(*stage.gpu, error.what());
      }
    }
  }

 private:
  void progress(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }
  static void infra(HardwareResult& gpu, const std::string& what) {
    gpu.state = HardwareResult::State::infra;
    gpu.verdict = "INFRA_ERROR";
    gpu.headline = text("verdict.infra", {{"what", what}});
    gpu.next_step = text("verdict.infra.next");
  }

  /// Passed on sim, or cannot be judged there.
  bool wanted(const Stage& known, const StageResult& stage) const {
    if (stage.state == report::State::passed) return true;
    if (stage.state != report::State::skipped) return false;
    for (const auto& needed : known.needs)
      for (const auto& other : result_.stages)
        if (other.id == needed && other.state != report::State::passed &&
            other.state != report::State::skipped)
          return false;
    return true;
  }

  RungCheck& rung_check(const std::string& rung, const std::string& type) {
    auto& session = sessions_[type];
    if (!session) {
      HardwareConfig config;
      config.program = build_.runner.string();
      config.user = options_.user;
      session = std::make_unique<HardwareSession>(std::move(config));
    }
    auto& check = checks_[rung + "<" + type + ">"];
    if (!check)
      check = std::make_unique<RungCheck>(*session, lab_, lab_.rung(rung), type, options_.seed);
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

  struct Seen {
    std::vector<const CaseResult*> cases;
    std::optional<Failure> large;
    std::string large_shape;
    int row = -1;
    std::string no_memory;
    unsigned shapes = 0;
  };

  void check(const Stage& stage, StageResult& result) {
    HardwareResult& gpu = *result.gpu;
    const Rung& rung = lab_.rung(stage.rung);
    const std::vector<std::string> types = types_here(rung);
    if (types.empty()) {
      gpu.state = HardwareResult::State::skipped;
      gpu.headline = why_not(rung, rung.types.front(), {hardware_.device.arch, ""});
      return;
    }
    for (const auto& type : rung.types)
      if (const auto why = why_not(rung, type, {hardware_.device.arch, ""}); !why.empty())
        gpu.notes.push_back(why);
    const GpuUnit& unit = build_.unit(rung.file);
    gpu.file = unit.shown_path;
    if (!unit.usable()) {
      if (unit.status == BuildStatus::missing && !rung.needs_arch.empty()) {
        result.gpu.reset();  // a bonus of another file that nobody has
        return;
      }
      gpu.state = HardwareResult::State::failed;
      gpu.verdict = unit.gate.empty() ? "COMPILE_ERROR" : "REFUSED";
      gpu.diagnosis = unit.gate.empty() ? "" : "OBJECT-GATE";
      gpu.headline = unit.headline;
      gpu.details = unit.details;
      return;
    }
    for (const auto& needed : stage.needs)
      for (const auto& other : result_.stages)
        if (other.id == needed && other.state == report::State::skipped) {
          gpu.state = HardwareResult::State::skipped;  // not right here, or nobody has begun it
          gpu.headline = text("stage.locked", {{"needs", needed}});
          return;
        }
    for (const auto& type : types) {
      const std::string entry = rung.name + "<" + type + ">";
      if (build_.has(entry)) continue;
      gpu.state = HardwareResult::State::failed;
      gpu.verdict = "COMPILE_ERROR";
      gpu.diagnosis = "SIGNATURE";
      gpu.headline = text("stage.signature", {{"function", entry}});
      gpu.details = {text("stage.signature.wanted", {{"signature", signature(rung.name, type)}})};
      gpu.next_step = text("stage.signature.next");
      return;
    }

    const std::vector<Case> cases = cases_of(lab_, stage);
    std::map<std::string, Seen> by_type;
    std::vector<std::function<void()>> jobs;
    for (const auto& type : types) {
      RungCheck& checked = rung_check(rung.name, type);
      Caller& session = *sessions_.at(type);
      Seen& seen = by_type[type];
      const bool main_type = type == rung.main_type();
      jobs.push_back([this, &stage, &rung, &cases, &checked, &session, &seen, type, main_type] {
        omp_set_num_threads(1);
        for (const auto& shape : cases) {
          if (shape.one_type && !main_type) continue;
          const CaseResult& one = checked.check(shape);
          ++seen.shapes;
          seen.cases.push_back(&one);
          if (!one.right() && (one.failure->kind != Failure::Kind::wrong || telling(one.shape)))
            return;
        }
        for (const auto& one : seen.cases)
          if (!one->right()) return;
        for (const auto& shape : large_cases(lab_, stage, !main_type)) {
          LargeResult large = check_large(session, rung, type, shape, options_.seed);
          if (large.no_memory) {
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
      });
    }
    pool_.run(jobs);

    FailurePick pick;
    std::set<std::string> notes;
    for (const auto& type : types) {
      for (const auto* one : by_type[type].cases) {
        pick.see(*one);
        notes.insert(one->notes.begin(), one->notes.end());
      }
      if (!by_type[type].no_memory.empty())
        notes.insert(text("gpu.no_memory", {{"shape", by_type[type].no_memory}}));
      gpu.shapes = std::max(gpu.shapes, by_type[type].shapes);
    }
    gpu.notes.insert(gpu.notes.end(), notes.begin(), notes.end());
    if (const CaseResult* chosen = pick.chosen()) {
      wrong(stage, result, pick, *chosen);
      return;
    }
    for (const auto& type : types) {
      const Seen& seen = by_type[type];
      if (!seen.large) continue;
      wrong_when_large(rung, gpu, type, seen);
      return;
    }
    gpu.headline = text("gpu.right", {{"shapes", std::to_string(gpu.shapes)}});
    gpu.verdict = "ACCEPTED";
    for (const auto& type : types) right_.insert(rung.name + "<" + type + ">");
    if (result.state == report::State::skipped) {
      // Judged for the first time: what no simulated GPU runs gets its points here.
      result.state = report::State::passed;
      result.verdict = "ACCEPTED";
      result.headline = gpu.headline;
      result.earned = result.points;
    }
  }

  void wrong(const Stage& stage, StageResult& result, const FailurePick& pick,
             const CaseResult& chosen) {
    HardwareResult& gpu = *result.gpu;
    const Rung& rung = lab_.rung(stage.rung);
    if (!rung.needs_arch.empty() && pick.untouched()) {
      const Todo todo = find_todo(read_source(rung.file), stage.id);
      if (todo.line != 0) {  // a bonus that nobody has begun is no failure
        gpu.state = HardwareResult::State::skipped;
        gpu.headline =
            text("stage.not_started",
                 {{"id", stage.id}, {"file", gpu.file}, {"line", std::to_string(todo.line)}});
        return;
      }
    }
    const CallOutcome& outcome = chosen.failure->outcome;
    if (outcome.end == End::infra) {
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
    if (chosen.failure->kind == Failure::Kind::api && !outcome.result.errors.empty())
      name_device_error(gpu, rung, chosen.type, outcome, chosen.shape);
  }

  void wrong_when_large(const Rung& rung, HardwareResult& gpu, const std::string& type,
                        const Seen& seen) {
    const std::string entry = rung.name + "<" + type + ">";
    gpu.state = HardwareResult::State::failed;
    gpu.verdict = "WRONG_ANSWER";
    gpu.diagnosis = "LARGE";
    gpu.shape = seen.large_shape;
    gpu.type = type;
    const Failure& failure = *seen.large;
    if (failure.kind == Failure::Kind::infra) {
      infra(gpu, failure.outcome.message);
    } else if (failure.outcome.end == End::hung) {
      gpu.verdict = "TIMEOUT";
      gpu.diagnosis = "HANG";
      gpu.headline = text("verdict.hang", {{"entry", entry}});
      gpu.next_step = text("verdict.hang.next");
    } else if (failure.kind == Failure::Kind::api) {
      gpu.verdict = "RUNTIME_ERROR";
      name_device_error(gpu, rung, type, failure.outcome, std::nullopt);
    } else if (failure.outcome.run.failed_launch) {
      const diag::Diagnosis named = diag::explain(*failure.outcome.run.failed_launch);
      gpu.verdict = named.verdict;
      gpu.diagnosis = named.id;
      gpu.headline = named.headline;
      gpu.details = named.details;
      gpu.next_step = named.next_step;
    } else {
      gpu.headline =
          text("gpu.large_wrong",
               {{"entry", entry}, {"shape", seen.large_shape}, {"row", std::to_string(seen.row)}});
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
    run.program = build_.runner.string();
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
      gpu.verdict = "INFRA_ERROR";
      gpu.headline = text("sanitizer.unreadable", {{"tool", tool}, {"why", report.trouble}});
      gpu.next_step = text("verdict.infra.next");
      return;
    }
    gpu.state = HardwareResult::State::failed;
    gpu.verdict = "SANITIZER";
    gpu.diagnosis = tool;
    std::transform(gpu.diagnosis.begin(), gpu.diagnosis.end(), gpu.diagnosis.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    gpu.headline = text("sanitizer.found", {{"tool", tool}, {"finding", report.finding}});
    gpu.next_step = text("sanitizer.found." + tool + ".next");
    gpu.line = report.line;
    const std::string own = gpu.file.substr(gpu.file.rfind('/') + 1);
    if (!report.file.empty() && report.file.substr(report.file.rfind('/') + 1) != own) {
      gpu.line = 0;  // in a header: named in words
      gpu.details.push_back(report.file + ":" + std::to_string(report.line));
    }
  }

  // ---- fast enough?

  void time(const Stage& stage, StageResult& result) {
    HardwareResult& gpu = *result.gpu;
    for (const auto& goal : lab_.speed) {
      if (goal.stage != stage.id) continue;
      const Rung& rung = lab_.rung(stage.rung);
      if (!right_.count(rung.name + "<" + goal.type + ">")) continue;  // not on this GPU
      Worker* const worker = stopwatch_.worker();
      if (!worker) return;
      progress("timing " + stage.id + " in " + goal.type);
      const auto start = Clock::now();
      try {
        time(goal, rung, *worker, gpu);
      } catch (const UserError& error) {
        stopwatch_.give_up(error.what());
      }
      gpu.seconds += since(start);
      if (gpu.state != HardwareResult::State::passed && gpu.verdict != "TOO_SLOW") return;
    }
  }

  void time(const SpeedGoal& goal, const Rung& rung, Worker& worker, HardwareResult& gpu) {
    RunnerSpec spec;
    spec.program = build_.runner.string();
    spec.user = options_.user;
    Runner runner(std::move(spec));
    const std::string arch = "sm_" + std::to_string(hardware_.device.arch);
    const std::string entry = rung.name + "<" + goal.type + ">";
    Competitor competitor{runner, entry};
    const Comparison seen = compare(worker, &competitor, problem_of(goal, rung),
                                    stopwatch_.observer(), options_for(goal, arch));
    const Decision decision = judge_speed(goal, seen, arch);

    SpeedResult speed;
    speed.type = goal.type;
    speed.at = {seen.problem.m, seen.problem.n, seen.problem.k};
    speed.by = decision.by;
    speed.ratio = decision.ratio;
    speed.bar = decision.bar;
    const double none = std::numeric_limits<double>::quiet_NaN();
    for (auto* list : {&speed.over_naive, &speed.over_cublas}) std::fill_n(*list, 3, none);
    const auto put = [](const std::optional<statistics::Interval>& from, double(&to)[3]) {
      if (!from) return;
      to[0] = from->low;
      to[1] = from->middle;
      to[2] = from->high;
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

    if (seen.outcome == Outcome::trouble) {
      if (seen.trouble.kind == Trouble::Kind::ended && seen.trouble.fault &&
          seen.trouble.fault->end == End::infra) {
        infra(gpu, seen.trouble.detail);
      } else {
        gpu.state = HardwareResult::State::failed;
        gpu.verdict = "WRONG_ANSWER";
        gpu.diagnosis = "WRONG-WHEN-TIMED";
        gpu.headline =
            text("gpu.timed_wrong", {{"entry", entry}, {"what", printable(seen.trouble.detail)}});
        gpu.next_step = text("gpu.timed_wrong.next");
        gpu.type = goal.type;
        gpu.shape = shape_name(speed.at);
      }
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
    const auto reason = [&] {
      return messages::exists(decision.reason) ? text(decision.reason)
             : !seen.note.empty()              ? seen.note
                                               : decision.reason;
    };
    switch (decision.verdict) {
      case SpeedVerdict::pass:
        speed.verdict = "pass";
        break;
      case SpeedVerdict::fail:
        speed.verdict = "fail";
        if (gpu.state == HardwareResult::State::passed) {
          gpu.state = HardwareResult::State::failed;
          gpu.verdict = "TOO_SLOW";
          gpu.diagnosis = "TOO-SLOW";
          gpu.type = goal.type;
          gpu.shape = shape_name(speed.at);
          gpu.headline = text(
              "gpu.slow", {{"ratio", fixed(speed.ratio, 2)},
                           {"what", speed.by == "cublas" ? "cuBLAS" : "the naive kernel's speed"},
                           {"shape", gpu.shape},
                           {"type", gpu.type},
                           {"bar", fixed(speed.bar, 2)}});
          gpu.next_step = text("gpu.slow.next", {{"lab", std::to_string(lab_.id)}});
        }
        break;
      case SpeedVerdict::inconclusive:
        speed.verdict = "inconclusive";
        speed.reason = reason();
        gpu.inconclusive = true;
        break;
      case SpeedVerdict::not_measured:
        speed.verdict = "not_measured";
        speed.reason = reason();
        break;
    }
    gpu.speed.push_back(std::move(speed));
  }

  const Hardware& hardware_;
  const Lab& lab_;
  const GpuBuild& build_;
  LabResult& result_;
  const HardwareOptions& options_;
  Pool& pool_;
  Stopwatch& stopwatch_;
  std::map<std::string, std::unique_ptr<HardwareSession>> sessions_;  ///< by type
  std::map<std::string, std::unique_ptr<RungCheck>> checks_;          ///< by entry
  std::set<std::string> right_;                                       ///< entries
};

}  // namespace

void judge_on_gpu(const Hardware& hardware, const std::vector<HardwareTask>& tasks,
                  const HardwareOptions& options, report::Report& report) {
  if (hardware.tools.sanitizer.empty()) report.notes.push_back(text("sanitizer.none"));
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
        stage.gpu->verdict = "INFRA_ERROR";
        stage.gpu->headline = text("verdict.infra", {{"what", error.what()}});
        stage.gpu->next_step = text("verdict.infra.next");
      }
    }
  }
}

}  // namespace grader::gpu
