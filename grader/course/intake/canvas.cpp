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

/// "gemm-1.cu" -> "gemm.cu": what Canvas appends to a name that the student used before.
std::string without_copy_number(const std::string& file) {
  static const std::regex numbered(R"(^(.+)-\d{1,3}(\.[A-Za-z0-9.]+)$)");
  return std::regex_replace(file, numbered, "$1$2");
}

}  // namespace

std::optional<Found> find_canvas(const Source& source) {
  Found found;
  std::map<std::string, Submission> by_user;
  std::map<std::string, std::map<std::string, File>> newest;  // user -> file -> the last one
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
    student.name = file->name == "anon" ? "" : file->name;
    student.late = student.late || file->late;
    if (file->typed) {
      student.problems.push_back(shown(entry.name) +
                                 ": typed into the page or an address, not a file");
      continue;
    }
    const std::string plain = without_copy_number(file->file);
    const auto [other, fresh] = newest[file->user].emplace(plain, *file);
    Part part{entry.name, plain};
    if (fresh) {
      student.parts.push_back(std::move(part));
      continue;
    }
    // Attachments are numbered as they come: the greatest is what the student handed in last.
    for (auto& taken : student.parts)
      if (taken.file == plain) {
        if (file->attachment > other->second.attachment) {
          std::swap(taken.entry, part.entry);
          other->second = *file;
        }
        student.problems.push_back(shown(plain) + " was handed in twice: " + shown(taken.entry) +
                                   " is taken, " + shown(part.entry) + " is not");
      }
  }
  if (following <= others) return {};
  for (auto& [user, student] : by_user) found.students.push_back(std::move(student));
  return found;
}

}  // namespace grader::intake
