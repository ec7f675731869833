#include "grader/course/intake/intake.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "grader/course/intake/kinds.hpp"
#include "grader/course/intake/roster.hpp"
#include "grader/errors.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/sha256.hpp"

namespace grader::intake {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t most_students = 5000;

struct Kind {
  const char* name;
  std::optional<Found> (*find)(const Source&);
};
constexpr Kind kinds[] = {{"gradescope", find_gradescope},
                          {"moodle", find_moodle},
                          {"canvas", find_canvas},
                          {"clones", find_clones}};

std::optional<Found> recognised(const Source& source, std::string& kind) {
  for (const auto& one : kinds)
    if (auto found = one.find(source)) {
      kind = one.name;
      return found;
    }
  return {};
}

/// A download is often one folder in a folder, or in an archive. Whether the outer one is a student
/// shows inside: a student's holds labs.
std::optional<std::string> wrapping(const Source& source) {
  std::optional<std::string> only;
  for (const auto& entry : source.entries()) {
    if (is_hidden(entry.name)) continue;
    if (only || entry.kind != EntryKind::folder) return {};
    only = entry.name;
  }
  return only;
}

bool looks_like_a_student(const Source& source) {
  return std::any_of(source.entries().begin(), source.entries().end(), [](const Entry& entry) {
    const std::string name = folded(entry.name);
    return name.ends_with(".cu") ||
           (name.size() > 3 && name.compare(0, 3, "lab") == 0 && name[3] >= '0' && name[3] <= '9');
  });
}

Found find_students(Source& source, std::string& kind) {
  if (auto found = recognised(source, kind)) return std::move(*found);
  if (const auto folder = wrapping(source)) {
    Source inner = source;
    inner.step_into(*folder);
    auto found = recognised(inner, kind);
    const bool whole_class =
        !found && !fs::is_directory(source.path()) && !looks_like_a_student(inner);
    if (found || whole_class) {
      source = std::move(inner);
      if (found) return std::move(*found);
    }
  }
  kind = "folders";
  return find_plain(source);
}

}  // namespace

Intake::Intake(const fs::path& submissions, const fs::path& roster, fs::path store, Unpack unpack)
    : store_(std::move(store)), unpack_(std::move(unpack)) {
  Found found;
  if (folded(submissions.extension().string()) == ".txt" && fs::is_regular_file(submissions)) {
    kind_ = "repositories";
    found = find_repositories(submissions);
  } else {
    source_.emplace(submissions, unpack_);
    found = find_students(*source_, kind_);
  }
  students_ = std::move(found.students);
  ignored_ = std::move(found.ignored);
  if (students_.empty())
    throw UserError(submissions.string() + " holds no submissions" +
                        (ignored_.empty() ? " (a folder or archive per student)"
                                          : "; first of what is there: " + ignored_.front()),
                    exit_usage);
  if (students_.size() > most_students)
    throw UserError(
        submissions.string() + " holds more than " + std::to_string(most_students) + " submissions",
        exit_usage);
  if (!roster.empty()) apply_roster(roster);
  std::map<std::string, const Submission*> taken;
  for (auto& student : students_) {
    const auto [other, fresh] = taken.emplace(identity(student.id), &student);
    if (!fresh) {
      const auto called = [](const Submission& one) {
        return shown(one.parts.empty() ? one.id : one.parts.front().entry);
      };
      throw UserError("two submissions for one student (" + shown(student.id) +
                          "): " + called(*other->second) + " and " + called(student) +
                          ". Remove one; nobody was graded",
                      exit_usage);
    }
    student.key = "s" + sha256(student.id).substr(0, 20);
  }
  std::sort(students_.begin(), students_.end(),
            [](const Submission& a, const Submission& b) { return a.id < b.id; });
}

void Intake::apply_roster(const fs::path& roster) {
  const auto people = parse_roster(read_file(roster, 16u << 20), roster.string());
  const Directory directory(people);
  std::set<const Person*> handed_in;
  for (auto& student : students_) {
    const Person* const person = directory.find(student);
    if (!person) {
      // A platform's number may be the id of somebody in the roster, who is another.
      if (!student.numbered_in.empty() && directory.has(student.id))
        student.id = (student.name.empty() ? "number" : student.name) + " (" + student.id + ")";
      unknown_.push_back(student.id);
      const std::string nearly = student.numbered_in.empty() ? directory.nearly(student.id) : "";
      std::string why = "not in the roster";
      if (directory.several(student))
        why += " by an id, and several people there have this name";
      else if (!nearly.empty())
        why += "; " + shown(nearly) +
               " is: did a spreadsheet take the zeros from the ids? Format their column as text";
      student.problems.push_back(std::move(why));
      continue;
    }
    handed_in.insert(person);
    student.id = person->id;
    if (!person->name.empty()) student.name = person->name;
    student.section = person->section;
    student.late_days = person->late_days;
    student.roster = person->row;
  }
  for (const auto& person : people) {
    if (handed_in.count(&person)) continue;
    missing_.push_back(person.id);
    Submission nothing;
    nothing.id = person.id;
    nothing.name = person.name;
    nothing.section = person.section;
    nothing.roster = person.row;
    students_.push_back(std::move(nothing));
  }
}

}  // namespace grader::intake
