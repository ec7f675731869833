#include "grader/course/grade/regrade.hpp"

#include <vector>

#include "grader/course/grade/tables.hpp"

namespace grader {
namespace {

std::string told(const Record& stage) {
  const Record& earned = stage.at("earned");
  return stage.at("state").get<std::string>() + " (" +
         plain(earned.is_number() ? earned.get<double>() : 0) + ")";
}

}  // namespace

std::string keep_beside(const Record& before, const std::string& stage, Record& record) {
  if (before.is_null()) return {};
  if (!stage.empty() && status_of(record) == GradeStatus::graded &&
      status_of(before) == GradeStatus::graded) {
    Record whole = before;
    for (auto& was : stages_of(whole))
      for (const auto& is : stages_of(record))
        if (is->at("id") == stage && was->at("id") == stage) *was = *is;
    record = std::move(whole);
  }
  Record old = {{"status", before.at("status")},
                {"version", before.value("version", "")},
                {"submission_sha256", before.value("submission_sha256", "")},
                {"stages", Record::array()}};
  Record copy = before;
  std::string changes;
  for (const auto& was : stages_of(copy)) {
    Record one;
    for (const char* key : {"id", "state", "verdict", "diagnosis", "headline", "earned"})
      one[key] = was->at(key);
    for (const auto& is : stages_of(record))
      if (is->at("id") == one.at("id") &&
          (is->at("state") != one.at("state") || is->at("earned") != one.at("earned")))
        changes += one.at("id").get<std::string>() + ": " + told(one) + " -> " + told(*is) + "\n";
    old["stages"].push_back(std::move(one));
  }
  record["previous"] = before.value("previous", Record::array());
  record["previous"].push_back(std::move(old));
  return changes.empty() ? "the same verdicts as before\n" : changes;
}

}  // namespace grader
