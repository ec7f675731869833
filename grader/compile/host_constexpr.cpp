#include "grader/compile/host_constexpr.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "grader/compile/compiler_output.hpp"
#include "grader/messages.hpp"

namespace grader {
namespace {

bool of_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// "a/b/" of "a/b/c.cu".
std::string folder_of(std::string path) {
  if (path.starts_with("./")) path.erase(0, 2);
  return path.substr(0, path.rfind('/') + 1);
}

/// The word between the first two quotes; "" = there is none.
std::string quoted_name(const std::string& message) {
  const auto begin = message.find('\'');
  const auto end = begin == message.npos ? message.npos : message.find('\'', begin + 1);
  if (end == message.npos) return "";
  std::string name = message.substr(begin + 1, end - begin - 1);
  if (name.starts_with("const ")) name.erase(0, 6);
  return name;
}

/// Constexpr functions of <algorithm> that kernels are likely to call. clang has them for the device as well.
constexpr std::string_view kOfAlgorithm[] = {"std::min", "std::max", "std::clamp"};

bool calls_algorithm(const std::string& line, unsigned column) {
  if (column == 0 || column > line.size()) return false;
  const std::string_view call = std::string_view(line).substr(column - 1);
  return std::any_of(std::begin(kOfAlgorithm), std::end(kOfAlgorithm),
                     [&call](std::string_view name) { return call.starts_with(name); });
}

unsigned column_of(const std::string& line, const std::string& level) {
  const std::string place = line.substr(0, line.find(": " + level + ": "));
  return static_cast<unsigned>(std::strtoul(place.c_str() + place.rfind(':') + 1, nullptr, 10));
}

std::string line_of(const std::string& source, unsigned number) {
  std::istringstream lines(source);
  std::string line;
  for (unsigned i = 0; i < number; ++i)
    if (!std::getline(lines, line)) return "";
  return line;
}

/// Whether what stands at `column` of a line is looked at and not called: an operand of sizeof, decltype
/// or noexcept.
bool unevaluated(const std::string& line, unsigned column) {
  const std::string_view before = std::string_view(line).substr(0, column - 1);
  int closed = 0;
  for (std::size_t i = before.size(); i-- > 0;) {
    if (before[i] == ')') ++closed;
    if (before[i] != '(' || closed-- > 0) continue;
    closed = 0;
    std::size_t end = i;
    while (end > 0 && before[end - 1] == ' ') --end;
    std::size_t begin = end;
    while (begin > 0 && of_a_name(before[begin - 1])) --begin;
    const std::string_view word = before.substr(begin, end - begin);
    if (word == "sizeof" || word == "decltype" || word == "noexcept") return true;
  }
  return false;
}

/// An error of clang's about a call that CUDA does not allow, and where the function stands.
struct Call {
  Diagnostic error;
  unsigned column = 0;
  unsigned declared = 0;    ///< line; 0 = not in the student's files
  bool of_library = false;  ///< it is one of a header, and of the host
};

std::vector<Call> calls_in(const std::string& said, const std::string& student_file) {
  std::vector<Call> calls;
  std::istringstream lines(said);
  bool counts = false;
  for (std::string line; std::getline(lines, line);) {
    const std::optional<Diagnostic> at = parse_diagnostic(line);
    if (!at) continue;
    const auto says = [&](const char* words) {
      return at->message.find(words) != std::string::npos;
    };
    const bool own = folder_of(at->file) == folder_of(student_file);
    if (at->level != "note") {
      // A function for both sides may call it, with a warning of nvcc's.
      counts = own && at->level == "error" &&
               (says("no matching ") || (says("reference to __host__ function") &&
                                         !says("in __host__ __device__ function")));
      if (counts) calls.push_back({*at, column_of(line, "error"), 0});
    } else if (counts && own && calls.back().declared == 0 &&
               (says("call to __host__ function from __") || says("declared here"))) {
      calls.back().declared = at->line;
    } else if (counts && !own && says("call to __host__ function from __")) {
      calls.back().of_library = true;
    }
  }
  return calls;
}

}  // namespace

bool may_have_host_constexpr(const std::string& source) {
  for (const std::string_view name : kOfAlgorithm)
    if (source.find(name) != source.npos) return true;
  static constexpr std::string_view word = "constexpr";
  const std::string_view text = source;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if (at > 0 && of_a_name(text[at - 1])) continue;
    const auto end = text.find_first_of(";={(", at);
    if (end == text.npos || text[end] != '(') continue;
    // From the end of what stands before: __device__ may come first.
    const auto before = text.find_last_of(";{}", at);
    const auto begin = before == text.npos ? 0 : before + 1;
    const std::string_view declared = text.substr(begin, end - begin);
    const std::string_view behind = text.substr(at + word.size(), end - at - word.size());
    const bool condition = behind.find_first_not_of(" \t\r\n") == behind.npos;  // if constexpr (
    if (!condition && declared.find("__device__") == declared.npos) return true;
  }
  return false;
}

std::vector<std::string> host_constexpr_flags() {
  // Templates that nobody instantiates are not looked at, as by nvcc.
  // The macro keeps clang from wrapping <algorithm>, so as to leave out functions for the device; its contents are
  // included as libstdc++ keeps them. Where there is no such file, nothing is said of these functions.
  return {"-fsyntax-only",
          "-fdelayed-template-parsing",
          "-Xclang",
          "-fno-cuda-host-device-constexpr",
          "-D__CLANG_CUDA_WRAPPERS_ALGORITHM",
          "-include",
          "bits/stl_algo.h"};
}

std::vector<std::string> host_constexpr_calls(const std::string& said,
                                              const std::string& student_file,
                                              const std::string& source, std::size_t most) {
  std::vector<std::string> told;
  std::set<std::pair<unsigned, unsigned>> places;  // a template says it again for each of its types
  for (const Call& call : calls_in(said, student_file)) {
    const bool shown = same_file(call.error.file, student_file);
    const std::string line = shown ? line_of(source, call.error.line) : "";
    const bool library = call.of_library && calls_algorithm(line, call.column);
    if (call.declared == 0 && !library) continue;
    if (shown && (call.column == 0 || call.column > line.size() || unevaluated(line, call.column) ||
                  !places.insert({call.error.line, call.column}).second))
      continue;
    if (most-- == 0) break;
    const std::string file = shown ? student_file : call.error.file;
    told.push_back(messages::text("build.host_constexpr",
                                  {{"place", file + ":" + std::to_string(call.error.line) + ":" +
                                                 std::to_string(call.column)},
                                   {"function", quoted_name(call.error.message)}}));
    if (shown) told.insert(told.end(), {line, std::string(call.column - 1, ' ') + "^"});
    told.push_back(library ? messages::text("build.hint.library")
                           : messages::text("build.hint.host_constexpr",
                                            {{"line", std::to_string(call.declared)}}));
  }
  return told;
}

}  // namespace grader
