// The runner of a real GPU: a process with the student's launchers, see grader/gpu/protocol.hpp.
//
// Two ways to use it. `call` and `ask` are for correctness and for compute-sanitizer: the runner
// allocates matrices of exactly the right size, copies in, launches, waits, copies out. `open` and
// `run` are for timing: it launches a list of products on buffers of the worker. Nothing of the
// judge's is in its address space, and whatever happens to it is an outcome, never an accident: a
// crash, exit(), a hang (patience runs out, the process is killed, and with it its kernels), or
// nonsense on the socket.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grader/gpu/protocol.hpp"
#include "grader/judge/session.hpp"
#include "grader/os/box.hpp"
#include "grader/os/budget.hpp"

namespace grader::gpu {

/// Around a stranger's runner.
struct RunnerBox {
  BoxSettings settings;
  std::string uuid;                  ///< of the one GPU that it sees
  std::vector<std::string> devices;  ///< device_files(uuid)
  std::shared_ptr<Budget> budget;    ///< of the submission; once it is spent every request hangs
};

/// `process` as it would run unboxed becomes one that runs in such a box; its program is /box/runner
/// there. Of our environment it gets only where the driver's libraries are.
ProcessSpec in_gpu_box(const RunnerBox& box, ProcessSpec process);

struct RunnerSpec {
  std::string program;
  std::vector<std::string> wrapper;  ///< before the program: {"compute-sanitizer", "--tool", ..}
  std::chrono::milliseconds patience{10000};        ///< of one request; then the runner is killed
  std::chrono::milliseconds first_patience{60000};  ///< until its first message: it makes a context
  std::vector<std::string> environment;             ///< besides LC_ALL and gpu_environment()
  std::size_t output_bytes = 1u << 20;  ///< of stdout and stderr each, the sanitizer's included
  std::optional<std::pair<unsigned, unsigned>> user;
  std::optional<RunnerBox> box;  ///< instead of a user; never with a wrapper
};

/// Variables that choose and find a GPU, taken from ours where they are set: CUDA_VISIBLE_DEVICES,
/// CUDA_DEVICE_ORDER, LD_LIBRARY_PATH, CUDA_HOME, HOME; nothing else of our environment.
std::vector<std::string> gpu_environment();

/// One list of launches, as the judge saw it.
struct Sample {
  double seconds = 0;         ///< request sent to reply received, by the judge's steady clock
  double device_seconds = 0;  ///< what the other process's events say; shown only
  unsigned launches = 0;
  double per_launch_ms() const { return launches ? 1e3 * seconds / launches : 0; }
};

/// How a request to the runner ended, other than by doing what was asked.
struct RunnerFault {
  grader::CallEnd end = grader::CallEnd::returned;
  int signal = 0, exit_status = 0;
  int code = 0;         ///< cudaError_t
  std::string call;     ///< the call of the runtime that reported it
  std::string name;     ///< "cudaErrorIllegalAddress"
  std::string message;  ///< the error's meaning, or what()
  std::string said;     ///< what it printed, capped, printable
  bool none() const { return end == grader::CallEnd::returned && code == 0; }
};

/// Buffers of the worker that a runner may open.
struct SharedArenas {
  protocol::Arenas layout;
  wire::Files files = wire::kNoFiles;  ///< the worker's, for as long as its buffers stay
};

struct TimedOutcome {
  Sample sample;
  RunnerFault fault;
};

class Runner {
 public:
  explicit Runner(RunnerSpec spec);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Own buffers. Errors of the runtime are in result.errors (call, name, message, code) and, for a
  /// refused launch, in run.failed_launch. `reuse`, `checks`, `samples` and the instruction budget
  /// mean nothing here. A runner that died is started again by the next call.
  CallOutcome call(const CallSpec& spec);
  AskOutcome ask(const std::string& function);

  /// The worker's buffers. The fault says why not.
  RunnerFault open(const SharedArenas& arenas);
  /// All launches, then the whole device is waited for, then the reply. On return the process is
  /// stopped (SIGSTOP, the whole group) until the next request: no thread of it can launch anything
  /// while others are timed or its outputs are verified.
  TimedOutcome run(const std::string& entry, const std::vector<protocol::Launch>& launches);

  bool has(const std::string& entry);
  bool alive() const;
  /// SIGKILL, and its kernels with it. Returns when the process is gone.
  void kill();
  /// Closes the socket, so that the runner leaves by itself, and waits: under compute-sanitizer the
  /// summary comes at the end. The text is everything it printed to both streams; status as
  /// waitpid's.
  struct Farewell {
    bool left = false;  ///< by itself, in time
    int status = 0;
    std::string output, errors;
  };
  Farewell finish(std::chrono::milliseconds patience);

 private:
  struct State;
  RunnerSpec spec_;
  std::unique_ptr<State> state_;
};

}  // namespace grader::gpu
