// measure prove-speed: verdicts again and again.
//
// Its file holds measurements of kernels. Verdicts are made from those and from the bars in
// lab.toml, so that a bar that moved is judged anew, and nothing is measured in vain. Their table
// is made by grader/plots/tables.py.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "grader/author/speed/speed_bench.hpp"
#include "grader/bench/record.hpp"
#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using bench::Record;
using bench::Results;
using messages::text;
using nlohmann::json;
using nlohmann::ordered_json;
using namespace gpu;

constexpr const char* kKind = "speed-proof";

/// "gemm_naive<float> (lab1_naive@L1-01-x-along-rows)"
std::string kernel_of(const Record& record) {
  const std::string build =
      record.point.lab_name + (record.mutant.empty() ? "" : "@") + record.mutant;
  return Kernel{build, record.point.entry()}.name();
}
/// "tf32 4096x4096x4096", as name_of() has it.
std::string problem_of(const Record& record) {
  const bench::Shape& shape = record.point.shape;
  return fmt::format("{} {}x{}x{}", record.point.math(), shape.m, shape.n, shape.k);
}
bool is_of(const Record& record, const Problem& problem, const Kernel& kernel) {
  return kernel_of(record) == kernel.name() && problem_of(record) == name_of(problem);
}

Record to_record(const TimedComparison& seen, const Problem& problem, const Kernel& kernel) {
  Record record;
  const auto at = kernel.build.find('@');
  record.point.lab_name = kernel.build.substr(0, at);
  if (at != std::string::npos) record.mutant = kernel.build.substr(at + 1);
  const auto bracket = kernel.entry.find('<');
  record.point.rung = kernel.entry.substr(0, bracket);
  record.point.type = kernel.entry.substr(bracket + 1, kernel.entry.size() - bracket - 2);
  record.point.tf32 = type_name(problem.type) == "tf32";
  record.point.shape = {problem.m, problem.n, problem.k};
  record.mhz = seen.clock_median;
  record.throttle = throttle_text(seen.throttle);
  record.rounds = seen.rounds;
  record.others = seen.others;
  // A smaller shape, for want of memory, is no verdict on the goal's.
  if (seen.outcome != TimingOutcome::measured || seen.smaller() || !seen.candidate) {
    record.status = bench::Status::failed;
    record.note = trouble_of(seen);
    return record;
  }
  record.status = bench::Status::measured;
  record.ms = bench::rounded(seen.candidate->median_ms());
  record.over_naive = bench::ratio_of(seen.over_naive);
  record.over_cublas = bench::ratio_of(seen.over_cublas);
  for (const std::string& one : seen.suspect)
    record.note += (record.note.empty() ? "" : "; ") + one;
  return record;
}

/// As judge_speed() takes it.
TimedComparison comparison_of(const Record& record) {
  TimedComparison seen;
  if (record.status != bench::Status::measured) seen.outcome = TimingOutcome::trouble;
  const auto interval =
      [](const std::optional<bench::Ratio>& ratio) -> std::optional<statistics::Interval> {
    if (!ratio || !ratio->interval) return {};
    return statistics::Interval{ratio->interval->first, ratio->middle, ratio->interval->second};
  };
  seen.over_naive = interval(record.over_naive);
  seen.over_cublas = interval(record.over_cublas);
  seen.rounds = record.rounds;
  seen.others = record.others;
  return seen;
}

/// What became of one kernel at one goal's bars.
struct Proof {
  unsigned pass = 0, fail = 0, open = 0;
  std::optional<double> worst, best;  ///< ratio / bar of the yardstick that decided
  unsigned all() const { return pass + fail + open; }
};

Proof judge_all(const SpeedGoal& goal, const std::vector<const Record*>& measurements,
                const std::string& arch) {
  Proof proof;
  // Only the bars' yardsticks decide, as in a measurement of this goal alone.
  const Options judged = options_for(goal, arch);
  for (const Record* one : measurements) {
    TimedComparison seen = comparison_of(*one);
    if (!judged.naive) seen.over_naive.reset();
    if (!judged.cublas) seen.over_cublas.reset();
    const SpeedDecision decision = judge_speed(goal, seen, arch);
    const bool measured = seen.outcome == TimingOutcome::measured;
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

/// Records by kernel, without runs that have none, and the runs that are left numbered anew.
void tidy(Results& results) {
  std::stable_sort(
      results.records.begin(), results.records.end(), [](const Record& x, const Record& y) {
        return std::tuple(problem_of(x), kernel_of(x)) < std::tuple(problem_of(y), kernel_of(y));
      });
  std::map<unsigned, unsigned> moved;
  for (const Record& record : results.records) moved[*record.run] = 0;
  std::vector<bench::Words> runs;
  for (auto& [old, now] : moved) {
    now = static_cast<unsigned>(runs.size());
    runs.push_back(results.runs.at(old));
  }
  for (Record& record : results.records) record.run = moved.at(*record.run);
  results.runs = std::move(runs);
}

/// A file of this program, tidied. Throws UserError on any other: it may be somebody's work.
Results read_proof(const fs::path& file) {
  constexpr std::size_t kMostBytes = 64u << 20;
  const std::string bytes = read_file(file, kMostBytes);
  const UserError bad(text("prove.not_a_proof", {{"file", file.string()}}), exit_usage);
  Results results;
  try {
    results = bench::from_text(bytes, file.string(), kKind);
  } catch (const UserError&) {
    throw bad;
  }
  const auto lacks = [](const bench::Words& words, std::initializer_list<const char*> keys) {
    return std::any_of(keys.begin(), keys.end(),
                       [&](const char* key) { return !words.count(key); });
  };
  if (lacks(results.machine, {"gpu"}) || lacks(results.provenance, {"protocol"})) throw bad;
  for (const bench::Words& run : results.runs)
    if (lacks(run, {"arch", "uuid", "date", "command"})) throw bad;
  for (const Record& one : results.records) {
    const bool judged = one.status != bench::Status::measured || one.over_naive || one.over_cublas;
    if (!one.run || !judged) throw bad;
  }
  tidy(results);
  return results;
}

/// Verdicts of one model of GPU make one table.
void need_same_gpu(const fs::path& file, const std::string& there, const std::string& here) {
  if (there != here)
    throw UserError(
        text("prove.other_gpu", {{"file", file.string()}, {"there", there}, {"here", here}}),
        exit_usage);
}

/// The same run, as it was when either file was written: its seconds grow until it ends.
bool same_run(const bench::Words& a, const bench::Words& b) {
  return a.at("uuid") == b.at("uuid") && a.at("date") == b.at("date") &&
         a.at("command") == b.at("command");
}

double seconds_of(const bench::Words& run) {
  const auto found = run.find("seconds");
  return found == run.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
}

std::string goal_name(const SpeedCase& one) {
  return one.goal.stage + " " + one.goal.type + " " + one.shape();
}

/// The file, and what follows from it.
class ProofFile {
 public:
  /// `all`: the goals that are judged and shown. `chosen`: those that are measured or taken from
  /// other files, and whose verdicts save() counts.
  ProofFile(const SpeedCases& all, const SpeedCases& chosen, fs::path file)
      : everything_(all), chosen_(chosen), file_(std::move(file)) {
    results_.kind = kKind;
    if (std::error_code error; fs::exists(file_, error)) results_ = read_proof(file_);
  }
  bool empty() const { return results_.runs.empty(); }

  /// From here on measurements belong to a new run, which is in the file once it has one.
  void begin(const bench::Words& provenance) {
    if (results_.machine.count("gpu"))
      need_same_gpu(file_, results_.machine["gpu"], provenance.at("gpu"));
    results_.machine["gpu"] = provenance.at("gpu");
    results_.provenance["protocol"] = text(
        "prove.protocol", {{"ms", std::to_string(std::lround(1e3 * Options{}.request_seconds))},
                           {"min", std::to_string(Options{}.clear_rounds)},
                           {"max", std::to_string(Options{}.max_rounds)}});
    run_ = provenance;
    run_["protocol"] = std::to_string(kTimingProtocol);
    begun_ = false;
  }
  /// Takes from another file what was measured of the sources as they are now. Of a run that both
  /// files know, because one began as a copy of the other, only what is not here yet.
  void add_all(const fs::path& file) {
    const Results other = read_proof(file);
    const std::string gpu = other.machine.at("gpu");
    if (results_.machine.count("gpu")) {
      need_same_gpu(file, gpu, results_.machine["gpu"]);
    } else {
      results_.machine = other.machine;
      results_.provenance = other.provenance;
    }
    std::vector<unsigned> moved;  // runs there, as they are numbered here
    for (const bench::Words& run : other.runs) {
      auto& runs = results_.runs;
      const auto known = std::find_if(
          runs.begin(), runs.end(), [&](const bench::Words& mine) { return same_run(mine, run); });
      moved.push_back(static_cast<unsigned>(known - runs.begin()));
      if (known == runs.end())
        runs.push_back(run);
      else if (seconds_of(run) > seconds_of(*known))
        *known = run;  // the file that was written later
    }
    std::set<std::pair<std::string, Kernel>> seen;  // a kernel may serve several goals
    for (const SpeedCase& one : chosen_.all())
      for (const Kernel& kernel : {one.solution, one.previous})
        if (!kernel.build.empty() && seen.emplace(name_of(one.problem()), kernel).second)
          add_fresh(other, moved, one.problem(), kernel);
    tidy(results_);
  }
  void add(const Problem& problem, const Kernel& kernel, const TimedComparison& seen) {
    if (!begun_) results_.runs.push_back(run_);
    begun_ = true;
    Record record = to_record(seen, problem, kernel);
    record.point.lab = everything_.lab_of(kernel.build).id;
    record.source_sha256 = everything_.source_sha256(kernel);
    record.run = static_cast<unsigned>(results_.runs.size() - 1);
    add(problem, kernel, std::move(record));
  }
  std::size_t count(const Problem& problem, const Kernel& kernel) const {
    return measurements_in(results_, problem, kernel).size();
  }

  /// Judges all that is there, and writes the file. The number of chosen verdicts that are not what
  /// they should be.
  unsigned save(double seconds) {
    if (empty()) return 0;
    if (begun_) results_.runs.back()["seconds"] = fmt::format("{:.0f}", seconds);
    tidy(results_);  // a source that changed may have taken a run's last ones
    const unsigned wrong = judge();
    if (file_.has_parent_path()) make_folder(file_.parent_path());
    write_file_atomically(file_, bench::to_text(results_));
    return wrong;
  }
  /// A line per goal that is not as it should be, and how to see all.
  std::string summary() const {
    return wrong_ +
           text("prove.summary", {{"goals", std::to_string(results_.goals.size())},
                                  {"count", std::to_string(results_.records.size())},
                                  {"file", file_.string()}}) +
           "\n";
  }

 private:
  /// What a file holds of a kernel as its source is now.
  std::vector<const Record*> measurements_in(const Results& results, const Problem& problem,
                                             const Kernel& kernel) const {
    const std::string source = everything_.source_sha256(kernel);
    std::vector<const Record*> list;
    for (const Record& record : results.records)
      if (record.source_sha256 == source && is_of(record, problem, kernel)) list.push_back(&record);
    return list;
  }
  void add_fresh(const Results& other, const std::vector<unsigned>& moved, const Problem& problem,
                 const Kernel& kernel) {
    std::vector<Record> fresh;
    // What is here may match once: two verdicts of a run that came to nothing are alike.
    std::vector<ordered_json> here;
    for (const Record* mine : measurements_in(results_, problem, kernel))
      here.push_back(to_json(*mine));
    for (const Record* there : measurements_in(other, problem, kernel)) {
      Record record = *there;
      record.run = moved.at(*record.run);
      const auto known = std::find(here.begin(), here.end(), to_json(record));
      if (known != here.end())
        here.erase(known);
      else
        fresh.push_back(std::move(record));
    }
    for (Record& record : fresh) add(problem, kernel, std::move(record));
  }
  void add(const Problem& problem, const Kernel& kernel, Record record) {
    // Another source is another kernel.
    std::erase_if(results_.records, [&](const Record& old) {
      return old.source_sha256 != record.source_sha256 && is_of(old, problem, kernel);
    });
    results_.records.push_back(std::move(record));
  }

  unsigned judge() {
    unsigned wrong = 0;
    std::set<std::string> chosen;
    for (const SpeedCase& one : chosen_.all()) chosen.insert(goal_name(one));
    std::map<std::string, std::string> goals;  // by name
    wrong_.clear();
    for (const SpeedCase& one : everything_.all()) {
      // Not measured, or its source has changed since.
      if (count(one.problem(), one.solution) == 0) continue;
      const std::string arch = results_.runs.back().at("arch");
      const SpeedBars bars = bars_on(one.goal, arch);
      json of_goal = {
          {"goal", goal_name(one)},
          {"bars", {{"naive", bars.naive.value_or(0)}, {"cublas", bars.cublas.value_or(0)}}}};
      for (const bool solution : {true, false}) {
        const Kernel& kernel = solution ? one.solution : one.previous;
        if (kernel.build.empty()) continue;
        const Proof proof =
            judge_all(one.goal, measurements_in(results_, one.problem(), kernel), arch);
        const unsigned right = solution ? proof.pass : proof.fail;
        if (chosen.count(goal_name(one))) wrong += proof.all() - right;
        if (right != proof.all())
          wrong_ += text(solution ? "prove.wrong.solution" : "prove.wrong.previous",
                         {{"goal", goal_name(one)},
                          {"kernel", kernel.name()},
                          {"right", std::to_string(right)},
                          {"all", std::to_string(proof.all())}}) +
                    "\n";
        const auto margin = [](const std::optional<double>& m) {
          return m ? json(std::round(*m * 1e4) / 1e4) : json(nullptr);
        };
        of_goal[solution ? "solution" : "previous"] = {
            {"kernel", kernel.name()},      {"verdicts", proof.all()},
            {"pass", proof.pass},           {"fail", proof.fail},
            {"inconclusive", proof.open},   {"lowest", margin(proof.worst)},
            {"highest", margin(proof.best)}};
      }
      goals[goal_name(one)] = of_goal.dump();
    }
    results_.goals.clear();
    for (const auto& [name, goal] : goals) results_.goals.push_back(goal);
    return wrong;
  }

  const SpeedCases& everything_;
  const SpeedCases& chosen_;
  fs::path file_;
  Results results_;
  bench::Words run_;    ///< what is measured from here on belongs to it
  bool begun_ = false;  ///< it is the last of the runs
  std::string wrong_;   ///< lines about verdicts that are not what they should be
};

}  // namespace

ExitCode prove_speed(const ProveOptions& options) {
  const SpeedCases everything(options.place, {});
  const SpeedCases cases(options.place, {options.labs, options.stages, options.type});
  ProofFile proof(everything, cases, options.out);
  for (const fs::path& file : options.add) proof.add_all(file);
  if (options.judge_only) {
    if (proof.empty()) throw UserError(text("prove.nothing"), exit_usage);
    const unsigned wrong = proof.save(0);
    std::cout << proof.summary();
    return wrong == 0 ? exit_ok : exit_failed;
  }
  SpeedBench bench(cases);
  const auto start = std::chrono::steady_clock::now();
  const auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  proof.begin(bench.provenance("measure prove-speed"));
  // Group by group, each until it has its number: what is stopped early has whole goals. A kernel that
  // has its number, from another run, is not measured again.
  for (SpeedGroup& group : bench.groups()) {
    const auto has_all = [&](const Kernel& kernel) {
      return proof.count(group.problem, kernel) >= options.repeats;
    };
    for (;;) {
      std::erase_if(group.kernels, has_all);
      if (group.kernels.empty() || (options.seconds > 0 && spent() > options.seconds)) break;
      for (const auto& [kernel, seen] : bench.measure(group, true))
        proof.add(group.problem, kernel, seen);
      proof.save(spent());  // a machine that is taken away takes nothing with it
    }
  }
  const unsigned wrong = proof.save(spent());
  if (!proof.empty()) std::cout << proof.summary();
  return wrong == 0 ? exit_ok : exit_failed;
}

}  // namespace grader
