// Clang's diagnostics, reduced to what a student can act on.
#include "grader/compile/compiler_output.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "grader/compile/compile.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"

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

namespace {

/// A diagnostic, and what of it a student can use.
struct Block {
  Diagnostic head;
  std::vector<std::string> lines;      ///< headline and the source excerpt
  std::vector<std::string> own_notes;  ///< notes that point into the student's file

  bool is_error() const { return head.level != "warning"; }
};

/// "gemm.cu:31:7": where a line of clang's points.
std::string place_of(const std::string& line, const std::string& level) {
  return line.substr(0, line.find(": " + level + ": "));
}

/// One of our headers that students read, as in "common/matrix.hpp"; not one of the system's or of the
/// simulated GPU's.
bool header_to_show(const std::string& line) {
  return line.front() != '/' && line.rfind("common/simgpu/", 0) != 0;
}

/// As much of a line as anybody reads: clang quotes a line of megabytes as a whole.
void shorten(std::string& line) {
  constexpr std::size_t most = 300;
  if (line.size() > most) line = std::string(first_bytes(line, most)) + " ...";
}

/// Clang's output in blocks. Excerpts and notes of other files than the student's are left out.
std::vector<Block> blocks_of(const std::string& text, const std::string& student_file) {
  constexpr std::size_t most_notes = 4, most_lines = 6;
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
    std::optional<Diagnostic> at = parse_diagnostic(line);
    shorten(line);
    if (at) {
      shorten(at->message);
      // An included file is named as the search found it: by "./".
      if (line.compare(0, 2, "./") == 0) line.erase(0, 2);
      in_note = at->level == "note";
      keep = same_file(at->file, student_file);
      if (!in_note) {
        blocks.push_back({*at, {line}, {}});
      } else {
        const std::string place = place_of(line, "note") + ": ";
        keep = keep && !blocks.empty() && blocks.back().own_notes.size() < most_notes;
        if (keep)  // a template is instantiated at the same place for each of its types
          for (const std::string& note : blocks.back().own_notes)
            keep = keep && note.rfind(place, 0) != 0;
        if (keep) blocks.back().own_notes.push_back(line);
      }
      continue;
    }
    if (!keep || blocks.empty() || line.empty()) continue;
    auto& into = in_note ? blocks.back().own_notes : blocks.back().lines;
    if (into.size() < most_lines) into.push_back(line);
  }
  return blocks;
}

/// A hint on WMMA's fragments: a key of the catalogue, or "".
std::string hint_for_fragments(const std::string& said) {
  const auto says = [&said](const char* words) { return said.find(words) != std::string::npos; };
  if (says("undefined template 'nvcuda::wmma::fragment<"))
    return says("wmma::matrix_") && !says("_major") ? "build.hint.layout" : "build.hint.fragment";
  return says("no matching function for call to 'mma_sync'") ? "build.hint.mma_sync" : "";
}

/// A hint on a call whose arguments fit no function, or "".
std::string hint_for_arguments(const std::string& said) {
  const auto says = [&said](const char* words) { return said.find(words) != std::string::npos; };
  if (says("call to '__pipeline_memcpy_async'")) return "build.hint.pipeline";
  if (says("could not match 'T[")) return "build.hint.extents";
  if (says("deduced conflicting types for parameter 'T' ('const ")) return "build.hint.const";
  return hint_for_fragments(said);
}

/// What CUDA means by an error that clang words for those who know: a key of the catalogue; "" if
/// its own words do.
std::string hint_for(const Block& block) {
  std::string said = block.head.message;
  for (const std::string& note : block.own_notes) said += "\n" + note;
  const auto says = [&said](const char* words) { return said.find(words) != std::string::npos; };
  if (says("call to global function") && says("not configured")) return "build.hint.call";
  if (says("'size_t'") && says("'cudaStream_t'")) return "build.hint.stream";
  if (says("call to __host__ function from __") || says("reference to __host__ function"))
    return "build.hint.host";
  if (says("invalid explicitly-specified argument") ||
      says("template argument is not a constant expression"))
    return "build.hint.constant";
  if (says("redeclaration of") && says("with a different type") && block.lines.size() > 1 &&
      block.lines[1].find("extern") != std::string::npos)
    return "build.hint.extern";
  if (says("does not provide a subscript operator") && says("MatrixView"))
    return "build.hint.subscript";
  if (says("reference to overloaded function") && block.lines.size() > 1 &&
      block.lines[1].find("<<") != std::string::npos)
    return "build.hint.launch";
  if (says("no member named 'cout'") || says("identifier 'cout'")) return "build.hint.cout";
  if (says("unexpected character <U+") || says("non-ASCII character"))
    return "build.hint.character";
  return says("no matching function for call to") ? hint_for_arguments(said)
                                                  : hint_for_fragments(said);
}

/// The first header that was not found, if there is one.
void note_unavailable(const Block& block, CompilerOutput& out) {
  const auto missing = block.head.message.find("' file not found");
  if (!block.is_error() || missing == std::string::npos || !out.unavailable_include.empty()) return;
  out.unavailable_include = block.head.message.substr(1, missing - 1);
  out.unavailable_line = block.head.line;
}

}  // namespace

CompilerOutput filter_compiler_output(const std::string& text, const std::string& student_file,
                                      std::size_t most) {
  CompilerOutput out;
  std::size_t errors = 0, warnings = 0;
  std::set<std::string> places;  // a template says it again for each of its types
  for (const Block& block : blocks_of(text, student_file)) {
    note_unavailable(block, out);
    if (!places.insert(block.head.level + " " + place_of(block.lines.front(), block.head.level))
             .second)
      continue;
    auto& list = block.is_error() ? out.errors : out.warnings;
    auto& count = block.is_error() ? errors : warnings;
    if (++count > most) continue;
    if (same_file(block.head.file, student_file))
      list.insert(list.end(), block.lines.begin(), block.lines.end());
    else if (block.is_error())  // surfaced inside a header, to which the student's lines led
      list.push_back(header_to_show(block.lines.front()) ? block.lines.front()
                                                         : "error: " + block.head.message);
    else
      continue;
    list.insert(list.end(), block.own_notes.begin(), block.own_notes.end());
    if (const std::string hint = block.is_error() ? hint_for(block) : ""; !hint.empty())
      list.push_back(messages::text(hint));
  }
  if (errors > most)
    out.errors.push_back("... and " + std::to_string(errors - most) + " more errors");
  if (out.errors.empty()) {
    // No diagnostic in clang's usual shape ("clang: error: unable to execute command"): its own
    // words, capped.
    std::istringstream again(text);
    for (std::string line; std::getline(again, line) && out.errors.size() < 4;)
      if (line.find("error") != std::string::npos && line.find(" generated") == std::string::npos)
        out.errors.emplace_back(first_bytes(line, 200));
    if (text.find("byte order mark") != std::string::npos)
      out.errors.push_back(messages::text("build.hint.encoding"));
  }
  return out;
}

}  // namespace grader
