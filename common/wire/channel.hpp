// Whole messages over a stream socket, between two processes of which one may be hostile.
//
// A message is a Header and a payload (archive.hpp), and may bring descriptors along. Which kinds
// there are, and how long each may be, is the Protocol that both ends name. Whoever receives one
// gets a message of that protocol within its limits, or one of three other outcomes: the peer is
// gone, it said nothing until the deadline, or what it said is no message. No call waits beyond its
// deadline, whatever the peer does: sends nothing, half a message, or never reads. Signals, a dead
// peer and full buffers are ordinary outcomes.
//
// Header-only, C++17, POSIX and the standard library alone, like archive.hpp.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>
#include <utility>

#include "common/wire/archive.hpp"
#include "common/wire/clock.hpp"
#include "common/wire/unique_fd.hpp"

namespace wire {

struct Header {
  std::uint32_t magic = 0;
  std::uint16_t version = 0, kind = 0;
  std::uint32_t serial = 0;  ///< what it counts is up to the protocol
  std::uint32_t bytes = 0;   ///< of the payload
};
static_assert(sizeof(Header) == 16);

struct Protocol {
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  /// The longest payload that this kind of message may have, in bytes; kNoSuchKind if there is none.
  std::size_t (*longest)(std::uint16_t kind) = nullptr;
};
constexpr std::size_t kNoSuchKind = SIZE_MAX;

/// Descriptors that travel with one message, from the first on.
constexpr std::size_t kMaxFiles = 2;
using Files = std::array<int, kMaxFiles>;  ///< -1: none
constexpr Files kNoFiles = {-1, -1};

struct Message {
  std::uint16_t kind = 0;
  std::uint32_t serial = 0;
  Bytes payload;
  std::array<UniqueFd, kMaxFiles> files;

  /// The payload as a T; throws Error. `what` as in wire::decode.
  template <typename T>
  T as(const char* what = "a message") const {
    return decode<T>(payload, what);
  }
};

/// A message without descriptors, to send.
template <typename Kind, typename Body>
Message make(Kind kind, std::uint32_t serial, const Body& body) {
  return {static_cast<std::uint16_t>(kind), serial, encode(body), {}};
}

enum class Received {
  message,
  closed,   ///< the peer is gone; everything that it sent has been received
  timeout,  ///< the deadline has passed without a byte of a message
  garbage,  ///< what came is no message: problem() says why. Nothing after it can be read.
};
enum class Sent {
  all,
  closed,   ///< the peer is gone
  timeout,  ///< it does not read: part of the message may have gone out
};

/// The two ends of a new connection, closed on exec; both empty where the system refuses, and errno
/// tells why.
struct Ends {
  UniqueFd ours, theirs;
};
inline Ends make_ends() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return {};
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

/// Whether `fd` can be an end, for programs that only another one should start.
inline bool is_end(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/// One end. Does not own the descriptor.
class Channel {
 public:
  Channel(int fd, const Protocol& protocol) : fd_(fd), protocol_(protocol) {}

  /// Takes descriptors only `with_files`; without, and beyond kMaxFiles, they are closed.
  Received receive(Message& message, Deadline deadline, bool with_files = false);
  Sent send(const Message& message, Deadline deadline, const Files& files = kNoFiles);
  /// Bytes are waiting that no message has been read from yet.
  bool has_input() const {
    std::byte one;
    return ::recv(fd_, &one, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
  }
  /// Of the last garbage, one clause: "a message of kind 3 claims 70000 bytes".
  const std::string& problem() const { return problem_; }

 private:
  enum class Filled { all, closed, timeout, broken };
  Filled fill(std::byte* to, std::size_t bytes, Deadline deadline, std::size_t& got,
              Message* files = nullptr);
  bool wait(short events, Deadline deadline) const;
  Received garbage(std::string why) {
    problem_ = std::move(why);
    return Received::garbage;
  }

  int fd_;
  Protocol protocol_;
  std::string problem_;
};

/// True: ready, or broken, which the next call on the descriptor tells.
inline bool Channel::wait(short events, Deadline deadline) const {
  for (;;) {
    int patience = -1;
    if (deadline != kForever) {
      // Rounded up, so that a deadline is not polled for in a busy loop.
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      patience = static_cast<int>(std::clamp<long long>(left.count(), 0, INT_MAX));
    }
    pollfd request{fd_, events, 0};
    const int ready = ::poll(&request, 1, patience);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    if (ready == 0 && Clock::now() >= deadline) return false;
  }
}

namespace detail {

using Control = std::array<char, CMSG_SPACE(sizeof(Files))>;

/// Takes what came with `header`, and closes what there is no room for.
inline void take_files(msghdr& header, Message& message) {
  for (cmsghdr* one = CMSG_FIRSTHDR(&header); one != nullptr; one = CMSG_NXTHDR(&header, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int file = -1;
      std::memcpy(&file, CMSG_DATA(one) + i * sizeof file, sizeof file);
      UniqueFd taken(file);
      for (UniqueFd& place : message.files)
        if (!place && taken) place = std::move(taken);
    }
  }
}

inline void put_files(msghdr& header, Control& control, const Files& files) {
  const auto count =
      static_cast<std::size_t>(std::find(files.begin(), files.end(), -1) - files.begin());
  if (count == 0) return;
  header.msg_control = control.data();
  header.msg_controllen = CMSG_SPACE(count * sizeof(int));
  cmsghdr* const one = CMSG_FIRSTHDR(&header);
  one->cmsg_level = SOL_SOCKET;
  one->cmsg_type = SCM_RIGHTS;
  one->cmsg_len = CMSG_LEN(count * sizeof(int));
  std::memcpy(CMSG_DATA(one), files.data(), count * sizeof(int));
}

}  // namespace detail

inline Channel::Filled Channel::fill(std::byte* to, std::size_t bytes, Deadline deadline,
                                     std::size_t& got, Message* files) {
  while (got < bytes) {
    iovec part{to + got, bytes - got};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) detail::Control control{};
    if (files != nullptr) {
      header.msg_control = control.data();
      header.msg_controllen = control.size();
    }
    const ssize_t n = ::recvmsg(fd_, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n > 0) {
      got += static_cast<std::size_t>(n);
      if (files != nullptr) detail::take_files(header, *files);
    } else if (n == 0 || errno == ECONNRESET) {
      return Filled::closed;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait(POLLIN, deadline)) return Filled::timeout;
    } else if (errno != EINTR) {
      return Filled::broken;
    }
  }
  return Filled::all;
}

inline Received Channel::receive(Message& message, Deadline deadline, bool with_files) {
  message = {};
  Header header;
  std::size_t got = 0;
  switch (fill(reinterpret_cast<std::byte*>(&header), sizeof header, deadline, got,
               with_files ? &message : nullptr)) {
    case Filled::all:
      break;
    case Filled::timeout:
      if (got == 0) return Received::timeout;
      return garbage("a message stopped after " + std::to_string(got) + " bytes");
    case Filled::closed:
      if (got == 0) return Received::closed;
      return garbage("the channel was closed inside a message");
    case Filled::broken:
      return garbage("the channel cannot be read");
  }
  if (header.magic != protocol_.magic)
    return garbage("the channel carries bytes that are no message");
  if (header.version != protocol_.version)
    return garbage("a message has version " + std::to_string(header.version));
  const std::size_t longest = protocol_.longest(header.kind);
  if (longest == kNoSuchKind)
    return garbage("a message has the unknown kind " + std::to_string(header.kind));
  if (header.bytes > longest)
    return garbage("a message of kind " + std::to_string(header.kind) + " claims " +
                   std::to_string(header.bytes) + " bytes");
  message.kind = header.kind;
  message.serial = header.serial;
  // Memory as bytes come, and not because somebody claims that they will.
  for (got = 0; got < header.bytes;) {
    constexpr std::size_t first = std::size_t{64} << 10;
    message.payload.resize(std::min<std::size_t>(header.bytes, std::max(first, 2 * got)));
    const Filled filled = fill(message.payload.data(), message.payload.size(), deadline, got);
    if (filled == Filled::broken) return garbage("the channel cannot be read");
    if (filled != Filled::all)
      return garbage("a message stopped after " + std::to_string(got) + " of " +
                     std::to_string(header.bytes) + " bytes");
  }
  return Received::message;
}

inline Sent Channel::send(const Message& message, Deadline deadline, const Files& files) {
  Header header;
  header.magic = protocol_.magic;
  header.version = protocol_.version;
  header.kind = message.kind;
  header.serial = message.serial;
  header.bytes = static_cast<std::uint32_t>(message.payload.size());
  if (message.payload.size() > UINT32_MAX) throw Error("a message of this program is too long");
  const std::size_t total = sizeof header + message.payload.size();
  for (std::size_t sent = 0; sent < total;) {
    const std::size_t of_header = std::min(sent, sizeof header), of_payload = sent - of_header;
    iovec parts[2] = {
        {reinterpret_cast<std::byte*>(&header) + of_header, sizeof header - of_header},
        {const_cast<std::byte*>(message.payload.data()) + of_payload,
         message.payload.size() - of_payload}};
    msghdr out{};
    out.msg_iov = parts;
    out.msg_iovlen = 2;
    alignas(cmsghdr) detail::Control control{};
    if (sent == 0) detail::put_files(out, control, files);
    const ssize_t n = ::sendmsg(fd_, &out, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0)
      sent += static_cast<std::size_t>(n);
    else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait(POLLOUT, deadline)) return Sent::timeout;
    } else if (errno != EINTR) {
      return Sent::closed;
    }
  }
  return Sent::all;
}

}  // namespace wire
