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
  bool alone = false;               ///< that stage without those it needs
  std::vector<std::string> rungs;   ///< empty: all; else these alone are compiled for sim
  std::vector<std::string> types;  ///< empty: all; else rungs that have some of these have no other
  bool solution = false;           ///< judge labN/solution/gemm.cu instead of labN/gemm.cu
  std::filesystem::path file;      ///< judge this file (one lab only)
  std::filesystem::path
      sources;  ///< judge <sources>/<lab's name>/gemm.cu; what is not there is missing
  std::string device = "auto";                ///< auto, sim, gpu
  std::filesystem::path course, json, junit;  ///< "-" for json: stdout, and no other output
  std::uint64_t seed = 0x67656d6d;
  unsigned jobs = 0;          ///< 0 = one per core
  bool again = false;         ///< run all stages, even those that passed and have not changed
  bool verbose = false;       ///< goals of passed stages too, and the compilers' commands
  bool hostile = false;       ///< somebody else's file: stricter reading, boxed or as another user
  int key_descriptor = -1;    ///< where the student's key is read from; -1: the seed is used
  std::filesystem::path box;  ///< with hostile: BoxSettings; none = limits only
};
ExitCode check(const CheckOptions& options);

struct RunOptions {
  Place place;
  int lab = 0;
  std::string rung, type, device = "sim";  ///< "": the rung of the last core stage; its main type
  std::int64_t m = 64, n = 48;
  std::optional<std::int64_t> k;  ///< default: 32, or 1 for a rung that takes no other
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

struct UnitOptions {
  Place place;
  std::filesystem::path file;  ///< in a lab's folder, with all of its rungs in all of their types
  int lab = 0;                 ///< instead of `file`, one rung of this lab in one type
  std::string rung, type;      ///< type "": its main one
  bool solution = false;
};
/// Prints the translation unit of a lab's file, or of one of its rungs.
ExitCode print_unit(const UnitOptions& options);

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

}  // namespace grader
