#include "grader/gpu/build.hpp"

#include <chrono>
#include <sstream>
#include <stdexcept>

#include "grader/compile/cache.hpp"
#include "grader/compile/entries.hpp"
#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"

namespace grader::gpu {
namespace fs = std::filesystem;
namespace {

using messages::text;

// nvcc runs five programs one after the other, each within these. Lab 5 takes 20 s of processor
// time in all on a slow core. nvcc reserves address space generously: memory is limited at twice
// what clang gets.
constexpr CompilerLimits limits{120, 8ull << 30, 256ull << 20};

constexpr const char* runner_source = "grader/gpu/runner_main.cu";

/// What nvcc's two compilers say, in the shape of clang's: "file(12): error: text" and
/// "file(12): error #20: text" become "file:12:1: error: text".
std::string as_clang_says(const std::string& said) {
  std::ostringstream out;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    const auto open = line.find('(');
    const auto close = line.find("): ", open);
    if (open != std::string::npos && close != std::string::npos &&
        line.find_first_not_of("0123456789", open + 1) == close) {
      std::string rest = line.substr(close + 3);
      for (const char* level : {"error", "warning"})
        if (rest.rfind(std::string(level) + " #", 0) == 0)
          if (const auto colon = rest.find(": "); colon != std::string::npos)
            rest = std::string(level) + rest.substr(colon);
      line = line.substr(0, open) + ":" + line.substr(open + 1, close - open - 1) + ":1: " + rest;
    }
    out << line << '\n';
  }
  return out.str();
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
  const std::string number = std::to_string(arch.number) + arch.suffix;
  return {"-std=c++17", "-O3",      "-lineinfo",
          "-I.",        "-gencode", "arch=compute_" + number + ",code=sm_" + number};
}

GpuBuild build_gpu(const Workplace& place, const GpuToolchain& tools, const Arch& arch,
                   const Lab& lab, const SourceOf& source, const BuildOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const CompilerRuns runs(place, "nvcc\n" + tools.identity + arch.name(), options, limits);
  GpuBuild build;
  std::string all_objects;
  std::vector<std::string> linked;

  for (const auto& file : lab.files()) {
    GpuUnit unit;
    unit.file = file;
    Arch target = arch;
    std::string needed;
    for (const auto& rung : lab.rungs)
      if (rung.file == file && !rung.needs_arch.empty()) needed = rung.needs_arch;
    if (!needed.empty()) {
      target = parse_arch(needed).value_or(arch);
      if (!runs_on(target, arch.number)) {
        unit.skipped = true;
        unit.headline =
            text("gpu.file_skipped", {{"file", file}, {"needed", needed}, {"arch", arch.name()}});
        build.units.push_back(std::move(unit));
        continue;
      }
    }
    StudentFile student = read_student_file(place, lab, source(file), options);
    unit.status = student.status;
    unit.headline = student.headline;
    unit.shown_path = student.shown_path;
    if (unit.status != BuildStatus::built) {
      build.units.push_back(std::move(unit));
      continue;
    }
    std::vector<std::string> argv = {tools.nvcc};
    const auto flags = nvcc_options(target);
    argv.insert(argv.end(), flags.begin(), flags.end());
    argv.insert(argv.end(), {"-c", student.compiled});
    const CompilerPass object =
        runs.run("gpu.o", target.name() + '\0' + student.inputs, argv, "student.o");
    if (!object.ok) {
      if (runs.explain_limit(object, unit.shown_path, unit.headline)) {
        unit.status = BuildStatus::compile_limit;
      } else {
        unit.status = BuildStatus::compile_error;
        unit.headline = text("gpu.build.error", {{"file", unit.shown_path}});
        unit.details =
            filter_compiler_output(as_clang_says(printable(object.said)), student.compiled).errors;
      }
      build.units.push_back(std::move(unit));
      continue;
    }
    const std::string stem = file.substr(0, file.rfind('.'));
    const std::string path = runs.put(stem + ".o", object.bytes).string();
    unit.gate = inspect_object(object.bytes);
    if (unit.gate.empty()) {
      const RunResult listing =
          runs.tool({"sh", "-c",
                     "objdump -d --no-show-raw-insn \"$1\" | "
                     "grep -E '[[:space:]](syscall|sysenter|svc|int +.0x80)' | head -n 4",
                     "sh", path});
      unit.gate = inspect_disassembly(listing.output);
    }
    if (!unit.gate.empty()) {
      unit.status = BuildStatus::refused;
      unit.headline = text("gate.refused", {{"file", unit.shown_path}});
      for (const auto& finding : unit.gate)
        if (unit.details.size() < 5) unit.details.push_back(finding.sentence());
      build.units.push_back(std::move(unit));
      continue;
    }
    const RunResult listed = runs.tool({"nm", "--defined-only", "--extern-only", path});
    if (!listed.ok()) throw InfraError("nm failed: " + printable(listed.errors));
    const auto found = match_entries(
        lab, defined_symbols(listed.output), [&](const Rung& rung) { return rung.file == file; },
        file == "gemm.cu");
    build.entries.insert(build.entries.end(), found.begin(), found.end());
    linked.push_back(path);
    all_objects += object.bytes + '\0';
    build.units.push_back(std::move(unit));
  }

  bool any = false;
  for (const auto& entry : build.entries) any = any || entry.defined;
  if (any) {
    const std::string generated =
        entries_source(lab, build.entries, "grader/gpu/runner_main.hpp",
                       "int main(int argc, char** argv) {\n"
                       "  return grader::gpu::runner_main(argc, argv, entries, count);\n}\n");
    const CompilerPass entries = runs.run(
        "gpu-entries.o", generated,
        {tools.nvcc, "-std=c++17", "-O1", "-I.", "-c", runs.put("entries.cpp", generated).string()},
        "entries.o");
    if (!entries.ok)
      throw InfraError("the generated entries.cpp does not compile: " + printable(entries.said));
    std::string inputs;
    for (const char* name : {runner_source, "grader/gpu/runner_main.hpp", "grader/gpu/protocol.hpp",
                             "grader/gpu/packet.hpp", "grader/gpu/shared_memory.cuh",
                             "grader/os/unique_fd.hpp", "common/tensor_map.cuh"})
      inputs += read_file(place.root / name) + '\0';
    std::vector<std::string> argv = {tools.nvcc};
    const auto flags = nvcc_options(arch);
    argv.insert(argv.end(), flags.begin(), flags.end());
    argv.insert(argv.end(), {"-c", runner_source});
    const CompilerPass runner = runs.run("gpu-runner.o", inputs, argv, "runner_main.o");
    if (!runner.ok)
      throw InfraError(std::string(runner_source) +
                       " does not compile: " + printable(runner.said).substr(0, 600));
    // Ours first: where two objects bring the same inline function, the linker keeps the first.
    std::vector<std::string> link = {tools.nvcc, "-gencode", flags.back(),
                                     runs.put("runner_main.o", runner.bytes).string(),
                                     runs.put("entries.o", entries.bytes).string()};
    link.insert(link.end(), linked.begin(), linked.end());
    const CompilerPass program =
        runs.run("gpu-runner", all_objects + entries.bytes + '\0' + runner.bytes, link, "runner");
    if (program.ok) {
      build.runner = runs.keep_program(program.bytes);
    } else {
      for (auto& unit : build.units) {
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
  }
  runs.prune();
  build.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return build;
}

}  // namespace grader::gpu
