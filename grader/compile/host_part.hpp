// The part of a student's file that its host code depends on. A launcher does the same whatever stands inside
// the kernels that it launches: so whoever edits a kernel has changed that kernel alone.
//
// Told from the text, not from machine code: a line more in one kernel changes the line numbers that CUDA_CHECK
// has put into every launcher below it, and with them their code. What this does not understand counts as changed.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace grader {

/// A source without comments, superfluous blanks, and the bodies of functions that only the device has.
/// The whole source where host code might depend on those all the same, or on where its lines are:
/// __LINE__, a #define inside a body or over several lines, a raw string, braces that do not match.
std::string host_part(const std::string& source);

/// The same for a launcher: whoever edits one has changed what it does, and what others do that call it.
class HostCode {
 public:
  /// Sources of one program, without the headers that lie beside them.
  explicit HostCode(const std::vector<std::string>& sources);

  /// Whether functions could be told apart. Not where they share variables, or a macro pastes names.
  bool came_apart() const { return !pieces_.empty(); }
  /// The host's part of the sources, without the bodies of functions that these, and all that they name,
  /// do not name. Bodies whose effect outlasts a call stay: others may notice.
  std::string part_of(std::set<std::string> names) const;

  /// A piece of a source. A function has two.
  struct Piece {
    std::string text;
    std::string name;   ///< of the function
    bool body = false;  ///< of it, in braces
  };

 private:
  std::vector<Piece> pieces_;  // in the order of the sources; none: they did not come apart
};

}  // namespace grader
