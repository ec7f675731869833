// What the grader tells its caller when it cannot go on, and the exit codes scripts rely on.
#pragma once

#include <stdexcept>
#include <string>

namespace grader {

/// Exit codes of every command. 0 only if everything selected passed.
enum ExitCode : int {
  exit_ok = 0,
  exit_failed = 1,          ///< at least one selected check failed
  exit_build = 2,           ///< the student's file does not compile or link
  exit_infrastructure = 3,  ///< the machine's fault, or DEVICE=gpu without a GPU
  exit_usage = 4,           ///< wrong option, unknown lab, bad course.toml
  exit_inconclusive = 5,    ///< only noisy timings are left
};

/// One clear error, complete as it is: what is wrong and what to do. Shown as it stands, without a
/// prefix.
struct UserError : std::runtime_error {
  UserError(const std::string& message, ExitCode code)
      : std::runtime_error(message), exit_code(code) {}
  ExitCode exit_code;
};

/// The grader or the machine is at fault, never the student.
struct InfraError : UserError {
  explicit InfraError(const std::string& message) : UserError(message, exit_infrastructure) {}
};

}  // namespace grader
