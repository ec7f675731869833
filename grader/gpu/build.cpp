#include "grader/gpu/build.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "grader/compile/cache.hpp"
#include "grader/compile/entries.hpp"
#include "grader/compile/unit.hpp"
#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"

namespace grader::gpu {
namespace fs = std::filesystem;
namespace {

using messages::text;

// nvcc runs five programs one after the other, each within these. Lab 5 takes 20 s of processor
// time in all on a slow core. nvcc reserves address space generously: memory is limited at twice
// what clang gets.
constexpr CompilerLimits limits{120, 8ull << 30, 256ull << 20};

/// What nvcc's two compilers say, in the shape of clang's: "file(12): error: text" and
/// "file(12): error #20: text" become "file:12:1: error: text". Where a template was instantiated
/// is left out: in generated lines.
std::string as_clang_says(const std::string& said) {
  std::string out;
  std::istringstream lines(printable(said));
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" detected during") != std::string::npos &&
        line.find(".unit.cu") != std::string::npos)
      continue;
    const auto open = line.find('(');
    const auto close = line.find("): ", open);
    if (open != std::string::npos && close != std::string::npos &&
        line.find_first_not_of("0123456789", open + 1) == close) {
      std::string rest = line.substr(close + 3);
      for (const char* level : {"error", "warning"})
        if (rest.rfind(std::string(level) + " #", 0) == 0)
          if (const auto colon = rest.find(": "); colon != std::string::npos)
            rest = std::string(level) + rest.substr(colon);
      line = fmt::format("{}:{}:1: {}", line.substr(0, open),
                         line.substr(open + 1, close - open - 1), rest);
    }
    out += line + '\n';
  }
  return out;
}

/// Compiles one of the lab's files: without the launchers that are not there, see
/// grader/compile/unit.hpp.
CompilerPass compile_unit(const CompilerRuns& runs, const GpuToolchain& tools, const Arch& target,
                          const Lab& lab, const std::string& file, const StudentFile& student) {
  const std::string stem = file.substr(0, file.rfind('.'));
  const auto compile = [&](const std::string& inputs, const std::string& path) {
    std::vector<std::string> argv = {tools.nvcc};
    const auto flags = nvcc_options(target);
    argv.insert(argv.end(), flags.begin(), flags.end());
    argv.insert(argv.end(), {"-c", path});
    return runs.run("gpu.o", target.name() + '\0' + inputs, argv, stem + ".o", "",
                    [&student] { return student.unchanged(); });
  };
  std::vector<Mismatches::One> mismatches;
  const auto left = [&](const Rung& rung, const std::string& type) {
    return std::none_of(mismatches.begin(), mismatches.end(), [&](const auto& one) {
      return one.instance.rung == rung.name && one.instance.type == type;
    });
  };
  for (;;) {
    const TranslationUnit unit = translation_unit(lab, file, student.compiled, left);
    const std::string path = runs.put(stem + ".unit.cu", unit.text).string();
    const CompilerPass pass = compile(unit.text + '\0' + student.inputs, path);
    if (pass.ok) return pass;
    const Mismatches found =
        find_mismatches(as_clang_says(pass.said), path, student.compiled, unit);
    if (found.unclosed) {
      // The compiler is lost behind the end of the file: the file alone gives better errors.
      const CompilerPass alone = compile(student.inputs, student.compiled);
      return alone.ok ? pass : alone;
    }
    if (found.list.empty()) return pass;
    mismatches.insert(mismatches.end(), found.list.begin(), found.list.end());
  }
}

}  // namespace

const GpuUnit& GpuBuild::unit(const std::string& file) const {
  for (const auto& one : units)
    if (one.file == file) return one;
  throw std::out_of_range("no file " + file + " in this build");
}

bool GpuBuild::has(const std::string& entry) const {
  if (runner.empty()) return false;
  for (const auto& one : entries)
    if (one.name == entry) return one.defined;
  return false;
}

std::vector<std::string> nvcc_options(const Arch& arch) {
  const std::string number = fmt::format("{}{}", arch.number, arch.suffix);
  return {"-std=c++17", "-O3",      "-lineinfo",
          "-I.",        "-gencode", fmt::format("arch=compute_{0},code=sm_{0}", number)};
}

namespace {

void append(std::vector<std::string>& list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

/// One lab on its way from source files to a runner.
class GpuBuilder {
 public:
  GpuBuilder(const Workplace& place, const GpuToolchain& tools, const Arch& arch, const Lab& lab,
             const SourceOf& source, const BuildOptions& options)
      : place_(place),
        tools_(tools),
        arch_(arch),
        lab_(lab),
        source_(source),
        options_(options),
        runs_(place, "nvcc\n" + tools.identity + arch.name(), options, limits) {}

  GpuBuild run() {
    for (const auto& file : lab_.files()) build_.units.push_back(unit(file));
    if (std::any_of(build_.entries.begin(), build_.entries.end(),
                    [](const EntryPoint& entry) { return entry.defined; }))
      link();
    runs_.prune();
    return std::move(build_);
  }

 private:
  GpuUnit unit(const std::string& file) {
    GpuUnit unit;
    unit.file = file;
    Arch target = arch_;
    if (!choose_target(unit, target)) return unit;
    StudentFile student = read_student_file(place_, lab_, source_(file), options_, runs_);
    unit.status = student.status;
    unit.headline = student.headline;
    unit.shown_path = student.shown_path;
    if (unit.status != BuildStatus::built) return unit;
    const std::optional<std::string> object = compile(file, student, target, unit);
    if (!object) return unit;
    const std::string path = runs_.put(file.substr(0, file.rfind('.')) + ".o", *object).string();
    if (!passes_gate(*object, path, unit)) return unit;
    const RunResult listed = runs_.tool(symbol_lister(path));
    if (!listed.ok()) throw InfraError("readelf failed: " + printable(listed.errors));
    const auto found = match_entries(lab_, file, defined_symbols(listed.output));
    build_.entries.insert(build_.entries.end(), found.begin(), found.end());
    objects_.push_back(path);
    all_bytes_ += *object + '\0';
    return unit;
  }

  /// The architecture that a file's rungs need. False: this GPU cannot run it.
  bool choose_target(GpuUnit& unit, Arch& target) const {
    std::string needed;
    for (const auto& rung : lab_.rungs)
      if (rung.file == unit.file && !rung.needs_arch.empty()) needed = rung.needs_arch;
    if (needed.empty()) return true;
    target = parse_arch(needed).value_or(arch_);
    if (runs_on(target, arch_.number)) return true;
    unit.skipped = true;
    unit.headline =
        text("gpu.file_skipped", {{"file", unit.file}, {"needed", needed}, {"arch", arch_.name()}});
    return false;
  }

  /// The object's bytes; empty if it does not compile.
  std::optional<std::string> compile(const std::string& file, const StudentFile& student,
                                     const Arch& target, GpuUnit& unit) const {
    const CompilerPass object = compile_unit(runs_, tools_, target, lab_, file, student);
    if (object.ok) return object.bytes;
    if (runs_.explain_limit(object, unit.shown_path, unit.headline)) {
      unit.status = BuildStatus::compile_limit;
    } else {
      unit.status = BuildStatus::compile_error;
      unit.headline = text("gpu.build.error", {{"file", unit.shown_path}});
      unit.details = filter_compiler_output(as_clang_says(object.said), student.compiled).errors;
    }
    return std::nullopt;
  }

  bool passes_gate(const std::string& object, const std::string& path, GpuUnit& unit) const {
    unit.gate = inspect_object(object);
    if (unit.gate.empty()) {
      const RunResult listing =
          runs_.tool({"sh", "-c",
                      "objdump -d --no-show-raw-insn \"$1\" | "
                      "grep -E '[[:space:]](syscall|sysenter|svc|int +.0x80)' | head -n 4",
                      "sh", path});
      unit.gate = inspect_disassembly(listing.output);
    }
    if (unit.gate.empty()) return true;
    unit.status = BuildStatus::refused;
    unit.headline = text("gate.refused", {{"file", unit.shown_path}});
    for (const auto& finding : unit.gate)
      if (unit.details.size() < 5) unit.details.push_back(finding.sentence());
    return false;
  }

  CompilerPass compile_entries() const {
    const std::string generated =
        entries_source(lab_, build_.entries, "grader/gpu/runner_main.hpp",
                       "int main(int argc, char** argv) {\n"
                       "  return grader::gpu::runner_main(argc, argv, entries, count);\n}\n");
    CompilerPass entries = runs_.run("gpu-entries.o", generated,
                                     {tools_.nvcc, "-std=c++17", "-O1", "-I.", "-c",
                                      runs_.put("entries.cpp", generated).string()},
                                     "entries.o");
    if (!entries.ok)
      throw InfraError("the generated entries.cpp does not compile: " + printable(entries.said));
    return entries;
  }

  CompilerPass compile_runner() const {
    const std::string source = gpu_runner_sources[0];
    std::string inputs;
    for (const char* name : gpu_runner_sources) inputs += read_file(place_.root / name) + '\0';
    for (const char* name : {"common/wire/archive.hpp", "common/wire/channel.hpp",
                             "common/wire/unique_fd.hpp", "common/tensor_map.cuh"})
      inputs += read_file(place_.root / name) + '\0';
    std::vector<std::string> argv = {tools_.nvcc};
    append(argv, nvcc_options(arch_));
    append(argv, {"-c", source});
    CompilerPass runner = runs_.run("gpu-runner.o", inputs, argv, "runner_main.o");
    if (!runner.ok)
      throw InfraError(source + " does not compile: " + printable(runner.said).substr(0, 600));
    return runner;
  }

  void link() {
    const CompilerPass entries = compile_entries(), runner = compile_runner();
    // Ours first: where two objects bring the same inline function, the linker keeps the first.
    std::vector<std::string> argv = {tools_.nvcc, "-gencode", nvcc_options(arch_).back(),
                                     runs_.put("runner_main.o", runner.bytes).string(),
                                     runs_.put("entries.o", entries.bytes).string()};
    append(argv, objects_);
    const CompilerPass program =
        runs_.run("gpu-runner", all_bytes_ + entries.bytes + '\0' + runner.bytes, argv, "runner");
    if (program.ok) {
      build_.runner = runs_.keep_program(program.bytes);
      return;
    }
    for (auto& unit : build_.units) {
      if (!unit.usable()) continue;
      unit.status = BuildStatus::link_error;
      unit.headline = text("build.link", {{"file", unit.shown_path}});
      std::istringstream lines(printable(program.said));
      for (std::string line; std::getline(lines, line) && unit.details.size() < 5;) {
        const auto at =
            std::min(line.find("undefined reference to"), line.find("multiple definition of"));
        if (at != std::string::npos) unit.details.push_back(line.substr(at));
      }
    }
  }

  const Workplace& place_;
  const GpuToolchain& tools_;
  const Arch& arch_;
  const Lab& lab_;
  const SourceOf& source_;
  const BuildOptions& options_;
  const CompilerRuns runs_;
  GpuBuild build_;
  std::vector<std::string> objects_;  ///< paths of those that are linked
  std::string all_bytes_;             ///< theirs, for the cache
};

}  // namespace

GpuBuild build_gpu(const Workplace& place, const GpuToolchain& tools, const Arch& arch,
                   const Lab& lab, const SourceOf& source, const BuildOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  GpuBuild build = GpuBuilder(place, tools, arch, lab, source, options).run();
  build.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return build;
}

}  // namespace grader::gpu
