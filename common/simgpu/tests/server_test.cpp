// The device worker's side of a runner: what it allows, refuses and survives. One half runs a real
// runner process (runner/), the other half speaks the protocol by hand, and badly.

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>

#include "common/catch2.hpp"
#include "common/simgpu/include/driver_types.h"
#include "common/simgpu/runtime/protocol.hpp"
#include "common/simgpu/runtime/server/server.hpp"
#include "common/simgpu/tests/harness.hpp"
#include "common/simgpu/tests/process.hpp"

namespace simgpu::test {
namespace {

using namespace std::chrono_literals;
using runtime::ApiError;
using runtime::CallResult;
using runtime::Outcome;
using runtime::Policy;
using runtime::Refusal;
using runtime::Role;
using runtime::Server;
using runtime::Transfer;
using runtime::View;
namespace protocol = runtime::protocol;
using protocol::Kind;

/// Compiled once: the launchers' PTX, and the runner.
struct Built {
  TemporaryFolder folder;
  std::string ptx, runner;

  static const Built& get() {
    static const Built built;
    return built;
  }

 private:
  Built() {
    const std::string clang = clangs().front().command;
    const std::string source = "common/simgpu/tests/runner/launchers.cu";
    const auto step = [](const std::vector<std::string>& argv) {
      const Ran ran = run_process(argv);
      if (ran.status != 0) throw std::runtime_error(argv[0] + " failed:\n" + ran.err);
    };
    std::vector<std::string> device = device_flags(clangs().front());
    device.insert(device.begin(), clang);
    device.insert(device.end(), {source, "-o", folder / "launchers.ptx"});
    step(device);
    // In graded mode nothing is embedded: an empty file stands for the image.
    write_file(folder / "empty", "");
    step({clang, "@common/simgpu/flags/host.rsp", "-I.", "-Xclang", "-fcuda-include-gpubinary",
          "-Xclang", folder / "empty", source, "-c", "-o", folder / "launchers.o"});
    step({clang, "-std=c++17", "-I.", "-c", "common/simgpu/tests/runner/runner.cpp", "-o",
          folder / "runner.o"});
    step({clang, folder / "launchers.o", folder / "runner.o",
          build_folder() + "/lib/libsimgpu_cudart_remote.a", "-pthread", "-o", folder / "runner"});
    ptx = read_file(folder / "launchers.ptx");
    runner = folder / "runner";
  }
};

constexpr int kSize = 64;

/// A device with matrices A, B (inputs) and C (output), and a runner process that is served.
class Session {
 public:
  explicit Session(Policy policy = {}) : module_(device.load_module(Built::get().ptx)) {
    policy.launch.instruction_budget = 2'000'000;
    policy.launch.host_threads = 1;
    std::vector<float> values(kSize * kSize);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 97);
    a = input(values, "A");
    std::reverse(values.begin(), values.end());
    b = input(values, "B");
    c = device.alloc(values.size() * sizeof(float), "C");
    wire::Ends ends = wire::make_ends();
    end_ = std::move(ends.ours);
    server = std::make_unique<Server>(device, std::vector{module_}, policy, end_.get());
    server->protect(a, Role::input);
    server->protect(b, Role::input);
    server->protect(c, Role::output);
    const std::string out = folder_ / "out";
    child_ = ::fork();
    if (child_ == 0) {
      const int to = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(to, 1);
      ::dup2(to, 2);
      ::dup2(ends.theirs.get(), 3);
      for (int fd = 4; fd < 64; ++fd) ::close(fd);
      ::execl(Built::get().runner.c_str(), "runner", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ends.theirs.reset();
    const Server::Hello hello = server->wait_hello(20s);
    REQUIRE(hello.outcome == Outcome::returned);
    for (std::size_t i = 0; i < hello.entries.size(); ++i)
      entries_[hello.entries[i]] = static_cast<std::uint32_t>(i);
  }
  ~Session() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  CallResult call(const std::string& entry, std::chrono::nanoseconds patience = 20s) {
    INFO(entry);
    REQUIRE(entries_.count(entry) == 1);
    const auto view = [](DevicePtr p) { return View{p, kSize, kSize, kSize}; };
    return server->call(entries_.at(entry), view(a), view(b), view(c), patience);
  }
  CallResult ask(const std::string& entry) { return server->ask(entries_.at(entry), 20s); }

  std::vector<float> matrix(DevicePtr p) const {
    std::vector<float> values(kSize * kSize);
    device.read(std::as_writable_bytes(std::span(values)), p);
    return values;
  }
  std::string output() const { return read_file(folder_ / "out"); }
  /// How the runner ended: exit status, or 128 + signal.
  int end() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  Device device;
  DevicePtr a = 0, b = 0, c = 0;
  std::unique_ptr<Server> server;

 private:
  DevicePtr input(const std::vector<float>& values, const std::string& label) {
    const DevicePtr p = device.alloc(values.size() * sizeof(float), label);
    device.write(p, std::as_bytes(std::span(values)));
    device.set_read_only(p, true);
    return p;
  }
  ModuleId module_;
  TemporaryFolder folder_;
  wire::UniqueFd end_;
  pid_t child_ = -1;
  std::map<std::string, std::uint32_t> entries_;
};

TEST_CASE("server: an honest launcher computes C", "[server]") {
  Session session;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const CallResult result = session.call("honest");
    CHECK(result.outcome == Outcome::returned);
    REQUIRE(result.launches.size() == 1);
    CHECK(result.launches[0].findings.empty());
    CHECK(result.refused.empty());
    CHECK(result.errors.empty());
    CHECK(result.last_error == cudaSuccess);
  }
  const auto a = session.matrix(session.a), b = session.matrix(session.b),
             c = session.matrix(session.c);
  for (std::size_t i = 0; i < c.size(); ++i) REQUIRE(c[i] == a[i] + b[i]);
  session.server->dismiss();
  CHECK(session.end() == 0);
}

TEST_CASE("server: scratch memory, constants and copies on the device are allowed and counted",
          "[server]") {
  Session session;
  const CallResult result = session.call("workspace");
  CHECK(result.outcome == Outcome::returned);
  CHECK(result.refused.empty());
  CHECK(result.errors.empty());
  CHECK(result.launches.size() == 2);
  CHECK(result.live_allocations == 0);
  REQUIRE(result.transfers.size() == 4);
  const std::uint64_t bytes = kSize * kSize * sizeof(float);
  CHECK(result.transfers[0].kind == Transfer::Kind::from_host);
  CHECK(result.transfers[0].bytes == 4);
  CHECK(result.transfers[1].kind == Transfer::Kind::fill);
  CHECK(result.transfers[1].dst == session.c);
  CHECK(result.transfers[1].bytes == bytes);
  CHECK(result.transfers[2].kind == Transfer::Kind::copy);
  CHECK(result.transfers[2].src == session.a);
  CHECK(result.transfers[2].bytes == bytes);
  // Which launches went before.
  for (std::size_t i = 0; i < 3; ++i) CHECK(result.transfers[i].launches == 0);
  CHECK(result.transfers[3].launches == 2);
  const auto a = session.matrix(session.a), b = session.matrix(session.b),
             c = session.matrix(session.c);
  for (std::size_t i = 0; i < c.size(); ++i) REQUIRE(c[i] == 2 * a[i] + b[i]);
}

TEST_CASE("server: rows are copied by one request, each counted and checked", "[server]") {
  Session session;
  const CallResult result = session.call("copies_rows");
  CHECK(result.errors.size() == 1);  // one row too many
  REQUIRE(result.transfers.size() == 3 * kSize);
  CHECK(result.transfers[1].bytes == kSize * sizeof(float));
  CHECK(result.transfers[kSize + 1].dst == session.c + kSize * sizeof(float));
  CHECK(session.matrix(session.c) == session.matrix(session.a));
  session.server->policy().transfer_bytes = 32u << 20;  // for 2^20 rows of a byte
  CHECK(session.call("copies_slivers").refused.size() == 1);
}

TEST_CASE("server: what a launcher forgets to free is seen and can be taken back", "[server]") {
  Session session;
  CHECK(session.call("leaky").live_allocations == 1);
  const CallResult again = session.call("leaky");
  CHECK(again.live_allocations == 2);
  CHECK(again.live_bytes == 2 * kSize * kSize * sizeof(float));
  session.server->free_runner_allocations();
  CHECK(session.call("honest").live_allocations == 0);
}

TEST_CASE("server: each forbidden request is refused, by name, and changes nothing", "[server]") {
  struct Case {
    std::string entry, call, reason;
  };
  for (const Case& c :
       std::vector<Case>{{"copies_back", "cudaMemcpy (device to host)", "copied back"},
                         {"copies_into_c", "cudaMemcpy (host to device)", "computed by kernels"},
                         {"copies_into_a", "cudaMemcpy (host to device)", "must stay"},
                         {"launders", "cudaMemcpy (device to device)", "came from the host"},
                         {"copies_a_over_b", "cudaMemcpy (device to device)", "must stay"},
                         {"clears_a", "cudaMemset", "must stay"},
                         {"frees_c", "cudaFree", "belong to the caller"},
                         {"too_much_from_host", "cudaMemcpy (host to device)", "65536"},
                         {"launches_forever", "kernel launch", "4096"}}) {
    INFO(c.entry);
    Session session;
    const auto a = session.matrix(session.a), b = session.matrix(session.b);
    const CallResult result = session.call(c.entry);
    CHECK(result.outcome == Outcome::returned);
    REQUIRE(result.refused.size() == 1);
    CHECK(result.refused[0].call == c.call);
    CHECK(result.refused[0].reason.find(c.reason) != std::string::npos);
    CHECK_FALSE(result.refused[0].unsupported);
    CHECK(result.errors.empty());
    CHECK(result.last_error == cudaErrorNotPermitted);
    CHECK(session.matrix(session.a) == a);
    CHECK(session.matrix(session.b) == b);
    if (c.entry != "launches_forever") CHECK_FALSE(session.device.is_initialised(session.c, 4));
    CHECK(session.device.find(session.c).has_value());
    if (c.entry == "copies_back") CHECK(session.output() == "cudaErrorNotPermitted 0\n");
  }
}

TEST_CASE("server: work that goes to a default stream is told", "[server]") {
  Session session;
  using Names = std::vector<std::string>;
  CHECK(session.call("forgets_its_stream").default_stream ==
        Names{"cudaMemset", "add(ConstMatrix, ConstMatrix, Matrix)"});
  for (const char* entry : {"honest", "workspace", "streams_of_its_own", "honest"}) {
    const CallResult result = session.call(entry);
    CHECK(result.default_stream.empty());
    CHECK(result.unordered.empty());
  }
}

TEST_CASE("server: work that is left in a stream of its own is told, and only in that call",
          "[server]") {
  Session session;
  const CallResult result = session.call("leaves_work_behind");
  CHECK(result.unordered == std::vector<std::string>{"add(ConstMatrix, ConstMatrix, Matrix)"});
  CHECK(result.default_stream.empty());
  for (const char* entry : {"waits_for_its_stream", "honest"})
    CHECK(session.call(entry).unordered.empty());
}

TEST_CASE("server: a refused tensor map is told until something is launched", "[server]") {
  Session session;
  CallResult result = session.call("throws_without_a_map");
  CHECK(result.outcome == Outcome::threw);
  CHECK(result.refused_map.rule == MapRule::pitch);
  CHECK(result.refused_map.value == 4);
  CHECK(result.errors.empty());
  result = session.call("goes_on_without_a_map");
  CHECK(result.outcome == Outcome::threw);
  CHECK(result.refused_map.rule == MapRule::none);
  CHECK(result.launches.size() == 1);
  CHECK(result.errors.empty());
  CHECK(session.call("throws").refused_map.rule == MapRule::none);
}

TEST_CASE("server: limits on memory, and the words for a launch that cannot be", "[server]") {
  Policy policy;
  policy.live_bytes = 64u << 20;
  Session session(policy);
  const CallResult much = session.call("allocates_forever");
  CHECK(much.live_allocations == 64);
  REQUIRE(much.errors.size() == 1);
  CHECK(much.errors[0].call == "cudaMalloc");
  CHECK(much.errors[0].code == cudaErrorMemoryAllocation);
  CHECK(session.output() == "64\n");
  session.server->free_runner_allocations();

  const CallResult bad = session.call("bad_launch");
  REQUIRE(bad.errors.size() == 1);
  const ApiError& error = bad.errors[0];
  CHECK(error.call == "kernel launch");
  CHECK(error.name == "cudaErrorInvalidValue");
  CHECK(error.kernel == "scale(float*, int)");
  CHECK(error.block == Dim3{2000, 1, 1});
  CHECK(error.message.find("1024") != std::string::npos);
  CHECK(bad.last_error == cudaErrorInvalidValue);
  CHECK(bad.launches.empty());
  CHECK(session.call("honest").last_error == cudaSuccess);
}

TEST_CASE("server: functions that the simulated GPU lacks are named", "[server]") {
  Session session;
  const CallResult timed = session.call("times_itself");
  REQUIRE(timed.refused.size() == 1);
  CHECK(timed.refused[0].call == "cudaEventElapsedTime");
  CHECK(timed.refused[0].unsupported);
  CHECK(timed.last_error == cudaSuccess);
  const CallResult peers = session.call("wants_peers");
  REQUIRE(peers.refused.size() == 1);
  CHECK(peers.refused[0].call == "cudaDeviceEnablePeerAccess");
  const CallResult queries = session.call("asks_for_memory");
  CHECK(queries.refused.empty());
  CHECK(queries.errors.empty());
  CHECK(session.output() == "1 0 1024 0\n");
}

TEST_CASE("server: what happens on the device stays with the judge", "[server]") {
  Session session;
  const CallResult fault = session.call("faults");
  CHECK(fault.outcome == Outcome::returned);
  CHECK(fault.last_error == cudaSuccess);
  REQUIRE(fault.launches.size() == 1);
  REQUIRE_FALSE(fault.launches[0].findings.empty());
  CHECK(fault.launches[0].findings[0].kind == FindingKind::out_of_bounds);
  CHECK(session.output() == "cudaSuccess\n");
  const CallResult spin = session.call("spins");
  CHECK(spin.last_error == cudaSuccess);
  REQUIRE(spin.launches.size() == 1);
  CHECK_FALSE(spin.launches[0].completed);
  CHECK(spin.skipped_launches == 1);
  CHECK(session.output() == "cudaSuccess\ncudaSuccess\n");
}

TEST_CASE("server: answers", "[server]") {
  Session session;
  const CallResult answer = session.ask("suspects");
  CHECK(answer.outcome == Outcome::returned);
  CHECK(answer.answered);
  CHECK(answer.answer == "A C");
  CHECK_FALSE(session.ask("no_answer").answered);
}

TEST_CASE("server: the ways a runner can end", "[server]") {
  {
    Session session;
    const CallResult result = session.call("throws");
    CHECK(result.outcome == Outcome::threw);
    CHECK(result.message == "my\033[31m own words");
    CHECK(session.call("honest").outcome == Outcome::returned);
  }
  {
    Session session;
    CHECK(session.call("exits").outcome == Outcome::closed);
    CHECK(session.end() == 0);
    CHECK(session.call("honest").outcome == Outcome::closed);
  }
  {
    Session session;
    CHECK(session.call("crashes").outcome == Outcome::closed);
    CHECK(session.end() == 128 + SIGSEGV);
  }
  {
    Session session, asking(Policy{.requests = 50});
    CHECK(session.call("hangs", 200ms).outcome == Outcome::timeout);
    CHECK(asking.call("asks_for_ever").outcome == Outcome::timeout);
  }
  {
    Session session;
    const CallResult result = session.call("closes");
    CHECK(result.outcome == Outcome::closed);
    CHECK(session.end() == 3);
  }
  {
    Session session;
    const CallResult result = session.call("babbles");
    CHECK(result.outcome == Outcome::protocol);
    CHECK(result.message.find("no message") != std::string::npos);
  }
}

TEST_CASE("a runner without its channel says what it is", "[server]") {
  const Ran ran = run_process({Built::get().runner});
  CHECK(ran.status == 2);
  CHECK(ran.err.find("started by the grader") != std::string::npos);
}

// ------------------------------------------------------------------------------------- the
// protocol by hand

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
