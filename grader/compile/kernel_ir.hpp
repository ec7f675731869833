// A file's kernels one by one, so that each is optimised again only if it has changed. clang's front
// end reads a whole file in 0.1 to 0.3 s of a processor; the optimiser takes ten times that (lab 4:
// 3.5 s for 33 kernels). So the front end writes its unoptimised LLVM IR as text, and this takes the
// text apart: for each kernel template up to three modules of what its kernels reach. Its text is canonical. It
// does not depend on what else is in the file, nor on the lines where things stand, which are counted
// from the beginning of their function; what is made of it can be kept, and put where the file has it
// now.
//
// LLVM's text is no stable format. What is relied on (names begin with @ % $ # or !, one definition
// per line, functions end with a line "}") has held from clang 14 to 22; whatever else is found means
// that the file is compiled as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace grader {

/// Where the places of a canonical text lie in the file that it was taken from.
struct Places {
  struct Function {
    std::int64_t origin = 0;  ///< the line that its lines are counted from
    std::string file;
  };
  std::vector<std::string> files;  ///< by canonical number
  std::vector<Function> functions;
};

struct KernelIr {
  std::string name;  ///< of the template, as the linker knows it: "_Z13vector_kernel"
  std::string text;  ///< a module of its own
  Places places;
};

/// The modules of a file's kernels, in the order of the file. Nothing if the text is not understood,
/// and if kernels may share more than code: then they belong into one module.
std::optional<std::vector<KernelIr>> split_kernels(const std::string& ir);

/// PTX that was made of a canonical text, with lines and files as they are now. Nothing if it names
/// places that the text does not have.
std::optional<std::string> placed(const std::string& ptx, const Places& places);

/// What the first line of a module's PTX says of it, as a comment.
struct MadeOf {
  /// Names the canonical text and all that was done with it. "": the module was made of a whole file.
  std::string text;
  /// Lines of the student's file where the module's functions begin, in the module's own order.
  std::vector<unsigned> functions;
};
std::string made_of_line(const std::string& text, const Places& places, const std::string& file);
MadeOf made_of(std::string_view ptx);

}  // namespace grader
