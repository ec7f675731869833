// One lab on the GPU: what the parts of its judgement share. Each part takes the stages that passed
// the one before: right (hardware.cpp), clean (lab_sanitizer.cpp), fast (lab_speed.cpp).
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grader/gpu/hardware.hpp"
#include "grader/gpu/nvml.hpp"
#include "grader/gpu/runner.hpp"
#include "grader/gpu/sanitizer.hpp"
#include "grader/gpu/timing.hpp"
#include "grader/judge/cases.hpp"
#include "grader/os/pool.hpp"

namespace grader::gpu {

struct LabRun {
  const Hardware& hardware;
  const Lab& lab;
  const GpuBuild& build;
  report::LabResult& result;
  const HardwareOptions& options;
  Pool& pool;
  std::optional<RunnerBox> box;  ///< of a stranger's processes
  std::set<std::string> right;   ///< entries that were checked and found right

  void progress(const std::string& what) const {
    if (options.progress) options.progress(what);
  }
  /// Types of a rung that this GPU runs, in the order of lab.toml.
  std::vector<std::string> types_here(const Rung& rung) const;
  SanitizerRun sanitizer_run(const std::string& tool) const;
  CallSpec small_call(const Rung& rung, const std::string& type, const Case& shape) const;
};

/// As a runner names a launcher: "gemm_naive<float>".
std::string entry_of(const Rung& rung, const std::string& type);
double seconds_since(std::chrono::steady_clock::time_point start);

/// compute-sanitizer over the launchers of all stages that passed.
void sanitize(LabRun& on);

/// Who measures: one worker for all labs, started when the first goal needs it.
class Stopwatch {
 public:
  Stopwatch(const HardwareOptions& options, report::Report& report)
      : options_(options), report_(report) {}

  /// Null if speed cannot be judged here; the reason is then noted, once.
  TimingWorker* worker();
  Observer* observer() { return nvml_.get(); }
  void give_up(const std::string& why);

  /// Time of the student's last rung at this type and shape.
  struct Before {
    std::string rung;
    double ms = 0;
  };
  std::map<std::string, Before> before;

 private:
  const HardwareOptions& options_;
  report::Report& report_;
  std::unique_ptr<TimingWorker> worker_;
  std::unique_ptr<Nvml> nvml_;
  bool given_up_ = false;
};

/// The speed goals of a stage that passed.
void time_stage(LabRun& on, Stopwatch& stopwatch, const Stage& stage, report::StageResult& result);

}  // namespace grader::gpu
