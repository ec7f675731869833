// One student's submission, wherever it came from: found without trusting a name, a link or an
// archive.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace grader::intake {

/// A folder, an archive or a single file of the source that belongs to a submission.
struct Part {
  std::string entry;  ///< its name in the source; for a repository, its address
  std::string file;   ///< what a single file was called by the student; "" = a folder or archive
};

struct Submission {
  std::string id;       ///< the roster's; without one, what the source calls the student
  std::string name;     ///< "Ann Lee"; "" = not known
  std::string section;  ///< of the roster; "" = none
  bool late = false;    ///< the source says so
  std::optional<std::int64_t> submitted;  ///< seconds since 1970, if the source says when
  std::optional<double> late_days;        ///< the roster says so, and knows better than the source
  std::string key;                ///< safe in paths and command lines, the same for the same id
  std::vector<Part> parts;        ///< empty: in the roster, but nothing was handed in
  std::vector<std::string> also;  ///< further ids that a roster may know the student by
  /// Where `id` or one of `also` is a number of the platform's: the column of its own roster that has
  /// these numbers, since in other columns they may mean somebody else. "" = none is.
  std::string numbered_in;
  std::vector<std::string> problems;          ///< found before any file was read
  std::map<std::string, std::string> roster;  ///< the roster's row, by column
};

/// A file that looks like work and counts nowhere: a person should look at it.
struct Uncounted {
  std::string file;  ///< its path in the submission, as shown()
  std::string why;   ///< what it seems to be: "an empty file"
};

/// What counts of a submission.
struct Collected {
  /// Lab's name -> file ("gemm.cu") -> text.
  std::map<std::string, std::map<std::string, std::string>> sources;
  std::map<std::string, std::string> origins;  ///< "lab1_naive/gemm.cu" -> where it was found
  std::vector<std::string> remarks;            ///< missing, extra and refused files
  std::vector<Uncounted> uncounted;            ///< the first few; remarks mention them, too
  std::string sha256;                          ///< of all sources together
  /// Not empty: the student's files were not reached (a repository that cannot be fetched). Nobody
  /// must lose points by that.
  std::string unreachable;
};

}  // namespace grader::intake
