#include <map>
#include <regex>

#include "grader/course/intake/kinds.hpp"

namespace grader::intake {
namespace {

/// The first such words count: the file's own name, which the student chose, may hold them again.
const std::regex pattern(R"(^(.+?)_(\d+)_assignsubmission_(file|onlinetext)_?(.*)$)");

}  // namespace

std::optional<Found> find_moodle(const Source& source) {
  Found found;
  std::map<std::string, Submission> by_participant;
  std::size_t following = 0, others = 0;
  for (const auto& entry : source.entries()) {
    if (is_hidden(entry.name)) continue;
    std::smatch match;
    if ((entry.kind != EntryKind::folder && entry.kind != EntryKind::file) ||
        entry.name.size() > 1000 || !std::regex_match(entry.name, match, pattern)) {
      ++others;
      found.ignored.push_back(shown(entry.name) + ": not called as Moodle calls submissions");
      continue;
    }
    ++following;
    // Moodle's own grading sheet calls them "Participant 123"; that is what a roster made of it has.
    Submission& student = by_participant[match[2]];
    student.id = match[2];
    student.also = {"Participant " + match[2].str()};
    student.numbered_in = "identifier";
    student.name = match[1];
    if (match[3] == "onlinetext")
      student.problems.push_back(shown(entry.name) + ": typed into the page, not a file");
    else
      student.parts.push_back({entry.name, entry.kind == EntryKind::file ? match[4].str() : ""});
  }
  if (following <= others) return {};
  for (auto& [participant, student] : by_participant) {
    if (student.name == "Participant") student.name.clear();  // blind marking
    found.students.push_back(std::move(student));
  }
  return found;
}

}  // namespace grader::intake
