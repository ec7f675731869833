#include "grader/gpu/nvml.hpp"

#include <dlfcn.h>

#include <array>
#include <utility>

namespace grader::gpu {
namespace {

// nvml.h's stable names and numbers; the header comes with the toolkit, the library with the
// driver.
using Device = void*;
constexpr int success = 0, insufficient_size = 7, clock_sm = 1, temperature_gpu = 0;

struct ProcessInfo {  // nvmlProcessInfo_t, as _v3 of the function below writes it
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

constexpr std::array<std::pair<std::uint64_t, const char*>, 8> reason_names = {{
    {0x2, "application clocks"},
    {0x4, "software power cap"},
    {0x8, "hardware slowdown"},
    {0x10, "sync boost"},
    {0x20, "software thermal slowdown"},
    {0x40, "hardware thermal slowdown"},
    {0x80, "hardware power brake"},
    {0x100, "display clocks"},
}};

}  // namespace

std::string throttle_text(std::uint64_t reasons) {
  std::string text;
  for (const auto& [bit, name] : reason_names)
    if ((reasons & bit) != 0) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

struct Nvml::State {
  void* library = nullptr;
  Device device = nullptr;
  bool initialised = false;
  std::string driver;

  int (*shutdown)() = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*max_clock)(Device, int, unsigned*) = nullptr;
  int (*reasons)(Device, unsigned long long*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*temperature)(Device, int, unsigned*) = nullptr;
  int (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;

  template <typename Function>
  bool find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(::dlsym(library, name));
    return function != nullptr;
  }

  void open(const std::string& uuid) {
    library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    int (*initialise)() = nullptr;
    int (*by_uuid)(const char*, Device*) = nullptr;
    int (*driver_version)(char*, unsigned) = nullptr;
    if (!find(initialise, "nvmlInit_v2") || !find(shutdown, "nvmlShutdown") ||
        !find(by_uuid, "nvmlDeviceGetHandleByUUID") || initialise() != success)
      return;
    initialised = true;
    std::array<char, 96> text{};
    if (find(driver_version, "nvmlSystemGetDriverVersion") &&
        driver_version(text.data(), static_cast<unsigned>(text.size())) == success)
      driver = text.data();
    if (by_uuid(uuid.c_str(), &device) != success) {
      device = nullptr;
      return;
    }
    find(clock, "nvmlDeviceGetClockInfo");
    find(max_clock, "nvmlDeviceGetMaxClockInfo");
    if (!find(reasons, "nvmlDeviceGetCurrentClocksEventReasons"))
      find(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    find(power, "nvmlDeviceGetPowerUsage");
    find(temperature, "nvmlDeviceGetTemperature");
    find(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  }
  ~State() {
    if (initialised) shutdown();
    if (library != nullptr) ::dlclose(library);
  }
};

Nvml::Nvml(const std::string& uuid) : state_(std::make_unique<State>()) {
  state_->open(uuid);
}

Nvml::~Nvml() = default;

bool Nvml::found() const {
  return state_->device != nullptr;
}

std::string Nvml::driver_version() const {
  return state_->driver;
}

std::optional<unsigned> Nvml::max_sm_clock_mhz() const {
  unsigned mhz = 0;
  if (found() && state_->max_clock && state_->max_clock(state_->device, clock_sm, &mhz) == success)
    return mhz;
  return {};
}

Conditions Nvml::now() {
  Conditions conditions;
  if (!found()) return conditions;
  const State& nvml = *state_;
  unsigned value = 0;
  if (nvml.clock && nvml.clock(nvml.device, clock_sm, &value) == success)
    conditions.sm_clock_mhz = value;
  if (unsigned long long bits = 0; nvml.reasons && nvml.reasons(nvml.device, &bits) == success)
    conditions.throttle = bits;
  if (nvml.power && nvml.power(nvml.device, &value) == success) conditions.power_w = value / 1000;
  if (nvml.temperature && nvml.temperature(nvml.device, temperature_gpu, &value) == success)
    conditions.temperature_c = value;
  if (nvml.processes) {
    // The number alone: with no room for the list the call says how many there are.
    unsigned count = 0;
    const int status = nvml.processes(nvml.device, &count, nullptr);
    if (status == success || status == insufficient_size) conditions.compute_processes = count;
  }
  return conditions;
}

}  // namespace grader::gpu
