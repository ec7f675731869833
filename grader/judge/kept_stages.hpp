// Stages that passed in an earlier check, and all that this depended on: so that after an edit those
// are run whose launchers or kernels have changed, and no others.
//
// A check on the simulated GPU is a computation. What goes in: this program, lab.toml, the seed of the
// data, the host code of the lab's files, and the kernels that were launched. What is the same in
// another check does the same up to its first launch; that kernel is the same, so its results are; and
// so on to the end. A kernel that was not launched may have changed.
//
// Only passes are kept: of a failure somebody wants to know more, and a limit of time may have been in
// play. What may depend on anything else (course.toml, a student's key, a part of the types) is not
// looked up.
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

  /// The stages whose results still hold, by id, as they are in a report.
  std::map<std::string, report::StageResult> find();
  /// After find(), by text of PTX, of all units in turn: a stage that is kept has run it, so a worker
  /// has taken it before.
  std::vector<bool> known() const;

  /// Keeps what a stage has found. `kernels`: the names of those that were launched.
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
  std::string inputs_;  ///< all but the kernels; "": nothing is kept or found
  std::vector<Module> modules_;
  std::map<std::string, std::size_t> module_of_kernel_;
};

}  // namespace grader
