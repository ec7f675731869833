// PTX text -> ptx::Module. The text is treated as hostile: every size is capped, no file is ever
// opened, and anything unknown is one ParseError that names it with its line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/simgpu/ptx/module.hpp"
#include "common/simgpu/ptx/parse_error.hpp"

namespace simgpu::ptx {

/// Caps on what a module may ask for. The defaults hold every honest lab with room to spare.
struct Limits {
  std::size_t text_bytes = 64u << 20;
  std::size_t registers_per_function = 1u << 20;
  std::size_t registers = 4u << 20;  ///< whole module
  /// whole module; labels, scopes and operands of vectors count too
  std::size_t instructions = 1u << 20;
  std::size_t functions = 4096;
  std::size_t variables = 65536;
  std::size_t files = 4096;
  std::size_t parameter_bytes = 32764;  ///< of one kernel, as on hardware since CUDA 12.1
  unsigned nesting = 64;  ///< brace scopes, and parentheses of one constant expression
  std::uint64_t global_bytes = 256u << 20;   ///< .global and .const together
  std::uint64_t constant_bytes = 64u << 10;  ///< .const, as on hardware
  std::uint64_t shared_bytes = 1u << 20;     ///< one variable; a kernel's limit is the device's
  std::uint64_t local_bytes = 512u << 10;    ///< per thread, as on hardware
};

/// Throws ParseError for text that is not PTX or breaks a limit. An unsupported instruction inside
/// a function does not fail the module (other kernels of the file can still be graded): that
/// function keeps an empty body and its `unsupported` message, and launching it is the error.
Module parse(std::string text, const Limits& limits = {});

namespace parsing {
class Parser;
}

/// When the bodies of functions are read: on_demand is for a text that has been parsed before, and of
/// which little is needed now. What complete functions hold does not depend on it; only the numbers
/// of variables that are declared in bodies do.
enum class Bodies : std::uint8_t { now, on_demand };

/// A text and the module in it.
class Source {
 public:
  /// Throws ParseError as parse() does; on_demand, not for what only a body would show.
  explicit Source(std::string text, Bodies bodies = Bodies::now, const Limits& limits = {});
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Functions whose body has not been read look like declarations.
  const Module& module() const;
  /// Reads the body of a function, and those of all that it may call. Throws ParseError. What has
  /// been read before stays where it is.
  void complete(std::uint32_t function);

 private:
  std::unique_ptr<parsing::Parser> parser_;
};

}  // namespace simgpu::ptx
