#include "grader/compile/unit.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "grader/compile/compile.hpp"
#include "grader/compile/compiler_output.hpp"

namespace grader {

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
