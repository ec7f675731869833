#include "common/simgpu/runtime/api/state.hpp"

namespace simgpu::runtime {
namespace {

/// cudaGetLastError is per host thread.
thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

State& State::get() {
  static State* const state = new State;  // deliberately never deleted, see the header
  return *state;
}

Backend& State::backend() {
  if (!backend_) backend_ = make_backend();
  return *backend_;
}

cudaError_t State::fail(const char* call, cudaError_t error, const std::string& why) {
  last_error = error;
  backend().note_error(call, error, why);
  return error;
}

cudaError_t State::synchronize(const char* call) {
  if (sticky_ != cudaSuccess) return repeat_sticky();
  const cudaError_t error = backend().synchronize();
  if (error != cudaSuccess) {
    sticky_ = error;
    return fail(call, error);
  }
  return cudaSuccess;
}

cudaError_t State::repeat_sticky() {
  return last_error = sticky_;
}

cudaError_t State::peek_error() const {
  return last_error;
}

cudaError_t State::take_error() {
  const cudaError_t error = peek_error();
  last_error = cudaSuccess;
  return error;
}

cudaError_t State::unsupported(const char* call, const char* why) {
  last_error = cudaErrorNotSupported;
  backend().note_unsupported(call, why);
  return cudaErrorNotSupported;
}

void State::goes_to(cudaStream_t stream, const std::string& work) {
  const bool is_default =
      stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  if (given_ && is_default) backend().note_default_stream(work);
}

cudaError_t State::reset() {
  sticky_ = cudaSuccess;
  last_error = cudaSuccess;
  for (auto& [stub, kernel] : kernels_) kernel = {kernel.name, false, {}, 0};
  mapped.forget();
  host_ranges.clear();
  const cudaError_t error = backend().reset();
  for (void* const shadow : managed_) map_variable(shadow);
  return error;
}

ImageId State::add_image(const char* ptx) {
  const ImageId image = ++images_;
  backend().add_image(image, ptx ? std::string_view(ptx) : std::string_view());
  return image;
}

void State::add_kernel(const void* stub, ImageId image, const char* mangled) {
  kernels_[stub].name = {image, mangled};
}

void State::add_variable(const void* shadow, ImageId image, const char* mangled) {
  variables_[shadow] = {image, mangled};
}

void State::add_managed(void* shadow, ImageId image, const char* mangled) {
  add_variable(shadow, image, mangled);
  if (!map_variable(shadow)) return;
  managed_.push_back(shadow);
  mapped.to_host(backend(), shadow);
}

bool State::map_variable(void* shadow) {
  const RegisteredVariable& variable = variables_[shadow];
  DevicePtr device = 0;
  std::uint64_t bytes = 0;
  // Code that cannot be used is reported when the program uses it.
  if (backend().variable(variable.image, variable.mangled, device, bytes) != cudaSuccess)
    return false;
  mapped.adopt_variable(shadow, device, bytes);
  return true;
}

Registered* State::kernel(const char* call, const void* stub, cudaError_t& error) {
  const auto found = kernels_.find(stub);
  if (found == kernels_.end()) {
    error = fail(call, cudaErrorInvalidDeviceFunction, "this is not a __global__ function");
    return nullptr;
  }
  Registered& kernel = found->second;
  if (!kernel.known) {
    error = backend().kernel_info(kernel.name, kernel.info);
    if (error != cudaSuccess) {
      fail(call, error);
      return nullptr;
    }
    kernel.known = true;
  }
  error = cudaSuccess;
  return &kernel;
}

const RegisteredVariable* State::variable(const void* shadow) const {
  const auto found = variables_.find(shadow);
  return found == variables_.end() ? nullptr : &found->second;
}

}  // namespace simgpu::runtime
