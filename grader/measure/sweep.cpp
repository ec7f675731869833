// measure sweep: how time depends on one parameter of a kernel, measured on this GPU.
//
// The kernels and the clock are a program of their own (grader/sweep/labN.cu, built by nvcc): what
// hangs or breaks the GPU costs its point, and the program is started again for the rest.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "grader/commands/common.hpp"
#include "grader/measure/measure.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/os/scratch.hpp"
#include "grader/os/sha256.hpp"
#include "grader/report/text.hpp"
#include "grader/sweep/record.hpp"
#include "grader/sweep/sentences.hpp"
#include "grader/sweep/table.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

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
  std::vector<std::string> open = {"grader/sweep/lab" + std::to_string(lab) + ".cu"};
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
  compile.argv = {nvcc,  "-arch=sm_" + program.arch,         "-O3", "-std=c++17",
                  "-I.", "grader/sweep/" + lab_name + ".cu", "-o",  output.string(),
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

std::vector<sweep::Point> plan_of(const Program& program) {
  ProcessSpec spec;
  spec.argv = {program.path.string(), "list"};
  spec.environment = minimal_environment();
  spec.output_bytes = 16u << 20;
  const RunResult result = run_process(spec, seconds(30));
  if (!result.ok())
    throw UserError(text("sweep.does_not_run", {{"output", printable(result.errors)}}),
                    exit_infrastructure);
  std::vector<sweep::Point> plan;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) plan.push_back(sweep::point_from(json::parse(line)));
  return plan;
}

/// A quick sweep keeps the small sizes: the shape of a curve, in seconds.
constexpr int quick_size = 1024;
constexpr double budget_ms = 20, quick_budget_ms = 8;

std::vector<sweep::Point> chosen(std::vector<sweep::Point> plan, const SweepOptions& options) {
  std::set<std::string> types;
  for (const auto& point : plan) types.insert(point.type);
  if (!options.type.empty() && types.count(options.type) == 0) {
    std::string all;
    for (const auto& type : types) all += (all.empty() ? "" : ", ") + type;
    throw UserError(text("sweep.no_type", {{"lab", std::to_string(options.lab)},
                                           {"type", printable(options.type)},
                                           {"types", all}}),
                    exit_usage);
  }
  plan.erase(std::remove_if(plan.begin(), plan.end(),
                            [&](const sweep::Point& point) {
                              return (!options.type.empty() && point.type != options.type) ||
                                     (options.quick && point.n > quick_size);
                            }),
             plan.end());
  return plan;
}

/// One line that rewrites itself, on a terminal only.
class Progress {
 public:
  Progress() : terminal_(::isatty(2) == 1) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(std::size_t done, std::size_t all, const std::string& point) const {
    if (!terminal_) return;
    std::cerr << "\r\033[K"
              << report::fit(text("sweep.progress", {{"done", std::to_string(done)},
                                                     {"all", std::to_string(all)},
                                                     {"point", point}}),
                             79)
              << std::flush;
  }
  void clear() const {
    if (terminal_) std::cerr << "\r\033[K" << std::flush;
  }

 private:
  bool terminal_;
};

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
    found(json{{"id", begun}, {"error", why}});
    open.erase(std::remove(open.begin(), open.end(), begun), open.end());
  }
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char out[32];
  std::strftime(out, sizeof out, "%Y-%m-%d", &utc);
  return out;
}

std::string dotted(int number, int scale) {  // 13000 -> 13.0
  return std::to_string(number / scale) + "." + std::to_string(number % scale / (scale / 100));
}

/// What the program says of the device, and what only this machine knows.
void fill_provenance(sweep::Results& results, const json& device, const Program& program,
                     const Workplace& place, const SweepOptions& options) {
  auto& p = results.provenance;
  results.multiprocessors = device.at("multiprocessors").get<int>();
  p["gpu"] = device.at("gpu").get<std::string>();
  p["capability"] = dotted(device.at("capability").get<int>() * 100, 1000);
  p["memory"] = std::to_string(device.at("memory_mib").get<long long>()) + " MiB";
  p["sm_clock_max"] = std::to_string(device.at("max_mhz").get<int>()) + " MHz";
  p["cuda"] = dotted(device.at("cuda").get<int>(), 1000);
  const int cublas = device.at("cublas").get<int>();
  p["cublas"] = cublas > 0 ? std::to_string(cublas) : "not found";
  const std::string driver =
      first_line({"nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"}, place.root);
  p["driver"] = driver.empty() ? "?" : driver;
  p["nvcc"] = program.nvcc;
  p["arch"] = "sm_" + program.arch;
  p["sources"] = program.sources;
  p["date"] = today();
  p["commit"] = commit_of(place.root);
  p["command"] = "make sweep LAB=" + std::to_string(options.lab) +
                 (options.type.empty() ? "" : " TYPE=" + options.type) +
                 (options.quick ? " QUICK=1" : "");
  p["timing"] =
      "CUDA events around launches back to back, caches warm, random inputs; median and 95 % "
      "bootstrap interval of the samples; cuBLAS sampled after each of them";
}

void note_clock(sweep::Results& results) {
  int low = 0, high = 0;
  for (const auto& point : results.points) {
    if (point.mhz == 0) continue;
    low = low == 0 ? point.mhz : std::min(low, point.mhz);
    high = std::max(high, point.mhz);
  }
  if (high > 0)
    results.provenance["sm_clock"] = std::to_string(low) + " ... " + std::to_string(high) + " MHz";
}

void show(const sweep::Results& results) {
  const auto of = [&](const char* name) {
    const auto found = results.provenance.find(name);
    return found == results.provenance.end() ? std::string("?") : found->second;
  };
  std::cout << report::fit(text("sweep.header", {{"lab", std::to_string(results.lab)},
                                                 {"gpu", of("gpu")},
                                                 {"driver", of("driver")},
                                                 {"date", of("date")}}),
                           80)
            << "\n\n";
  for (const auto& line : sweep::tables(results)) std::cout << line << '\n';
}

/// Curves as SVG beside the results; a line instead where Python has no matplotlib.
void plot(const Workplace& place, const fs::path& file) {
  const auto say = [](const std::string& line) {
    for (const auto& part : report::wrap(line, 80)) std::cout << part << '\n';
  };
  const std::string python = find_program("python3");
  if (python.empty()) return say(text("sweep.no_plots"));
  ProcessSpec spec;
  spec.argv = {python, (place.root / "grader/plots/sweep_plots.py").string(), file.string()};
  spec.environment = minimal_environment();
  for (const char* name : {"PYTHONPATH", "HOME"})
    if (const std::string value = variable(name); !value.empty())
      spec.environment.push_back(std::string(name) + "=" + value);
  spec.folder = place.root.string();
  const RunResult result = run_process(spec, std::chrono::minutes(5));
  const bool no_library = WIFEXITED(result.status) && WEXITSTATUS(result.status) == 77;
  if (no_library) return say(text("sweep.no_plots"));
  if (!result.ok())
    return say(text("sweep.plots_failed",
                    {{"why", printable(result.errors.substr(0, result.errors.find('\n')))}}));
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) std::cout << printable(line) << '\n';
}

fs::path beside(fs::path file, const char* extension) {
  return file.replace_extension(extension);
}

}  // namespace

ExitCode sweep_lab(const SweepOptions& options) {
  const Workplace place = workplace(options.place);
  const std::string number = std::to_string(options.lab);
  const fs::path out = fs::absolute(
      !options.out.empty() ? options.out : place.build / "sweep" / ("lab" + number + ".json"));

  if (!options.measured.empty()) {  // no GPU needed: tables and plots of what was measured before
    const sweep::Results results = sweep::read_results(options.measured);
    if (results.lab != options.lab)
      throw UserError(text("sweep.other_lab", {{"file", options.measured.string()},
                                               {"lab", std::to_string(results.lab)}}),
                      exit_usage);
    show(results);
    if (options.out.empty()) return exit_ok;
    make_folder(out.parent_path());
    write_file_atomically(out, sweep::to_json_text(results));
    write_file_atomically(beside(out, ".csv"), sweep::to_csv(results));
    plot(place, out);
    return exit_ok;
  }

  std::string there;
  for (int lab = 1; lab < 100; ++lab)
    if (fs::exists(place.root / "grader/sweep" / ("lab" + std::to_string(lab) + ".cu")))
      there += (there.empty() ? "" : ", ") + std::to_string(lab);
  if (!fs::exists(place.root / "grader/sweep" / ("lab" + number + ".cu")))
    throw UserError(text("sweep.no_such", {{"lab", number}, {"labs", there}}), exit_usage);
  if (!gpu_present()) throw UserError(text("sweep.no_gpu", {{"lab", number}}), exit_infrastructure);

  const Program program = built_program(place, options.lab);
  sweep::Results results;
  results.lab = options.lab;
  results.points = chosen(plan_of(program), options);
  make_folder(out.parent_path());

  // Known points are those of the same GPU, driver, compiler and source: the device must be asked
  // before it is clear which those are.
  const Progress progress;
  json device;
  measure(program, {"-"}, 0, place.build / "tmp", [&](const json& line) {
    if (line.contains("device")) device = line.at("device");
  });
  fill_provenance(results, device, program, place, options);
  std::vector<std::string> open;
  for (const auto& point : results.points) open.push_back(point.id);
  if (fs::exists(out)) {
    const sweep::Results before = sweep::read_results(out);
    if (before.identity() == results.identity()) {
      open = sweep::merge(results.points, before.points);
      // What another selection has measured stays in the file.
      std::set<std::string> here;
      for (const auto& point : results.points) here.insert(point.id);
      for (const auto& point : before.points)
        if (here.count(point.id) == 0) results.points.push_back(point);
      std::cerr << text("sweep.resumed",
                        {{"known", std::to_string(results.points.size() - open.size())},
                         {"all", std::to_string(results.points.size())}})
                << '\n';
    } else {
      std::cerr << text("sweep.afresh", {{"file", out.string()}}) << '\n';
    }
  }
  const std::size_t all = results.points.size();
  std::size_t done = all - open.size();
  auto saved = std::chrono::steady_clock::now();
  const auto save = [&] {
    note_clock(results);
    write_file_atomically(out, sweep::to_json_text(results));
    saved = std::chrono::steady_clock::now();
  };
  measure(program, open, options.quick ? quick_budget_ms : budget_ms, place.build / "tmp",
          [&](const json& line) {
            if (const auto begin = line.find("begin"); begin != line.end())
              return progress.show(done, all, begin->get<std::string>());
            const auto id = line.find("id");
            if (id == line.end()) return;
            for (auto& point : results.points) {
              if (point.id != *id) continue;
              sweep::Point found = sweep::point_from(line);
              found.experiment = point.experiment, found.variant = point.variant;
              found.type = point.type, found.label = point.label;
              found.n = point.n, found.x = point.x;
              point = found;
            }
            ++done;
            if (std::chrono::steady_clock::now() - saved > seconds(5)) save();
          });
  progress.clear();
  save();
  write_file_atomically(beside(out, ".csv"), sweep::to_csv(results));
  show(results);

  std::size_t wrong = 0, skipped = 0;
  std::string first_wrong, first_skipped;
  for (const auto& point : results.points) {
    if (!point.error.empty() && wrong++ == 0) first_wrong = point.id + ": " + point.error;
    if (!point.skipped.empty() && skipped++ == 0) first_skipped = point.id + ": " + point.skipped;
  }
  std::cout << '\n';
  const auto say = [](const std::string& line) {
    for (const auto& part : report::wrap(line, 80)) std::cout << part << '\n';
  };
  if (skipped > 0)
    say(text("sweep.skipped",
             {{"count", std::to_string(skipped)}, {"first", printable(first_skipped)}}));
  if (wrong > 0)
    say(text("sweep.wrong", {{"count", std::to_string(wrong)}, {"first", printable(first_wrong)}}));
  say(text("sweep.written", {{"files", out.string() + ", " + beside(out, ".csv").string()}}));
  plot(place, out);
  return wrong == 0 ? exit_ok : exit_failed;
}

}  // namespace grader
