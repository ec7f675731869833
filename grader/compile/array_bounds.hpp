// An index beyond the end of an array whose length the compiler knows: of a thread's own array above
// all. There is no memory in which a GPU, simulated or not, could see it: optimised code keeps such
// arrays in registers, and takes it that no index lies outside. So where a kernel is wrong, its device
// code is compiled once more with a check of each index, and runs with that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/compile/compile.hpp"

namespace grader {

/// The first such index of a run: what the code printed that was compiled with checks.
struct ArrayIndex {
  unsigned line = 0, column = 0;  ///< of the array's name
  std::int64_t index = 0;
  unsigned thread[3] = {}, block[3] = {};
  std::string type;  ///< "float[8][128]": of what is indexed
  std::string file;  ///< as the compiler names it
};
std::optional<ArrayIndex> array_index_in(const std::string& printed);

/// Such an index as the source has it.
struct ArrayOverrun {
  std::string access;  ///< "a_tile[k][128]"
  std::string name;    ///< "a_tile"
  std::string row;     ///< "a_tile[k]": what has `length` of them
  bool inner = false;  ///< a row is overrun, not the array: what is met may be its next row
  bool rows = false;   ///< what is counted are rows, not elements
  std::int64_t length = 0;
};
/// Nothing where the source does not show an array, where it is a tile kept as one row, and where the
/// code may mean what it does: an address one past the end, and an array of rows that is used as one
/// long row.
std::optional<ArrayOverrun> overrun_of(const ArrayIndex& index, const std::string& source);

/// Whether a name is indexed anywhere in a source.
bool may_have_arrays(const std::string& source);

/// Compiles one rung in one type with these checks: the same launchers over another device code.
/// Nothing if that fails, or if the file is no more what was built.
std::optional<Build> with_array_bounds(const Workplace& place, const Toolchain& toolchain,
                                       const Lab& lab, const SourceOf& source,
                                       const BuildOptions& options, const Build& built,
                                       const Rung& rung, const std::string& type);

}  // namespace grader
