// The translation unit of one of a lab's files: the student's file, then an explicit instantiation
// of each of its rungs in each of their types, as lab.toml lists them. A student's file holds
// kernels and launchers only; what does not fit lab.toml is found out here, launcher by launcher.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grader/labs/lab.hpp"

namespace grader {

/// The C++ type of an element of A and B, and of C: "half" -> "__half" and "float".
std::string cpp_type(const std::string& type);
std::string cpp_result_type(const std::string& type);

/// The launcher wanted for a type: "void gemm_naive(MatrixView<const T> a, ...) with T = float".
std::string signature(const std::string& rung, const std::string& type);

/// One launcher in one type. `line` is that of its instantiation in the translation unit.
struct Instance {
  std::string rung, type;
  unsigned line = 0;
};

struct TranslationUnit {
  std::string text;
  std::vector<Instance> instances;
};

/// Which of a lab's launchers are instantiated.
using InstanceFilter = std::function<bool(const Rung& rung, const std::string& type)>;

/// `included`: the student's file as #include finds it.
TranslationUnit translation_unit(const Lab& lab, const std::string& file,
                                 const std::string& included, const InstanceFilter& wanted);

/// What a compiler (clang's wording, or nvcc's brought into clang's shape) said about the
/// instantiations themselves: those that found no launcher to instantiate.
struct Mismatches {
  struct One {
    Instance instance;
    unsigned candidate_line = 0;  ///< of a launcher by that name in the student's file, 0 = none
  };
  std::vector<One> list;
  /// There are errors in the generated lines that only the end of the student's file can explain:
  /// a brace that is not closed.
  bool unclosed = false;
};
Mismatches find_mismatches(const std::string& said, const std::string& unit_path,
                           const std::string& student_file, const TranslationUnit& unit);

/// The lines with which both sources begin that include something, before anything but comments, as
/// far as `ours` takes what stands behind #include: "\"common/matrix.hpp\"" or "<mma.h>". Whoever has
/// read these lines has read the beginning of either file.
std::string common_beginning(const std::string& source, const std::string& other,
                             const std::function<bool(const std::string& included)>& ours);

/// The declaration that begins on a line of a source, on one line: "void f(int a, int b)".
std::string declaration_at(const std::string& source, unsigned line);

/// The first line of a source with a letter beyond ASCII outside of comments and texts, where it can
/// only stand in a name; 0 if there is none.
unsigned line_of_foreign_letter(const std::string& source);

}  // namespace grader
