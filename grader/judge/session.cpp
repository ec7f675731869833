#include "grader/judge/session.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "common/simgpu/runtime/wire/channel.hpp"
#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"

namespace grader {
namespace {

using simgpu::runtime::Outcome;
using std::chrono::milliseconds;

// The worker's own time for one call: the instruction budget ends kernels long before this.
constexpr milliseconds device_allowance{180000};
constexpr std::uint64_t worker_memory = 12ull << 30;
// A runner that keeps device memory after each call is restarted before it meets the cap on
// allocations.
constexpr std::uint64_t leak_restart = 64;

}  // namespace

// Not the path behind it: a rebuild replaces that file while this program still runs.
std::string own_program() {
  return "/proc/self/exe";
}

struct Session::Pair {
  Process worker, runner;
  UniqueFd control;
};

Session::Session(const Build& build, SessionConfig config)
    : build_(build), config_(std::move(config)) {}
Session::~Session() = default;

void Session::start() {
  if (pair_) return;
  UniqueFd control, worker_control, channel_worker, channel_runner;
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    throw InfraError("cannot make a socket pair");
  control.reset(fds[0]);
  worker_control.reset(fds[1]);
  const auto ends = simgpu::runtime::wire::make_channel();
  channel_worker.reset(ends.worker);
  channel_runner.reset(ends.runner);
  if (!channel_worker || !channel_runner) throw InfraError("cannot make a channel");

  ProcessSpec worker;
  worker.argv = {config_.box ? "/kit/grader" : config_.grader_program, "device-worker"};
  worker.environment = {"LC_ALL=C"};
  worker.descriptors = {{worker_control.get(), 3}, {channel_worker.get(), 4}};
  worker.limits.address_bytes = worker_memory;
  worker.limits.file_bytes = 1;  // it has no business writing files
  worker.limits.open_files = 16;
  worker.user = config_.user;

  ProcessSpec runner;
  runner.argv = {config_.box ? "/kit/runner" : build_.runner.string()};
  runner.environment = {"LC_ALL=C"};
  runner.folder = "/";
  runner.descriptors = {{channel_runner.get(), 3}};
  runner.limits.address_bytes = config_.runner_memory;
  runner.limits.file_bytes = 1u << 20;
  runner.limits.open_files = 32;
  runner.limits.cpu_seconds = 60;
  runner.limits.processes = 64;
  runner.output_bytes = 16u << 10;
  runner.user = config_.user;

  if (config_.box)
    runner =
        boxed(*config_.box, {BoxRole::runner, {{build_.runner, "/kit/runner"}}, {}, {}}, runner);
  Process running(runner);
  const pid_t program = running.program_pid();
  const std::string stat = "/proc/" + std::to_string(program) + "/stat";
  const UniqueFd runner_stat(program > 0 ? ::open(stat.c_str(), O_RDONLY | O_CLOEXEC) : -1);
  if (runner_stat) worker.descriptors.emplace_back(runner_stat.get(), 5);
  if (config_.box)
    worker =
        boxed(*config_.box,
              {BoxRole::worker, {{config_.box->kit / "grader", "/kit/grader"}}, {}, {}}, worker);
  auto pair =
      std::unique_ptr<Pair>(new Pair{Process(worker), std::move(running), std::move(control)});
  worker_control.reset();
  channel_worker.reset();
  channel_runner.reset();
  pair_ = std::move(pair);
  placed_ = false;
  heard_out_ = heard_err_ = 0;

  wire::LoadRequest request{{}, static_cast<std::uint64_t>(config_.patience.count())};
  for (const auto& unit : build_.units) request.ptx.push_back(unit.ptx);
  std::string payload;
  if (!exchange(wire::Kind::load, wire::encode(request), payload))
    throw InfraError(end_worker("while it read the PTX").message);
  try {
    loaded_ = wire::decode<wire::LoadReply>(payload);
  } catch (const wire::WireError& error) {
    throw InfraError(end_worker(error.what()).message);
  }
}

bool Session::exchange(wire::Kind kind, const std::string& request, std::string& reply) {
  const milliseconds limit =
      simgpu::runtime::kStarvedPatience * config_.patience + device_allowance;
  wire::Kind answer{};
  return wire::send(pair_->control.get(), kind, request) &&
         pair_->runner.drain_until_readable(pair_->control.get(), limit) &&
         wire::receive(pair_->control.get(), 10000, answer, reply) == wire::Received::frame &&
         answer == wire::Kind::reply;
}

std::vector<SourceUnit> Session::load() {
  using messages::text;
  start();
  std::vector<SourceUnit> units = build_.units;
  for (const auto& refused : loaded_.refused) {
    if (refused.index >= units.size()) continue;
    SourceUnit& unit = units[refused.index];
    if (!unit.built()) continue;  // its text is empty, and what is wrong is known
    unit.status = BuildStatus::compile_error;
    unit.headline =
        text("build.ptx",
             {{"file", unit.shown_path},
              {"line", refused.source_line ? ":" + std::to_string(refused.source_line) : ""},
              {"what", printable(refused.error)}});
    unit.details = {text(refused.unsupported ? "build.ptx.unsupported" : "build.ptx.invalid")};
  }
  return units;
}

std::uint32_t Session::entry_index(const std::string& name) const {
  const auto found = std::find(loaded_.entries.begin(), loaded_.entries.end(), name);
  if (found == loaded_.entries.end()) throw InfraError("the runner has no entry " + name);
  return static_cast<std::uint32_t>(found - loaded_.entries.begin());
}

std::string Session::newly_said() {
  const std::string& out = pair_->runner.output();
  const std::string& err = pair_->runner.errors();
  const std::string said = printable(out.substr(heard_out_) + err.substr(heard_err_));
  heard_out_ = out.size();
  heard_err_ = err.size();
  return said;
}

Session::Ending Session::end_worker(const std::string& what) {
  pair_->runner.kill();
  const bool dead = pair_->worker.wait(milliseconds(500));
  pair_->worker.kill();
  Ending ending;
  ending.message = "the device worker ";
  const int status = pair_->worker.status();
  if (!dead)
    ending.message += "did not answer";
  else if (WIFSIGNALED(status))
    ending.message += "died of " + signal_name(WTERMSIG(status));
  else
    ending.message += "left with status " + std::to_string(WEXITSTATUS(status));
  ending.message += " (" + what + ")";
  if (const std::string said = printable(pair_->worker.errors()); !said.empty())
    ending.message += ": " + said.substr(0, 300);
  pair_.reset();
  return ending;
}

Session::Ending Session::end_pair(Outcome outcome, const std::string& message) {
  Ending ending;
  ending.message = printable(message);
  // A closed channel: the runner is dying by its own hand. Wait for the status before killing, or
  // SIGKILL hides it.
  const bool dead = pair_->runner.wait(milliseconds(outcome == Outcome::timeout ? 0 : 2000));
  pair_->runner.kill();
  const int status = pair_->runner.status();
  ending.said = newly_said();
  const bool out_of_memory = ending.said.find("std::bad_alloc") != std::string::npos;
  if (outcome == Outcome::timeout) {
    ending.end = CallEnd::hung;
  } else if (!dead) {
    ending.end = CallEnd::protocol;  // alive, but no longer listening
    if (outcome == Outcome::closed)
      ending.message = "it closed its connection to the device and went on";
  } else if (WIFSIGNALED(status)) {
    ending.signal = WTERMSIG(status);
    ending.end = ending.signal == SIGXCPU ? CallEnd::hung
                 : out_of_memory          ? CallEnd::memory
                                          : CallEnd::crashed;
  } else if (outcome == Outcome::protocol) {
    ending.end = CallEnd::protocol;
  } else {
    ending.end = CallEnd::exited;
    ending.exit_status = WEXITSTATUS(status);
  }
  pair_.reset();
  return ending;
}

CallOutcome Session::call(const CallSpec& spec) {
  start();
  CallOutcome outcome;
  const auto adopt = [&](const Ending& ending) {
    outcome.end = ending.end;
    outcome.signal = ending.signal;
    outcome.exit_status = ending.exit_status;
    outcome.message = ending.message;
    outcome.said = ending.said;
  };
  outcome.run.a = spec.a;
  outcome.run.b = spec.b;
  outcome.run.c_before = spec.c;
  outcome.run.c_after = spec.c;
  if (loaded_.hello != Outcome::returned) {
    adopt(end_pair(loaded_.hello, loaded_.message));  // died in a constructor, before main
    return outcome;
  }
  wire::CallRequest request;
  request.entry = entry_index(spec.entry);
  request.a = spec.a;
  request.b = spec.b;
  request.c = spec.c;
  request.reuse = spec.reuse && placed_;
  request.checks = spec.checks;
  request.samples = spec.samples;
  request.host_threads = config_.host_threads;
  request.instruction_budget = spec.instruction_budget;
  request.patience_ms = static_cast<std::uint64_t>(config_.patience.count());
  std::string payload;
  if (!exchange(wire::Kind::call, wire::encode(request), payload)) {
    adopt(end_worker("during " + spec.entry));
    return outcome;
  }
  wire::CallReply reply;
  try {
    reply = wire::decode<wire::CallReply>(payload);
    if (reply.c_after.size() != spec.c.storage.size() ||
        reply.a_after.size() != spec.a.storage.size() ||
        reply.b_after.size() != spec.b.storage.size())
      throw wire::WireError("a matrix came back with another size");
  } catch (const std::exception& error) {
    adopt(end_worker(error.what()));
    return outcome;
  }
  placed_ = true;
  outcome.run.c_after.storage = std::move(reply.c_after);
  outcome.run.a_after = spec.a;
  outcome.run.a_after->storage = std::move(reply.a_after);
  outcome.run.b_after = spec.b;
  outcome.run.b_after->storage = std::move(reply.b_after);
  outcome.a_base = reply.a_base;
  outcome.b_base = reply.b_base;
  outcome.c_base = reply.c_base;
  outcome.result = std::move(reply.result);
  outcome.run.launches = outcome.result.launches;
  for (const auto& error : outcome.result.errors) {
    if (error.call != "kernel launch") continue;
    outcome.run.failed_launch = diag::LaunchFailure{
        error.kernel, error.grid, error.block, static_cast<unsigned>(error.shared_bytes),
        error.name + (error.message.empty() ? "" : ": " + error.message)};
    break;
  }
  if (outcome.result.outcome == Outcome::threw) {
    outcome.message = printable(outcome.result.message);
    outcome.end =
        outcome.message.find("bad_alloc") != std::string::npos ? CallEnd::memory : CallEnd::threw;
  } else if (outcome.result.outcome != Outcome::returned) {
    adopt(end_pair(outcome.result.outcome, outcome.result.message));
  } else {
    outcome.said = newly_said();
    if (outcome.result.live_allocations >= leak_restart) pair_.reset();
  }
  return outcome;
}

AskOutcome Session::ask(const std::string& function) {
  start();
  AskOutcome outcome;
  const auto adopt = [&](const Ending& ending) {
    outcome.end = ending.end;
    outcome.signal = ending.signal;
    outcome.exit_status = ending.exit_status;
    outcome.message = ending.message;
  };
  if (loaded_.hello != Outcome::returned) {
    adopt(end_pair(loaded_.hello, loaded_.message));
    return outcome;
  }
  const wire::AskRequest request{entry_index(function),
                                 static_cast<std::uint64_t>(config_.patience.count())};
  std::string payload;
  if (!exchange(wire::Kind::ask, wire::encode(request), payload)) {
    adopt(end_worker("during " + function));
    return outcome;
  }
  simgpu::runtime::CallResult result;
  try {
    result = wire::decode<simgpu::runtime::CallResult>(payload);
  } catch (const std::exception& error) {
    adopt(end_worker(error.what()));
    return outcome;
  }
  outcome.answered = result.answered;
  outcome.answer = printable(result.answer);
  if (result.outcome == Outcome::threw) {
    outcome.end = CallEnd::threw;
    outcome.message = printable(result.message);
  } else if (result.outcome != Outcome::returned) {
    adopt(end_pair(result.outcome, result.message));
  }
  return outcome;
}

}  // namespace grader
