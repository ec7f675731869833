// Who is in the course: a table that some other program wrote, and what it says of a submission.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/course/intake/submission.hpp"

namespace grader::intake {

struct Table {
  std::vector<std::vector<std::string>> rows;
  std::vector<unsigned> lines;  ///< where each row begins: a quoted cell may hold line ends
  unsigned open_quote = 0;      ///< line of a quotation mark that nothing closes; 0 = none
};

/// A table as spreadsheets and learning platforms export it: UTF-8 with or without a mark, line ends
/// of any kind, commas, semicolons or tabs (or what a first line "sep=;" says), quoted cells with
/// doubled quotes. Rows may be shorter than the first.
Table parse_csv(std::string_view text);

struct Person {
  std::string id;  ///< of the first column that is one, in the order of `ids` in roster.cpp
  std::string name, section;
  std::vector<std::string> ids;            ///< all by which the person may be known
  std::map<std::string, std::string> row;  ///< as the roster has it, by the column's name
  std::optional<double> late_days;
  unsigned line = 0;
};

/// What must differ between two students' ids.
std::string identity(const std::string& id);

/// Finds people by what a source calls them. A platform's number for somebody may be another's id in
/// other columns than the platform's own: there it counts only if the names do not contradict.
/// A name, which students may choose on some platforms, is never taken for an id.
class Directory {
 public:
  explicit Directory(const std::vector<Person>& people);
  /// Null: nobody, or more than one.
  const Person* find(const Submission& student) const;
  /// Whether it is nobody's because several people have its name.
  bool several(const Submission& student) const;
  /// Whether it is an id of somebody's.
  bool has(const std::string& id) const { return ids_.count(identity(id)) != 0; }
  /// The id that this number might be with zeros in front of either of them; "" if there is none.
  std::string nearly(const std::string& id) const;

 private:
  using Index = std::map<std::string, const Person*>;  ///< null: several have it
  static void learn(Index& index, const std::string& word, const Person& person);
  static const Person* look_up(const Index& index, const std::string& word);

  Index ids_, names_;
  Index numbers_;  ///< by the platform's own column and what stands there
};

/// Canvas's gradebook, Moodle's grading sheet, Gradescope's and Classroom's rosters, or any table
/// with a column of ids. Throws UserError "roster.csv:12: ..." for one without, for two rows with
/// one id, and for what could be read in two ways.
std::vector<Person> parse_roster(std::string_view text, const std::string& path_for_messages);

}  // namespace grader::intake
