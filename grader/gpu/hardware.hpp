// Labs on a real GPU, after the simulated one has judged them: right there, too? without findings
// of compute-sanitizer? fast enough?
//
// Points come from the simulated GPU, so that they are the same on every machine. What this adds
// stands in StageResult::gpu, and decides the exit status together with the rest. Only stages that
// passed are run here. Code that is wrong, or has findings, is never timed.
#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/gpu/build.hpp"
#include "grader/gpu/toolchain.hpp"
#include "grader/judge/seeds.hpp"
#include "grader/os/box.hpp"
#include "grader/os/budget.hpp"
#include "grader/report/model.hpp"

namespace grader::gpu {

struct HardwareTask {
  const Lab* lab = nullptr;
  std::shared_future<GpuBuild> build;  ///< may still be compiling
  report::LabResult* result = nullptr;
};

struct HardwareOptions {
  std::uint64_t seed = 0;
  std::optional<Key> key;         ///< of the student; then the seed is not looked at
  unsigned jobs = 2;              ///< runners at a time while nothing is timed
  std::filesystem::path root;     ///< of the project
  std::filesystem::path worker;   ///< build/bin/gpu_worker
  std::filesystem::path scratch;  ///< a folder for logs
  std::optional<std::pair<unsigned, unsigned>> user;
  /// A stranger's code. compute-sanitizer does not run then: it would read the stranger's process
  /// with our rights, and the simulated GPU finds the same errors.
  std::optional<BoxSettings> box;
  std::shared_ptr<Budget> budget;  ///< with a box: of the submission
  std::function<void(const std::string&)> progress;
};

/// Fills `gpu` of the tasks' stages, `report.gpu`, and notes that hold for the whole run.
void judge_on_gpu(const Hardware& hardware, const std::vector<HardwareTask>& tasks,
                  const HardwareOptions& options, report::Report& report);

/// What docs/results/h200/bench.json recorded for the rung of each stage, as a sentence in
/// StageResult::recorded of passed stages. Anything that cannot be read is left out.
void add_recorded(const std::string& bench_json, const Lab& lab, report::LabResult& result);

}  // namespace grader::gpu
