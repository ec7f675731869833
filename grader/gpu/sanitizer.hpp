// NVIDIA's compute-sanitizer over a runner: what a wrong kernel does without anybody noticing.
//
// A tool's verdict is read from the summary at the end of its log. Whatever cannot be read (no
// summary, two of them, a process that died differently) is no pass: an empty log must never count
// as "no errors". The log is a file of the tool's own, so nothing that the student prints gets into
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/judge/session.hpp"

namespace grader::gpu {

/// "memcheck", "racecheck", "initcheck", "synccheck".
const std::vector<std::string>& sanitizer_tools();

struct SanitizerReport {
  bool readable = false;     ///< one summary, and it is the tool's
  std::uint64_t errors = 0;  ///< by the summary
  std::string finding;       ///< the first error's own words
  std::string file;          ///< where, as the tool names it; "" if it does not say
  unsigned line = 0;
  std::string trouble;  ///< if not readable: why
  /// All that was found are reads of 16 bytes: what memcheck (of CUDA 13.0) takes an asynchronous
  /// copy for that reads fewer and fills up with zeros, at the edge of a matrix.
  bool only_wide_reads = false;
  bool clean() const { return readable && errors == 0; }
};

/// What a tool wrote. `tool` decides how the summary looks.
SanitizerReport read_sanitizer_log(const std::string& tool, const std::string& log);

struct SanitizerRun {
  std::string sanitizer;  ///< path of compute-sanitizer
  std::string tool, program;
  std::filesystem::path folder;  ///< for the log
  std::chrono::milliseconds patience{60000};
  std::optional<std::pair<unsigned, unsigned>> user;
};

/// One process: all calls in order, until one does not return. The report is clean only if every
/// call returned and the process left with status 0 besides.
SanitizerReport run_sanitizer(const SanitizerRun& run, const std::vector<CallSpec>& calls);

}  // namespace grader::gpu
