#include "common/simgpu/runtime/remote/runner_loop.hpp"

#include <sys/socket.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "common/simgpu/include/cuda_runtime_api.h"
#include "common/simgpu/runtime/remote/remote_channel.hpp"

namespace simgpu::runtime {
namespace {

using wire::Type;

constexpr int kSaidGoodbye = 0, kNoChannel = 2, kBrokenProtocol = 3;

RawView raw(const wire::View& view) {
  return {reinterpret_cast<void*>(static_cast<std::uintptr_t>(view.data)), view.rows, view.cols,
          view.ld};
}

bool is_socket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

std::string_view capped(std::string_view text) {
  return text.substr(0, wire::kMaxText);
}

bool send_hello(const Entry* entries, std::size_t count) {
  std::string names;
  for (std::size_t i = 0; i < count; ++i) {
    names += entries[i].name;
    names += '\0';
  }
  wire::Hello hello;
  hello.entries = static_cast<std::uint32_t>(count);
  return RemoteChannel::get().send(wire::make(Type::hello, 0, hello, {wire::bytes_of(names)}));
}

bool send_returned(bool answered, std::string_view answer) {
  // Whatever the student's code printed must not wait in a buffer that a kill would lose.
  std::fflush(nullptr);
  wire::Returned returned;
  returned.last_error = cudaGetLastError();  // taken, so that the next call starts clean
  returned.answered = answered;
  return RemoteChannel::get().send(
      wire::make(Type::returned, 0, returned, {wire::bytes_of(capped(answer))}));
}

bool send_threw(std::string_view what) {
  std::fflush(nullptr);
  cudaGetLastError();
  return RemoteChannel::get().send(
      wire::make(Type::threw, 0, wire::Threw{}, {wire::bytes_of(capped(what))}));
}

}  // namespace

int simgpu_runner_main(int fd, const Entry* entries, std::size_t count) {
  if (!is_socket(fd)) {
    std::fputs("simgpu: this program is started by the grader, which gives it a connection\n",
               stderr);
    return kNoChannel;
  }
  RemoteChannel& channel = RemoteChannel::get();
  channel.open(fd);
  if (!send_hello(entries, count)) return kBrokenProtocol;
  wire::Message message;
  while (channel.receive(message)) {
    bool sent = false;
    try {
      switch (message.type()) {
        case Type::goodbye:
          return kSaidGoodbye;
        case Type::call: {
          const auto call = message.body<wire::Call>();
          if (call.entry >= count || !entries[call.entry].launch) return kBrokenProtocol;
          entries[call.entry].launch(raw(call.a), raw(call.b), raw(call.c), nullptr);
          sent = send_returned(false, {});
          break;
        }
        case Type::ask: {
          const auto ask = message.body<wire::Ask>();
          if (ask.entry >= count || !entries[ask.entry].answer) return kBrokenProtocol;
          const char* const answer = entries[ask.entry].answer();
          sent = send_returned(answer != nullptr, answer ? answer : "");
          break;
        }
        default:
          return kBrokenProtocol;
      }
    } catch (const std::exception& error) {
      sent = send_threw(error.what());
    } catch (...) {
      sent = send_threw("an exception that is no std::exception");
    }
    if (!sent) return kBrokenProtocol;
  }
  return kBrokenProtocol;
}

}  // namespace simgpu::runtime
