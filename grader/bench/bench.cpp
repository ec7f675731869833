// bench: every rung against cuBLAS and the naive yardstick, and the CPU beside them.
#include "grader/bench/bench.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include <nlohmann/json.hpp>

#include "grader/bench/cpu.hpp"
#include "grader/bench/gpu_meter.hpp"
#include "grader/bench/lines.hpp"
#include "grader/bench/predictions.hpp"
#include "grader/bench/record.hpp"
#include "grader/bench/run.hpp"
#include "grader/bench/table.hpp"
#include "grader/commands/common.hpp"
#include "grader/gpu/toolchain.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/os/sha256.hpp"
#include "grader/report/status_line.hpp"
#include "grader/report/text.hpp"
#include "grader/version.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using namespace bench;
using messages::text;

void say(const std::string& sentence) {
  for (const std::string& line : report::wrap(sentence, 80)) std::cout << line << '\n';
}

Results stored(const fs::path& file) {
  return fs::exists(file) ? from_text(read_file(file), file.string()) : Results();
}

/// Results of another GPU, driver or compiler are worth keeping, but not worth mixing.
void set_aside(const fs::path& file, Results& results,
               const std::map<std::string, std::string>& machine) {
  if (results.machine.empty() || results.machine == machine) return;
  fs::path aside = file;
  aside.replace_extension(".previous.json");
  fs::rename(file, aside);
  say(text("bench.other_machine", {{"file", aside.string()}}));
  Results fresh;
  fresh.predictions = results.predictions;
  results = fresh;
}

void measure_cpu(const std::vector<CpuPoint>& plan, Results& results,
                 const std::function<void(const Results&)>& save,
                 const report::StatusLine& status) {
  const CpuMeter meter;
  constexpr double most_ms = 2000;
  if (!meter.openblas().empty()) results.provenance["openblas"] = meter.openblas();
  const std::string cpu = cpu_name();
  if (results.provenance["cpu"] != cpu) results.cpu.clear();
  results.provenance["cpu"] = cpu;
  results.provenance["compiler"] = "g++ " __VERSION__ ", -O2";
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const CpuPoint& point = plan[i];
    if (const CpuRecord* known = results.find(point);
        known && (known->status == Status::measured || known->status == Status::wrong))
      continue;
    status.show(text("bench.cpu.progress", {{"number", std::to_string(i + 1)},
                                            {"of", std::to_string(plan.size())},
                                            {"what", point.what},
                                            {"type", point.type},
                                            {"shape", point.shape.name()}}));
    // By the largest shape that was measured, else by a rate that any machine has.
    double estimate = scaled_ms({1, 1, 1}, point.what == "OpenBLAS" ? 1e-6 : 2e-6, point.shape);
    double largest = 0;
    for (const CpuRecord& one : results.cpu)
      if (one.point.what == point.what && one.point.type == point.type &&
          one.status == Status::measured && one.point.shape.flops() > largest) {
        largest = one.point.shape.flops();
        estimate = scaled_ms(one.point.shape, one.ms, point.shape);
      }
    results.put(meter.measure(point, estimate, most_ms));
    save(results);
  }
}

/// Of what the ceilings program is built from: another loop is measured anew.
std::string ceilings_sha256(const fs::path& root) {
  std::string all;
  for (const char* name : {"ceilings.cu", "wgmma_ceiling.cuh"})
    if (const fs::path file = root / "grader" / "bench" / name; fs::exists(file))
      all += code_sha256(read_file(file));
  return sha256(all);
}

/// Runs our ceilings program; its file stands beside the results. False: there is none.
bool measure_ceilings(const Workplace& place, const fs::path& file, const Results& results) {
  const fs::path program = place.build / "bin" / "bench_ceilings";
  if (!fs::exists(program)) {
    say(text("bench.no_ceilings"));
    return false;
  }
  const std::string source = ceilings_sha256(place.root);
  if (fs::exists(file)) {
    const auto known = nlohmann::json::parse(read_file(file), nullptr, false);
    if (known.is_object() && known.contains("machine") &&
        known["machine"] == nlohmann::json(results.machine) &&
        known.value("/provenance/source_sha256"_json_pointer, "") == source)
      return true;
  }
  ProcessSpec spec;
  spec.argv = {program.string()};
  spec.environment = minimal_environment();
  for (std::string& one : gpu::gpu_environment()) spec.environment.push_back(std::move(one));
  const RunResult ran = run_process(spec, std::chrono::minutes(2));
  auto measured = nlohmann::json::parse(ran.output, nullptr, false);
  if (!ran.ok() || !measured.is_object()) {
    say(text("bench.ceilings_failed", {{"said", report::fit(printable(ran.errors), 200)}}));
    return false;
  }
  nlohmann::ordered_json all = {
      {"schema", bench::kSchema}, {"kind", "ceilings"}, {"machine", results.machine}};
  all["provenance"] = {{"command", "make bench"},
                       {"version", version()},
                       {"commit", results.provenance.at("commit")},
                       {"source_sha256", source},
                       {"date", utc_now()}};
  all.update(measured);
  write_file_atomically(file, by_lines(all));
  return true;
}

/// The plots are a program of their own: without Python or matplotlib one line says what to
/// install.
void draw(const Workplace& place, const fs::path& file, const fs::path& folder) {
  const fs::path script = place.root / "grader" / "plots" / "bench_plots.py";
  if (!fs::exists(script)) return;
  ProcessSpec spec;
  const char* python = std::getenv("PYTHON");
  spec.argv = {python && *python ? python : "python3", script.string(), file.string(),
               folder.string()};
  spec.environment = minimal_environment();
  spec.environment.emplace_back("MPLBACKEND=svg");
  RunResult ran;
  try {
    ran = run_process(spec, std::chrono::minutes(3));
  } catch (const InfraError&) {
    ran.status = 127;
  }
  if (ran.ok())
    std::cout << printable(ran.output);
  else
    say(ran.errors.empty() ? text("bench.no_python") : printable(ran.errors));
}

void show(const Results& results, const Workplace& place, const fs::path& file,
          const fs::path& folder, std::size_t kept = 0) {
  for (const std::string& line : tables(results)) std::cout << line << '\n';
  for (const std::string& line : cpu_table(results)) std::cout << line << '\n';
  for (const std::string& line : sentences(results)) std::cout << line << '\n';
  if (kept) say(text("bench.kept", {{"count", std::to_string(kept)}}));
  draw(place, file, folder);
  say(text("bench.written", {{"file", fs::relative(file, place.root).generic_string()}}));
}

std::vector<Lab> selected(const std::vector<Lab>& all, const std::vector<int>& ids) {
  for (const int id : ids) lab_with_id(all, id);  // throws if there is none
  std::vector<Lab> labs;
  for (const Lab& lab : all)
    if (ids.empty() || std::find(ids.begin(), ids.end(), lab.id) != ids.end()) labs.push_back(lab);
  return labs;
}

fs::path folder_of(const BenchOptions& options, const Workplace& place) {
  if (!options.out.empty()) return options.out;
  return options.solution ? place.build / "bench" / "solution" : place.build / "bench";
}

/// Takes over what other GPUs of the same model have measured more recently.
void add_others(const std::vector<fs::path>& others, const fs::path& file, Results& results) {
  for (const fs::path& other : others) {
    const Results more = from_text(read_file(other), other.string());
    if (results.machine.empty()) results.machine = more.machine;
    if (more.machine != results.machine)
      throw UserError(
          text("bench.add_machine", {{"file", other.string()}, {"into", file.string()}}),
          exit_usage);
    results.take_newer(more);
  }
}

void sign(Results& results, const Workplace& place, const std::string& command) {
  results.provenance["command"] = command;
  results.provenance["version"] = version();
  results.provenance["commit"] = commit_of(place.root);
  results.provenance["date"] = utc_now();
}

/// Measures every point that `file` does not have yet, and saves after each.
RunSummary measure_gpu(const BenchOptions& options, const Workplace& place,
                       const gpu::Hardware& hardware, const std::vector<Lab>& labs,
                       const fs::path& file, Results& results, const report::StatusLine& status) {
  GpuSetup setup;
  setup.place = place;
  setup.tools = hardware.tools;
  setup.arch = hardware.arch;
  setup.labs = labs;
  setup.solution = options.solution;
  if (options.quick) setup.min_rounds = setup.max_rounds = 3;
  setup.progress = [&](const std::string& line) { status.show(line); };
  GpuMeter meter(setup);
  status.clear();
  set_aside(file, results, meter.machine());
  results.machine = meter.machine();
  for (const auto& [key, value] : meter.more_provenance()) results.provenance[key] = value;
  sign(results, place,
       std::string("make bench") + (options.solution ? " SOLUTION=1" : "") +
           (options.quick ? " QUICK=1" : ""));
  say(text("bench.on", {{"gpu", results.machine.at("gpu")},
                        {"driver", results.machine.at("driver")},
                        {"cublas", results.machine.at("cublas")}}));
  if (const auto why = results.provenance.find("cublas_missing");
      why != results.provenance.end() && results.machine.at("cublas") == "none")
    say(text("bench.no_cublas", {{"why", why->second}}));
  status.show(text("bench.ceilings"));
  measure_ceilings(place, file.parent_path() / "ceilings.json", results);
  LoopOptions how;
  how.limit_seconds = options.limit_seconds;
  if (options.quick) how.most_launch_ms = 60, how.attempts = 1;
  how.save = [&](const Results& now) { write_file_atomically(file, to_text(now)); };
  how.progress = [&](const std::string& line) { status.show(line); };
  return run_points(plan(labs, options.quick), meter, results, how);
}

}  // namespace

ExitCode bench_labs(const BenchOptions& options) {
  const Workplace place = workplace(options.place);
  const std::vector<Lab> all_labs = load_labs(place.root, {});
  const fs::path form = place.root / "predictions.toml";
  if (options.form_only || !options.solution) {
    if (write_predictions_form(form, all_labs)) {
      say(text("predictions.written"));
      // A person gets the chance to guess first. Nobody is asked twice.
      if (!options.form_only && isatty(0) && isatty(1)) return exit_ok;
    }
    if (options.form_only) return exit_ok;
  }
  const std::vector<Lab> labs = selected(all_labs, options.labs);
  const fs::path folder = folder_of(options, place);
  make_folder(folder);
  const fs::path file = folder / "bench.json";
  Results results = stored(file);
  if (!options.solution)
    results.predictions = merge_predictions(results.predictions, read_predictions(form, all_labs));
  const auto save = [&](const Results& now) { write_file_atomically(file, to_text(now)); };
  if (!options.add.empty()) {
    add_others(options.add, file, results);
    save(results);
    show(results, place, file, folder);
    return exit_ok;
  }

  const report::StatusLine status;
  const gpu::Hardware hardware = gpu::probe_hardware(chosen_arch());
  RunSummary summary;
  if (hardware.usable) {
    summary = measure_gpu(options, place, hardware, labs, file, results, status);
  } else {
    say(text("bench.no_gpu", {{"reason", hardware.reason}}));
    if (!hardware.advice.empty()) say(hardware.advice);
    if (results.provenance.empty()) sign(results, place, "make bench");
  }
  if (!options.no_cpu && summary.left == 0)
    measure_cpu(cpu_plan(options.quick), results, save, status);
  save(results);
  status.clear();

  show(results, place, file, folder, summary.kept);
  if (summary.left)
    say(text("bench.limit", {{"left", std::to_string(summary.left)}}));
  else
    say(text("bench.next"));
  return exit_ok;
}

}  // namespace grader
