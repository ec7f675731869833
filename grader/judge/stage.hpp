// What happens in one stage, without Catch2: which calls are made, and how an outcome is put into
// words.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grader/judge/judge.hpp"
#include "grader/judge/rung_check.hpp"
#include "grader/os/pool.hpp"

namespace grader {

/// The shared access with the most wavefronts per request.
struct ConflictDegree {
  long wavefronts = 0;  ///< per request, rounded
  unsigned line = 0;
};

/// All rungs of one lab under test, created as they are needed and kept for later stages.
class LabBench {
 public:
  /// `pool` starts the sessions, so it must outlive this.
  LabBench(const Lab& lab, const Build& build, const JudgeOptions& options, Pool& pool);

  /// The check of one rung in one type; null if the launcher is not defined.
  RungCheck* check(const std::string& rung, const std::string& type);
  const EntryPoint* entry(const std::string& name) const;
  /// The session of a type, shared by all rungs, or boxed of this rung alone; and the one that is
  /// always there.
  Session& session(const std::string& rung, const std::string& type);
  Session& first_session();
  /// The first session's load(); what its worker takes, no other has to read in full.
  std::vector<SourceUnit> load();
  /// A stranger's processes end with the stage: nothing that they remember serves the next.
  void end_stage();

  /// Results by type, one per case in order, each type in its own session and types side by side.
  /// A type stops at the first failure that can be explained; null stands for a case that is judged
  /// in another type only.
  std::map<std::string, std::vector<const CaseResult*>> run_cases(const Stage& stage,
                                                                  const std::vector<Case>& cases);
  /// Counts for every (type, extents) of the stage's goals.
  struct GoalRun {
    const Goal* goal = nullptr;
    std::string type;
    Extents at;
    const Measured* measured = nullptr;
  };
  std::vector<GoalRun> run_goals(const Stage& stage);

  /// What a prediction is compared with; empty if the kernel cannot be measured.
  std::optional<ConflictDegree> measure_answer(const Answer& answer);

  const Lab& lab() const { return lab_; }
  /// The file that a rung's launcher is in.
  const SourceUnit& unit(const std::string& rung) const;

 private:
  const Lab& lab_;
  const Build& build_;
  const JudgeOptions& options_;
  Pool& pool_;
  SessionConfig config_;
  bool fresh_ = false;  ///< processes of each rung's own, for one stage
  std::map<std::string, std::unique_ptr<Session>> sessions_;  ///< by type, boxed by entry
  std::map<std::string, std::unique_ptr<RungCheck>> checks_;  ///< by entry
};

/// Of notes that differ in numbers alone, as of two element types, the one with the largest.
std::vector<std::string> one_of_each(const std::set<std::string>& notes);

/// A failure large enough that its diagnosis says more than "everything is wrong".
bool telling(const Case& shape);

/// Which of several failures is shown.
class FailurePick {
 public:
  void see(const CaseResult& seen);
  const CaseResult* smallest() const { return smallest_; }
  /// The first that is big enough to be explained, or that needs no explanation.
  const CaseResult* chosen() const { return chosen_; }
  /// Nothing was written anywhere, and nothing else went wrong: the code is not there yet.
  bool untouched() const { return any_elements_ && untouched_; }
  /// Every failing call read what nobody wrote: a step that is missing between two kernels.
  bool unfilled() const { return chosen_ && unfilled_; }

 private:
  const CaseResult *smallest_ = nullptr, *chosen_ = nullptr;
  bool untouched_ = true, unfilled_ = true, any_elements_ = false;
};

/// The grader or the machine failed: no points are lost.
void describe_infra(report::StageResult& stage, const std::string& what);

/// Fills verdict, diagnosis, headline, details, next step and place for a failed case.
/// `file`: the student's, as messages name it.
void describe_failure(report::StageResult& stage, const std::string& file, RungCheck& check,
                      const CaseResult& smallest, const CaseResult& chosen);

/// A goal as the report shows it.
report::GoalResult goal_result(const LabBench::GoalRun& run);
/// Headline and details for missed goals, the worst first, and the source line that is worst.
/// `file`: as messages name it; only lines of a file of that name are told.
void describe_missed(report::StageResult& stage, const std::vector<LabBench::GoalRun>& runs,
                     const std::string& file);

/// What is noted where a goal that is advice is missed.
std::string advice_of(const LabBench::GoalRun& run, const std::string& file);

/// Counts per line of the student's file (by its last name), summed over the launches of a call.
std::map<unsigned, simgpu::Counts> lines_of(const Observed& seen, const std::string& file);

/// The same for a report, as the page of `make explain` adds them up.
report::LineCounts counted_lines(const Observed& seen, const std::string& file,
                                 const std::string& type);

/// The line behind a missed goal, in words; line 0 and no text if none stands out. Which counts are
/// looked at follows from the goal's diagnosis, and from its key: "load_..." and "store_..." are
/// about these alone.
struct WorstLine {
  unsigned line = 0;
  std::string text;
};
WorstLine worst_line(const std::string& diagnosis, const std::map<unsigned, simgpu::Counts>& lines,
                     const std::string& key = "");

}  // namespace grader
