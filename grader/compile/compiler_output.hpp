// Reading what a compiler says, line by line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

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

/// Whether an error may come from float4 and its like, which are no aggregates in device code and not
/// trivially copyable, as CUDA's are: see common/simgpu/include/vector_types.h. A student's usual
/// errors are not among them, since compiling once more takes time.
bool may_want_plain_vectors(std::string_view said);

}  // namespace grader
