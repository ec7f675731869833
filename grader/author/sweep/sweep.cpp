// measure sweep: how time depends on one parameter of a kernel, measured on this GPU.
//
// The kernels and the clock are a program of their own (grader/author/sweep/labN.cu, built by nvcc): what
// hangs or breaks the GPU costs its point, and the program is started again for the rest.
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "grader/author/measure.hpp"
#include "grader/author/sweep/points.hpp"
#include "grader/commands/common.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/os/scratch.hpp"
#include "grader/os/sha256.hpp"
#include "grader/report/status_line.hpp"
#include "grader/report/text.hpp"
#include "grader/version.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using bench::Record;
using bench::Results;
using bench::Status;
using messages::text;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto build_patience = std::chrono::minutes(20);
/// Longer than the slowest point of any sweep on a small GPU; then the point counts as hung.
constexpr seconds point_patience{180};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Standard output of a short command, without the line's end; "" if it fails.
std::string first_line(const std::vector<std::string>& argv, const fs::path& folder) {
  ProcessSpec spec;
  spec.argv = argv;
  spec.environment = minimal_environment();
  spec.folder = folder.string();
  if (find_program(argv[0]).empty()) return {};
  const RunResult result = run_process(spec, seconds(30));
  return result.ok() ? result.output.substr(0, result.output.find('\n')) : std::string();
}

/// What the numbers depend on: the sweep's source and all of the project that it includes.
std::string source_hash(const fs::path& root, int lab) {
  std::set<std::string> seen;
  std::vector<std::string> open = {"grader/author/sweep/lab" + std::to_string(lab) + ".cu"};
  while (!open.empty()) {
    const std::string file = open.back();
    open.pop_back();
    if (!seen.insert(file).second) continue;
    std::istringstream lines(read_file(root / file));
    const std::string include = "#include \"";
    for (std::string line; std::getline(lines, line);)
      if (line.rfind(include, 0) == 0)
        open.push_back(line.substr(include.size(), line.rfind('"') - include.size()));
  }
  std::string all;
  for (const auto& file : seen) all += file + '\n' + code_sha256(read_file(root / file)) + '\n';
  return sha256(all).substr(0, 16);
}

struct Program {
  fs::path path;
  std::string arch, nvcc, sources;
};

Program built_program(const Workplace& place, int lab) {
  Program program;
  program.sources = source_hash(place.root, lab);
  program.arch = variable("ARCH").empty() ? "80" : variable("ARCH");
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) throw UserError(text("sweep.no_nvcc"), exit_infrastructure);
  ProcessSpec version;
  version.argv = {nvcc, "--version"};
  version.environment = minimal_environment();
  const std::string said = run_process(version, seconds(30)).output;
  if (const auto at = said.find("release "); at != std::string::npos)
    program.nvcc = said.substr(at + 8, said.find('\n', at) - at - 8);
  const std::string lab_name = "lab" + std::to_string(lab);
  const fs::path folder = place.build / "sweep";
  make_folder(folder);
  program.path =
      folder / (lab_name + "-" +
                sha256(program.sources + program.arch + program.nvcc).substr(0, 16) + ".program");
  if (fs::exists(program.path)) return program;
  std::cerr << text("sweep.building", {{"lab", std::to_string(lab)}, {"arch", program.arch}})
            << std::endl;
  const Scratch scratch(place.build / "tmp");
  const fs::path output = scratch.path() / "program";
  ProcessSpec compile;
  compile.argv = {nvcc,  "-arch=sm_" + program.arch,
                  "-O3", "-std=c++17",
                  "-I.", "grader/author/sweep/" + lab_name + ".cu",
                  "-o",  output.string(),
                  "-ldl"};
  compile.environment = minimal_environment();
  compile.environment.push_back("TMPDIR=" + scratch.path().string());
  compile.folder = place.root.string();
  const RunResult compiled = run_process(compile, build_patience);
  if (!compiled.ok())
    throw UserError(text("sweep.does_not_build",
                         {{"lab", std::to_string(lab)}, {"output", printable(compiled.errors)}}),
                    exit_infrastructure);
  fs::rename(output, program.path);
  return program;
}

std::vector<Record> plan_of(const Program& program, int lab) {
  ProcessSpec spec;
  spec.argv = {program.path.string(), "list"};
  spec.environment = minimal_environment();
  spec.output_bytes = 16u << 20;
  const RunResult result = run_process(spec, seconds(30));
  if (!result.ok())
    throw UserError(text("sweep.does_not_run", {{"output", printable(result.errors)}}),
                    exit_infrastructure);
  std::vector<Record> plan;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) plan.push_back(sweep::planned(lab, json::parse(line)));
  return plan;
}

/// A quick sweep keeps the small sizes: the shape of a curve, in seconds.
constexpr int quick_size = 1024;
constexpr double budget_ms = 20, quick_budget_ms = 8;

std::vector<Record> chosen(std::vector<Record> plan, const SweepOptions& options) {
  std::set<std::string> types;
  for (const Record& point : plan) types.insert(point.point.math());
  if (!options.type.empty() && types.count(options.type) == 0)
    throw UserError(text("sweep.no_type", {{"lab", std::to_string(options.lab)},
                                           {"type", printable(options.type)},
                                           {"types", fmt::format("{}", fmt::join(types, ", "))}}),
                    exit_usage);
  std::erase_if(plan, [&](const Record& point) {
    return (!options.type.empty() && point.point.math() != options.type) ||
           (options.quick && point.point.shape.n > quick_size);
  });
  return plan;
}

/// Runs the program until all of `open` have been tried, and calls found(line) for each line of
/// JSON it prints. A point in which it dies or hangs is reported as an error by us.
template <typename Found>
void measure(const Program& program, std::vector<std::string> open, double budget,
             const fs::path& tmp, Found&& found) {
  while (!open.empty()) {
    const Scratch scratch(tmp);
    std::string list;
    for (const auto& id : open) list += id + '\n';
    write_file_atomically(scratch.path() / "points", list);
    ProcessSpec spec;
    spec.argv = {program.path.string(), "measure", (scratch.path() / "points").string(),
                 std::to_string(budget)};
    spec.environment = minimal_environment();
    for (const char* name : {"CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"})
      if (const std::string value = variable(name); !value.empty())
        spec.environment.push_back(std::string(name) + "=" + value);
    spec.output_bytes = 64u << 20;
    Process process(spec);
    std::size_t read = 0;
    std::string begun;
    bool device_seen = false;
    auto last = std::chrono::steady_clock::now();
    const auto drain = [&] {
      for (;;) {
        const std::size_t end = process.output().find('\n', read);
        if (end == std::string::npos) return;
        const json line = json::parse(process.output().substr(read, end - read));
        read = end + 1;
        last = std::chrono::steady_clock::now();
        if (const auto begin = line.find("begin"); begin != line.end()) {
          begun = begin->get<std::string>();
        } else {
          if (const auto id = line.find("id"); id != line.end()) {
            open.erase(std::remove(open.begin(), open.end(), id->get<std::string>()), open.end());
            begun.clear();
          } else {
            device_seen = true;
          }
        }
        found(line);
      }
    };
    bool hung = false, dead = false;
    while (!dead) {
      dead = process.wait(milliseconds(200));
      drain();
      if (!dead && std::chrono::steady_clock::now() - last > point_patience) {
        hung = true;
        process.kill();
        break;
      }
    }
    if (!hung && process.status() == 0) return;  // points it does not know stay open
    if (!device_seen)
      throw UserError(text("sweep.does_not_run", {{"output", printable(process.errors())}}),
                      exit_infrastructure);
    const bool killed = !hung && WIFSIGNALED(process.status());
    if (begun.empty()) {
      if (hung || killed)
        throw UserError(text("sweep.does_not_run", {{"output", printable(process.errors())}}),
                        exit_infrastructure);
      continue;  // it stopped after a point that broke the GPU for it; the rest has a new process
    }
    const std::string why =
        hung
            ? text("sweep.hung", {{"seconds", std::to_string(point_patience.count())}})
            : text("sweep.died", {{"how", killed ? signal_name(WTERMSIG(process.status()))
                                                 : std::to_string(WEXITSTATUS(process.status()))}});
    found(json{{"id", begun}, {"status", "failed"}, {"note", why}});
    open.erase(std::remove(open.begin(), open.end(), begun), open.end());
  }
}

/// What the program says of the device, and what only this machine knows.
void fill_provenance(Results& results, const json& device, const Program& program,
                     const Workplace& place, const SweepOptions& options) {
  const int capability = device.at("capability");
  const std::string driver =
      first_line({"nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"}, place.root);
  results.machine = {{"gpu", device.at("gpu")},
                     {"arch", "sm_" + program.arch},
                     {"capability", fmt::format("{}.{}", capability / 10, capability % 10)},
                     {"multiprocessors", std::to_string(device.at("multiprocessors").get<int>())},
                     {"memory", fmt::format("{} MiB", device.at("memory_mib").get<long long>())},
                     {"sm_clock_max", fmt::format("{} MHz", device.at("max_mhz").get<int>())},
                     {"driver", driver.empty() ? "?" : driver},
                     {"cuda", bench::cuda_version(device.at("cuda"))},
                     {"nvcc", program.nvcc},
                     {"cublas", bench::cublas_version(device.at("cublas"))}};
  results.provenance = {
      {"source_sha256", program.sources},
      {"date", bench::utc_now()},
      {"version", version()},
      {"commit", commit_of(place.root)},
      {"command", fmt::format("make sweep LAB={}{}{}", options.lab,
                              options.type.empty() ? "" : " TYPE=" + options.type,
                              options.quick ? " QUICK=1" : "")},
      {"protocol",
       "CUDA events around launches back to back, caches warm, random inputs; median and 95 % "
       "bootstrap interval of the samples; cuBLAS sampled after each of them"}};
}

void note_clock(Results& results) {
  std::set<unsigned> seen;
  for (const Record& record : results.records)
    if (record.mhz) seen.insert(*record.mhz);
  if (!seen.empty())
    results.provenance["sm_clock"] = fmt::format("{} ... {} MHz", *seen.begin(), *seen.rbegin());
}

void say(const std::string& line) {
  for (const auto& part : report::wrap(line, 80)) std::cout << part << '\n';
}

/// Tables, sentences and curves are made by Python; one line instead where there is none.
void show(const Workplace& place, const fs::path& file, const fs::path& curves) {
  const std::string python = find_program("python3");
  if (python.empty()) return say(text("sweep.no_python"));
  ProcessSpec spec;
  spec.argv = {python, (place.root / "grader/plots/sweep_plots.py").string(), file.string()};
  if (!curves.empty()) spec.argv.push_back(curves.string());
  spec.environment = minimal_environment();
  spec.environment.emplace_back("PYTHONUTF8=1");
  for (const char* name : {"PYTHONPATH", "HOME"})
    if (const std::string value = variable(name); !value.empty())
      spec.environment.push_back(std::string(name) + "=" + value);
  spec.folder = place.root.string();
  spec.output_bytes = 4u << 20;
  const RunResult result = run_process(spec, std::chrono::minutes(5));
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) std::cout << printable(line) << '\n';
  if (!result.ok())
    say(text("sweep.plots_failed",
             {{"why", printable(result.errors.substr(0, result.errors.find('\n')))}}));
}

Results stored(const fs::path& file) {
  return bench::from_text(read_file(file), file.string(), "sweep");
}

void need_kernels(const fs::path& root, int lab) {
  const auto program = [&](int one) {
    return root / "grader/author/sweep" / fmt::format("lab{}.cu", one);
  };
  if (fs::exists(program(lab))) return;
  std::vector<int> there;
  for (int one = 1; one < 100; ++one)
    if (fs::exists(program(one))) there.push_back(one);
  throw UserError(text("sweep.no_such", {{"lab", std::to_string(lab)},
                                         {"labs", fmt::format("{}", fmt::join(there, ", "))}}),
                  exit_usage);
}

/// Takes over what was measured before on this GPU with this source. What another selection has
/// measured stays in the file. The ids of what is left to do.
std::vector<std::string> resume(Results& results, const fs::path& out) {
  std::vector<std::string> open;
  for (const Record& record : results.records) open.push_back(sweep::id_of(record));
  if (!fs::exists(out)) return open;
  const Results before = stored(out);
  if (sweep::identity(before) != sweep::identity(results)) {
    std::cerr << text("sweep.afresh", {{"file", out.string()}}) << '\n';
    return open;
  }
  const std::set<std::string> here(open.begin(), open.end());
  open = sweep::merge(results.records, before.records);
  for (const Record& record : before.records)
    if (here.count(sweep::id_of(record)) == 0) results.records.push_back(record);
  std::cerr << text("sweep.resumed",
                    {{"known", std::to_string(results.records.size() - open.size())},
                     {"all", std::to_string(results.records.size())}})
            << '\n';
  return open;
}

void measure_open(const Program& program, const std::vector<std::string>& open, bool quick,
                  const Workplace& place, const fs::path& out, Results& results) {
  const report::StatusLine status;
  const std::size_t all = results.records.size();
  std::size_t finished = all - open.size();
  auto saved = std::chrono::steady_clock::now();
  const auto save = [&] {
    note_clock(results);
    write_file_atomically(out, bench::to_text(sweep::reached(results)));
    saved = std::chrono::steady_clock::now();
  };
  measure(program, open, quick ? quick_budget_ms : budget_ms, place.build / "tmp",
          [&](const json& line) {
            if (const auto begin = line.find("begin"); begin != line.end())
              return status.show(text("sweep.progress", {{"done", std::to_string(finished)},
                                                         {"all", std::to_string(all)},
                                                         {"point", begin->get<std::string>()}}));
            const auto id = line.find("id");
            if (id == line.end()) return;
            for (Record& record : results.records)
              if (sweep::id_of(record) == id->get<std::string>())
                record = sweep::measured(record, line);
            ++finished;
            if (std::chrono::steady_clock::now() - saved > seconds(5)) save();
          });
  status.clear();
  save();
}

/// How many points have a status other than "measured", and the first of them.
void say_untimed(const Results& results, bool skipped) {
  std::size_t count = 0;
  std::string first;
  for (const Record& record : results.records)
    if (record.status != Status::measured && (record.status == Status::skipped) == skipped &&
        count++ == 0)
      first = sweep::id_of(record) + ": " + record.note;
  if (count > 0)
    say(text(skipped ? "sweep.skipped" : "sweep.wrong",
             {{"count", std::to_string(count)}, {"first", printable(first)}}));
}

}  // namespace

ExitCode sweep_lab(const SweepOptions& options) {
  const Workplace place = workplace(options.place);
  const std::string number = std::to_string(options.lab);
  if (!options.measured.empty()) {  // no GPU needed: what was measured before
    const fs::path file = fs::absolute(options.measured);
    const Results results = stored(file);
    for (const Record& record : results.records)
      if (record.point.lab != options.lab)
        throw UserError(text("sweep.other_lab", {{"file", options.measured.string()},
                                                 {"lab", std::to_string(record.point.lab)}}),
                        exit_usage);
    show(place, file, options.out.empty() ? fs::path() : fs::absolute(options.out));
    return exit_ok;
  }
  need_kernels(place.root, options.lab);
  if (!gpu_present()) throw UserError(text("sweep.no_gpu", {{"lab", number}}), exit_infrastructure);

  const fs::path out = fs::absolute(
      !options.out.empty() ? options.out : place.build / "sweep" / ("lab" + number + ".json"));
  make_folder(out.parent_path());
  const Program program = built_program(place, options.lab);
  Results results;
  results.kind = "sweep";
  results.records = chosen(plan_of(program, options.lab), options);
  // Known points are those of the same GPU, driver, compiler and source: the device must be asked
  // before it is clear which those are.
  json device;
  measure(program, {"-"}, 0, place.build / "tmp", [&](const json& line) {
    if (line.contains("device")) device = line.at("device");
  });
  fill_provenance(results, device, program, place, options);
  const std::vector<std::string> open = resume(results, out);
  measure_open(program, open, options.quick, place, out, results);

  say_untimed(results, true);
  say_untimed(results, false);
  say(text("sweep.written", {{"files", out.string()}}));
  show(place, out, out.parent_path());
  const bool wrong = std::any_of(results.records.begin(), results.records.end(),
                                 [](const Record& record) { return !sweep::done(record); });
  return wrong ? exit_failed : exit_ok;
}

}  // namespace grader
