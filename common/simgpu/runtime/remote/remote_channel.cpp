#include "common/simgpu/runtime/remote/remote_channel.hpp"

#include <unistd.h>

#include <cstdio>

#include "common/simgpu/include/driver_types.h"

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
  turns_.lock();
  fd_ = fd;
}

void RemoteChannel::close() {
  fd_ = -1;
  turns_.unlock();
}

void RemoteChannel::begin_call() {
  ++phase_;
  turns_.unlock();
}

void RemoteChannel::end_call() {
  turns_.lock();
  ++phase_;
}

protocol::Reply RemoteChannel::not_open() {
  protocol::Reply none;
  none.code = cudaErrorInitializationError;
  return none;
}

void RemoteChannel::tell_late() {
  exchange(wire::make(
      protocol::Kind::note_unsupported, ++serial_,
      protocol::Note{cudaErrorNotPermitted, "CUDA from a thread of the host after it has returned",
                     "join every thread that the launcher starts before it returns"}));
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
