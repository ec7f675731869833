// A student's launchers on a real GPU, judged by the same code as on the simulated one: the same
// cases, data sets, limits and diagnoses (grader/judge/rung_check.hpp), and large shapes besides.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/gpu/runner.hpp"
#include "grader/judge/rung_check.hpp"
#include "grader/judge/session.hpp"

namespace grader::gpu {

struct HardwareConfig {
  std::string program;  ///< the linked runner
  /// Of one call. A kernel that takes longer hangs: the runner is killed, its kernel with it, and
  /// the next call starts a fresh one.
  std::chrono::milliseconds patience{10000};
  std::optional<std::pair<unsigned, unsigned>> user;
  std::optional<RunnerBox> box;
};

/// Adapts Runner::call() to the judge: an error that the device reported becomes a call that ended,
/// and a device without enough memory is nobody's fault.
class HardwareSession : public Caller {
 public:
  explicit HardwareSession(HardwareConfig config);
  ~HardwareSession() override;
  CallOutcome call(const CallSpec& spec) override;

 private:
  HardwareConfig config_;
  std::unique_ptr<Runner> runner_;
};

/// Shapes that no simulated GPU could compute in time: odd extents of about 1000 and 2000, so that
/// blocks run in many waves and offsets leave 16 bits. `quick`: the first only.
std::vector<Case> large_cases(const Lab& lab, const Stage& stage, bool quick);

/// One call on random data at a large shape, checked by Freivalds' method in O(n^2) per vector, with
/// vectors that nobody can predict.
struct LargeResult {
  std::optional<Failure> failure;
  bool no_memory = false;  ///< the GPU has too little: not tried
  int row = -1;            ///< first row that does not belong to A * B
};
LargeResult check_large(Caller& session, const Rung& rung, const std::string& type,
                        const Case& shape, const DataSeed& data);

/// What the device itself said about a failed call: "cudaErrorIllegalAddress"; "" if nothing.
std::string device_error(const CallOutcome& outcome);

}  // namespace grader::gpu
