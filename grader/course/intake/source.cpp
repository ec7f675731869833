#include "grader/course/intake/source.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "grader/errors.hpp"

namespace grader::intake {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t most_entries = 20000;

/// A class in one archive: 5000 students with 40 files each.
constexpr Limits class_limits{200000, 1u << 20, 512u << 20, 32u << 20, 16};

}  // namespace

Source::Source(const fs::path& path, Unpack unpack) : path_(path), unpack_(std::move(unpack)) {
  std::error_code error;
  if (!fs::exists(path, error)) throw UserError("no such folder: " + path.string(), exit_usage);
  if (fs::is_directory(path, error)) {
    list();
    return;
  }
  if (!is_archive_name(path.filename().string()))
    throw UserError(path.string() +
                        " is neither a folder nor an archive (zip, tar, tar.gz, tar.xz, tar.zst) "
                        "nor a list of repositories (.txt)",
                    exit_usage);
  archive_ = true;
  all_ = tree_of_archive(read_file(path, 1u << 30), unpack_, class_limits);
  // A class that is read in part only would be graded in part only.
  if (!all_.remarks.empty() && all_.remarks.front().find("backslashes") == std::string::npos)
    throw UserError(path.string() + ": " + all_.remarks.front(), exit_usage);
  list();
}

void Source::list() {
  entries_.clear();
  if (!archive_) {
    auto found = list_untrusted(path_, at_, most_entries);
    if (!found)
      throw UserError(
          path_.string() + " holds more than " + std::to_string(most_entries) + " entries",
          exit_usage);
    entries_ = std::move(*found);
    return;
  }
  const std::string prefix = at_ == "." ? "" : at_.string() + "/";
  std::set<std::string> seen;
  for (const auto& file : all_.files) {
    if (file.path.compare(0, prefix.size(), prefix) != 0) continue;
    const std::size_t slash = file.path.find('/', prefix.size());
    const std::string name = file.path.substr(prefix.size(), slash - prefix.size());
    if (name.empty() || !seen.insert(name).second) continue;
    entries_.push_back({name, slash != std::string::npos ? EntryKind::folder : EntryKind::file});
  }
}

const Entry* Source::find(const std::string& name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<std::string> Source::inside(const std::string& folder) const {
  std::vector<std::string> names;
  if (!archive_) {
    for (const auto& entry :
         list_untrusted(path_, at_ / folder, most_entries).value_or(std::vector<Entry>{}))
      names.push_back(entry.name);
    return names;
  }
  const std::string prefix = (at_ == "." ? "" : at_.string() + "/") + folder + "/";
  for (const auto& file : all_.files)
    if (file.path.compare(0, prefix.size(), prefix) == 0) {
      const std::size_t slash = file.path.find('/', prefix.size());
      const std::string name = file.path.substr(prefix.size(), slash - prefix.size());
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  return names;
}

Tree Source::tree(const std::string& entry) const {
  const Entry* const found = find(entry);
  Tree tree;
  if (found && found->kind == EntryKind::folder && !archive_) {
    tree = tree_of_folder(path_, at_ / entry);
  } else if (archive_) {
    const std::string self = (at_ == "." ? "" : at_.string() + "/") + entry;
    for (const auto& file : all_.files)
      if (file.path == self)
        tree.files.push_back({entry, file.bytes, file.problem});
      else if (file.path.compare(0, self.size() + 1, self + "/") == 0)
        tree.files.push_back({file.path.substr(self.size() + 1), file.bytes, file.problem});
  } else {
    const Limits limits;
    const bool packed = is_archive_name(entry);
    UntrustedFile file =
        read_untrusted(path_, at_ / entry, packed ? limits.packed_bytes : limits.file_bytes);
    TreeFile one{entry, std::move(file.bytes), {}};
    if (file.refusal != Refusal::none) one.problem = to_string(file.refusal);
    tree.files.push_back(std::move(one));
  }
  open_archives(tree, unpack_);
  return tree;
}

std::string Source::text(const std::string& entry) const {
  if (!archive_) return read_file(path_ / at_ / entry, 1u << 30);
  for (const auto& file : tree(entry).files) return file.bytes;
  return "";
}

void Source::step_into(const std::string& folder) {
  at_ = at_ == "." ? fs::path(folder) : at_ / folder;
  list();
}

}  // namespace grader::intake
