// From a student's .cu files to a runner program for a real GPU.
//
//   gemm.cu   nvcc -> object -> object gate ---+   each through its translation unit (unit.hpp)
//   wgmma.cu  nvcc, sm_90a -> object -> gate --+-> link with the generated entries and the runner
//   runner_main.cu (ours) nvcc -> object ------+
//
// The rules are those of the build for the simulated GPU (grader/compile): emptied environment,
// fixed names, limits, a cache by content. A file that only one architecture can run is compiled
// for that one and left out elsewhere; one file that fails takes no other with it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/compile/compile.hpp"
#include "grader/gpu/object_gate.hpp"
#include "grader/gpu/toolchain.hpp"

namespace grader::gpu {

/// What became of one source file.
struct GpuUnit {
  std::string file;  ///< "gemm.cu", as lab.toml names it
  std::string shown_path;
  BuildStatus status = BuildStatus::built;
  bool skipped = false;  ///< this GPU cannot run it; `headline` says why
  std::string headline;
  std::vector<std::string> details;
  std::vector<GateFinding> gate;  ///< not empty: status is refused
  bool usable() const { return status == BuildStatus::built && !skipped; }
};

struct GpuBuild {
  std::vector<GpuUnit> units;
  LinkedProgram runner;             ///< empty: nothing could be linked
  std::vector<EntryPoint> entries;  ///< of all units that were linked
  double seconds = 0;

  const GpuUnit& unit(const std::string& file) const;  ///< throws std::out_of_range
  /// True if the runner has this launcher.
  bool has(const std::string& entry) const;
};

/// Compiles and links all files of a lab that `arch` can run. Throws InfraError if the machine or
/// nvcc itself fails.
GpuBuild build_gpu(const Workplace& place, const GpuToolchain& tools, const Arch& arch,
                   const Lab& lab, const SourceOf& source, const BuildOptions& options = {});

/// Ours that are compiled into every runner, besides headers of common/. The first is the program.
inline constexpr const char* gpu_runner_sources[] = {
    "grader/gpu/runner_main.cu", "grader/gpu/runner_main.hpp", "grader/gpu/protocol.hpp",
    "grader/gpu/shared_memory.cuh"};

/// The options of nvcc for student code on one architecture, without files: machine code for it
/// alone (a program for another one must not be translated at load time), line numbers for
/// compute-sanitizer and profilers.
std::vector<std::string> nvcc_options(const Arch& arch);

}  // namespace grader::gpu
