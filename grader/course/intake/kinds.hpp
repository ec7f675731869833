// How the places where students hand in call what they give out: one function per kind, each in a
// file of its own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/course/intake/source.hpp"
#include "grader/course/intake/submission.hpp"

namespace grader::intake {

struct Found {
  std::vector<Submission> students;
  std::vector<std::string> ignored;  ///< "notes.txt: neither a folder nor an archive"
};

/// Nothing if the source is of another kind. An entry that does not follow the kind's rule is
/// ignored with a reason.

/// "leejane_LATE_123_456_gemm.cu": files of all students side by side; 123 is the user's id, 456 the
/// attachment's. A file that was handed in again is "gemm-1.cu" to Canvas, and gemm.cu to the
/// student.
std::optional<Found> find_canvas(const Source& source);

/// Folders "Ann Lee_123_assignsubmission_file", or the same before each file's name; what was typed
/// into the page is in "..._assignsubmission_onlinetext" and is no file that could be compiled.
std::optional<Found> find_moodle(const Source& source);

/// Folders "submission_123" and submission_metadata.yml, which says whose they are.
std::optional<Found> find_gradescope(const Source& source);

/// A folder of clones, "assignment-account" each, as GitHub Classroom's tools leave them.
std::optional<Found> find_clones(const Source& source);

/// A folder or archive per student, called as the student is.
Found find_plain(const Source& source);

/// A text file with one repository per line, "address" or "id address"; '#' begins a remark. Throws
/// UserError with the line that is neither.
Found find_repositories(const std::filesystem::path& list);

/// The files of a repository's last commit, fetched by git into a bare clone below `store` (nothing
/// is checked out). Throws InfraError with git's last words.
Tree tree_of_repository(const std::string& address, const std::filesystem::path& store,
                        const Unpack& unpack);

/// Entries that a file manager made: not worth a line in any report.
bool is_hidden(const std::string& name);

}  // namespace grader::intake
