// Views of a Report.
#pragma once

#include <string>

#include "grader/report/model.hpp"

namespace grader::report {

/// For people: at most 80 columns, ends with the next command. `colour` adds ANSI colours to words
/// that stand there anyway. `verbose` shows the goals of passed stages too.
std::string human(const Report& report, bool colour, bool verbose = false);

/// For programs: `{"schema": 1, ...}`; never throws for odd bytes in names or messages.
std::string json(const Report& report);

/// JUnit XML: a stage is a test case; wrong = failure, grader's fault = error, locked = skipped.
std::string junit(const Report& report);

}  // namespace grader::report
