#include "grader/course/intake/roster.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "grader/course/intake/tree.hpp"
#include "grader/errors.hpp"
#include "grader/os/escape.hpp"

namespace grader::intake {
namespace {

/// Columns that hold an id, the best for a table of grades first. In lower case.
constexpr std::array ids{
    "sis login id", "username",        "student id",    "sid",   "sis user id", "id number", "id",
    "identifier",   "github_username", "email address", "email", "user id",     "login"};
constexpr std::array sections{"section", "group", "groups", "sections"};
constexpr std::array late_days{"late days", "late_days", "days late"};

std::string trimmed(std::string text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// The cell below the first of these columns that has something in it.
template <std::size_t n>
std::string first_of(const std::map<std::string, std::string>& cells,
                     const std::array<const char*, n>& columns) {
  for (const char* column : columns)
    if (const auto cell = cells.find(column); cell != cells.end() && !cell->second.empty())
      return cell->second;
  return "";
}

std::string name_in(const std::map<std::string, std::string>& cells) {
  const std::string whole =
      first_of(cells, std::array{"name", "full name", "student", "student name"});
  if (!whole.empty()) return whole;
  const std::string first = first_of(cells, std::array{"first name", "firstname", "given name"}),
                    last = first_of(cells, std::array{"last name", "lastname", "surname"});
  return first.empty() ? last : last.empty() ? first : first + " " + last;
}

/// Nothing if it is no number that means days.
std::optional<double> days_in(const std::string& text) {
  double days = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), days);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && days >= 0 && days <= 1000 ? std::optional(days) : std::nullopt;
}

char separator_of(std::string_view text) {
  const std::string_view head = text.substr(0, text.find('\n'));
  char best = ',';
  for (const char c : {';', '\t'})
    if (std::count(head.begin(), head.end(), c) > std::count(head.begin(), head.end(), best))
      best = c;
  return best;
}

}  // namespace

std::vector<std::vector<std::string>> parse_csv(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const char separator = separator_of(text);
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& cell = row.back();
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      cell += '"';
      ++i;
    } else if (c == '"' && (quoted || cell.empty())) {
      quoted = !quoted;
    } else if (!quoted && c == separator) {
      row.emplace_back();
    } else if (!quoted && c == '\n') {
      if (!cell.empty() && cell.back() == '\r') cell.pop_back();
      rows.push_back(std::exchange(row, std::vector<std::string>(1)));
    } else {
      cell += c;
    }
  }
  if (row.size() > 1 || !row.front().empty()) rows.push_back(std::move(row));
  return rows;
}

std::vector<Person> parse_roster(std::string_view text, const std::string& path) {
  const auto rows = parse_csv(text);
  const auto fail = [&](std::size_t line, const std::string& why) {
    throw UserError(path + ":" + std::to_string(line) + ": " + why, exit_usage);
  };
  if (rows.empty()) fail(1, "the roster is empty");
  const auto& head = rows.front();
  if (std::none_of(head.begin(), head.end(), [](const std::string& column) {
        return std::find(ids.begin(), ids.end(), folded(trimmed(column))) != ids.end();
      }))
    fail(1,
         "no column of ids; one of: ID, Student ID, SID, Username, Email, SIS Login ID, "
         "github_username, Identifier");
  std::vector<Person> people;
  std::map<std::string, unsigned> taken;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    Person person;
    person.line = static_cast<unsigned>(i + 1);
    std::map<std::string, std::string> cells;
    for (std::size_t k = 0; k < std::min(head.size(), rows[i].size()); ++k) {
      const std::string cell = trimmed(rows[i][k]);
      person.row.emplace(trimmed(head[k]), cell);
      cells.emplace(folded(trimmed(head[k])), cell);
    }
    for (const char* column : ids)
      if (const auto cell = cells.find(column); cell != cells.end() && !cell->second.empty())
        person.ids.push_back(cell->second);
    person.name = name_in(cells);
    // Canvas's second row, and its student for trying things out.
    if (person.name == "Points Possible" || person.name == "Student, Test") continue;
    person.section = first_of(cells, sections);
    if (const std::string days = first_of(cells, late_days); !days.empty()) {
      person.late_days = days_in(days);
      if (!person.late_days)
        fail(i + 1, "late days are a number from 0 to 1000, not " + shown(days));
    }
    if (person.ids.empty()) {
      if (person.name.empty()) continue;  // a blank line
      fail(i + 1, shown(person.name) + " has no id");
    }
    person.id = person.ids.front();
    const auto [other, fresh] = taken.emplace(folded(printable(person.id)), person.line);
    if (!fresh)
      fail(i + 1, shown(person.id) + " is in line " + std::to_string(other->second) +
                      " already (case does not count)");
    people.push_back(std::move(person));
  }
  if (people.empty()) fail(1, "nobody is in the roster");
  return people;
}

}  // namespace grader::intake
