#include "grader/gpu/nvml.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "grader/gpu/nvml_library.hpp"

namespace grader::gpu {
namespace {

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
  NvmlLibrary library;
};

Nvml::Nvml(const std::string& uuid) : state_(std::make_unique<State>()) {
  state_->library.choose(uuid);
}

Nvml::~Nvml() = default;

bool Nvml::found() const {
  return state_->library.chosen();
}

std::string Nvml::driver_version() const {
  return state_->library.driver_version();
}

std::optional<unsigned> Nvml::max_sm_clock_mhz() const {
  return state_->library.max_sm_clock_mhz();
}

Conditions Nvml::now() {
  const NvmlLibrary& nvml = state_->library;
  Conditions conditions;
  conditions.sm_clock_mhz = nvml.sm_clock_mhz();
  conditions.throttle = nvml.throttle_reasons();
  conditions.power_w = nvml.power_mw();
  if (conditions.power_w) *conditions.power_w /= 1000;
  conditions.temperature_c = nvml.temperature_c();
  conditions.compute_processes = nvml.compute_processes();
  return conditions;
}

Conditions Nvml::during(const std::function<void()>& work) {
  using namespace std::chrono_literals;
  const NvmlLibrary& nvml = state_->library;
  std::optional<unsigned> clock;  // as last read while the work ran
  std::uint64_t throttle = 0;
  {
    std::jthread reader([&](const std::stop_token& stop) {
      std::mutex alone;
      std::condition_variable_any wake;
      std::unique_lock lock(alone);
      while (!wake.wait_for(lock, stop, 5ms, [&] { return stop.stop_requested(); })) {
        if (const auto read = nvml.sm_clock_mhz()) clock = read;
        throttle |= nvml.throttle_reasons().value_or(0);
      }
    });
    work();
  }
  Conditions conditions = now();
  if (clock) conditions.sm_clock_mhz = clock;
  if (conditions.throttle) *conditions.throttle |= throttle;
  return conditions;
}

}  // namespace grader::gpu
