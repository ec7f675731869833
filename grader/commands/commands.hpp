// What a person can ask of the grader. main.cpp turns a command line into one of these.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/errors.hpp"

namespace grader {

/// Where the project and its build folder are.
struct Place {
  std::filesystem::path root = ".";
  std::filesystem::path build;  ///< empty: root/build
};

struct CheckOptions {
  Place place;
  std::vector<int> labs;            ///< empty = all
  std::vector<std::string> stages;  ///< at most one
  bool solution = false;            ///< judge labN/solution/gemm.cu instead of labN/gemm.cu
  std::filesystem::path file;       ///< judge this file (one lab only)
  std::filesystem::path
      sources;  ///< judge <sources>/<lab's name>/gemm.cu; what is not there is missing
  std::string device = "auto";               ///< auto, sim, gpu
  std::filesystem::path goals, json, junit;  ///< "-" for json: stdout, and no other output
  std::uint64_t seed = 0x67656d6d;
  unsigned jobs = 0;     ///< 0 = one per core
  bool verbose = false;  ///< goals of passed stages too, and the compilers' commands
  bool hostile = false;  ///< somebody else's file: stricter reading, user dropped where possible
};
ExitCode check(const CheckOptions& options);

struct RunOptions {
  Place place;
  int lab = 0;
  std::string rung, type, device = "sim";  ///< "": the rung of the last core stage; its main type
  std::int64_t m = 64, n = 48, k = 32;
  bool solution = false;
  std::filesystem::path file;
};
ExitCode run(const RunOptions& options);

struct ExplainOptions {
  Place place;
  int lab = 0;
  std::string rung, stage;              ///< empty = all rungs of the lab
  std::string type;                     ///< empty = each rung's main type
  std::optional<std::int64_t> m, n, k;  ///< default: where the lab's goals are judged
  bool solution = false;
  std::filesystem::path file, out;  ///< out empty: build/explain/labN.html
  std::filesystem::path json;       ///< "-": stdout, and no other output
};
/// Writes the page whatever becomes of the student's code. exit_ok only if every started rung is
/// right and without findings, and one is started.
ExitCode explain_lab(const ExplainOptions& options);

struct HintOptions {
  Place place;
  std::string stage;
};
ExitCode hint(const HintOptions& options);

struct SubmitOptions {
  Place place;
  std::filesystem::path out;  ///< empty: build/submission.zip
};
ExitCode submit(const SubmitOptions& options);

struct GradeOptions {
  Place place;
  std::filesystem::path submissions, out, goals;
  unsigned jobs = 0;
};
ExitCode grade(const GradeOptions& options);

/// Staff only: grades every labN_*/mutants and alternatives file and compares with what it must
/// get.
struct MutantOptions {
  Place place;
  std::vector<int> labs;  ///< empty = all
  std::string only;       ///< part of the file's path; "" = all
  unsigned jobs = 0;      ///< at a time; 0 = one per core
  bool verbose = false;   ///< headlines of what went right, too
};
ExitCode mutants(const MutantOptions& options);

/// Measures the solutions and the techniques before them on this GPU, and writes speed goals for
/// its architecture into the labs' lab.toml. exit_failed if there is no place for one of them.
struct CalibrateOptions {
  Place place;
  std::vector<int> labs;  ///< empty = all
  unsigned runs = 3;      ///< of each kernel; the worst of the solution counts
  bool write = true;
  bool base =
      false;  ///< change the goals' own bars, which hold where no architecture says otherwise
};
ExitCode calibrate(const CalibrateOptions& options);

/// Authors only: verdicts again and again. Each goal's solution must pass all, the technique before
/// it fail all. Adds to what `out` holds already, and writes the table beside it, as .md.
struct ProveOptions {
  Place place;
  std::vector<int> labs;            ///< empty = all
  std::vector<std::string> stages;  ///< empty = all
  std::string type;                 ///< "" = all
  unsigned repeats = 50;
  double seconds = 0;       ///< no new one is begun after that; 0 = no limit
  bool judge_only = false;  ///< measure nothing: what `out` holds, by the bars as they are now
  std::filesystem::path out;
};
ExitCode prove_speed(const ProveOptions& options);

/// Every rung against cuBLAS, the naive yardstick and the CPU. Resumable: what was measured on this
/// GPU with this source is kept.
struct BenchOptions {
  Place place;
  std::vector<int> labs;  ///< empty = all
  bool quick = false;     ///< three shapes, three rounds
  bool solution = false;
  bool no_cpu = false;
  bool form_only = false;     ///< write predictions.toml if it is missing, and stop
  double limit_seconds = 0;   ///< start no new point after that; 0 = no limit
  std::filesystem::path out;  ///< folder; empty: build/bench, or build/bench/solution
};
ExitCode bench_labs(const BenchOptions& options);

/// Authors only: simgpu's counters beside the profiler's, for every rung's solution and the kernels
/// of grader/verify. Needs a GPU with nvcc and ncu, or what profile.sh measured on one.
struct VerifyOptions {
  Place place;
  std::filesystem::path measured;  ///< folder that profile.sh filled; empty: measure now
  std::filesystem::path out;       ///< gets counts.json and counts.md; empty: print only
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
  std::filesystem::path out;       ///< empty: build/sweep/labN.json; .csv and .svg go beside it
  std::filesystem::path measured;  ///< show this results file instead of measuring
};
ExitCode sweep_lab(const SweepOptions& options);

}  // namespace grader
