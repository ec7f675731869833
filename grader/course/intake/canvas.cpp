#include <algorithm>
#include <map>
#include <regex>

#include "grader/course/intake/kinds.hpp"

namespace grader::intake {
namespace {

/// name[_LATE]_user_attachment_file; an anonymous assignment has anon_id instead. What was typed
/// into the page, or an address, has no attachment: name_user_text.html.
const std::regex attachment(R"(^(.+?)(_LATE)?_(\d+)_(\d+)_(.+)$)");
const std::regex anonymous(R"(^(anon)(_LATE)?_([A-Za-z0-9]+)_(\d+)_(.+)$)");
const std::regex typed(R"(^(.+?)(_LATE)?_(\d+)_(text|link)\.html$)");

struct File {
  std::string name, user, file;
  long attachment = 0;
  bool late = false, typed = false;
};

std::optional<File> parse(const std::string& entry) {
  std::smatch match;
  const auto file = [&](bool is_typed) {
    File one;
    one.name = match[1];
    one.late = match[2].matched;
    one.user = match[3];
    one.file = is_typed ? "" : match[5].str();
    one.attachment = is_typed ? 0 : std::atol(match[4].str().substr(0, 18).c_str());
    one.typed = is_typed;
    return one;
  };
  // What the student chose stands at the end, and may be called like a whole entry of somebody
  // else's: the first numbers count.
  if (std::regex_match(entry, match, anonymous)) return file(false);
  if (std::regex_match(entry, match, attachment)) return file(false);
  if (std::regex_match(entry, match, typed)) return file(true);
  return {};
}

}  // namespace

std::optional<Found> find_canvas(const Source& source) {
  Found found;
  std::map<std::string, Submission> by_user;
  std::map<std::string, std::multimap<long, Part>> parts;  // user -> attachment -> file
  std::size_t following = 0, others = 0;
  for (const auto& entry : source.entries()) {
    if (is_hidden(entry.name)) continue;
    const auto file = entry.kind == EntryKind::file && entry.name.size() < 1000
                          ? parse(entry.name)
                          : std::optional<File>();
    if (!file) {
      ++others;
      found.ignored.push_back(shown(entry.name) + ": not called as Canvas calls submissions");
      continue;
    }
    ++following;
    Submission& student = by_user[file->user];
    student.id = file->user;
    student.numbered_in = "id";
    student.name = file->name == "anon" ? "" : file->name;
    student.late = student.late || file->late;
    if (file->typed) {
      student.problems.push_back(shown(entry.name) +
                                 ": typed into the page or an address, not a file");
      continue;
    }
    parts[file->user].emplace(-file->attachment, Part{entry.name, file->file});
  }
  if (following <= others) return {};
  // Attachments are numbered as they come: the greatest is what the student handed in last, and comes
  // first. Two called gemm.cu may be of two labs: which of them count, their text says.
  for (auto& [user, student] : by_user)
    for (auto& one : parts[user]) student.parts.push_back(std::move(one.second));
  for (auto& [user, student] : by_user) found.students.push_back(std::move(student));
  return found;
}

}  // namespace grader::intake
