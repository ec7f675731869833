// One student again: what stood before is kept beside what stands now.
#pragma once

#include <string>

#include "grader/course/grade/records.hpp"

namespace grader {

/// `stage`: the one that was graded alone, "" = all. It takes its place among the others of
/// `before`; of which submission those are stays as it was, so that the next run grades all of it
/// if that has changed. Returns what has changed, a line per stage.
std::string keep_beside(const Record& before, const std::string& stage, Record& record);

}  // namespace grader
