// What the API functions share: the backend, the errors, the registered code.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/simgpu/include/cuda_runtime_api.h"
#include "common/simgpu/runtime/api/mapped.hpp"
#include "common/simgpu/runtime/backend.hpp"

namespace simgpu::runtime {

/// A kernel of the program: found by the address of its host stub.
struct Registered {
  KernelName name;
  bool known = false;  ///< `info` is filled
  KernelInfo info;
  unsigned max_dynamic_shared = 0;  ///< as set by cudaFuncSetAttribute
};

/// A __device__ or __constant__ variable: found by the address of its host shadow.
struct RegisteredVariable {
  ImageId image = 0;
  std::string mangled;
  std::size_t bytes = 0;
};

/// Memory from cudaHostRegister.
struct HostRange {
  std::size_t bytes = 0;
};

/// One per process, made on first use and never destroyed: registration runs before main in an
/// order that nobody chooses, and unregistration after the last static destructor.
class State {
 public:
  static State& get();

  std::recursive_mutex mutex;

  Backend& backend();

  /// Errors. `fail` records what the program will see from cudaGetLastError and passes `error`
  /// through.
  cudaError_t fail(const char* call, cudaError_t error, const std::string& why = {},
                   ErrorCause cause = ErrorCause::other);
  cudaError_t done(const char* call, cudaError_t error) {
    return error == cudaSuccess ? error : fail(call, error);
  }
  /// The error that made the device unusable, if any: nearly every call returns it from then on.
  cudaError_t sticky() const { return sticky_; }
  /// What such a call returns. cudaGetLastError forgets this error like any other (CUDA 13.0 on an
  /// H200); the next call raises it again.
  cudaError_t repeat_sticky();
  /// Waits for the device; a fault that happened on it becomes sticky now.
  cudaError_t synchronize(const char* call);
  /// The same for the runtime's own use: it does not count as a wait of the program.
  cudaError_t finish(const char* call);
  cudaError_t peek_error();
  cudaError_t take_error();
  cudaError_t unsupported(const char* call, const char* why);
  /// `work`, a call or a kernel, goes to `stream`.
  void goes_to(cudaStream_t stream, const std::string& work);
  void give(cudaStream_t stream) { given_ = stream; }  ///< see GivenStream; null: takes it back
  /// A launch by <<<>>>, which returns nothing, was refused.
  void refused(const void* kernel, cudaError_t error);
  /// The program asks what `error` means: it knows of it.
  void asked(cudaError_t error) {
    std::erase_if(unasked_, [=](const auto& refused) { return refused.second == error; });
  }
  /// Tells of what the host did that no call can return.
  void tell_findings();
  cudaError_t reset();

  ImageId add_image(const char* ptx);
  void add_kernel(const void* stub, ImageId image, const char* mangled);
  void add_variable(const void* shadow, ImageId image, const char* mangled, std::size_t bytes);
  /// A __managed__ one: its place on the host gets the value that it begins with.
  void add_managed(void* shadow, ImageId image, const char* mangled, std::size_t bytes);
  /// Tells the image's code whether the next launch is cooperative, which grid.sync() asks. Does
  /// nothing if the code has no grid.sync().
  void say_how_launched(ImageId image, bool cooperative);
  /// Its kernels order what they do for the host as well (__threadfence_system).
  bool talks_to_host(ImageId image) const;
  /// Null, with the error recorded and in `error`, if `stub` is no kernel of this program or its code
  /// cannot be used.
  Registered* kernel(const char* call, const void* stub, cudaError_t& error,
                     cudaError_t if_none = cudaErrorInvalidDeviceFunction);
  const RegisteredVariable* variable(const void* shadow) const;
  /// What to say of a pointer to the host's copy of a variable of the device, or into it; "" if it is none.
  std::string shadow_text(const void* pointer) const;
  /// A launch is given such pointers: if kernels fail then, it is told why.
  void note_shadows(const Registered& kernel, const std::vector<std::byte>& arguments);

  std::map<std::uintptr_t, HostRange> host_ranges;  ///< by first address
  MappedMemory mapped;

 private:
  State() = default;
  /// Where it is on the device, for host copies; the value on the host stays.
  bool map_variable(void* shadow);

  std::unique_ptr<Backend> backend_;
  cudaError_t sticky_ = cudaSuccess;
  std::string given_shadow_;  ///< see note_shadows()
  cudaStream_t given_ = nullptr;
  /// A call that does work was refused.
  void refused(const char* call, cudaError_t error);
  /// Of refused work whose error the program has not asked for.
  std::map<std::string, cudaError_t> unasked_;
  ImageId images_ = 0;
  struct Image {
    bool has_grid_barrier = false, talks_to_host = false;
    bool said_not_cooperative = false;
  };
  std::unordered_map<ImageId, Image> image_facts_;
  std::unordered_map<const void*, Registered> kernels_;
  std::map<const void*, RegisteredVariable, std::less<>> variables_;
  std::vector<void*> managed_;  ///< of the variables
};

/// The next launch of this thread comes from kernel<<<...>>>(...).
inline thread_local bool called_by_brackets = false;

inline DevicePtr device_ptr(const void* p) {
  return reinterpret_cast<std::uintptr_t>(p);
}

/// Streams: 0, the two named constants, and live handles from cudaStreamCreate.
bool is_stream(cudaStream_t stream);
cudaError_t bad_stream(State& state, const char* call);

/// The runtime keeps this much shared memory of each block for itself since compute capability 8.0.
constexpr int kReservedSharedBytes = 1024;

/// Start of nearly every API function: takes the lock and returns the sticky error if there is one.
#define SIMGPU_API_BEGIN                                             \
  ::simgpu::runtime::State& state = ::simgpu::runtime::State::get(); \
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);     \
  if (state.sticky() != cudaSuccess) return state.repeat_sticky()

}  // namespace simgpu::runtime
