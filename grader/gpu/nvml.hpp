// What the driver's management library says about a GPU, by dlopen("libnvidia-ml.so.1"): clocks,
// throttle reasons, other processes. Optional: without it every field is absent and nothing fails.
//
// CUDA numbers the devices of CUDA_VISIBLE_DEVICES, NVML all of the machine, so a device is looked
// up by its UUID. Clocks are read, never set.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace grader::gpu {

/// A moment of the device.
struct Conditions {
  std::optional<unsigned> sm_clock_mhz;
  std::optional<std::uint64_t> throttle;  ///< bits of nvmlClocksEventReasons
  std::optional<unsigned> power_w, temperature_c;
  std::optional<unsigned> compute_processes;  ///< all of the machine's on this device
};

/// "software power cap, thermal slowdown"; "" for none and for idle.
std::string throttle_text(std::uint64_t reasons);

/// Where the protocol looks at the machine; simulated in tests.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual Conditions now() = 0;
  /// Does the work, and says what the device was like meanwhile. What `work` throws goes on.
  virtual Conditions during(const std::function<void()>& work) {
    work();
    return now();
  }
};

class Nvml : public Observer {
 public:
  /// `uuid` as CUDA prints it: "GPU-8f3c1b1e-...". A MIG instance has no clocks of its own: absent.
  explicit Nvml(const std::string& uuid);
  ~Nvml() override;
  bool found() const;
  std::string driver_version() const;  ///< "580.159.04", "" if unknown
  std::optional<unsigned> max_sm_clock_mhz() const;
  Conditions now() override;
  /// The clock as last read while the work ran, every few milliseconds, and every reason to
  /// throttle that was seen. The driver has a new reading every 100 ms: the last one is of this
  /// work if that takes longer, the ones before it may be of what ran before. A clock read when the
  /// work has ended is that of a device about to rest.
  Conditions during(const std::function<void()>& work) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace grader::gpu
