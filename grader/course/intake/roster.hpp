// Who is in the course: a table that some other program wrote, and what it says of a submission.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Canvas's gradebook, Moodle's grading sheet, Gradescope's and Classroom's rosters, or any table
/// with a column of ids. Throws UserError "roster.csv:12: ..." for one without, for two rows with
/// one id, and for what could be read in two ways.
std::vector<Person> parse_roster(std::string_view text, const std::string& path_for_messages);

}  // namespace grader::intake
