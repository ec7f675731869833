// What a student handed in: found without trusting a name, a link or an archive.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/labs/lab.hpp"

namespace grader {

/// One entry of the folder with the submissions.
struct Submission {
  std::string name;  ///< as the folder or archive is called, without ".zip"; may be anything
  std::string key;   ///< safe in paths and command lines, the same for the same name
  std::filesystem::path entry;  ///< relative to the folder
  bool archive = false;
};

struct Submissions {
  std::vector<Submission> students;  ///< by name
  std::vector<std::string> ignored;  ///< "notes.txt: neither a folder nor a zip", for the report
};

/// Throws UserError if two entries would be one student (ann and Ann, ann and ann.zip): nobody is
/// graded then.
Submissions find_submissions(const std::filesystem::path& folder);

struct Collected {
  /// Lab's name -> file ("gemm.cu") -> text.
  std::map<std::string, std::map<std::string, std::string>> sources;
  std::vector<std::string> remarks;  ///< missing, extra and refused files
  std::string sha256;                ///< of all sources together
};

/// Takes the files of each lab from labN/ or labN_*/, at the top or inside one folder that holds
/// everything.
Collected collect(const std::filesystem::path& folder, const Submission& submission,
                  const std::vector<Lab>& labs);

}  // namespace grader
