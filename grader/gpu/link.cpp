#include "grader/gpu/link.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <csignal>

#include "grader/errors.hpp"

namespace grader::gpu {
namespace {

using namespace protocol;

std::atomic<int> alive_count{0};

UniqueFd pair_of_sockets(UniqueFd& theirs) {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    throw InfraError("cannot make a socket pair");
  // The largest packet must fit as a whole.
  const int size = 2 * static_cast<int>(kMaxPacket);
  for (const int fd : fds) ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  theirs.reset(fds[1]);
  return UniqueFd(fds[0]);
}

ProcessSpec with_socket(ProcessSpec spec, int theirs) {
  spec.descriptors.emplace_back(theirs, kDescriptor);
  return spec;
}

}  // namespace

Link::Link(ProcessSpec spec)
    : socket_(pair_of_sockets(theirs_)), process_(with_socket(std::move(spec), theirs_.get())) {
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

Answer Link::receive(Packet& packet, std::chrono::milliseconds patience, bool with_files) {
  if (!process_.drain_until_readable(socket_.get(), patience)) return Answer::silent;
  switch (receive_packet(socket_.get(), packet, with_files)) {
    case Received::packet:
      return Answer::reply;
    case Received::closed:
      return Answer::closed;
    case Received::malformed:
      break;
  }
  return Answer::nonsense;
}

Answer Link::first(Packet& packet, std::chrono::milliseconds patience) {
  const Answer answer = receive(packet, patience);
  return answer == Answer::reply && packet.header.serial != 0 ? Answer::nonsense : answer;
}

Answer Link::exchange_bytes(const Header& header, const void* body, Packet& reply,
                            std::chrono::milliseconds patience, const Extras& extras) {
  if (!socket_) return Answer::closed;
  // A packet that lies there already answers nothing: a reply must not come before its request.
  pollfd early{socket_.get(), POLLIN, 0};
  if (::poll(&early, 1, 0) > 0 && (early.revents & POLLIN) != 0) {
    Packet surplus;
    return receive_packet(socket_.get(), surplus) == Received::closed ? Answer::closed
                                                                      : Answer::nonsense;
  }
  resume();
  const auto start = std::chrono::steady_clock::now();
  if (!send_packet(socket_.get(), header, body, extras.files)) return Answer::closed;
  const Answer answer = receive(reply, patience, extras.takes_files);
  if (extras.timing)
    extras.timing->seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (answer != Answer::reply) return answer;
  return reply.header.serial == header.serial && reply.header.kind == Kind::done ? Answer::reply
                                                                                 : Answer::nonsense;
}

}  // namespace grader::gpu
