// The table of functions that the judge may call in a runner.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grader/compile/compile.hpp"

namespace grader {

/// The demangled global symbols that an object defines, from the output of nm --defined-only
/// --extern-only.
std::vector<std::string> defined_symbols(const std::string& nm_output);

/// Compares what an object defines with what lab.toml asks for, by demangled name. Only rungs for
/// which `wanted` is true; answers (functions without arguments) belong to gemm.cu.
std::vector<EntryPoint> match_entries(const Lab& lab, const std::vector<std::string>& defined,
                                      const std::function<bool(const Rung&)>& wanted, bool answers);

/// Source of the table: C++17, without CUDA. `header` declares the runner's main; `main_call` is
/// its call, with `entries` and `count` in it.
std::string entries_source(const Lab& lab, const std::vector<EntryPoint>& entries,
                           const std::string& header, const std::string& main_function);

}  // namespace grader
