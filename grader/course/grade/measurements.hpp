// What a real GPU said of a submission, in its record: what of it is no verdict yet, and how a later
// measurement takes its place.
#pragma once

#include <string>
#include <vector>

#include "grader/course/grade/records.hpp"
#include "grader/labs/lab.hpp"

namespace grader {

/// A stage that is right on the simulated GPU, and why nobody can say how it does on a real one.
struct Undecided {
  std::string stage;
  std::string why;   ///< a sentence
  std::string uuid;  ///< of the GPU that was tried last; "" = none was
};
/// In a record of a class that is graded on a GPU: speed that was too noisy or is suspect, and stages
/// for which the machine failed. Not what this model of GPU cannot run or has no bar for: measuring
/// again would not help.
std::vector<Undecided> undecided(const Record& record, const std::vector<Lab>& labs);

/// Writes beside each stage which GPU it ran on (`record.gpu`).
void name_gpu(Record& record);

/// Puts what a later run measured of this stage in the place of what `record` has, and counts the
/// attempts. No effect if that run came to no measurement.
void take_measurement(Record& record, const Record& later, const std::string& stage);

}  // namespace grader
