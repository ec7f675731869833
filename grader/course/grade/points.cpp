#include "grader/course/grade/points.hpp"

#include <algorithm>
#include <cmath>

namespace grader {
namespace {

/// As gradebooks take them.
double rounded(double points) {
  return std::round(points * 100) / 100;
}

const Stage* find_stage(const std::vector<Lab>& labs, const std::string& id) {
  for (const auto& lab : labs)
    if (const Stage* stage = lab.stage(id)) return stage;
  return nullptr;
}

/// Of a stage with points for speed.
std::optional<double> speed_earned(const Record& stage, double points) {
  const auto& state = stage.at("state");
  if (state == "infra" || state == "skipped") return {};
  if (state != "passed") return 0;
  const auto gpu = stage.find("gpu");
  if (gpu == stage.end() || !gpu->contains("speed")) return {};
  bool all = !gpu->at("speed").empty();
  for (const auto& goal : gpu->at("speed")) {
    if (goal.at("verdict") == "fail") return 0;
    all = all && goal.at("verdict") == "pass" && goal.at("suspect").empty();
  }
  return all ? std::optional(points) : std::nullopt;
}

/// The part of the points that stays.
double kept(const Lateness& late, const Course& course) {
  if (!late.days) return 1;
  if (course.most_days && *late.days > *course.most_days) return 0;
  const double charged = std::max(0.0, *late.days - course.free_days);
  return std::max(0.0, 1 - course.cost_percent / 100 * charged);
}

Record or_null(const std::optional<double>& value) {
  return value ? Record(*value) : Record(nullptr);
}

}  // namespace

Lateness lateness_of(const intake::Submission& student, const Course& course) {
  Lateness late;
  constexpr double day = 24 * 60 * 60;
  if (student.late_days)
    late.days = *student.late_days;
  else if (student.submitted && course.due)
    late.days =
        std::max(0.0, std::ceil(static_cast<double>(*student.submitted - *course.due) / day));
  else
    late.open = student.late && course.cost_percent > 0;
  return late;
}

Possible possible_in(const std::vector<Lab>& labs, const Course& course, bool measured) {
  Possible all;
  for (const auto& lab : labs)
    for (const auto& stage : lab.stages)
      (stage.kind == Kind::bonus ? all.bonus : all.score) += stage.points;
  if (measured)
    for (const auto& [stage, points] : course.speed_points)
      (course.speed == SpeedCounts::points ? all.score : all.bonus) += points;
  return all;
}

Record speed_in(const Standing& standing) {
  Record speed = Record::object();
  for (const auto& [id, earned] : standing.speed) speed[id] = or_null(earned);
  return speed;
}

Standing give_points(Record& record, const std::vector<Lab>& labs, const Course& course,
                     const Lateness& late, bool measured) {
  Standing standing;
  standing.late = late;
  if (measured)
    for (const auto& [id, points] : course.speed_points)
      standing.speed[id] =
          status_of(record) == GradeStatus::no_submission ? std::optional(0.0) : std::nullopt;
  for (Record* stage : stages_of(record)) {
    const std::string id = stage->at("id");
    const Stage* known = find_stage(labs, id);
    if (!known) continue;
    const double earned = stage->at("state") == "passed" ? known->points : 0;
    (*stage)["points"] = known->points;
    (*stage)["earned"] = earned;
    (known->kind == Kind::bonus ? standing.bonus : standing.score) += earned;
    standing.stages[id] =
        stage->at("state") == "infra" ? std::nullopt : std::optional<double>(earned);
    if (const auto speed = standing.speed.find(id); speed != standing.speed.end())
      speed->second = speed_earned(*stage, course.speed_points.at(id));
  }
  for (const auto& [id, earned] : standing.speed)
    (course.speed == SpeedCounts::points ? standing.score : standing.bonus) += earned.value_or(0);
  const double whole = standing.score + standing.bonus, part = kept(late, course);
  standing.score = rounded(standing.score * part);
  standing.bonus = rounded(standing.bonus * part);
  standing.late_cost = rounded(whole - standing.score - standing.bonus);

  record["standing"] = {{"score", standing.score},         {"bonus", standing.bonus},
                        {"late_days", or_null(late.days)}, {"late_open", late.open},
                        {"late_cost", standing.late_cost}, {"speed", speed_in(standing)}};
  if (const Possible possible = possible_in(labs, course, measured); record.contains("score"))
    record["score"].update({{"earned", standing.score},
                            {"possible", possible.score},
                            {"bonus_earned", standing.bonus},
                            {"bonus_possible", possible.bonus}});
  return standing;
}

}  // namespace grader
