#include "grader/bench/gpu_meter.hpp"

#include <algorithm>
#include <future>

#include "grader/commands/common.hpp"
#include "grader/judge/judge.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/os/sha256.hpp"

namespace grader::bench {
namespace fs = std::filesystem;
namespace {

using messages::text;

/// Rounds of naive kernels at large shapes would take most of a bench.
constexpr double kMostNaiveMs = 600;
constexpr double kNaiveRateFloor = 4e12;  ///< FLOP/s; only to foresee the first one
constexpr double kAloneWarmUp = 0.5;      ///< seconds, of cuBLAS alone

std::optional<Error> error_of(const std::optional<gpu::Errors>& seen) {
  if (!seen) return {};
  return Error{rounded(seen->worst), rounded(seen->mean())};
}

}  // namespace

struct GpuMeter::LabState {
  const Lab* lab = nullptr;
  gpu::GpuBuild build;
  std::map<std::string, std::string> shown, bytes, hashes;  ///< by file
  std::unique_ptr<gpu::Runner> runner;
};

GpuMeter::GpuMeter(GpuSetup setup) : setup_(std::move(setup)) {
  const fs::path worker = setup_.place.build / "bin" / "gpu_worker";
  if (!fs::exists(worker)) throw InfraError(text("bench.no_worker"));
  worker_ = std::make_unique<gpu::TimingWorker>(gpu::WorkerSpec{worker.string()});
  nvml_ = std::make_unique<gpu::Nvml>(worker_->info().uuid);

  std::map<int, std::future<gpu::GpuBuild>> building;
  for (const Lab& lab : setup_.labs) {
    auto& state = labs_[lab.id] = std::make_unique<LabState>();
    state->lab = &lab;
    const auto source = [this, &lab](const std::string& file) {
      return source_of(lab, setup_.place.root, setup_.solution, file);
    };
    for (const std::string& file : lab.files()) {
      state->shown[file] = source(file).generic_string();
      const fs::path path = setup_.place.root / source(file);
      if (fs::exists(path)) state->bytes[file] = read_file(path);
      state->hashes[file] = code_sha256(state->bytes[file]);
    }
    building[lab.id] = std::async(std::launch::async, [this, &lab, source] {
      BuildOptions options;
      options.user = setup_.user;
      return gpu::build_gpu(setup_.place, setup_.tools, setup_.arch, lab, source, options);
    });
  }
  if (setup_.progress) setup_.progress(text("bench.building"));
  for (auto& [id, future] : building) {
    LabState& state = *labs_[id];
    state.build = future.get();
    if (state.build.runner.empty()) continue;
    gpu::RunnerSpec spec;
    spec.program = state.build.runner.path.string();
    spec.user = setup_.user;
    state.runner = std::make_unique<gpu::Runner>(std::move(spec));
  }
}

GpuMeter::~GpuMeter() = default;

GpuMeter::LabState& GpuMeter::state(const Point& point) const {
  return *labs_.at(point.lab);
}

std::string GpuMeter::source_sha256(const Point& point) {
  return state(point).hashes[point.file];
}

std::string GpuMeter::source(const Point& point) {
  return state(point).shown[point.file];
}

std::optional<Record> GpuMeter::not_measurable(const Point& point) {
  Record record;
  LabState& lab = state(point);
  const gpu::GpuUnit& unit = lab.build.unit(point.file);
  if (!unit.usable())
    record.note = unit.headline;
  else if (!lab.runner || !lab.build.has(point.entry()))
    record.note = text("bench.no_entry", {{"file", unit.shown_path}});
  else if (const auto why = gpu::why_not(lab.lab->rung(point.rung), point.type, setup_.arch);
           !why.empty())
    record.note = why;
  else
    return {};
  return record;
}

gpu::Options GpuMeter::options() const {
  gpu::Options options;
  options.request_seconds = setup_.request_seconds;
  options.warm_up_seconds = 2 * setup_.request_seconds;
  options.min_rounds = setup_.min_rounds;
  options.max_rounds = setup_.max_rounds;
  options.extra_blocks = 0;
  options.reuse_outputs = true;
  options.keep_process = true;
  options.switch_first = true;
  return options;
}

Yardsticks GpuMeter::yardsticks(const std::string& math, const Shape& shape) {
  Yardsticks result;
  result.math = math;
  result.shape = shape;
  gpu::Options how = options();
  how.naive = 1e3 * shape.flops() / kNaiveRateFloor <= kMostNaiveMs;
  const gpu::Problem problem{gpu::wire_type(math == "tf32" ? "float" : math, math == "tf32"),
                             shape.m, shape.n, shape.k};
  const gpu::TimedComparison seen = gpu::compare(*worker_, nullptr, problem, nvml_.get(), how);
  result.note = seen.note;
  if (seen.outcome != gpu::TimingOutcome::measured || seen.smaller()) return result;
  result.status = Status::measured;
  result.rounds = seen.rounds;
  result.mhz = seen.clock_median;
  if (seen.cublas && !seen.cublas->ms.empty()) result.cublas_ms = rounded(seen.cublas->median_ms());
  if (seen.naive && !seen.naive->ms.empty()) result.naive_ms = rounded(seen.naive->median_ms());
  if (result.cublas_ms) {
    // The naive kernel draws little power: after it cuBLAS on tensor cores starts at a clock that
    // the board cannot hold. Its rate is the one that it keeps, alone.
    how.naive = false;
    how.warm_up_seconds = kAloneWarmUp;
    const gpu::TimedComparison alone = gpu::compare(*worker_, nullptr, problem, nvml_.get(), how);
    if (alone.outcome == gpu::TimingOutcome::measured && alone.cublas &&
        !alone.cublas->ms.empty()) {
      result.cublas_ms = rounded(alone.cublas->median_ms());
      result.mhz = alone.clock_median;
    }
  }
  return result;
}

Record GpuMeter::measure(const Point& point, const Yardsticks& yardsticks) {
  Record record;
  if (yardsticks.status != Status::measured) {
    record.note = yardsticks.note;
    return record;
  }
  LabState& lab = state(point);
  gpu::Options how = options();
  // Naive takes part only where cuBLAS cannot: its ratio to cuBLAS is known.
  how.naive = !yardsticks.cublas_ms && yardsticks.naive_ms;
  how.cublas = yardsticks.cublas_ms.has_value();
  how.errors = true;
  const gpu::Problem problem{gpu::wire_type(point.type, point.tf32), point.shape.m, point.shape.n,
                             point.shape.k};
  gpu::Competitor competitor{*lab.runner, point.entry()};
  const gpu::TimedComparison seen = gpu::compare(*worker_, &competitor, problem, nvml_.get(), how);
  record.note = seen.note;
  if (seen.outcome == gpu::TimingOutcome::trouble) {
    using Kind = gpu::Trouble::Kind;
    const bool wrong = seen.trouble.kind == Kind::wrong || seen.trouble.kind == Kind::late_write;
    record.status = wrong ? Status::wrong : Status::failed;
    record.note = seen.trouble.detail;
    const bool unwritten = seen.trouble.verification && seen.trouble.verification->unwritten;
    if (wrong && unwritten && !setup_.solution)
      for (const Stage& stage : lab.lab->stages)
        if (stage.rung == point.rung && find_todo(lab.bytes[point.file], stage.id).line) {
          record.status = Status::not_started;
          record.note = text("bench.not_started", {{"stage", stage.id}});
          break;
        }
    return record;
  }
  if (seen.outcome != gpu::TimingOutcome::measured || seen.smaller() || !seen.candidate)
    return record;
  record.status = Status::measured;
  record.ms = rounded(seen.candidate->median_ms());
  record.rounds = seen.rounds;
  record.launches = seen.candidate->launches;
  record.verified = seen.verified;
  record.mhz_low = seen.clock_low;
  record.mhz = seen.clock_median;
  record.mhz_high = seen.clock_high;
  record.throttle = gpu::throttle_text(seen.throttle);
  record.over_cublas = ratio_of(seen.over_cublas);
  record.over_naive = ratio_of(seen.over_naive);
  if (record.over_cublas && yardsticks.naive_ms)
    record.over_naive = Ratio{rounded(*yardsticks.naive_ms / record.ms), {}};
  record.errors = error_of(seen.errors);
  record.cublas_errors = error_of(seen.cublas_errors);
  for (const std::string& one : seen.suspect)
    record.note += (record.note.empty() ? "" : "; ") + one;
  return record;
}

std::map<std::string, std::string> GpuMeter::machine() const {
  const gpu::DeviceInfo& info = worker_->info();
  return {{"gpu", info.name},
          {"arch", setup_.arch.name()},
          {"driver", nvml_->driver_version()},
          {"cuda", cuda_version(info.runtime)},
          {"nvcc", setup_.tools.cuda.text()},
          {"cublas", cublas_version(info.cublas)},
          {"multiprocessors", std::to_string(info.multiprocessors)}};
}

std::map<std::string, std::string> GpuMeter::more_provenance() const {
  std::map<std::string, std::string> more;
  if (const auto clock = nvml_->max_sm_clock_mhz())
    more["sm_clock"] = text("bench.clock", {{"mhz", std::to_string(*clock)}});
  more["nvcc_identity"] = setup_.tools.identity;
  more["protocol"] = text("bench.protocol",
                          {{"ms", std::to_string(static_cast<int>(1e3 * setup_.request_seconds))},
                           {"min", std::to_string(setup_.min_rounds)},
                           {"max", std::to_string(setup_.max_rounds)}});
  if (worker_->info().cublas == 0) more["cublas_missing"] = worker_->info().cublas_path;
  return more;
}

}  // namespace grader::bench
