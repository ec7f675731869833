// The runner's one connection to its worker, shared by the loop (runner_loop.cpp) and the backend.
#pragma once

#include "common/simgpu/runtime/protocol.hpp"

namespace simgpu::runtime {

class RemoteChannel {
 public:
  static RemoteChannel& get();

  void open(int fd);
  bool is_open() const { return fd_ >= 0; }

  /// Sends a request and waits for its reply, for as long as it takes: the worker keeps the time.
  /// If the worker is gone the process ends here (exit status 3): there is nothing left to run for.
  template <typename Body>
  protocol::Reply request(protocol::Kind kind, const Body& body) {
    return exchange(wire::make(kind, ++serial_, body));
  }
  /// Sends without an answer. False if the worker is gone.
  template <typename Body>
  bool send(protocol::Kind kind, const Body& body) {
    return send(wire::make(kind, ++serial_, body));
  }
  /// Waits for what the worker says next. False if it is gone or speaks another language.
  bool receive(wire::Message& message);

 private:
  protocol::Reply exchange(const wire::Message& message);
  bool send(const wire::Message& message);

  int fd_ = -1;
  std::uint32_t serial_ = 0;
};

}  // namespace simgpu::runtime
