// What can be measured: kernels on a real GPU, the simulated GPU against a profiler, the grader
// against kernels that it must reject. A program of its own, since nobody needs it to pass a lab.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/commands/commands.hpp"

namespace grader {

/// Staff only: grades every labN_*/mutants and alternatives file and compares with what it must
/// get.
struct MutantOptions {
  Place place;
  std::vector<int> labs;  ///< empty = all
  std::string only;       ///< part of the file's path; "" = all
  unsigned jobs = 0;      ///< at a time; 0 = one per core
  bool sample = false;    ///< one mutant per diagnosis, one alternative per lab
  /// Every mutant in all of its rung's types, also where the first has shown what was expected.
  bool all_types = false;
  std::vector<int> entire;  ///< labs that a sample has all of
  bool verbose = false;     ///< headlines of what went right, too
};
ExitCode mutants(const MutantOptions& options);

/// Measures the solutions and the techniques before them on this GPU, and writes speed goals for
/// its architecture into the labs' lab.toml. exit_failed if there is no place for one of them.
struct CalibrateOptions {
  Place place;
  std::vector<int> labs;  ///< empty = all
  std::string type;       ///< "" = all
  unsigned runs = 3;      ///< of each kernel; the worst of the solution counts
  bool write = true;
  /// Change the goals' own bars, which hold where no architecture says otherwise.
  bool base = false;
};
ExitCode calibrate(const CalibrateOptions& options);

/// Authors only: verdicts again and again. Each goal's solution must pass all, the technique before
/// it fail all. Adds to what `out` holds already. Throws UserError, and leaves `out` alone, if that holds
/// anything else or verdicts on another model.
struct ProveOptions {
  Place place;
  std::vector<int> labs;            ///< empty = all
  std::vector<std::string> stages;  ///< empty = all
  std::string type;                 ///< "" = all
  unsigned repeats = 50;
  double seconds = 0;  ///< no new one is begun after that; 0 = no limit
  /// Measure nothing: what `out` holds, by the bars as they are now. Measurements of a source that
  /// has changed since do not count, but stay: another state of the tree may have use for them.
  bool judge_only = false;
  /// Files of the same kind, of other GPUs of the same model: their measurements are taken, too.
  std::vector<std::filesystem::path> add;
  std::filesystem::path out;
};
ExitCode prove_speed(const ProveOptions& options);

/// Authors only: simgpu's counters beside the profiler's, for every rung's solution and the kernels
/// beside verify_counts.cpp. Needs a GPU with nvcc and ncu, or what profile.sh measured on one.
struct VerifyOptions {
  Place place;
  std::filesystem::path measured;  ///< folder that profile.sh filled; empty: measure now
  std::filesystem::path out;       ///< folder, gets counts.json; empty: print only
  bool sources_only = false;       ///< write the programs to profile elsewhere, and stop
};
ExitCode verify_counts(const VerifyOptions& options);

/// How time depends on one parameter of a kernel: tables, curves, and what turns where. Measures on
/// this machine's GPU, or shows what was measured before.
struct SweepOptions {
  Place place;
  int lab = 0;
  std::string type;                ///< empty = all types of the sweep
  bool quick = false;              ///< small sizes, few samples
  std::filesystem::path out;       ///< empty: build/sweep/labN.json; curves go beside it
  std::filesystem::path measured;  ///< show this results file instead of measuring
};
ExitCode sweep_lab(const SweepOptions& options);

}  // namespace grader
