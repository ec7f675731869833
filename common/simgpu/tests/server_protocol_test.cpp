// The device worker's side of the protocol, spoken to by hand, and badly.

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <thread>

#include "common/catch2.hpp"
#include "common/simgpu/include/driver_types.h"
#include "common/simgpu/runtime/protocol.hpp"
#include "common/simgpu/runtime/server/server.hpp"
#include "common/simgpu/tests/server_runner.hpp"

namespace simgpu::test {
namespace {

using namespace std::chrono_literals;
namespace protocol = runtime::protocol;
using protocol::Kind;
using runtime::CallResult;
using runtime::Outcome;
using runtime::Policy;
using runtime::Role;
using runtime::Server;

/// A server on a small device, and the other end in our hands.
class ByHand {
 public:
  ByHand() : module_(device.load_module(Built::get().ptx)) {
    wire::Ends ends = wire::make_ends();
    worker_ = std::move(ends.ours);
    runner = std::move(ends.theirs);
    Policy policy;
    policy.launch.instruction_budget = 100'000;
    policy.launch.host_threads = 1;
    server = std::make_unique<Server>(device, std::vector{module_}, policy, worker_.get());
    c = device.alloc(4096, "C");
    server->protect(c, Role::output);
  }
  void hello() {
    put(raw(wire::make(Kind::hello, 1, protocol::Hello{{"f"}})));
    const Server::Hello got = server->wait_hello(5s);
    REQUIRE(got.outcome == Outcome::returned);
    REQUIRE(got.entries == std::vector<std::string>{"f"});
  }
  /// Serves a call whose runner does `act` once it was called.
  template <typename Act>
  CallResult call(Act act, std::chrono::nanoseconds patience = 300ms) {
    std::thread thread([&] {
      wire::Message message;
      channel().receive(message, wire::Clock::now() + 5s);
      act();
    });
    const CallResult result = server->call(0, {}, {}, {c, 1, 1, 1}, patience);
    thread.join();
    return result;
  }
  static wire::Header header(const wire::Message& message) {
    return {protocol::kProtocol.magic, protocol::kProtocol.version, message.kind, message.serial,
            static_cast<std::uint32_t>(message.payload.size())};
  }
  static std::string raw(const wire::Header& header, const wire::Message& message) {
    std::string bytes(sizeof header + message.payload.size(), '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, message.payload.data(), message.payload.size());
    return bytes;
  }
  static std::string raw(const wire::Message& message) { return raw(header(message), message); }
  wire::Channel channel() const { return {runner.get(), protocol::kProtocol}; }
  void put(const std::string& bytes) const {
    (void)!::send(runner.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);  // it may be gone
  }
  void hang_up() { runner.reset(); }

  Device device;
  std::unique_ptr<Server> server;
  DevicePtr c = 0;
  wire::UniqueFd runner;

 private:
  ModuleId module_;
  wire::UniqueFd worker_;
};

wire::Message returned(std::uint32_t serial) {
  return wire::make(Kind::returned, serial, protocol::Returned{});
}

TEST_CASE("protocol: malformed messages end the call, each with its reason", "[server]") {
  struct Case {
    std::string name, bytes, reason;
  };
  std::vector<Case> cases;
  const auto changed = [](const wire::Message& message, auto change) {
    wire::Header header = ByHand::header(message);
    change(header);
    return ByHand::raw(header, message);
  };
  const wire::Message good = wire::make(Kind::allocate, 2, protocol::Allocate{64});
  cases.push_back(
      {"wrong magic", changed(good, [](wire::Header& h) { h.magic ^= 1; }), "no message"});
  cases.push_back(
      {"wrong version", changed(good, [](wire::Header& h) { h.version = 9; }), "version 9"});
  cases.push_back(
      {"unknown kind", changed(good, [](wire::Header& h) { h.kind = 999; }), "unknown kind 999"});
  cases.push_back({"huge length", changed(good, [](wire::Header& h) { h.bytes = 0xffffffffu; }),
                   "claims 4294967295 bytes"});
  cases.push_back(
      {"length below the body's",
       changed(good, [](wire::Header& h) { h.bytes = 7; }).substr(0, sizeof(wire::Header) + 7),
       "ends too early"});
  cases.push_back({"length beyond the body's", changed(good, [](wire::Header& h) { h.bytes = 9; }),
                   "claims 9 bytes"});
  cases.push_back(
      {"serial repeated", changed(good, [](wire::Header& h) { h.serial = 1; }), "out of sequence"});
  cases.push_back(
      {"serial skipped", changed(good, [](wire::Header& h) { h.serial = 3; }), "out of sequence"});
  cases.push_back({"the worker's kind", ByHand::raw(wire::make(Kind::reply, 2, protocol::Reply{})),
                   "only the worker"});
  cases.push_back(
      {"a second hello", ByHand::raw(wire::make(Kind::hello, 2, protocol::Hello{})), "twice"});
  cases.push_back(
      {"two at a time",
       ByHand::raw(good) + ByHand::raw(wire::make(Kind::allocate, 3, protocol::Allocate{64})),
       "more than one message"});
  cases.push_back({"a byte too many", ByHand::raw(good) + "x", "more than one message"});
  cases.push_back({"half a header", ByHand::raw(good).substr(0, 7), "stopped after 7 bytes"});
  cases.push_back({"half a body", ByHand::raw(good).substr(0, 20), "stopped after 4 of 8 bytes"});
  // The count of the name stands behind three extents and the shared bytes.
  const auto launch = [](std::uint32_t name, const std::string& rest) {
    wire::Message message = wire::make(Kind::launch, 2, protocol::Launch{});
    const auto* const from = reinterpret_cast<const std::byte*>(rest.data());
    message.payload.insert(message.payload.end() - 4, from, from + rest.size());
    std::memcpy(message.payload.data() + 40, &name, sizeof name);
    return ByHand::raw(message);
  };
  cases.push_back({"launch without its name", launch(100, ""), "claims 100 elements"});
  cases.push_back({"launch whose sizes overflow", launch(0xfffffff0u, "0123456789abcdef"),
                   "claims 4294967280 elements"});
  wire::Message longer = wire::make(Kind::launch, 2, protocol::Launch{});
  longer.payload.resize(longer.payload.size() + 3);
  cases.push_back({"launch with bytes to spare", ByHand::raw(longer), "3 bytes to spare"});
  cases.push_back({"text beyond its cap",
                   ByHand::raw(wire::make(Kind::returned, 2,
                                          protocol::Returned{0, true, std::string(5000, 'x')})),
                   "claims"});
  for (const Case& c : cases) {
    INFO(c.name);
    ByHand by_hand;
    by_hand.hello();
    const CallResult result = by_hand.call([&] { by_hand.put(c.bytes); });
    CHECK(result.outcome == Outcome::protocol);
    INFO(result.message);
    CHECK(result.message.find(c.reason) != std::string::npos);
    CHECK(by_hand.device.bytes_in_use() < (1u << 20));
  }
}

TEST_CASE("protocol: silence and hanging up", "[server]") {
  {
    ByHand by_hand;
    by_hand.hello();
    CHECK(by_hand.call([] {}).outcome == Outcome::timeout);
  }
  {
    ByHand by_hand;
    by_hand.hello();
    CHECK(by_hand.call([&] { by_hand.hang_up(); }).outcome == Outcome::closed);
  }
  {
    ByHand by_hand;
    by_hand.hello();
    const CallResult result = by_hand.call([&] {
      by_hand.put(ByHand::raw(returned(2)).substr(0, 10));
      by_hand.hang_up();
    });
    CHECK(result.outcome == Outcome::protocol);
  }
  {
    // Speaking before being spoken to.
    ByHand by_hand;
    by_hand.hello();
    by_hand.put(ByHand::raw(returned(2)));
    const CallResult result = by_hand.server->call(0, {}, {}, {}, 300ms);
    CHECK(result.outcome == Outcome::protocol);
    CHECK(result.message.find("before it was called") != std::string::npos);
  }
  {
    ByHand by_hand;
    CHECK(by_hand.server->wait_hello(50ms).outcome == Outcome::timeout);
    by_hand.hang_up();
    CHECK(by_hand.server->wait_hello(50ms).outcome == Outcome::closed);
  }
}

TEST_CASE("protocol: malformed introductions", "[server]") {
  const auto introduce = [](std::uint32_t entries, const std::vector<std::string>& names) {
    wire::Message message = wire::make(Kind::hello, 1, protocol::Hello{names});
    std::memcpy(message.payload.data(), &entries, sizeof entries);
    ByHand by_hand;
    by_hand.put(ByHand::raw(message));
    return by_hand.server->wait_hello(300ms);
  };
  CHECK(introduce(0, {}).outcome == Outcome::returned);
  CHECK(introduce(2, {"a", "b"}).entries == std::vector<std::string>{"a", "b"});
  CHECK(introduce(2, {"a"}).outcome == Outcome::protocol);
  CHECK(introduce(1, {}).outcome == Outcome::protocol);
  CHECK(introduce(1, {"a", "b"}).outcome == Outcome::protocol);
  CHECK(introduce(4000000000u, {"a"}).outcome == Outcome::protocol);
  ByHand by_hand;
  by_hand.put(ByHand::raw(wire::make(Kind::allocate, 1, protocol::Allocate{64})));
  CHECK(by_hand.server->wait_hello(300ms).message.find("before it introduced itself") !=
        std::string::npos);
}

TEST_CASE("protocol: requests with impossible contents are answered with an error", "[server]") {
  ByHand by_hand;
  by_hand.hello();
  std::vector<std::pair<std::string, wire::Message>> requests;
  const std::string long_name(protocol::kMaxName, 'x');
  const std::uint64_t nowhere = 0x7fff12345678ull, top = ~0ull;
  requests.emplace_back("allocate everything",
                        wire::make(Kind::allocate, 0, protocol::Allocate{top}));
  requests.emplace_back("allocate nothing", wire::make(Kind::allocate, 0, protocol::Allocate{0}));
  requests.emplace_back("free nowhere", wire::make(Kind::release, 0, protocol::Address{nowhere}));
  requests.emplace_back("free null", wire::make(Kind::release, 0, protocol::Address{0}));
  requests.emplace_back("fill nowhere", wire::make(Kind::fill, 0, protocol::Fill{nowhere, 4, 0}));
  requests.emplace_back("fill beyond the end",
                        wire::make(Kind::fill, 0, protocol::Fill{by_hand.c, 4097, 0}));
  requests.emplace_back("fill that wraps around",
                        wire::make(Kind::fill, 0, protocol::Fill{by_hand.c + 8, top - 4, 0}));
  requests.emplace_back(
      "copy that wraps around",
      wire::make(Kind::copy, 0, protocol::Copy{by_hand.c + 8, by_hand.c, top - 4}));
  requests.emplace_back("copy to the top of memory",
                        wire::make(Kind::copy, 0, protocol::Copy{top, top, 2}));
  requests.emplace_back("find nowhere", wire::make(Kind::find, 0, protocol::Address{top}));
  requests.emplace_back("unknown variable",
                        wire::make(Kind::variable, 0, protocol::Name{long_name}));
  requests.emplace_back("unknown kernel", wire::make(Kind::kernel_info, 0, protocol::Name{"no"}));
  requests.emplace_back(
      "attribute of an unknown kernel",
      wire::make(Kind::set_max_dynamic_shared, 0, protocol::SetMaxDynamicShared{0, long_name}));
  protocol::Launch launch;
  launch.mangled = "_Z5scalePfi";
  launch.grid = launch.block = {0, 0, 0};
  requests.emplace_back("launch of nothing", wire::make(Kind::launch, 0, launch));
  launch.grid = launch.block = {0xffffffffu, 0xffffffffu, 0xffffffffu};
  launch.shared_bytes = 0xffffffffu;
  launch.arguments.resize(12);
  requests.emplace_back("launch of everything", wire::make(Kind::launch, 0, launch));
  launch.grid = launch.block = {1, 1, 1};
  launch.shared_bytes = 0;
  launch.arguments.resize(3);
  requests.emplace_back("launch with too few arguments", wire::make(Kind::launch, 0, launch));
  std::vector<std::string> accepted;
  const CallResult result = by_hand.call(
      [&] {
        std::uint32_t serial = 1;
        wire::Channel channel = by_hand.channel();
        for (auto& [name, request] : requests) {
          request.serial = ++serial;
          channel.send(request, wire::Clock::now() + 5s);
          wire::Message reply;
          if (channel.receive(reply, wire::Clock::now() + 5s) != wire::Received::message ||
              reply.kind != static_cast<std::uint16_t>(Kind::reply) ||
              reply.as<protocol::Reply>().code == cudaSuccess) {
            accepted.push_back(name);
          }
        }
        channel.send(returned(++serial), wire::Clock::now() + 5s);
      },
      20s);
  CHECK(result.outcome == Outcome::returned);
  CHECK(accepted == std::vector<std::string>{});
  CHECK(result.launches.empty());
  CHECK(result.errors.size() == requests.size() - 1);  // to find nothing is no error
  CHECK(by_hand.device.bytes_in_use() < (1u << 20));
}

TEST_CASE("protocol: random bytes and mutated messages never hang or crash the server",
          "[server]") {
  Random random(20261121);
  std::map<Outcome, int> seen;
  for (int round = 0; round < 300; ++round) {
    ByHand by_hand;
    by_hand.hello();
    by_hand.server->policy().launches = 0;  // a mutated grid may be legal, and large
    std::string bytes;
    if (round % 3 == 0) {
      for (std::uint32_t i = random.below(200); i > 0; --i)
        bytes += static_cast<char>(random.below(256));
    } else {
      protocol::Launch launch{{1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 0, "_Z5scalePfi", {}};
      launch.arguments.resize(12);
      bytes = ByHand::raw(wire::make(Kind::launch, 2, launch));
      for (std::uint32_t i = 1 + random.below(3); i > 0; --i) {
        bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] =
            static_cast<char>(random.below(256));
      }
    }
    const CallResult result = by_hand.call(
        [&] {
          by_hand.put(bytes);
          by_hand.hang_up();
        },
        2s);
    ++seen[result.outcome];
    CHECK(result.outcome != Outcome::timeout);
    CHECK(result.outcome != Outcome::returned);
  }
  CHECK(seen[Outcome::protocol] > 100);
}

}  // namespace
}  // namespace simgpu::test
