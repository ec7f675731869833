// What is asked of Slurm, by its own programs: sinfo, sbatch, squeue.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace grader::slurm {

/// Throws UserError with what is the matter: Slurm is not installed, does not answer, has no such
/// partition, or no node in it is up.
void check_partition(const std::string& partition);

/// False where nobody can be asked.
bool installed();

struct Submission {
  std::string name, partition, gres;  ///< gres "" = none
  std::filesystem::path folder;       ///< where the scripts are and what they print goes
  std::size_t tasks = 0;
  unsigned minutes = 0;         ///< that a task may take
  std::string task, collector;  ///< shell scripts; a task's number is in SLURM_ARRAY_TASK_ID
};
/// An array job that is started again if its node fails, and behind it, whatever became of it, the
/// collector. Returns the array's number.
std::string submit(const Submission& job);

/// A task or collector that waits or runs.
struct Waiting {
  std::string id, state, reason;  ///< "12_3", "PENDING", "Resources"
};
/// The caller's own, of this name. Throws InfraError if Slurm does not answer.
std::vector<Waiting> waiting(const std::string& name);

}  // namespace grader::slurm
