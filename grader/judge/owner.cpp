#include "grader/judge/owner.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

namespace grader {
namespace {

/// A brace in the first column, which ends a function.
bool ends_block(const std::string& line) {
  return !line.empty() && line.front() == '}';
}

std::string without_comment(const std::string& line) {
  return line.substr(0, line.find("//"));
}

/// The name in front of the last parameter list of a function's head.
std::string name_in(const std::string& head) {
  int depth = 0;
  std::string name;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == ')') --depth;
    if (head[i] != '(' || depth++ > 0) continue;
    std::size_t begin = i;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(head[begin - 1])) != 0 ||
                         head[begin - 1] == '_'))
      --begin;
    const std::string found = head.substr(begin, i - begin);
    if (!found.empty() && found.rfind("__", 0) != 0 && found != "alignas" && found != "decltype")
      name = found;
  }
  return name;
}

bool in_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Where a name stands as a whole word at or behind `from`; npos: nowhere.
std::size_t find_word(const std::string& text, const std::string& word, std::size_t from = 0) {
  for (std::size_t at = text.find(word, from); at != std::string::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !in_a_name(text[at - 1])) && (end == text.size() || !in_a_name(text[end])))
      return at;
  }
  return std::string::npos;
}

/// A call stands inside a body, which is indented; a function's head says what runs it.
bool calls(const std::string& line, const std::string& function) {
  const std::string code = without_comment(line);
  if (code.empty() || code.front() != ' ' || code.find("__device__") != std::string::npos)
    return false;
  for (std::size_t at = find_word(code, function); at != std::string::npos;
       at = find_word(code, function, at + 1)) {
    const std::size_t end = at + function.size();
    if (end < code.size() && (code[end] == '(' || code[end] == '<')) return true;
  }
  return false;
}

/// The arrays and matrices that a message names: in front of a bracket, or behind "of".
std::vector<std::string> objects_in(const std::string& headline) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < headline.size(); ++i) {
    if (!in_a_name(headline[i]) || (i > 0 && in_a_name(headline[i - 1]))) continue;
    std::size_t end = i;
    while (end < headline.size() && in_a_name(headline[end])) ++end;
    const bool indexed = end < headline.size() && headline[end] == '[';
    const bool part = i >= 4 && headline.compare(i - 4, 4, " of ") == 0;
    if (!indexed && !part) continue;
    std::string name = headline.substr(i, end - i);
    if (name == "A" || name == "B" || name == "C")  // views of them have small letters
      name.front() = static_cast<char>(name.front() - 'A' + 'a');
    names.push_back(std::move(name));
  }
  return names;
}

/// The arrays that the function around a line declares __shared__, with an extent. A parameter may
/// have the name of another function's array.
std::vector<std::string> shared_arrays(const std::string& source, unsigned of_line) {
  std::vector<std::string> names;
  std::istringstream text(source);
  unsigned number = 0;
  for (std::string line; std::getline(text, line);) {
    if (++number > of_line) break;
    if (ends_block(line)) names.clear();
    const std::string code = without_comment(line);
    const std::size_t from = find_word(code, "__shared__");
    if (from == std::string::npos) continue;
    for (std::size_t i = from; i < code.size(); ++i) {
      if (code[i] != '[' || i == from || !in_a_name(code[i - 1])) continue;
      std::size_t begin = i;
      while (begin > from && in_a_name(code[begin - 1])) --begin;
      names.push_back(code.substr(begin, i - begin));
    }
  }
  return names;
}

std::vector<std::string> lines_of(const std::string& source) {
  std::vector<std::string> lines;
  std::istringstream text(source);
  for (std::string one; std::getline(text, one);) lines.push_back(std::move(one));
  return lines;
}

/// The member functions that a TODO is in: indented by two, as the brace that ends them.
std::vector<Member> members_with_todo(const std::vector<std::string>& lines) {
  std::vector<Member> members;
  std::string function;
  for (const std::string& line : lines) {
    const std::string code = without_comment(line);
    if (code.rfind("  __device__ ", 0) == 0 && code.find('{') != std::string::npos)
      function = name_in(code.substr(0, code.find('{')));
    else if (ends_block(code) || code.rfind("  }", 0) == 0)
      function.clear();
    const std::size_t at = line.find("TODO("), close = line.find(')', at);
    if (!function.empty() && at != std::string::npos && close != std::string::npos)
      members.push_back({function, line.substr(at + 5, close - at - 5)});
  }
  return members;
}

std::string line_at(const std::string& source, unsigned line) {
  std::istringstream text(source);
  std::string one;
  for (unsigned at = 0; at < line; ++at)
    if (!std::getline(text, one)) return "";
  return without_comment(one);
}

}  // namespace

Overrun overrun_at(const std::string& source, unsigned line, const std::string& headline) {
  const std::vector<std::string> arrays = shared_arrays(source, line);
  const std::string code = line_at(source, line);
  const auto named = [&code](const std::string& array) {
    return find_word(code, array) != std::string::npos;
  };
  for (const std::string& met : objects_in(headline)) {
    if (std::find(arrays.begin(), arrays.end(), met) == arrays.end() || named(met)) continue;
    const auto meant = std::find_if(arrays.begin(), arrays.end(), named);
    if (meant != arrays.end()) return {*meant, met};
  }
  return {};
}

std::vector<unsigned> calls_of(const std::string& source, const std::string& function,
                               const std::string& headline) {
  std::vector<unsigned> all, of_object;
  const std::vector<std::string> objects = objects_in(headline);
  std::istringstream text(source);
  unsigned number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (function.empty() || !calls(line, function)) continue;
    all.push_back(number);
    for (const std::string& object : objects)
      if (find_word(without_comment(line), object) != std::string::npos) {
        of_object.push_back(number);
        break;
      }
  }
  return of_object.empty() ? all : of_object;
}

bool reached_from(const std::string& source, unsigned line, const std::string& stage) {
  std::vector<std::string> seen;
  std::vector<unsigned> open = {line};
  while (!open.empty()) {
    const Owner owner = owner_of(source, open.back());
    open.pop_back();
    if (owner.stage == stage) return true;
    if (owner.function.empty() || std::find(seen.begin(), seen.end(), owner.function) != seen.end())
      continue;
    seen.push_back(owner.function);
    const std::vector<unsigned> above = calls_of(source, owner.function, "");
    open.insert(open.end(), above.begin(), above.end());
  }
  return false;
}

std::vector<Member> members_called_by(const std::string& source, unsigned line) {
  const std::vector<std::string> lines = lines_of(source);
  std::vector<Member> found;
  if (line == 0 || line > lines.size()) return found;
  std::size_t begin = line - 1, end = line - 1;
  while (begin > 0 && !ends_block(lines[begin - 1])) --begin;
  while (end < lines.size() && !ends_block(lines[end])) ++end;
  for (const Member& member : members_with_todo(lines))
    for (std::size_t i = begin; i < end; ++i)
      if (without_comment(lines[i]).find("." + member.function + "(") != std::string::npos) {
        found.push_back(member);
        break;
      }
  return found;
}

Owner owner_of(const std::string& source, unsigned line) {
  const std::vector<std::string> lines = lines_of(source);
  Owner owner;
  if (line == 0 || line > lines.size()) return owner;
  std::size_t begin = line - 1, end = line - 1;
  while (begin > 0 && !ends_block(lines[begin - 1])) --begin;
  while (end < lines.size() && !ends_block(lines[end])) ++end;

  // What stands before the function itself, constants for example, has no brace at a line's end.
  std::string head;
  for (std::size_t i = begin; i < line; ++i) {
    const std::string code = without_comment(lines[i]);
    if (code.empty() || code.front() == '#' || code.find("static_assert") != std::string::npos)
      continue;
    head += code + "\n";
    if (code.find('{') != std::string::npos && code.find(';') == std::string::npos) break;
    if (code.find(';') != std::string::npos) head.clear();
  }
  const std::size_t brace = head.find('{');
  if (brace != std::string::npos) {
    head.resize(brace);
    owner.function = name_in(head);
    owner.kernel = head.find("__global__") != std::string::npos;
  }
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t at = lines[i].find("TODO(");
    if (at == std::string::npos || (!owner.stage.empty() && i >= line)) continue;
    const std::size_t close = lines[i].find(')', at);
    if (close != std::string::npos) owner.stage = lines[i].substr(at + 5, close - at - 5);
  }
  return owner;
}

}  // namespace grader
