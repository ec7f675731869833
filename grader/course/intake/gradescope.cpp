#include <chrono>
#include <regex>
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

/// "2026-11-30 22:59:00.123456000 Z", or with an offset such as +01:00.
std::optional<std::int64_t> moment_of(const std::string& written) {
  static const std::regex pattern(
      R"(^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.\d+)? ?(Z|UTC|[+-]\d\d:?\d\d)$)");
  std::smatch match;
  if (!std::regex_match(written, match, pattern)) return {};
  const auto number = [&](std::size_t part) { return std::stoi(match[part]); };
  namespace chr = std::chrono;
  const chr::year_month_day day{chr::year(number(1)), chr::month(static_cast<unsigned>(number(2))),
                                chr::day(static_cast<unsigned>(number(3)))};
  if (!day.ok()) return {};
  chr::seconds time = chr::sys_days(day).time_since_epoch() + chr::hours(number(4)) +
                      chr::minutes(number(5)) + chr::seconds(number(6));
  const std::string zone = match[7];
  if (zone[0] == '+' || zone[0] == '-') {
    const chr::minutes offset = chr::hours(std::stoi(zone.substr(1, 2))) +
                                chr::minutes(std::stoi(zone.substr(zone.size() - 2)));
    time -= zone[0] == '+' ? offset : -offset;
  }
  return time.count();
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
      student.submitted = moment_of(text(item.second, ":created_at"));
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
