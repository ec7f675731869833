// The runner's one connection to its worker, shared by the loop (runner_loop.cpp) and the backend.
#pragma once

#include "common/simgpu/runtime/wire/channel.hpp"

namespace simgpu::runtime {

class RemoteChannel {
 public:
  static RemoteChannel& get();

  void open(int fd);
  bool is_open() const { return fd_ >= 0; }

  /// Sends a request and waits for its reply, for as long as it takes: the worker keeps the time.
  /// If the worker is gone the process ends here (exit status 3): there is nothing left to run for.
  wire::Message request(wire::Message message);
  /// Sends without an answer. False if the worker is gone.
  bool send(wire::Message message);
  /// Waits for what the worker says next. False if it is gone or speaks another language.
  bool receive(wire::Message& message);

 private:
  int fd_ = -1;
  std::uint32_t sequence_ = 0;
};

}  // namespace simgpu::runtime
