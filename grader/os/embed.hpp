// Files as part of the program: a student's build has one binary, and nothing to look for when it runs.
#pragma once

#include <cstddef>
#include <string_view>

/// Defines `std::string_view name()`: the bytes of the file at `path`, a literal counted from the project's root, as the
/// assembler found it. Such an object must be made again when the file changes: the Makefile says so.
#define GRADER_EMBED(name, path)                                                            \
  __asm__(                                                                                  \
      ".pushsection .rodata\n"                                                              \
      "grader_embedded_" #name ":\n.incbin \"" path                                         \
      "\"\n"                                                                                \
      "grader_embedded_end_" #name ":\n.byte 0\n.popsection\n");                            \
  extern "C" __attribute__((visibility("hidden"))) const char grader_embedded_##name[];     \
  extern "C" __attribute__((visibility("hidden"))) const char grader_embedded_end_##name[]; \
  static std::string_view name() {                                                          \
    return {grader_embedded_##name,                                                         \
            static_cast<std::size_t>(grader_embedded_end_##name - grader_embedded_##name)}; \
  }
