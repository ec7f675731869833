// The device worker's side of a runner process (runner/): what it allows, refuses and survives.

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
using runtime::ApiError;
using runtime::CallResult;
using runtime::Outcome;
using runtime::Policy;
using runtime::Role;
using runtime::Server;
using runtime::Transfer;
using runtime::View;
namespace protocol = runtime::protocol;
using protocol::Kind;

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

TEST_CASE("server: a launcher may time itself", "[server]") {
  Session session;
  const CallResult timed = session.call("times_itself");
  CHECK(timed.refused.empty());
  CHECK(timed.errors.empty());
  CHECK(timed.last_error == cudaSuccess);
}

TEST_CASE("server: functions that the simulated GPU lacks are named", "[server]") {
  Session session;
  const CallResult peers = session.call("wants_peers");
  REQUIRE(peers.refused.size() == 1);
  CHECK(peers.refused[0].call == "cudaDeviceEnablePeerAccess");
  CHECK(peers.refused[0].unsupported);
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

TEST_CASE("server: a thread that outlives its call waits for the next, which is told of it",
          "[server]") {
  Session session;
  CHECK(session.call("joins_a_thread").refused.empty());
  CallResult result = session.call("leaves_a_thread");
  CHECK(result.outcome == Outcome::returned);
  CHECK(result.refused.empty());
  // It may be that the thread had no turn in a short call.
  for (int calls = 0; calls < 100 && result.refused.empty(); ++calls) {
    std::this_thread::sleep_for(5ms);
    result = session.call("honest");
    REQUIRE(result.outcome == Outcome::returned);
  }
  REQUIRE(result.refused.size() == 1);
  CHECK(result.refused.front().call.find("thread of the host") != std::string::npos);
  CHECK_FALSE(result.refused.front().unsupported);
  session.server->dismiss();
  CHECK(session.end() == 0);
}

TEST_CASE("a runner without its channel says what it is", "[server]") {
  const Ran ran = run_process({Built::get().runner});
  CHECK(ran.status == 2);
  CHECK(ran.err.find("started by the grader") != std::string::npos);
}

}  // namespace
}  // namespace simgpu::test
