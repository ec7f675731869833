#include "grader/course/grade/submission.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <optional>

#include "grader/errors.hpp"
#include "grader/os/escape.hpp"
#include "grader/os/files.hpp"
#include "grader/os/process.hpp"
#include "grader/os/sha256.hpp"
#include "grader/os/zip.hpp"

namespace grader {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t most_students = 5000, most_names = 2000, source_cap = 1u << 20,
                      archive_cap = 32u << 20;
constexpr std::size_t most_remarks = 8;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string shown(const std::string& name) {
  std::string text = printable(name);
  for (char& c : text)
    if (c == '\n' || c == '\t') c = ' ';
  return text.size() > 80 ? text.substr(0, 77) + "..." : text;
}

/// "lab3" or "lab3_anything" -> 3; -1 otherwise.
int lab_number(const std::string& folder) {
  if (folder.size() < 4 || folder.compare(0, 3, "lab") != 0) return -1;
  std::size_t end = 3;
  int number = 0;
  while (end < folder.size() && end < 7 && std::isdigit(static_cast<unsigned char>(folder[end])))
    number = number * 10 + (folder[end++] - '0');
  return end > 3 && (end == folder.size() || folder[end] == '_') ? number : -1;
}

/// Paths of a submission, and how to get the bytes of one.
struct Tree {
  std::vector<std::string> paths;  ///< of plain files, '/' between parts
  std::vector<std::string> remarks;
  std::function<UntrustedFile(const std::string&)> get;
  std::function<std::string(const std::string&)> why;  ///< why a path has no bytes
};

void walk(const fs::path& root, const fs::path& at, int depth, Tree& tree) {
  const auto entries = list_untrusted(root, at, most_names);
  if (!entries || tree.paths.size() > most_names) {
    tree.remarks.push_back("too many files");
    return;
  }
  for (const auto& entry : *entries) {
    const fs::path path = at == "." ? fs::path(entry.name) : at / entry.name;
    switch (entry.kind) {
      case EntryKind::file:
        tree.paths.push_back(path.string());
        break;
      case EntryKind::folder:
        if (entry.name == ".git") break;
        if (depth > 0) walk(root, path, depth - 1, tree);
        break;
      case EntryKind::symlink:
        tree.remarks.push_back(shown(path.string()) + ": a symbolic link (not followed)");
        break;
      case EntryKind::other:
        tree.remarks.push_back(shown(path.string()) + ": not a regular file");
        break;
    }
  }
}

}  // namespace

Submissions find_submissions(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw UserError("no such folder: " + folder.string(), exit_usage);
  const auto entries = list_untrusted(folder, ".", most_students);
  if (!entries)
    throw UserError(
        folder.string() + " holds more than " + std::to_string(most_students) + " entries",
        exit_usage);
  Submissions found;
  std::map<std::string, std::string> taken;
  for (const auto& entry : *entries) {
    if (!entry.name.empty() && entry.name.front() == '.') continue;
    Submission one;
    one.entry = entry.name;
    one.name = entry.name;
    const bool zip =
        entry.name.size() > 4 && lower(entry.name).compare(entry.name.size() - 4, 4, ".zip") == 0;
    if (entry.kind == EntryKind::file && zip) {
      one.archive = true;
      one.name.resize(one.name.size() - 4);
    } else if (entry.kind != EntryKind::folder) {
      found.ignored.push_back(shown(entry.name) + ": " +
                              (entry.kind == EntryKind::symlink ? "a symbolic link (not followed)"
                                                                : "neither a folder nor a zip"));
      continue;
    }
    const auto [other, fresh] = taken.emplace(lower(one.name), entry.name);
    if (!fresh)
      throw UserError("two submissions for one student: " + shown(other->second) + " and " +
                          shown(entry.name) +
                          " differ in case or kind only. Remove one; nobody was graded",
                      exit_usage);
    one.key = "s" + sha256(one.name).substr(0, 20);
    found.students.push_back(std::move(one));
  }
  if (found.students.empty())
    throw UserError(folder.string() + " holds no submissions (a folder or zip per student)",
                    exit_usage);
  return found;
}

Collected collect(const fs::path& folder, const Submission& submission,
                  const std::vector<Lab>& labs) {
  Collected result;
  Tree tree;
  std::optional<zip::Archive> archive;
  if (submission.archive) {
    const UntrustedFile packed = read_untrusted(folder, submission.entry, archive_cap);
    if (packed.refusal != Refusal::none) {
      result.remarks.push_back("no submission: the archive is " +
                               std::string(to_string(packed.refusal)));
      return result;
    }
    archive =
        zip::read(packed.bytes, [](const std::string& name) { return name.ends_with(".cu"); });
    if (!archive->problem.empty()) {
      result.remarks.push_back("no submission: " + archive->problem);
      return result;
    }
    for (const auto& file : archive->files) {
      // Names from an archive are only ever compared, never opened.
      if (file.name.rfind("__MACOSX/", 0) == 0) continue;
      tree.paths.push_back(file.name);
    }
    tree.get = [&](const std::string& path) {
      UntrustedFile out;
      for (const auto& file : archive->files)
        if (file.name == path) out.bytes = file.bytes;
      return out;
    };
    tree.why = [&](const std::string& path) {
      for (const auto& file : archive->files)
        if (file.name == path) return file.problem;
      return std::string();
    };
  } else {
    const fs::path root = folder / submission.entry;
    walk(root, ".", 3, tree);
    tree.get = [root](const std::string& path) { return read_untrusted(root, path, source_cap); };
    tree.why = [root](const std::string& path) {
      const UntrustedFile file = read_untrusted(root, path, source_cap);
      return file.refusal == Refusal::none ? std::string() : std::string(to_string(file.refusal));
    };
  }

  // "name/lab1/gemm.cu" everywhere: one folder around everything, as code hosts pack it.
  std::string prefix;
  const auto first_slash = tree.paths.empty() ? std::string::npos : tree.paths.front().find('/');
  if (first_slash != std::string::npos &&
      lab_number(tree.paths.front().substr(0, first_slash)) < 0) {
    prefix = tree.paths.front().substr(0, first_slash + 1);
    for (const auto& path : tree.paths)
      if (path.compare(0, prefix.size(), prefix) != 0) prefix.clear();
  }

  unsigned extra = 0;
  std::map<int, std::map<std::string, std::string>> chosen;  // lab -> file -> path
  for (const auto& path : tree.paths) {
    const std::string inner =
        path.compare(0, prefix.size(), prefix) == 0 ? path.substr(prefix.size()) : path;
    const auto slash = inner.find('/');
    const int number = slash == std::string::npos ? -1 : lab_number(inner.substr(0, slash));
    const auto lab =
        std::find_if(labs.begin(), labs.end(), [&](const Lab& one) { return one.id == number; });
    const std::string file = slash == std::string::npos ? "" : inner.substr(slash + 1);
    const auto files = lab == labs.end() ? std::vector<std::string>() : lab->files();
    if (std::find(files.begin(), files.end(), file) == files.end()) {
      if (++extra <= 3) tree.remarks.push_back("extra: " + shown(path));
      continue;
    }
    const auto [taken, first] = chosen[number].emplace(file, path);
    if (!first)
      tree.remarks.push_back("lab" + std::to_string(number) + " is there twice: " +
                             shown(taken->second) + " is taken, " + shown(path) + " is not");
  }
  if (extra > 3) tree.remarks.push_back("and " + std::to_string(extra - 3) + " more extra files");

  std::string all;
  for (const auto& lab : labs)
    for (const auto& file : lab.files()) {
      const auto path = chosen[lab.id].find(file);
      if (path == chosen[lab.id].end()) {
        result.remarks.push_back("missing: lab" + std::to_string(lab.id) + "/" + file);
        continue;
      }
      const std::string why = tree.why(path->second);
      if (!why.empty()) {
        result.remarks.push_back(shown(path->second) + ": " + why);
        continue;
      }
      std::string bytes = tree.get(path->second).bytes;
      all += lab.name + '\0' + file + '\0' + std::to_string(bytes.size()) + '\0' + bytes;
      result.sources[lab.name][file] = std::move(bytes);
    }
  result.remarks.insert(result.remarks.end(), tree.remarks.begin(), tree.remarks.end());
  if (result.sources.empty())
    result.remarks.insert(result.remarks.begin(), "no submission: none of the labs' files found");
  if (result.remarks.size() > most_remarks) {
    const std::size_t more = result.remarks.size() - most_remarks;
    result.remarks.resize(most_remarks);
    result.remarks.push_back("and " + std::to_string(more) + " more remarks");
  }
  result.sha256 = sha256(all);
  return result;
}

}  // namespace grader
