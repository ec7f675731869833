// One submission at a time: a process of its own, in boxes, whose verdicts become a record. Nothing that one student does
// can reach the table or the next student.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/commands/common.hpp"
#include "grader/course/box/kit.hpp"
#include "grader/course/grade/gpus.hpp"
#include "grader/course/grade/records.hpp"

namespace grader {

struct JudgingOptions {
  std::filesystem::path course;     ///< "" = none
  std::string stage;                ///< this one alone; "" = all
  bool unsafe = false;              ///< without a box
  bool on_gpu = false;              ///< on a real GPU as well
  std::vector<std::string> weaken;  ///< walls of the box to leave out, for tests: see BoxSettings
};

/// What one run of the grader may take. Compiling and checking every lab takes seconds; an endless
/// kernel in each stage, minutes. With a real GPU one waits for one's turn there, and what is
/// measured is repeated until it is sure.
constexpr std::chrono::minutes longest_judgement(bool on_gpu) {
  return std::chrono::minutes(on_gpu ? 60 : 20);
}

class Judging {
 public:
  /// Tries the compiler and a box of each kind: one clear error now instead of one per student.
  Judging(const Workplace& place, const std::vector<Lab>& labs, const Course& course,
          const Records& records, JudgingOptions options);

  const std::string& protection() const { return protection_; }
  const std::string& compiler() const { return compiler_; }
  /// Everything but the submission that decides a verdict: another value means grading again. What
  /// a verdict is worth is no part of it (points.hpp).
  const std::string& setting() const { return setting_; }

  /// Throws UserError if a disk is nearly full: what a compiler says about that must not become
  /// anybody's verdict.
  void need_room() const;

  /// Judges the files in records.sources(key). With extra seeds a stage must pass on every set of
  /// inputs. Never throws: a failure is an INFRA_ERROR record.
  Record judge(const std::string& key);

  /// Finds the GPUs of this machine. Call it before the first judge() if options.on_gpu, but not where
  /// other machines will do the grading. Throws UserError with what is missing.
  void find_gpus();
  /// Null: none is used.
  const Gpus* gpus() const { return gpus_ ? &*gpus_ : nullptr; }
  /// Measures once more what is undecided in the record of the files in records.sources(key), on another
  /// GPU if there is one. False if nothing was measured.
  bool measure_again(const std::string& key, const std::vector<Lab>& labs, Record& record);

 private:
  /// One run of the grader.
  struct Trial {
    Key inputs{};
    std::string stage;   ///< this one alone; "" = all
    std::string not_on;  ///< a GPU, see Gpus::Lease
    bool on_gpu = false;
  };
  Record judge_once(const std::string& key, const Trial& trial);

  Workplace place_;
  const Records& records_;
  JudgingOptions options_;
  unsigned extra_seeds_;
  Key secret_{};
  std::optional<box::Kit> kit_;
  std::optional<Gpus> gpus_;
  std::string compiler_, protection_, setting_;
};

/// Of two runs of one submission: each stage's verdict from the run where it is worse.
void take_worse(Record& record, const Record& other);

}  // namespace grader
