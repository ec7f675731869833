#include "common/simgpu/runtime/api/state.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>

#include "common/simgpu/runtime/api/in_flight.hpp"
#include "common/simgpu/runtime/api/stream_order.hpp"
#include "common/simgpu/runtime/error_texts.hpp"

namespace simgpu::runtime {
namespace {

/// cudaGetLastError is per host thread.
thread_local cudaError_t last_error = cudaSuccess;
/// cooperative_groups.h: whether a launch was not cooperative.
constexpr const char* kGridBarrier = "_ZN18cooperative_groups8__simgpuL15not_cooperativeE";

}  // namespace

State& State::get() {
  static State* const state = new State;  // deliberately never deleted, see the header
  return *state;
}

Backend& State::backend() {
  if (!backend_) {
    backend_ = make_backend();
    std::atexit([] {  // before the backend's own end, which was registered earlier
      State& state = get();
      const std::lock_guard<std::recursive_mutex> lock(state.mutex);
      state.tell_findings();
      for (const auto& [refused, error] : state.unasked_) state.backend().note_finding(refused);
    });
  }
  return *backend_;
}

void State::refused(const void* kernel, cudaError_t error) {
  const auto found = kernels_.find(kernel);
  unasked_.emplace(
      "the launch of " +
          (found != kernels_.end() && found->second.known ? "'" + found->second.info.name + "'"
                                                          : "a kernel") +
          " was refused with " + error_name(error) +
          ", and the program never asked: cudaGetLastError() must follow a launch",
      error);
}

void State::tell_findings() {
  for (const std::string& touch : InFlight::get().take_touches()) backend().note_finding(touch);
}

void State::refused(const char* call, cudaError_t error) {
  // What programs try out, and whose result they look at, is not among these.
  constexpr std::string_view kWork[] = {"cudaMemcpy", "cudaMemset", "cudaFree", "cudaGraph",
                                        "cudaStreamBeginCapture"};
  const std::string_view name = call;
  for (const std::string_view work : kWork)
    if (name.substr(0, work.size()) == work)
      unasked_.emplace(std::string(name) + " was refused with " + error_name(error) +
                           ", and the program never asked: look at what it returns, or at "
                           "cudaGetLastError()",
                       error);
}

cudaError_t State::fail(const char* call, cudaError_t error, const std::string& why,
                        ErrorCause cause) {
  last_error = error;
  refused(call, error);
  backend().note_error(call, error, why, cause);
  return error;
}

cudaError_t State::synchronize(const char* call) {
  InFlight::get().end();
  return finish(call);
}

cudaError_t State::finish(const char* call) {
  tell_findings();
  if (sticky_ != cudaSuccess) return repeat_sticky();
  const cudaError_t error = backend().synchronize();
  if (error != cudaSuccess) {
    sticky_ = error;
    return fail(call, error, error == cudaErrorIllegalAddress ? given_shadow_ : std::string());
  }
  given_shadow_.clear();
  return cudaSuccess;
}

cudaError_t State::repeat_sticky() {
  return last_error = sticky_;
}

cudaError_t State::peek_error() {
  if (last_error != cudaSuccess) unasked_.clear();
  return last_error;
}

cudaError_t State::take_error() {
  const cudaError_t error = peek_error();
  last_error = cudaSuccess;
  return error;
}

cudaError_t State::unsupported(const char* call, const char* why) {
  last_error = cudaErrorNotSupported;
  refused(call, cudaErrorNotSupported);
  backend().note_unsupported(call, why);
  return cudaErrorNotSupported;
}

void State::goes_to(cudaStream_t stream, const std::string& work) {
  const bool is_default =
      stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  if (given_ && is_default) backend().note_default_stream(work);
}

cudaError_t State::reset() {
  InFlight::get().end();
  StreamOrder::get().host_waits_for_all();
  for (auto& [image, facts] : image_facts_) facts.said_not_cooperative = false;
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
  const std::string_view text = ptx ? std::string_view(ptx) : std::string_view();
  backend().add_image(image, text);
  const auto has = [&](const char* word) { return text.find(word) != std::string_view::npos; };
  Image& facts = image_facts_[image];
  facts.has_grid_barrier = has(kGridBarrier);
  for (const char* const word :
       {"membar.sys", "fence.sc.sys", "fence.acq_rel.sys", "ld.acquire.sys", "ld.relaxed.sys",
        "st.release.sys", "st.relaxed.sys"})
    facts.talks_to_host |= has(word);
  return image;
}

void State::say_how_launched(ImageId image, bool cooperative) {
  Image& facts = image_facts_[image];
  if (!facts.has_grid_barrier || facts.said_not_cooperative == !cooperative) return;
  DevicePtr at = 0;
  std::uint64_t bytes = 0;
  if (backend().variable(image, kGridBarrier, at, bytes) != cudaSuccess) return;
  const std::uint32_t value = cooperative ? 0 : 1;
  if (bytes != sizeof value || backend().copy_in(at, &value, sizeof value) != cudaSuccess) return;
  facts.said_not_cooperative = !cooperative;
}

bool State::talks_to_host(ImageId image) const {
  const auto found = image_facts_.find(image);
  return found != image_facts_.end() && found->second.talks_to_host;
}

void State::add_kernel(const void* stub, ImageId image, const char* mangled) {
  kernels_[stub].name = {image, mangled};
}

void State::add_variable(const void* shadow, ImageId image, const char* mangled,
                         std::size_t bytes) {
  variables_[shadow] = {image, mangled, bytes};
}

void State::add_managed(void* shadow, ImageId image, const char* mangled, std::size_t bytes) {
  add_variable(shadow, image, mangled, bytes);
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

Registered* State::kernel(const char* call, const void* stub, cudaError_t& error,
                          cudaError_t if_none) {
  const auto found = kernels_.find(stub);
  if (found == kernels_.end()) {
    error = fail(call, if_none, "this is not a __global__ function");
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

std::string State::shadow_text(const void* pointer) const {
  const auto next = variables_.upper_bound(pointer);
  if (next == variables_.begin() || mapped.holds(pointer))
    return {};  // managed variables are the same on both sides
  const auto& [shadow, of] = *std::prev(next);
  const std::size_t offset = device_ptr(pointer) - device_ptr(shadow);
  if (offset >= std::max<std::size_t>(of.bytes, 1)) return {};
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(of.mangled.c_str(), nullptr, nullptr, &status), &std::free);
  const std::string variable = name != nullptr ? name.get() : of.mangled,
                    at = std::to_string(offset);
  return (offset == 0 ? "in host code, '" + variable + "' is a copy"
                      : "the pointer is byte " + at + " of '" + variable +
                            "', which in host code is a copy") +
         " of the device's variable that only the host has: cudaGetSymbolAddress says where the "
         "variable is" +
         (offset == 0 ? "" : " (add the offset)") +
         ", cudaMemcpyToSymbol and cudaMemcpyFromSymbol copy it" +
         (offset == 0 ? "" : " (their fourth argument is the offset)");
}

void State::note_shadows(const Registered& kernel, const std::vector<std::byte>& arguments) {
  for (std::size_t i = 0; given_shadow_.empty() && i < kernel.info.params.size(); ++i) {
    const KernelParam& param = kernel.info.params[i];
    if (param.size != sizeof(void*)) continue;
    const void* pointer = nullptr;
    std::memcpy(&pointer, arguments.data() + param.offset, sizeof pointer);
    if (const std::string text = shadow_text(pointer); !text.empty())
      given_shadow_ = "argument " + std::to_string(i + 1) + " of kernel '" + kernel.info.name +
                      "' is no address of the device: " + text;
  }
}

}  // namespace simgpu::runtime
