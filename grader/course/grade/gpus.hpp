// The GPUs that a class is graded on. Each submission gets one, the one with the fewest others; on it
// they measure one after the other (grader/gpu/turn.hpp), while compilers and the simulated GPU work
// for the next.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "grader/gpu/toolchain.hpp"

namespace grader {

class Gpus {
 public:
  /// Those of this machine that CUDA_VISIBLE_DEVICES leaves. Throws UserError with what is missing
  /// if there is none that can be used.
  Gpus();
  /// In tests.
  Gpus(std::vector<gpu::Device> devices, std::string toolkit);

  const std::vector<gpu::Device>& devices() const { return devices_; }
  /// Models and toolkit, for people.
  const std::string& about() const { return about_; }

  /// The GPU of one submission, for as long as this exists: the one with the fewest others.
  class Lease {
   public:
    /// Another GPU than `not_this` (a UUID, "" = any) if there is another.
    Lease(Gpus& gpus, const std::string& not_this);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    /// For CUDA_VISIBLE_DEVICES.
    const std::string& name() const { return name_; }

   private:
    Gpus& gpus_;
    std::string name_;
  };

 private:
  void describe(const std::string& toolkit);

  std::vector<gpu::Device> devices_;
  std::string about_;
  std::mutex guard_;
  std::map<std::string, unsigned> users_;
};

}  // namespace grader
