// grader run: one rung, once, and what it did. On sim in a session of the judge's, on gpu as an
// ordinary program.
#include <sys/wait.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include <fmt/core.h>

#include "grader/commands/commands.hpp"
#include "grader/commands/common.hpp"
#include "grader/commands/one_rung.hpp"
#include "grader/diagnose/case.hpp"
#include "grader/explain/explain.hpp"
#include "grader/gpu/build.hpp"
#include "grader/gpu/runner.hpp"
#include "grader/gpu/toolchain.hpp"
#include "grader/judge/rung_check.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/os/scratch.hpp"
#include "grader/report/text.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

using messages::text;
using report::number;

constexpr std::uint64_t run_seed = 0x72756e;

std::string count(std::uint64_t value) {
  return number(static_cast<double>(value));
}

void say(int indent, const std::string& line) {
  std::cout << std::string(static_cast<std::size_t>(indent), ' ') << line << '\n';
}

void print_traffic(const simgpu::BufferCounts& buffer) {
  const auto& load = buffer.load;
  const auto& store = buffer.store;
  if (load.requests + load.sectors + store.requests + store.sectors + buffer.atomic.requests == 0)
    return;
  std::cout << "    " << report::pad(buffer.label, 10);
  bool first = true;
  const auto line = [&](const char* what, const simgpu::GlobalCounts& c) {
    if (c.sectors == 0) return;
    say(first ? 0 : 14, text(what, {{"requests", count(c.requests)},
                                    {"sectors", count(c.sectors)},
                                    {"ideal", count(c.ideal_sectors)}}));
    first = false;
  };
  line("run.load", load);
  line("run.store", store);
}

void print_shared(const char* what, const simgpu::SharedCounts& c) {
  if (c.requests == 0) return;
  const bool merged = c.raw_requests != c.requests;
  say(4, text(what, {{"requests", count(c.requests)},
                     {"wavefronts", count(c.wavefronts)},
                     {"ideal", count(c.ideal_wavefronts)}}) +
             (merged ? text("run.shared.raw", {{"raw", count(c.raw_requests)}}) : ""));
}

void print_findings(const simgpu::LaunchReport& launch, const std::string& file) {
  for (const auto& finding : launch.findings) {
    const unsigned line = finding.at.where.line;
    say(4, text(finding.occurrences == 1 ? "run.finding.once" : "run.finding.often",
                {{"kind", std::string(to_string(finding.kind))},
                 {"at", line ? text("run.finding.at", {{"place", fmt::format("{}:{}", file, line)}})
                             : ""},
                 {"count", std::to_string(finding.occurrences)}}));
    for (const auto& part : report::wrap(printable(finding.detail), 72)) say(6, part);
  }
}

void print_launch(const simgpu::LaunchReport& launch, const std::string& file) {
  const auto& reg = launch.registers;
  const auto& t = launch.total;
  say(2, text("run.kernel", {{"kernel", printable(diag::kernel_name(launch.kernel))}}));
  const unsigned shared = launch.static_shared_bytes + launch.dynamic_shared_bytes;
  say(4, text("run.grid", {{"grid", explain::dim_text(launch.grid)},
                           {"block", explain::dim_text(launch.block)}}) +
             (shared ? text("run.grid.shared", {{"bytes", std::to_string(shared)}}) : ""));
  say(4, text(reg.blocks_per_multiprocessor == 1 ? "run.registers.one" : "run.registers",
              {{"registers", std::to_string(reg.allocated)},
               {"percent", fmt::format("{:.0f}", 100 * reg.occupancy)},
               {"blocks", std::to_string(reg.blocks_per_multiprocessor)},
               {"limiter", reg.limiter}}));
  say(4, text("run.instructions", {{"instructions", count(t.thread_instructions)},
                                   {"f32", count(t.fma_f32)},
                                   {"f64", count(t.fma_f64)},
                                   {"int", count(t.mad_int)},
                                   {"barriers", count(t.block_barriers)}}));
  print_shared("run.shared.load", t.shared_load);
  print_shared("run.shared.store", t.shared_store);
  if (t.async_copy.requests + t.async_store.requests)
    say(4, text("run.async", {{"requests", count(t.async_copy.requests)},
                              {"sectors", count(t.async_copy.sectors)},
                              {"wavefronts", count(t.async_store.wavefronts)},
                              {"ideal", count(t.async_store.ideal_wavefronts)},
                              {"idle", count(t.async_bytes_idle)}}));
  if (const auto local = t.local_load_requests + t.local_store_requests)
    say(4, text("run.local", {{"requests", count(local)}}));
  print_findings(launch, file);
  if (!launch.completed) say(4, text("run.stopped"));
  if (!launch.printf_output.empty()) {
    say(4, text("run.printf"));
    say(0, printable(launch.printf_output));
  }
}

/// Everything but whether the result is right.
void print_call(const CallOutcome& outcome, const std::string& file, std::size_t element_bytes) {
  for (const auto& launch : outcome.run.launches) print_launch(launch, file);
  const Observed seen = observe(outcome, element_bytes);
  say(2, text("run.traffic"));
  for (const auto* buffer : {&seen.a, &seen.b, &seen.c, &seen.scratch}) print_traffic(*buffer);
  if (!outcome.said.empty()) {
    say(2, text("run.printed"));
    say(0, outcome.said);
  }
  for (const auto& error : outcome.result.errors)
    say(2,
        text("run.returned",
             {{"call", error.call}, {"name", error.name}, {"message", printable(error.message)}}));
  for (const auto& refusal : outcome.result.refused) say(2, refusal.call + ": " + refusal.reason);
}

ExitCode run_on_sim(const Workplace& place, const Lab& lab, const Rung& rung,
                    const RunOptions& options, const fs::path& source) {
  const Toolchain toolchain = probe_clang();
  BuildOptions building;
  building.optimisers = usable_cores();
  building.rungs = {rung.name};
  const Build build = build_lab(
      place, toolchain, lab, [&](const std::string&) { return source; }, building);
  const auto refuse = [](const SourceUnit& unit) {
    say(0, unit.headline);
    for (const auto& line : unit.details) say(0, line);
    return exit_build;
  };
  if (build.failed()) return refuse(*build.failed());
  if (const auto lines = undefined(build, rung, options.type); !lines.empty()) {
    for (const auto& line : lines) say(0, line);
    return exit_build;
  }
  SessionConfig config;
  config.grader_program = own_program();
  config.host_threads = 2;
  config.patience = std::chrono::minutes(10);  // somebody may sit in a debugger
  Session session(build, config);
  const SourceUnit unit = session.load().front();
  if (!unit.built()) return refuse(unit);
  const std::string entry = rung.name + "<" + options.type + ">";
  const diag::ElementType type = element_type(options.type);
  const Inputs inputs =
      make_inputs(type, rung, Case{{options.m, options.n, *options.k}, 0, 0, 0, false},
                  Fill::integers, Before::poison, run_seed);
  const CallOutcome outcome =
      session.call({entry, inputs.a, inputs.b, inputs.c, false, true,
                    instruction_budget(lab, {options.m, options.n, *options.k})});
  say(0, text("run.head", {{"entry", entry},
                           {"rows", std::to_string(inputs.c.rows)},
                           {"cols", std::to_string(inputs.c.cols)},
                           {"k", std::to_string(*options.k)},
                           {"file", unit.shown_path}}));
  print_call(outcome, unit.shown_path, diag::size_of(type));
  if (const std::string why = not_returned(outcome, entry); !why.empty()) {
    say(2, why);
    return exit_failed;
  }
  const Verification verified = verify(rung.operation, outcome.run.a, outcome.run.b,
                                       outcome.run.c_before, outcome.run.c_after, Fill::integers,
                                       allowed_units(rung, options.type, Fill::integers));
  const bool clean = without_findings(outcome.run.launches);
  say(2, text(verified.right ? "run.right" : "run.wrong",
              {{"findings", clean ? "" : text("run.findings")}, {"lab", lab.id}}));
  if (!verified.right)
    for (const std::string& line :
         diag::matrix_lines(diag::make_case(rung.operation, outcome.run), diag::Layout::as_it_fits))
      say(4, line);
  return verified.right && clean ? exit_ok : exit_failed;
}

/// A main for nvcc: the same launcher, the same inputs, the CPU's product beside it.
std::string gpu_main(const fs::path& source, const Rung& rung, const RunOptions& options) {
  // 16-bit elements have a host type and a device type of the same bits.
  const bool half = options.type == "half", bfloat16 = options.type == "bfloat16";
  const std::string host = options.type == "int32" ? "std::int32_t"
                           : half                  ? "Half"
                           : bfloat16              ? "BFloat16"
                                                   : options.type;
  const std::string device = half ? "__half" : bfloat16 ? "__nv_bfloat16" : host;
  std::ostringstream out;
  out << "// Generated: runs one rung on the GPU and compares it with the CPU.\n"
         "#include <cstdio>\n#include <cstdint>\n#include <exception>\n\n"
         "#include \""
      << source.string()
      << "\"\n"
         "#include \"grader/commands/device_matrix.cuh\"\n#include \"common/inputs.hpp\"\n#include "
         "\"common/reference.hpp\"\n\n"
         "int main() try {\n  using T = "
      << host << ";\n  using In = " << device
      << ";\n  using Out = ResultOf<T>;\n  const int m = " << options.m << ", n = " << options.n
      << ", k = " << *options.k
      << ";\n"
         "  HostMatrix<T> a(m, k), b(k, n);\n  HostMatrix<Out> c("
      << (rung.operation == Operation::copy_b ? "k" : "m") << ", "
      << (rung.operation == Operation::copy_a ? "k" : "n")
      << ");\n"
         "  inputs::SplitMix64 random_a(1);\n  inputs::Pcg random_b(2);\n"
         "  inputs::integers(a, random_a);\n  inputs::integers(b, random_b);\n  "
         "inputs::poison_all(c);\n"
         "  DeviceMatrix<T> on_a(a), on_b(b);\n  DeviceMatrix<Out> on_c(c);\n"
         "  const auto* data_a = reinterpret_cast<const In*>(on_a.view().data);\n"
         "  const auto* data_b = reinterpret_cast<const In*>(on_b.view().data);\n"
         "  "
      << rung.name
      << "(MatrixView<const In>{data_a, m, k, k}, MatrixView<const In>{data_b, k, n, n}, "
         "on_c.view(), 0);\n"
         "  CUDA_CHECK(cudaDeviceSynchronize());\n  on_c.copy_to(c);\n";
  if (rung.operation == Operation::product)
    out << "  HostMatrix<Out> expected(m, n);\n  gemm_plain<T>(a.const_view(), b.const_view(), "
           "expected.view());\n";
  else
    out << "  const HostMatrix<T>& expected = " << (rung.operation == Operation::copy_a ? "a" : "b")
        << ";\n";
  out << "  long wrong = 0;\n  for (int i = 0; i < c.rows(); ++i)\n    for (int j = 0; j < "
         "c.cols(); ++j)\n"
         "      if (!(double(c(i, j)) == double(expected(i, j))) && wrong++ < 3)\n"
         "        std::printf(\"C[%d][%d] = %g, expected %g\\n\", i, j, double(c(i, j)), "
         "double(expected(i, j)));\n"
         "  std::printf(\"result %s (%ld of %ld elements wrong)\\n\", wrong ? \"WRONG\" : "
         "\"right\", wrong, long(c.rows()) * c.cols());\n"
         "  return wrong ? 1 : 0;\n} catch (const std::exception& error) {\n  "
         "std::printf(\"%s\\n\", error.what());\n  return 1;\n}\n";
  return out.str();
}

ExitCode run_on_gpu(const Workplace& place, const Rung& rung, const RunOptions& options,
                    const fs::path& source) {
  const gpu::Hardware hardware = gpu::probe_hardware(chosen_arch());
  if (!hardware.usable) throw gpu::no_gpu(hardware);
  if (const std::string why = gpu::why_not(rung, options.type, {hardware.device.arch, ""});
      !why.empty())
    throw UserError(why, exit_infrastructure);
  const Scratch scratch(place.build / "tmp");
  write_file_atomically(scratch.path() / "main.cu",
                        gpu_main(fs::absolute(place.root / source), rung, options));
  ProcessSpec compile;
  compile.argv = {hardware.tools.nvcc};
  const auto flags = gpu::nvcc_options(
      rung.needs_arch.empty() ? hardware.arch
                              : gpu::parse_arch(rung.needs_arch).value_or(hardware.arch));
  compile.argv.insert(compile.argv.end(), flags.begin(), flags.end());
  compile.argv.insert(compile.argv.end(),
                      {(scratch.path() / "main.cu").string(), "common/reference.cpp", "-o",
                       (scratch.path() / "program").string()});
  compile.environment = minimal_environment();
  compile.environment.push_back("TMPDIR=" + scratch.path().string());
  compile.folder = place.root.string();
  const RunResult compiled = run_process(compile, std::chrono::minutes(3));
  if (!compiled.ok()) {
    std::cout << printable(compiled.errors + compiled.output);
    return exit_build;
  }
  ProcessSpec program;
  program.argv = {(scratch.path() / "program").string()};
  program.environment = gpu::gpu_environment();
  const RunResult ran = run_process(program, std::chrono::minutes(2));
  say(0, text("run.head.gpu", {{"entry", rung.name + "<" + options.type + ">"},
                               {"m", std::to_string(options.m)},
                               {"n", std::to_string(options.n)},
                               {"k", std::to_string(*options.k)},
                               {"gpu", hardware.device.name},
                               {"arch", hardware.arch.name()},
                               {"file", source.string()}}));
  std::cout << printable(ran.output + ran.errors);
  if (ran.timed_out) say(0, text("run.gpu.late"));
  if (WIFSIGNALED(ran.status))
    say(0, text("run.gpu.died", {{"signal", signal_name(WTERMSIG(ran.status))}}));
  return ran.ok() ? exit_ok : exit_failed;
}

/// What the lab is about: the rung of its last core stage.
const Rung& default_rung(const Lab& lab) {
  const Rung* rung = &lab.rungs.front();
  for (const auto& stage : lab.stages)
    if (stage.kind == Kind::core && lab.rung(stage.rung).needs_arch.empty())
      rung = &lab.rung(stage.rung);
  return *rung;
}

}  // namespace

ExitCode run(const RunOptions& given) {
  RunOptions options = given;
  const Workplace place = workplace(options.place);
  const std::vector<Lab> labs = load_labs(place.root, {});
  const Lab& lab = lab_with_id(labs, options.lab);
  const Rung& rung = options.rung.empty() ? default_rung(lab) : rung_named(lab, options.rung);
  options.k = k_for(lab, rung, options.k, 32);
  if (options.type.empty()) options.type = rung.main_type();
  if (std::find(rung.types.begin(), rung.types.end(), options.type) == rung.types.end())
    no_such_type(rung.name, options.type, rung.types);
  const fs::path source = options.file.empty()
                              ? source_of(lab, place.root, options.solution, rung.file)
                              : fs::absolute(options.file);
  return options.device == "gpu" ? run_on_gpu(place, rung, options, source)
                                 : run_on_sim(place, lab, rung, options, source);
}

}  // namespace grader
