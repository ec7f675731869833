#include "grader/course/grade/gpus.hpp"

#include <cstdlib>
#include <set>

#include "grader/commands/common.hpp"

namespace grader {

Gpus::Gpus() {
  const gpu::Hardware hardware = gpu::probe_hardware(chosen_arch());
  if (!hardware.usable) throw gpu::no_gpu(hardware);
  devices_ = hardware.visible;
  // A slice of a GPU is told by its own name alone, and is all there is then.
  const char* const value = std::getenv("CUDA_VISIBLE_DEVICES");
  if (value && std::string(value).rfind("MIG-", 0) == 0) {
    devices_ = {hardware.device};
    devices_.front().uuid = value;
  }
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

Gpus::Lease::Lease(Gpus& gpus, const std::string& not_this) : gpus_(gpus) {
  const std::lock_guard lock(gpus_.guard_);
  const gpu::Device* best = nullptr;
  for (const auto& one : gpus_.devices_) {
    if (one.uuid == not_this && gpus_.devices_.size() > 1) continue;
    if (!best || gpus_.users_[one.uuid] < gpus_.users_[best->uuid]) best = &one;
  }
  name_ = best->uuid;
  ++gpus_.users_[name_];
}

Gpus::Lease::~Lease() {
  const std::lock_guard lock(gpus_.guard_);
  --gpus_.users_[name_];
}

}  // namespace grader
