#include <set>

#include <yaml-cpp/yaml.h>

#include "grader/course/intake/kinds.hpp"
#include "grader/errors.hpp"

namespace grader::intake {
namespace {

constexpr const char* list_name = "submission_metadata.yml";

std::string text(const YAML::Node& map, const char* key) {
  const YAML::Node value = map[key];
  return value && value.IsScalar() ? value.Scalar() : "";
}

}  // namespace

std::optional<Found> find_gradescope(const Source& source) {
  if (!source.find(list_name)) return {};
  YAML::Node list;
  const auto refuse = [&](const std::string& why) {
    throw UserError(
        (source.path() / list_name).string() + ": " + why + ". Export the submissions again",
        exit_usage);
  };
  try {
    list = YAML::Load(source.text(list_name));
  } catch (const YAML::Exception& error) {
    refuse(error.what());
  }
  if (!list.IsMap()) refuse("not a list of submissions");
  Found found;
  std::set<std::string> named{list_name};
  for (const auto& item : list) {
    const std::string folder = item.first.IsScalar() ? item.first.Scalar() : "";
    named.insert(folder);
    const YAML::Node people = item.second.IsMap() ? item.second[":submitters"] : YAML::Node();
    if (!people || !people.IsSequence() || people.size() == 0) {
      found.ignored.push_back(shown(folder) + ": " + list_name + " names no submitter");
      continue;
    }
    // A group's submission counts for each of its members.
    for (const auto& person : people) {
      if (!person.IsMap()) continue;
      Submission student;
      student.name = text(person, ":name");
      const std::string sid = text(person, ":sid"), email = text(person, ":email");
      student.id = !sid.empty() ? sid : !email.empty() ? email : student.name;
      if (!email.empty()) student.also.push_back(email);
      if (const Entry* entry = source.find(folder); entry && entry->kind == EntryKind::folder)
        student.parts.push_back({folder, ""});
      else
        student.problems.push_back("no folder " + shown(folder) + " in the export");
      found.students.push_back(std::move(student));
    }
  }
  for (const auto& entry : source.entries())
    if (!named.count(entry.name) && !is_hidden(entry.name))
      found.ignored.push_back(shown(entry.name) + ": not in " + list_name);
  return found;
}

}  // namespace grader::intake
