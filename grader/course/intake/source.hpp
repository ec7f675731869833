// What the instructor gives: a folder, or one archive with everything, or a list of repositories.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/course/intake/tree.hpp"
#include "grader/os/files.hpp"

namespace grader::intake {

class Source {
 public:
  /// A folder, or an archive that holds the whole class and is unpacked into memory. Throws
  /// UserError saying what is wrong with `path`.
  Source(const std::filesystem::path& path, Unpack unpack);

  const std::filesystem::path& path() const { return path_; }
  /// What lies at the top, by name.
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(const std::string& name) const;
  /// Names of what lies in a folder at the top; empty for files.
  std::vector<std::string> inside(const std::string& folder) const;

  /// The files of an entry: of a folder all below it, of an archive what it holds, else the one
  /// file. Archives in it are opened.
  Tree tree(const std::string& entry) const;
  /// A file of the source itself, not a student's: Gradescope's list.
  std::string text(const std::string& entry) const;

  /// Goes down into the only folder that there is, if there is nothing else.
  void step_into(const std::string& folder);

 private:
  void list();

  std::filesystem::path path_, at_ = ".";
  Unpack unpack_;
  bool archive_ = false;
  Tree all_;  ///< of an archive
  std::vector<Entry> entries_;
};

}  // namespace grader::intake
