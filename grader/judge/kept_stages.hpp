// Keeps the results of stages that passed, with everything that they depended on, so that after an edit
// only stages whose launchers or kernels have changed run again.
//
// A check on the simulated GPU is a computation. Its inputs are this program, lab.toml, the seed of the
// data, the host code of the lab's files, and the kernels that were launched. With the same inputs it
// does the same up to its first launch; that kernel is the same, so its results are; and so on to the
// end. A kernel that was not launched may have changed, and so may a launcher that was not called, as long
// as functions of the host share no variables (HostCode).
//
// Only passes are kept: whoever sees a failure wants to see it again, and it may have been due to a
// time limit. Checks that depend on anything else (course.toml, a student's key, some types only) are
// neither kept nor looked up.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "grader/compile/compile.hpp"
#include "grader/compile/kernel_ir.hpp"
#include "grader/report/model.hpp"

namespace grader {

class KeptStages {
 public:
  /// `described`: the text of lab.toml. Entries are files in `folder`.
  KeptStages(std::filesystem::path folder, const Lab& lab, const Build& build,
             const std::string& described, std::uint64_t seed);

  /// The stages whose results still hold, by id.
  std::map<std::string, report::StageResult> find();
  /// After find(), for each PTX text of the build, in order: whether a kept stage has run it, so that a
  /// worker has parsed all of it before.
  std::vector<bool> known() const;

  /// Keeps the result of a stage that passed. `kernels`: the mangled names of those it launched.
  void keep(const report::StageResult& result, const std::set<std::string>& kernels) const;

 private:
  /// A text of PTX of the build.
  struct Module {
    std::string made_of;  ///< names what the module does
    std::vector<unsigned> functions;
    bool whole_file = false;
    bool known = false;
  };
  /// A module that a stage ran, and its kernels that were launched.
  struct Part {
    std::string made_of;
    std::vector<unsigned> functions;
    std::vector<std::string> kernels;
    template <typename Visit>
    void fields(Visit visit) {
      visit(made_of, functions, kernels);
    }
  };
  struct Record {
    std::vector<Part> parts;
    report::StageResult result;
    template <typename Visit>
    void fields(Visit visit) {
      visit(parts, result);
    }
  };
  std::filesystem::path path_of(const std::string& stage) const;
  /// What is known of a stage, the latest first.
  std::vector<Record> read(const std::string& stage) const;
  /// Null: no module does that.
  const Module* module(const std::string& made_of) const;
  /// Whether the same would be launched under these names.
  bool would_run(const Part& part) const;
  /// Puts the result's lines where the functions are now. False: that cannot be told.
  bool put_lines(Record& record) const;

  std::filesystem::path folder_;
  const Lab& lab_;
  std::string inputs_;                       ///< of all stages; "": nothing is kept or found
  std::map<std::string, std::string> host_;  ///< Build::host_of_stage, of every stage
  std::vector<Module> modules_;
  std::map<std::string, std::size_t> module_of_kernel_;
};

}  // namespace grader
