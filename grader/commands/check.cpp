// grader check: build and judge labs, show the result, say what to type next.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <optional>

#include "common/wire/unique_fd.hpp"
#include "grader/commands/commands.hpp"
#include "grader/commands/common.hpp"
#include "grader/gpu/build.hpp"
#include "grader/gpu/hardware.hpp"
#include "grader/gpu/toolchain.hpp"
#include "grader/gpu/turn.hpp"
#include "grader/judge/judge.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/os/pool.hpp"
#include "grader/os/scratch.hpp"
#include "grader/report/render.hpp"
#include "grader/report/status_line.hpp"
#include "grader/report/text.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using messages::text;

/// The GPU to use, if there is one and it is wanted. Fills the report's device and why.
std::optional<gpu::Hardware> choose_device(const std::string& device, report::Report& result) {
  result.device = "sim";
  if (device == "sim") return {};
  const gpu::Hardware hardware = gpu::probe_hardware(chosen_arch());
  if (hardware.usable) {
    report::GpuUsed used;
    used.name = hardware.device.name;
    used.uuid = hardware.device.uuid;
    used.arch = hardware.arch.name();
    used.driver = hardware.device.driver;
    used.toolkit = hardware.tools.cuda.text();
    used.picked = hardware.reason;
    result.gpu = std::move(used);
    return hardware;
  }
  if (device == "gpu") throw gpu::no_gpu(hardware);
  result.device_note = "no CUDA device";
  if (hardware.seen) {
    result.device_note = "the GPU is not used";
    result.notes.push_back(text("gpu.not_used", {{"why", hardware.reason}}) +
                           (hardware.advice.empty() ? "" : " " + hardware.advice + "."));
  }
  return {};
}

/// The student's key, and the end of the descriptor that it came by: no child inherits it.
Key read_key(int descriptor) {
  const UniqueFd from(descriptor);
  Key key{};
  if (::read(from.get(), key.data(), key.size()) != static_cast<ssize_t>(key.size()))
    throw UserError(text("usage.key"), exit_usage);
  return key;
}

/// As if lab.toml named no other types for the rungs that have some of these.
void keep_types(std::vector<Lab>& labs, const std::vector<std::string>& types) {
  const auto kept = [&](const std::string& type) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  for (auto& lab : labs)
    for (auto& rung : lab.rungs)
      if (std::any_of(rung.types.begin(), rung.types.end(), kept))
        std::erase_if(rung.types, [&](const std::string& type) { return !kept(type); });
}

/// The labs to judge; a single stage goes into `judging`.
std::vector<const Lab*> choose_labs(const std::vector<Lab>& labs, const CheckOptions& options,
                                    JudgeOptions& judging) {
  std::vector<const Lab*> chosen;
  if (!options.stages.empty()) {
    judging.stage = options.stages.front();
    judging.alone = options.alone;
    const Lab& lab = lab_of_stage(labs, *judging.stage);
    for (const int id : options.labs)
      if (id != lab.id)
        throw UserError(text("usage.stage_of_lab", {{"stage", *judging.stage},
                                                    {"lab", std::to_string(lab.id)},
                                                    {"other", std::to_string(id)}}),
                        exit_usage);
    chosen.push_back(&lab);
  } else if (options.labs.empty()) {
    for (const auto& lab : labs) chosen.push_back(&lab);
  } else {
    for (const int id : options.labs) chosen.push_back(&lab_with_id(labs, id));
  }
  if (!options.file.empty() && chosen.size() != 1)
    throw UserError(text("usage.file_of_lab"), exit_usage);
  return chosen;
}

using Sources = std::function<SourceOf(const Lab&)>;

/// Where a lab's files are taken from.
SourceOf sources_for(const Lab& lab, const CheckOptions& options, const fs::path& root) {
  if (options.file.empty() && !options.sources.empty())
    return [folder = fs::absolute(options.sources) / lab.name](const std::string& file) {
      return folder / file;
    };
  return sources_of(lab, root, options.solution, options.file);
}

using GpuBuilds = std::map<const Lab*, std::shared_future<gpu::GpuBuild>>;

/// nvcc takes its time: it compiles while the simulated GPU judges.
GpuBuilds build_for_gpu(const Workplace& place, const gpu::Hardware& hardware,
                        const std::vector<const Lab*>& labs, const Sources& sources,
                        const BuildOptions& building) {
  GpuBuilds builds;
  std::shared_future<void> before;
  for (const Lab* lab : labs) {
    builds[lab] = std::async(std::launch::async, [&, lab, before] {
                    if (before.valid()) before.wait();  // one at a time: sim needs the cores
                    return gpu::build_gpu(place, hardware.tools, hardware.arch, *lab, sources(*lab),
                                          building);
                  }).share();
    before = std::async(std::launch::deferred, [build = builds[lab]] { build.wait(); }).share();
  }
  return builds;
}

/// The second judgement, of what the first has found right.
void judge_on_gpu(const Workplace& place, const gpu::Hardware& hardware,
                  const std::vector<const Lab*>& labs, const GpuBuilds& builds,
                  const JudgeOptions& judging, const report::StatusLine& status,
                  report::Report& result) {
  for (const auto& [lab, build] : builds) build.wait();  // while somebody else may measure
  const UniqueFd turn =
      gpu::take_turn(hardware.device.uuid, [&] { status.show(text("check.gpu_busy")); });
  const Scratch scratch(place.build / "tmp", judging.user);
  gpu::HardwareOptions on_gpu;
  on_gpu.seed = judging.seed;
  // Another key than on the simulated GPU: what a call there has seen tells nothing here.
  if (judging.key) on_gpu.key = hmac_sha256(*judging.key, "gpu");
  on_gpu.box = judging.box;
  on_gpu.budget = judging.budget;
  on_gpu.jobs = judging.jobs;
  on_gpu.root = place.root;
  on_gpu.worker = place.build / "bin" / "gpu_worker";
  on_gpu.scratch = scratch.path();
  on_gpu.user = judging.user;
  on_gpu.progress = [&status](const std::string& what) { status.show(what); };
  std::vector<gpu::HardwareTask> tasks;
  for (std::size_t i = 0; i < labs.size(); ++i)
    tasks.push_back({labs[i], builds.at(labs[i]), &result.labs[i]});
  gpu::judge_on_gpu(hardware, tasks, on_gpu, result);
  const fs::path recorded = place.root / "docs/results/h200/bench.json";
  if (fs::exists(recorded))
    for (std::size_t i = 0; i < labs.size(); ++i)
      gpu::add_recorded(read_file(recorded), *labs[i], result.labs[i]);
}

void show(const report::Report& result, const CheckOptions& options) {
  if (!options.junit.empty()) write_file_atomically(options.junit, report::junit(result));
  if (options.json == "-") {
    std::cout << report::json(result);
    return;
  }
  if (!options.json.empty()) write_file_atomically(options.json, report::json(result));
  std::cout << report::human(result, report::use_colour(1), options.verbose);
}

}  // namespace

ExitCode check(const CheckOptions& options) {
  const Workplace place = workplace(options.place);
  std::vector<Lab> labs = load_labs(place.root, options.course);
  keep_types(labs, options.types);
  report::Report result;
  const std::optional<gpu::Hardware> hardware = choose_device(options.device, result);

  JudgeOptions judging;
  judging.seed = options.seed;
  if (options.key_descriptor >= 0)
    judging.key = read_key(options.key_descriptor);
  else
    result.seed = options.seed;
  judging.jobs = options.jobs ? options.jobs : usable_cores();
  const std::vector<const Lab*> chosen = choose_labs(labs, options, judging);

  const Toolchain toolchain = probe_clang();
  result.compiler = "clang " + toolchain.clang_version;
  BuildOptions building;
  building.hostile = options.hostile;
  building.verbose = options.verbose;
  if (!options.hostile) building.optimisers = judging.jobs;  // somebody waits for it
  building.rungs.insert(options.rungs.begin(), options.rungs.end());
  if (options.hostile) {
    if (!options.box.empty()) {
      building.box = judging.box = BoxSettings::read(options.box);
      result.protection = building.box->protection;
      building.budget = judging.budget = std::make_shared<Budget>();
    } else {
      building.user = judging.user = lesser_user(place);
      if (::geteuid() == 0 && !building.user)
        throw UserError(text("box.root", {{"folder", place.root.string()}}), exit_infrastructure);
      result.protection = no_protection;
    }
  }

  const Sources sources = [&](const Lab& lab) { return sources_for(lab, options, place.root); };
  GpuBuilds for_gpu;
  if (hardware) for_gpu = build_for_gpu(place, *hardware, chosen, sources, building);

  const report::StatusLine status;
  std::vector<Build> builds(chosen.size());
  std::vector<std::function<void()>> compiling;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    compiling.push_back([&, i] {
      const Lab& lab = *chosen[i];
      status.show(text("check.compiling", {{"lab", lab.name}}));
      builds[i] = build_lab(place, toolchain, lab, sources(lab), building);
    });
  Pool(judging.jobs).run(compiling);
  judging.progress = [&status](const std::string& stage) {
    status.show(text("check.checking", {{"stage", stage}}));
  };
  // What decides a stage is kept with it, but for these.
  if (!options.again && !options.hostile && !judging.key && options.course.empty() &&
      options.types.empty() && options.rungs.empty())
    judging.kept = place.build / "cache";
  std::vector<Assignment> assignments;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    assignments.push_back(
        {chosen[i], &builds[i],
         judging.kept ? read_file(place.root / chosen[i]->folder / "lab.toml") : std::string()});
  result.labs = judge(assignments, judging);
  if (hardware) judge_on_gpu(place, *hardware, chosen, for_gpu, judging, status, result);
  status.clear();

  std::vector<int> ids;
  for (const auto& lab : labs) ids.push_back(lab.id);
  result.next = report::next_command(result, ids);
  show(result, options);
  return report::exit_code(result);
}

}  // namespace grader
