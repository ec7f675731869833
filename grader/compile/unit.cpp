#include "grader/compile/unit.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

#include "grader/compile/compiler_output.hpp"

namespace grader {

std::string cpp_type(const std::string& type) {
  return type == "int32"      ? "int"
         : type == "half"     ? "__half"
         : type == "bfloat16" ? "__nv_bfloat16"
                              : type;
}

std::string cpp_result_type(const std::string& type) {
  return type == "half" || type == "bfloat16" ? "float" : cpp_type(type);
}

std::string signature(const std::string& rung, const std::string& type) {
  const std::string t = cpp_type(type), out = cpp_result_type(type);
  const bool one = t == out;
  const std::string in = one ? "MatrixView<const T>" : "MatrixView<const In>";
  return "void " + rung + "(" + in + " a, " + in + " b, MatrixView<" + (one ? "T" : "Out") +
         "> c, cudaStream_t stream) with " + (one ? "T = " + t : "In = " + t + ", Out = " + out);
}

TranslationUnit translation_unit(const Lab& lab, const std::string& file,
                                 const std::string& included, const InstanceFilter& wanted) {
  TranslationUnit unit;
  unit.text = "// Generated from " + lab.name +
              "/lab.toml: the file and its launchers.\n#include \"" + included +
              "\"\n"
              "#include \"common/matrix.hpp\"  // if the file did not\n";
  unsigned line = 4;
  for (const auto& rung : lab.rungs) {
    if (rung.file != file) continue;
    for (const auto& type : rung.types) {
      if (!wanted(rung, type)) continue;
      const std::string in = "MatrixView<const " + cpp_type(type) + ">";
      unit.text += "template void " + rung.name + "(" + in + ", " + in + ", MatrixView<" +
                   cpp_result_type(type) + ">, cudaStream_t);\n";
      unit.instances.push_back({rung.name, type, line++});
    }
  }
  return unit;
}

Mismatches find_mismatches(const std::string& said, const std::string& unit_path,
                           const std::string& student_file, const TranslationUnit& unit) {
  // clang's three, then nvcc's four.
  static const char* const kinds[] = {"explicit instantiation of",
                                      "partial ordering for explicit instantiation of",
                                      "no instance of function template",
                                      "more than one instance of function template",
                                      "declaration is incompatible with",
                                      "is not a class or function template name",
                                      "cannot be instantiated -- no template definition"};
  Mismatches found;
  bool last = false;  // the error before this note is a mismatch
  std::istringstream lines(said);
  for (std::string text; std::getline(lines, text);) {
    const std::optional<Diagnostic> at = parse_diagnostic(text);
    if (!at) continue;
    if (at->level == "note") {
      if (last && same_file(at->file, student_file) && found.list.back().candidate_line == 0)
        found.list.back().candidate_line = at->line;
      continue;
    }
    last = false;
    if (at->level == "warning" || !same_file(at->file, unit_path)) continue;
    const auto instance = std::find_if(unit.instances.begin(), unit.instances.end(),
                                       [&](const Instance& one) { return one.line == at->line; });
    last = instance != unit.instances.end() &&
           std::any_of(std::begin(kinds), std::end(kinds), [&](const char* kind) {
             return at->message.find(kind) != std::string::npos;
           });
    if (last)
      found.list.push_back({*instance, 0});
    else
      found.unclosed = true;
  }
  return found;
}

namespace {

constexpr const char* kBlank = " \t\r";

/// The rest of a line without blanks around it, and without a comment up to its end.
std::string_view bare(std::string_view text) {
  text = text.substr(0, text.find("//"));
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

/// `"common/matrix.hpp"` or `<mma.h>` if that is what a line includes, else nothing.
std::string included_by(std::string_view line) {
  if (!line.starts_with('#')) return {};
  line = bare(line.substr(1));
  constexpr std::string_view word = "include";
  if (!line.starts_with(word)) return {};
  line = bare(line.substr(word.size()));
  const bool named =
      line.size() > 2 && ((line.front() == '"' && line.find('"', 1) + 1 == line.size()) ||
                          (line.front() == '<' && line.find('>') + 1 == line.size()));
  return named ? std::string(line) : std::string();
}

/// What the lines at the beginning of a source include. Ends at the first line that is neither empty,
/// nor a comment of its own, nor an #include by name; and where a line goes on in the next.
std::vector<std::string> leading_includes(const std::string& source) {
  std::vector<std::string> list;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view code = bare(line);
    const std::string included = included_by(code);
    if ((!code.empty() && included.empty()) || line.find('\\') != line.npos) break;
    if (!included.empty()) list.push_back(included);
  }
  return list;
}

}  // namespace

std::string common_beginning(const std::string& source, const std::string& other,
                             const std::function<bool(const std::string& included)>& ours) {
  const std::vector<std::string> here = leading_includes(source), there = leading_includes(other);
  std::string text;
  for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) {
    if (here[i] != there[i] || !ours(here[i])) break;
    text += "#include " + here[i] + '\n';
  }
  return text;
}

unsigned line_of_foreign_letter(const std::string& source) {
  enum class In { code, line_comment, comment, text } in = In::code;
  unsigned line = 1;
  char quote = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char c = source[i], next = i + 1 < source.size() ? source[i + 1] : '\0';
    if (c == '\n') {
      ++line;
      if (in != In::comment) in = In::code;
    } else if (in == In::code) {
      if (static_cast<unsigned char>(c) >= 0x80) return line;
      if (c == '/' && next == '/') in = In::line_comment;
      if (c == '/' && next == '*') in = In::comment, ++i;
      if (c == '"' || c == '\'') in = In::text, quote = c;
    } else if (in == In::comment) {
      if (c == '*' && next == '/') in = In::code, ++i;
    } else if (in == In::text) {
      if (c == '\\') ++i;
      if (c == quote) in = In::code;
    }
  }
  return 0;
}

std::string declaration_at(const std::string& source, unsigned line) {
  std::size_t begin = 0;
  for (unsigned at = 1; at < line; ++at) {
    begin = source.find('\n', begin);
    if (begin == std::string::npos) return {};
    ++begin;
  }
  std::string text;
  for (const char c : source.substr(begin, source.find_first_of("{;", begin) - begin)) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank || (!text.empty() && text.back() != ' ')) text += blank ? ' ' : c;
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text.substr(0, 200);
}

}  // namespace grader
