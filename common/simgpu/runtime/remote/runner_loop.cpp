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

/// What comes after the loop, destructors of static objects for example, finds no device.
class Opened {
 public:
  explicit Opened(int fd) { RemoteChannel::get().open(fd); }
  ~Opened() { RemoteChannel::get().close(); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
};

/// How a call ended. The error is taken, so that the next call starts clean.
struct Ended {
  int last_error = 0;
  bool answered = false, threw = false;
  std::string text;  ///< the answer, or what was thrown
};

/// Runs the student's code.
template <typename Body>
Ended run(const Body& body) {
  RemoteChannel& channel = RemoteChannel::get();
  channel.begin_call();
  Ended ended;
  try {
    body(ended);
  } catch (const std::exception& error) {
    ended.threw = true;
    ended.text = capped(error.what());
  } catch (...) {
    ended.threw = true;
    ended.text = "an exception that is no std::exception";
  }
  // Whatever it printed must not wait in a buffer that a kill would lose.
  std::fflush(nullptr);
  ended.last_error = cudaGetLastError();
  channel.end_call();
  return ended;
}

bool send(Ended ended) {
  RemoteChannel& channel = RemoteChannel::get();
  if (ended.threw) return channel.send(Kind::threw, protocol::Threw{std::move(ended.text)});
  return channel.send(Kind::returned,
                      protocol::Returned{ended.last_error, ended.answered, std::move(ended.text)});
}

}  // namespace

int simgpu_runner_main(int fd, const Entry* entries, std::size_t count) {
  if (!wire::is_end(fd)) {
    std::fputs("simgpu: this program is started by the grader, which gives it a connection\n",
               stderr);
    return kNoChannel;
  }
  RemoteChannel& channel = RemoteChannel::get();
  const Opened opened(fd);
  if (!send_hello(entries, count)) return kBrokenProtocol;
  wire::Message message;
  while (channel.receive(message)) {
    Ended ended;
    try {
      switch (static_cast<Kind>(message.kind)) {
        case Kind::goodbye:
          return kSaidGoodbye;
        case Kind::call: {
          const auto call = message.as<protocol::Call>();
          if (call.entry >= count || !entries[call.entry].launch) return kBrokenProtocol;
          ended = run([&](Ended&) {
            const GivenStream stream;
            entries[call.entry].launch(raw(call.a), raw(call.b), raw(call.c), stream.get());
            stream.tell_left_behind();
          });
          break;
        }
        case Kind::ask: {
          const auto ask = message.as<protocol::Ask>();
          if (ask.entry >= count || !entries[ask.entry].answer) return kBrokenProtocol;
          ended = run([&](Ended& end) {
            const char* const answer = entries[ask.entry].answer();
            end.answered = answer != nullptr;
            end.text = capped(answer ? answer : "");
          });
          break;
        }
        default:
          return kBrokenProtocol;
      }
    } catch (const wire::Error&) {
      return kBrokenProtocol;
    }
    if (!send(std::move(ended))) return kBrokenProtocol;
  }
  return kBrokenProtocol;
}

}  // namespace simgpu::runtime
