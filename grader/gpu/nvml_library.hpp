// The driver's management library by dlopen("libnvidia-ml.so.1"), without its header: the header
// comes with the toolkit, the library with the driver. Everything is optional; clocks are read,
// never set. C++17, for the judge (grader/gpu/nvml.hpp) and for programs of nvcc.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace grader::gpu {

class NvmlLibrary {
 public:
  NvmlLibrary() : library_(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    int (*initialise)() = nullptr;
    if (library_ == nullptr || !find(initialise, "nvmlInit_v2") ||
        !find(shutdown_, "nvmlShutdown") || initialise() != success) {
      shutdown_ = nullptr;
      return;
    }
    find(clock_, "nvmlDeviceGetClockInfo");
    find(max_clock_, "nvmlDeviceGetMaxClockInfo");
    if (!find(reasons_, "nvmlDeviceGetCurrentClocksEventReasons"))
      find(reasons_, "nvmlDeviceGetCurrentClocksThrottleReasons");
    find(power_, "nvmlDeviceGetPowerUsage");
    find(temperature_, "nvmlDeviceGetTemperature");
    find(processes_, "nvmlDeviceGetComputeRunningProcesses_v3");
  }
  ~NvmlLibrary() {
    if (shutdown_ != nullptr) shutdown_();
    if (library_ != nullptr) ::dlclose(library_);
  }
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  /// Chooses the device that the others speak of: `uuid` as CUDA prints it, "GPU-8f3c1b1e-...".
  bool choose(const std::string& uuid) {
    int (*by_uuid)(const char*, void**) = nullptr;
    if (shutdown_ == nullptr || !find(by_uuid, "nvmlDeviceGetHandleByUUID") ||
        by_uuid(uuid.c_str(), &device_) != success)
      device_ = nullptr;
    return device_ != nullptr;
  }
  /// The same by "0000:17:00.0", as cudaDeviceGetPCIBusId() gives it.
  bool choose_bus(const char* bus) {
    int (*by_bus)(const char*, void**) = nullptr;
    if (shutdown_ == nullptr || !find(by_bus, "nvmlDeviceGetHandleByPciBusId_v2") ||
        by_bus(bus, &device_) != success)
      device_ = nullptr;
    return device_ != nullptr;
  }
  bool chosen() const { return device_ != nullptr; }

  std::string driver_version() const {
    int (*version)(char*, unsigned) = nullptr;
    std::array<char, 96> text{};
    if (shutdown_ == nullptr || !find(version, "nvmlSystemGetDriverVersion") ||
        version(text.data(), static_cast<unsigned>(text.size())) != success)
      return {};
    return text.data();
  }
  std::optional<unsigned> sm_clock_mhz() const { return read<unsigned>(clock_, clock_sm); }
  std::optional<unsigned> max_sm_clock_mhz() const { return read<unsigned>(max_clock_, clock_sm); }
  std::optional<unsigned> temperature_c() const { return read<unsigned>(temperature_, on_the_gpu); }
  std::optional<unsigned> power_mw() const { return read<unsigned>(power_); }
  std::optional<std::uint64_t> throttle_reasons() const {
    return read<unsigned long long>(reasons_);
  }
  /// Of all users of the device.
  std::optional<unsigned> compute_processes() const {
    if (device_ == nullptr || processes_ == nullptr) return {};
    // The number alone: with no room for the list the call says how many there are.
    unsigned count = 0;
    const int status = processes_(device_, &count, nullptr);
    if (status != success && status != insufficient_size) return {};
    return count;
  }

 private:
  // nvml.h's stable numbers.
  static constexpr int success = 0, insufficient_size = 7, clock_sm = 1, on_the_gpu = 0;

  template <typename Function>
  bool find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(::dlsym(library_, name));
    return function != nullptr;
  }
  template <typename Value, typename Function, typename... Which>
  std::optional<Value> read(Function* function, Which... which) const {
    Value value = 0;
    if (device_ != nullptr && function != nullptr && function(device_, which..., &value) == success)
      return value;
    return {};
  }

  void* library_ = nullptr;
  void* device_ = nullptr;
  int (*shutdown_)() = nullptr;  ///< set: the library is at work
  int (*clock_)(void*, int, unsigned*) = nullptr;
  int (*max_clock_)(void*, int, unsigned*) = nullptr;
  int (*temperature_)(void*, int, unsigned*) = nullptr;
  int (*power_)(void*, unsigned*) = nullptr;
  int (*reasons_)(void*, unsigned long long*) = nullptr;
  int (*processes_)(void*, unsigned*, void*) = nullptr;
};

}  // namespace grader::gpu
