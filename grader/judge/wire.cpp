#include "grader/judge/wire.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace grader::wire {
namespace {

constexpr std::uint32_t magic = 0x4c414247;  // "GBAL", bytes as they lie in a little-endian dump
constexpr std::uint64_t largest_frame = 1ull << 30;

struct Header {
  std::uint32_t magic = 0, kind = 0;
  std::uint64_t length = 0;
};

}  // namespace

bool send(int fd, Kind kind, const std::string& payload) {
  const Header header{magic, static_cast<std::uint32_t>(kind), payload.size()};
  const auto put = [&](const char* data, std::size_t size) {
    while (size > 0) {
      const ssize_t sent = ::send(fd, data, size, MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      data += sent;
      size -= static_cast<std::size_t>(sent);
    }
    return true;
  };
  return put(reinterpret_cast<const char*>(&header), sizeof header) &&
         put(payload.data(), payload.size());
}

Received receive(int fd, int timeout_ms, Kind& kind, std::string& payload) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  const auto get = [&](char* data, std::size_t size) {
    while (size > 0) {
      int wait = -1;
      if (timeout_ms >= 0) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        wait = left > 0 ? static_cast<int>(left) : 0;
      }
      pollfd ready{fd, POLLIN, 0};
      const int polled = ::poll(&ready, 1, wait);
      if (polled < 0 && errno == EINTR) continue;
      if (polled == 0) return Received::timeout;
      const ssize_t got = ::recv(fd, data, size, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return Received::closed;
      data += got;
      size -= static_cast<std::size_t>(got);
    }
    return Received::frame;
  };
  Header header;
  if (const Received first = get(reinterpret_cast<char*>(&header), sizeof header);
      first != Received::frame)
    return first;
  if (header.magic != magic || header.length > largest_frame || header.kind < 1 || header.kind > 4)
    return Received::malformed;
  kind = static_cast<Kind>(header.kind);
  payload.resize(static_cast<std::size_t>(header.length));
  return get(payload.data(), payload.size());
}

}  // namespace grader::wire
