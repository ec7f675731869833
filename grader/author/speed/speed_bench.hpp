// What `measure calibrate` and `measure prove-speed` share: the kernels that speed goals speak of,
// and measuring them on this GPU, all of one type and shape in the same rounds.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/author/measure.hpp"
#include "grader/bench/record.hpp"
#include "grader/commands/common.hpp"
#include "grader/gpu/build.hpp"
#include "grader/gpu/nvml.hpp"
#include "grader/gpu/speed.hpp"

namespace grader {

/// A kernel as it takes part.
struct Kernel {
  std::string build;  ///< "lab1_naive", or "lab1_naive@L1-01-x-along-rows"; "": there is none
  std::string entry;  ///< "gemm_naive<float>"
  auto operator<=>(const Kernel&) const = default;
  std::string name() const { return entry + " (" + build + ")"; }
};

/// One goal with the two who are measured for it.
struct SpeedCase {
  const Lab* lab = nullptr;
  const Rung* rung = nullptr;
  SpeedGoal goal;
  Kernel solution, previous;  ///< without a previous one: the naive yardstick
  gpu::Problem problem() const { return gpu::problem_of(goal, *rung); }
  std::string shape() const;  ///< "4096x4096x4096"
};

/// "float 4096x4096x4096"
std::string name_of(const gpu::Problem& problem);
/// Three digits; "-" for none.
std::string number(const std::optional<double>& value);

/// Which goals.
struct SpeedSelection {
  std::vector<int> labs;            ///< empty = all
  std::vector<std::string> stages;  ///< empty = all
  std::string type;                 ///< "" = all
};

/// The goals of the labs and where the sources of their kernels lie. Needs no GPU.
class SpeedCases {
 public:
  SpeedCases(const Place& place, const SpeedSelection& selection);
  SpeedCases(const SpeedCases&) = delete;
  SpeedCases& operator=(const SpeedCases&) = delete;

  const Workplace& place() const { return place_; }
  const std::vector<SpeedCase>& all() const { return cases_; }
  const Lab& lab_of(const std::string& build) const;
  /// The solution of a lab, with a mutant applied where the build names one.
  SourceOf source(const std::string& build) const;
  /// Of the file that the kernel is in.
  std::string source_sha256(const Kernel& kernel) const;

 private:
  SpeedCase make_case(const Lab& lab, const SpeedGoal& goal) const;

  Workplace place_;
  std::vector<Lab> labs_;
  std::vector<SpeedCase> cases_;
};

/// Kernels of one type and shape: they are measured in the same rounds. A kernel that is the
/// solution of one goal and the technique before another one is measured once.
struct SpeedGroup {
  gpu::Problem problem;
  std::vector<Kernel> kernels;
  std::map<Kernel, std::vector<gpu::Options::Bars>> bars;  ///< of the goals that judge each
  std::map<Kernel, unsigned> launches;                     ///< per request, as far as known
  unsigned naive_launches = 0, cublas_launches = 0;
};

class SpeedBench {
 public:
  /// Compiles all kernels and starts the worker. Throws UserError or InfraError.
  explicit SpeedBench(const SpeedCases& cases);

  std::vector<SpeedGroup>& groups() { return groups_; }
  std::string arch() const { return worker_->info().arch(); }
  const gpu::DeviceInfo& device() const { return worker_->info(); }
  /// Why this GPU does not run the goal's rung; "" if it does.
  std::string why_not(const SpeedCase& one) const;
  /// Every kernel of the group against both yardsticks. For a verdict clear ones are quicker; to
  /// place bars they must not be.
  std::map<Kernel, gpu::TimedComparison> measure(SpeedGroup& group, bool for_verdicts);
  bench::Words provenance(const std::string& command) const;

 private:
  void build_all();
  void make_groups();

  const SpeedCases& cases_;
  gpu::Hardware hardware_;
  std::map<std::string, gpu::GpuBuild> builds_;
  std::vector<SpeedGroup> groups_;
  std::optional<gpu::TimingWorker> worker_;
  std::optional<gpu::Nvml> nvml_;
};

/// "", or the one line that says why a kernel was not measured.
std::string trouble_of(const gpu::TimedComparison& seen);

}  // namespace grader
