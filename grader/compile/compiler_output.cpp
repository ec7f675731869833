// Clang's diagnostics, reduced to what a student can act on.
#include "grader/compile/compiler_output.hpp"

#include <algorithm>
#include <iterator>
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
  std::string candidate;  ///< why the function of a header that fits best does not; "": not said

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

/// Why a function of a header cannot be the one that is called. Its place says something only in a header that
/// students read.
std::string candidate_in_header(const std::string& line, const Diagnostic& note) {
  if (note.message.rfind("candidate ", 0) != 0) return "";
  return header_to_show(line) ? line : "note: " + note.message;
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
        blocks.push_back({*at, {line}, {}, {}});
      } else {
        const std::string place = place_of(line, "note") + ": ";
        // The one that fits best comes first.
        if (!keep && !blocks.empty() && blocks.back().candidate.empty())
          blocks.back().candidate = candidate_in_header(line, *at);
        // A long way through templates leaves room for what is wrong at its end.
        const bool reason = at->message.rfind("candidate ", 0) == 0;
        keep = keep && !blocks.empty() &&
               blocks.back().own_notes.size() < most_notes + (reason ? 1 : 0);
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

/// What stands between `before` and the next quote; "" if that is nowhere.
std::string quoted_after(const std::string& text, const std::string& before) {
  const auto at = text.find(before);
  if (at == std::string::npos) return "";
  const auto begin = at + before.size();
  return text.substr(begin, text.find('\'', begin) - begin);
}

/// A hint on a call whose arguments fit no function, or "".
std::string hint_for_arguments(const std::string& said) {
  const auto says = [&said](const char* words) { return said.find(words) != std::string::npos; };
  if (says("call to '__pipeline_memcpy_async'")) return "build.hint.pipeline";
  if (says("could not match 'T[")) return "build.hint.extents";
  if (says("deduced conflicting types for parameter 'T' ('const ")) return "build.hint.const";
  if (says("could not match 'T *'") || says("could not match 'const T *'") ||
      says("take the address of the argument"))
    return "build.hint.address";
  return hint_for_fragments(said);
}

/// The same for errors that are about neither calls nor fragments.
std::string hint_for_declarations(const std::string& said) {
  const auto says = [&said](const char* words) { return said.find(words) != std::string::npos; };
  if (says("'const __cuda_builtin_")) return "build.hint.xyz";
  if (says("variable-length arrays") || says("variable length array"))
    return "build.hint.array_size";
  if (says("initialization is not supported for __shared__")) return "build.hint.shared_init";
  if (says("builtin functions must be directly called")) return "build.hint.brackets";
  if (says("invalid % escape in inline assembly string")) return "build.hint.percent";
  return says("function definition is not allowed here") ? "build.hint.brace" : "";
}

/// A hint that names what the compiler has said, or "".
std::string hint_with_names(const Block& block, const std::string& said) {
  if (const std::string name = quoted_after(said, "couldn't infer template argument '");
      !name.empty())
    return messages::text(
        "build.hint.template",
        {{"name", name}, {"function", quoted_after(said, "matching function for call to '")}});
  // The line that led there: where the function with this requirement is called.
  if (block.head.message.find("static_assert failed") == std::string::npos &&
      block.head.message.find("static assertion failed") == std::string::npos)
    return "";
  for (const std::string& note : block.own_notes)
    if (const auto at = parse_diagnostic(note);
        at && at->message.rfind("in instantiation of function template", 0) == 0)
      return messages::text("build.hint.assert", {{"line", std::to_string(at->line)}});
  return "";
}

/// What CUDA means by an error that clang words for those who know: a key of the catalogue; "" if
/// its own words do.
std::string hint_for(const Block& block, const std::string& said) {
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
  if (const std::string hint = hint_for_declarations(said); !hint.empty()) return hint;
  return says("no matching function for call to") ? hint_for_arguments(said)
                                                  : hint_for_fragments(said);
}

/// The hint on an error, in words; "" if there is none.
std::string hint_text(const Block& block) {
  std::string said = block.head.message + "\n" + block.candidate;
  for (const std::string& note : block.own_notes) said += "\n" + note;
  if (std::string named = hint_with_names(block, said); !named.empty()) return named;
  const std::string hint = hint_for(block, said);
  return hint.empty() ? "" : messages::text(hint);
}

/// No note tells of a function of the student's own that the call may have meant.
bool says_no_candidate(const Block& block) {
  return std::none_of(block.own_notes.begin(), block.own_notes.end(), [](const std::string& note) {
    return note.find("note: candidate ") != std::string::npos;
  });
}

bool is_undeclared(const Block& block) {
  return block.head.message.rfind("use of undeclared identifier", 0) == 0;
}

/// Two blocks that say the same need not be told twice: one array may have several sizes that are not constants,
/// and a name that is declared nowhere may be used in many lines.
std::string what_it_says(const Block& block) {
  const std::string line = is_undeclared(block) ? "" : ":" + std::to_string(block.head.line);
  return block.head.file + line + " " + block.head.message;
}

/// A name that only resembles what was written, and that the student's file does not declare: `pow` for `row`.
void drop_suggestion(Block& block) {
  const std::string name = quoted_after(block.head.message, "; did you mean '");
  for (const std::string& note : block.own_notes)
    if (note.find("declared here") != std::string::npos) return;
  if (name.empty() || !is_undeclared(block)) return;
  for (std::string* const text : {&block.head.message, &block.lines.front()})
    text->erase(text->find("; did you mean '"));
  const auto inserted = [&name](const std::string& line) {
    const auto first = line.find_first_not_of(' ');
    return first != std::string::npos && line.substr(first) == name;
  };
  block.lines.erase(std::remove_if(block.lines.begin() + 1, block.lines.end(), inserted),
                    block.lines.end());
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
  std::set<std::string> places, once;  // a template says it again for each of its types
  std::set<std::string> unknown;       // lines that use a name which is not declared
  for (Block& block : blocks_of(text, student_file)) {
    note_unavailable(block, out);
    drop_suggestion(block);
    if (!once.insert(what_it_says(block)).second) continue;
    // What clang goes on with, in place of a name that nobody has declared, makes errors of its own.
    const std::string line = block.head.file + ":" + std::to_string(block.head.line);
    if (is_undeclared(block))
      unknown.insert(line);
    else if (block.is_error() && unknown.count(line) != 0)
      continue;
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
    if (!block.candidate.empty() && says_no_candidate(block)) list.push_back(block.candidate);
    if (const std::string hint = block.is_error() ? hint_text(block) : "";
        !hint.empty() && std::find(list.begin(), list.end(), hint) == list.end())
      list.push_back(hint);
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

bool may_want_plain_vectors(std::string_view said) {
  constexpr std::string_view kErrors[] = {
      "implicitly deleted because variant field",
      "trivially copyable",
      "non-trivial type",
      "static_assert failed",
      "static assertion failed",
      "must be initialized by a constant expression",
      "chosen constructor is explicit",
      "no matching constructor for initialization of",
  };
  return std::any_of(std::begin(kErrors), std::end(kErrors), [&](std::string_view error) {
    return said.find(error) != std::string_view::npos;
  });
}

}  // namespace grader
