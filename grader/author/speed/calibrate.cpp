// measure calibrate: speed goals from measurements, placed for this GPU.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <set>

#include "grader/author/speed/calibration.hpp"
#include "grader/author/speed/speed_bench.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using messages::text;
using namespace gpu;

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
  void add(const TimedComparison& seen) {
    naive.add(seen.over_naive);
    cublas.add(seen.over_cublas);
  }
};

void row(const std::string& stage, const std::string& what, const std::string& naive,
         const std::string& cublas, const std::string& rest) {
  std::cout << std::left << std::setw(7) << stage << std::setw(36) << what << std::right
            << std::setw(8) << naive << std::setw(9) << cublas << "  " << rest << std::endl;
}

class Calibration {
 public:
  Calibration(const SpeedCases& cases, SpeedBench& bench, const CalibrateOptions& options)
      : cases_(cases), bench_(bench), options_(options) {}

  /// The number of goals without a place. Every goal is written as soon as it is known: who stops
  /// this halfway keeps half.
  unsigned run() {
    row("stage", "", "x naive", "x cuBLAS", "");
    for (const SpeedCase& one : cases_.all())
      if (const std::string why = bench_.why_not(one); !why.empty())
        row(one.goal.stage, one.goal.type + " " + one.shape(), "", "", why);
    std::set<std::pair<std::string, Kernel>> known;
    unsigned refused = 0;
    for (SpeedGroup& group : bench_.groups()) {
      const std::string name = name_of(group.problem);
      for (unsigned run = 0; run < options_.runs; ++run)
        for (const auto& [kernel, seen] : bench_.measure(group, false)) take(name, kernel, seen);
      for (const Kernel& kernel : group.kernels) known.emplace(name, kernel);
      for (const SpeedCase& one : cases_.all()) {
        const auto has = [&](const Kernel& kernel) { return known.count({name, kernel}) > 0; };
        if (name_of(one.problem()) != name || decided_.count(&one) || !has(one.solution) ||
            (!one.previous.build.empty() && !has(one.previous)))
          continue;
        decided_.insert(&one);
        refused += decide(one) ? 0 : 1;
      }
    }
    return refused;
  }

 private:
  void take(const std::string& name, const Kernel& kernel, const TimedComparison& seen) {
    spans_[{name, kernel}].add(seen);
    if (const std::string trouble = trouble_of(seen); !trouble.empty())
      troubles_[{name, kernel}] = trouble;
    if (seen.naive && seen.cublas && seen.rounds > 0) {
      const double share = seen.cublas->median_ms() / seen.naive->median_ms();
      naive_of_cublas_[name].add(statistics::Interval{share, share, share});
    }
  }

  /// False: there is no place for a bar.
  bool decide(const SpeedCase& one) {
    const std::string name = name_of(one.problem()), head = one.goal.type + " " + one.shape();
    const bool against_naive = one.previous.build.empty();
    std::string trouble = troubles_[{name, one.solution}];
    if (trouble.empty() && !against_naive) trouble = troubles_[{name, one.previous}];
    if (!trouble.empty()) {
      row(one.goal.stage, head, "", "", trouble);
      return false;
    }
    const Spans solution = spans_[{name, one.solution}];
    Spans previous;
    if (against_naive) {
      // The naive yardstick itself: once its own speed, and its share of cuBLAS.
      previous.naive.add(statistics::Interval{1, 1, 1});
      previous.cublas = naive_of_cublas_[name];
    } else {
      previous = spans_[{name, one.previous}];
    }
    row(one.goal.stage, head + ", worst", number(solution.naive.worst),
        number(solution.cublas.worst), "");
    row("", against_naive ? "the naive kernel" : one.previous.entry + ", best",
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
    const SpeedBars now = bars_on(one.goal, bench_.arch());
    row("", none ? "bar as it stands" : "bar", number(none ? now.naive : bars.naive),
        number(none ? now.cublas : bars.cublas), why.empty() ? "" : text(why));
    if (!none) {
      if (options_.write) write(one, bars);
      return true;
    }
    // A goal that the solution does not clear with margin may not stay.
    const auto clears = [](const std::optional<double>& bar, const std::optional<double>& worst) {
      return !bar || !worst || *bar <= kBelowSolution * *worst;
    };
    if (!clears(now.naive, solution.naive.worst) || !clears(now.cublas, solution.cublas.worst))
      row("", text("calibrate.refused"), "", "", "");
    return false;
  }

  void write(const SpeedCase& one, const SpeedBars& bars) const {
    const fs::path file = cases_.place().root / one.lab->name / "lab.toml";
    const std::string toml = read_file(file, 1u << 20);
    // Lines have moved if a goal before it was written.
    for (const SpeedGoal& goal : parse_lab(toml, file.string()).speed)
      if (goal.stage == one.goal.stage && goal.type == one.goal.type && goal.m == one.goal.m &&
          goal.n == one.goal.n && goal.k == one.goal.k)
        write_file_atomically(file,
                              with_bars(toml, goal, options_.base ? "" : bench_.arch(), bars));
  }

  const SpeedCases& cases_;
  SpeedBench& bench_;
  const CalibrateOptions& options_;
  std::map<std::pair<std::string, Kernel>, Spans> spans_;  ///< by type and shape
  std::map<std::pair<std::string, Kernel>, std::string> troubles_;
  std::map<std::string, Span> naive_of_cublas_;  ///< the naive yardstick's share
  std::set<const SpeedCase*> decided_;
};

}  // namespace

ExitCode calibrate(const CalibrateOptions& options) {
  const SpeedCases cases(options.place, {options.labs, {}, options.type});
  SpeedBench bench(cases);
  std::cout << bench.device().name << " · " << bench.arch() << " · "
            << text("calibrate.rule", {{"runs", std::to_string(options.runs)}}) << "\n\n";
  return Calibration(cases, bench, options).run() == 0 ? exit_ok : exit_failed;
}

}  // namespace grader
