// hints.md: "## 4.1" begins a stage, "### 1" a level of it.
#pragma once

#include <string>
#include <vector>

namespace grader {

/// The levels of one stage, in order, without their headings.
std::vector<std::string> hints_of(const std::string& markdown, const std::string& stage);

}  // namespace grader
