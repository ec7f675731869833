// The timing worker: our own process on the GPU (grader/gpu/worker_main.cu, build/bin/gpu_worker).
//
// It owns the buffers that are timed, fills A and B with random numbers on the device, poisons C,
// verifies every C, and runs the yardsticks: a naive kernel, and cuBLAS where it can be loaded. It
// is a process of its own so that candidate and yardsticks are timed alike: one request over one
// socket, launches, a wait for the device, one reply.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "grader/errors.hpp"
#include "grader/gpu/protocol.hpp"
#include "grader/gpu/runner.hpp"

namespace grader::gpu {

struct DeviceInfo {
  std::string name, uuid;  ///< "NVIDIA H200", "GPU-8f3c..."
  int major = 0, minor = 0, multiprocessors = 0, clock_khz = 0;
  int driver = 0, runtime = 0;                          ///< 13000 = CUDA 13.0
  int cublas = 0;                                       ///< 130100 = 13.1.0; 0: could not be loaded
  std::string cublas_path;                              ///< or why it could not
  protocol::Sharing sharing = protocol::Sharing::none;  ///< of buffers with runners, here
  std::uint64_t l2_bytes = 0, memory_total = 0, memory_free = 0;
  std::string arch() const { return "sm_" + std::to_string(major) + std::to_string(minor); }
};

/// What is multiplied. C is m x n, rows dense (ld = width).
struct Problem {
  protocol::Type type = protocol::Type::float32;
  int m = 0, n = 0, k = 0;
  double flops() const { return 2.0 * m * n * k; }
  std::uint64_t bytes_a() const;
  std::uint64_t bytes_b() const;
  std::uint64_t bytes_c() const;
};

/// "float" or "float" with tf32, "double", ... as lab.toml and Rung::precision say.
protocol::Type wire_type(const std::string& type, bool tf32);
std::string type_name(protocol::Type type);  ///< "float", "tf32", "bfloat16", ...
/// Units of u that a C may be off: kAllowedTensorUnits for 16-bit and TF32 operands.
double allowed_units(protocol::Type type);

/// How many of each buffer.
struct Buffers {
  unsigned a = 0, b = 0, c = 0;
  unsigned own = 0;  ///< outputs of the yardsticks
};
std::uint64_t bytes_of(const Problem& problem, const Buffers& buffers);

struct WorkerSpec {
  std::string program;  ///< build/bin/gpu_worker
  /// What it shall do as if it were not there, for tests: "files" (buffers are shared by handles),
  /// "cublas".
  std::vector<std::string> without = {};
  std::chrono::milliseconds patience{60000};
};

/// The device has less memory than asked for.
struct DeviceMemoryShort : std::runtime_error {
  DeviceMemoryShort(std::uint64_t needed_, std::uint64_t free_)
      : std::runtime_error("the GPU has too little free memory"), needed(needed_), free(free_) {}
  std::uint64_t needed, free;
};

/// |C - AB| in u(|A||B|), over elements whose exact values were computed: in FP64, of FP64 in twice
/// its precision.
struct Errors {
  double worst = 0, sum = 0;
  std::uint64_t elements = 0;
  double mean() const { return elements > 0 ? sum / static_cast<double>(elements) : 0; }
  void add(const Errors& other) {
    worst = worst > other.worst ? worst : other.worst;
    sum += other.sum;
    elements += other.elements;
  }
};

struct OutputCheck {
  protocol::Fault fault = protocol::Fault::none;
  unsigned launch = 0;  ///< index in the list
  int row = -1, col = -1;
  bool unwritten = false;  ///< what is wrong was never written at all
  unsigned wrong_launches = 0;
  double residual = 0, allowed = 0;
  Errors errors;  ///< of the rows that were recomputed
  bool right() const { return fault == protocol::Fault::none; }
};

/// Every function throws InfraError if the worker dies or does not answer.
class TimingWorker {
 public:
  explicit TimingWorker(WorkerSpec spec);
  ~TimingWorker();
  TimingWorker(const TimingWorker&) = delete;
  TimingWorker& operator=(const TimingWorker&) = delete;

  const DeviceInfo& info() const;
  /// Frees what it held. Throws DeviceMemoryShort; then it holds nothing.
  void prepare(const Problem& problem, const Buffers& buffers);
  const Problem& problem() const;
  const Buffers& buffers() const;
  SharedArenas arenas() const;  ///< what a runner may open
  std::uint64_t free_memory();  ///< now

  /// New A_i and B_j from `seed` (each with a stream of its own); C poisoned.
  void fill(std::uint64_t seed, bool inputs = true, bool outputs = true);
  /// A yardstick into its own outputs; throws InfraError if it is not there for this type.
  Sample run(protocol::Yardstick yardstick, const std::vector<protocol::Launch>& launches);
  bool has(protocol::Yardstick yardstick) const;  ///< for the prepared problem's type
  /// `own`: the yardsticks' outputs.
  OutputCheck verify(std::uint64_t seed, const std::vector<protocol::Launch>& launches,
                     bool own = false);
  /// Of all C_l and what lies between them.
  std::uint64_t checksum();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace grader::gpu
