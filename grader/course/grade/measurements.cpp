#include "grader/course/grade/measurements.hpp"

#include <algorithm>

#include "grader/messages.hpp"

namespace grader {
namespace {

using messages::text;

bool has_speed_goal(const std::vector<Lab>& labs, const std::string& stage) {
  return std::any_of(labs.begin(), labs.end(), [&](const Lab& lab) {
    return std::any_of(lab.speed.begin(), lab.speed.end(),
                       [&](const SpeedGoal& goal) { return goal.stage == stage; });
  });
}

/// Of a stage's speed; "" = decided.
std::string why_open(const Record& gpu, bool expected) {
  const Record speeds = gpu.value("speed", Record::array());
  for (const auto& speed : speeds) {
    if (speed.at("verdict") == "inconclusive")
      return speed.value("reason", text("grade.speed_open"));
    if (!speed.at("suspect").empty()) return speed.at("suspect").front();
  }
  // Nobody measured: our own worker broke down. A failed stage is never measured.
  return expected && speeds.empty() && gpu.at("state") == "passed"
             ? text("grade.speed_not_measured")
             : std::string();
}

}  // namespace

std::vector<Undecided> undecided(const Record& record, const std::vector<Lab>& labs) {
  std::vector<Undecided> all;
  if (record.is_null() || status_of(record) != GradeStatus::graded) return all;
  for (const Record* stage : stages_of(record)) {
    if (stage->at("state") != "passed") continue;
    const std::string id = stage->at("id");
    const auto gpu = stage->find("gpu");
    if (gpu == stage->end()) {
      all.push_back({id, text("grade.speed_not_measured"), ""});
      continue;
    }
    const std::string why = gpu->at("state") == "infra" ? gpu->at("headline").get<std::string>()
                                                        : why_open(*gpu, has_speed_goal(labs, id));
    if (!why.empty()) all.push_back({id, why, gpu->value("uuid", "")});
  }
  return all;
}

void name_gpu(Record& record) {
  const auto used = record.find("gpu");
  if (used == record.end() || !used->is_object()) return;
  for (Record* stage : stages_of(record))
    if (const auto gpu = stage->find("gpu"); gpu != stage->end()) (*gpu)["uuid"] = used->at("uuid");
}

void take_measurement(Record& record, const Record& later, const std::string& stage) {
  for (const Record* seen : stages_of(later))
    for (Record* kept : stages_of(record)) {
      if (seen->at("id") != stage || kept->at("id") != stage || !seen->contains("gpu")) continue;
      const Record before = kept->value("gpu", Record::object());
      (*kept)["gpu"] = seen->at("gpu");
      (*kept)["gpu"]["attempts"] = before.value("attempts", before.empty() ? 0 : 1) + 1;
    }
}

}  // namespace grader
