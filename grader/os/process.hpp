// Child processes as a grader needs them: an emptied environment, no inherited descriptors, limits,
// capped output, and a certain end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/wire/unique_fd.hpp"

namespace grader {

using wire::UniqueFd;

/// 0 = not limited. Applied in the child before exec.
struct ProcessLimits {
  std::uint64_t cpu_seconds = 0;
  std::uint64_t address_bytes = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t open_files = 0;
  std::uint64_t processes = 0;  ///< per user id; binds no root
};

struct ProcessSpec {
  std::vector<std::string> argv;         ///< argv[0] is a path or is looked up in PATH
  std::vector<std::string> environment;  ///< the whole of it; nothing is inherited
  std::string folder;                    ///< working directory, "" = the caller's
  std::vector<std::pair<int, int>>
      descriptors;  ///< (ours, theirs); everything else above 2 is closed
  ProcessLimits limits;
  std::size_t output_bytes = 64u << 10;  ///< cap on stdout and stderr each; the rest is thrown away
  std::optional<std::pair<uid_t, gid_t>> user;  ///< become this user, with no supplementary groups
  bool quiet = true;                            ///< false: stdout and stderr are the caller's own
  /// Boxed (grader/os/box.hpp): the child's number of the descriptor on which process 1 of the box
  /// reports. Status and death are then those of the program in the box. 0: not boxed.
  int report_descriptor = 0;
};

/// Environment variables a compiler needs, taken from ours by name, with fixed fallbacks.
std::vector<std::string> minimal_environment();

/// A running child. Leads its own process group and session; dies with its parent; killed and
/// reaped on destruction together with its group.
class Process {
 public:
  explicit Process(const ProcessSpec& spec);  ///< throws InfraError if it cannot be started
  ~Process();
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;

  pid_t pid() const { return pid_; }
  /// Drains output until the child is dead or the time is up. True: it is dead, `status()` holds.
  bool wait(std::chrono::milliseconds timeout);
  /// Waits until `fd` can be read (or is closed), draining the child's output meanwhile: a child
  /// that prints a lot must not block on a full pipe. False: the time is up.
  bool drain_until_readable(int fd, std::chrono::milliseconds timeout);
  /// SIGKILL to the whole group, or to process 1 of the box and so to all of it, then reaps. Does
  /// nothing once the child is dead: its group was ended then.
  void kill();
  /// The program's own process id as seen from here: a box's once it runs, which is waited for.
  /// -1: cannot be told.
  pid_t program_pid();
  /// Why a box did not come to run its program; "" = it did, or is no box. Holds once it is dead.
  std::string box_trouble() const;
  /// The box ended without reporting on its program: something outside ended it.
  bool vanished() const { return boxed_ && dead_ && !reported_; }
  int status() const { return status_; }  ///< as waitpid gives it
  /// Processor time of the program and of what it waited for. Holds once it is dead.
  double cpu_seconds() const { return cpu_seconds_; }
  const std::string& output() const { return out_; }
  const std::string& errors() const { return err_; }
  bool output_capped() const { return capped_; }

 private:
  void drain(int timeout_ms);
  bool reap(bool block);
  void read_report(int timeout_ms);

  pid_t pid_ = -1;
  bool dead_ = false;
  int status_ = 0;
  double cpu_seconds_ = 0;
  UniqueFd out_pipe_, err_pipe_, report_pipe_;
  std::string out_, err_;
  std::size_t cap_ = 0;
  bool capped_ = false;
  bool boxed_ = false, reported_ = false;
  std::string report_;
};

struct RunResult {
  bool timed_out = false;
  int status = 0;
  double cpu_seconds = 0;
  std::string output, errors;
  bool capped = false;
  bool ok() const { return !timed_out && status == 0; }
};

/// Runs to the end, or kills after `timeout`.
RunResult run_process(const ProcessSpec& spec, std::chrono::milliseconds timeout);

/// The same for a program that does not kill itself: a SIGKILL before its processor time is used up,
/// or a box that is gone, comes from outside, so the program runs again. Throws InfraError when that
/// happens three times.
RunResult run_to_its_own_end(const ProcessSpec& spec, std::chrono::milliseconds timeout);

/// "SIGSEGV (invalid memory access)"; "signal 42" for what has no common name.
std::string signal_name(int signal);

/// First file named `program` in PATH that can be executed; `program` itself if it holds a slash;
/// "" if none.
std::string find_program(const std::string& program);

}  // namespace grader
