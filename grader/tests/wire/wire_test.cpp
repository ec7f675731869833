// The wire library (common/wire/) under every message of the three protocols that stand on it:
// what was cut, changed or made up is a value or a wire::Error, never more, and memory follows the
// bytes that came. `make test-sanitized` runs it under the address and undefined-behaviour
// sanitizers.
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include "common/catch2.hpp"
#include "common/inputs.hpp"
#include "common/simgpu/runtime/protocol.hpp"
#include "common/wire/channel.hpp"
#include "grader/gpu/protocol.hpp"
#include "grader/judge/protocol.hpp"

namespace {

std::atomic<std::size_t> allocated{0};  // bytes, all told

}  // namespace

// Of this program, so that tests see what a message makes a process allocate.
void* operator new(std::size_t bytes) {
  allocated += bytes;
  void* const memory = std::malloc(bytes > 0 ? bytes : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  allocated += bytes;
  return std::malloc(bytes > 0 ? bytes : 1);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace {

using namespace std::chrono_literals;
using inputs::SplitMix64;
using wire::Bytes;
namespace judge = grader::protocol;
namespace gpu = grader::gpu::protocol;
namespace sim = simgpu::runtime::protocol;

/// Fills a message through its own list of fields: every optional there, one to three of everything
/// that has a count, small numbers that fit any enum.
class Filler {
 public:
  static constexpr bool reading = true;
  explicit Filler(SplitMix64& random) : random_(random) {}
  void raw(void* to, std::size_t size) {
    std::memset(to, 0, size);
    if (size > 0) *static_cast<unsigned char*>(to) = 1;
  }
  std::size_t count(std::size_t) { return 1 + (random_() >> 60) % 3; }
  [[noreturn]] void fail(const std::string& why) { throw std::logic_error(why); }

 private:
  SplitMix64& random_;
};

/// A message of one type: its bytes, and what a receiver does with bytes that claim to be one.
struct Kind {
  std::string name;
  Bytes bytes;
  std::size_t longest;
  Bytes (*again)(const Bytes&);  ///< decoded and encoded; throws wire::Error
};

template <typename Body>
Bytes again(const Bytes& bytes) {
  return wire::encode(wire::decode<Body>(bytes));
}

class Catalogue {
 public:
  Catalogue() {
    using namespace sim;
    add<Hello>(sim::kProtocol, sim::Kind::hello, "hello");
    add<Returned>(sim::kProtocol, sim::Kind::returned, "returned");
    add<Threw>(sim::kProtocol, sim::Kind::threw, "threw");
    add<Allocate>(sim::kProtocol, sim::Kind::allocate, "allocate");
    add<Address>(sim::kProtocol, sim::Kind::release, "release");
    add<Fill>(sim::kProtocol, sim::Kind::fill, "fill");
    add<Copy>(sim::kProtocol, sim::Kind::copy, "copy");
    add<CopyIn>(sim::kProtocol, sim::Kind::copy_in, "copy_in");
    add<CopyOut>(sim::kProtocol, sim::Kind::copy_out, "copy_out");
    add<Address>(sim::kProtocol, sim::Kind::find, "find");
    add<Nothing>(sim::kProtocol, sim::Kind::memory_info, "memory_info");
    add<Name>(sim::kProtocol, sim::Kind::variable, "variable");
    add<Name>(sim::kProtocol, sim::Kind::kernel_info, "kernel_info");
    add<SetMaxDynamicShared>(sim::kProtocol, sim::Kind::set_max_dynamic_shared, "set_max");
    add<Launch>(sim::kProtocol, sim::Kind::launch, "launch");
    add<Note>(sim::kProtocol, sim::Kind::note_unsupported, "note_unsupported");
    add<Note>(sim::kProtocol, sim::Kind::note_error, "note_error");
    add<Note>(sim::kProtocol, sim::Kind::note_default_stream, "note_default_stream");
    add<simgpu::BrokenRule>(sim::kProtocol, sim::Kind::note_refused_map, "note_refused_map");
    add<Nothing>(sim::kProtocol, sim::Kind::model, "model");
    add<Call>(sim::kProtocol, sim::Kind::call, "call");
    add<Ask>(sim::kProtocol, sim::Kind::ask, "ask");
    add<Nothing>(sim::kProtocol, sim::Kind::goodbye, "goodbye");
    add<Reply>(sim::kProtocol, sim::Kind::reply, "reply");

    add<judge::LoadRequest>(judge::kProtocol, judge::Kind::load, "judge: load");
    add<judge::CallRequest>(judge::kProtocol, judge::Kind::call, "judge: call");
    add<judge::AskRequest>(judge::kProtocol, judge::Kind::ask, "judge: ask");
    add<judge::LoadReply>(judge::kProtocol, judge::Kind::reply, "judge: loaded");
    add<judge::CallReply>(judge::kProtocol, judge::Kind::reply, "judge: called");
    add<simgpu::runtime::CallResult>(judge::kProtocol, judge::Kind::reply, "judge: asked");

    add<gpu::Hello>(gpu::kProtocol, gpu::Kind::hello, "gpu: hello");
    add<gpu::Call>(gpu::kProtocol, gpu::Kind::call, "gpu: call");
    add<gpu::Ask>(gpu::kProtocol, gpu::Kind::ask, "gpu: ask");
    add<gpu::Arenas>(gpu::kProtocol, gpu::Kind::open, "gpu: open");
    add<gpu::Batch>(gpu::kProtocol, gpu::Kind::batch, "gpu: batch");
    add<gpu::Nothing>(gpu::kProtocol, gpu::Kind::info, "gpu: info");
    add<gpu::Allocate>(gpu::kProtocol, gpu::Kind::allocate, "gpu: allocate");
    add<gpu::Fill>(gpu::kProtocol, gpu::Kind::fill, "gpu: fill");
    add<gpu::Verify>(gpu::kProtocol, gpu::Kind::verify, "gpu: verify");
    add<gpu::Nothing>(gpu::kProtocol, gpu::Kind::checksum, "gpu: checksum");
    add<gpu::Done>(gpu::kProtocol, gpu::Kind::done, "gpu: done");
    add<gpu::Info>(gpu::kProtocol, gpu::Kind::done, "gpu: device");
    add<gpu::Allocated>(gpu::kProtocol, gpu::Kind::done, "gpu: allocated");
    add<gpu::Verified>(gpu::kProtocol, gpu::Kind::done, "gpu: verified");
  }
  std::vector<Kind> kinds;
  SplitMix64 random{20261122};

 private:
  template <typename Body, typename Number>
  void add(const wire::Protocol& protocol, Number kind, const char* name) {
    Body body;
    Filler filler(random);
    wire::field(filler, body);
    kinds.push_back({name, wire::encode(body), protocol.longest(static_cast<std::uint16_t>(kind)),
                     &again<Body>});
  }
};

/// "" if the bytes were refused with an Error, else what they became. Whatever happens, the memory
/// that it took follows the length of the bytes.
Bytes tried(const Kind& kind, const Bytes& bytes, bool& refused) {
  const std::size_t before = allocated;
  refused = false;
  Bytes result;
  try {
    result = kind.again(bytes);
  } catch (const wire::Error&) {
    refused = true;
  }
  // A vector that doubles, elements larger in memory than on the wire, and a few words of an error.
  CHECK(allocated - before <= 4096 + 64 * bytes.size());
  return result;
}

bool is_refused(const Kind& kind, const Bytes& bytes) {
  bool refused = false;
  tried(kind, bytes, refused);
  return refused;
}

}  // namespace

TEST_CASE("every message comes back as it was, within its limit") {
  const Catalogue all;
  for (const Kind& kind : all.kinds) {
    INFO(kind.name);
    CHECK(kind.longest != wire::kNoSuchKind);
    CHECK(kind.bytes.size() <= kind.longest);
    CHECK(kind.again(kind.bytes) == kind.bytes);
  }
}

TEST_CASE("a message that is cut or has bytes to spare is refused at every length") {
  const Catalogue all;
  for (const Kind& kind : all.kinds) {
    INFO(kind.name);
    std::size_t taken = 0;
    for (std::size_t size = 0; size < kind.bytes.size(); ++size)
      taken += is_refused(kind, Bytes(kind.bytes.begin(),
                                      kind.bytes.begin() + static_cast<std::ptrdiff_t>(size)))
                   ? 0
                   : 1;
    CHECK(taken == 0);
    Bytes longer = kind.bytes;
    longer.resize(longer.size() + 1);
    CHECK(is_refused(kind, longer));
  }
}

TEST_CASE("a changed message is refused or is what its bytes say") {
  Catalogue all;
  SplitMix64& random = all.random;
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>((random() >> 11) % n); };
  std::size_t refused = 0, taken = 0;
  for (const Kind& kind : all.kinds) {
    if (kind.bytes.empty()) continue;
    INFO(kind.name);
    for (int trial = 0; trial < 400; ++trial) {
      Bytes bytes = kind.bytes;
      switch (trial % 4) {
        case 0:  // one byte
          bytes[below(bytes.size())] = static_cast<std::byte>(random() >> 56);
          break;
        case 1:  // a number, a count among them, as large as it can be
          for (std::size_t i = below(bytes.size()), end = i + 4; i < end && i < bytes.size(); ++i)
            bytes[i] = std::byte{0xff};
          break;
        case 2:  // a piece twice, or missing
          if (const std::size_t from = below(bytes.size()), size = below(bytes.size() - from) + 1;
              below(2) == 0) {
            const Bytes piece(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                              bytes.begin() + static_cast<std::ptrdiff_t>(from + size));
            bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size())),
                         piece.begin(), piece.end());
          } else {
            bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                        bytes.begin() + static_cast<std::ptrdiff_t>(from + size));
          }
          break;
        default:  // all of it
          for (std::byte& one : bytes) one = static_cast<std::byte>(random() >> 56);
      }
      bool no = false;
      const Bytes back = tried(kind, bytes, no);
      ++(no ? refused : taken);
      // Keys of a map are sorted and single, so it may come back shorter, or in another order.
      if (!no) CHECK(back.size() <= bytes.size());
    }
  }
  // Both happen: numbers are free, and counts, enums, bools and sizes are not.
  CHECK(refused > 1000);
  CHECK(taken > 1000);
}

TEST_CASE("a value outside of its type is refused with the message, the place and what it is") {
  gpu::Fill fill;
  Bytes bytes = wire::encode(fill);
  bytes[8] = std::byte{2};
  CHECK_THROWS_WITH(wire::decode<gpu::Fill>(bytes, "a request"),
                    "a request holds a bool that is neither true nor false, at byte 9 of 10");
  bytes = wire::encode(gpu::Allocate{});
  bytes[0] = std::byte{6};
  CHECK_THROWS_WITH(wire::decode<gpu::Allocate>(bytes),
                    "a message holds no value of an enum, at byte 4 of 32");
  bytes = wire::encode(judge::LoadReply{});
  bytes[0] = std::byte{200};
  CHECK_THROWS_WITH(wire::decode<judge::LoadReply>(bytes),
                    "a message claims 200 elements, at byte 4 of " + std::to_string(bytes.size()));
}

// ---------------------------------------------------------------------------------------- channel

namespace {

/// Two ends, and what the peer puts on its one by hand.
struct Pair {
  explicit Pair(const wire::Protocol& protocol_)
      : protocol(protocol_), channel(ends.ours.get(), protocol) {}
  wire::Protocol protocol;
  wire::Ends ends = wire::make_ends();
  wire::Channel channel;
  wire::Message message;

  void put(const void* data, std::size_t size) const {
    REQUIRE(::send(ends.theirs.get(), data, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size));
  }
  wire::Header header(std::uint16_t kind, std::uint32_t bytes) const {
    return {protocol.magic, protocol.version, kind, 1, bytes};
  }
  wire::Received receive(std::chrono::milliseconds patience = 50ms) {
    return channel.receive(message, wire::Clock::now() + patience);
  }
};

const auto kLoad = static_cast<std::uint16_t>(judge::Kind::load);

wire::Message message_of(std::size_t bytes) {
  return {kLoad, 7, Bytes(bytes, std::byte{5}), {}};
}

}  // namespace

TEST_CASE("channel: messages of any length arrive whole, in order") {
  Pair pair(judge::kProtocol);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 23}) {
    std::thread sender([&] {
      wire::Channel(pair.ends.theirs.get(), pair.protocol)
          .send(message_of(size), wire::Clock::now() + 20s);
    });
    CHECK(pair.receive(20s) == wire::Received::message);
    sender.join();
    CHECK(pair.message.serial == 7);
    CHECK(pair.message.payload == message_of(size).payload);
    CHECK_FALSE(pair.channel.has_input());
  }
}

TEST_CASE("channel: silence, half a message and a peer that is gone are told apart") {
  Pair pair(judge::kProtocol);
  CHECK(pair.receive() == wire::Received::timeout);
  CHECK(pair.channel.problem().empty());
  const wire::Header header = pair.header(kLoad, 100);
  pair.put(&header, 9);
  CHECK(pair.receive() == wire::Received::garbage);
  CHECK(pair.channel.problem() == "a message stopped after 9 bytes");

  Pair body(judge::kProtocol);
  body.put(&header, sizeof header);
  body.put("abc", 3);
  CHECK(body.receive() == wire::Received::garbage);
  CHECK(body.channel.problem() == "a message stopped after 3 of 100 bytes");

  Pair gone(judge::kProtocol);
  gone.put(&header, 5);
  gone.ends.theirs.reset();
  CHECK(gone.receive() == wire::Received::garbage);
  CHECK(gone.receive() == wire::Received::closed);
  CHECK(gone.channel.send(message_of(1), wire::Clock::now() + 5s) == wire::Sent::closed);

  Pair deaf(judge::kProtocol);
  CHECK(deaf.channel.send(message_of(std::size_t{1} << 23), wire::Clock::now() + 50ms) ==
        wire::Sent::timeout);
}

TEST_CASE("channel: what is no message is refused before its body is waited for") {
  const auto said = [](const wire::Protocol& protocol, auto change) {
    Pair pair(protocol);
    wire::Header header = pair.header(kLoad, 0);
    change(header);
    pair.put(&header, sizeof header);
    CHECK(pair.receive(5s) == wire::Received::garbage);
    return pair.channel.problem();
  };
  CHECK(said(judge::kProtocol, [](wire::Header& h) { h.magic ^= 1; }) ==
        "the channel carries bytes that are no message");
  CHECK(said(judge::kProtocol, [](wire::Header& h) { ++h.version; }) == "a message has version 5");
  CHECK(said(judge::kProtocol, [](wire::Header& h) { h.kind = 5; }) ==
        "a message has the unknown kind 5");
  CHECK(said(judge::kProtocol, [](wire::Header& h) { h.bytes = (1u << 30) + 1; }) ==
        "a message of kind 1 claims 1073741825 bytes");
  CHECK(said(sim::kProtocol, [](wire::Header& h) {
          h = {h.magic, h.version, 16, 1, 9};
        }) == "a message of kind 16 claims 9 bytes");
}

TEST_CASE("channel: a length that is only claimed costs no memory") {
  Pair pair(judge::kProtocol);
  const wire::Header header = pair.header(kLoad, 1u << 30);
  pair.put(&header, sizeof header);
  const std::size_t before = allocated;
  CHECK(pair.receive() == wire::Received::garbage);
  CHECK(allocated - before < (1u << 18));
}

TEST_CASE("channel: a signal is no accident") {
  struct sigaction ignore {};
  ignore.sa_handler = [](int) {};
  struct sigaction old {};
  ::sigaction(SIGALRM, &ignore, &old);
  const itimerval often{{0, 2000}, {0, 2000}}, never{};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  Pair pair(judge::kProtocol);
  const auto start = wire::Clock::now();
  CHECK(pair.receive(100ms) == wire::Received::timeout);
  CHECK(wire::Clock::now() - start >= 100ms);
  CHECK(pair.channel.send(message_of(std::size_t{1} << 23), wire::Clock::now() + 100ms) ==
        wire::Sent::timeout);
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &old, nullptr);
}

TEST_CASE("channel: whatever a stranger writes ends in one of the outcomes") {
  Catalogue all;
  SplitMix64& random = all.random;
  for (const wire::Protocol& protocol : {sim::kProtocol, judge::kProtocol, gpu::kProtocol}) {
    for (int round = 0; round < 500; ++round) {
      Pair pair(protocol);
      wire::Header header = pair.header(static_cast<std::uint16_t>((random() >> 50) % 70),
                                        static_cast<std::uint32_t>((random() >> 50) % 200));
      std::vector<unsigned char> bytes(sizeof header + (random() >> 50) % 200);
      for (unsigned char& one : bytes) one = static_cast<unsigned char>(random() >> 56);
      if (round % 4 != 0) std::memcpy(bytes.data(), &header, sizeof header);
      if (round % 3 == 0) bytes[(random() >> 50) % sizeof header] ^= 1u << ((random() >> 50) % 8);
      pair.put(bytes.data(), bytes.size());
      pair.ends.theirs.reset();
      while (pair.receive(5s) == wire::Received::message)
        CHECK(pair.message.payload.size() <= protocol.longest(pair.message.kind));
    }
  }
  SUCCEED("no crash, no wait");
}

TEST_CASE("channel: an end is a stream socket and nothing else") {
  const wire::Ends ends = wire::make_ends();
  CHECK(wire::is_end(ends.ours.get()));
  CHECK_FALSE(wire::is_end(-1));
  int packets[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, packets) == 0);
  const wire::UniqueFd one(packets[0]), other(packets[1]);
  CHECK_FALSE(wire::is_end(one.get()));
  int pipes[2];
  REQUIRE(::pipe(pipes) == 0);
  const wire::UniqueFd in(pipes[0]), out(pipes[1]);
  CHECK_FALSE(wire::is_end(in.get()));
}
