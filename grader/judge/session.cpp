#include "grader/judge/session.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <new>

#include "grader/errors.hpp"
#include "grader/messages.hpp"
#include "grader/os/escape.hpp"

namespace grader {
namespace {

using simgpu::runtime::Outcome;
using std::chrono::milliseconds;

// The worker's own time for one call: the instruction budget ends kernels long before this.
constexpr milliseconds device_allowance{180000};
// From the first byte of a reply to its last.
constexpr milliseconds reply_patience{10000};
constexpr std::uint64_t worker_memory = 12ull << 30;
// A runner that keeps device memory after each call is restarted before it meets the cap on
// allocations.
constexpr std::uint64_t leak_restart = 64;

/// The device worker died before it could be asked anything: as it started or read the PTX.
struct WorkerDied : InfraError {
  WorkerDied(const std::string& message, bool outside)
      : InfraError(message), from_outside(outside) {}
  bool from_outside;
};

/// By what libstdc++ writes to stderr when a program does not catch std::bad_alloc.
bool died_for_memory(const std::string& errors) {
  return errors.find("terminate called after throwing an instance of 'std::bad_alloc'") !=
         std::string::npos;
}

// How often we try what something outside may have ended.
constexpr int tries = 3;

}  // namespace

// Not the path behind it: a rebuild replaces that file while this program still runs.
std::string own_program() {
  return "/proc/self/exe";
}

struct Session::Pair {
  Process worker, runner;
  wire::UniqueFd control;
  std::uint32_t serial = 0;  ///< of the last request
};

Session::Session(const Build& build, SessionConfig config)
    : build_(build), config_(std::move(config)) {}
Session::~Session() = default;

void Session::close() {
  pair_.reset();
}

void Session::start() {
  if (pair_) return;
  wire::Ends control = wire::make_ends(), channel = wire::make_ends();
  if (!control.ours || !channel.ours) throw InfraError("cannot make a socket pair");

  ProcessSpec worker;
  worker.argv = {config_.box ? "/kit/grader" : config_.grader_program, "device-worker"};
  worker.environment = {"LC_ALL=C"};
  worker.descriptors = {{control.theirs.get(), 3}, {channel.ours.get(), 4}};
  worker.limits.address_bytes = worker_memory;
  worker.limits.file_bytes = 1;  // it has no business writing files
  worker.limits.open_files = 16;
  worker.user = config_.user;

  ProcessSpec runner;
  runner.argv = {config_.box ? "/kit/runner" : build_.runner.path.string()};
  runner.environment = {"LC_ALL=C"};
  runner.folder = "/";
  runner.descriptors = {{channel.theirs.get(), 3}};
  runner.limits.address_bytes = config_.runner_memory;
  runner.limits.file_bytes = 1u << 20;
  runner.limits.open_files = 32;
  runner.limits.cpu_seconds = 60;
  runner.limits.processes = 64;
  runner.output_bytes = 16u << 10;
  runner.user = config_.user;

  if (config_.box)
    runner = boxed(*config_.box, {BoxRole::runner, {{build_.runner.path, "/kit/runner"}}, {}, {}},
                   runner);
  Process running(runner);
  const pid_t program = running.program_pid();
  const std::string stat = fmt::format("/proc/{}/stat", program);
  const UniqueFd runner_stat(program > 0 ? ::open(stat.c_str(), O_RDONLY | O_CLOEXEC) : -1);
  if (runner_stat) worker.descriptors.emplace_back(runner_stat.get(), 5);
  if (config_.box)
    worker =
        boxed(*config_.box,
              {BoxRole::worker, {{config_.box->kit / "grader", "/kit/grader"}}, {}, {}}, worker);
  pair_ =
      std::unique_ptr<Pair>(new Pair{Process(worker), std::move(running), std::move(control.ours)});
  for (UniqueFd* end : {&control.theirs, &channel.ours, &channel.theirs}) end->reset();
  placed_ = false;
  heard_out_ = heard_err_ = 0;

  protocol::LoadRequest request{{}, static_cast<std::uint64_t>(config_.patience.count())};
  for (const SourceUnit& unit : build_.units)
    for (const std::string& ptx : unit.ptx) request.files.push_back({ptx, false});
  config_.known.resize(request.files.size(), false);
  for (std::size_t i = 0; i < request.files.size(); ++i) request.files[i].known = config_.known[i];
  try {
    loaded_ = exchange<protocol::LoadReply>(protocol::Kind::load, request, "while it read the PTX");
  } catch (const std::exception& error) {
    const Ending ending = end_worker(error.what());
    throw WorkerDied(ending.message, ending.from_outside);
  }
  config_.known.assign(request.files.size(), true);
  for (const auto& refused : loaded_.refused)
    if (refused.index < config_.known.size()) config_.known[refused.index] = false;
  // The table is what the runner says, which may be anything.
  std::vector<std::string> linked;
  for (const auto& entry : build_.entries)
    if (entry.defined) linked.push_back(entry.name);
  if (loaded_.hello == Outcome::returned && loaded_.entries != linked) {
    loaded_.hello = Outcome::protocol;
    loaded_.message = "the runner introduced itself with other functions than it was linked from";
  }
}

template <typename Reply, typename Request>
Reply Session::exchange(protocol::Kind kind, const Request& request, const std::string& during) {
  const milliseconds limit =
      simgpu::runtime::kStarvedPatience * config_.patience + device_allowance;
  wire::Channel worker(pair_->control.get(), protocol::kProtocol);
  wire::Message reply;
  if (worker.send(wire::make(kind, ++pair_->serial, request), wire::Clock::now() + limit) !=
          wire::Sent::all ||
      !pair_->runner.drain_until_readable(pair_->control.get(), limit) ||
      worker.receive(reply, wire::Clock::now() + reply_patience) != wire::Received::message)
    throw wire::Error(during + (worker.problem().empty() ? "" : "; " + worker.problem()));
  if (reply.kind != static_cast<std::uint16_t>(protocol::Kind::reply) ||
      reply.serial != pair_->serial)
    throw wire::Error(during + "; it answered what it was not asked");
  return reply.as<Reply>("its reply");
}

std::vector<SourceUnit> Session::load() {
  using messages::text;
  std::vector<SourceUnit> units = build_.units;
  for (int i = 1;; ++i) {
    const Budget::Spending spending(config_.budget.get());
    try {
      start();
      break;
    } catch (const WorkerDied& died) {
      if (i < tries && config_.box) continue;
      if (died.from_outside) throw;
    }
    // As of text that is no PTX.
    for (SourceUnit& unit : units) {
      if (!unit.built()) continue;
      unit.status = BuildStatus::compile_error;
      unit.headline = text("build.worker_died", {{"file", unit.shown_path}, {"times", i}});
      unit.details = {text("build.ptx.invalid")};
    }
    return units;
  }
  std::vector<std::size_t> owners;  // of the texts that the worker was given
  for (std::size_t i = 0; i < units.size(); ++i)
    owners.resize(owners.size() + units[i].ptx.size(), i);
  for (const auto& refused : loaded_.refused) {
    if (refused.index >= owners.size()) continue;
    SourceUnit& unit = units[owners[refused.index]];
    if (!unit.built()) continue;  // told already, of another of its texts
    unit.status = BuildStatus::compile_error;
    unit.headline = text(
        "build.ptx", {{"file", unit.shown_path},
                      {"line", refused.source_line ? fmt::format(":{}", refused.source_line) : ""},
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
  const int status = pair_->worker.status();
  const std::string how = !dead ? "did not answer"
                          : WIFSIGNALED(status)
                              ? "died of " + signal_name(WTERMSIG(status))
                              : fmt::format("left with status {}", WEXITSTATUS(status));
  const std::string said = printable(pair_->worker.errors());
  Ending ending;
  ending.message = fmt::format("the device worker {} ({}){}{}", how, what, said.empty() ? "" : ": ",
                               first_bytes(said, 300));
  // Out of memory, an exception, a crash in the interpreter: PTX can bring these about.
  ending.from_outside =
      !dead || pair_->worker.vanished() || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
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
  const bool out_of_memory =
      WIFSIGNALED(status) && died_for_memory(pair_->runner.errors().substr(heard_err_));
  ending.said = newly_said();
  if (pair_->runner.vanished() && dead) {
    ending.end = CallEnd::infra;
    ending.message = "something outside ended the box of the program";
  } else if (outcome == Outcome::timeout) {
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

template <typename Outcome, typename Once>
Outcome Session::repeated(const Once& once) {
  if (!config_.box) return once();
  Outcome outcome;
  for (int i = 0; i < tries; ++i) {
    const Budget::Spending spending(config_.budget.get());
    outcome = {};
    if (config_.budget && config_.budget->spent()) {
      outcome.end = CallEnd::hung;
      return outcome;
    }
    try {
      outcome = once();
    } catch (const WorkerDied& died) {  // before it was asked anything
      outcome.end = CallEnd::infra;
      outcome.message = died.what();
      outcome.from_outside = died.from_outside;
    }
    const bool killed = outcome.end == CallEnd::crashed && outcome.signal == SIGKILL;
    if (!killed && outcome.end != CallEnd::infra) break;
  }
  if (outcome.end == CallEnd::infra && !outcome.from_outside) {
    outcome.end = CallEnd::protocol;
    outcome.message = messages::text("verdict.worker_died", {{"times", tries}});
  }
  return outcome;
}

CallOutcome Session::call(const CallSpec& spec) {
  CallOutcome outcome = repeated<CallOutcome>([&] { return call_once(spec); });
  if (outcome.end != CallEnd::returned && outcome.run.c_after.storage.empty()) {
    // It never came to the call: nothing was written.
    outcome.run.a = spec.a, outcome.run.b = spec.b;
    outcome.run.c_before = outcome.run.c_after = spec.c;
  }
  return outcome;
}

AskOutcome Session::ask(const std::string& function) {
  return repeated<AskOutcome>([&] { return ask_once(function); });
}

CallOutcome Session::call_once(const CallSpec& spec) {
  start();
  CallOutcome outcome;
  const auto adopt = [&](const Ending& ending) {
    outcome.end = ending.end;
    outcome.signal = ending.signal;
    outcome.exit_status = ending.exit_status;
    outcome.message = ending.message;
    outcome.said = ending.said;
    outcome.from_outside = ending.from_outside;
  };
  outcome.run.a = spec.a;
  outcome.run.b = spec.b;
  outcome.run.c_before = spec.c;
  outcome.run.c_after = spec.c;
  if (loaded_.hello != Outcome::returned) {
    adopt(end_pair(loaded_.hello, loaded_.message));  // died in a constructor, before main
    return outcome;
  }
  protocol::CallRequest request;
  request.entry = entry_index(spec.entry);
  request.a = spec.a;
  request.b = spec.b;
  request.c = spec.c;
  request.reuse = spec.reuse && placed_;
  request.checks = spec.checks;
  request.samples = spec.samples;
  request.sampled_warp = spec.sampled_warp;
  request.tensor_gain = spec.tensor_gain;
  request.host_threads = config_.host_threads;
  request.instruction_budget = spec.instruction_budget;
  request.patience_ms = static_cast<std::uint64_t>(config_.patience.count());
  protocol::CallReply reply;
  try {
    reply = exchange<protocol::CallReply>(protocol::Kind::call, request, "during " + spec.entry);
    if (reply.c_after.size() != spec.c.storage.size() ||
        reply.a_after.size() != spec.a.storage.size() ||
        reply.b_after.size() != spec.b.storage.size())
      throw wire::Error("a matrix came back with another size");
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
  for (const auto& move : outcome.result.transfers)
    if (move.kind == simgpu::runtime::Transfer::Kind::fill && move.dst >= outcome.c_base &&
        move.dst - outcome.c_base < spec.c.storage.size())
      outcome.run.fills.push_back(
          {move.dst - outcome.c_base, move.dst - outcome.c_base + move.bytes, move.launches});
  for (const auto& error : outcome.result.errors) {
    if (error.call != "kernel launch") continue;
    outcome.run.failed_launch = diag::LaunchFailure{
        error.kernel, error.grid, error.block, static_cast<unsigned>(error.shared_bytes),
        error.name + (error.message.empty() ? "" : ": " + error.message)};
    break;
  }
  if (outcome.result.outcome == Outcome::threw) {
    outcome.message = printable(outcome.result.message);
    outcome.end = outcome.message == std::bad_alloc().what() ? CallEnd::memory : CallEnd::threw;
  } else if (outcome.result.outcome != Outcome::returned) {
    adopt(end_pair(outcome.result.outcome, outcome.result.message));
  } else {
    outcome.said = newly_said();
    if (outcome.result.live_allocations >= leak_restart) pair_.reset();
  }
  return outcome;
}

AskOutcome Session::ask_once(const std::string& function) {
  start();
  AskOutcome outcome;
  const auto adopt = [&](const Ending& ending) {
    outcome.end = ending.end;
    outcome.signal = ending.signal;
    outcome.exit_status = ending.exit_status;
    outcome.message = ending.message;
    outcome.from_outside = ending.from_outside;
  };
  if (loaded_.hello != Outcome::returned) {
    adopt(end_pair(loaded_.hello, loaded_.message));
    return outcome;
  }
  const protocol::AskRequest request{entry_index(function),
                                     static_cast<std::uint64_t>(config_.patience.count())};
  simgpu::runtime::CallResult result;
  try {
    result =
        exchange<simgpu::runtime::CallResult>(protocol::Kind::ask, request, "during " + function);
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
