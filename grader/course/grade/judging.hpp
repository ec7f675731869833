// One submission at a time: a process of its own, in boxes, whose verdicts become a record. Nothing that one student does
// can reach the table or the next student.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/commands/common.hpp"
#include "grader/course/box/kit.hpp"
#include "grader/course/grade/records.hpp"

namespace grader {

struct JudgingOptions {
  std::filesystem::path course;     ///< "" = none
  std::string stage;                ///< this one alone; "" = all
  bool unsafe = false;              ///< without a box
  std::vector<std::string> weaken;  ///< walls of the box to leave out, for tests: see BoxSettings
};

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

  /// A compiler that finds no room says so in words of its own, and nobody must be judged by them:
  /// throws UserError if there is too little.
  void need_room() const;

  /// The record of whose files lie in records.sources(key). With extra seeds a stage passes if it
  /// does on every set of inputs.
  Record judge(const std::string& key);

 private:
  Record judge_once(const std::string& key, const Key& inputs);

  Workplace place_;
  const Records& records_;
  JudgingOptions options_;
  unsigned extra_seeds_;
  Key secret_{};
  std::optional<box::Kit> kit_;
  std::string compiler_, protection_, setting_;
};

/// Of two runs of one submission: each stage's verdict from the run where it is worse.
void take_worse(Record& record, const Record& other);

}  // namespace grader
