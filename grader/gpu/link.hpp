// The judge's end of a worker's or a runner's socket: one request, one reply, a deadline.
//
// Whatever comes back is decoded as hostile: another serial, kind, size or count than asked for is
// `nonsense`, and so is a second packet that nobody asked for.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "grader/gpu/packet.hpp"
#include "grader/os/process.hpp"

namespace grader::gpu {

enum class Answer { reply, closed, nonsense, silent };

class Link {
 public:
  /// Starts the process with one end as its descriptor 3. Throws InfraError.
  explicit Link(ProcessSpec spec);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  struct Timing {
    double seconds = 0;  ///< sent to received
  };
  struct Extras {
    protocol::Files files = protocol::kNoFiles;  ///< sent along
    bool takes_files = false;                    ///< of the reply; never a runner's
    Timing* timing = nullptr;
  };
  /// Sends a request and waits for the reply with its serial.
  template <typename Request>
  Answer exchange(protocol::Kind kind, const Request& request, protocol::Packet& reply,
                  std::chrono::milliseconds patience) {
    return exchange(kind, request, reply, patience, Extras());
  }
  template <typename Request>
  Answer exchange(protocol::Kind kind, const Request& request, protocol::Packet& reply,
                  std::chrono::milliseconds patience, const Extras& extras) {
    protocol::Header header;
    header.kind = kind;
    header.serial = ++serial_;
    header.size = static_cast<std::uint32_t>(protocol::body_size(request));
    return exchange_bytes(header, &request, reply, patience, extras);
  }
  Answer exchange(protocol::Kind kind, protocol::Packet& reply,
                  std::chrono::milliseconds patience) {
    protocol::Header header;
    header.kind = kind;
    header.serial = ++serial_;
    return exchange_bytes(header, nullptr, reply, patience, Extras());
  }
  /// The first packet, which nobody asked for.
  Answer first(protocol::Packet& packet, std::chrono::milliseconds patience);

  /// SIGSTOP to the whole group, and on again.
  void pause();
  void resume();
  void close_socket() { socket_.reset(); }
  Process& process() { return process_; }

  /// Links of this judge that are open now: its own processes on the GPU.
  static int alive();

 private:
  Answer exchange_bytes(const protocol::Header& header, const void* body, protocol::Packet& reply,
                        std::chrono::milliseconds patience, const Extras& extras);
  Answer receive(protocol::Packet& packet, std::chrono::milliseconds patience,
                 bool with_files = false);

  UniqueFd theirs_, socket_;  // in this order: making the pair sets both
  Process process_;
  std::uint64_t serial_ = 0;
  bool paused_ = false;
};

}  // namespace grader::gpu
