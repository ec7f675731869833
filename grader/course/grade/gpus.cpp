#include "grader/course/grade/gpus.hpp"

#include <cstdlib>
#include <optional>
#include <set>

#include "grader/commands/common.hpp"
#include "grader/errors.hpp"
#include "grader/messages.hpp"

namespace grader {

Gpus::Gpus() {
  // Numbers of CUDA_VISIBLE_DEVICES as nvidia-smi shows them, for every program that is started.
  ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
  const gpu::Hardware hardware = gpu::probe_hardware(chosen_arch());
  if (!hardware.usable)
    throw UserError("DEVICE=gpu: " + hardware.reason + "." +
                        (hardware.advice.empty() ? std::string() : "\n" + hardware.advice + "."),
                    exit_infrastructure);
  const char* const value = std::getenv("CUDA_VISIBLE_DEVICES");
  const auto visible = value ? std::optional<std::string>(value) : std::nullopt;
  devices_ = gpu::visible_devices(gpu::probe_driver().devices, visible);
  // A slice of a GPU is told by its own name alone, and is all there is then.
  if (value && std::string(value).rfind("MIG-", 0) == 0) {
    devices_ = {hardware.device};
    devices_.front().uuid = value;
  }
  if (devices_.empty()) devices_ = {hardware.device};
  describe("CUDA " + hardware.tools.cuda.text());
}

Gpus::Gpus(std::vector<gpu::Device> devices, std::string toolkit) : devices_(std::move(devices)) {
  describe(toolkit);
}

void Gpus::describe(const std::string& toolkit) {
  std::set<std::string> models;
  for (const auto& one : devices_) models.insert(one.name);
  for (const auto& model : models) about_ += model + ", ";
  about_ += toolkit;
}

Gpus::Turn::Turn(Gpus& gpus, const std::string& not_this) : gpus_(gpus) {
  const std::lock_guard lock(gpus_.guard_);
  const gpu::Device* best = nullptr;
  for (const auto& one : gpus_.devices_) {
    if (one.uuid == not_this && gpus_.devices_.size() > 1) continue;
    if (!best || gpus_.users_[one.uuid] < gpus_.users_[best->uuid]) best = &one;
  }
  name_ = best->uuid;
  ++gpus_.users_[name_];
}

Gpus::Turn::~Turn() {
  const std::lock_guard lock(gpus_.guard_);
  --gpus_.users_[name_];
}

}  // namespace grader
