// Reading what a compiler says, line by line.
#pragma once

#include <optional>
#include <string>

namespace grader {

/// "file:12:34: error: text"
struct Diagnostic {
  std::string file;
  unsigned line = 0;
  std::string level;  ///< "error", "warning", "note", "fatal error"
  std::string message;
};
std::optional<Diagnostic> parse_diagnostic(const std::string& text);

/// Whether a path in a diagnostic is that of a file: "./" and folders before it do not count.
bool same_file(const std::string& path, const std::string& file);

}  // namespace grader
