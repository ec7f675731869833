// The judge: runs the checks of a lab's stages and decides.
//
// Checks are Catch2 cases: one section per stage, one assertion per shape and type through a
// matcher. The verdict is what an in-process listener saw; Catch2's output and exit code are not
// looked at.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grader/judge/seeds.hpp"
#include "grader/judge/session.hpp"
#include "grader/report/model.hpp"

namespace grader {

struct JudgeOptions {
  /// Makes the data of every check; printed, so that a result can be repeated.
  std::uint64_t seed = 0x67656d6d;   // "gemm"
  std::optional<Key> key;            ///< the student's, in `make grade`: used instead of the seed
  unsigned jobs = 2;                 ///< sessions at a time
  std::optional<std::string> stage;  ///< only this one and what it needs
  bool alone = false;                ///< without what it needs
  /// uid and gid of worker and runner where they are not boxed; none: the judge's own.
  std::optional<std::pair<unsigned, unsigned>> user;
  std::optional<BoxSettings> box;  ///< none: worker and runner are not boxed
  std::shared_ptr<Budget> budget;  ///< of the submission; none: only each call is limited
  /// Where stages that passed are kept (grader/judge/kept_stages.hpp); none: all are run.
  std::optional<std::filesystem::path> kept;
  /// Called with "1.2 Lay out the threads" before a stage runs.
  std::function<void(const std::string&)> progress;
};

/// One lab to judge: what lab.toml says, and what the compilers made of the student's file.
struct Assignment {
  const Lab* lab = nullptr;
  const Build* build = nullptr;
  std::string described;  ///< the text of lab.toml, for what is kept
};

/// Runs Catch2 with these arguments. The program passes in its Catch2 (which in v2 is part of a
/// header), so that it is compiled only once.
using CatchSession = int (*)(int argc, const char* const* argv);
void use_catch_session(CatchSession session);

/// Judges all labs in one go. Once per process, since a Catch2 session cannot be repeated. Throws
/// InfraError if a stage was not run.
std::vector<report::LabResult> judge(const std::vector<Assignment>& assignments,
                                     const JudgeOptions& options);

/// Where `TODO(id)` stands in the source: line (0 = nowhere) and its text up to the end of the
/// comment.
struct Todo {
  unsigned line = 0;
  std::string text;
  bool untouched = false;  ///< what follows the comment is what the skeleton has there
  bool stand_in = false;   ///< of that: code, which must be replaced
};
Todo find_todo(const std::string& source, const std::string& id);

/// An answer as it is hashed: upper case, letters and digits only, sorted.
std::string normalised_answer(const std::string& answer);

/// What lab.toml keeps of a normalised answer: sha256("LAB STAGE ANSWER"), hashed 2^16 times more, so
/// that it is in no list on the web and trying all answers takes long.
std::string answer_hash(const std::string& lab, const std::string& stage,
                        const std::string& answer);

}  // namespace grader
