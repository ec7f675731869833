#include "grader/course/intake/kinds.hpp"

namespace grader::intake {

bool is_hidden(const std::string& name) {
  return name.empty() || name.front() == '.' || name == "__MACOSX" || name == "Thumbs.db" ||
         name == "desktop.ini";
}

Found find_plain(const Source& source) {
  Found found;
  for (const auto& entry : source.entries()) {
    if (is_hidden(entry.name)) continue;
    const bool archive = entry.kind == EntryKind::file && is_archive_name(entry.name);
    if (!archive && entry.kind != EntryKind::folder) {
      found.ignored.push_back(shown(entry.name) + ": " +
                              (entry.kind == EntryKind::symlink ? "a symbolic link (not followed)"
                               : is_foreign_archive(entry.name)
                                   ? foreign_archive
                                   : "neither a folder nor an archive"));
      continue;
    }
    Submission one;
    one.id = archive ? without_archive_ending(entry.name) : entry.name;
    one.parts.push_back({entry.name, ""});
    found.students.push_back(std::move(one));
  }
  return found;
}

}  // namespace grader::intake
