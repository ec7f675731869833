#include "grader/compile/compile.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <regex>
#include <semaphore>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include "common/simgpu/ptx/clusters.hpp"
#include "grader/compile/array_bounds.hpp"
#include "grader/compile/cache.hpp"
#include "grader/compile/compiler_output.hpp"
#include "grader/compile/entries.hpp"
#include "grader/compile/host_constexpr.hpp"
#include "grader/compile/host_part.hpp"
#include "grader/compile/kernel_ir.hpp"
#include "grader/compile/link_errors.hpp"
#include "grader/compile/unit.hpp"
#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/build_id.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/sha256.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using messages::text;

/// In place of device code in the runner's object. The runtime reads as far as a NUL, which clang 14
/// adds to what it embeds, and later versions do not.
const std::string kNoDeviceCode(1, '\0');

/// Lives while an optimiser runs. So many at a time, of all builds of this process together, as the
/// first of them wants; each takes 0.1 to 0.2 GB.
class Optimising {
 public:
  explicit Optimising(unsigned wanted) : places_(places(wanted)) { places_.acquire(); }
  ~Optimising() { places_.release(); }
  Optimising(const Optimising&) = delete;
  Optimising& operator=(const Optimising&) = delete;

 private:
  static std::counting_semaphore<>& places(unsigned wanted) {
    static std::counting_semaphore<> all(std::max(wanted, 1u));
    return all;
  }
  std::counting_semaphore<>& places_;
};

class Driver {
 public:
  Driver(const Workplace& place, const Toolchain& toolchain, const Lab& lab,
         const BuildOptions& options)
      : place_(place),
        toolchain_(toolchain),
        lab_(lab),
        options_(options),
        runs_(place, toolchain.identity, options),
        no_binary_(options.box ? runs_.put("no_device_code", kNoDeviceCode)
                               : runs_.cache() / "no_device_code") {
    if (!options.box && !fs::exists(no_binary_)) write_file_atomically(no_binary_, kNoDeviceCode);
    const auto flags = [&](const char* file) {
      return std::vector<std::string>{toolchain_.clang, file, "-I.", "-ferror-limit=0"};
    };
    device_flags_ = flags("@common/simgpu/flags/device.rsp");
    device_flags_.push_back(device_flags_of(toolchain_.clang_version));
    host_flags_ = flags("@common/simgpu/flags/host.rsp");
    // Launchers take no time worth optimising; compiling them does.
    host_flags_.insert(host_flags_.end(), {"-O0", "-c"});
    host_header_flags_ = host_flags_;
    // The runner carries no device code: the judge parses its own.
    host_flags_.insert(host_flags_.end(),
                       {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", no_binary_.string()});
  }

  Build build(const SourceOf& source);

 private:
  using Pass = CompilerPass;
  /// What is compiled, and all that its result depends on but flags.
  struct Input {
    std::string path, content;
    std::string student;              ///< path of the student's file, which it includes, or is
    std::function<bool()> unchanged;  ///< see CompilerRuns::run
    /// All that the host's object depends on; "": take it for all of the content. See host_pass().
    std::string host;
  };
  /// What files that begin alike include first, as a compiler has read it once: for each pass, made
  /// when it is first asked for.
  struct Headers {
    std::shared_future<std::string> device, host;
  };
  /// Both passes over a file. The one for the device takes longest: the host's code is linked
  /// meanwhile. It gives a module, or one for each of the file's kernels.
  struct Passes {
    Pass host;
    std::future<std::vector<Pass>> device;
  };
  /// A unit, and what goes on to the linker.
  struct Compiled {
    SourceUnit unit;
    StudentFile student;
    Input whole;  ///< with all launchers
    Headers headers;
    Passes passes;
    std::future<std::vector<std::string>> refused;  ///< see host_constexpr(); if it is asked for
    std::vector<EntryPoint> entries;
  };

  bool wanted(const Rung& rung) const {
    return options_.rungs.empty() || options_.rungs.count(rung.name) != 0;
  }
  Compiled compile(const std::string& file, const fs::path& source) const;
  Passes start_passes(const std::string& stem, const Headers& headers, const Input& input) const;
  std::vector<Pass> compile_for_device(const std::string& stem, const Headers& headers,
                                       const Input& input) const;
  std::vector<Pass> compile_code(const std::string& stem, const Headers& headers,
                                 const Input& input) const;
  /// Kernel by kernel; nothing where they do not come apart. The first has what the front end said.
  std::optional<std::vector<Pass>> compile_kernels(const std::string& stem, const Headers& headers,
                                                   const Input& input) const;
  /// What to say of kernels that call a constexpr function of the host, which nvcc refuses.
  std::vector<std::string> host_constexpr(const Input& input, const StudentFile& student) const;
  /// PTX whose first line says what it was made of.
  Pass optimise(const std::string& stem, const KernelIr& kernel, const std::string& file) const;
  Input put(const std::string& name, const TranslationUnit& unit,
            const StudentFile& student) const {
    return {runs_.put(name, unit.text).string(), unit.text + '\0' + student.inputs,
            student.compiled, [student] { return student.unchanged(); },
            host_inputs(unit.text, student)};
  }
  std::string host_inputs(const std::string& unit, const StudentFile& student) const;
  /// Those for a file that lies at `source`. As far as it begins like the one that was handed out, and
  /// with headers that are ours, both have been read.
  Headers headers(const std::string& file, const StudentFile& student,
                  const fs::path& source) const;
  /// One pass over a file that begins with `header`. Where it fails, once more without, so that what
  /// the compiler says never depends on that.
  Pass run_pass(const std::string& purpose, const Input& input, std::vector<std::string> flags,
                const std::shared_future<std::string>& header, const std::string& output) const;
  /// The pass for the host. Whoever edits a kernel gets the object that is there.
  Pass host_pass(const std::string& stem, const Headers& headers, const Input& input) const;
  void explain_failure(SourceUnit& unit, const Pass& pass, const StudentFile& student) const;
  void finish(Compiled& compiled, SourceUnit& unit) const;
  void list_entries(Compiled& compiled, const std::vector<Mismatches::One>& mismatches) const;
  /// Links the units that are built. False: it failed, and at least one of them is no more.
  bool link(Build& build, const std::vector<Compiled>& compiled) const;
  /// What the linked program does outside of kernels, by name. Before the passes for the device have
  /// ended: settle_host() has the last word.
  void name_host(Build& build, const std::vector<Compiled>& compiled,
                 const std::string& entries) const;
  static void settle_host(Build& build, const std::vector<Compiled>& compiled);

  const Workplace& place_;
  const Toolchain& toolchain_;
  const Lab& lab_;
  const BuildOptions& options_;
  CompilerRuns runs_;
  fs::path no_binary_;
  std::vector<std::string> device_flags_, host_flags_, host_header_flags_;
  mutable std::mutex guard_;
  mutable std::map<std::string, Headers> headers_;  ///< by what the files begin with
};

std::string stem_of(const std::string& file) {
  return file.substr(0, file.rfind('.'));
}

std::string linked_object(const std::string& file) {
  return stem_of(file) + ".linked.o";
}

/// The modules of several passes in one, as the cache keeps them: a 0 behind each, which no text has.
CompilerPass together(const std::vector<CompilerPass>& passes) {
  CompilerPass all = passes.front();
  all.bytes.clear();
  for (const CompilerPass& pass : passes) all.bytes += pass.bytes + '\0';
  return all;
}
std::vector<CompilerPass> apart(const CompilerPass& all) {
  std::vector<CompilerPass> passes;
  for (std::size_t at = 0; at < all.bytes.size();) {
    const std::size_t end = std::min(all.bytes.find('\0', at), all.bytes.size());
    passes.emplace_back();
    passes.back().ok = true;
    passes.back().bytes = all.bytes.substr(at, end - at);
    at = end + 1;
  }
  if (!passes.empty()) passes.front().said = all.said;
  return passes;
}

/// cudaFuncGetAttributes(), cudaOccupancyMaxPotentialBlockSize() and their kin.
bool asks_about_kernels(const std::string& source) {
  return source.find("FuncGet") != source.npos || source.find("Occupancy") != source.npos;
}

/// How many #if, #ifdef and #ifndef a source has, but for the labs' own, which both passes find true.
std::ptrdiff_t conditions_in(const std::string& source) {
  static const std::regex condition("#[ \t]*if(?! GEMM_LAB_TENSOR_CORES\\b)");
  return std::distance(std::sregex_iterator(source.begin(), source.end(), condition),
                       std::sregex_iterator());
}

/// Lines of the compiler's, with the name under which the file is shown.
std::vector<std::string> as_shown(std::vector<std::string> lines, const StudentFile& student) {
  if (student.compiled == student.shown_path) return lines;
  for (auto& line : lines)
    if (const auto at = line.find(student.compiled); at != std::string::npos)
      line.replace(at, student.compiled.size(), student.shown_path);
  return lines;
}

void Driver::explain_failure(SourceUnit& unit, const Pass& pass, const StudentFile& student) const {
  if (runs_.explain_limit(pass, unit.shown_path, unit.headline)) {
    unit.status = BuildStatus::compile_limit;
    return;
  }
  unit.status = BuildStatus::compile_error;
  if (pass.said.find("Symbol name with unsupported characters") != std::string::npos) {
    const unsigned line = line_of_foreign_letter(student.source);
    unit.headline = text("build.letters", {{"file", unit.shown_path},
                                           {"line", line ? fmt::format(":{}", line) : ""}});
    return;
  }
  if (WIFSIGNALED(pass.run.status) ||
      pass.said.find("PLEASE submit a bug report") != std::string::npos) {
    unit.headline = text("build.crash", {{"file", unit.shown_path}});
    const std::string said = printable(pass.said);
    unit.details = {said.substr(0, said.find('\n')).substr(0, 300)};
    return;
  }
  const CompilerOutput output = filter_compiler_output(printable(pass.said), student.compiled);
  unit.details = as_shown(output.errors, student);
  if (!output.unavailable_include.empty())
    unit.headline = text("build.include", {{"file", unit.shown_path},
                                           {"line", std::to_string(output.unavailable_line)},
                                           {"header", output.unavailable_include}});
  else
    unit.headline = text("build.error", {{"file", unit.shown_path}});
}

Driver::Headers Driver::headers(const std::string& file, const StudentFile& student,
                                const fs::path& source) const {
  const fs::path beside = fs::absolute(place_.root / source).parent_path();
  const fs::path handed_out = place_.root / lab_.folder / file;
  // Not one that a student has put beside the file, where the compiler looks first.
  const auto ours = [&](const std::string& included) {
    const std::string name = included.substr(1, included.size() - 2);
    std::error_code error;
    if (name.find("..") != name.npos) return false;
    if (included.front() == '<')
      return fs::is_regular_file(place_.root / "common/simgpu/include" / name, error);
    return (name.starts_with("common/") || name.starts_with(lab_.name + "/given/")) &&
           fs::is_regular_file(place_.root / name, error) && !fs::exists(beside / name, error);
  };
  std::error_code error;
  const std::string beginning =
      fs::is_regular_file(handed_out, error)
          ? common_beginning(student.source, read_file(handed_out, 1u << 20), ours)
          : "";
  const auto made = [this, beginning](const char* purpose, const std::vector<std::string>& flags) {
    return std::async(std::launch::deferred,
                      [=, this] { return runs_.header(purpose, flags, beginning); })
        .share();
  };
  const std::lock_guard lock(guard_);
  Headers& known = headers_[beginning];
  if (!known.device.valid())
    known = {made("device.pch", device_flags_), made("host.pch", host_header_flags_)};
  return known;
}

Driver::Passes Driver::start_passes(const std::string& stem, const Headers& headers,
                                    const Input& input) const {
  Passes passes;
  if (options_.budget && options_.budget->spent()) {
    passes.host.run.timed_out = true;
    passes.device =
        std::async(std::launch::deferred, [none = passes.host] { return std::vector<Pass>{none}; });
    return passes;
  }
  passes.device = std::async(std::launch::async, [this, stem, headers, input] {
    return compile_for_device(stem, headers, input);
  });
  passes.host = host_pass(stem, headers, input);
  return passes;
}

// What the device alone has is read by both passes, and what is wrong with it is said by the one for
// the device: so the host's object, and that nothing was said of it, hold for all that leaves its part
// of the source alone. But not where a body has conditions: it may be another one for the host. Nor
// for a stranger's file, which may be written so that another's part of the host comes out as its own.
std::string Driver::host_inputs(const std::string& unit, const StudentFile& student) const {
  if (options_.optimisers == 0) return {};
  const std::string part = host_part(student.source);
  if (conditions_in(part) != conditions_in(student.source)) return {};
  return unit + '\0' + part + '\0' + student.beside;
}

Driver::Pass Driver::host_pass(const std::string& stem, const Headers& headers,
                               const Input& input) const {
  const auto compiled = [&] {
    return run_pass("host.o", input, host_flags_, headers.host, stem + ".o");
  };
  if (input.host.empty()) return compiled();
  const CacheEntry entry = runs_.entry("host_part.o", input.host, host_flags_);
  if (std::optional<Pass> kept = runs_.kept(entry)) return std::move(*kept);
  Pass pass = compiled();
  if (pass.ok && pass.said.empty() && input.unchanged()) runs_.keep(entry, pass);
  return pass;
}

std::vector<Driver::Pass> Driver::compile_for_device(const std::string& stem,
                                                     const Headers& headers,
                                                     const Input& input) const {
  std::vector<Pass> passes = compile_code(stem, headers, input);
  if (std::none_of(passes.begin(), passes.end(),
                   [](const Pass& pass) { return simgpu::ptx::has_clusters(pass.bytes); }))
    return passes;
  std::vector<std::string> flags = device_flags_;
  flags.insert(flags.end(), {"-D__SIMGPU_CLUSTER_PASS", "-w"});
  // Without the precompiled headers, which have the other meaning of __cluster_dims__.
  std::promise<std::string> none;
  none.set_value("");
  Pass clusters = run_pass("clusters", input, std::move(flags), none.get_future().share(),
                           stem + ".clusters.ptx");
  if (!clusters.ok) return {std::move(clusters)};
  for (Pass& pass : passes)
    if (simgpu::ptx::has_clusters(pass.bytes))
      pass.bytes += std::string(simgpu::ptx::kClusters) + clusters.bytes;
  return passes;
}

std::vector<Driver::Pass> Driver::compile_code(const std::string& stem, const Headers& headers,
                                               const Input& input) const {
  if (options_.optimisers > 0) {
    // All of an unchanged file's modules are one entry of the cache. How kernels are taken apart
    // belongs to this program, not to the compiler: another one takes them apart again.
    const CacheEntry all = runs_.entry("modules", build_id() + '\0' + input.content, device_flags_);
    if (const std::optional<Pass> kept = runs_.kept(all)) return apart(*kept);
    if (auto passes = compile_kernels(stem, headers, input)) {
      const auto ok = [](const Pass& pass) { return pass.ok; };
      if (std::all_of(passes->begin(), passes->end(), ok) && input.unchanged())
        runs_.keep(all, together(*passes));
      return std::move(*passes);
    }
  }
  return {run_pass("ptx", input, device_flags_, headers.device, stem + ".ptx")};
}

std::optional<std::vector<Driver::Pass>> Driver::compile_kernels(const std::string& stem,
                                                                 const Headers& headers,
                                                                 const Input& input) const {
  std::vector<std::string> flags = device_flags_;
  flags.insert(flags.end(), {"-emit-llvm", "-Xclang", "-disable-llvm-passes"});
  // The text is not kept: what is made of it is.
  Input passing = input;
  passing.unchanged = [] { return false; };
  Pass front = run_pass("ll", passing, flags, headers.device, stem + ".ll");
  if (!front.ok) return std::vector<Pass>{std::move(front)};
  const std::optional<std::vector<KernelIr>> kernels = split_kernels(front.bytes);
  if (!kernels || kernels->empty()) return {};
  std::vector<std::future<Pass>> running;
  for (std::size_t i = 0; i < kernels->size(); ++i)
    running.push_back(std::async(std::launch::async, [&, i] {
      return optimise(fmt::format("{}.{}", stem, i), (*kernels)[i], input.student);
    }));
  std::vector<Pass> passes;
  for (auto& one : running) passes.push_back(one.get());
  for (std::size_t i = 0; i < passes.size(); ++i) {
    std::string headline;
    if (runs_.explain_limit(passes[i], "", headline)) return std::vector<Pass>{passes[i]};
    if (!passes[i].ok) return {};
    passes[i].said.clear();
  }
  passes.front().said = std::move(front.said);
  return passes;
}

std::vector<std::string> Driver::host_constexpr(const Input& input,
                                                const StudentFile& student) const {
  std::vector<std::string> flags = device_flags_;
  for (const std::string& flag : host_constexpr_flags()) flags.push_back(flag);
  const CacheEntry entry = runs_.entry("host_constexpr", input.content, flags);
  std::optional<Pass> pass = runs_.kept(entry);
  if (!pass) {
    const Budget::Spending spending(options_.budget.get());
    flags.push_back(input.path);
    pass.emplace();
    pass->run = runs_.tool(std::move(flags));
    pass->bytes = pass->run.errors;  // what it is asked for; it makes nothing
    if (pass->run.timed_out || !WIFEXITED(pass->run.status)) return {};
    if (input.unchanged()) runs_.keep(entry, *pass);
  }
  return host_constexpr_calls(printable(pass->bytes), student.compiled, student.source);
}

Driver::Pass Driver::optimise(const std::string& stem, const KernelIr& kernel,
                              const std::string& file) const {
  const Optimising held(options_.optimisers);
  std::vector<std::string> flags = device_flags_;
  // Behind device.rsp: the same flags for IR, and what clang sets by itself for CUDA.
  flags.push_back("@common/simgpu/flags/kernel_ir.rsp");
  const CacheEntry entry = runs_.entry("kernel.ptx", kernel.text, flags);
  std::optional<Pass> pass = runs_.kept(entry);
  if (!pass) {
    flags.push_back(runs_.put(stem + ".ll", kernel.text).string());
    pass = runs_.run(entry, std::move(flags), stem + ".ptx");
  }
  if (!pass->ok) return std::move(*pass);
  const std::optional<std::string> ptx = placed(pass->bytes, kernel.places);
  pass->ok = ptx.has_value();
  if (ptx) pass->bytes = made_of_line(entry.stem().string(), kernel.places, file) + *ptx;
  return std::move(*pass);
}

Driver::Pass Driver::run_pass(const std::string& purpose, const Input& input,
                              std::vector<std::string> flags,
                              const std::shared_future<std::string>& header,
                              const std::string& output) const {
  flags.push_back(input.path);
  if (!header.get().empty()) {
    Pass pass = runs_.run(purpose, input.content, flags, output, header.get(), input.unchanged);
    if (pass.ok || pass.run.timed_out || WIFSIGNALED(pass.run.status)) return pass;
  }
  Pass pass = runs_.run(purpose, input.content, flags, output, "", input.unchanged);
  if (pass.ok || !may_want_plain_vectors(pass.said)) return pass;
  flags.push_back("-D__SIMGPU_PLAIN_VECTORS");
  Pass again = runs_.run(purpose, input.content, std::move(flags), output, "", input.unchanged);
  return again.ok ? again : pass;
}

Driver::Compiled Driver::compile(const std::string& file, const fs::path& source) const {
  Compiled compiled;
  compiled.student = read_student_file(place_, lab_, source, options_, runs_);
  const StudentFile& student = compiled.student;
  SourceUnit& unit = compiled.unit;
  unit.file = file;
  unit.status = student.status;
  unit.headline = student.headline;
  unit.shown_path = student.shown_path;
  unit.source = student.source;
  if (!unit.built()) return compiled;
  compiled.headers = headers(file, student, source);

  // A launcher that is not there is told to the stages that want it, and the others are compiled:
  // once more, without its instantiations. As each round leaves some out, this ends.
  std::vector<Mismatches::One> mismatches;
  const auto left = [&](const Rung& rung, const std::string& type) {
    return wanted(rung) && std::none_of(mismatches.begin(), mismatches.end(), [&](const auto& one) {
             return one.instance.rung == rung.name && one.instance.type == type;
           });
  };
  Passes& passes = compiled.passes;
  for (bool again = true; again;) {
    const TranslationUnit generated = translation_unit(lab_, file, student.compiled, left);
    const Input& whole = compiled.whole = put(stem_of(file) + ".unit.cu", generated, student);
    passes = start_passes(stem_of(file), compiled.headers, whole);
    if (passes.host.ok) break;
    passes.device.wait();
    const Mismatches found =
        find_mismatches(printable(passes.host.said), whole.path, student.compiled, generated);
    if (found.unclosed) {
      // The compiler is lost behind the end of the file: the file alone gives better errors.
      const Input file_alone = {student.compiled,
                                student.inputs,
                                student.compiled,
                                [student] { return student.unchanged(); },
                                {}};
      Passes alone = start_passes(stem_of(file), compiled.headers, file_alone);
      if (!alone.host.ok) passes = std::move(alone);
    }
    again = !found.unclosed && !found.list.empty();
    mismatches.insert(mismatches.end(), found.list.begin(), found.list.end());
  }
  if (!passes.host.ok) {
    // Where both fail, the pass for the device says it with the kernels' lines.
    const std::vector<Pass> device = passes.device.get();
    explain_failure(unit, device.front().ok ? passes.host : device.front(), student);
    return compiled;
  }
  if (may_have_host_constexpr(student.inputs))
    compiled.refused = std::async(std::launch::async, [this, input = compiled.whole, student] {
      return host_constexpr(input, student);
    });
  list_entries(compiled, mismatches);
  return compiled;
}

/// Waits for the pass for the device, and says what the compiler had to say.
void Driver::finish(Compiled& compiled, SourceUnit& unit) const {
  if (!compiled.passes.device.valid()) return;
  std::vector<Pass> passes = compiled.passes.device.get();
  if (!passes.front().ok) return explain_failure(unit, passes.front(), compiled.student);
  if (compiled.refused.valid()) {
    if (auto refused = as_shown(compiled.refused.get(), compiled.student); !refused.empty()) {
      unit.status = BuildStatus::compile_error;
      unit.headline = text("build.error", {{"file", unit.shown_path}});
      unit.details = std::move(refused);
      return;
    }
  }
  for (Pass& pass : passes) unit.ptx.push_back(std::move(pass.bytes));
  passes.push_back(compiled.passes.host);
  // Together, so that what both say is said once.
  std::string said;
  for (const Pass& pass : passes) said += printable(pass.said);
  unit.warnings =
      as_shown(filter_compiler_output(said, compiled.student.compiled).warnings, compiled.student);
}

void Driver::list_entries(Compiled& compiled,
                          const std::vector<Mismatches::One>& mismatches) const {
  const std::string& file = compiled.unit.file;
  const RunResult listed = runs_.tool(
      symbol_lister(runs_.put(stem_of(file) + ".symbols.o", compiled.passes.host.bytes).string()));
  if (!listed.ok()) throw InfraError("readelf failed: " + printable(listed.errors));
  for (auto& entry : match_entries(lab_, file, defined_symbols(listed.output))) {
    for (const auto& one : mismatches)
      if (!entry.defined && one.candidate_line != 0 &&
          entry.name == one.instance.rung + "<" + one.instance.type + ">")
        entry.found = declaration_at(compiled.unit.source, one.candidate_line);
    compiled.entries.push_back(std::move(entry));
  }
}

bool Driver::link(Build& build, const std::vector<Compiled>& compiled) const {
  if (std::none_of(build.entries.begin(), build.entries.end(),
                   [](const EntryPoint& e) { return e.defined; }))
    return true;
  const std::string generated = entries_source(
      lab_, build.entries, "common/simgpu/runtime/remote/runner_loop.hpp",
      "int main() { return simgpu::runtime::simgpu_runner_main(3, entries, count); }\n"
      "#define GEMM_LAB_TENSOR_MAP_ENCODER  // here, as in the runner on a GPU\n"
      "#include \"common/tensor_map.cuh\"\n");
  const fs::path entries_path = runs_.put("entries.cpp", generated);
  const Pass entries = runs_.run("entries.o", generated,
                                 {toolchain_.clang, "-std=c++17", "-O1", "-I.",
                                  "-Icommon/simgpu/include", "-c", entries_path.string()},
                                 "entries.o");
  if (!entries.ok)
    throw InfraError("the generated entries.cpp does not compile: " + printable(entries.said));
  std::vector<std::string> argv = {toolchain_.clang};
  std::string inputs;
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    const Compiled& one = compiled[i];
    if (!build.units[i].built()) continue;
    argv.push_back(runs_.put(linked_object(one.unit.file), one.passes.host.bytes).string());
    inputs += one.passes.host.bytes + '\0';
  }
  argv.push_back(runs_.put("entries_copy.o", entries.bytes).string());
  argv.insert(argv.end(), {options_.box ? "/lab/lib/" + place_.remote_library.filename().string()
                                        : place_.remote_library.string(),
                           "-pthread"});
  inputs += entries.bytes + '\0' + digest_of_library(place_.remote_library);
  Pass linked;
  // Not for a stranger's: gold takes objects, like one with an .interp of its own, otherwise than ld.
  if (!toolchain_.quick_linker.empty() && !options_.hostile) {
    std::vector<std::string> quick = argv;
    quick.push_back(toolchain_.quick_linker);
    linked = runs_.run("runner", inputs, std::move(quick), "runner");
  }
  // What is told of a failure never depends on which linkers there are.
  if (!linked.ok) linked = runs_.run("runner", inputs, argv, "runner");
  if (linked.ok) {
    build.runner = runs_.keep_program(linked.bytes);
    if (options_.optimisers > 0) name_host(build, compiled, entries.bytes);
  } else {
    explain_link(build, printable(linked.said), linked_object);
  }
  return linked.ok;
}

void Driver::name_host(Build& build, const std::vector<Compiled>& compiled,
                       const std::string& entries) const {
  const auto named = [&](const std::string& what, const std::string& code) {
    const std::string all = entries + '\0' + digest_of_library(place_.remote_library) + code;
    return runs_.entry(what, all, host_header_flags_).stem().string();
  };
  std::string all, beside;  // where each file lies is part of the latter: results name it
  std::vector<std::string> sources;
  bool alone = true;  // without headers of the student's
  for (const Compiled& one : compiled) {
    all += '\0' + host_part(one.student.source) + '\0' + one.student.beside;
    beside += one.student.beside;
    sources.push_back(one.student.source);
    alone = alone && one.student.beside.find('\0') + 1 == one.student.beside.size();
  }
  build.host = named("host", all);
  const HostCode code(sources);
  if (!alone || !code.came_apart()) return;
  for (const Stage& stage : lab_.stages) {
    std::set<std::string> names = {stage.rung};
    if (stage.answer) names.insert({stage.answer->function, stage.answer->rung});
    build.host_of_stage[stage.id] = named("host_of_stage", beside + code.part_of(std::move(names)));
  }
}

void Driver::settle_host(Build& build, const std::vector<Compiled>& compiled) {
  const auto any = [&](const auto& is) {
    return std::any_of(compiled.begin(), compiled.end(),
                       [&](const Compiled& one) { return is(one.student); });
  };
  if (any([](const StudentFile& student) { return !student.unchanged(); })) build.host.clear();
  if (build.host.empty()) return build.host_of_stage.clear();
  // Who asks what a kernel takes may follow the answer, and launch another one: then host code depends
  // on all of them.
  if (!any([](const StudentFile& student) { return asks_about_kernels(student.inputs); })) return;
  std::string all = build.host;
  for (const SourceUnit& unit : build.units)
    for (const std::string& ptx : unit.ptx) all += ptx;
  build.host = sha256(all);
  build.host_of_stage.clear();
}

Build Driver::build(const SourceOf& source) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::future<Compiled>> running;
  for (const auto& file : lab_.files())
    if (std::any_of(lab_.rungs.begin(), lab_.rungs.end(),
                    [&](const Rung& rung) { return rung.file == file && wanted(rung); }))
      running.push_back(std::async(
          std::launch::async, [this, file, path = source(file)] { return compile(file, path); }));
  std::vector<Compiled> compiled;
  for (auto& one : running) compiled.push_back(one.get());
  Build build;
  for (const auto& one : compiled) build.units.push_back(one.unit);
  // Once more without those that do not link.
  for (bool again = true; again;) {
    build.entries.clear();
    for (std::size_t i = 0; i < compiled.size(); ++i)
      if (build.units[i].built())
        build.entries.insert(build.entries.end(), compiled[i].entries.begin(),
                             compiled[i].entries.end());
    again = !link(build, compiled);
  }
  for (std::size_t i = 0; i < compiled.size(); ++i) finish(compiled[i], build.units[i]);
  settle_host(build, compiled);
  runs_.prune();
  build.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return build;
}

}  // namespace

const SourceUnit& Build::unit(const std::string& file) const {
  for (const auto& one : units)
    if (one.file == file) return one;
  throw std::out_of_range("no file " + file + " in this build");
}

const SourceUnit* Build::failed() const {
  for (const auto& one : units)
    if (!one.built()) return &one;
  return nullptr;
}

Build build_lab(const Workplace& place, const Toolchain& toolchain, const Lab& lab,
                const SourceOf& source, const BuildOptions& options) {
  Build build = Driver(place, toolchain, lab, options).build(source);
  // A build may outlive all of these but the lab, which whoever judges it has.
  build.array_bounds = [=, &lab, bare = build](const Rung& rung, const std::string& type) {
    return with_array_bounds(place, toolchain, lab, source, options, bare, rung, type);
  };
  return build;
}

}  // namespace grader
