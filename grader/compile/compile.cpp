#include "grader/compile/compile.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <sstream>

#include "grader/compile/cache.hpp"
#include "grader/compile/entries.hpp"
#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using messages::text;

class Driver {
 public:
  Driver(const Workplace& place, const Toolchain& toolchain, const Lab& lab,
         const BuildOptions& options)
      : place_(place),
        toolchain_(toolchain),
        lab_(lab),
        options_(options),
        runs_(place, toolchain.identity, options) {}

  Build build(const fs::path& source);

 private:
  using Pass = CompilerPass;

  void explain_failure(Build& build, const Pass& pass, const std::string& student_file) const;
  void list_entries(Build& build, const std::string& object);
  void link(Build& build, const std::string& object);

  const Workplace& place_;
  const Toolchain& toolchain_;
  const Lab& lab_;
  const BuildOptions& options_;
  CompilerRuns runs_;
};

void Driver::explain_failure(Build& build, const Pass& pass,
                             const std::string& student_file) const {
  if (runs_.explain_limit(pass, build.shown_path, build.headline)) {
    build.status = BuildStatus::compile_limit;
    return;
  }
  build.status = BuildStatus::compile_error;
  const CompilerOutput output = filter_compiler_output(printable(pass.said), student_file);
  build.details = output.errors;
  if (!output.unavailable_include.empty())
    build.headline = text("build.include", {{"file", build.shown_path},
                                            {"line", std::to_string(output.unavailable_line)},
                                            {"header", output.unavailable_include}});
  else
    build.headline = text("build.error", {{"file", build.shown_path}});
}

void Driver::list_entries(Build& build, const std::string& object) {
  const RunResult listed = runs_.tool(
      {"nm", "--defined-only", "--extern-only", runs_.put("symbols.o", object).string()});
  if (!listed.ok()) throw InfraError("nm failed: " + printable(listed.errors));
  build.entries = match_entries(
      lab_, defined_symbols(listed.output),
      [](const Rung& rung) { return rung.needs_arch.empty(); }, true);
}

void Driver::link(Build& build, const std::string& object) {
  if (std::none_of(build.entries.begin(), build.entries.end(),
                   [](const EntryPoint& e) { return e.defined; }))
    return;
  const std::string generated = entries_source(
      lab_, build.entries, "common/simgpu/runtime/remote/runner_loop.hpp",
      "int main() { return simgpu::runtime::simgpu_runner_main(3, entries, count); }\n");
  const fs::path entries_path = runs_.put("entries.cpp", generated);
  const Pass entries = runs_.run(
      "entries.o", generated,
      {toolchain_.clang, "-std=c++17", "-O1", "-I.", "-c", entries_path.string()}, "entries.o");
  if (!entries.ok)
    throw InfraError("the generated entries.cpp does not compile: " + printable(entries.said));
  const fs::path object_path = runs_.put("gemm.o", object),
                 entries_object = runs_.put("entries_copy.o", entries.bytes);
  const Pass linked = runs_.run(
      "runner", object + '\0' + entries.bytes + '\0' + read_file(place_.remote_library, 1u << 30),
      {toolchain_.clang, object_path.string(), entries_object.string(),
       place_.remote_library.string(), "-pthread"},
      "runner");
  if (!linked.ok) {
    build.status = BuildStatus::link_error;
    if (linked.said.find("multiple definition of `main'") != std::string::npos ||
        linked.said.find("duplicate symbol: main") != std::string::npos) {
      build.headline = text("build.main", {{"file", build.shown_path}});
      return;
    }
    build.headline = text("build.link", {{"file", build.shown_path}});
    std::istringstream lines(printable(linked.said));
    for (std::string line; std::getline(lines, line) && build.details.size() < 5;) {
      // ".../gemm.o: in function `f()': gemm.cu:(.text+0x12): undefined reference to `g()'"
      const auto at =
          std::min(line.find("undefined reference to"), line.find("multiple definition of"));
      if (at != std::string::npos) build.details.push_back(line.substr(at));
    }
    return;
  }
  build.runner = runs_.keep_program(linked.bytes);
}

Build Driver::build(const fs::path& source) {
  Build build;
  const auto start = std::chrono::steady_clock::now();
  StudentFile file = read_student_file(place_, lab_, source, options_);
  build.status = file.status;
  build.headline = file.headline;
  build.shown_path = file.shown_path;
  build.source = std::move(file.source);
  if (build.status != BuildStatus::built) return build;
  const std::string &compiled = file.compiled, &inputs = file.inputs;

  const fs::path no_binary = runs_.cache() / "no_gpu_binary";
  if (!fs::exists(no_binary)) write_file_atomically(no_binary, "");
  auto device = std::async(std::launch::async, [&] {
    return runs_.run("ptx", inputs,
                     {toolchain_.clang, "@common/simgpu/flags/device.rsp", "-I.", compiled},
                     "gemm.ptx");
  });
  // The runner carries no device code: the judge parses its own.
  const Pass host =
      runs_.run("host.o", inputs,
                {toolchain_.clang, "@common/simgpu/flags/host.rsp", "-I.", "-Xclang",
                 "-fcuda-include-gpubinary", "-Xclang", no_binary.string(), "-c", compiled},
                "gemm.o");
  if (host.ok) {
    // The device pass takes longest: link meanwhile.
    list_entries(build, host.bytes);
    link(build, host.bytes);
  }
  const Pass ptx = device.get();
  if (!ptx.ok || !host.ok) {
    build.details.clear();
    explain_failure(build, ptx.ok ? host : ptx, compiled);
    if (options_.hostile)
      for (auto& line : build.details)
        if (const auto at = line.find(compiled); at != std::string::npos)
          line.replace(at, compiled.size(), build.shown_path);
    return build;
  }
  for (const auto* pass : {&ptx, &host})
    for (const auto& line : filter_compiler_output(printable(pass->said), compiled).warnings)
      if (std::find(build.warnings.begin(), build.warnings.end(), line) == build.warnings.end())
        build.warnings.push_back(line);
  build.ptx = ptx.bytes;
  runs_.prune();
  build.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return build;
}

}  // namespace

std::string instantiation(const std::string& rung, const std::string& type) {
  return rung + "<" + cpp_type(type) + ", " + cpp_result_type(type) + ">";
}

std::string cpp_type(const std::string& type) {
  return type == "int32"      ? "int"
         : type == "half"     ? "__half"
         : type == "bfloat16" ? "__nv_bfloat16"
                              : type;
}

std::string cpp_result_type(const std::string& type) {
  return type == "half" || type == "bfloat16" ? "float" : cpp_type(type);
}

std::string signature(const std::string& rung, const std::string& type) {
  const std::string t = cpp_type(type);
  return "void " + instantiation(rung, type) + "(MatrixView<const " + t + "> a, MatrixView<const " +
         t + "> b, MatrixView<" + cpp_result_type(type) + "> c, cudaStream_t stream)";
}

Build build_lab(const Workplace& place, const Toolchain& toolchain, const Lab& lab,
                const fs::path& source, const BuildOptions& options) {
  return Driver(place, toolchain, lab, options).build(source);
}

}  // namespace grader
