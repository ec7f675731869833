// The table of functions that the judge may call in a runner.
#pragma once

#include <string>
#include <vector>

#include "grader/compile/compile.hpp"

namespace grader {

/// A global symbol of an object, as the linker and as a reader knows it.
struct Symbol {
  std::string mangled, demangled;
};

/// The command that lists an object's symbols. Not nm: it loads all linker plugins that are installed,
/// whole copies of LLVM, which takes ten times as long.
std::vector<std::string> symbol_lister(const std::string& object);

/// The global symbols that an object defines, by name, from what that command printed.
std::vector<Symbol> defined_symbols(const std::string& listed);

/// Compares what the object of one of a lab's files defines with what lab.toml asks of that file:
/// its launchers (templates with any parameters that give the wanted signature), and the answers
/// to its stages (functions without arguments).
std::vector<EntryPoint> match_entries(const Lab& lab, const std::string& file,
                                      const std::vector<Symbol>& defined);

/// Source of the table: C++17, without CUDA. `header` declares the runner's main; `main_call` is
/// its call, with `entries` and `count` in it.
std::string entries_source(const Lab& lab, const std::vector<EntryPoint>& entries,
                           const std::string& header, const std::string& main_function);

}  // namespace grader
