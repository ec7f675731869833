// Files as a grader must treat them: a student's path may be a link, a pipe, a device or enormous,
// and a result that is half written must never be taken for a result.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace grader {

/// Whole file, at most `cap` bytes. Throws UserError naming the path.
std::string read_file(const std::filesystem::path& path, std::size_t cap = 64u << 20);

/// Writes beside `path`, fsyncs, renames over it, fsyncs the folder: after a crash the file is old
/// or new, never half. Throws UserError (an unwritable folder is named with the reason).
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// Creates the folder and its parents. Throws UserError with the reason.
void make_folder(const std::filesystem::path& path);

enum class Refusal {
  none,
  missing,
  symlink,
  not_regular,
  hard_link,
  too_large,
  unreadable,
  bad_name
};

/// What the refusal means, for a report.
std::string_view to_string(Refusal refusal);

struct UntrustedFile {
  Refusal refusal = Refusal::none;
  std::string bytes;  ///< empty unless refusal is none
};

/// Reads root/relative without ever following a symbolic link below root, without blocking on a
/// pipe or device, and refuses hard links (another student's file under this name) and files above
/// `cap` bytes.
UntrustedFile read_untrusted(const std::filesystem::path& root,
                             const std::filesystem::path& relative, std::size_t cap);

enum class EntryKind { file, folder, symlink, other };
struct Entry {
  std::string name;
  EntryKind kind = EntryKind::other;
};

/// Names in root/relative, sorted; nothing if there are more than `max_entries`. No symbolic link
/// below root is followed: links are listed as such, and a folder that can only be reached through
/// one (or not at all) has no entries.
std::optional<std::vector<Entry>> list_untrusted(const std::filesystem::path& root,
                                                 const std::filesystem::path& relative,
                                                 std::size_t max_entries);

}  // namespace grader
