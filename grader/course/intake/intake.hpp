// A class's submissions, from whatever holds them, and the files of one that count.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/course/intake/source.hpp"
#include "grader/course/intake/submission.hpp"
#include "grader/labs/lab.hpp"

namespace grader::intake {

class Intake {
 public:
  /// `submissions`: a folder, an archive, or a list of repositories (.txt), which are kept below
  /// `store`. `roster`: a table (roster.hpp), "" = none. Throws UserError if there is nothing to
  /// grade, if the roster is unusable, and if two submissions would be one student's (Ann and ann,
  /// ann and ann.zip): nobody is graded then. `unpack` reads archives.
  Intake(const std::filesystem::path& submissions, const std::filesystem::path& roster,
         std::filesystem::path store, Unpack unpack);

  const std::string& kind() const { return kind_; }  ///< "canvas", "folders", ...
  /// By id; whoever is in the roster and handed nothing in, too.
  const std::vector<Submission>& students() const { return students_; }
  const std::vector<std::string>& ignored() const { return ignored_; }
  /// Ids that the roster does not know, and of the roster who handed nothing in. Empty without one.
  const std::vector<std::string>& unknown() const { return unknown_; }
  const std::vector<std::string>& missing() const { return missing_; }

  /// The labs' files: labN/ or labN_name/, at any depth (the least deep counts), or by themselves if
  /// their text says of which lab they are. May be called from several threads.
  Collected collect(const Submission& student, const std::vector<Lab>& labs) const;

 private:
  void apply_roster(const std::filesystem::path& roster);

  std::optional<Source> source_;  ///< none for a list of repositories
  std::filesystem::path store_;
  Unpack unpack_;
  std::string kind_;
  std::vector<Submission> students_;
  std::vector<std::string> ignored_, unknown_, missing_;
};

/// Which of the tree's files are the labs'. `collected` has remarks from before.
void choose(const Tree& tree, const std::vector<Lab>& labs, Collected& collected);

}  // namespace grader::intake
