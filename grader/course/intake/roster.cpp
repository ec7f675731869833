#include "grader/course/intake/roster.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <utility>

#include <fmt/ranges.h>

#include "grader/course/intake/canonical.hpp"
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

/// Without what nobody sees: blanks, also those that do not break, and marks that spreadsheets leave.
std::string trimmed(std::string_view text) {
  constexpr std::array<std::string_view, 8> unseen{
      " ", "\t", "\r", "\n", "\xc2\xa0", "\xe2\x80\x8b", "\xe2\x80\xaf", "\xef\xbb\xbf"};
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view one : unseen) {
      if (text.starts_with(one)) text.remove_prefix(one.size()), again = true;
      if (text.ends_with(one)) text.remove_suffix(one.size()), again = true;
    }
  }
  return std::string(text);
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
  const std::string_view head = text.substr(0, text.find_first_of("\r\n"));
  char best = ',';
  for (const char c : {';', '\t'})
    if (std::count(head.begin(), head.end(), c) > std::count(head.begin(), head.end(), best))
      best = c;
  return best;
}

template <std::size_t n>
bool among(const std::array<const char*, n>& columns, const std::string& column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

/// Names are compared with each other, which takes more than linear time.
constexpr std::size_t most_cell_bytes = 2000, most_rows = 20000;

constexpr const char* not_utf8 =
    "not a table in UTF-8; in the spreadsheet, save it as \"CSV UTF-8\"";

using Fail = std::function<void(unsigned line, const std::string& why)>;

/// What would otherwise be read as another table than the author's.
void check_form(std::string_view text, const Table& table, const Fail& fail) {
  if (text.find('\0') != text.npos || text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    fail(1, not_utf8);
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    for (const std::string& cell : table.rows[i])
      if (!is_utf8(cell))
        fail(table.lines[i], not_utf8);
      else if (cell.size() > most_cell_bytes)
        fail(table.lines[i],
             fmt::format("a cell of {} bytes, at most {}; is a quotation mark missing?",
                         cell.size(), most_cell_bytes));
  if (table.rows.size() > most_rows)
    fail(1, fmt::format("{} lines, at most {}", table.rows.size(), most_rows));
  if (table.open_quote != 0)
    fail(table.open_quote, "a quotation mark without a second one; add it, or remove this one");
  if (table.rows.empty())
    fail(
        1,
        "the roster is empty; it needs a line with the names of its columns, one of them ID, and a "
        "line for each student");
  const std::size_t columns = table.rows.front().size();
  for (std::size_t i = 1; i < table.rows.size(); ++i)
    for (std::size_t k = columns; k < table.rows[i].size(); ++k)
      if (!trimmed(table.rows[i][k]).empty())
        fail(table.lines[i],
             fmt::format("{} cells below {} columns; a cell with a comma in it needs "
                         "quotation marks around it",
                         table.rows[i].size(), columns));
}

/// Takes a byte order mark and Excel's line "sep=;" from the front of `text`; `line` is then that of the first row.
char take_preamble(std::string_view& text, unsigned& line) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (!text.starts_with("sep=") || text.size() <= 4) return separator_of(text);
  const char separator = text[4];
  text.remove_prefix(std::min(text.find_first_of("\r\n"), text.size()));
  text.remove_prefix(text.starts_with("\r\n") ? 2 : text.empty() ? 0 : 1);
  ++line;
  return separator;
}

/// Letters and digits of ASCII and all of other alphabets, in words.
std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char c : folded(name))
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80)
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  if (words.back().empty()) words.pop_back();
  return words;
}

/// Not a word of the one name in the other, which may be written in one word, as Canvas does.
bool contradict(const std::string& name, const std::string& other) {
  const std::vector<std::string> here = words_of(name), there = words_of(other);
  const std::string all = fmt::format("{}", fmt::join(there, ""));
  return !here.empty() && !all.empty() &&
         std::none_of(here.begin(), here.end(), [&](const std::string& word) {
           return word.size() > 1 && all.find(word) != all.npos;
         });
}

/// In front of keys that are without marks, so that they are no id's.
constexpr char bare = '\1';

/// As whoever types a list may write it.
std::string without_marks(const std::string& text) {
  return without_accents(identity(text));
}

/// A number as a spreadsheet would have it, which takes ids for numbers; anything else: "".
std::string without_zeros(const std::string& id) {
  if (id.empty() || id.find_first_not_of("0123456789") != id.npos) return "";
  return id.substr(std::min(id.find_first_not_of('0'), id.size() - 1));
}

}  // namespace

std::string identity(const std::string& id) {
  return canonical(printable(id));
}

void Directory::learn(Index& index, const std::string& word, const Person& person) {
  for (const std::string& key : {identity(word), bare + without_marks(word)}) {
    const auto [there, fresh] = index.emplace(key, &person);
    if (!fresh && there->second != &person) there->second = nullptr;
  }
}

const Person* Directory::look_up(const Index& index, const std::string& word) {
  for (const std::string& key : {identity(word), bare + without_marks(word)})
    if (const auto found = index.find(key); found != index.end()) return found->second;
  return nullptr;
}

bool Directory::several(const Submission& student) const {
  const auto shared = [this](const std::string& name) {
    const auto found = names_.find(identity(name));
    return found != names_.end() && !found->second;
  };
  return shared(student.name) || (student.numbered_in.empty() && shared(student.id));
}

std::string Directory::nearly(const std::string& id) const {
  for (const auto& [key, person] : ids_)
    if (person && !without_zeros(id).empty() && without_zeros(key) == without_zeros(identity(id)))
      return person->id;
  return "";
}

Directory::Directory(const std::vector<Person>& people) {
  for (const auto& person : people) {
    for (const auto& id : person.ids) learn(ids_, id, person);
    if (!person.name.empty()) learn(names_, person.name, person);
    std::map<std::string, std::string> cells;
    for (const auto& [column, cell] : person.row) cells.emplace(folded(column), cell);
    const bool gradebook = cells.count("sis login id") + cells.count("sis user id") != 0;
    for (const char* column : {"identifier", "id"})
      if (const auto cell = cells.find(column); cell != cells.end() && !cell->second.empty() &&
                                                (gradebook || column != std::string_view("id")))
        learn(numbers_, column + ('\0' + cell->second), person);
  }
}

const Person* Directory::find(const Submission& student) const {
  std::vector<std::string> known_as{student.id};
  known_as.insert(known_as.end(), student.also.begin(), student.also.end());
  const auto first = [&](const auto& look) -> const Person* {
    for (const auto& id : known_as)
      if (const Person* const person = look(id)) return person;
    return nullptr;
  };
  if (student.numbered_in.empty()) {
    if (const auto* person = first([&](const std::string& id) { return look_up(ids_, id); }))
      return person;
    if (const auto* person = look_up(names_, student.id)) return person;
    return look_up(names_, student.name);
  }
  const auto own = [&](const std::string& id) {
    return look_up(numbers_, student.numbered_in + '\0' + id);
  };
  const auto any = [&](const std::string& id) -> const Person* {
    const Person* const person = look_up(ids_, id);
    return person && !contradict(person->name, student.name) ? person : nullptr;
  };
  if (const Person* const person = first(own)) return person;
  if (const Person* const person = look_up(names_, student.name)) return person;
  return first(any);
}

Table parse_csv(std::string_view text) {
  Table table;
  unsigned line = 1;
  const char separator = take_preamble(text, line);
  unsigned begin = line;
  std::vector<std::string> row(1);
  const auto end_row = [&] {
    table.rows.push_back(std::exchange(row, std::vector<std::string>(1)));
    table.lines.push_back(begin);
  };
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    std::string& cell = row.back();
    const bool line_end = c == '\n' || (c == '\r' && next != '\n');
    if (line_end) ++line;
    if (quoted && c == '"' && next == '"') {
      cell += '"';
      ++i;
    } else if (c == '"' && (quoted || cell.empty())) {
      quoted = !quoted;
      table.open_quote = quoted ? line : 0;
    } else if (!quoted && c == separator) {
      row.emplace_back();
    } else if (!quoted && line_end) {
      end_row();
      begin = line;
    } else if (quoted || c != '\r') {
      cell += c;
    }
  }
  if (row.size() > 1 || !row.front().empty()) end_row();
  return table;
}

std::vector<Person> parse_roster(std::string_view text, const std::string& path) {
  const auto fail = [&](unsigned line, const std::string& why) {
    throw UserError(path + ":" + std::to_string(line) + ": " + why, exit_usage);
  };
  const Table table = parse_csv(text);
  check_form(text, table, fail);
  const auto& head = table.rows.front();
  if (std::none_of(head.begin(), head.end(),
                   [](const std::string& column) { return among(ids, folded(trimmed(column))); }))
    fail(table.lines.front(),
         "no column of ids; one of: ID, Student ID, SID, Username, Email, SIS Login ID, "
         "github_username, Identifier");
  std::vector<Person> people;
  std::map<std::string, unsigned> taken;
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    Person person;
    person.line = table.lines[i];
    std::map<std::string, std::string> cells;
    for (std::size_t k = 0; k < std::min(head.size(), table.rows[i].size()); ++k) {
      const std::string cell = trimmed(table.rows[i][k]), column = folded(trimmed(head[k]));
      person.row.emplace(trimmed(head[k]), cell);
      const auto [known, fresh] = cells.emplace(column, cell);
      // Which of the two is meant decides whose work this is, or what it costs.
      if (!fresh && known->second != cell && (among(ids, column) || among(late_days, column)))
        fail(person.line, fmt::format("two columns {} with {} and {}; keep one of them",
                                      shown(trimmed(head[k])), shown(known->second), shown(cell)));
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
        fail(person.line, "late days are a number from 0 to 1000, not " + shown(days));
    }
    if (person.ids.empty()) {
      if (person.name.empty()) continue;  // a blank line
      fail(person.line, shown(person.name) + " has no id");
    }
    person.id = person.ids.front();
    const auto [other, fresh] = taken.emplace(folded(printable(person.id)), person.line);
    if (!fresh)
      fail(person.line, shown(person.id) + " is in line " + std::to_string(other->second) +
                            " already (case does not count)");
    people.push_back(std::move(person));
  }
  if (people.empty())
    fail(
        1,
        "nobody is in the roster; below the names of the columns it needs a line for each student");
  return people;
}

}  // namespace grader::intake
