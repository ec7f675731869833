// What happens in one stage, without Catch2: which failure is shown, and how an outcome is put into
// words.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "grader/judge/lab_bench.hpp"
#include "grader/messages.hpp"

namespace grader {

/// Of notes that differ only in their numbers, as for two element types, keeps the one with the
/// largest.
std::vector<std::string> one_of_each(const std::set<std::string>& notes);

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
template <typename Result>  // report::StageResult or HardwareResult
void describe_infra(Result& result, const std::string& what) {
  result.state = decltype(result.state)::infra;
  result.verdict = Verdict::infra_error;
  result.headline = messages::text("verdict.infra", {{"what", what}});
  result.next_step = messages::text("verdict.infra.next");
}

/// Fills verdict, diagnosis, headline, details, next step and place for a failed case.
/// `file`: the student's, as messages name it. `largest`: a case that may show what small ones do not
/// come to; null: none is asked.
void describe_failure(report::StageResult& stage, const std::string& file, RungCheck& check,
                      const CaseResult& smallest, const CaseResult& chosen,
                      const Case* largest = nullptr);

/// A goal as the report shows it.
report::GoalResult goal_result(const LabBench::GoalRun& run);
/// Headline and details for missed goals, the worst first, and the source line that is worst.
/// `file`: as messages name it; only lines of a file of that name are told.
void describe_missed(report::StageResult& stage, const std::vector<LabBench::GoalRun>& runs,
                     const std::string& file, LaunchBy launch);

/// What is noted where a goal that is advice is missed.
std::string advice_of(const LabBench::GoalRun& run, const std::string& file);

/// Counts per line of the student's file (by its last name), summed over the launches of a call.
std::map<unsigned, simgpu::Counts> lines_of(const Observed& seen, const std::string& file);

/// The same for a report, as the page of `make explain` adds them up.
report::LineCounts counted_lines(const Observed& seen, const std::string& file,
                                 const std::string& type);

/// The line behind a missed goal, in words; line 0 and no text if none stands out. The goal's
/// diagnosis says which counts to look at, and its key whether only loads ("load_...") or stores.
struct WorstLine {
  unsigned line = 0;
  std::string text;
};
WorstLine worst_line(const std::string& diagnosis, const std::map<unsigned, simgpu::Counts>& lines,
                     const std::string& key = "");

}  // namespace grader
