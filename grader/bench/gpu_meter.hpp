// Measures points on the GPU with the protocol of grader/gpu/timing.hpp, with fewer rounds than a
// verdict has: a bench compares, it does not judge.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "grader/bench/run.hpp"
#include "grader/gpu/build.hpp"
#include "grader/gpu/nvml.hpp"
#include "grader/gpu/timing.hpp"

namespace grader::bench {

struct GpuSetup {
  Workplace place;
  gpu::GpuToolchain tools;
  gpu::Arch arch;
  std::vector<Lab> labs;
  bool solution = false;
  unsigned min_rounds = 4, max_rounds = 12;
  double request_seconds = 0.02;
  std::optional<std::pair<unsigned, unsigned>> user;
  std::function<void(const std::string&)> progress;
};

class GpuMeter : public Meter {
 public:
  /// Starts the worker and compiles every lab. Throws UserError or InfraError.
  explicit GpuMeter(GpuSetup setup);
  ~GpuMeter() override;

  std::string source_sha256(const Point& point) override;
  std::string source(const Point& point) override;
  std::optional<Record> not_measurable(const Point& point) override;
  Yardsticks yardsticks(const std::string& math, const Shape& shape) override;
  Record measure(const Point& point, const Yardsticks& yardsticks) override;

  /// What results must agree in to be kept: GPU, driver, libraries, compiler.
  std::map<std::string, std::string> machine() const;
  std::map<std::string, std::string> more_provenance() const;

 private:
  struct LabState;
  gpu::Options options() const;
  LabState& state(const Point& point) const;

  GpuSetup setup_;
  std::map<int, std::unique_ptr<LabState>> labs_;
  std::unique_ptr<gpu::TimingWorker> worker_;
  std::unique_ptr<gpu::Nvml> nvml_;
};

}  // namespace grader::bench
