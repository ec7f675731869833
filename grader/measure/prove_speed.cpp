// measure prove-speed: verdicts again and again.
//
// Its file holds measurements of kernels. Verdicts are made from those and from the bars in
// lab.toml, so that a bar that moved is judged anew, and nothing is measured in vain.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "grader/errors.hpp"
#include "grader/measure/speed_bench.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using messages::text;
using nlohmann::json;
using namespace gpu;

json interval_json(const std::optional<statistics::Interval>& ratio) {
  const auto digits = [](double x) {  // six are more than the clock knows
    const double scale = std::pow(10.0, 5 - std::floor(std::log10(x)));
    return std::round(x * scale) / scale;
  };
  return ratio ? json{digits(ratio->low), digits(ratio->middle), digits(ratio->high)}
               : json(nullptr);
}

json to_json(const Comparison& seen, std::size_t run) {
  return {{"outcome", seen.outcome == Outcome::measured ? "measured" : trouble_of(seen)},
          {"naive", interval_json(seen.over_naive)},
          {"cublas", interval_json(seen.over_cublas)},
          {"rounds", seen.rounds},
          {"others", seen.others},
          {"ms", seen.candidate ? std::round(seen.candidate->median_ms() * 1e5) / 1e5 : 0},
          {"sm_clock_mhz", seen.clock_median.value_or(0)},
          {"suspect", seen.suspect},
          {"run", run}};
}

Comparison from_json(const json& one) {
  Comparison seen;
  if (one.at("outcome") != "measured") seen.outcome = Outcome::trouble;
  const auto interval = [](const json& list) -> std::optional<statistics::Interval> {
    if (!list.is_array()) return {};
    return statistics::Interval{list.at(0), list.at(1), list.at(2)};
  };
  seen.over_naive = interval(one.at("naive"));
  seen.over_cublas = interval(one.at("cublas"));
  seen.rounds = one.at("rounds");
  seen.others = one.at("others");
  return seen;
}

/// What became of one kernel at one goal's bars.
struct Proof {
  unsigned pass = 0, fail = 0, open = 0;
  std::optional<double> worst, best;  ///< ratio / bar of the yardstick that decided
  unsigned all() const { return pass + fail + open; }
};

Proof judge_all(const SpeedGoal& goal, const json& measurements, const std::string& arch) {
  Proof proof;
  // Only the bars' yardsticks decide, as in a measurement of this goal alone.
  const Options judged = options_for(goal, arch);
  for (const json& one : measurements) {
    Comparison seen = from_json(one);
    if (!judged.naive) seen.over_naive.reset();
    if (!judged.cublas) seen.over_cublas.reset();
    const Decision decision = judge_speed(goal, seen, arch);
    const bool measured = seen.outcome == Outcome::measured;
    proof.pass += decision.verdict == SpeedVerdict::pass ? 1 : 0;
    proof.fail += decision.verdict == SpeedVerdict::fail && measured ? 1 : 0;
    if (decision.bar > 0) {
      const double margin = decision.ratio / decision.bar;
      proof.worst = std::min(proof.worst.value_or(margin), margin);
      proof.best = std::max(proof.best.value_or(margin), margin);
    }
  }
  proof.open = static_cast<unsigned>(measurements.size()) - proof.pass - proof.fail;
  return proof;
}

/// The table, as the page beside the file has it and as the terminal shows it.
std::string proof_page(const json& all) {
  std::ostringstream page;
  page << "| goal | asked of | the solution | passed | ratio / bar | the technique before | failed "
          "| ratio / bar |\n| --- | --- | --- | ---: | ---: | --- | ---: | ---: |\n";
  const auto count = [](const json& of, const char* what) {
    std::string cell = std::to_string(of.at(what).get<unsigned>()) + " of " +
                       std::to_string(of.at("verdicts").get<unsigned>());
    if (const unsigned open = of.at("inconclusive"); open > 0)
      cell += " (" + std::to_string(open) + " inconclusive)";
    return cell;
  };
  const auto margins = [](const json& of) {
    return of.at("lowest").is_null() ? std::string("-")
                                     : number(of.at("lowest").get<double>()) + " ... " +
                                           number(of.at("highest").get<double>());
  };
  for (const auto& [name, goal] : all.at("goals").items()) {
    std::string bars;
    for (const char* yardstick : {"naive", "cublas"})
      if (const double bar = goal.at("bars").at(yardstick); bar > 0)
        bars += (bars.empty() ? "" : ", ") + number(bar) +
                (std::string(yardstick) == "naive" ? " x naive" : " of cuBLAS");
    const json& solution = goal.at("solution");
    page << "| " << name << " | " << bars << " | " << solution.at("kernel").get<std::string>()
         << " | " << count(solution, "pass") << " | " << margins(solution) << " | ";
    if (goal.contains("previous"))
      page << goal.at("previous").at("kernel").get<std::string>() << " | "
           << count(goal.at("previous"), "fail") << " | " << margins(goal.at("previous")) << " |\n";
    else
      page << "the naive yardstick | - | - |\n";
  }
  return page.str();
}

/// The file, and what follows from it.
class Record {
 public:
  Record(const SpeedCases& cases, fs::path file) : cases_(cases), file_(std::move(file)) {
    if (std::error_code error; fs::exists(file_, error))
      all_ = json::parse(read_file(file_, kMostBytes), nullptr, false);
    if (!is_proof(all_)) all_ = json::object();
  }
  bool empty() const { return !all_.contains("runs"); }

  /// From here on measurements belong to a new run. Those of other hardware are not kept.
  void begin(const json& provenance) {
    if (all_.value("gpu", "") != provenance.at("gpu")) all_ = json::object();
    all_["schema"] = 1;
    all_["kind"] = "speed-proof";
    all_["gpu"] = provenance.at("gpu");
    all_["protocol"] = text("prove.protocol",
                            {{"ms", std::to_string(std::lround(1e3 * Options{}.request_seconds))},
                             {"min", std::to_string(Options{}.clear_rounds)},
                             {"max", std::to_string(Options{}.max_rounds)}});
    all_["runs"].push_back(provenance);
  }
  /// Takes from another file what was measured of the sources as they are now. Runs that both files
  /// have, because one began as a copy of the other, are taken once.
  void add_all(const fs::path& file) {
    const json other = json::parse(read_file(file, kMostBytes), nullptr, false);
    if (!is_proof(other))
      throw UserError(text("prove.not_a_proof", {{"file", file.string()}}), exit_usage);
    if (empty()) {
      all_ = other;
      all_["runs"] = all_["kernels"] = nullptr;
    }
    if (all_.at("gpu") != other.at("gpu"))
      throw UserError(text("prove.other_gpu", {{"file", file.string()},
                                               {"there", other.at("gpu").get<std::string>()},
                                               {"here", all_.at("gpu").get<std::string>()}}),
                      exit_usage);
    std::map<std::size_t, std::size_t> moved;  // new runs, there and here
    for (std::size_t i = 0; i < other.at("runs").size(); ++i) {
      const json& run = other["runs"][i];
      if (std::find(all_["runs"].begin(), all_["runs"].end(), run) != all_["runs"].end()) continue;
      moved[i] = all_["runs"].size();
      all_["runs"].push_back(run);
    }
    std::set<std::pair<std::string, Kernel>> seen;  // a kernel may serve several goals
    for (const SpeedCase& one : cases_.all())
      for (const Kernel& kernel : {one.solution, one.previous}) {
        const std::string problem = name_of(one.problem());
        if (kernel.build.empty() || !seen.emplace(problem, kernel).second) continue;
        const json::json_pointer path = json::json_pointer() / "kernels" / problem / kernel.name();
        if (!other.contains(path) ||
            other[path].at("source_sha256") != cases_.source_sha256(kernel))
          continue;
        for (json measured : other[path].at("measurements"))
          if (const auto run = moved.find(measured.at("run")); run != moved.end()) {
            measured["run"] = run->second;
            measurements(one.problem(), kernel).push_back(std::move(measured));
          }
      }
  }
  void add(const Problem& problem, const Kernel& kernel, const Comparison& seen) {
    measurements(problem, kernel).push_back(to_json(seen, all_["runs"].size() - 1));
  }
  std::size_t count(const Problem& problem, const Kernel& kernel) {
    return measurements(problem, kernel).size();
  }

  /// Judges all that is there, and writes the file and its page. The number of verdicts that are
  /// not what they should be.
  unsigned save(double seconds) {
    const unsigned wrong = judge();
    if (seconds > 0) all_["runs"].back()["seconds"] = std::round(seconds);
    if (file_.has_parent_path()) make_folder(file_.parent_path());
    write_file_atomically(file_, all_.dump(1) + "\n");
    const json& last = all_["runs"].back();
    fs::path page = file_;
    page.replace_extension(".md");
    write_file_atomically(page, text("prove.page", {{"gpu", all_["gpu"]},
                                                    {"driver", last.value("driver", "?")},
                                                    {"cuda", last.value("cuda", "?")},
                                                    {"date", last.value("date", "?").substr(0, 10)},
                                                    {"commit", last.value("commit", "?")},
                                                    {"protocol", all_["protocol"]}}) +
                                    proof_page(all_));
    return wrong;
  }
  std::string table() const { return proof_page(all_); }

 private:
  static constexpr std::size_t kMostBytes = 64u << 20;
  static bool is_proof(const json& all) {
    return all.is_object() && all.value("kind", "") == "speed-proof";
  }
  json& measurements(const Problem& problem, const Kernel& kernel) {
    json& one = all_["kernels"][name_of(problem)][kernel.name()];
    // Another source is another kernel.
    const std::string source = cases_.source_sha256(kernel);
    if (!one.is_object() || one.value("source_sha256", "") != source)
      one = {{"source_sha256", source}, {"measurements", json::array()}};
    return one["measurements"];
  }

  unsigned judge() {
    unsigned wrong = 0;
    const std::string arch = all_["runs"].back().at("arch");
    for (const SpeedCase& one : cases_.all()) {
      const SpeedBars bars = bars_on(one.goal, arch);
      json of_goal = {
          {"bars", {{"naive", bars.naive.value_or(0)}, {"cublas", bars.cublas.value_or(0)}}}};
      const std::string name = one.goal.stage + " " + one.goal.type + " " + one.shape();
      for (const bool solution : {true, false}) {
        const Kernel& kernel = solution ? one.solution : one.previous;
        if (kernel.build.empty()) continue;
        const Proof proof = judge_all(one.goal, measurements(one.problem(), kernel), arch);
        wrong += proof.all() - (solution ? proof.pass : proof.fail);
        const auto margin = [](const std::optional<double>& m) {
          return m ? json(std::round(*m * 1e4) / 1e4) : json(nullptr);
        };
        of_goal[solution ? "solution" : "previous"] = {
            {"kernel", kernel.name()},      {"verdicts", proof.all()},
            {"pass", proof.pass},           {"fail", proof.fail},
            {"inconclusive", proof.open},   {"lowest", margin(proof.worst)},
            {"highest", margin(proof.best)}};
      }
      if (of_goal["solution"]["verdicts"] == 0)
        all_["goals"].erase(name);  // not measured, or its source has changed since
      else
        all_["goals"][name] = of_goal;
    }
    return wrong;
  }

  const SpeedCases& cases_;
  fs::path file_;
  json all_ = json::object();
};

}  // namespace

ExitCode prove_speed(const ProveOptions& options) {
  const SpeedCases cases(options.place, {options.labs, options.stages, options.type});
  Record record(cases, options.out);
  for (const fs::path& file : options.add) record.add_all(file);
  if (options.judge_only) {
    if (record.empty()) throw UserError(text("prove.nothing"), exit_usage);
    const unsigned wrong = record.save(0);
    std::cout << record.table();
    return wrong == 0 ? exit_ok : exit_failed;
  }
  SpeedBench bench(cases);
  const auto start = std::chrono::steady_clock::now();
  const auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  record.begin(bench.provenance("measure prove-speed"));
  // Group by group, each until it has its number: what is stopped early has whole goals.
  for (SpeedGroup& group : bench.groups()) {
    std::size_t done = options.repeats;
    for (const Kernel& kernel : group.kernels)
      done = std::min(done, record.count(group.problem, kernel));
    for (; done < options.repeats; ++done) {
      if (options.seconds > 0 && spent() > options.seconds) break;
      for (const auto& [kernel, seen] : bench.measure(group, true))
        record.add(group.problem, kernel, seen);
      record.save(spent());  // a machine that is taken away takes nothing with it
    }
  }
  const unsigned wrong = record.save(spent());
  std::cout << record.table();
  return wrong == 0 ? exit_ok : exit_failed;
}

}  // namespace grader
