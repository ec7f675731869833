// grader run: one rung, once, and what it did. On sim in a session of the judge's, on gpu as an
// ordinary program.
#include <sys/wait.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "grader/commands/commands.hpp"
#include "grader/commands/common.hpp"
#include "grader/gpu/build.hpp"
#include "grader/gpu/runner.hpp"
#include "grader/gpu/toolchain.hpp"
#include "grader/judge/rung_check.hpp"
#include "grader/messages.hpp"
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

std::string dim(const simgpu::Dim3& d) {
  std::string out = std::to_string(d.x) + "×" + std::to_string(d.y);
  if (d.z != 1) out += "×" + std::to_string(d.z);
  return out;
}

void print_traffic(const simgpu::BufferCounts& buffer) {
  const auto& l = buffer.load;
  const auto& s = buffer.store;
  if (l.requests + l.sectors + s.requests + s.sectors + buffer.atomic.requests == 0) return;
  std::cout << "    " << report::pad(buffer.label, 10);
  std::ostringstream load, store;
  if (l.sectors)
    load << number(static_cast<double>(l.requests)) << " requests, "
         << number(static_cast<double>(l.sectors)) << " sectors (ideal "
         << number(static_cast<double>(l.ideal_sectors)) << ")";
  if (s.sectors)
    store << number(static_cast<double>(s.requests)) << " requests, "
          << number(static_cast<double>(s.sectors)) << " sectors (ideal "
          << number(static_cast<double>(s.ideal_sectors)) << ")";
  bool first = true;
  for (const auto& [what, numbers] :
       {std::pair{"load ", load.str()}, std::pair{"store", store.str()}}) {
    if (numbers.empty()) continue;
    std::cout << (first ? "" : "              ") << what << "  " << numbers << '\n';
    first = false;
  }
}

void print_launch(const simgpu::LaunchReport& launch, const std::string& file) {
  std::cout << "  kernel " << printable(launch.kernel) << "\n";
  std::cout << "    grid " << dim(launch.grid) << " blocks of " << dim(launch.block) << " threads";
  const unsigned shared = launch.static_shared_bytes + launch.dynamic_shared_bytes;
  if (shared) std::cout << ", " << shared << " bytes of shared memory";
  std::cout << "\n    registers " << launch.registers.allocated
            << " per thread (estimate), occupancy " << std::fixed << std::setprecision(0)
            << 100 * launch.registers.occupancy << " % ("
            << launch.registers.blocks_per_multiprocessor
            << (launch.registers.blocks_per_multiprocessor == 1 ? " block" : " blocks")
            << " per multiprocessor, limited by " << launch.registers.limiter << ")\n"
            << std::defaultfloat;
  const auto& t = launch.total;
  std::cout << "    thread instructions " << number(static_cast<double>(t.thread_instructions))
            << ", multiply-adds f32 " << number(static_cast<double>(t.fma_f32)) << " f64 "
            << number(static_cast<double>(t.fma_f64)) << " int "
            << number(static_cast<double>(t.mad_int)) << ", barriers "
            << number(static_cast<double>(t.block_barriers)) << '\n';
  const auto shared_line = [](const char* what, const simgpu::SharedCounts& c) {
    if (c.requests == 0) return;
    std::cout << "    shared " << what << "  " << number(static_cast<double>(c.requests))
              << " requests, " << number(static_cast<double>(c.wavefronts)) << " wavefronts (ideal "
              << number(static_cast<double>(c.ideal_wavefronts)) << ")";
    if (c.raw_requests != c.requests)
      std::cout << ", " << number(static_cast<double>(c.raw_requests)) << " in PTX before merging";
    std::cout << '\n';
  };
  shared_line("load ", t.shared_load);
  shared_line("store", t.shared_store);
  if (t.async_copy.requests + t.async_store.requests)
    std::cout << "    of the global loads " << number(static_cast<double>(t.async_copy.requests))
              << " are cp.async: " << number(static_cast<double>(t.async_copy.sectors))
              << " sectors, " << number(static_cast<double>(t.async_store.wavefronts))
              << " wavefronts into shared memory (ideal "
              << number(static_cast<double>(t.async_store.ideal_wavefronts)) << "), "
              << number(static_cast<double>(t.async_bytes_idle))
              << " bytes waited for without arithmetic meanwhile\n";
  if (t.local_load_requests + t.local_store_requests)
    std::cout << "    local memory "
              << number(static_cast<double>(t.local_load_requests + t.local_store_requests))
              << " requests\n";
  for (const auto& finding : launch.findings) {
    std::cout << "    finding: " << to_string(finding.kind);
    if (finding.at.where.line) std::cout << " at " << file << ":" << finding.at.where.line;
    std::cout << " (" << finding.occurrences << (finding.occurrences == 1 ? " time)" : " times)")
              << '\n';
    for (const auto& line : report::wrap(printable(finding.detail), 72))
      std::cout << "      " << line << '\n';
  }
  if (!launch.completed) std::cout << "    the kernel was stopped before its end\n";
  if (!launch.printf_output.empty())
    std::cout << "    printf:\n" << printable(launch.printf_output) << '\n';
}

ExitCode run_on_sim(const Workplace& place, const Lab& lab, const Rung& rung,
                    const RunOptions& options, const fs::path& source) {
  const Toolchain toolchain = probe_clang();
  const Build build = build_lab(place, toolchain, lab, source);
  if (build.status != BuildStatus::built) {
    std::cout << build.headline << '\n';
    for (const auto& line : build.details) std::cout << line << '\n';
    return exit_build;
  }
  const std::string entry = rung.name + "<" + options.type + ">";
  for (const auto& one : build.entries)
    if (one.name == entry && !one.defined) {
      std::cout << text("stage.signature", {{"function", one.function}}) << '\n'
                << text("stage.signature.wanted",
                        {{"signature", signature(rung.name, options.type)}})
                << '\n';
      return exit_build;
    }
  SessionConfig config;
  config.grader_program = own_program();
  config.host_threads = 2;
  config.patience = std::chrono::minutes(10);  // somebody may sit in a debugger
  Session session(build, config);
  if (const wire::LoadReply& loaded = session.load(); !loaded.loaded) {
    std::cout << text("build.ptx",
                      {{"file", build.shown_path},
                       {"line", loaded.source_line ? ":" + std::to_string(loaded.source_line) : ""},
                       {"what", printable(loaded.error)}})
              << '\n';
    return exit_build;
  }
  const diag::ElementType type = element_type(options.type);
  const Inputs inputs =
      make_inputs(type, rung, Case{{options.m, options.n, options.k}, 0, 0, 0, false},
                  Fill::integers, Before::poison, run_seed);
  const CallOutcome outcome =
      session.call({entry, inputs.a, inputs.b, inputs.c, false, true,
                    instruction_budget(lab, {options.m, options.n, options.k})});
  std::cout << entry << " · C = " << inputs.c.rows << "×" << inputs.c.cols << ", K = " << options.k
            << " · sim · " << build.shown_path << '\n';
  for (const auto& launch : outcome.run.launches) print_launch(launch, build.shown_path);
  const Observed seen = observe(outcome, diag::size_of(type));
  std::cout << "  memory traffic\n";
  for (const auto* buffer : {&seen.a, &seen.b, &seen.c, &seen.scratch}) print_traffic(*buffer);
  if (!outcome.said.empty()) std::cout << "  printed:\n" << outcome.said << '\n';
  for (const auto& error : outcome.result.errors)
    std::cout << "  " << error.call << " returned " << error.name << ": "
              << printable(error.message) << '\n';
  for (const auto& refusal : outcome.result.refused)
    std::cout << "  " << refusal.call << ": " << refusal.reason << '\n';
  switch (outcome.end) {
    case End::returned:
      break;
    case End::crashed:
      std::cout << "  "
                << text("verdict.crash",
                        {{"entry", entry}, {"signal", signal_name(outcome.signal)}})
                << '\n';
      return exit_failed;
    case End::exited:
      std::cout << "  "
                << text("verdict.exit",
                        {{"entry", entry}, {"status", std::to_string(outcome.exit_status)}})
                << '\n';
      return exit_failed;
    case End::threw:
      std::cout << "  " << text("verdict.threw", {{"entry", entry}}) << ": " << outcome.message
                << '\n';
      return exit_failed;
    case End::hung:
      std::cout << "  " << text("verdict.hang", {{"entry", entry}}) << '\n';
      return exit_failed;
    case End::memory:
      std::cout << "  " << text("verdict.memory", {{"entry", entry}}) << '\n';
      return exit_failed;
    case End::protocol:
      std::cout << "  " << text("verdict.protocol", {{"entry", entry}}) << '\n';
      return exit_failed;
    case End::infra:
      throw InfraError(outcome.message);
  }
  const Verification verified =
      verify(rung.oracle, outcome.run.a, outcome.run.b, outcome.run.c_before, outcome.run.c_after,
             Fill::integers, allowed_units(rung, options.type, Fill::integers));
  const bool clean =
      std::all_of(outcome.run.launches.begin(), outcome.run.launches.end(), [](const auto& l) {
        return std::all_of(l.findings.begin(), l.findings.end(),
                           [](const auto& f) { return f.kind == simgpu::FindingKind::will_spill; });
      });
  std::cout << "  result " << (verified.right ? "right" : "WRONG")
            << (clean ? "" : ", with findings") << '\n';
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
         "#include \"common/device_matrix.cuh\"\n#include \"common/inputs.hpp\"\n#include "
         "\"common/reference.hpp\"\n\n"
         "int main() try {\n  using T = "
      << host << ";\n  using In = " << device
      << ";\n  using Out = ResultOf<T>;\n  const int m = " << options.m << ", n = " << options.n
      << ", k = " << options.k
      << ";\n"
         "  HostMatrix<T> a(m, k), b(k, n);\n  HostMatrix<Out> c("
      << (rung.oracle == Oracle::copy_b ? "k" : "m") << ", "
      << (rung.oracle == Oracle::copy_a ? "k" : "n")
      << ");\n"
         "  inputs::SplitMix64 random_a(1);\n  inputs::Pcg random_b(2);\n"
         "  inputs::integers(a, random_a);\n  inputs::integers(b, random_b);\n  "
         "inputs::poison_all(c);\n"
         "  DeviceMatrix<T> on_a(a), on_b(b);\n  DeviceMatrix<Out> on_c(c);\n"
         "  const auto* data_a = reinterpret_cast<const In*>(on_a.view().data);\n"
         "  const auto* data_b = reinterpret_cast<const In*>(on_b.view().data);\n"
         "  "
      << rung.name
      << "<In, Out>(MatrixView<const In>{data_a, m, k, k}, MatrixView<const In>{data_b, k, n, n}, "
         "on_c.view(), 0);\n"
         "  CUDA_CHECK(cudaDeviceSynchronize());\n  on_c.copy_to(c);\n";
  if (rung.oracle == Oracle::product)
    out << "  HostMatrix<Out> expected(m, n);\n  gemm_plain<T>(a.const_view(), b.const_view(), "
           "expected.view());\n";
  else
    out << "  const HostMatrix<T>& expected = " << (rung.oracle == Oracle::copy_a ? "a" : "b")
        << ";\n";
  out << "  long wrong = 0;\n  for (int i = 0; i < c.rows(); ++i)\n    for (int j = 0; j < "
         "c.cols(); ++j)\n"
         "      if (!(c(i, j) == expected(i, j)) && wrong++ < 3)\n"
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
  ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
  const gpu::Hardware hardware = gpu::probe_hardware(chosen_arch());
  if (!hardware.usable)
    throw UserError("DEVICE=gpu: " + hardware.reason + "." +
                        (hardware.advice.empty() ? "" : "\n" + hardware.advice + "."),
                    exit_infrastructure);
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
  std::cout << rung.name << "<" << options.type << "> · " << options.m << "×" << options.n << "×"
            << options.k << " · " << hardware.device.name << " (" << hardware.arch.name() << ") · "
            << source.string() << '\n'
            << printable(ran.output + ran.errors);
  if (ran.timed_out) std::cout << "no result after two minutes\n";
  if (WIFSIGNALED(ran.status))
    std::cout << "the program died of " << signal_name(WTERMSIG(ran.status)) << '\n';
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
  const std::string name = options.rung.empty() ? default_rung(lab).name : options.rung;
  std::string all;
  const Rung* rung = nullptr;
  for (const auto& one : lab.rungs) {
    all += (all.empty() ? "" : ", ") + one.name;
    if (one.name == name) rung = &one;
  }
  if (!rung)
    throw UserError(
        text("usage.no_rung", {{"lab", lab.name}, {"rung", printable(name)}, {"rungs", all}}),
        exit_usage);
  if (options.type.empty()) options.type = rung->main_type();
  if (!rung->needs_arch.empty() && options.device != "gpu")
    throw UserError(text("device.needs_arch", {{"rung", rung->name}, {"arch", rung->needs_arch}}),
                    exit_infrastructure);
  if (std::find(rung->types.begin(), rung->types.end(), options.type) == rung->types.end()) {
    std::string types;
    for (const auto& type : rung->types) types += (types.empty() ? "" : ", ") + type;
    throw UserError(rung->name + " has no type " + printable(options.type) + "; it has: " + types,
                    exit_usage);
  }
  const fs::path source = options.file.empty()
                              ? source_of(lab, place.root, options.solution, rung->file)
                              : fs::absolute(options.file);
  return options.device == "gpu" ? run_on_gpu(place, *rung, options, source)
                                 : run_on_sim(place, lab, *rung, options, source);
}

}  // namespace grader
