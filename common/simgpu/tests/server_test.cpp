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
#include "common/simgpu/runtime/server/server.hpp"
#include "common/simgpu/runtime/wire/channel.hpp"
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
namespace wire = runtime::wire;

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
    step({clang, "@common/simgpu/flags/device.rsp", "-I.", source, "-o", folder / "launchers.ptx"});
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
    const wire::Ends ends = wire::make_channel();
    fd_ = ends.worker;
    server = std::make_unique<Server>(device, std::vector{module_}, policy, fd_);
    server->protect(a, Role::input);
    server->protect(b, Role::input);
    server->protect(c, Role::output);
    const std::string out = folder_ / "out";
    child_ = ::fork();
    if (child_ == 0) {
      const int to = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(to, 1);
      ::dup2(to, 2);
      ::dup2(ends.runner, 3);
      for (int fd = 4; fd < 64; ++fd) ::close(fd);
      ::execl(Built::get().runner.c_str(), "runner", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(ends.runner);
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
    ::close(fd_);
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
  int fd_ = -1;
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
  REQUIRE(result.transfers.size() == 3);
  const std::uint64_t bytes = kSize * kSize * sizeof(float);
  CHECK(result.transfers[0].kind == Transfer::Kind::from_host);
  CHECK(result.transfers[0].bytes == 4);
  CHECK(result.transfers[1].kind == Transfer::Kind::fill);
  CHECK(result.transfers[1].dst == session.c);
  CHECK(result.transfers[1].bytes == bytes);
  CHECK(result.transfers[2].kind == Transfer::Kind::copy);
  CHECK(result.transfers[2].src == session.a);
  CHECK(result.transfers[2].bytes == bytes);
  const auto a = session.matrix(session.a), b = session.matrix(session.b),
             c = session.matrix(session.c);
  for (std::size_t i = 0; i < c.size(); ++i) REQUIRE(c[i] == 2 * a[i] + b[i]);
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
  CHECK(error.name == "cudaErrorInvalidConfiguration");
  CHECK(error.kernel == "scale(float*, int)");
  CHECK(error.block == Dim3{2000, 1, 1});
  CHECK(error.message.find("1024") != std::string::npos);
  CHECK(bad.last_error == cudaErrorInvalidConfiguration);
  CHECK(bad.launches.empty());
  CHECK(session.call("honest").last_error == cudaSuccess);
}

TEST_CASE("server: functions that the simulated GPU lacks are named", "[server]") {
  Session session;
  const CallResult timed = session.call("times_itself");
  REQUIRE(timed.refused.size() == 1);
  CHECK(timed.refused[0].call == "cudaEventElapsedTime");
  CHECK(timed.refused[0].unsupported);
  CHECK(timed.last_error == cudaErrorNotSupported);
  const CallResult managed = session.call("wants_managed");
  REQUIRE(managed.refused.size() == 1);
  CHECK(managed.refused[0].call == "cudaMallocManaged");
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
    Session session;
    CHECK(session.call("hangs", 200ms).outcome == Outcome::timeout);
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
    const wire::Ends ends = wire::make_channel();
    worker_ = ends.worker;
    runner = ends.runner;
    Policy policy;
    policy.launch.instruction_budget = 100'000;
    policy.launch.host_threads = 1;
    server = std::make_unique<Server>(device, std::vector{module_}, policy, worker_);
    c = device.alloc(4096, "C");
    server->protect(c, Role::output);
  }
  ~ByHand() {
    if (runner >= 0) ::close(runner);
    ::close(worker_);
  }
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;

  void hello() {
    wire::Message message = wire::make(wire::Type::hello, 1, wire::Hello{1, 0},
                                       {wire::bytes_of(std::string_view("f\0", 2))});
    put(raw(message));
    const Server::Hello got = server->wait_hello(5s);
    REQUIRE(got.outcome == Outcome::returned);
    REQUIRE(got.entries == std::vector<std::string>{"f"});
  }
  /// Serves a call whose runner does `act` once it was called.
  template <typename Act>
  CallResult call(Act act, std::chrono::nanoseconds patience = 300ms) {
    std::thread thread([&] {
      wire::Message message;
      std::string problem;
      wire::Channel(runner).receive(message, wire::Channel::Clock::now() + 5s, problem);
      act();
    });
    const CallResult result = server->call(0, {}, {}, {c, 1, 1, 1}, patience);
    thread.join();
    return result;
  }
  static std::string raw(const wire::Message& message) {
    std::string bytes(sizeof message.header + message.payload.size(), '\0');
    std::memcpy(bytes.data(), &message.header, sizeof message.header);
    std::memcpy(bytes.data() + sizeof message.header, message.payload.data(),
                message.payload.size());
    return bytes;
  }
  void put(const std::string& bytes) const {
    if (::send(runner, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0)
      return;  // the server may have gone away: its right
  }
  void hang_up() {
    ::close(runner);
    runner = -1;
  }

  Device device;
  std::unique_ptr<Server> server;
  DevicePtr c = 0;
  int runner = -1;

 private:
  ModuleId module_;
  int worker_ = -1;
};

wire::Message returned(std::uint32_t sequence) {
  return wire::make(wire::Type::returned, sequence, wire::Returned{});
}

TEST_CASE("protocol: malformed messages end the call, each with its reason", "[server]") {
  struct Case {
    std::string name, bytes, reason;
  };
  std::vector<Case> cases;
  const auto changed = [](wire::Message message, auto change) {
    change(message.header);
    return ByHand::raw(message);
  };
  const wire::Message good = wire::make(wire::Type::allocate, 2, wire::Allocate{64});
  cases.push_back(
      {"wrong magic", changed(good, [](wire::Header& h) { h.magic ^= 1; }), "no message"});
  cases.push_back(
      {"wrong version", changed(good, [](wire::Header& h) { h.version = 9; }), "version 9"});
  cases.push_back(
      {"unknown type", changed(good, [](wire::Header& h) { h.type = 999; }), "unknown type 999"});
  cases.push_back({"huge length", changed(good, [](wire::Header& h) { h.bytes = 0xffffffffu; }),
                   "claims 4294967295 bytes"});
  cases.push_back({"length below the body's", changed(good, [](wire::Header& h) { h.bytes = 7; }),
                   "claims 7 bytes"});
  cases.push_back({"length beyond the body's", changed(good, [](wire::Header& h) { h.bytes = 9; }),
                   "claims 9 bytes"});
  cases.push_back({"sequence repeated", changed(good, [](wire::Header& h) { h.sequence = 1; }),
                   "out of sequence"});
  cases.push_back({"sequence skipped", changed(good, [](wire::Header& h) { h.sequence = 3; }),
                   "out of sequence"});
  cases.push_back({"the worker's type",
                   ByHand::raw(wire::make(wire::Type::reply, 2, wire::Reply{})),
                   "only the worker"});
  cases.push_back(
      {"a second hello", ByHand::raw(wire::make(wire::Type::hello, 2, wire::Hello{})), "twice"});
  cases.push_back(
      {"two at a time",
       ByHand::raw(good) + ByHand::raw(wire::make(wire::Type::allocate, 3, wire::Allocate{64})),
       "more than one message"});
  cases.push_back({"a byte too many", ByHand::raw(good) + "x", "more than one message"});
  cases.push_back({"half a header", ByHand::raw(good).substr(0, 7), "stopped after 7 bytes"});
  cases.push_back({"half a body", ByHand::raw(good).substr(0, 20), "stopped after 4 of 8 bytes"});
  wire::Launch launch;
  launch.name_bytes = 100;
  cases.push_back({"launch without its name",
                   ByHand::raw(wire::make(wire::Type::launch, 2, launch)), "do not add up"});
  launch.name_bytes = 0xfffffff0u;
  launch.argument_bytes = 0x20;
  cases.push_back(
      {"launch whose sizes overflow",
       ByHand::raw(wire::make(wire::Type::launch, 2, launch, {wire::bytes_of("0123456789abcdef")})),
       "do not add up"});
  cases.push_back({"text beyond its cap",
                   ByHand::raw(wire::make(wire::Type::returned, 2, wire::Returned{},
                                          {wire::bytes_of(std::string(5000, 'x'))})),
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
  const auto introduce = [](std::uint32_t entries, std::string_view names) {
    ByHand by_hand;
    by_hand.put(ByHand::raw(
        wire::make(wire::Type::hello, 1, wire::Hello{entries, 0}, {wire::bytes_of(names)})));
    return by_hand.server->wait_hello(300ms);
  };
  CHECK(introduce(0, "").outcome == Outcome::returned);
  CHECK(introduce(2, std::string_view("a\0b\0", 4)).entries.size() == 2);
  CHECK(introduce(2, std::string_view("a\0", 2)).outcome == Outcome::protocol);
  CHECK(introduce(1, "a").outcome == Outcome::protocol);
  CHECK(introduce(1, std::string_view("a\0b", 3)).outcome == Outcome::protocol);
  CHECK(introduce(4000000000u, std::string_view("a\0", 2)).outcome == Outcome::protocol);
  ByHand by_hand;
  by_hand.put(ByHand::raw(wire::make(wire::Type::allocate, 1, wire::Allocate{64})));
  CHECK(by_hand.server->wait_hello(300ms).message.find("before it introduced itself") !=
        std::string::npos);
}

TEST_CASE("protocol: requests with impossible contents are answered with an error", "[server]") {
  ByHand by_hand;
  by_hand.hello();
  std::vector<std::pair<std::string, wire::Message>> requests;
  const std::string long_name(wire::kMaxName, 'x');
  const std::uint64_t nowhere = 0x7fff12345678ull, top = ~0ull;
  requests.emplace_back("allocate everything",
                        wire::make(wire::Type::allocate, 0, wire::Allocate{top}));
  requests.emplace_back("allocate nothing", wire::make(wire::Type::allocate, 0, wire::Allocate{0}));
  requests.emplace_back("free nowhere", wire::make(wire::Type::release, 0, wire::Release{nowhere}));
  requests.emplace_back("free null", wire::make(wire::Type::release, 0, wire::Release{0}));
  requests.emplace_back("fill nowhere",
                        wire::make(wire::Type::fill, 0, wire::Fill{nowhere, 4, 0, 0}));
  requests.emplace_back("fill beyond the end",
                        wire::make(wire::Type::fill, 0, wire::Fill{by_hand.c, 4097, 0, 0}));
  requests.emplace_back("fill that wraps around",
                        wire::make(wire::Type::fill, 0, wire::Fill{by_hand.c + 8, top - 4, 0, 0}));
  requests.emplace_back(
      "copy that wraps around",
      wire::make(wire::Type::copy, 0, wire::Copy{by_hand.c + 8, by_hand.c, top - 4}));
  requests.emplace_back("copy to the top of memory",
                        wire::make(wire::Type::copy, 0, wire::Copy{top, top, 2}));
  requests.emplace_back("find nowhere", wire::make(wire::Type::find, 0, wire::Find{top}));
  requests.emplace_back("unknown variable", wire::make(wire::Type::variable, 0, wire::Variable{},
                                                       {wire::bytes_of(long_name)}));
  requests.emplace_back("unknown kernel", wire::make(wire::Type::kernel_info, 0, wire::KernelInfo{},
                                                     {wire::bytes_of("no")}));
  requests.emplace_back("attribute of an unknown kernel",
                        wire::make(wire::Type::set_max_dynamic_shared, 0,
                                   wire::SetMaxDynamicShared{}, {wire::bytes_of(long_name)}));
  wire::Launch launch;
  const std::string kernel = "_Z5scalePfi";
  launch.name_bytes = static_cast<std::uint32_t>(kernel.size());
  requests.emplace_back("launch of nothing",
                        wire::make(wire::Type::launch, 0, launch, {wire::bytes_of(kernel)}));
  for (std::uint32_t& extent : launch.grid) extent = 0xffffffffu;
  for (std::uint32_t& extent : launch.block) extent = 0xffffffffu;
  launch.shared_bytes = 0xffffffffu;
  launch.argument_bytes = 12;
  requests.emplace_back("launch of everything",
                        wire::make(wire::Type::launch, 0, launch,
                                   {wire::bytes_of(kernel), wire::bytes_of("0123456789ab")}));
  std::fill(std::begin(launch.grid), std::end(launch.grid), 1u);
  std::fill(std::begin(launch.block), std::end(launch.block), 1u);
  launch.shared_bytes = 0;
  launch.argument_bytes = 3;
  requests.emplace_back(
      "launch with too few arguments",
      wire::make(wire::Type::launch, 0, launch, {wire::bytes_of(kernel), wire::bytes_of("abc")}));
  std::vector<std::string> accepted;
  const CallResult result = by_hand.call(
      [&] {
        std::uint32_t sequence = 1;
        wire::Channel channel(by_hand.runner);
        for (auto& [name, request] : requests) {
          request.header.sequence = ++sequence;
          channel.send(request);
          wire::Message reply;
          std::string problem;
          if (channel.receive(reply, wire::Channel::Clock::now() + 5s, problem) !=
                  wire::Received::message ||
              reply.type() != wire::Type::reply || reply.body<wire::Reply>().code == cudaSuccess) {
            accepted.push_back(name);
          }
        }
        channel.send(returned(++sequence));
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
  const std::string kernel = "_Z5scalePfi";
  for (int round = 0; round < 300; ++round) {
    ByHand by_hand;
    by_hand.hello();
    by_hand.server->policy().launches =
        0;  // a mutated grid may be legal and large: not the matter here
    std::string bytes;
    if (round % 3 == 0) {
      for (std::uint32_t i = random.below(200); i > 0; --i)
        bytes += static_cast<char>(random.below(256));
    } else {
      wire::Launch launch;
      launch.name_bytes = static_cast<std::uint32_t>(kernel.size());
      launch.argument_bytes = 12;
      std::fill(std::begin(launch.grid), std::end(launch.grid), 1u);
      std::fill(std::begin(launch.block), std::end(launch.block), 1u);
      bytes = ByHand::raw(wire::make(wire::Type::launch, 2, launch,
                                     {wire::bytes_of(kernel), wire::bytes_of("0123456789ab")}));
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
