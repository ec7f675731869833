#include "common/simgpu/runtime/remote/runner_loop.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "common/simgpu/include/cuda_runtime_api.h"
#include "common/simgpu/runtime/given_stream.hpp"
#include "common/simgpu/runtime/remote/remote_channel.hpp"

namespace simgpu::runtime {
namespace {

using protocol::Kind;

constexpr int kSaidGoodbye = 0, kNoChannel = 2, kBrokenProtocol = 3;

RawView raw(const protocol::View& view) {
  return {reinterpret_cast<void*>(static_cast<std::uintptr_t>(view.data)), view.rows, view.cols,
          view.ld};
}

std::string capped(std::string_view text) {
  return std::string(text.substr(0, protocol::kMaxText));
}

bool send_hello(const Entry* entries, std::size_t count) {
  protocol::Hello hello;
  for (std::size_t i = 0; i < count; ++i) hello.entries.emplace_back(entries[i].name);
  return RemoteChannel::get().send(Kind::hello, hello);
}

bool send_returned(bool answered, std::string_view answer) {
  // Whatever the student's code printed must not wait in a buffer that a kill would lose.
  std::fflush(nullptr);
  // The error is taken, so that the next call starts clean.
  return RemoteChannel::get().send(
      Kind::returned, protocol::Returned{cudaGetLastError(), answered, capped(answer)});
}

bool send_threw(std::string_view what) {
  std::fflush(nullptr);
  cudaGetLastError();
  return RemoteChannel::get().send(Kind::threw, protocol::Threw{capped(what)});
}

}  // namespace

int simgpu_runner_main(int fd, const Entry* entries, std::size_t count) {
  if (!wire::is_end(fd)) {
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
      switch (static_cast<Kind>(message.kind)) {
        case Kind::goodbye:
          return kSaidGoodbye;
        case Kind::call: {
          const auto call = message.as<protocol::Call>();
          if (call.entry >= count || !entries[call.entry].launch) return kBrokenProtocol;
          const GivenStream stream;
          entries[call.entry].launch(raw(call.a), raw(call.b), raw(call.c), stream.get());
          stream.tell_left_behind();
          sent = send_returned(false, {});
          break;
        }
        case Kind::ask: {
          const auto ask = message.as<protocol::Ask>();
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
