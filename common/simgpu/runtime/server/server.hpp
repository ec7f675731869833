// The judge's side of a runner: serves the CUDA calls of a student's process on a Device that the
// student's process cannot reach otherwise.
//
// One Server speaks to one runner (remote/runner_loop.hpp) over one end of wire::make_ends(), in the
// messages of protocol.hpp. The worker decides what is called and with which matrices; while a call
// runs, the runner's CUDA runtime sends requests, and each is answered under the Policy below:
//
//   launch             kernel name must exist in the worker's own module; the argument block must
//                      have the size of the module's .param list. The reply is "accepted" or a
//                      configuration error that does not depend on any data. Traps, findings and
//                      counts stay here.
//   malloc free memset caps on count and bytes; only the runner's own allocations can be freed;
//                      memset into own allocations, module variables and outputs
//   memcpy D2D         into own allocations, module variables and outputs; into an output never
//                      from memory that received host data
//   memcpy H2D         into own allocations and module variables, capped; never into inputs or
//                      outputs
//   memcpy D2H         refused: the runner never learns a single byte of an input or a result
//   attributes, memory size, pointer queries, streams, synchronisation: constants or no-ops
//   event times        refused: the simulated GPU has no milliseconds
//   anything else      the call's name is noted and the caller gets cudaErrorNotSupported
//
// Nothing that the runner sends can crash or block the server: a malformed, truncated, surplus or
// unknown message ends the call with Outcome::protocol, silence ends it with Outcome::timeout.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/simgpu/device.hpp"
#include "common/simgpu/runtime/error_cause.hpp"
#include "common/simgpu/tensor_map.hpp"

namespace simgpu::runtime {

/// What the runner may do with memory that the worker allocated itself. Memory that was never
/// protected and that the runner did not allocate cannot be used in any request (kernels are
/// checked by the Device, not here: mark inputs with Device::set_read_only as well if a store must
/// be a finding).
enum class Role : std::uint8_t {
  input,   ///< A, B: source of device-to-device copies, nothing else
  output,  ///< C: memset and device-to-device copies into it as well
};

/// Limits of one call (live allocations: of the runner's life).
struct Policy {
  std::uint64_t host_to_device_bytes = 64u << 10;  ///< sum over the call, variables included
  unsigned launches = 4096;
  std::uint64_t argument_bytes = 64u << 10;  ///< sum over the call's launches
  unsigned requests = 200000;                ///< of every kind
  unsigned live_allocations = 256;
  std::uint64_t live_bytes = 1ull << 30;
  /// Sum of device-to-device copies and memsets; of a copy in two dimensions, by rows, and a row
  /// counts as 256 bytes at least.
  std::uint64_t transfer_bytes = 8ull << 30;
  LaunchOptions launch{};  ///< checks, counters, instruction budget of each launch
  /// Asked when a runner's patience is over: true if it was kept from running, by other work on the
  /// machine, and should get more time. Empty: wall time alone decides.
  std::function<bool()> starved{};
};

/// Even a starved runner gets no more than so many times its patience.
constexpr int kStarvedPatience = 15;

/// One matrix argument: what the launcher sees as a MatrixView.
struct View {
  DevicePtr data = 0;
  std::int32_t rows = 0, cols = 0, ld = 0;
};

enum class Outcome : std::uint8_t {
  returned,  ///< the entry came back
  threw,     ///< a C++ exception left the entry; `message` is its what(), written by the student's
             ///< process
  closed,  ///< the runner closed the channel: it crashed, called exit, or was killed; waitpid tells
           ///< which
  timeout,   ///< no request within the patience, or more of them than the policy allows
  protocol,  ///< the runner sent something that is no request; `message` says what
};
std::string_view to_string(Outcome outcome);

/// A call that the rules or the simulated runtime do not allow. Distinct (call, reason) pairs once
/// each.
struct Refusal {
  std::string call;          ///< "cudaMemcpy (device to host)", "cudaMallocManaged"
  std::string reason;        ///< one sentence for the student
  bool unsupported = false;  ///< not a rule of grading: the simulated runtime lacks the function
  std::uint64_t times = 1;
};

/// An error code that a CUDA call returned to the student's code, in order of occurrence; refusals
/// are not repeated here (their calls returned cudaErrorNotPermitted or cudaErrorNotSupported).
struct ApiError {
  std::string call;     ///< "kernel launch", "cudaMalloc" ...
  std::string kernel;   ///< demangled, launches only
  int code = 0;         ///< cudaError_t
  std::string name;     ///< "cudaErrorInvalidConfiguration"
  std::string message;  ///< one sentence: what was wrong, with the numbers
  ErrorCause cause = ErrorCause::other;
  Dim3 grid{0, 0, 0}, block{0, 0, 0};  ///< launches only
  std::uint64_t shared_bytes = 0;      ///< dynamic; launches only
};

/// Device-to-device copies and memsets move data too: goals count them beside the kernels.
struct Transfer {
  enum class Kind : std::uint8_t { copy, fill, from_host };
  Kind kind = Kind::copy;
  DevicePtr dst = 0, src = 0;  ///< src 0 for fill and from_host
  std::uint64_t bytes = 0;
  std::uint64_t launches = 0;  ///< of the call that went before it
};

struct CallResult {
  Outcome outcome = Outcome::returned;
  std::string message;    ///< see Outcome; text of the runner is capped at 4 KiB, not escaped
  std::string answer;     ///< `ask` only: what the function returned, capped at 4 KiB, not escaped
  bool answered = false;  ///< `ask` only: false if the function returned a null pointer
  std::vector<LaunchReport> launches;  ///< in order
  /// accepted after one that did not complete: never run, as on hardware
  std::uint64_t skipped_launches = 0;
  std::vector<Refusal> refused;
  std::vector<ApiError> errors;  ///< at most 64
  int last_error = 0;  ///< cudaPeekAtLastError() when the entry returned: an error nobody read
  /// Kernels and calls that went to a default stream, and not to the one that the entry was given;
  /// each once, at most 64.
  std::vector<std::string> default_stream;
  /// The last one that went to another stream yet, if what comes to the given stream need not wait for it.
  std::vector<std::string> unordered;
  /// A tensor map was refused, and nothing has been launched since: an exception is about it.
  BrokenRule refused_map;
  std::vector<Transfer> transfers;
  std::uint64_t live_allocations = 0,
                live_bytes = 0;  ///< what the runner still holds (a leak, if it grows)
};

class Server {
 public:
  /// `fd` is the worker's end of the channel; not owned. `modules` are the worker's own parse of
  /// the code, in the order in which its files are linked: where two have a kernel of one name, the
  /// linker keeps the first one's launch, and so does the server.
  Server(Device& device, std::vector<ModuleId> modules, Policy policy, int fd);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Policy& policy();                         ///< may change between calls
  void protect(DevicePtr base, Role role);  ///< a live allocation's base address
  void unprotect(DevicePtr base);

  /// How long the runner may think: summed over one call, the Device's own time not included.
  using Patience = std::chrono::nanoseconds;

  /// Waits for the runner's first message. `entries` are the names of its table, in order.
  struct Hello {
    Outcome outcome = Outcome::returned;
    std::string message;
    std::vector<std::string> entries;
  };
  Hello wait_hello(Patience patience);

  /// Calls a launcher with three views and serves it until it returns. After any outcome but
  /// `returned` and `threw` the runner is useless: kill it.
  CallResult call(std::uint32_t entry, const View& a, const View& b, const View& c,
                  Patience patience);
  /// Calls a function without arguments that returns text. Device requests are served as usual.
  CallResult ask(std::uint32_t entry, Patience patience);

  /// Frees what the runner allocated and forgot. Its pointers dangle then, as after
  /// cudaDeviceReset.
  void free_runner_allocations();
  /// Tells the runner to leave its loop; it then exits with status 0. Never waits.
  void dismiss();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace simgpu::runtime
