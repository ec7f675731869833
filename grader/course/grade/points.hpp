// What verdicts are worth in a course. Records hold verdicts, and points are put into them here: a course.toml with other
// points needs no second grading.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/course/grade/records.hpp"
#include "grader/labs/lab.hpp"

namespace grader {

/// How late a submission is, in days that have begun; none: in time, or nobody says.
struct Lateness {
  std::optional<double> days;
  /// The place where it was handed in calls it late and says no more. Costs nothing: a person
  /// decides.
  bool open = false;
};
Lateness lateness_of(const intake::Submission& student, const Course& course);

/// What can be reached. Speed counts where it is measured.
struct Possible {
  double score = 0, bonus = 0;
};
Possible possible_in(const std::vector<Lab>& labs, const Course& course, bool measured);

struct Standing {
  double score = 0, bonus = 0;  ///< after what lateness costs
  double late_cost = 0;         ///< that, of both together
  Lateness late;
  /// By stage; without a value where nobody may lose points: the machine failed, or a measurement
  /// was inconclusive.
  std::map<std::string, std::optional<double>> stages, speed;
};
/// Sets points and earned of the record's stages, and its "standing" for whoever reads the record
/// alone. `measured`: this class is graded on a GPU.
Standing give_points(Record& record, const std::vector<Lab>& labs, const Course& course,
                     const Lateness& late, bool measured);

/// Points for speed by stage, as JSON has them: null where nobody may lose any.
Record speed_in(const Standing& standing);

}  // namespace grader
