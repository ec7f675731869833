#include "grader/judge/owner.hpp"

#include <cctype>
#include <sstream>
#include <vector>

namespace grader {
namespace {

/// Neither a preprocessor's line nor blank, a comment or an access specifier.
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

}  // namespace

Owner owner_of(const std::string& source, unsigned line) {
  std::vector<std::string> lines;
  std::istringstream text(source);
  for (std::string one; std::getline(text, one);) lines.push_back(std::move(one));
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
