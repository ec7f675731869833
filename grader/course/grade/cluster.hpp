// A class on a cluster: an array job grades a few submissions per task into the records of the class, on a folder that all
// nodes see. A plan says who is in which task; it is written once, and names of students never come near a command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grader/compile/compile.hpp"
#include "grader/course/grade/grade.hpp"
#include "grader/course/grade/records.hpp"

namespace grader {

/// One student of a plan.
struct Planned {
  std::string key, id;  ///< the record's name in `OUT`; the student's
  Submitted files;
};

struct Plan {
  std::vector<Planned> students;
  std::size_t per_task = 1;  ///< students
  std::string setting, protection, compiler;
  std::string course, stage;
  bool unsafe = false;
  bool on_gpu = false;

  std::size_t tasks() const { return (students.size() + per_task - 1) / per_task; }
};

class Cluster {
 public:
  Cluster(const GradeOptions& options, const Workplace& place, const Records& records);

  /// Whether the class's tasks are waiting or running, from this run or an earlier one.
  bool at_work() const;
  void submit(const Plan& plan) const;
  /// Until nothing of it is waiting or running any more; calls `seen` with keys whose records have
  /// come since, now and then.
  void wait(const Plan& plan, const std::function<void(const Planned&)>& seen) const;
  /// Of the last submission.
  Plan plan() const;

 private:
  const GradeOptions& options_;
  const Workplace& place_;
  std::filesystem::path folder_, out_;
  std::string name_;
};

/// On a node: the students of task SLURM_ARRAY_TASK_ID who have no record yet. A node that differs
/// from the machine of the plan grades nobody, and says so in their records.
ExitCode run_task(const GradeOptions& options);

}  // namespace grader
