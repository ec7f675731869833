#include "grader/compile/compile.hpp"

#include <cxxabi.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>

#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/os/scratch.hpp"
#include "grader/os/sha256.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using messages::text;

// An honest lab compiles in well under a second; a file that unrolls everything may take 20 times
// that.
constexpr std::uint64_t compiler_cpu_seconds = 40;
// Processor time decides; on a busy machine it may take long to get it (a minute was seen to be too
// short).
constexpr std::chrono::seconds compiler_wall{600};
constexpr std::uint64_t compiler_memory = 4ull << 30;
constexpr std::uint64_t compiler_file = 256ull << 20;
constexpr std::size_t source_cap = 1u << 20;
constexpr std::size_t cached_files = 600;

/// Everything that student code is compiled against, as one hash: our headers and the compilers'
/// flags.
std::string digest_of_headers(const fs::path& root) {
  static std::mutex guard;
  static std::map<std::string, std::string> known;
  const std::lock_guard lock(guard);
  auto& digest = known[root.string()];
  if (!digest.empty()) return digest;
  std::set<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(root / "common")) {
    const std::string extension = entry.path().extension().string();
    if (entry.is_regular_file() &&
        (extension == ".hpp" || extension == ".cuh" || extension == ".h" || extension == ".rsp"))
      files.insert(entry.path());
  }
  std::string all;
  for (const auto& file : files)
    all += fs::relative(file, root).string() + '\0' + read_file(file) + '\0';
  return digest = sha256(all);
}

/// Headers that a student put beside gemm.cu: part of what is compiled on their own machine.
std::string neighbours(const fs::path& folder) {
  std::set<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string extension = entry.path().extension().string();
    if (entry.is_regular_file() &&
        (extension == ".hpp" || extension == ".cuh" || extension == ".h"))
      files.insert(entry.path());
  }
  std::string all;
  for (const auto& file : files) all += file.filename().string() + '\0' + read_file(file) + '\0';
  return all;
}

std::optional<std::string> cached(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  fs::last_write_time(path, fs::file_time_type::clock::now(),
                      error);  // recently used entries survive the pruning
  return read_file(path, compiler_file);
}

/// Keeps the cache from growing for ever under `make watch`: the oldest half goes when there are
/// too many.
void prune(const fs::path& folder) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  for (const auto& entry : fs::directory_iterator(folder, error))
    entries.emplace_back(entry.last_write_time(error), entry.path());
  if (entries.size() <= cached_files) return;
  std::sort(entries.begin(), entries.end());
  for (std::size_t i = 0; i < entries.size() / 2; ++i) fs::remove(entries[i].second, error);
}

class Driver {
 public:
  Driver(const Workplace& place, const Toolchain& toolchain, const Lab& lab,
         const BuildOptions& options)
      : place_(place),
        toolchain_(toolchain),
        lab_(lab),
        options_(options),
        cache_(place.build / "cache"),
        scratch_(place.build / "tmp", options.user) {
    make_folder(cache_);
  }

  Build build(const fs::path& source);

 private:
  struct Pass {
    std::string bytes, said;
    RunResult run;
    bool ok = false;
  };

  ProcessSpec compiler(std::vector<std::string> argv) const {
    ProcessSpec spec;
    spec.argv = std::move(argv);
    spec.environment = minimal_environment();
    spec.environment.push_back("TMPDIR=" + scratch_.path().string());
    spec.folder = place_.root.string();
    spec.limits.cpu_seconds = compiler_cpu_seconds;
    spec.limits.address_bytes = compiler_memory;
    spec.limits.file_bytes = compiler_file;
    spec.output_bytes = 256u << 10;
    spec.user = options_.user;
    if (options_.verbose) {
      static std::mutex guard;
      const std::lock_guard lock(guard);
      for (const auto& argument : spec.argv) std::cerr << argument << ' ';
      std::cerr << '\n';
    }
    return spec;
  }

  /// Runs a compiler whose one result is `output`; served from the cache when nothing changed.
  Pass run(const std::string& purpose, const std::string& inputs, std::vector<std::string> argv,
           const std::string& output) const {
    std::string key_text = purpose + '\0' + toolchain_.identity + '\0' +
                           digest_of_headers(place_.root) + '\0' + inputs;
    const fs::path entry = cache_ / (sha256(key_text) + "." + purpose);
    Pass pass;
    if (auto bytes = cached(entry)) {
      pass.bytes = std::move(*bytes);
      pass.said = cached(entry.string() + ".txt").value_or("");
      pass.ok = true;
      return pass;
    }
    argv.insert(argv.end(), {"-o", (scratch_.path() / output).string()});
    pass.run = run_process(compiler(std::move(argv)), compiler_wall);
    pass.said = pass.run.errors + pass.run.output;
    if (!pass.run.ok()) return pass;
    UntrustedFile made = read_untrusted(scratch_.path(), output, compiler_file);
    if (made.refusal != Refusal::none)
      throw InfraError("the compiler left no usable " + output + ": " +
                       std::string(to_string(made.refusal)));
    pass.bytes = std::move(made.bytes);
    pass.ok = true;
    if (!pass.said.empty()) write_file_atomically(entry.string() + ".txt", pass.said);
    write_file_atomically(entry, pass.bytes);
    return pass;
  }

  void explain_failure(Build& build, const Pass& pass, const std::string& student_file) const;
  void list_entries(Build& build, const std::string& object);
  std::string entries_source(const Build& build) const;
  void link(Build& build, const std::string& object);

  const Workplace& place_;
  const Toolchain& toolchain_;
  const Lab& lab_;
  const BuildOptions& options_;
  fs::path cache_;
  Scratch scratch_;
};

void Driver::explain_failure(Build& build, const Pass& pass,
                             const std::string& student_file) const {
  const int status = pass.run.status;
  const bool by_limit =
      pass.run.timed_out ||
      (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL));
  const bool memory = pass.said.find("out of memory") != std::string::npos ||
                      pass.said.find("bad_alloc") != std::string::npos;
  if (by_limit || memory) {
    build.status = BuildStatus::compile_limit;
    build.headline =
        memory
            ? text("build.memory",
                   {{"file", build.shown_path}, {"limit", std::to_string(compiler_memory >> 30)}})
            : text("build.time",
                   {{"file", build.shown_path}, {"limit", std::to_string(compiler_cpu_seconds)}});
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

/// Compares what the object defines with what lab.toml asks for, by demangled name.
void Driver::list_entries(Build& build, const std::string& object) {
  const fs::path path = scratch_.path() / "symbols.o";
  write_file_atomically(path, object);
  const RunResult listed = run_process(
      compiler({"nm", "--defined-only", "--extern-only", path.string()}), compiler_wall);
  if (!listed.ok()) throw InfraError("nm failed: " + printable(listed.errors));
  std::vector<std::string> defined;
  std::istringstream stream(listed.output);
  for (std::string line; std::getline(stream, line);) {
    const auto space = line.rfind(' ');
    if (space == std::string::npos) continue;
    const std::string symbol = line.substr(space + 1);
    int failed = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &failed), &std::free);
    defined.push_back(failed == 0 ? name.get() : symbol);
  }
  const auto add = [&](const std::string& name, const std::string& function,
                       const std::string& wanted, const std::string& stem) {
    EntryPoint entry{name, function, false, {}};
    for (const auto& symbol : defined) {
      if (symbol == wanted) entry.defined = true;
      // Device stubs carry the kernel's name, not the launcher's.
      if (symbol.find(stem) != std::string::npos &&
          symbol.find("__device_stub__") == std::string::npos && entry.found.empty())
        entry.found = symbol.substr(0, 200);
    }
    if (entry.defined) entry.found.clear();
    build.entries.push_back(std::move(entry));
  };
  for (const auto& rung : lab_.rungs) {
    if (!rung.needs_arch.empty()) continue;
    for (const auto& type : rung.types) {
      const std::string t = cpp_type(type), out = cpp_result_type(type),
                        function = instantiation(rung.name, type);
      add(rung.name + "<" + type + ">", function,
          "void " + function + "(MatrixView<" + t + " const>, MatrixView<" + t +
              " const>, MatrixView<" + out + ">, CUstream_st*)",
          function + "(");
    }
  }
  for (const auto& stage : lab_.stages)
    if (stage.answer)
      add(stage.answer->function, stage.answer->function, stage.answer->function + "()",
          stage.answer->function + "(");
}

std::string Driver::entries_source(const Build& build) const {
  std::ostringstream out;
  out << "// Generated from " << lab_.name
      << "/lab.toml: the functions of gemm.cu that the judge may call.\n"
         "#include \"common/matrix.hpp\"\n#include "
         "\"common/simgpu/runtime/remote/runner_loop.hpp\"\n\n";
  for (const auto& rung : lab_.rungs)
    for (const auto& type : rung.types)
      if (type == "half" || type == "bfloat16") out << "struct " << cpp_type(type) << ";\n";
  for (const auto& rung : lab_.rungs)
    out << "template <typename In, typename Out>\nvoid " << rung.name
        << "(MatrixView<const In>, MatrixView<const In>, MatrixView<Out>, CUstream_st*);\n";
  for (const auto& stage : lab_.stages) {
    if (!stage.answer) continue;
    const std::string& function = stage.answer->function;
    if (stage.answer->measured.empty())
      out << "const char* " << function << "();\n";
    else
      out << "#include <cstdio>\nint " << function << "();\nstatic const char* " << function
          << "_as_text() {\n  static char text[16];\n  const int value = " << function
          << "();\n  if (value == 0) return \"\";\n  std::snprintf(text, sizeof text, \"%d\", "
             "value);\n  return text;\n}\n";
  }
  const auto predicts = [this](const std::string& function) {
    return std::any_of(lab_.stages.begin(), lab_.stages.end(), [&](const Stage& s) {
      return s.answer && s.answer->function == function && !s.answer->measured.empty();
    });
  };
  out << "\nstatic const simgpu::runtime::Entry entries[] = {\n";
  std::size_t count = 0;
  for (const auto& entry : build.entries) {
    if (!entry.defined) continue;
    ++count;
    if (entry.function.find('<') != std::string::npos)
      out << "    simgpu::runtime::launcher<&" << entry.function << ">(\"" << entry.name
          << "\"),\n";
    else
      out << "    simgpu::runtime::answer(\"" << entry.name << "\", &" << entry.function
          << (predicts(entry.function) ? "_as_text" : "") << "),\n";
  }
  out << "};\n\nint main() { return simgpu::runtime::simgpu_runner_main(3, entries, " << count
      << "); }\n";
  return out.str();
}

void Driver::link(Build& build, const std::string& object) {
  if (std::none_of(build.entries.begin(), build.entries.end(),
                   [](const EntryPoint& e) { return e.defined; }))
    return;
  const std::string generated = entries_source(build);
  const fs::path entries_path = scratch_.path() / "entries.cpp";
  write_file_atomically(entries_path, generated);
  const Pass entries =
      run("entries.o", generated,
          {toolchain_.clang, "-std=c++17", "-O1", "-I.", "-c", entries_path.string()}, "entries.o");
  if (!entries.ok)
    throw InfraError("the generated entries.cpp does not compile: " + printable(entries.said));
  const fs::path object_path = scratch_.path() / "gemm.o",
                 entries_object = scratch_.path() / "entries_copy.o";
  write_file_atomically(object_path, object);
  write_file_atomically(entries_object, entries.bytes);
  const Pass linked = run(
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
  const fs::path program = cache_ / (sha256(linked.bytes) + ".program");
  std::error_code error;
  if (!fs::exists(program, error)) write_file_atomically(program, linked.bytes);
  fs::permissions(program, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                               fs::perms::others_read | fs::perms::others_exec);
  build.runner = program;
}

Build Driver::build(const fs::path& source) {
  Build build;
  const auto start = std::chrono::steady_clock::now();
  const fs::path absolute = fs::absolute(place_.root / source).lexically_normal();
  const fs::path relative = absolute.lexically_relative(place_.root);
  build.shown_path =
      !relative.empty() && *relative.begin() != ".." ? relative.string() : source.string();

  UntrustedFile file;
  if (options_.hostile) {
    file = read_untrusted(absolute.parent_path(), absolute.filename(), source_cap);
  } else {
    std::error_code error;
    if (!fs::exists(absolute, error))
      file.refusal = Refusal::missing;
    else if (!fs::is_regular_file(absolute, error))
      file.refusal = Refusal::not_regular;
    else
      file.bytes = read_file(absolute, source_cap);
  }
  if (file.refusal == Refusal::missing) {
    build.status = BuildStatus::missing;
    build.headline =
        text("build.missing", {{"file", build.shown_path}, {"lab", std::to_string(lab_.id)}});
    return build;
  }
  if (file.refusal != Refusal::none) {
    build.status = BuildStatus::refused;
    build.headline = text("build.refused", {{"file", build.shown_path},
                                            {"why", std::string(to_string(file.refusal))}});
    return build;
  }
  build.source = std::move(file.bytes);
  if (build.source.find_first_not_of(" \t\r\n") == std::string::npos) {
    build.status = BuildStatus::empty;
    build.headline =
        text("build.empty", {{"file", build.shown_path}, {"lab", std::to_string(lab_.id)}});
    return build;
  }

  // A copy under a fixed name keeps odd paths and odd neighbours of a stranger's file away from the
  // compilers.
  std::string compiled = build.shown_path;
  std::string inputs = build.source + '\0' + build.shown_path + '\0';
  if (options_.hostile) {
    const fs::path copy =
        place_.build / "submissions" / sha256(build.source) / lab_.name / "gemm.cu";
    make_folder(copy.parent_path());
    if (!fs::exists(copy)) write_file_atomically(copy, build.source);
    const fs::path inside = copy.lexically_relative(place_.root);
    compiled = !inside.empty() && *inside.begin() != ".." ? inside.string() : copy.string();
    inputs += compiled;
    build.shown_path = lab_.name + "/gemm.cu";
  } else {
    inputs += neighbours(absolute.parent_path());
  }

  const fs::path no_binary = cache_ / "no_gpu_binary";
  if (!fs::exists(no_binary)) write_file_atomically(no_binary, "");
  auto device = std::async(std::launch::async, [&] {
    return run("ptx", inputs,
               {toolchain_.clang, "@common/simgpu/flags/device.rsp", "-I.", compiled}, "gemm.ptx");
  });
  // The runner carries no device code: the judge parses its own.
  const Pass host = run("host.o", inputs,
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
  prune(cache_);
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
