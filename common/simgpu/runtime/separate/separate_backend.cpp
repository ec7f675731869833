// The backend of a program whose device is another program, build/bin/simgpu_device or one that came
// ready-made: it starts that, and every operation is a request to it. What the program then needs
// compiled is this and the API, which takes seconds; the engine takes minutes.
//
// Environment: SIMGPU_DEVICE_PROGRAM names another one; that reads all that local_backend.cpp names.

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/simgpu/runtime/backend.hpp"
#include "common/simgpu/runtime/separate/protocol.hpp"

extern char** environ;

#ifndef SIMGPU_DEVICE_PROGRAM  // the library is compiled with a path
#define SIMGPU_DEVICE_PROGRAM "simgpu_device"
#endif

namespace simgpu::runtime {
namespace {

using separate::Answer;
using separate::Kind;
using separate::Request;

constexpr int kDeviceGone = 3;

class SeparateBackend final : public Backend {
 public:
  SeparateBackend() {
    start();
    instance = this;
    std::atexit([] { instance->finish(); });
  }

  const DeviceModel& model() override {
    if (!model_) model_ = ask(Kind::model, {}).model.value_or(DeviceModel{});
    return *model_;
  }
  void add_image(ImageId image, std::string_view ptx) override {
    Request request;
    request.image = image;
    request.name = ptx;
    ask(Kind::add_image, std::move(request));
  }

  cudaError_t allocate(std::size_t bytes, DevicePtr& ptr) override {
    const Answer answer = ask(Kind::allocate, of(bytes));
    ptr = answer.value[0];
    return code(answer);
  }
  cudaError_t release(DevicePtr ptr) override { return code(ask(Kind::release, of(ptr))); }
  cudaError_t copy_in(DevicePtr dst, const void* src, std::size_t bytes) override {
    const auto* from = static_cast<const std::byte*>(src);
    return in_pieces(bytes, [&](std::size_t at, std::size_t size) {
      Request request = of(dst + at);
      request.data.assign(from + at, from + at + size);
      return code(ask(Kind::copy_in, std::move(request)));
    });
  }
  cudaError_t copy_out(void* dst, DevicePtr src, std::size_t bytes,
                       std::size_t element_align) override {
    return in_pieces(bytes, [&](std::size_t at, std::size_t size) {
      const Answer answer = ask(Kind::copy_out, of(src + at, size, element_align));
      if (answer.data.size() == size)
        std::copy(answer.data.begin(), answer.data.end(), static_cast<std::byte*>(dst) + at);
      return code(answer);
    });
  }
  cudaError_t copy(DevicePtr dst, DevicePtr src, std::size_t bytes) override {
    return code(ask(Kind::copy, of(dst, src, bytes)));
  }
  cudaError_t fill(DevicePtr dst, std::uint8_t value, std::size_t bytes) override {
    return code(ask(Kind::fill, of(dst, value, bytes)));
  }
  bool find(DevicePtr ptr, DevicePtr& base, std::uint64_t& bytes) override {
    const Answer answer = ask(Kind::find, of(ptr));
    base = answer.value[0];
    bytes = answer.value[1];
    return answer.code == cudaSuccess;
  }
  cudaError_t memory_info(std::uint64_t& free_bytes, std::uint64_t& total_bytes) override {
    const Answer answer = ask(Kind::memory_info, {});
    free_bytes = answer.value[0];
    total_bytes = answer.value[1];
    return code(answer);
  }

  cudaError_t kernel_info(const KernelName& kernel, KernelInfo& info) override {
    Answer answer = ask(Kind::kernel_info, of(kernel));
    if (answer.kernel) info = std::move(*answer.kernel);
    return code(answer);
  }
  cudaError_t variable(ImageId image, const std::string& mangled, DevicePtr& ptr,
                       std::uint64_t& bytes) override {
    const Answer answer = ask(Kind::variable, of({image, mangled}));
    ptr = answer.value[0];
    bytes = answer.value[1];
    return code(answer);
  }
  cudaError_t set_max_dynamic_shared(const KernelName& kernel, unsigned bytes) override {
    Request request = of(kernel);
    request.value[0] = bytes;
    return code(ask(Kind::set_max_dynamic_shared, std::move(request)));
  }
  cudaError_t launch(const KernelName& kernel, Dim3 grid, Dim3 block, Dim3 cluster,
                     unsigned shared_bytes, std::span<const std::byte> args) override {
    Request request = of(kernel);
    request.grid = grid;
    request.block = block;
    request.cluster = cluster;
    request.value[0] = shared_bytes;
    request.data.assign(args.begin(), args.end());
    return code(ask(Kind::launch, std::move(request)));
  }
  void note_touched(bool wanted) override {
    if (std::exchange(notes_touched_, wanted) != wanted)
      ask(Kind::note_touched, of(wanted ? 1 : 0));
  }
  void begins_early(EarlierKernel earlier) override {
    Request request;
    request.name = std::move(earlier.name);
    request.why = std::move(earlier.skipped_by);
    request.data = separate::as_they_are(earlier.bytes);
    ask(Kind::begins_early, std::move(request));
  }
  std::vector<TouchedBytes> touched() override {
    return separate::touched_of(ask(Kind::touched, {}).data);
  }
  GridControl grid_control() override {
    const std::uint64_t bits = ask(Kind::grid_control, {}).value[0];
    return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
  }
  cudaError_t synchronize() override { return code(ask(Kind::synchronize, {})); }
  cudaError_t reset() override { return code(ask(Kind::reset, {})); }

  void note_unsupported(std::string_view call, std::string_view why) override {
    note(Kind::note_unsupported, call, cudaSuccess, why);
  }
  void note_error(std::string_view call, cudaError_t error, std::string_view why,
                  ErrorCause) override {
    note(Kind::note_error, call, error, why);  // whoever reads it is told the sentence
  }
  bool takes_findings() const override { return true; }
  void note_finding(std::string_view what) override {
    note(Kind::note_finding, what, cudaSuccess, {});
  }

 private:
  void start() {
    const char* const named = std::getenv("SIMGPU_DEVICE_PROGRAM");
    std::string program = named ? named : SIMGPU_DEVICE_PROGRAM;
    wire::Ends ends = wire::make_ends();
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    // The connection is its standard input.
    ::posix_spawn_file_actions_adddup2(&actions, ends.theirs.get(), STDIN_FILENO);
    char* const argv[] = {program.data(), nullptr};
    const int failed =
        !ends.ours ? errno
                   : ::posix_spawn(&device_, program.c_str(), &actions, nullptr, argv, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
      std::fprintf(stderr, "simgpu: the device cannot be started: %s: %s\n", program.c_str(),
                   std::strerror(failed));
      ::_exit(kDeviceGone);
    }
    fd_ = std::move(ends.ours);
  }

  static cudaError_t code(const Answer& answer) { return static_cast<cudaError_t>(answer.code); }
  static Request of(std::uint64_t first, std::uint64_t second = 0, std::uint64_t third = 0) {
    Request request;
    request.value = {first, second, third};
    return request;
  }
  static Request of(const KernelName& kernel) {
    Request request;
    request.image = kernel.image;
    request.name = kernel.mangled;
    return request;
  }
  void note(Kind kind, std::string_view call, cudaError_t error, std::string_view why) {
    Request request = of(static_cast<std::uint64_t>(error));
    request.name = call;
    request.why = why;
    ask(kind, std::move(request));
  }
  template <typename Piece>
  static cudaError_t in_pieces(std::size_t bytes, Piece&& piece) {
    for (std::size_t at = 0; at < bytes; at += separate::kPiece)
      if (const cudaError_t error = piece(at, std::min(separate::kPiece, bytes - at))) return error;
    return cudaSuccess;
  }

  Answer ask(Kind kind, const Request& request) {
    // What the program has printed comes before what the device prints.
    std::fflush(stdout);
    wire::Channel channel(fd_.get(), separate::kProtocol);
    wire::Message reply;
    if (channel.send(wire::make(kind, ++serial_, request), wire::kForever) == wire::Sent::all &&
        channel.receive(reply, wire::kForever) == wire::Received::message &&
        reply.kind == static_cast<std::uint16_t>(Kind::answer) && reply.serial == serial_)
      return reply.as<Answer>();
    std::fputs("simgpu: the device is gone\n", stderr);
    ::_exit(kDeviceGone);
  }

  /// The device says what it has seen, and ends.
  void finish() {
    std::fflush(stdout);
    wire::Channel(fd_.get(), separate::kProtocol)
        .send(wire::make(Kind::finish, ++serial_, Request{}), wire::kForever);
    while (::waitpid(device_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  static inline SeparateBackend* instance = nullptr;

  wire::UniqueFd fd_;
  pid_t device_ = -1;
  std::uint32_t serial_ = 0;
  bool notes_touched_ = false;
  std::optional<DeviceModel> model_;
};

}  // namespace

std::unique_ptr<Backend> make_backend() {
  return std::make_unique<SeparateBackend>();
}

}  // namespace simgpu::runtime
