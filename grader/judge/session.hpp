// A session: one device worker and one runner, started together and thrown away together.
//
//   judge  <-- socket -->  device worker  <-- channel -->  runner
//                          Device, inputs, counters        the student's host code
//
// The runner speaks only to the worker. Its exit status, its output and its silence are facts for a
// verdict, never a verdict. When it dies or hangs, the next call starts a fresh pair, so one bad
// stage does not spoil the others.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "common/simgpu/runtime/server/server.hpp"
#include "grader/compile/compile.hpp"
#include "grader/judge/protocol.hpp"
#include "grader/os/box.hpp"
#include "grader/os/budget.hpp"
#include "grader/os/process.hpp"

namespace grader {

/// How a call ended, seen from outside the student's process.
enum class CallEnd {
  returned,
  threw,     ///< a C++ exception left the launcher
  crashed,   ///< killed by a signal
  exited,    ///< called exit() or _exit() in the middle of the call
  hung,      ///< the host code went silent
  memory,    ///< ran into the memory limit
  protocol,  ///< spoke nonsense to the device, or closed its descriptor
  infra,     ///< our own fault: the worker died or did not answer
};

struct SessionConfig {
  std::string grader_program;  ///< path of this very program
  /// Host time of one call, the Device's own not included.
  std::chrono::milliseconds patience{4000};
  std::uint64_t runner_memory = 2ull << 30;           ///< bytes
  unsigned host_threads = 1;                          ///< of the simulated GPU, per worker
  std::optional<std::pair<unsigned, unsigned>> user;  ///< uid, gid that both drop to, unboxed
  std::optional<BoxSettings> box;  ///< a stranger's code: worker and runner boxed
  std::shared_ptr<Budget> budget;  ///< none: only each call is limited
  /// For each PTX text of the build, in order: whether a worker has already parsed all of it, so that
  /// others need to parse only the kernels that they run.
  std::vector<bool> known;
};

struct CallOutcome {
  CallEnd end = CallEnd::returned;
  int signal = 0, exit_status = 0;
  std::string message;  ///< what(), protocol error, or what broke on our side
  std::string said;     ///< what the runner printed meanwhile, both streams, capped, printable
  diag::Run run;
  simgpu::runtime::CallResult result;
  simgpu::DevicePtr a_base = 0, b_base = 0, c_base = 0;
  bool from_outside = true;  ///< if end is infra: the submission cannot have caused it
};

struct AskOutcome {
  CallEnd end = CallEnd::returned;
  int signal = 0, exit_status = 0;
  std::string message;
  bool from_outside = true;  ///< see CallOutcome
  bool answered = false;
  std::string answer;
};

struct CallSpec {
  std::string entry;  ///< "gemm_naive<float>"
  diag::Matrix a, b, c;
  bool reuse = false, checks = true;
  std::uint64_t instruction_budget = 1ull << 32;  ///< thread instructions, of each launch
  bool samples = false;                           ///< fill LaunchReport::samples
  std::optional<simgpu::WarpOf> sampled_warp{};   ///< see LaunchOptions
  std::uint32_t tensor_gain = 1;  ///< of the simulated tensor cores: factor of each product
};

/// Runs a student's launcher once, on the simulated GPU (Session) or on a real one
/// (gpu::HardwareSession). Everything above, from cases to diagnoses, is the same for both.
class Caller {
 public:
  Caller() = default;
  virtual ~Caller() = default;
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  virtual CallOutcome call(const CallSpec& spec) = 0;
};

class Session : public Caller {
 public:
  Session(const Build& build, SessionConfig config);
  ~Session() override;

  /// If boxed, calls that something outside may have ended (SIGKILL, a box that is gone, a dead
  /// worker) are tried again. If a worker dies three times in the same call, the submission did it.
  CallOutcome call(const CallSpec& spec) override;
  /// Calls a function without arguments that returns text; tries again as call() does.
  AskOutcome ask(const std::string& function);
  /// Ends worker and runner; the next call starts new ones.
  void close();

  /// The build's units after the worker has parsed their PTX: if it refuses a text, that is a compile
  /// error of the file. Starts a pair if there is none.
  std::vector<SourceUnit> load();

 private:
  CallOutcome call_once(const CallSpec& spec);
  AskOutcome ask_once(const std::string& function);
  /// `once` again while its outcome may have come from outside; see call().
  template <typename Outcome, typename Once>
  Outcome repeated(const Once& once);
  struct Pair;
  struct Ending {
    CallEnd end = CallEnd::infra;
    int signal = 0, exit_status = 0;
    std::string message, said;
    bool from_outside = true;  ///< see CallOutcome
  };
  void start();
  /// Sends a request to the worker and waits for its reply. Throws wire::Error if there is none, or
  /// none that makes sense.
  template <typename Reply, typename Request>
  Reply exchange(protocol::Kind kind, const Request& request, const std::string& during);
  std::uint32_t entry_index(const std::string& name) const;
  /// Ends the pair and says how the runner died.
  Ending end_pair(simgpu::runtime::Outcome outcome, const std::string& message);
  Ending end_worker(const std::string& what);
  /// What the runner has printed since the last call, both streams.
  std::string newly_said();

  const Build& build_;
  SessionConfig config_;
  std::unique_ptr<Pair> pair_;
  protocol::LoadReply loaded_;
  std::size_t heard_out_ = 0, heard_err_ = 0;  ///< bytes of each stream that newly_said() has told
  bool placed_ = false;  ///< this pair's worker holds the buffers of an earlier call
};

/// A path that starts the running program once more.
std::string own_program();

}  // namespace grader
