// Packets of grader/gpu/protocol.hpp over a SOCK_SEQPACKET socket. C++17, header only: the judge,
// the worker and the runner use it, and each compiles it with its own compiler.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "grader/gpu/protocol.hpp"
#include "grader/os/unique_fd.hpp"

namespace grader::gpu::protocol {

/// Descriptors to send along, from the first on; -1: none.
using Files = std::array<int, kMaxFiles>;
constexpr Files kNoFiles = {-1, -1};

struct Packet {
  Header header;
  std::vector<unsigned char> body;
  std::array<UniqueFd, kMaxFiles> files;  ///< that came along, from the first on
};

enum class Received { packet, closed, malformed };

/// False: the other side is gone.
inline bool send_packet(int fd, const Header& header, const void* body,
                        const Files& files = kNoFiles) {
  iovec parts[2] = {{const_cast<Header*>(&header), sizeof header},
                    {const_cast<void*>(body), header.size}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = header.size > 0 ? 2 : 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof files)] = {};
  std::size_t count = 0;
  while (count < files.size() && files[count] >= 0) ++count;
  if (count > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* const one = CMSG_FIRSTHDR(&message);
    one->cmsg_level = SOL_SOCKET;
    one->cmsg_type = SCM_RIGHTS;
    one->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(one), files.data(), count * sizeof(int));
  }
  for (;;) {
    const ssize_t sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    return sent == static_cast<ssize_t>(sizeof header + header.size);
  }
}

template <typename Body>
bool send_body(int fd, Kind kind, std::uint64_t serial, const Body& body,
               const Files& files = kNoFiles) {
  Header header;
  header.kind = kind;
  header.serial = serial;
  header.size = static_cast<std::uint32_t>(body_size(body));
  return send_packet(fd, header, &body, files);
}

/// Waits for one packet. Descriptors are only taken where `with_files` says so; others never
/// arrive.
inline Received receive_packet(int fd, Packet& packet, bool with_files = false) {
  std::vector<unsigned char> bytes(kMaxPacket);
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(Files))] = {};
  if (with_files) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  ssize_t got = 0;
  do {
    got = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  for (UniqueFd& file : packet.files) file.reset();
  if (got <= 0) return Received::closed;
  // The kernel drops descriptors for which `control` has no room.
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int file = -1;
      std::memcpy(&file, CMSG_DATA(one) + i * sizeof file, sizeof file);
      UniqueFd taken(file);
      if (i < packet.files.size()) packet.files[i] = std::move(taken);
    }
  }
  const auto size = static_cast<std::size_t>(got);
  if ((message.msg_flags & MSG_TRUNC) != 0 || size < sizeof(Header)) return Received::malformed;
  std::memcpy(&packet.header, bytes.data(), sizeof packet.header);
  if (!valid_header(packet.header, size)) return Received::malformed;
  packet.body.assign(bytes.begin() + sizeof(Header), bytes.begin() + got);
  return Received::packet;
}

/// Copies a text into a field of fixed size, cut where it does not fit.
template <std::size_t N>
void put_text(char (&field)[N], const char* text) {
  const std::size_t size = text != nullptr ? ::strnlen(text, N - 1) : 0;
  if (size > 0) std::memcpy(field, text, size);
  field[size] = 0;
}

/// A field of fixed size as it came: not beyond its end.
template <std::size_t N>
std::size_t text_length(const char (&field)[N]) {
  return ::strnlen(field, N);
}

}  // namespace grader::gpu::protocol
