// Packets of grader/gpu/protocol.hpp over a SOCK_SEQPACKET socket. C++17, header only: the judge,
// the worker and the runner use it, and each compiles it with its own compiler.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "grader/gpu/protocol.hpp"

namespace grader::gpu::protocol {

struct Packet {
  Header header;
  std::vector<unsigned char> body;
  int file = -1;  ///< a descriptor that came along; the receiver's to close
};

enum class Received { packet, closed, malformed };

/// False: the other side is gone.
inline bool send_packet(int fd, const Header& header, const void* body, int file = -1) {
  iovec parts[2] = {{const_cast<Header*>(&header), sizeof header},
                    {const_cast<void*>(body), header.size}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = header.size > 0 ? 2 : 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (file >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const one = CMSG_FIRSTHDR(&message);
    one->cmsg_level = SOL_SOCKET;
    one->cmsg_type = SCM_RIGHTS;
    one->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(one), &file, sizeof file);
  }
  for (;;) {
    const ssize_t sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    return sent == static_cast<ssize_t>(sizeof header + header.size);
  }
}

template <typename Body>
bool send_body(int fd, Kind kind, std::uint64_t serial, const Body& body, int file = -1) {
  Header header;
  header.kind = kind;
  header.serial = serial;
  header.size = static_cast<std::uint32_t>(body_size(body));
  return send_packet(fd, header, &body, file);
}

inline bool send_empty(int fd, Kind kind, std::uint64_t serial) {
  Header header;
  header.kind = kind;
  header.serial = serial;
  return send_packet(fd, header, nullptr);
}

/// Waits for one packet. Descriptors are only taken where `with_file` says so; others never arrive.
inline Received receive_packet(int fd, Packet& packet, bool with_file = false) {
  std::vector<unsigned char> bytes(kMaxPacket);
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (with_file) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  ssize_t got = 0;
  do {
    got = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return Received::closed;
  packet.file = -1;
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one))
    if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_RIGHTS)
      std::memcpy(&packet.file, CMSG_DATA(one), sizeof packet.file);
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
