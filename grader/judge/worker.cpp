#include "grader/judge/worker.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <sstream>

#include "common/simgpu/device.hpp"
#include "common/simgpu/ptx/parser.hpp"
#include "common/simgpu/runtime/server/server.hpp"
#include "grader/judge/protocol.hpp"

namespace grader {
namespace {

using namespace simgpu;
using runtime::Role;
using runtime::Server;
using std::chrono::milliseconds;

constexpr int judge_fd = 3, runner_fd = 4, stat_fd = 5;

/// The runner's processor time, from its /proc/<pid>/stat, which the judge has opened: the worker
/// may be in a box where the runner has no number. Where that cannot be read wall time alone counts.
class RunnerClock {
 public:
  explicit RunnerClock(milliseconds patience) : patience_(patience) {}
  void begin(milliseconds patience) {
    patience_ = patience;
    start_ = read().used;
  }
  /// Ready to run, and has not had its patience in processor time yet: other work keeps it waiting.
  /// One that sleeps, or waits for input, is not.
  bool starved() const {
    const State now = read();
    return now.runnable && now.used - start_ < patience_;
  }

 private:
  struct State {
    bool runnable = false;
    milliseconds used{};
  };
  State read() const {
    char buffer[1024];
    const ssize_t got = ::pread(stat_fd, buffer, sizeof buffer, 0);
    const std::string text(buffer, got > 0 ? static_cast<std::size_t>(got) : 0);
    // "pid (name) state ...": the name may hold anything, the last ')' ends it. utime and stime are
    // fields 14 and 15.
    const auto end = text.rfind(')');
    if (end == std::string::npos) return {};
    std::istringstream fields(text.substr(end + 1));
    std::string state, skipped;
    fields >> state;
    for (int i = 4; i < 14; ++i) fields >> skipped;
    long user = 0, system = 0;
    if (!(fields >> user >> system)) return {};
    return {state == "R", milliseconds((user + system) * 1000 / ::sysconf(_SC_CLK_TCK))};
  }
  milliseconds patience_, start_{};
};

class DeviceWorker {
 public:
  int serve() {
    wire::Channel judge(judge_fd, protocol::kProtocol);
    wire::Message request;
    while (judge.receive(request, wire::kForever) == wire::Received::message) {
      wire::Message reply;
      const auto answer = [&](const auto& body) {
        reply = wire::make(protocol::Kind::reply, request.serial, body);
      };
      switch (static_cast<protocol::Kind>(request.kind)) {
        case protocol::Kind::load:
          answer(load(request.as<protocol::LoadRequest>()));
          break;
        case protocol::Kind::call:
          answer(call(request.as<protocol::CallRequest>()));
          break;
        case protocol::Kind::ask:
          answer(ask(request.as<protocol::AskRequest>()));
          break;
        default:
          return 2;
      }
      if (judge.send(reply, wire::kForever) != wire::Sent::all) return 0;
    }
    if (server_) server_->dismiss();
    return 0;
  }

 private:
  protocol::LoadReply load(protocol::LoadRequest request) {
    protocol::LoadReply reply;
    std::vector<ModuleId> modules;
    for (std::uint32_t i = 0; i < request.files.size(); ++i) {
      protocol::Ptx& file = request.files[i];
      try {
        modules.push_back(device_.load_module(std::move(file.text), file.known));
      } catch (const ptx::ParseError& error) {
        reply.refused.push_back(
            {i, error.what(), error.ptx_line, error.source_line, error.unsupported});
      }
    }
    if (modules.empty()) return reply;
    runtime::Policy policy;
    runner_.emplace(milliseconds(request.patience_ms));
    // Each call brings its own budget; this is for kernels that something else starts: 100 times
    // what the slowest solution of the labs (lab 1's, 9.6e7 thread instructions) takes at the
    // largest judged shape.
    policy.launch.instruction_budget = 100 * 96'000'000ull;
    policy.starved = [this] { return runner_->starved(); };
    server_ = std::make_unique<Server>(device_, std::move(modules), policy, runner_fd);
    const Server::Hello hello = server_->wait_hello(milliseconds(request.patience_ms));
    reply.hello = hello.outcome;
    reply.message = hello.message;
    reply.entries = hello.entries;
    return reply;
  }

  /// A buffer of the last call is taken again only where the judge asks for it: then stale content
  /// must not matter.
  void place(DevicePtr& base, const diag::Matrix& matrix, const char* label, Role role,
             bool reuse) {
    if (!reuse) {
      if (base) {
        server_->unprotect(base);
        device_.free(base);
      }
      base = device_.alloc(matrix.storage.size(), label);
      if (base) server_->protect(base, role);
    }
    if (!base) return;
    device_.set_read_only(base, false);
    device_.write(base, matrix.storage);
    if (role == Role::input) device_.set_read_only(base, true);
  }

  std::vector<std::byte> content(DevicePtr base, std::size_t bytes) const {
    std::vector<std::byte> out(bytes);
    if (base && bytes) device_.read(out, base);
    return out;
  }

  protocol::CallReply call(const protocol::CallRequest& request) {
    place(a_, request.a, "A", Role::input, request.reuse);
    place(b_, request.b, "B", Role::input, request.reuse);
    place(c_, request.c, "C", Role::output, request.reuse);
    auto& launch = server_->policy().launch;
    launch.checks = request.checks ? Checks{} : Checks::none();
    launch.checks.memory = true;
    launch.count = true;
    launch.sample_accesses = request.samples;
    launch.sampled_warp = request.sampled_warp;
    launch.tensor_gain = request.tensor_gain;
    launch.host_threads = request.host_threads;
    launch.instruction_budget = request.instruction_budget;
    const auto view = [](DevicePtr base, const diag::Matrix& m) {
      return runtime::View{base, m.rows, m.cols, m.ld};
    };
    protocol::CallReply reply;
    runner_->begin(milliseconds(request.patience_ms));
    reply.result = server_->call(request.entry, view(a_, request.a), view(b_, request.b),
                                 view(c_, request.c), milliseconds(request.patience_ms));
    reply.a_after = content(a_, request.a.storage.size());
    reply.b_after = content(b_, request.b.storage.size());
    reply.c_after = content(c_, request.c.storage.size());
    reply.a_base = a_;
    reply.b_base = b_;
    reply.c_base = c_;
    return reply;
  }

  runtime::CallResult ask(const protocol::AskRequest& request) {
    runner_->begin(milliseconds(request.patience_ms));
    return server_->ask(request.entry, milliseconds(request.patience_ms));
  }

  std::optional<RunnerClock> runner_;
  Device device_;
  std::unique_ptr<Server> server_;
  DevicePtr a_ = 0, b_ = 0, c_ = 0;
};

}  // namespace

int device_worker_main() {
  // What it holds (inputs, expected behaviour) is nobody else's: no ptrace, no /proc/<pid>/mem for
  // other processes.
  ::prctl(PR_SET_DUMPABLE, 0);
  try {
    return DeviceWorker().serve();
  } catch (const std::exception&) {
    return 70;  // the judge sees the closed socket and reports INFRA_ERROR
  }
}

}  // namespace grader
