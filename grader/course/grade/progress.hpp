// How far a class is: on a terminal one line that rewrites itself, else a line per student.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "grader/report/status_line.hpp"

namespace grader {

class Progress {
 public:
  /// `count` of `all` are done, this student last. `kept`: the result is from an earlier run; `failed`:
  /// the machine was at fault, so the line stays.
  void done(std::size_t count, std::size_t all, const std::string& id, const std::string& status,
            bool kept, bool failed);
  void clear() const { line_.clear(); }

 private:
  report::StatusLine line_;
  std::size_t graded_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace grader
