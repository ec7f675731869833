// Clang's diagnostics, reduced to what a student can act on.
#include "grader/compile/compiler_output.hpp"

#include <algorithm>
#include <sstream>

#include "grader/compile/compile.hpp"

namespace grader {
std::optional<Diagnostic> parse_diagnostic(const std::string& text) {
  for (const char* level : {": fatal error: ", ": error: ", ": warning: ", ": note: "}) {
    const auto at = text.find(level);
    if (at == std::string::npos) continue;
    const std::string place = text.substr(0, at);
    const auto column = place.rfind(':');
    if (column == std::string::npos || column == 0) return {};
    const auto line = place.rfind(':', column - 1);
    if (line == std::string::npos) return {};
    Diagnostic found;
    found.file = place.substr(0, line);
    found.line = static_cast<unsigned>(std::strtoul(place.c_str() + line + 1, nullptr, 10));
    found.level = std::string(level).substr(2);
    found.level = found.level.substr(0, found.level.size() - 2);
    found.message = text.substr(at + std::string(level).size());
    if (found.line == 0) return {};
    return found;
  }
  return {};
}

bool same_file(const std::string& path, const std::string& file) {
  return path == file || path == "./" + file ||
         (path.size() > file.size() &&
          path.compare(path.size() - file.size() - 1, std::string::npos, "/" + file) == 0);
}

CompilerOutput filter_compiler_output(const std::string& text, const std::string& student_file,
                                      std::size_t most) {
  struct Block {
    Diagnostic head;
    std::vector<std::string> lines;      ///< headline and the source excerpt
    std::vector<std::string> own_notes;  ///< notes that point into the student's file
  };
  std::vector<Block> blocks;
  std::istringstream stream(text);
  bool keep = false, in_note = false;
  for (std::string line; std::getline(stream, line);) {
    // "In file included from ..." and clang's closing summary carry nothing for the student.
    if (line.rfind("In file included from", 0) == 0 ||
        line.find(" generated") != std::string::npos) {
      keep = false;
      continue;
    }
    if (const auto at = parse_diagnostic(line)) {
      // An included file is named as the search found it: by "./".
      if (line.compare(0, 2, "./") == 0) line.erase(0, 2);
      in_note = at->level == "note";
      if (!in_note) {
        blocks.push_back({*at, {line}, {}});
        keep = same_file(at->file, student_file);
      } else {
        keep = !blocks.empty() && same_file(at->file, student_file) &&
               blocks.back().own_notes.size() < 4;
        if (keep) blocks.back().own_notes.push_back(line);
      }
      continue;
    }
    if (!keep || blocks.empty() || line.empty()) continue;
    auto& into = in_note ? blocks.back().own_notes : blocks.back().lines;
    if (into.size() < 6) into.push_back(line);
  }

  CompilerOutput out;
  std::size_t errors = 0, warnings = 0;
  for (const auto& block : blocks) {
    const bool is_error = block.head.level != "warning";
    const auto missing = block.head.message.find("' file not found");
    if (is_error && missing != std::string::npos && out.unavailable_include.empty()) {
      out.unavailable_include = block.head.message.substr(1, missing - 1);
      out.unavailable_line = block.head.line;
    }
    auto& list = is_error ? out.errors : out.warnings;
    auto& count = is_error ? errors : warnings;
    if (++count > most) continue;
    if (same_file(block.head.file, student_file)) {
      list.insert(list.end(), block.lines.begin(), block.lines.end());
      list.insert(list.end(), block.own_notes.begin(), block.own_notes.end());
    } else if (is_error) {
      // The error surfaced inside a header: its message, then the student's lines that led there.
      list.push_back("error: " + block.head.message);
      list.insert(list.end(), block.own_notes.begin(), block.own_notes.end());
    }
  }
  if (errors > most)
    out.errors.push_back("... and " + std::to_string(errors - most) + " more errors");
  if (out.errors.empty()) {
    // No diagnostic in clang's usual shape ("clang: error: unable to execute command"): its own
    // words, capped.
    std::istringstream again(text);
    for (std::string line; std::getline(again, line) && out.errors.size() < 4;)
      if (line.find("error") != std::string::npos) out.errors.push_back(line.substr(0, 200));
  }
  return out;
}

}  // namespace grader
