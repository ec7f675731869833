// A sweep for a terminal of 80 columns.
#pragma once

#include <string>
#include <vector>

#include "grader/sweep/record.hpp"

namespace grader::sweep {

/// Tables and sentences of all experiments, line by line. No line is wider than 80 columns.
std::vector<std::string> tables(const Results& results);

}  // namespace grader::sweep
