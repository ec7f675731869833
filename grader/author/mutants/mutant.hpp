// Wrong kernels that the grader must name, and right ones that it must accept, as edits to a lab's
// master.
//
//     # id: L1-02
//     # stage: 1.1                     (alternatives: one or several, or `all` of the file)
//     # expect: B-TRANSPOSED|WRONG-LD  (mutants only: the diagnosis must be one of these)
//     # advice: ASYNC-EARLY           (what is advised, and nothing else: the stage passes)
//     # says: the row of B            (with expect, if given: the message has these words)
//     # file: wmma.cu                  (of solution/; default: the lab's first)
//     # note: one line
//     <<<<<<<
//     exact text in that file, found exactly once
//     =======
//     replacement
//     >>>>>>>
//
// Several edits may follow each other; each applies to what the ones before left. An alternative
// may also be a whole file whose first line is `// stages: all` or `// stages: 3.1 3.2`.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace grader::staff {

/// Says what is wrong with the file, with its line; or that an edit no longer applies.
struct MutantError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Edit {
  std::string from, to;
  unsigned line = 0;  ///< of its <<<<<<< in the file
};

struct Mutant {
  std::string id;                   ///< "L1-02"
  std::vector<std::string> stages;  ///< empty = all
  std::vector<std::string> expect;  ///< diagnosis ids; empty = must pass
  std::vector<std::string> advice;  ///< diagnosis ids of goals that are missed and only advised
  std::string says;                 ///< words of the message, in one line of it; "" = any
  std::string file;                 ///< of solution/; "" = the lab's first
  std::string note;
  std::vector<Edit> edits;
};

/// Throws MutantError for unknown headers, unclosed or empty edits, a mutant without stage or
/// expectation.
Mutant parse_mutant(const std::string& text, bool must_pass);

/// The master with the edits applied. Throws MutantError if an edit's text does not occur exactly
/// once.
std::string applied(const Mutant& mutant, const std::string& master);

/// Stages named in the first line of an alternative that is a whole file; empty = all. Throws
/// MutantError.
std::vector<std::string> stages_of_alternative(const std::string& source);

}  // namespace grader::staff
