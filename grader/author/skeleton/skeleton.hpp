// Skeletons from masters. A lab has one hand-written source, solution/gemm.cu; what a student edits
// is made from it:
//
//     // TODO(1.1) Walk K and accumulate the dot product.     stays: it is the task
//     // >>> skeleton                                          optional: replaces the solution;
//     // c(row, col) = 0;                                        each line loses its leading "// "
//     // <<< skeleton
//     // >>> solution                                          the region that is taken out
//     ...
//     // <<< solution
//
// A marker is a line that holds nothing but the marker. Whatever could let solution text slip
// through (a marker that is misspelt, nested, unclosed or shares its line with code) is an error,
// never a guess.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace grader {

/// Something is wrong with the markers of a master. what() is one sentence without the file's name.
struct SkeletonError : std::runtime_error {
  SkeletonError(std::size_t at_line, const std::string& message)
      : std::runtime_error(message), line(at_line) {}
  std::size_t line;  ///< 1-based line of the master
};

/// One `// >>> solution` region.
struct SolutionRegion {
  std::string stage;               ///< the id in the TODO above it: "1.1"
  std::size_t first_line = 0;      ///< 1-based line of the opening marker
  std::vector<std::string> lines;  ///< the solution, without line ends
  std::vector<std::string>
      replacement;  ///< the skeleton block, uncommented; empty if there is none
};

struct Skeleton {
  std::string skeleton;  ///< what a student gets
  std::string
      solved;  ///< the master without markers and skeleton blocks: what the solution branch holds
  std::vector<SolutionRegion> regions;  ///< in the order of the file
};

/// Line ends (LF or CRLF, and a missing last one) are kept as they are.
/// Throws SkeletonError.
Skeleton make_skeleton(std::string_view master);

/// What somebody has who has solved all stages but `stage`: its regions as in the skeleton.
/// Throws SkeletonError.
std::string with_open_stage(std::string_view master, std::string_view stage);

}  // namespace grader
