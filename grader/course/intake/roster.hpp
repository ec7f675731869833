// Who is in the course: a table that some other program wrote, and what it says of a submission.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace grader::intake {

/// A table as spreadsheets and learning platforms export it: UTF-8 with or without a mark, commas,
/// semicolons or tabs, quoted cells with doubled quotes. Rows may be shorter than the first.
std::vector<std::vector<std::string>> parse_csv(std::string_view text);

struct Person {
  std::string id;  ///< of the first column that is one, in the order of `ids` in roster.cpp
  std::string name, section;
  std::vector<std::string> ids;            ///< all by which the person may be known
  std::map<std::string, std::string> row;  ///< as the roster has it, by the column's name
  std::optional<double> late_days;
  unsigned line = 0;
};

/// Canvas's gradebook, Moodle's grading sheet, Gradescope's and Classroom's rosters, or any table
/// with a column of ids. Throws UserError "roster.csv:12: ..." for one without, and for two rows
/// with one id.
std::vector<Person> parse_roster(std::string_view text, const std::string& path_for_messages);

}  // namespace grader::intake
