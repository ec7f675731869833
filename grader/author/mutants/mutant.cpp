#include "grader/author/mutants/mutant.hpp"

#include <algorithm>
#include <sstream>

namespace grader::staff {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string> words(const std::string& text, const std::string& separators) {
  std::vector<std::string> list;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    const std::string word = trimmed(text.substr(begin, end - begin));
    if (!word.empty()) list.push_back(word);
    begin = end + 1;
  }
  return list;
}

[[noreturn]] void fail(unsigned line, const std::string& what) {
  throw MutantError("line " + std::to_string(line) + ": " + what);
}

std::vector<std::string> stage_list(const std::string& value) {
  std::vector<std::string> stages = words(value, " ,|");
  if (stages.size() == 1 && stages[0] == "all") stages.clear();
  return stages;
}

/// Reads a file of a mutant line by line: a header, then edits
///     <<<<<<<
///     what the solution has
///     =======
///     what stands there instead
///     >>>>>>>
class MutantReader {
 public:
  void take(unsigned number, const std::string& line) {
    number_ = number;
    switch (in_) {
      case In::header:
        if (line == "<<<<<<<") {
          edit_ = Edit{"", "", number};
          in_ = In::from;
        } else if (!trimmed(line).empty()) {
          header(line);
        }
        break;
      case In::from:
        if (line == "=======")
          in_ = In::to;
        else if (line == "<<<<<<<" || line == ">>>>>>>")
          fail(number, "an edit without =======");
        else
          edit_.from += line + "\n";
        break;
      case In::to:
        if (line == ">>>>>>>")
          close_edit();
        else if (line == "<<<<<<<" || line == "=======")
          fail(number, "an edit without >>>>>>>");
        else
          edit_.to += line + "\n";
        break;
    }
  }

  Mutant result(bool must_pass) const {
    if (in_ != In::header) fail(edit_.line, "this edit is not closed");
    if (mutant_.id.empty()) fail(1, "`# id:` is missing");
    if (mutant_.edits.empty()) fail(1, "no edit");
    if (!has_stage_) fail(1, "`# stage:` is missing");
    if (must_pass) {
      if (!mutant_.expect.empty() || !mutant_.says.empty())
        fail(1, "an alternative passes: it has no `# expect:` and no `# says:`");
    } else {
      if (mutant_.expect.empty() == mutant_.advice.empty())
        fail(1, "a mutant has `# expect:` or `# advice:`");
      if (mutant_.expect.empty() && !mutant_.says.empty())
        fail(1, "`# says:` is about a message that fails the stage: it goes with `# expect:`");
      if (mutant_.stages.size() != 1) fail(1, "a mutant names one stage");
    }
    return mutant_;
  }

 private:
  enum class In { header, from, to };

  /// `# key: value`
  void header(const std::string& line) {
    const std::size_t colon = line.find(':');
    if (line[0] != '#' || colon == std::string::npos)
      fail(number_, "expected `# key: value` or <<<<<<<");
    const std::string key = trimmed(line.substr(1, colon - 1)),
                      value = trimmed(line.substr(colon + 1));
    if (value.empty()) fail(number_, "`" + key + "` has no value");
    if (key == "id") {
      mutant_.id = value;
    } else if (key == "stage" || key == "stages") {
      mutant_.stages = stage_list(value);
      has_stage_ = true;
    } else if (key == "expect") {
      mutant_.expect = words(value, "|");
    } else if (key == "advice") {
      mutant_.advice = words(value, "|");
    } else if (key == "says") {
      mutant_.says = value;
    } else if (key == "file") {
      mutant_.file = value;
    } else if (key == "note") {
      mutant_.note = value;
    } else {
      fail(number_, "unknown header `" + key + "`");
    }
  }

  void close_edit() {
    if (edit_.from.empty()) fail(edit_.line, "an edit that replaces nothing");
    if (edit_.from == edit_.to) fail(edit_.line, "an edit that changes nothing");
    mutant_.edits.push_back(edit_);
    in_ = In::header;
  }

  Mutant mutant_;
  Edit edit_;
  In in_ = In::header;
  unsigned number_ = 0;
  bool has_stage_ = false;
};

}  // namespace

Mutant parse_mutant(const std::string& text, bool must_pass) {
  MutantReader reader;
  unsigned number = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    reader.take(++number, line);
  }
  return reader.result(must_pass);
}

std::string applied(const Mutant& mutant, const std::string& master) {
  std::string result = master;
  for (const Edit& edit : mutant.edits) {
    const std::size_t at = result.find(edit.from);
    if (at == std::string::npos)
      fail(edit.line, "this edit no longer applies: its text is not in the solution");
    if (result.find(edit.from, at + 1) != std::string::npos)
      fail(edit.line, "this edit's text is in the solution more than once");
    result.replace(at, edit.from.size(), edit.to);
  }
  return result;
}

std::vector<std::string> stages_of_alternative(const std::string& source) {
  const std::string first = source.substr(0, source.find('\n')), key = "// stages:";
  if (first.rfind(key, 0) != 0)
    throw MutantError("the first line must be `// stages: all` or list stages");
  const std::string value = trimmed(first.substr(key.size()));
  if (value.empty()) throw MutantError("the first line names no stage");
  return stage_list(value);
}

}  // namespace grader::staff
