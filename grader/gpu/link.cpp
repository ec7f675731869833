#include "grader/gpu/link.hpp"

#include <atomic>
#include <csignal>

#include "grader/errors.hpp"

namespace grader::gpu {
namespace {

using namespace protocol;

std::atomic<int> alive_count{0};

/// From the first byte of a reply to its last: it was sent in one go, if it was.
constexpr std::chrono::seconds whole_reply{1};

UniqueFd pair_of_sockets(UniqueFd& theirs) {
  wire::Ends ends = wire::make_ends();
  if (!ends.ours) throw InfraError("cannot make a socket pair");
  theirs = std::move(ends.theirs);
  return std::move(ends.ours);
}

ProcessSpec with_socket(ProcessSpec spec, int theirs,
                        const std::function<ProcessSpec(ProcessSpec)>& around) {
  spec.descriptors.emplace_back(theirs, kDescriptor);
  return around ? around(std::move(spec)) : spec;
}

}  // namespace

Link::Link(ProcessSpec spec, const std::function<ProcessSpec(ProcessSpec)>& around)
    : socket_(pair_of_sockets(theirs_)),
      process_(with_socket(std::move(spec), theirs_.get(), around)) {
  theirs_.reset();
  ++alive_count;
}

Link::~Link() {
  process_.kill();
  --alive_count;
}

int Link::alive() {
  return alive_count;
}

void Link::pause() {
  if (!paused_) ::kill(-process_.pid(), SIGSTOP);
  paused_ = true;
}

void Link::resume() {
  if (paused_) ::kill(-process_.pid(), SIGCONT);
  paused_ = false;
}

Answer Link::receive(wire::Message& message, std::chrono::milliseconds patience, bool with_files) {
  if (!process_.drain_until_readable(socket_.get(), patience)) return Answer::silent;
  switch (wire::Channel(socket_.get(), kProtocol)
              .receive(message, wire::Clock::now() + whole_reply, with_files)) {
    case wire::Received::message:
      return Answer::reply;
    case wire::Received::closed:
      return Answer::closed;
    case wire::Received::timeout:
    case wire::Received::garbage:
      break;
  }
  return Answer::nonsense;
}

Answer Link::first(wire::Message& message, std::chrono::milliseconds patience) {
  const Answer answer = receive(message, patience, false);
  return answer == Answer::reply && message.serial != 0 ? Answer::nonsense : answer;
}

Answer Link::exchange(const wire::Message& request, wire::Message& reply,
                      std::chrono::milliseconds patience, const Extras& extras) {
  if (!socket_) return Answer::closed;
  wire::Channel channel(socket_.get(), kProtocol);
  // What lies there already answers nothing: a reply must not come before its request.
  if (channel.has_input()) return Answer::nonsense;
  resume();
  const auto start = wire::Clock::now();
  switch (channel.send(request, start + patience, extras.files)) {
    case wire::Sent::all:
      break;
    case wire::Sent::closed:
      return Answer::closed;
    case wire::Sent::timeout:
      return Answer::silent;
  }
  const Answer answer = receive(reply, patience, extras.taken != nullptr);
  if (extras.seconds != nullptr)
    *extras.seconds = std::chrono::duration<double>(wire::Clock::now() - start).count();
  if (answer != Answer::reply) return answer;
  if (extras.taken != nullptr) *extras.taken = std::move(reply.files);
  return reply.serial == request.serial && reply.kind == static_cast<std::uint16_t>(Kind::done)
             ? Answer::reply
             : Answer::nonsense;
}

}  // namespace grader::gpu
