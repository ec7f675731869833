// From a student's gemm.cu to PTX for the judge's device and a runner program with the student's
// host code.
//
//   device pass  clang -> PTX text            parsed by the device worker, never by the student's
//   process host pass    clang -> object              both passes run side by side entries.cpp
//   generated from lab.toml      only launchers that the object really defines link         object
//   + entries + libsimgpu_cudart_remote.a -> runner
//
// Compilers run with an emptied environment, limits on time, memory and file size, and results are
// cached under build/ by the content of everything that went in.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/compile/toolchain.hpp"
#include "grader/labs/lab.hpp"

namespace grader {

/// Where things are. All paths are absolute but `root`-relative sources.
struct Workplace {
  std::filesystem::path root;            ///< holds common/, labN_*/; compilers run here
  std::filesystem::path build;           ///< generated files go here
  std::filesystem::path remote_library;  ///< libsimgpu_cudart_remote.a
};

/// One launcher or answer function of the table that the runner serves.
struct EntryPoint {
  std::string name;      ///< "gemm_naive<float>" or "suspects": the key for calls
  std::string function;  ///< "gemm_naive<float, float>": as the student writes it
  bool defined = false;
  std::string found;  ///< if not: a definition with that name and another signature, "" = none
};

enum class BuildStatus { built, missing, empty, refused, compile_error, compile_limit, link_error };

struct Build {
  BuildStatus status = BuildStatus::built;
  std::string headline;              ///< one sentence, when not built
  std::vector<std::string> details;  ///< the compiler's own words for the student's file, or advice
  std::string ptx;                   ///< text of the device pass
  std::filesystem::path runner;      ///< program
  std::vector<EntryPoint> entries;
  std::vector<std::string> warnings;  ///< of the compiler, for the student's file
  std::string source;                 ///< gemm.cu as it was read
  std::string shown_path;             ///< "lab1_naive/gemm.cu": as messages name it
  double seconds = 0;                 ///< wall time of this build
};

/// Who runs the compilers and how much they may take. Defaults suit a student's own machine.
struct BuildOptions {
  bool hostile = false;  ///< somebody else's code: tighter file checks, no neighbour files
  std::optional<std::pair<unsigned, unsigned>> user;  ///< uid, gid to drop to
  bool verbose = false;                               ///< print the commands on stderr
};

/// Compiles `source` (relative to the root when it lies there) for `lab`. Throws InfraError if the
/// machine fails.
Build build_lab(const Workplace& place, const Toolchain& toolchain, const Lab& lab,
                const std::filesystem::path& source, const BuildOptions& options = {});

/// What the compiler said about the student's own file: errors and warnings with their source
/// lines, without notes from inside our headers. At most `most` diagnostics.
struct CompilerOutput {
  std::vector<std::string>
      errors;  ///< "lab1_naive/gemm.cu:31:9: error: ..." and the lines that show it
  std::vector<std::string> warnings;
  std::string unavailable_include;  ///< header that does not exist here
  unsigned unavailable_line = 0;
};
CompilerOutput filter_compiler_output(const std::string& text, const std::string& student_file,
                                      std::size_t most = 5);

/// The C++ type of an element of A and B, and of C: "half" -> "__half" and "float".
std::string cpp_type(const std::string& type);
std::string cpp_result_type(const std::string& type);

/// "gemm_naive<float, float>", "gemm_wmma<__half, float>": the instantiation for a type of
/// lab.toml.
std::string instantiation(const std::string& rung, const std::string& type);

/// The signature as a sentence: "void gemm_naive<float, float>(MatrixView<const float> a, ...)".
std::string signature(const std::string& rung, const std::string& type);

}  // namespace grader
