// From a student's files to PTX for the judge's device and a runner program with the student's
// host code.
//
//   unit         generated from lab.toml: includes gemm.cu (mma.cu, ...), instantiates its rungs
//   device pass  clang -> PTX text      parsed by the device worker, never by the student's process;
//                where somebody edits and waits, kernel by kernel: only what has changed is
//                optimised again (kernel_ir.hpp)
//   host pass    clang -> object        both passes of all files run side by side
//                where somebody edits kernels alone: the object that is there (Driver::host_pass)
//   entries.cpp  generated from lab.toml: only launchers that the objects really define
//   link         objects + entries + libsimgpu_cudart_remote.a -> runner
//
// Compilers run with an emptied environment, limits on time, memory and file size, and results are
// cached under build/ by the content of everything that went in. One file that fails takes no
// other with it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/wire/unique_fd.hpp"
#include "grader/compile/toolchain.hpp"
#include "grader/labs/lab.hpp"
#include "grader/os/box.hpp"
#include "grader/os/budget.hpp"
#include "grader/verdict.hpp"

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
  std::string function;  ///< "gemm_naive<int>": as C++ names the type
  std::string type;      ///< of the operands, as lab.toml names it; "" for an answer
  bool defined = false;
  std::string symbol;  ///< if so: its mangled name
  std::string found;   ///< if not: what has that name and another signature, "" = nothing
};

/// What became of one of the lab's files.
struct SourceUnit {
  std::string file;        ///< "gemm.cu", as lab.toml names it
  std::string shown_path;  ///< "lab1_naive/gemm.cu": as messages name it
  BuildStatus status = BuildStatus::built;
  std::string headline;              ///< one sentence, when not built
  std::vector<std::string> details;  ///< the compiler's own words for the file, or advice
  /// Texts of the device pass, each a module of its own: the file's, or one for each kernel template.
  std::vector<std::string> ptx;
  std::vector<std::string> warnings;  ///< of the compiler, for this file
  std::string source;                 ///< as it was read
  bool built() const { return status == BuildStatus::built; }
};

/// A program that was linked. It lies in the cache, which another grader may prune at any moment: not
/// this file, while somebody holds the lease.
struct LinkedProgram {
  std::filesystem::path path;
  std::shared_ptr<const UniqueFd> lease;  ///< a shared lock on the file; boxed: none is needed
  bool empty() const { return path.empty(); }
};

struct Build {
  std::vector<SourceUnit> units;  ///< in the order of Lab::files(), without those for hardware only
  LinkedProgram runner;           ///< empty: nothing could be linked
  std::vector<EntryPoint> entries;
  /// A hash of everything that decides what the runner does outside of kernels; "" if a file was saved
  /// again while it was compiled.
  std::string host;
  /// The same for what a stage calls, by its id. A stage that is not in it depends on all of the host's code.
  std::map<std::string, std::string> host_of_stage;
  double seconds = 0;  ///< wall time of this build
  /// One rung's kernels once more, with a check of each index into an array (array_bounds.hpp); nothing
  /// if that fails. May be empty.
  std::function<std::optional<Build>(const Rung& rung, const std::string& type)> array_bounds;

  const SourceUnit& unit(const std::string& file) const;  ///< throws std::out_of_range
  /// The first that is not built; null: all are.
  const SourceUnit* failed() const;
};

/// Who runs the compilers and how much they may take. Defaults suit a student's own machine.
struct BuildOptions {
  bool hostile = false;  ///< somebody else's code: tighter file checks, no neighbour files
  std::optional<std::pair<unsigned, unsigned>> user;  ///< uid, gid to drop to, unboxed
  std::optional<BoxSettings> box;                     ///< with `hostile`: everything runs boxed
  std::shared_ptr<Budget> budget;                     ///< of the submission; none: each run's own
  bool verbose = false;                               ///< print the commands on stderr
  /// Kernels are optimised by themselves, so many at a time, and each is kept: for whoever edits one
  /// and waits. 0: a file as a whole.
  unsigned optimisers = 0;
  /// Empty: all rungs; else these alone are instantiated, and files without any of them left out.
  std::set<std::string> rungs;
};

/// Where a file of the lab lies: "gemm.cu" -> path, relative to the root when it lies there.
using SourceOf = std::function<std::filesystem::path(const std::string& file)>;

/// Compiles the files of `lab` that the simulated GPU runs. Throws InfraError if the machine fails.
Build build_lab(const Workplace& place, const Toolchain& toolchain, const Lab& lab,
                const SourceOf& source, const BuildOptions& options = {});

/// What the compiler said about the student's own file: errors and warnings with their source
/// lines, without notes from inside our headers. At most `most` diagnostics.
struct CompilerOutput {
  /// "lab1_naive/gemm.cu:31:9: error: ..." and the lines that show it
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
  std::string unavailable_include;  ///< header that does not exist here
  unsigned unavailable_line = 0;
};
CompilerOutput filter_compiler_output(const std::string& text, const std::string& student_file,
                                      std::size_t most = 5);

}  // namespace grader
