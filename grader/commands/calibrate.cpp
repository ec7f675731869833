// Speed goals from measurements: `grader calibrate` places them for this GPU, `grader prove-speed`
// shows that they hold.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <future>
#include <iomanip>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>

#include <nlohmann/json.hpp>

#include "grader/commands/common.hpp"
#include "grader/errors.hpp"
#include "grader/gpu/build.hpp"
#include "grader/gpu/calibration.hpp"
#include "grader/gpu/speed.hpp"
#include "grader/gpu/toolchain.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/staff/mutant.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using messages::text;
using nlohmann::json;
using namespace gpu;

/// One goal with the two who are measured for it.
struct Case {
  const Lab* lab = nullptr;
  const Rung* rung = nullptr;
  SpeedGoal goal;
  std::string solution, previous;  ///< keys of builds; previous "" = the naive yardstick
  std::string solution_entry, previous_entry;  ///< "gemm_naive<float>"
  std::string skipped;                         ///< why not on this GPU
};

class Bench {
 public:
  Bench(const Place& given, const std::vector<int>& only)
      : place_(workplace(given)), labs_(load_labs(place_.root, {})) {
    hardware_ = probe_hardware();
    if (!hardware_.usable) throw UserError(hardware_.reason, exit_infrastructure);
    for (const Lab& lab : labs_)
      if (only.empty() || std::find(only.begin(), only.end(), lab.id) != only.end())
        for (const SpeedGoal& goal : lab.speed) cases_.push_back(make_case(lab, goal));
    if (cases_.empty()) throw UserError(text("calibrate.no_goals"), exit_usage);
    build_all();
    WorkerSpec worker;
    worker.program = (place_.build / "bin" / "gpu_worker").string();
    worker_.emplace(worker);
    nvml_.emplace(worker_->info().uuid);
  }

  std::vector<Case>& cases() { return cases_; }
  const Workplace& place() const { return place_; }
  std::string arch() const { return worker_->info().arch(); }
  const DeviceInfo& device() const { return worker_->info(); }

  /// `key`: of a build; "" measures the yardsticks alone.
  Comparison measure(const Case& one, const std::string& key, const std::string& entry,
                     const Options& options) {
    RunnerSpec spec;
    spec.program = builds_.at(key).runner.string();
    Runner runner(std::move(spec));
    Competitor competitor{runner, entry};
    return compare(*worker_, &competitor, problem_of(one.goal, *one.rung), &*nvml_, options);
  }

  json provenance(const std::string& command) const {
    const DeviceInfo& gpu = worker_->info();
    std::array<char, 32> date{};
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    ProcessSpec git;
    git.argv = {"git", "rev-parse", "--short", "HEAD"};
    git.environment = minimal_environment();
    git.folder = place_.root.string();
    std::string commit;
    if (!find_program("git").empty())
      if (const RunResult said = run_process(git, std::chrono::seconds(5)); said.ok())
        commit = said.output.substr(0, said.output.find('\n'));
    return {{"gpu", gpu.name},
            {"uuid", gpu.uuid},
            {"arch", gpu.arch()},
            {"driver", nvml_->driver_version()},
            {"cuda",
             std::to_string(gpu.runtime / 1000) + "." + std::to_string(gpu.runtime % 1000 / 10)},
            {"nvcc", hardware_.tools.identity},
            {"cublas", gpu.cublas},
            {"sm_clock_max_mhz", nvml_->max_sm_clock_mhz().value_or(0)},
            {"date", date.data()},
            {"commit", commit},
            {"command", command}};
  }

 private:
  Case make_case(const Lab& lab, const SpeedGoal& goal) const {
    Case one;
    one.lab = &lab;
    one.rung = &lab.rung(lab.stage(goal.stage)->rung);
    one.goal = goal;
    one.skipped = why_not(*one.rung, goal.type, hardware_.arch);
    one.solution = lab.name;
    one.solution_entry = one.rung->name + "<" + goal.type + ">";
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
      one.previous = technique->lab + (technique->mutant.empty() ? "" : "@" + technique->mutant);
      one.previous_entry = technique->rung + "<" + goal.type + ">";
    }
    return one;
  }

  /// The solution of a lab, a mutant applied where the key names one.
  GpuBuild build(const std::string& key) const {
    const auto at = key.find('@');
    const Lab& lab = *std::find_if(labs_.begin(), labs_.end(),
                                   [&](const Lab& l) { return l.name == key.substr(0, at); });
    fs::path changed;
    if (at != std::string::npos) {
      const fs::path file = place_.root / lab.folder / "mutants" / (key.substr(at + 1) + ".mutant");
      const auto mutant = staff::parse_mutant(read_file(file, 1u << 20), false);
      const std::string source = staff::applied(
          mutant, read_file(place_.root / source_of(lab, place_.root, true), 1u << 20));
      changed = place_.build / "calibrate" / (key + ".cu");
      make_folder(changed.parent_path());
      write_file_atomically(changed, source);
    }
    GpuBuild built =
        build_gpu(place_, hardware_.tools, hardware_.arch, lab, [&](const std::string& file) {
          return file == "gemm.cu" && !changed.empty() ? changed
                                                       : source_of(lab, place_.root, true, file);
        });
    if (built.runner.empty())
      throw UserError(key + ": " + (built.units.empty() ? "" : built.units.front().headline),
                      exit_build);
    return built;
  }

  void build_all() {
    std::map<std::string, std::future<GpuBuild>> wanted;
    const auto want = [&](const std::string& key) {
      if (!key.empty() && !wanted.count(key))
        wanted.emplace(key, std::async(std::launch::async, [this, key] { return build(key); }));
    };
    for (const Case& one : cases_) {
      if (!one.skipped.empty()) continue;
      want(one.solution);
      want(one.previous);
    }
    for (auto& [key, building] : wanted) builds_.emplace(key, building.get());
  }

  Workplace place_;
  std::vector<Lab> labs_;
  Hardware hardware_;
  std::vector<Case> cases_;
  std::map<std::string, GpuBuild> builds_;
  std::optional<Worker> worker_;
  std::optional<Nvml> nvml_;
};

std::string shape_of(const SpeedGoal& goal) {
  return std::to_string(goal.m) + "x" + std::to_string(goal.n) + "x" + std::to_string(goal.k);
}

std::string number(double value) {
  std::ostringstream out;
  out << std::setprecision(3) << value;
  return out.str();
}
std::string number(const std::optional<double>& value) {
  return value ? number(*value) : "-";
}

/// Worst and best of several runs against one yardstick.
struct Span {
  std::optional<double> worst, best;
  void add(const std::optional<statistics::Interval>& ratio) {
    if (!ratio) return;
    worst = worst ? std::min(*worst, ratio->low) : ratio->low;
    best = best ? std::max(*best, ratio->high) : ratio->high;
  }
};

struct Spans {
  Span naive, cublas;
  void add(const Comparison& seen) {
    naive.add(seen.over_naive);
    cublas.add(seen.over_cublas);
  }
};

/// "measured", or the one line that says why it could not be.
std::string trouble_of(const Comparison& seen) {
  if (seen.outcome == Outcome::trouble) return seen.trouble.detail;
  if (seen.outcome != Outcome::measured) return seen.note;
  return {};
}

void row(const std::string& stage, const std::string& what, const std::string& naive,
         const std::string& cublas, const std::string& rest) {
  std::cout << std::left << std::setw(7) << stage << std::setw(36) << what << std::right
            << std::setw(8) << naive << std::setw(9) << cublas << "  " << rest << '\n';
}

}  // namespace

ExitCode calibrate(const CalibrateOptions& options) {
  Bench bench(options.place, options.labs);
  const std::string arch = bench.arch();
  std::cout << bench.device().name << " · " << arch << " · "
            << text("calibrate.rule", {{"runs", std::to_string(options.runs)}}) << "\n\n";
  row("stage", "", "x naive", "x cuBLAS", "");
  unsigned refused = 0;
  std::map<std::string, std::vector<std::pair<SpeedGoal, SpeedBars>>> changes;
  for (const Case& one : bench.cases()) {
    const std::string head = one.goal.type + " " + shape_of(one.goal);
    if (!one.skipped.empty()) {
      row(one.goal.stage, head, "", "", one.skipped);
      continue;
    }
    Spans solution, previous;
    std::string trouble;
    for (unsigned run = 0; run < options.runs && trouble.empty(); ++run) {
      const Comparison seen = bench.measure(one, one.solution, one.solution_entry, {});
      trouble = trouble_of(seen);
      if (!trouble.empty()) break;
      solution.add(seen);
      if (!one.previous.empty()) {
        const Comparison before = bench.measure(one, one.previous, one.previous_entry, {});
        trouble = trouble_of(before);
        previous.add(before);
      } else if (seen.over_naive) {
        // The naive yardstick itself: once its own speed, and its share of cuBLAS.
        previous.naive.add(statistics::Interval{1, 1, 1});
        if (seen.naive && seen.cublas) {
          const double share = seen.cublas->median_ms() / seen.naive->median_ms();
          previous.cublas.add(statistics::Interval{share, share, share});
        }
      }
    }
    if (!trouble.empty()) {
      row(one.goal.stage, head, "", "", trouble);
      ++refused;
      continue;
    }
    row(one.goal.stage, head + ", worst", number(solution.naive.worst),
        number(solution.cublas.worst), "");
    row("", one.previous.empty() ? "the naive kernel" : one.previous_entry + ", best",
        number(previous.naive.best), number(previous.cublas.best), "");
    SpeedBars bars;
    std::string why;
    const auto place = [&](const Span& high, const Span& low, std::optional<double>& bar) {
      if (!high.worst || !low.best) return;
      const Placed placed = place_bar(*high.worst, *low.best);
      bar = placed.bar;
      if (!placed.bar) why = placed.reason;
    };
    place(solution.naive, previous.naive, bars.naive);
    place(solution.cublas, previous.cublas, bars.cublas);
    const bool none = !bars.naive && !bars.cublas;
    // Bars as they stand: a goal that the solution does not clear with margin may not stay.
    const SpeedBars now = bars_on(one.goal, arch);
    const auto clears = [](const std::optional<double>& bar, const std::optional<double>& worst) {
      return !bar || !worst || *bar <= kBelowSolution * *worst;
    };
    const bool kept_clear =
        clears(now.naive, solution.naive.worst) && clears(now.cublas, solution.cublas.worst);
    row("", none ? "bar as it stands" : "bar", number(none ? now.naive : bars.naive),
        number(none ? now.cublas : bars.cublas), why.empty() ? "" : text(why));
    if (none) {
      ++refused;
      if (!kept_clear) std::cout << "       " << text("calibrate.refused") << '\n';
    } else {
      changes[one.lab->name].emplace_back(one.goal, bars);
    }
  }
  if (options.write) {
    for (auto& [lab, list] : changes) {
      const fs::path file = bench.place().root / lab / "lab.toml";
      std::string toml = read_file(file, 1u << 20);
      // From the last to the first, so that the lines of those before stay what they were.
      std::sort(list.begin(), list.end(),
                [](const auto& x, const auto& y) { return x.first.line > y.first.line; });
      for (const auto& [goal, bars] : list)
        toml = with_bars(toml, goal, options.base ? "" : arch, bars);
      write_file_atomically(file, toml);
      std::cout << text("calibrate.wrote", {{"file", lab + "/lab.toml"}}) << '\n';
    }
  }
  return refused == 0 ? exit_ok : exit_failed;
}

ExitCode prove_speed(const ProveOptions& options) {
  Bench bench(options.place, options.labs);
  const std::string arch = bench.arch();
  const auto start = std::chrono::steady_clock::now();
  const auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  json all = json::object();
  if (std::error_code error; fs::exists(options.out, error)) {
    all = json::parse(read_file(options.out, 64u << 20), nullptr, false);
    // Other hardware, other kernels: begun anew.
    if (!all.is_object() || all.value("gpu", "") != bench.device().name) all = json::object();
  }
  all["gpu"] = bench.device().name;
  all["protocol"] = {{"request_seconds", Options{}.request_seconds},
                     {"min_rounds", Options{}.min_rounds},
                     {"grace", Options{}.grace}};
  if (!all.contains("runs")) all["runs"] = json::array();
  json provenance = bench.provenance("grader prove-speed");
  if (!all.contains("goals")) all["goals"] = json::object();
  unsigned wrong = 0;
  bool out_of_time = false;
  for (unsigned repeat = 0; repeat < options.repeats && !out_of_time; ++repeat) {
    for (const Case& one : bench.cases()) {
      if (!one.skipped.empty() || (!options.stage.empty() && options.stage != one.goal.stage))
        continue;
      if (options.seconds > 0 && spent() > options.seconds) {
        out_of_time = true;
        break;
      }
      json& of_goal = all["goals"][one.goal.stage + " " + one.goal.type + " " + shape_of(one.goal)];
      const SpeedBars bars = bars_on(one.goal, arch);
      const json as_judged = {{"naive", bars.naive.value_or(0)},
                              {"cublas", bars.cublas.value_or(0)}};
      if (of_goal.is_null() || of_goal["bars"] != as_judged) of_goal = {{"bars", as_judged}};
      for (const bool solution : {true, false}) {
        const std::string& key = solution ? one.solution : one.previous;
        if (key.empty()) continue;
        const std::string& entry = solution ? one.solution_entry : one.previous_entry;
        const Comparison seen = bench.measure(one, key, entry, options_for(one.goal, arch));
        const Decision decision = judge_speed(one.goal, seen, arch);
        const char* const verdict = decision.verdict == SpeedVerdict::pass   ? "pass"
                                    : decision.verdict == SpeedVerdict::fail ? "fail"
                                    : decision.verdict == SpeedVerdict::inconclusive
                                        ? "inconclusive"
                                        : "not_measured";
        const bool as_it_should =
            decision.verdict == (solution ? SpeedVerdict::pass : SpeedVerdict::fail) &&
            seen.outcome == Outcome::measured;
        wrong += as_it_should ? 0 : 1;
        json& of_kernel = of_goal[solution ? "solution" : "previous"];
        of_kernel["kernel"] = solution ? one.solution_entry : one.previous_entry + " (" + key + ")";
        const auto interval = [](const std::optional<statistics::Interval>& ratio) {
          return ratio ? json{ratio->low, ratio->middle, ratio->high} : json(nullptr);
        };
        of_kernel["verdicts"].push_back({{"verdict", verdict},
                                         {"naive", interval(seen.over_naive)},
                                         {"cublas", interval(seen.over_cublas)},
                                         {"rounds", seen.rounds},
                                         {"blocks", seen.blocks},
                                         {"dropped", seen.dropped},
                                         {"ms", seen.candidate ? seen.candidate->median_ms() : 0},
                                         {"sm_clock_mhz", seen.clock_median.value_or(0)},
                                         {"suspect", seen.suspect},
                                         {"run", all["runs"].size()}});
        if (!as_it_should)
          std::cout << one.goal.stage << ' ' << entry << ": " << verdict << ' '
                    << seen.trouble.detail << seen.note << '\n';
      }
    }
  }
  provenance["seconds"] = std::round(spent());
  all["runs"].push_back(provenance);
  row("stage", "", "pass", "fail", "inconclusive");
  for (const auto& [name, of_goal] : all["goals"].items()) {
    for (const char* who : {"solution", "previous"}) {
      if (!of_goal.contains(who)) continue;
      std::map<std::string, int> counts;
      for (const auto& verdict : of_goal[who]["verdicts"])
        ++counts[verdict["verdict"].get<std::string>()];
      row(name.substr(0, name.find(' ')), of_goal[who]["kernel"].get<std::string>().substr(0, 35),
          std::to_string(counts["pass"]), std::to_string(counts["fail"]),
          std::to_string(counts["inconclusive"] + counts["not_measured"]));
    }
  }
  if (options.out.has_parent_path()) make_folder(options.out.parent_path());
  write_file_atomically(options.out, all.dump(1) + "\n");
  return wrong == 0 ? exit_ok : exit_failed;
}

}  // namespace grader
