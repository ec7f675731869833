// One end of the socket pair between a runner and its worker: whole messages in, whole messages
// out.
#pragma once

#include <chrono>
#include <string>

#include "common/simgpu/runtime/wire/message.hpp"

namespace simgpu::runtime::wire {

/// The two ends of a new channel: a stream socket pair, close-on-exec (dup2 the runner's end to
/// give it away).
struct Ends {
  int worker = -1, runner = -1;  ///< -1: the system refused, errno tells why
};
Ends make_channel();

enum class Received {
  message,
  closed,  ///< the other side closed its end, between two messages
  timeout,
  garbage,  ///< what came is no message; `problem` says why
};

class Channel {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Channel(int fd) : fd_(fd) {}  ///< not owned

  /// Waits until `deadline` for one message of a known type with the sizes that type may have.
  Received receive(Message& message, Clock::time_point deadline, std::string& problem);
  /// False if the other side is gone, or does not read for ten seconds.
  bool send(const Message& message);
  /// Bytes are waiting that no message has been read from yet.
  bool has_input() const;

 private:
  enum class Fill { done, closed, timeout, broken };
  Fill read_exactly(std::byte* to, std::size_t bytes, Clock::time_point deadline, std::size_t& got);
  int fd_;
};

}  // namespace simgpu::runtime::wire
