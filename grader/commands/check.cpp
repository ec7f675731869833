// grader check: build and judge labs, show the result, say what to type next.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <thread>

#include "grader/commands/commands.hpp"
#include "grader/commands/common.hpp"
#include "grader/judge/judge.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/report/render.hpp"
#include "grader/report/text.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using messages::text;

/// One line on stderr that rewrites itself; nothing at all where stderr is no terminal.
class Progress {
 public:
  Progress() : shown_(::isatty(2) == 1) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void operator()(const std::string& what) const {
    if (shown_) std::cerr << "\r\x1b[K" << report::fit(what, 78) << std::flush;
  }
  void clear() const {
    if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  }

 private:
  bool shown_;
};

std::string device_note(const std::string& device, std::vector<std::string>& notes) {
  if (device == "sim") return {};
  const bool present = gpu_present();
  if (device == "gpu") {
    if (!present) throw UserError(text("device.no_gpu"), exit_infrastructure);
    if (find_nvcc().empty()) throw UserError(text("device.no_nvcc"), exit_infrastructure);
  }
  if (!present) return "no CUDA device";
  notes.push_back(text("device.gpu_note"));
  return {};
}

}  // namespace

ExitCode check(const CheckOptions& options) {
  const Workplace place = workplace(options.place);
  const std::vector<Lab> labs = load_labs(place.root, options.goals);
  report::Report result;
  result.device = "sim";
  result.device_note = device_note(options.device, result.notes);

  JudgeOptions judging;
  judging.seed = result.seed = options.seed;
  judging.jobs =
      options.jobs ? options.jobs : std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  std::vector<const Lab*> chosen;
  if (!options.stages.empty()) {
    judging.stage = options.stages.front();
    chosen.push_back(&lab_of_stage(labs, *judging.stage));
  } else if (options.labs.empty()) {
    for (const auto& lab : labs) chosen.push_back(&lab);
  } else {
    for (const int id : options.labs) chosen.push_back(&lab_with_id(labs, id));
  }
  if (!options.file.empty() && chosen.size() != 1)
    throw UserError("--file needs exactly one lab: add --lab N", exit_usage);

  const Toolchain toolchain = probe_clang();
  result.compiler = "clang " + toolchain.clang_version;
  BuildOptions building;
  building.hostile = options.hostile;
  building.verbose = options.verbose;
  if (options.hostile) {
    building.user = lesser_user(place);
    judging.user = building.user;
    result.protection = "rlimits only";
  }

  const Progress progress;
  std::vector<Build> builds;
  builds.reserve(chosen.size());
  for (const Lab* lab : chosen) {
    progress("compiling " + lab->name);
    const fs::path source = !options.file.empty() ? fs::absolute(options.file)
                            : !options.sources.empty()
                                ? fs::absolute(options.sources) / lab->name / "gemm.cu"
                                : source_of(*lab, place.root, options.solution);
    builds.push_back(build_lab(place, toolchain, *lab, source, building));
  }
  judging.progress = [&progress](const std::string& stage) { progress("checking " + stage); };
  std::vector<Assignment> assignments;
  for (std::size_t i = 0; i < chosen.size(); ++i) assignments.push_back({chosen[i], &builds[i]});
  result.labs = judge(assignments, judging);
  progress.clear();

  std::vector<int> ids;
  for (const auto& lab : labs) ids.push_back(lab.id);
  result.next = report::next_command(result, ids);
  if (!options.junit.empty()) write_file_atomically(options.junit, report::junit(result));
  if (options.json == "-") {
    std::cout << report::json(result);
  } else {
    if (!options.json.empty()) write_file_atomically(options.json, report::json(result));
    std::cout << report::human(result, report::use_colour(1), options.verbose);
  }
  return report::exit_code(result);
}

}  // namespace grader
