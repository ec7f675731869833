// The judge's end of a worker's or a runner's channel: one request, one reply, a deadline.
//
// Whatever comes back is decoded as hostile: another serial, kind or content than asked for is
// `nonsense`, and so is a second message that nobody asked for.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "grader/gpu/protocol.hpp"
#include "grader/os/process.hpp"

namespace grader::gpu {

enum class Answer { reply, closed, nonsense, silent };

/// What goes along with a request and comes back beside the reply.
struct Extras {
  wire::Files files = wire::kNoFiles;                      ///< sent along
  std::array<UniqueFd, wire::kMaxFiles>* taken = nullptr;  ///< of the reply; never a runner's
  double* seconds = nullptr;                               ///< sent to received
};

class Link {
 public:
  /// Starts the process with one end as its descriptor 3. `around` puts the whole into a box. Throws
  /// InfraError.
  explicit Link(ProcessSpec spec, const std::function<ProcessSpec(ProcessSpec)>& around = {});
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Sends a request and waits for the reply with its serial.
  template <typename Request, typename Reply>
  Answer exchange(protocol::Kind kind, const Request& request, Reply& reply,
                  std::chrono::milliseconds patience, const Extras& extras = {}) {
    wire::Message message;
    const Answer answer = exchange(wire::make(kind, ++serial_, request), message, patience, extras);
    return answer == Answer::reply && !read(message, reply) ? Answer::nonsense : answer;
  }
  /// The first message, which nobody asked for.
  Answer first(wire::Message& message, std::chrono::milliseconds patience);
  /// False: it is no such body.
  template <typename Body>
  static bool read(const wire::Message& message, Body& body) {
    try {
      body = message.as<Body>();
      return true;
    } catch (const wire::Error&) {
      return false;
    }
  }

  /// SIGSTOP to the whole group, and on again.
  void pause();
  void resume();
  void close_socket() { socket_.reset(); }
  Process& process() { return process_; }

  /// Links of this judge that are open now: its own processes on the GPU.
  static int alive();

 private:
  Answer exchange(const wire::Message& request, wire::Message& reply,
                  std::chrono::milliseconds patience, const Extras& extras);
  Answer receive(wire::Message& message, std::chrono::milliseconds patience, bool with_files);

  UniqueFd theirs_, socket_;  // in this order: making the pair sets both
  Process process_;
  std::uint32_t serial_ = 0;
  bool paused_ = false;
};

}  // namespace grader::gpu
