// The runner's one connection to its worker, shared by the loop (runner_loop.cpp) and the backend.
#pragma once

#include <atomic>
#include <mutex>

#include "common/simgpu/runtime/protocol.hpp"

namespace simgpu::runtime {

/// Any thread of the host may send requests, one at a time, and only while the worker has called: a
/// thread that outlives its call waits for the next one, which is told of it.
class RemoteChannel {
 public:
  static RemoteChannel& get();

  void open(int fd);
  /// Requests are refused from now on.
  void close();
  bool is_open() const { return fd_ >= 0; }

  /// Of the loop alone, around what the worker called.
  void begin_call();
  void end_call();

  /// Sends a request and waits for its reply, for as long as it takes: the worker keeps the time.
  /// If the worker is gone the process ends here (exit status 3): there is nothing left to run for.
  template <typename Body>
  protocol::Reply request(protocol::Kind kind, const Body& body) {
    const Turn turn(*this);
    if (!is_open()) return not_open();
    if (turn.late()) tell_late();
    return exchange(wire::make(kind, ++serial_, body));
  }
  /// Sends without an answer, outside of a call. False if the worker is gone.
  template <typename Body>
  bool send(protocol::Kind kind, const Body& body) {
    return send(wire::make(kind, ++serial_, body));
  }
  /// Waits for what the worker says next. False if it is gone or speaks another language.
  bool receive(wire::Message& message);

 private:
  /// Waits for a call, and for other threads.
  class Turn {
   public:
    explicit Turn(RemoteChannel& channel)
        : channel_(channel), asked_in_(channel.phase_), lock_(channel.turns_) {}
    /// Whether the call in which it was asked for is over, or there was none.
    bool late() const { return asked_in_ % 2 == 0 || asked_in_ != channel_.phase_; }

   private:
    const RemoteChannel& channel_;
    const unsigned asked_in_;
    const std::lock_guard<std::mutex> lock_;
  };

  static protocol::Reply not_open();
  void tell_late();
  protocol::Reply exchange(const wire::Message& message);
  bool send(const wire::Message& message);

  std::atomic<int> fd_ = -1;
  std::uint32_t serial_ = 0;
  std::atomic<unsigned> phase_ = 0;  ///< odd in a call
  std::mutex turns_;                 ///< the loop's, but for calls
};

}  // namespace simgpu::runtime
