#include "common/simgpu/runtime/remote/remote_channel.hpp"

#include <unistd.h>

#include <cstdio>

namespace simgpu::runtime {
namespace {

constexpr int kWorkerGone = 3;

/// A worker that does not read for so long is gone.
constexpr std::chrono::seconds kSendPatience{10};

}  // namespace

RemoteChannel& RemoteChannel::get() {
  static RemoteChannel channel;
  return channel;
}

void RemoteChannel::open(int fd) {
  fd_ = fd;
}

bool RemoteChannel::send(const wire::Message& message) {
  return fd_ >= 0 && wire::Channel(fd_, protocol::kProtocol)
                             .send(message, wire::Clock::now() + kSendPatience) == wire::Sent::all;
}

bool RemoteChannel::receive(wire::Message& message) {
  return fd_ >= 0 && wire::Channel(fd_, protocol::kProtocol).receive(message, wire::kForever) ==
                         wire::Received::message;
}

protocol::Reply RemoteChannel::exchange(const wire::Message& message) {
  wire::Message reply;
  if (send(message) && receive(reply) && reply.serial == serial_ &&
      reply.kind == static_cast<std::uint16_t>(protocol::Kind::reply)) {
    try {
      return reply.as<protocol::Reply>();
    } catch (const wire::Error&) {
    }
  }
  std::fputs("simgpu: the device worker is gone\n", stderr);
  ::_exit(kWorkerGone);
}

}  // namespace simgpu::runtime
