#include "grader/report/status_line.hpp"

#include <unistd.h>

#include <iostream>

#include "grader/report/text.hpp"

namespace grader::report {

StatusLine::StatusLine() : terminal_(::isatty(2) == 1) {}

void StatusLine::show(const std::string& what) const {
  if (terminal_) std::cerr << "\r\x1b[K" + fit(what, 78) << std::flush;
}

void StatusLine::clear() const {
  if (terminal_) std::cerr << "\r\x1b[K" << std::flush;
}

}  // namespace grader::report
