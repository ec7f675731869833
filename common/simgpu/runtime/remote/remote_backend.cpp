// The backend of a graded runner: every operation is a request to the worker that owns the device.
//
// Nothing here is trusted by the other side; checks happen there (server/server.cpp).

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "common/simgpu/runtime/backend.hpp"
#include "common/simgpu/runtime/remote/remote_channel.hpp"

namespace simgpu::runtime {
namespace {

using wire::Reply;
using wire::Type;

cudaError_t code(const Reply& reply) {
  return static_cast<cudaError_t>(reply.code);
}

class RemoteBackend final : public Backend {
 public:
  const DeviceModel& model() override {
    if (model_known_ || !RemoteChannel::get().is_open()) return model_;
    const wire::Message reply = ask(Type::model, wire::Model{});
    const auto tail = reply.tail<Reply>();
    wire::ModelFacts facts;
    if (tail.size() == sizeof facts) {
      std::memcpy(&facts, tail.data(), sizeof facts);
      facts.name[sizeof facts.name - 1] = 0;
      model_.name = facts.name;
      model_.compute_major = facts.compute_major;
      model_.compute_minor = facts.compute_minor;
      model_.multiprocessors = facts.multiprocessors;
      model_.max_threads_per_block = facts.max_threads_per_block;
      model_.max_block = {facts.max_block[0], facts.max_block[1], facts.max_block[2]};
      model_.max_grid = {facts.max_grid[0], facts.max_grid[1], facts.max_grid[2]};
      model_.shared_bytes_per_block = facts.shared_per_block;
      model_.shared_bytes_per_block_optin = facts.shared_per_block_optin;
      model_.shared_bytes_per_multiprocessor = facts.shared_per_multiprocessor;
      model_.registers_per_multiprocessor = facts.registers_per_multiprocessor;
      model_.registers_per_thread = facts.registers_per_thread;
      model_.threads_per_multiprocessor = facts.threads_per_multiprocessor;
      model_.blocks_per_multiprocessor = facts.blocks_per_multiprocessor;
      model_.global_bytes = facts.global_bytes;
    }
    model_known_ = true;
    return model_;
  }

  /// The worker has its own parse of the code; what is linked in here does not matter.
  void add_image(ImageId, std::string_view) override {}

  cudaError_t allocate(std::size_t bytes, DevicePtr& ptr) override {
    const Reply reply = simple(Type::allocate, wire::Allocate{bytes});
    ptr = reply.value[0];
    return code(reply);
  }
  cudaError_t release(DevicePtr ptr) override {
    return code(simple(Type::release, wire::Release{ptr}));
  }
  cudaError_t copy_in(DevicePtr dst, const void* src, std::size_t bytes) override {
    const auto* from = static_cast<const std::byte*>(src);
    while (bytes > 0) {
      const std::size_t piece = std::min(bytes, wire::kMaxData);
      const wire::Message reply = ask(Type::copy_in, wire::CopyIn{dst}, {std::span(from, piece)});
      if (const cudaError_t error = code(reply.body<Reply>())) return error;
      dst += piece;
      from += piece;
      bytes -= piece;
    }
    return cudaSuccess;
  }
  /// Always refused by the worker; the request exists so that the attempt is reported there.
  cudaError_t copy_out(void*, DevicePtr src, std::size_t bytes) override {
    return code(simple(Type::copy_out, wire::CopyOut{src, bytes}));
  }
  cudaError_t copy(DevicePtr dst, DevicePtr src, std::size_t bytes) override {
    return code(simple(Type::copy, wire::Copy{dst, src, bytes}));
  }
  cudaError_t fill(DevicePtr dst, std::uint8_t value, std::size_t bytes) override {
    return code(simple(Type::fill, wire::Fill{dst, bytes, value, 0}));
  }
  bool find(DevicePtr ptr, DevicePtr& base, std::uint64_t& bytes) override {
    const Reply reply = simple(Type::find, wire::Find{ptr});
    base = reply.value[0];
    bytes = reply.value[1];
    return reply.code == cudaSuccess;
  }
  cudaError_t memory_info(std::uint64_t& free_bytes, std::uint64_t& total_bytes) override {
    const Reply reply = simple(Type::memory_info, wire::MemoryInfo{});
    free_bytes = reply.value[0];
    total_bytes = reply.value[1];
    return code(reply);
  }

  cudaError_t kernel_info(const KernelName& kernel, KernelInfo& info) override {
    const wire::Message message =
        ask(Type::kernel_info, wire::KernelInfo{}, {name(kernel.mangled)});
    const Reply reply = message.body<Reply>();
    if (reply.code != cudaSuccess) return code(reply);
    auto tail = message.tail<Reply>();
    wire::KernelFacts facts;
    if (tail.size() < sizeof facts) return cudaErrorUnknown;
    std::memcpy(&facts, tail.data(), sizeof facts);
    tail = tail.subspan(sizeof facts);
    if (tail.size() != facts.params * sizeof(wire::Param)) return cudaErrorUnknown;
    info = {};
    info.mangled = info.name = kernel.mangled;
    info.param_bytes = facts.param_bytes;
    info.static_shared_bytes = facts.static_shared;
    info.local_bytes_per_thread = facts.local_bytes;
    info.const_bytes = facts.const_bytes;
    info.max_threads_per_block = facts.max_threads;
    info.live_registers = facts.live_registers;
    for (std::uint32_t i = 0; i < facts.params; ++i) {
      wire::Param param;
      std::memcpy(&param, tail.data() + i * sizeof param, sizeof param);
      info.params.push_back({param.offset, param.size, param.align});
    }
    return cudaSuccess;
  }
  cudaError_t variable(ImageId, const std::string& mangled, DevicePtr& ptr,
                       std::uint64_t& bytes) override {
    const Reply reply = ask(Type::variable, wire::Variable{}, {name(mangled)}).body<Reply>();
    ptr = reply.value[0];
    bytes = reply.value[1];
    return code(reply);
  }
  cudaError_t set_max_dynamic_shared(const KernelName& kernel, unsigned bytes) override {
    return code(ask(Type::set_max_dynamic_shared, wire::SetMaxDynamicShared{bytes, 0},
                    {name(kernel.mangled)})
                    .body<Reply>());
  }
  cudaError_t launch(const KernelName& kernel, Dim3 grid, Dim3 block, unsigned shared_bytes,
                     std::span<const std::byte> args) override {
    if (args.size() > wire::kMaxArguments) return cudaErrorInvalidValue;
    wire::Launch launch;
    const Dim3 extents[] = {grid, block};
    std::uint32_t* const fields[] = {launch.grid, launch.block};
    for (int i = 0; i < 2; ++i) {
      fields[i][0] = extents[i].x;
      fields[i][1] = extents[i].y;
      fields[i][2] = extents[i].z;
    }
    const auto text = name(kernel.mangled);
    launch.shared_bytes = shared_bytes;
    launch.name_bytes = static_cast<std::uint32_t>(text.size());
    launch.argument_bytes = static_cast<std::uint32_t>(args.size());
    return code(ask(Type::launch, launch, {text, args}).body<Reply>());
  }

  /// What happens on the device stays with the judge.
  cudaError_t synchronize() override { return cudaSuccess; }

  cudaError_t reset() override {
    note_unsupported("cudaDeviceReset", "the device belongs to the grader");
    return cudaSuccess;
  }

  void note_unsupported(std::string_view call, std::string_view why) override {
    if (!told_.insert(std::string(call)).second) return;
    ask(Type::note_unsupported, wire::NoteUnsupported{}, {two_texts(call, why)});
  }
  void note_error(std::string_view call, cudaError_t error, std::string_view why) override {
    // Each distinct report once: a program may fail in a loop.
    if (!told_.insert(std::to_string(error) + std::string(call) + std::string(why)).second) return;
    ask(Type::note_error, wire::NoteError{error, 0}, {two_texts(call, why)});
  }

 private:
  template <typename Body>
  wire::Message ask(Type type, const Body& body,
                    std::initializer_list<std::span<const std::byte>> tail = {}) {
    // Static constructors of the student's code run before the loop has the channel: there is no
    // device yet.
    if (!RemoteChannel::get().is_open()) {
      Reply none;
      none.code = cudaErrorInitializationError;
      return wire::make(Type::reply, 0, none);
    }
    return RemoteChannel::get().request(wire::make(type, 0, body, tail));
  }
  template <typename Body>
  Reply simple(Type type, const Body& body) {
    return ask(type, body).template body<Reply>();
  }

  static std::span<const std::byte> name(const std::string& mangled) {
    return wire::bytes_of(std::string_view(mangled).substr(0, wire::kMaxName));
  }
  std::span<const std::byte> two_texts(std::string_view first, std::string_view second) {
    joined_.assign(first.substr(0, wire::kMaxText / 4));
    joined_.push_back('\0');
    joined_.append(second.substr(0, wire::kMaxText / 2));
    return wire::bytes_of(joined_);
  }

  DeviceModel model_;
  bool model_known_ = false;
  std::set<std::string> told_;
  std::string joined_;
};

}  // namespace

std::unique_ptr<Backend> make_backend() {
  return std::make_unique<RemoteBackend>();
}

}  // namespace simgpu::runtime
