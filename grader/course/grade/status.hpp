// What has become of a submission, as grades.csv and grades.json spell it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace grader {

enum class GradeStatus {
  pending,        ///< not reached yet
  graded,         ///< every stage has a verdict
  no_submission,  ///< none of the files that count is there
  infra_error,    ///< the machine's or the grader's fault: the next run grades it
};

constexpr std::array<std::string_view, 4> grade_status_names = {"PENDING", "GRADED",
                                                                "NO_SUBMISSION", "INFRA_ERROR"};

inline std::string name_of(GradeStatus status) {
  return std::string(grade_status_names[static_cast<std::size_t>(status)]);
}
/// What is no status is an INFRA_ERROR: it is graded again.
constexpr GradeStatus grade_status(std::string_view name) {
  for (std::size_t i = 0; i < grade_status_names.size(); ++i)
    if (grade_status_names[i] == name) return static_cast<GradeStatus>(i);
  return GradeStatus::infra_error;
}
/// Whether it has a score: none is 0 points.
constexpr bool has_score(GradeStatus status) {
  return status == GradeStatus::graded || status == GradeStatus::no_submission;
}

}  // namespace grader
