#include "common/simgpu/runtime/remote/remote_channel.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace simgpu::runtime {
namespace {

constexpr int kWorkerGone = 3;

/// Long enough to be forever; small enough to add to a clock.
constexpr std::chrono::hours kForever{24 * 365};

}  // namespace

RemoteChannel& RemoteChannel::get() {
  static RemoteChannel channel;
  return channel;
}

void RemoteChannel::open(int fd) {
  fd_ = fd;
}

bool RemoteChannel::send(wire::Message message) {
  message.header.sequence = ++sequence_;
  return fd_ >= 0 && wire::Channel(fd_).send(message);
}

bool RemoteChannel::receive(wire::Message& message) {
  std::string problem;
  return fd_ >= 0 && wire::Channel(fd_).receive(message, wire::Channel::Clock::now() + kForever,
                                                problem) == wire::Received::message;
}

wire::Message RemoteChannel::request(wire::Message message) {
  wire::Message reply;
  const bool answered = send(std::move(message)) && receive(reply) &&
                        reply.type() == wire::Type::reply && reply.header.sequence == sequence_;
  if (!answered) {
    std::fputs("simgpu: the device worker is gone\n", stderr);
    ::_exit(kWorkerGone);
  }
  return reply;
}

}  // namespace simgpu::runtime
