// The one exception of the parser.
#pragma once

#include <stdexcept>
#include <string>

namespace simgpu::ptx {

/// What went wrong, where. `unsupported` tells an instruction that only a real GPU runs (wgmma,
/// TMA) or that simgpu does not know from text that is no PTX at all.
struct ParseError : std::runtime_error {
  ParseError(std::string message, unsigned ptx_line, std::string source_file, unsigned source_line,
             bool is_unsupported);
  unsigned ptx_line;
  std::string source_file;  ///< from the last .loc, may be empty
  unsigned source_line;
  bool unsupported;
};

}  // namespace simgpu::ptx
