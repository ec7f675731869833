#include "common/simgpu/runtime/wire/channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>

namespace simgpu::runtime::wire {
namespace {

constexpr std::chrono::seconds kSendPatience{10};

/// Milliseconds for poll: rounded up, so that a deadline is not polled for in a busy loop.
int milliseconds_until(Channel::Clock::time_point deadline) {
  const auto left = deadline - Channel::Clock::now();
  if (left <= left.zero()) return 0;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::min<long long>(ms, 1'000'000'000));
}

/// 1 ready, 0 deadline passed, -1 error.
int wait_for(int fd, short events, Channel::Clock::time_point deadline) {
  while (true) {
    pollfd request{fd, events, 0};
    const int ready = ::poll(&request, 1, milliseconds_until(deadline));
    if (ready > 0) return 1;
    if (ready == 0) {
      if (Channel::Clock::now() >= deadline) return 0;
    } else if (errno != EINTR) {
      return -1;
    }
  }
}

}  // namespace

Ends make_channel() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return {};
  return {fds[0], fds[1]};
}

Channel::Fill Channel::read_exactly(std::byte* to, std::size_t bytes, Clock::time_point deadline,
                                    std::size_t& got) {
  got = 0;
  while (got < bytes) {
    const ssize_t n = ::recv(fd_, to + got, bytes - got, MSG_DONTWAIT);
    if (n > 0) {
      got += static_cast<std::size_t>(n);
      continue;
    }
    if (n == 0) return Fill::closed;
    if (errno == EINTR) continue;
    if (errno == ECONNRESET) return Fill::closed;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return Fill::broken;
    const int ready = wait_for(fd_, POLLIN, deadline);
    if (ready == 0) return Fill::timeout;
    if (ready < 0) return Fill::broken;
  }
  return Fill::done;
}

Received Channel::receive(Message& message, Clock::time_point deadline, std::string& problem) {
  std::size_t got = 0;
  Header header;
  switch (read_exactly(reinterpret_cast<std::byte*>(&header), sizeof header, deadline, got)) {
    case Fill::done:
      break;
    case Fill::timeout:
      if (got == 0) return Received::timeout;
      problem = "a message stopped after " + std::to_string(got) + " bytes";
      return Received::garbage;
    case Fill::closed:
      if (got == 0) return Received::closed;
      problem = "the channel was closed inside a message";
      return Received::garbage;
    case Fill::broken:
      problem = "the channel cannot be read";
      return Received::garbage;
  }
  if (header.magic != kMagic) {
    problem = "the channel carries bytes that are no message";
    return Received::garbage;
  }
  if (header.version != kVersion) {
    problem = "a message has version " + std::to_string(header.version);
    return Received::garbage;
  }
  std::size_t body = 0, tail = 0;
  if (!shape_of(header.type, body, tail)) {
    problem = "a message has the unknown type " + std::to_string(header.type);
    return Received::garbage;
  }
  if (header.bytes < body || header.bytes - body > tail) {
    problem = "a message of type " + std::to_string(header.type) + " claims " +
              std::to_string(header.bytes) + " bytes";
    return Received::garbage;
  }
  message.header = header;
  message.payload.resize(header.bytes);
  switch (read_exactly(message.payload.data(), message.payload.size(), deadline, got)) {
    case Fill::done:
      return Received::message;
    case Fill::timeout:
    case Fill::closed:
      problem = "a message stopped after " + std::to_string(got) + " of " +
                std::to_string(header.bytes) + " bytes";
      return Received::garbage;
    case Fill::broken:
      break;
  }
  problem = "the channel cannot be read";
  return Received::garbage;
}

bool Channel::send(const Message& message) {
  std::vector<std::byte> bytes(sizeof message.header + message.payload.size());
  std::memcpy(bytes.data(), &message.header, sizeof message.header);
  if (!message.payload.empty()) {
    std::memcpy(bytes.data() + sizeof message.header, message.payload.data(),
                message.payload.size());
  }
  const auto deadline = Clock::now() + kSendPatience;
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t n =
        ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (wait_for(fd_, POLLOUT, deadline) != 1) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool Channel::has_input() const {
  std::byte one;
  return ::recv(fd_, &one, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

}  // namespace simgpu::runtime::wire
