// Running a compiler on somebody's file: emptied environment, limits on time, memory and file size,
// a private folder for what it writes, and a cache under build/ by the content of everything that
// goes in.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/compile/compile.hpp"
#include "grader/os/process.hpp"
#include "grader/os/scratch.hpp"

namespace grader {

/// How much a compiler may use. An honest lab compiles in well under a second (clang) or in seconds
/// (nvcc); a file that unrolls everything may take 20 times that.
struct CompilerLimits {
  std::uint64_t cpu_seconds = 40;
  std::uint64_t address_bytes = 4ull << 30;  ///< 0 = unlimited
  std::uint64_t file_bytes = 256ull << 20;
};

/// The result of one compiler run, or what the cache held of it.
struct CompilerPass {
  std::string bytes, said;
  RunResult run;
  bool ok = false;
};

/// A place in the cache: the path of what a compiler made. What it said lies beside it.
using CacheEntry = std::filesystem::path;

class CompilerRuns {
 public:
  /// `identity` names the compiler in cache keys.
  CompilerRuns(const Workplace& place, std::string identity, const BuildOptions& options,
               CompilerLimits limits = {}, std::vector<std::string> environment = {});

  /// Runs a compiler whose one result is `output` ("-o" is added); served from the cache when
  /// nothing changed. `inputs`: everything that goes in but our own headers and `argv`. `header`: the
  /// path of a precompiled one, or nothing; what is made does not depend on it. `unchanged`: whether
  /// the inputs are still what lies on the disk; if not, the compiler may have read something else,
  /// and the cache does not keep its result.
  CompilerPass run(const std::string& purpose, const std::string& inputs,
                   std::vector<std::string> argv, const std::string& output,
                   const std::string& header = "",
                   const std::function<bool()>& unchanged = {}) const;
  /// The steps of run(), for results of several runs and for checks that need no input files if the
  /// result is there: where it is kept, and what is kept there.
  CacheEntry entry(const std::string& purpose, const std::string& inputs,
                   const std::vector<std::string>& argv) const;
  std::optional<CompilerPass> kept(const CacheEntry& entry) const;
  void keep(const CacheEntry& entry, const CompilerPass& pass) const;
  /// Runs a compiler and keeps what it made.
  CompilerPass run(const CacheEntry& entry, std::vector<std::string> argv,
                   const std::string& output, const std::function<bool()>& unchanged = {}) const;
  /// A compiler's pass over `beginning`, lines that include our own headers and nothing else, as a
  /// precompiled header: its path as compilers see it, or nothing where this compiler makes none. One
  /// serves all files that begin so.
  std::string header(const std::string& purpose, std::vector<std::string> argv,
                     const std::string& beginning) const;
  /// A tool on a file, under the same limits, not cached.
  RunResult tool(std::vector<std::string> argv) const;

  /// Keeps `bytes` under `name` in the private folder; its path as compilers see it.
  std::filesystem::path put(const std::string& name, const std::string& bytes) const;
  /// Keeps a program in the cache, or in the folder of the box, executable for everybody.
  LinkedProgram keep_program(const std::string& bytes) const;
  const std::filesystem::path& cache() const { return cache_; }
  /// Throws the oldest entries away when they take too much, but nothing that another grader may be
  /// about to use.
  void prune() const;

  /// True if the run ended at a limit; fills the headline for `file`.
  bool explain_limit(const CompilerPass& pass, const std::string& file,
                     std::string& headline) const;

 private:
  /// Of what is made of `inputs` by these arguments: 64 hexadecimal digits.
  std::string key(const std::string& purpose, const std::string& inputs,
                  const std::vector<std::string>& argv) const;
  ProcessSpec spec(std::vector<std::string> argv,
                   const std::optional<std::filesystem::path>& out = {}) const;

  const Workplace& place_;
  std::string identity_;
  const BuildOptions& options_;
  CompilerLimits limits_;
  std::vector<std::string> environment_;
  std::filesystem::path cache_;
  Scratch scratch_;  ///< boxed: in/ for what goes in, and a folder for each run's results
};

/// A hash of what runners are linked with, 2 MB: read once, however many labs a process builds.
std::string digest_of_library(const std::filesystem::path& library);

/// A student's file as it was read, and the name under which compilers see it.
struct StudentFile {
  BuildStatus status = BuildStatus::built;  ///< built: it was read
  std::string headline;                     ///< one sentence, when not
  std::string source, shown_path;
  std::string compiled;  ///< path for the compiler, relative to the root
  std::string inputs;    ///< for cache keys
  std::string beside;    ///< what of them is not the source
  /// Where the compiler reads it, if that is where its owner may save it at any moment; "": a copy.
  std::filesystem::path open_to_change;

  /// False once the file was saved again with another content.
  bool unchanged() const;
};

/// Reads `source` (relative to the root when it lies there), one of `lab`'s files. A stranger's
/// file is copied under a fixed name: odd paths and odd neighbours never reach a compiler.
StudentFile read_student_file(const Workplace& place, const Lab& lab,
                              const std::filesystem::path& source, const BuildOptions& options,
                              const CompilerRuns& runs);

}  // namespace grader
