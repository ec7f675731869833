#include "grader/diagnose/wording.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/core.h>

namespace grader::diag {

std::string dims(const simgpu::Dim3& d) {
  return d.z == 1 ? fmt::format("{} x {}", d.x, d.y) : fmt::format("{} x {} x {}", d.x, d.y, d.z);
}

std::string coordinates(const simgpu::Dim3& d) {
  return d.z == 0 ? fmt::format("({}, {})", d.x, d.y) : fmt::format("({}, {}, {})", d.x, d.y, d.z);
}

std::string line_of(const simgpu::SourceLine& where) {
  if (where.line == 0) return messages::text("part.no_line");
  const std::string file = header_of(where);
  return messages::text(file.empty() ? "part.line" : "part.line.header",
                        {{"line", where.line}, {"file", file.substr(file.rfind('/') + 1)}});
}

std::string header_of(const simgpu::SourceLine& where) {
  if (!where.file.ends_with(".cuh")) return "";
  // The innermost of them: in a box the project itself is /lab.
  std::size_t begin = 0;
  for (const char* folder : {"/lab", "/common/"})
    if (const auto at = where.file.rfind(folder); at != std::string::npos)
      begin = std::max(begin, at + 1);
  return where.file.substr(begin);
}

std::string element(const std::string& name, std::int64_t row, std::int64_t col) {
  return fmt::format("{}[{}][{}]", name, row, col);
}

std::string from_to(std::int64_t first, std::int64_t last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{}..{}", first, last);
}

std::string from_to(const std::string& what, std::int64_t first, std::int64_t last) {
  return fmt::format("{}{} {}", what, first == last ? "" : "s", from_to(first, last));
}

std::string counted(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string first_of(std::int64_t count, const std::string& what) {
  return messages::text(count == 1 ? "part.first_one" : "part.first_several",
                        {{"count", count}, {"what", what}});
}

std::string last_of(std::int64_t count, const std::string& what) {
  return messages::text(count == 1 ? "part.last_one" : "part.last_several",
                        {{"count", count}, {"what", what}});
}

std::string factors(bool of_a, bool of_b) {
  return of_a && of_b ? messages::text("part.a_and_b") : of_a ? "A" : "B";
}

std::string times_text(std::int64_t count) {
  return messages::text(count == 1   ? "part.once"
                        : count == 2 ? "part.twice"
                                     : "part.times",
                        {{"times", count}});
}

bool is_scratch(const simgpu::Access& at) {
  return at.space == simgpu::MemorySpace::global && at.object.starts_with("scratch ");
}

std::string short_name(const std::string& object) {
  std::size_t end = object.size();
  while (end > 0 && std::isalnum(static_cast<unsigned char>(object[end - 1])) == 0 &&
         object[end - 1] != '_')
    --end;
  std::size_t begin = end;
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(object[begin - 1])) != 0 ||
                       object[begin - 1] == '_'))
    --begin;
  const std::string name = object.substr(begin, end - begin);
  // So the labs call a block's dynamic shared memory: "element 3 of memory" might be anywhere.
  if (name == "memory") return messages::text("part.shared");
  return name.empty() ? object : name;
}

}  // namespace grader::diag
