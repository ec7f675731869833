// simgpu_device: the simulated GPU of one program that runs beside it (separate/separate_backend.cpp),
// for where the engine is a program that came ready-made. Its standard input is the connection.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/simgpu/processor.hpp"
#include "common/simgpu/runtime/backend.hpp"
#include "common/simgpu/runtime/separate/protocol.hpp"

namespace {

using namespace simgpu;
using namespace simgpu::runtime;
using separate::Answer;
using separate::Kind;
using separate::Request;

class DeviceProgram {
 public:
  /// The exit status, when the program beside has said its last word.
  int serve() {
    wire::Channel channel(STDIN_FILENO, separate::kProtocol);
    wire::Message message;
    while (channel.receive(message, wire::kForever) == wire::Received::message) {
      const auto kind = static_cast<Kind>(message.kind);
      if (kind == Kind::finish) return 0;
      const Answer answer = carry_out(kind, message.as<Request>());
      std::fflush(stdout);
      if (channel.send(wire::make(Kind::answer, message.serial, answer), wire::kForever) !=
          wire::Sent::all)
        break;
    }
    // It was killed or left by _exit: nobody wants a report.
    ::_exit(0);
  }

 private:
  Answer carry_out(Kind kind, Request request) {
    Answer answer;
    const auto& value = request.value;
    switch (kind) {
      case Kind::add_image:
        backend_->add_image(request.image, images_[request.image] = std::move(request.name));
        break;
      case Kind::model:
        answer.model = backend_->model();
        break;
      case Kind::allocate:
        answer.code = backend_->allocate(value[0], answer.value[0]);
        break;
      case Kind::release:
        answer.code = backend_->release(value[0]);
        break;
      case Kind::copy_in:
        answer.code = backend_->copy_in(value[0], request.data.data(), request.data.size());
        break;
      case Kind::copy_out:
        answer.data.resize(value[1]);
        answer.code = backend_->copy_out(answer.data.data(), value[0], value[1], value[2]);
        break;
      case Kind::copy:
        answer.code = backend_->copy(value[0], value[1], value[2]);
        break;
      case Kind::fill:
        answer.code = backend_->fill(value[0], static_cast<std::uint8_t>(value[1]), value[2]);
        break;
      case Kind::find:
        answer.code = backend_->find(value[0], answer.value[0], answer.value[1])
                          ? cudaSuccess
                          : cudaErrorInvalidValue;
        break;
      case Kind::memory_info:
        answer.code = backend_->memory_info(answer.value[0], answer.value[1]);
        break;
      case Kind::kernel_info:
        answer.code = backend_->kernel_info(named(request), answer.kernel.emplace());
        break;
      case Kind::variable:
        answer.code =
            backend_->variable(request.image, request.name, answer.value[0], answer.value[1]);
        break;
      case Kind::set_max_dynamic_shared:
        answer.code =
            backend_->set_max_dynamic_shared(named(request), static_cast<unsigned>(value[0]));
        break;
      case Kind::launch:
        answer.code = backend_->launch(named(request), request.grid, request.block, request.cluster,
                                       static_cast<unsigned>(value[0]), request.data);
        break;
      case Kind::note_touched:
        backend_->note_touched(value[0] != 0);
        break;
      case Kind::touched:
        answer.data = separate::as_they_are(backend_->touched());
        break;
      case Kind::grid_control: {
        const GridControl control = backend_->grid_control();
        answer.value[0] = (control.lets_next_begin ? 1u : 0u) | (control.waits ? 2u : 0u) |
                          (control.waits_first ? 4u : 0u);
        break;
      }
      case Kind::begins_early:
        backend_->begins_early(
            {std::move(request.name), separate::touched_of(request.data), std::move(request.why)});
        break;
      case Kind::synchronize:
        answer.code = backend_->synchronize();
        break;
      case Kind::reset:
        answer.code = backend_->reset();
        break;
      default:
        note(kind, request);
    }
    return answer;
  }

  /// What asks for nothing.
  void note(Kind kind, const Request& request) {
    if (kind == Kind::note_unsupported) backend_->note_unsupported(request.name, request.why);
    if (kind == Kind::note_error)
      backend_->note_error(request.name, static_cast<cudaError_t>(request.value[0]), request.why,
                           ErrorCause::other);
    if (kind == Kind::note_finding) backend_->note_finding(request.name);
  }

  static KernelName named(const Request& request) { return {request.image, request.name}; }

  std::unique_ptr<Backend> backend_ = make_backend();
  std::map<ImageId, std::string> images_;  ///< the backend keeps views of them
};

}  // namespace

int main() {
  if (!wire::is_end(STDIN_FILENO)) {
    std::fputs(
        "simgpu_device: a program for the simulated GPU starts this; alone it does nothing\n",
        stderr);
    return 2;
  }
  if (!runs_here()) {
    std::fputs("simgpu: simgpu_device was built for another processor\n", stderr);
    return 2;
  }
  static DeviceProgram* const program = new DeviceProgram;  // it reports when the process ends
  return program->serve();
}
