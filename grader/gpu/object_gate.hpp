// The object gate: what a student's object file may ask for and bring along.
//
// The clang build of the simulated GPU needs no gate, because a simulated device refuses what it
// does not know. On a real GPU the student's object is linked with NVIDIA's runtime, which can do
// everything: call cuBLAS, load libraries, compile at run time, reach the driver. The gate reads
// the object, never the source (a macro can hide any name in text, but not in a symbol table), and
// gives a student one clear sentence with the symbol's name. It is no sandbox: it stops short cuts,
// and the first tricks that were tried on graders (constructors, interposed functions, IFUNC). What
// holds against more than that is that the verdict is not made in the student's process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace grader::gpu {

/// What an ELF file says about itself, as far as the gate cares.
struct ObjectSymbol {
  std::string name;
  bool defined = false;
  bool local = false, weak = false;  ///< neither: global
  bool ifunc = false;
  bool file_or_section = false;  ///< STT_FILE, STT_SECTION: names of no code
};
struct ObjectSection {
  std::string name;
  std::uint64_t size = 0;
};
struct ObjectFile {
  std::vector<ObjectSymbol> symbols;
  std::vector<ObjectSection> sections;
};

/// Reads a relocatable 64-bit little-endian ELF file. Empty for anything else and for a file whose
/// tables point outside of it.
std::optional<ObjectFile> read_object(std::string_view bytes);

struct GateFinding {
  /// "library", "loader", "compiler", "driver", "runtime", "thread", "system", "unknown",
  /// "interposed", "constructor", "ifunc", "unreadable", "instruction"
  std::string kind;
  std::string symbol;  ///< demangled, or the section's name; printable, at most 120 characters
  /// The whole of it: what was found and why it is refused.
  std::string sentence() const;
};

/// Empty: the object may be linked. In the object's order, each symbol once.
std::vector<GateFinding> inspect_object(const ObjectFile& object);
std::vector<GateFinding> inspect_object(std::string_view bytes);

/// System call instructions in a disassembly of the host code (objdump -d): an object that talks to
/// the kernel itself needs no symbol.
std::vector<GateFinding> inspect_disassembly(const std::string& listing);

}  // namespace grader::gpu
