// Grading a class (grader/course/intake says what it may lie in). A program of its own, build/bin/grade: it starts
// the grader once per student, and students do not wait for it to be built.
#pragma once

#include <filesystem>

#include "grader/commands/commands.hpp"

namespace grader {

struct GradeOptions {
  Place place;
  std::filesystem::path submissions, out;
  std::filesystem::path course;     ///< an instructor's course.toml; "" = none
  std::filesystem::path roster;     ///< a table of who is in the course; "" = none
  std::string device;               ///< sim, or gpu: speed, too; "" = sim, or as in the run before
  std::string engine = "local";     ///< or "slurm": tasks of an array job
  std::string partition, gres;      ///< of Slurm; gres "" = none
  bool task = false;                ///< this is such a task; it needs place and out alone
  bool collector = false;           ///< this makes the tables of what they have left
  unsigned jobs = 0;                ///< at a time; 0 = one per core
  bool unsafe = false;              ///< without a box; every report says so
  std::string regrade, stage;       ///< this student again, or this stage of theirs; "" = all
  std::vector<std::string> weaken;  ///< walls of the box to leave out, for tests: see BoxSettings
};
/// A regrade takes what it is not told, such as where the submissions are, from the run before.
ExitCode grade(GradeOptions options);

/// Writes each student's files that count to out/<key>/<lab>/, and out/intake.json: who they are,
/// where each file was found, and why others do not count.
ExitCode collect_class(const GradeOptions& options);

}  // namespace grader
