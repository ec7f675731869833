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
  // A smaller shape, for want of memory, is no verdict on the goal's.
  const bool measured = seen.outcome == Outcome::measured && !seen.smaller();
  return {{"outcome", measured ? "measured" : trouble_of(seen)},
          {"naive", interval_json(seen.over_naive)},
          {"cublas", interval_json(seen.over_cublas)},
          {"rounds", seen.rounds},
          {"others", seen.others},
          {"ms", seen.candidate ? std::round(seen.candidate->median_ms() * 1e5) / 1e5 : 0},
          {"sm_clock_mhz", seen.clock_median.value_or(0)},
          {"throttle", throttle_text(seen.throttle)},
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

/// Without measurements that timing protocol 1 made without some of their rounds (one of which it
/// dropped none is what 2 would have measured), without kernels and runs that have none left, and
/// the runs that are left numbered anew. Throws json::exception on what is no proof.
json tidied(json all) {
  std::set<std::size_t> used;
  json kernels = json::object(), runs = json::array();
  for (const auto& [problem, entries] : all.at("kernels").items())
    for (const auto& [name, entry] : entries.items()) {
      json measurements = json::array();
      for (json one : entry.at("measurements")) {
        if (one.value("dropped", 0u) > 0) continue;
        one.erase("dropped");
        from_json(one);  // throws on what could not be judged
        used.insert(one.at("run").get<std::size_t>());
        measurements.push_back(std::move(one));
      }
      if (measurements.empty()) continue;
      kernels[problem][name] = entry;
      kernels[problem][name]["measurements"] = std::move(measurements);
    }
  std::map<std::size_t, std::size_t> moved;
  for (const std::size_t run : used) {
    moved[run] = runs.size();
    runs.push_back(all.at("runs").at(run));
  }
  for (json& entries : kernels)
    for (json& entry : entries)
      for (json& one : entry["measurements"]) one["run"] = moved.at(one["run"].get<std::size_t>());
  all["kernels"] = std::move(kernels);
  all["runs"] = std::move(runs);
  return all;
}

/// A file of this program, tidied. Throws UserError on any other: it may be somebody's work.
json read_proof(const fs::path& file) {
  constexpr std::size_t kMostBytes = 64u << 20;
  const std::string bytes = read_file(file, kMostBytes);
  try {
    json all = json::parse(bytes);
    if (all.at("kind") == "speed-proof") {
      for (const char* word : {"gpu", "protocol"}) all.at(word).get_ref<const std::string&>();
      for (const json& run : all.at("runs"))
        for (const char* word : {"arch", "uuid", "date", "command"})
          run.at(word).get_ref<const std::string&>();
      return tidied(std::move(all));
    }
  } catch (const json::exception&) {
  }
  throw UserError(text("prove.not_a_proof", {{"file", file.string()}}), exit_usage);
}

/// Verdicts of one model of GPU make one table.
void need_same_gpu(const fs::path& file, const std::string& there, const std::string& here) {
  if (there != here)
    throw UserError(
        text("prove.other_gpu", {{"file", file.string()}, {"there", there}, {"here", here}}),
        exit_usage);
}

/// The same run, as it was when either file was written: its seconds grow until it ends.
bool same_run(const json& a, const json& b) {
  return a.at("uuid") == b.at("uuid") && a.at("date") == b.at("date") &&
         a.at("command") == b.at("command");
}

std::string goal_name(const SpeedCase& one) {
  return one.goal.stage + " " + one.goal.type + " " + one.shape();
}

/// The file, and what follows from it.
class Record {
 public:
  /// `all`: the goals that are judged and shown. `chosen`: those that are measured or taken from
  /// other files, and whose verdicts save() counts.
  Record(const SpeedCases& all, const SpeedCases& chosen, fs::path file)
      : everything_(all), chosen_(chosen), file_(std::move(file)) {
    if (std::error_code error; fs::exists(file_, error)) all_ = read_proof(file_);
  }
  bool empty() const { return !all_.contains("runs") || all_["runs"].empty(); }

  /// From here on measurements belong to a new run, which is in the file once it has one.
  void begin(const json& provenance) {
    const std::string gpu = provenance.at("gpu");
    if (all_.contains("gpu")) need_same_gpu(file_, all_["gpu"], gpu);
    start(gpu, text("prove.protocol",
                    {{"ms", std::to_string(std::lround(1e3 * Options{}.request_seconds))},
                     {"min", std::to_string(Options{}.clear_rounds)},
                     {"max", std::to_string(Options{}.max_rounds)}}));
    run_ = provenance;
    run_["protocol"] = kTimingProtocol;
    begun_ = false;
  }
  /// Takes from another file what was measured of the sources as they are now. Of a run that both
  /// files know, because one began as a copy of the other, only what is not here yet.
  void add_all(const fs::path& file) {
    const json other = read_proof(file);
    const std::string gpu = other.at("gpu");
    if (all_.contains("gpu"))
      need_same_gpu(file, gpu, all_["gpu"]);
    else
      start(gpu, other.at("protocol"));
    std::vector<std::size_t> moved;  // runs there, as they are numbered here
    for (const json& run : other.at("runs")) {
      json& runs = all_["runs"];
      const auto known = std::find_if(runs.begin(), runs.end(),
                                      [&](const json& mine) { return same_run(mine, run); });
      moved.push_back(static_cast<std::size_t>(known - runs.begin()));
      if (known == runs.end())
        runs.push_back(run);
      else if (run.value("seconds", 0.0) > known->value("seconds", 0.0))
        *known = run;  // the file that was written later
    }
    std::set<std::pair<std::string, Kernel>> seen;  // a kernel may serve several goals
    for (const SpeedCase& one : chosen_.all())
      for (const Kernel& kernel : {one.solution, one.previous})
        if (!kernel.build.empty() && seen.emplace(name_of(one.problem()), kernel).second) {
          json fresh = json::array();
          // What is here may match once: two verdicts of a run that came to nothing are alike.
          json here = measurements_in(all_, one.problem(), kernel);
          for (json measured : measurements_in(other, one.problem(), kernel)) {
            measured["run"] = moved.at(measured.at("run").get<std::size_t>());
            const auto known = std::find(here.begin(), here.end(), measured);
            if (known != here.end())
              here.erase(known);
            else
              fresh.push_back(std::move(measured));
          }
          for (json& measured : fresh) add(one.problem(), kernel, std::move(measured));
        }
    all_ = tidied(std::move(all_));
  }
  void add(const Problem& problem, const Kernel& kernel, const Comparison& seen) {
    if (!begun_) all_["runs"].push_back(run_);
    begun_ = true;
    add(problem, kernel, to_json(seen, all_["runs"].size() - 1));
  }
  std::size_t count(const Problem& problem, const Kernel& kernel) const {
    return measurements_in(all_, problem, kernel).size();
  }

  /// Judges all that is there, and writes the file and its page. The number of chosen verdicts that
  /// are not what they should be.
  unsigned save(double seconds) {
    if (empty()) return 0;
    if (begun_) all_["runs"].back()["seconds"] = std::round(seconds);
    all_ = tidied(std::move(all_));  // a source that changed may have taken a run's last ones
    const unsigned wrong = judge();
    if (file_.has_parent_path()) make_folder(file_.parent_path());
    write_file_atomically(file_, all_.dump(1) + "\n");
    fs::path page = file_;
    page.replace_extension(".md");
    write_file_atomically(
        page, text("prove.page", {{"provenance", provenance()}, {"protocol", all_["protocol"]}}) +
                  proof_page(all_));
    return wrong;
  }
  std::string table() const { return empty() ? std::string() : proof_page(all_); }

 private:
  void start(const std::string& gpu, const std::string& protocol) {
    if (!all_.contains("gpu"))
      all_ = {{"schema", 1},
              {"kind", "speed-proof"},
              {"gpu", gpu},
              {"runs", json::array()},
              {"kernels", json::object()}};
    all_["protocol"] = protocol;
  }

  /// What a file holds of a kernel as its source is now.
  const json& measurements_in(const json& all, const Problem& problem, const Kernel& kernel) const {
    static const json none = json::array();
    const json::json_pointer path =
        json::json_pointer() / "kernels" / name_of(problem) / kernel.name();
    return all.contains(path) &&
                   all[path].value("source_sha256", "") == everything_.source_sha256(kernel)
               ? all[path].at("measurements")
               : none;
  }
  void add(const Problem& problem, const Kernel& kernel, json measured) {
    json& one = all_["kernels"][name_of(problem)][kernel.name()];
    // Another source is another kernel.
    const std::string source = everything_.source_sha256(kernel);
    if (!one.is_object() || one.value("source_sha256", "") != source)
      one = {{"source_sha256", source}, {"measurements", json::array()}};
    one["measurements"].push_back(std::move(measured));
  }

  /// Of the runs, from the first to the last, each once.
  std::vector<std::string> each_of(const char* what) const {
    std::vector<const json*> runs;
    for (const json& run : all_.at("runs")) runs.push_back(&run);
    std::stable_sort(runs.begin(), runs.end(),
                     [](const json* a, const json* b) { return a->at("date") < b->at("date"); });
    std::vector<std::string> list;
    for (const json* run : runs)
      if (const std::string value = run->value(what, "?");
          std::find(list.begin(), list.end(), value) == list.end())
        list.push_back(value);
    return list;
  }
  std::string provenance() const {
    const auto words = [this](const char* what) {
      std::string all;
      for (const std::string& value : each_of(what)) all += (all.empty() ? "" : ", ") + value;
      return all;
    };
    const auto dates = each_of("date");
    const std::string first = dates.front().substr(0, 10), last = dates.back().substr(0, 10);
    return text(
        "prove.provenance",
        {{"gpu", all_["gpu"]},
         {"driver", words("driver")},
         {"cuda", words("cuda")},
         {"dates", first == last ? first : first + " to " + last},
         {"commits", (each_of("commit").size() > 1 ? "commits " : "commit ") + words("commit")}});
  }

  unsigned judge() {
    unsigned wrong = 0;
    std::set<std::string> chosen;
    for (const SpeedCase& one : chosen_.all()) chosen.insert(goal_name(one));
    all_["goals"] = json::object();
    const std::string arch = all_["runs"].back().at("arch");
    for (const SpeedCase& one : everything_.all()) {
      // Not measured, or its source has changed since.
      if (count(one.problem(), one.solution) == 0) continue;
      const SpeedBars bars = bars_on(one.goal, arch);
      json of_goal = {
          {"bars", {{"naive", bars.naive.value_or(0)}, {"cublas", bars.cublas.value_or(0)}}}};
      for (const bool solution : {true, false}) {
        const Kernel& kernel = solution ? one.solution : one.previous;
        if (kernel.build.empty()) continue;
        const Proof proof = judge_all(one.goal, measurements_in(all_, one.problem(), kernel), arch);
        if (chosen.count(goal_name(one)))
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
      all_["goals"][goal_name(one)] = of_goal;
    }
    return wrong;
  }

  const SpeedCases& everything_;
  const SpeedCases& chosen_;
  fs::path file_;
  json all_ = json::object();
  json run_;            ///< what is measured from here on belongs to it
  bool begun_ = false;  ///< it is the last of the runs
};

}  // namespace

ExitCode prove_speed(const ProveOptions& options) {
  const SpeedCases everything(options.place, {});
  const SpeedCases cases(options.place, {options.labs, options.stages, options.type});
  Record record(everything, cases, options.out);
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
