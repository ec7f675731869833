// The backend of a graded runner: every operation is a request to the worker that owns the device.
//
// Nothing here is trusted by the other side; checks happen there (server/server.cpp).

#include <algorithm>
#include <set>
#include <string>

#include "common/simgpu/runtime/backend.hpp"
#include "common/simgpu/runtime/remote/remote_channel.hpp"

namespace simgpu::runtime {
namespace {

using protocol::Kind;
using protocol::Reply;

cudaError_t code(const Reply& reply) {
  return static_cast<cudaError_t>(reply.code);
}

class RemoteBackend final : public Backend {
 public:
  const DeviceModel& model() override {
    if (model_known_ || !RemoteChannel::get().is_open()) return model_;
    if (auto model = ask(Kind::model, protocol::Nothing{}).model) model_ = std::move(*model);
    model_known_ = true;
    return model_;
  }

  /// The worker has its own parse of the code; what is linked in here does not matter.
  void add_image(ImageId, std::string_view) override {}

  cudaError_t allocate(std::size_t bytes, DevicePtr& ptr) override {
    const Reply reply = ask(Kind::allocate, protocol::Allocate{bytes});
    ptr = reply.value[0];
    return code(reply);
  }
  cudaError_t release(DevicePtr ptr) override {
    return code(ask(Kind::release, protocol::Address{ptr}));
  }
  cudaError_t copy_in(DevicePtr dst, const void* src, std::size_t bytes) override {
    const auto* from = static_cast<const std::byte*>(src);
    while (bytes > 0) {
      const std::size_t piece = std::min(bytes, protocol::kMaxData);
      const Reply reply = ask(Kind::copy_in, protocol::CopyIn{dst, {from, from + piece}});
      if (const cudaError_t error = code(reply)) return error;
      dst += piece;
      from += piece;
      bytes -= piece;
    }
    return cudaSuccess;
  }
  /// Always refused by the worker; the request exists so that the attempt is reported there.
  cudaError_t copy_out(void*, DevicePtr src, std::size_t bytes, std::size_t) override {
    return code(ask(Kind::copy_out, protocol::CopyOut{src, bytes}));
  }
  cudaError_t copy(DevicePtr dst, DevicePtr src, std::size_t bytes) override {
    return code(ask(Kind::copy, protocol::Copy{dst, src, bytes}));
  }
  cudaError_t copy_rows(DevicePtr dst, std::size_t dst_pitch, DevicePtr src, std::size_t src_pitch,
                        std::size_t width, std::size_t rows) override {
    return code(ask(Kind::copy, protocol::Copy{dst, src, width, dst_pitch, src_pitch, rows}));
  }
  cudaError_t fill(DevicePtr dst, std::uint8_t value, std::size_t bytes) override {
    return code(ask(Kind::fill, protocol::Fill{dst, bytes, value}));
  }
  bool find(DevicePtr ptr, DevicePtr& base, std::uint64_t& bytes) override {
    const Reply reply = ask(Kind::find, protocol::Address{ptr});
    base = reply.value[0];
    bytes = reply.value[1];
    return reply.code == cudaSuccess;
  }
  cudaError_t memory_info(std::uint64_t& free_bytes, std::uint64_t& total_bytes) override {
    const Reply reply = ask(Kind::memory_info, protocol::Nothing{});
    free_bytes = reply.value[0];
    total_bytes = reply.value[1];
    return code(reply);
  }

  cudaError_t kernel_info(const KernelName& kernel, KernelInfo& info) override {
    Reply reply = ask(Kind::kernel_info, name(kernel.mangled));
    if (reply.code != cudaSuccess) return code(reply);
    if (!reply.kernel) return cudaErrorUnknown;
    info = std::move(*reply.kernel);
    return cudaSuccess;
  }
  cudaError_t variable(ImageId, const std::string& mangled, DevicePtr& ptr,
                       std::uint64_t& bytes) override {
    const Reply reply = ask(Kind::variable, name(mangled));
    ptr = reply.value[0];
    bytes = reply.value[1];
    return code(reply);
  }
  cudaError_t set_max_dynamic_shared(const KernelName& kernel, unsigned bytes) override {
    return code(ask(Kind::set_max_dynamic_shared,
                    protocol::SetMaxDynamicShared{bytes, name(kernel.mangled).mangled}));
  }
  cudaError_t launch(const KernelName& kernel, Dim3 grid, Dim3 block, Dim3 cluster,
                     unsigned shared_bytes, std::span<const std::byte> args) override {
    if (args.size() > protocol::kMaxArguments) return cudaErrorInvalidValue;
    return code(ask(Kind::launch, protocol::Launch{grid,
                                                   block,
                                                   cluster,
                                                   shared_bytes,
                                                   name(kernel.mangled).mangled,
                                                   {args.begin(), args.end()}}));
  }

  /// What happens on the device stays with the judge.
  cudaError_t synchronize() override { return cudaSuccess; }

  cudaError_t reset() override {
    note_unsupported("cudaDeviceReset", "the device belongs to the grader");
    return cudaSuccess;
  }

  void note_unsupported(std::string_view call, std::string_view why) override {
    if (!told_.insert(std::string(call)).second) return;
    ask(Kind::note_unsupported, note(cudaSuccess, call, why));
  }
  /// Whoever times a kernel computes the same: nothing to judge.
  void note_no_time(std::string_view, std::string_view) override {}
  void note_error(std::string_view call, cudaError_t error, std::string_view why,
                  ErrorCause cause) override {
    // Each distinct report once: a program may fail in a loop.
    if (!told_.insert(std::to_string(error) + std::string(call) + std::string(why)).second) return;
    ask(Kind::note_error, note(error, call, why, cause));
  }
  void note_default_stream(std::string_view work) override {
    ask(Kind::note_default_stream, note(cudaSuccess, work, {}));
  }
  void note_unordered(std::string_view work) override {
    ask(Kind::note_default_stream, note(cudaSuccess, work, "unordered"));
  }
  void note_refused_map(BrokenRule broken) override { ask(Kind::note_refused_map, broken); }

 private:
  template <typename Body>
  Reply ask(Kind kind, const Body& body) {
    // Refused before the loop has the channel, as in static constructors of the student's code:
    // there is no device yet.
    return RemoteChannel::get().request(kind, body);
  }

  static protocol::Name name(const std::string& mangled) {
    return {mangled.substr(0, protocol::kMaxName)};
  }
  static protocol::Note note(cudaError_t error, std::string_view call, std::string_view why,
                             ErrorCause cause = ErrorCause::other) {
    return {error, std::string(call.substr(0, protocol::kMaxText / 4)),
            std::string(why.substr(0, protocol::kMaxText / 2)), cause};
  }

  DeviceModel model_;
  bool model_known_ = false;
  std::set<std::string> told_;
};

}  // namespace

std::unique_ptr<Backend> make_backend() {
  return std::make_unique<RemoteBackend>();
}

}  // namespace simgpu::runtime
