// The one result of a check. The terminal, JSON and JUnit are views of it; nothing is decided while
// rendering.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grader/errors.hpp"
#include "grader/goals.hpp"

namespace grader::report {

enum class State {
  passed,
  failed,
  not_started,  ///< fails, wrote nothing, and its TODO is still in the file
  locked,       ///< a stage it needs has not passed
  infra,        ///< the grader or the machine failed: no points are lost
  skipped,  ///< needs a device that is not here; locks nothing, costs nothing, counts for nothing
};
/// "passed", "failed", "not_started", "locked", "infra", "skipped"
std::string_view to_string(State state);

struct GoalResult {
  std::string key, what, type;
  Extents at;
  double measured = 0, bound = 0;
  bool met = false, advice = false;
  std::string diagnosis;  ///< id if missed
};

struct StageResult {
  std::string id, title, rung;
  bool bonus = false;
  State state = State::failed;
  std::string verdict;    ///< "ACCEPTED", "WRONG_ANSWER", "PRECISION", "RUNTIME_ERROR", "TIMEOUT",
                          ///< "GOAL_MISSED" ...
  std::string diagnosis;  ///< "K-TILE-MISSING", "" = none
  std::string headline;   ///< one line: the cause
  std::vector<std::string> details;  ///< places, numbers, a small matrix; one line each
  std::string next_step;
  std::string shape, type;  ///< where it was seen: "131×129×127", "float"
  std::string file;         ///< "" = no place is known
  unsigned line = 0;
  std::vector<std::string> notes;  ///< never change the verdict
  std::string printed;             ///< what the student's code wrote to stdout and stderr, capped
  std::vector<GoalResult> goals;
  unsigned assertions = 0, passed_assertions = 0;
  double points = 0, earned = 0;
  double seconds = 0;
};

struct LabResult {
  int id = 0;
  std::string name, title, file;
  std::string build;  ///< "ok", "missing", "empty", "refused", "compile_error", "compile_limit",
                      ///< "link_error"
  std::string build_headline;
  std::vector<std::string> build_details, warnings;
  std::string source_sha256;
  std::vector<StageResult> stages;
  double build_seconds = 0, seconds = 0;
};

struct Report {
  static constexpr int schema = 1;
  std::string device;  ///< "sim"
  std::string
      device_note;       ///< "no CUDA device", "a GPU is there: timing comes with a later version"
  std::string compiler;  ///< "clang 14.0.6"
  std::string protection;  ///< "" on a student's own machine
  std::uint64_t seed = 0;
  std::vector<LabResult> labs;
  std::string next;  ///< the command to type next
  std::vector<std::string> notes;
};

/// Skipped stages are in none of these.
struct Score {
  double earned = 0, possible = 0;  ///< core stages
  double bonus_earned = 0, bonus_possible = 0;
  unsigned passed = 0, stages = 0;
};
Score score(const Report& report);
Score score(const LabResult& lab);

/// 0 only if every stage passed or was skipped; a grader's fault (3) beats a build error (2) beats
/// failures (1).
ExitCode exit_code(const Report& report);

/// The line "next: ..." without its prefix: the first thing not done, else the next lab, else
/// submitting. `all_labs`: every lab there is, by id.
std::string next_command(const Report& report, const std::vector<int>& all_labs);

}  // namespace grader::report
