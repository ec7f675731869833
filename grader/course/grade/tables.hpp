// The class as a whole: grades.csv, grades.json, and the table on the terminal.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/course/grade/measurements.hpp"
#include "grader/course/grade/points.hpp"
#include "grader/course/intake/intake.hpp"

namespace grader {

/// "2.5", "7".
std::string plain(double value);

/// One of intake.students(), in their order. Of a record only what the tables say: whole ones of
/// hundreds would fill the memory.
struct Graded {
  Graded() = default;
  Graded(const Record& record, const std::vector<Lab>& labs, Standing standing);

  GradeStatus status = GradeStatus::pending;
  std::string remarks;
  std::vector<Undecided> undecided;
  Standing standing;
};

struct ClassTable {
  const intake::Intake& intake;
  const std::vector<Lab>& labs;
  const Course& course;
  std::string protection, setting;
  bool measured = false;  ///< on a GPU, too
  std::vector<Graded> entries;

  void write(const std::filesystem::path& out) const;
  void print() const;
};

}  // namespace grader
