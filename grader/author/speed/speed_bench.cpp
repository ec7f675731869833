#include "grader/author/speed/speed_bench.hpp"

#include <algorithm>
#include <deque>
#include <future>

#include <fmt/format.h>

#include "grader/author/mutants/mutant.hpp"
#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/os/sha256.hpp"
#include "grader/version.hpp"

namespace grader {
namespace fs = std::filesystem;
using messages::text;
using namespace gpu;

std::string SpeedCase::shape() const {
  return fmt::format("{}x{}x{}", goal.m, goal.n, goal.k);
}

std::string name_of(const Problem& problem) {
  return fmt::format("{} {}x{}x{}", type_name(problem.type), problem.m, problem.n, problem.k);
}

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.3g}", *value) : "-";
}

std::string trouble_of(const TimedComparison& seen) {
  if (seen.outcome == TimingOutcome::trouble) return seen.trouble.detail;
  if (seen.outcome != TimingOutcome::measured || seen.smaller()) return seen.note;
  return {};
}

// ---- the goals

SpeedCases::SpeedCases(const Place& given, const SpeedSelection& selection)
    : place_(workplace(given)), labs_(load_labs(place_.root, {})) {
  const auto among = [](const auto& list, const auto& one) {
    return list.empty() || std::find(list.begin(), list.end(), one) != list.end();
  };
  for (const Lab& lab : labs_)
    if (among(selection.labs, lab.id))
      for (const SpeedGoal& goal : lab.speed)
        if (among(selection.stages, goal.stage) &&
            (selection.type.empty() || selection.type == goal.type))
          cases_.push_back(make_case(lab, goal));
  if (cases_.empty()) throw UserError(text("calibrate.no_goals"), exit_usage);
}

SpeedCase SpeedCases::make_case(const Lab& lab, const SpeedGoal& goal) const {
  SpeedCase one;
  one.lab = &lab;
  one.rung = &lab.rung(lab.stage(goal.stage)->rung);
  one.goal = goal;
  one.solution = {lab.name, one.rung->name + "<" + goal.type + ">"};
  if (const auto technique = parse_technique(goal.previous)) {
    const auto found = std::find_if(labs_.begin(), labs_.end(),
                                    [&](const Lab& l) { return l.name == technique->lab; });
    const bool known = found != labs_.end() &&
                       std::any_of(found->rungs.begin(), found->rungs.end(),
                                   [&](const Rung& r) { return r.name == technique->rung; });
    if (!known)
      throw UserError(lab.name + "/lab.toml:" + std::to_string(goal.line) +
                          ": there is no technique " + goal.previous,
                      exit_usage);
    one.previous = {technique->lab + (technique->mutant.empty() ? "" : "@" + technique->mutant),
                    technique->rung + "<" + goal.type + ">"};
  }
  return one;
}

const Lab& SpeedCases::lab_of(const std::string& build) const {
  return *std::find_if(labs_.begin(), labs_.end(),
                       [&](const Lab& l) { return l.name == build.substr(0, build.find('@')); });
}

SourceOf SpeedCases::source(const std::string& build) const {
  const auto at = build.find('@');
  const Lab& lab = lab_of(build);
  fs::path changed;
  std::string of_file;
  if (at != std::string::npos) {
    const fs::path file = place_.root / lab.folder / "mutants" / (build.substr(at + 1) + ".mutant");
    const auto mutant = staff::parse_mutant(read_file(file, 1u << 20), false);
    of_file = mutant.file.empty() ? lab.files().front() : mutant.file;
    const std::string applied = staff::applied(
        mutant, read_file(place_.root / source_of(lab, place_.root, true, of_file), 1u << 20));
    changed = place_.build / "calibrate" / (build + ".cu");
    make_folder(changed.parent_path());
    write_file_atomically(changed, applied);
  }
  return [this, &lab, changed, of_file](const std::string& file) {
    return file == of_file ? changed : source_of(lab, place_.root, true, file);
  };
}

std::string SpeedCases::source_sha256(const Kernel& kernel) const {
  const std::string rung = kernel.entry.substr(0, kernel.entry.find('<'));
  return code_sha256(read_file(
      place_.root / source(kernel.build)(lab_of(kernel.build).rung(rung).file), 1u << 20));
}

// ---- on a GPU

SpeedBench::SpeedBench(const SpeedCases& cases) : cases_(cases), hardware_(probe_hardware()) {
  if (!hardware_.usable) throw UserError(hardware_.reason, exit_infrastructure);
  build_all();
  WorkerSpec worker;
  worker.program = (cases_.place().build / "bin" / "gpu_worker").string();
  worker_.emplace(worker);
  nvml_.emplace(worker_->info().uuid);
  make_groups();
}

std::string SpeedBench::why_not(const SpeedCase& one) const {
  return gpu::why_not(*one.rung, one.goal.type, hardware_.arch);
}

void SpeedBench::build_all() {
  std::map<std::string, std::future<GpuBuild>> wanted;
  const auto want = [&](const std::string& key) {
    if (key.empty() || wanted.count(key)) return;
    const SourceOf from = cases_.source(key);
    wanted.emplace(
        key, std::async(std::launch::async, [this, key, from] {
          GpuBuild built =
              build_gpu(cases_.place(), hardware_.tools, hardware_.arch, cases_.lab_of(key), from);
          if (built.runner.empty())
            throw UserError(key + ": " + (built.units.empty() ? "" : built.units.front().headline),
                            exit_build);
          return built;
        }));
  };
  for (const SpeedCase& one : cases_.all()) {
    if (!why_not(one).empty()) continue;
    want(one.solution.build);
    want(one.previous.build);
  }
  for (auto& [key, building] : wanted) builds_.emplace(key, building.get());
}

void SpeedBench::make_groups() {
  // Each has a context of its own, of up to half a gigabyte.
  const std::size_t most = std::clamp<std::size_t>(device().memory_total >> 32, 1, 12);
  const auto add = [&](const SpeedCase& one, const Kernel& kernel) {
    if (kernel.build.empty()) return;
    const Problem problem = one.problem();
    const SpeedBars bars = bars_on(one.goal, arch());
    const auto same = [&](const SpeedGroup& g) { return name_of(g.problem) == name_of(problem); };
    for (SpeedGroup& group : groups_)
      if (same(group) &&
          std::find(group.kernels.begin(), group.kernels.end(), kernel) != group.kernels.end()) {
        group.bars[kernel].push_back({bars.naive, bars.cublas});
        return;
      }
    const auto room = std::find_if(groups_.begin(), groups_.end(), [&](const SpeedGroup& g) {
      return same(g) && g.kernels.size() < most;
    });
    SpeedGroup& group = room != groups_.end() ? *room : groups_.emplace_back();
    group.problem = problem;
    group.kernels.push_back(kernel);
    group.bars[kernel].push_back({bars.naive, bars.cublas});
  };
  for (const SpeedCase& one : cases_.all()) {
    if (!why_not(one).empty()) continue;
    add(one, one.solution);
    add(one, one.previous);
  }
}

std::map<Kernel, TimedComparison> SpeedBench::measure(SpeedGroup& group, bool for_verdicts) {
  std::deque<Runner> runners;
  std::deque<Competitor> competitors;
  std::vector<Competitor*> list;
  for (const Kernel& kernel : group.kernels) {
    RunnerSpec spec;
    spec.program = builds_.at(kernel.build).runner.path.string();
    list.push_back(&competitors.emplace_back(
        Competitor{runners.emplace_back(std::move(spec)), kernel.entry, group.launches[kernel]}));
  }
  Options options;
  options.naive_launches = group.naive_launches;
  options.cublas_launches = group.cublas_launches;
  if (for_verdicts) {
    for (const Kernel& kernel : group.kernels) options.shared_bars.push_back(group.bars[kernel]);
    if (const auto& only = options.shared_bars.front(); list.size() == 1 && only.size() == 1) {
      options.naive_bar = only.front().naive;
      options.cublas_bar = only.front().cublas;
    }
  }
  std::vector<TimedComparison> seen = compare(*worker_, list, group.problem, &*nvml_, options);
  std::map<Kernel, TimedComparison> results;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].outcome == TimingOutcome::measured && seen[i].candidate)
      group.launches[group.kernels[i]] = seen[i].candidate->launches;
    if (seen[i].naive) group.naive_launches = seen[i].naive->launches;
    if (seen[i].cublas) group.cublas_launches = seen[i].cublas->launches;
    results.emplace(group.kernels[i], std::move(seen[i]));
  }
  return results;
}

bench::Words SpeedBench::provenance(const std::string& command) const {
  const DeviceInfo& gpu = worker_->info();
  return {{"version", version()},
          {"gpu", gpu.name},
          {"uuid", gpu.uuid},
          {"arch", gpu.arch()},
          {"driver", nvml_->driver_version()},
          {"cuda", bench::cuda_version(gpu.runtime)},
          {"nvcc", hardware_.tools.cuda.text()},
          {"nvcc_identity", hardware_.tools.identity},
          {"cublas", bench::cublas_version(gpu.cublas)},
          {"sm_clock_max", fmt::format("{} MHz", nvml_->max_sm_clock_mhz().value_or(0))},
          {"date", bench::utc_now()},
          {"commit", commit_of(cases_.place().root)},
          {"command", command}};
}

}  // namespace grader
