#include "grader/gpu/runner.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "grader/errors.hpp"
#include "grader/gpu/device_files.hpp"
#include "grader/gpu/link.hpp"
#include "grader/os/escape.hpp"

namespace grader::gpu {
namespace {

using namespace protocol;
using std::chrono::milliseconds;

/// A memory file with the matrices of one call, mapped here and handed to the runner.
class Exchange {
 public:
  explicit Exchange(std::size_t bytes) : size_(std::max<std::size_t>(bytes, 1)) {
    file_.reset(::memfd_create("matrices", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file_ || ::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0)
      throw InfraError(fmt::format("cannot make a memory file of {} bytes", size_));
    // A file that somebody shortens ends the judge with SIGBUS.
    ::fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    void* const data = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (data == MAP_FAILED) throw InfraError("cannot map a memory file");
    data_ = static_cast<std::byte*>(data);
  }
  ~Exchange() { ::munmap(data_, size_); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  int file() const { return file_.get(); }

  Place put(const diag::Matrix& matrix) {
    Place place;
    place.offset = at_;
    place.bytes = matrix.storage.size();
    place.rows = matrix.rows;
    place.cols = matrix.cols;
    place.ld = matrix.ld;
    std::copy(matrix.storage.begin(), matrix.storage.end(), data_ + at_);
    at_ += (matrix.storage.size() + 63) / 64 * 64;
    return place;
  }
  std::vector<std::byte> get(const Place& place) const {
    const std::byte* const from = data_ + place.offset;
    return {from, from + place.bytes};
  }
  static std::size_t size_for(const diag::Matrix& a, const diag::Matrix& b, const diag::Matrix& c) {
    return a.storage.size() + b.storage.size() + c.storage.size() + 3 * 64;
  }

 private:
  UniqueFd file_;
  std::size_t size_;
  std::size_t at_ = 0;
  std::byte* data_ = nullptr;
};

bool spent(const std::optional<RunnerBox>& box) {
  return box && box->budget && box->budget->spent();
}

Budget* budget_of(const std::optional<RunnerBox>& box) {
  return box ? box->budget.get() : nullptr;
}

}  // namespace

ProcessSpec in_gpu_box(const RunnerBox& box, ProcessSpec process) {
  // Slices have names of their own, and nothing else tells one from another.
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool slice = visible && std::string(visible).rfind("MIG-", 0) == 0;
  process.environment = {"LC_ALL=C", "CUDA_CACHE_DISABLE=1",
                         "CUDA_VISIBLE_DEVICES=" + (slice ? visible : box.uuid)};
  if (const char* const libraries = std::getenv("LD_LIBRARY_PATH"))
    process.environment.push_back(std::string("LD_LIBRARY_PATH=") + libraries);
  BoxView view;
  view.role = BoxRole::gpu_runner;
  view.read_only = {{process.argv.front(), "/box/runner"}};
  view.rest = library_folders();
  view.devices = box.devices;
  process.argv.front() = "/box/runner";
  process.user.reset();
  return boxed(box.settings, view, std::move(process));
}

std::vector<std::string> gpu_environment() {
  std::vector<std::string> environment = {"LC_ALL=C"};
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_HOME",
                           "LD_LIBRARY_PATH", "HOME", "PATH", "TMPDIR"})
    if (const char* value = std::getenv(name))
      environment.push_back(std::string(name) + "=" + value);
  return environment;
}

struct Runner::State {
  std::unique_ptr<Link> link;
  Hello hello;
  std::size_t heard_out = 0, heard_err = 0;
  milliseconds farewell{0};  ///< what a wrapper gets to write its summary in, after a lost context

  std::string newly_said() {
    const std::string& out = link->process().output();
    const std::string& err = link->process().errors();
    const std::string said = printable(out.substr(heard_out) + err.substr(heard_err));
    heard_out = out.size();
    heard_err = err.size();
    return said;
  }

  void drop() { link.reset(); }

  /// The process is gone, or will be: what ended it?
  RunnerFault ended(Answer answer) {
    RunnerFault fault;
    Process& process = link->process();
    // A closed socket: it is dying by its own hand. Wait for the status before killing, or SIGKILL
    // hides it.
    const bool dead = process.wait(milliseconds(answer == Answer::closed ? 5000 : 0));
    process.kill();
    const int status = process.status();
    fault.said = newly_said();
    if (answer == Answer::silent) {
      fault.end = grader::CallEnd::hung;
    } else if (!dead) {
      fault.end = grader::CallEnd::protocol;
      fault.message = answer == Answer::closed ? "it closed its connection to the judge and went on"
                                               : "it sent what is no reply";
    } else if (WIFSIGNALED(status)) {
      fault.signal = WTERMSIG(status);
      fault.end = fault.signal == SIGXCPU ? grader::CallEnd::hung
                  : fault.said.find("std::bad_alloc") != std::string::npos
                      ? grader::CallEnd::memory
                      : grader::CallEnd::crashed;
    } else if (answer == Answer::nonsense) {
      fault.end = grader::CallEnd::protocol;
      fault.message = "it sent what is no reply";
    } else {
      fault.end = grader::CallEnd::exited;
      fault.exit_status = WEXITSTATUS(status);
    }
    drop();
    return fault;
  }

  /// What a reply says. A lost context ends the process: the next request starts another one.
  RunnerFault judge(const Done& done) {
    RunnerFault fault;
    fault.code = done.code;
    fault.call = printable(done.call);
    fault.name = printable(done.name);
    fault.message = printable(done.text);
    switch (done.end) {
      case gpu::protocol::RequestEnd::returned:
        break;
      case gpu::protocol::RequestEnd::threw:
        fault.end = fault.message.find("bad_alloc") != std::string::npos ? grader::CallEnd::memory
                                                                         : grader::CallEnd::threw;
        break;
      case gpu::protocol::RequestEnd::refused:
        if (fault.code == 0) fault.code = -1;
        break;
      case gpu::protocol::RequestEnd::failed:
        if (fault.code == 0) fault.code = -1;
        break;
      case gpu::protocol::RequestEnd::memory:
        fault.end = grader::CallEnd::infra;
        fault.message = "the GPU has no memory for the matrices (" + fault.name + ")";
        break;
      default:
        fault.end = grader::CallEnd::infra;
        if (fault.message.empty()) fault.message = "the runner did not understand a request";
        break;
    }
    fault.said = newly_said();
    if (done.end == gpu::protocol::RequestEnd::failed) {
      if (farewell.count() > 0) link->process().wait(farewell);
      drop();
    }
    return fault;
  }

  /// Starts the process and hears its first message. The fault says why that failed.
  RunnerFault start(const RunnerSpec& spec) {
    if (link) return {};
    ProcessSpec process;
    process.argv = spec.wrapper;
    farewell = spec.wrapper.empty() ? milliseconds(0) : spec.first_patience;
    process.argv.push_back(spec.program);
    if (!spec.wrapper.empty()) process.argv.emplace_back("wrapped");
    process.environment = gpu_environment();
    process.environment.insert(process.environment.end(), spec.environment.begin(),
                               spec.environment.end());
    // No limit on addresses: a CUDA context reserves more of them than there is memory.
    process.limits.cpu_seconds = spec.wrapper.empty() ? 300 : 0;
    process.output_bytes = spec.output_bytes;
    process.user = spec.user;
    std::function<ProcessSpec(ProcessSpec)> around;
    if (spec.box)
      around = [&spec](ProcessSpec whole) { return in_gpu_box(*spec.box, std::move(whole)); };
    link = std::make_unique<Link>(std::move(process), around);
    heard_out = heard_err = 0;
    wire::Message message;
    const Answer answer = link->first(message, spec.first_patience);
    if (answer != Answer::reply) return ended(answer);
    const auto kind = static_cast<Kind>(message.kind);
    if (kind == Kind::hello && Link::read(message, hello)) return {};
    Done done;
    if (kind == Kind::done && Link::read(message, done)) {
      RunnerFault fault = judge(done);
      drop();
      if (fault.end == grader::CallEnd::returned) fault.end = grader::CallEnd::infra;
      return fault;
    }
    return ended(Answer::nonsense);
  }

  std::optional<std::uint32_t> find_entry(const std::string& name) const {
    for (std::uint32_t i = 0; i < hello.entries.size(); ++i)
      if (hello.entries[i] == name) return i;
    return {};
  }
};

Runner::Runner(RunnerSpec spec) : spec_(std::move(spec)), state_(std::make_unique<State>()) {}

Runner::~Runner() {
  state_->drop();
}

bool Runner::alive() const {
  return state_->link != nullptr;
}

void Runner::kill() {
  state_->drop();
}

namespace {

RunnerFault no_entry(const std::string& name) {
  RunnerFault fault;
  fault.end = grader::CallEnd::infra;
  fault.message = "the runner has no entry " + name;
  return fault;
}

/// The faults of the runtime as the simulated GPU reports them, so that what follows reads the
/// same.
void adopt(const RunnerFault& fault, const std::string& entry, CallOutcome& outcome) {
  outcome.end = fault.end;
  outcome.signal = fault.signal;
  outcome.exit_status = fault.exit_status;
  outcome.message = fault.message;
  outcome.said = fault.said;
  if (fault.code == 0 || fault.name.empty()) return;
  simgpu::runtime::ApiError error;
  error.call = fault.call.empty() ? "kernel launch" : fault.call;
  error.kernel = entry;
  error.code = fault.code;
  error.name = fault.name;
  error.message = fault.message;
  outcome.result.errors.push_back(error);
  outcome.result.last_error = fault.code;
  if (fault.end == grader::CallEnd::returned && error.call == "kernel launch")
    outcome.run.failed_launch =
        diag::LaunchFailure{entry, {}, {}, 0, fault.name + ": " + fault.message};
}

}  // namespace

bool Runner::has(const std::string& entry) {
  if (!state_->start(spec_).none()) return false;
  return state_->find_entry(entry).has_value();
}

CallOutcome Runner::call(const CallSpec& spec) {
  CallOutcome outcome;
  outcome.run.a = spec.a;
  outcome.run.b = spec.b;
  outcome.run.c_before = spec.c;
  outcome.run.c_after = spec.c;
  const Budget::Spending spending(budget_of(spec_.box));
  if (spent(spec_.box)) {
    outcome.end = grader::CallEnd::hung;
    return outcome;
  }
  if (const RunnerFault fault = state_->start(spec_); !fault.none()) {
    adopt(fault, spec.entry, outcome);
    return outcome;
  }
  const auto entry = state_->find_entry(spec.entry);
  if (!entry) {
    adopt(no_entry(spec.entry), spec.entry, outcome);
    return outcome;
  }
  Exchange exchange(Exchange::size_for(spec.a, spec.b, spec.c));
  Call request;
  request.entry = *entry;
  request.a = exchange.put(spec.a);
  request.b = exchange.put(spec.b);
  request.c = exchange.put(spec.c);
  Done done;
  const Answer answer = state_->link->exchange(Kind::call, request, done, spec_.patience,
                                               {{exchange.file(), -1}, nullptr, nullptr});
  if (answer != Answer::reply) {
    adopt(state_->ended(answer), spec.entry, outcome);
    return outcome;
  }
  const RunnerFault fault = state_->judge(done);
  adopt(fault, spec.entry, outcome);
  if (done.end == gpu::protocol::RequestEnd::returned ||
      done.end == gpu::protocol::RequestEnd::refused ||
      done.end == gpu::protocol::RequestEnd::threw) {
    outcome.run.c_after.storage = exchange.get(request.c);
    outcome.run.a_after = spec.a;
    outcome.run.a_after->storage = exchange.get(request.a);
    outcome.run.b_after = spec.b;
    outcome.run.b_after->storage = exchange.get(request.b);
  }
  return outcome;
}

AskOutcome Runner::ask(const std::string& function) {
  AskOutcome outcome;
  const auto take_over = [&](const RunnerFault& fault) {
    outcome.end = fault.end;
    outcome.signal = fault.signal;
    outcome.exit_status = fault.exit_status;
    outcome.message = fault.message;
  };
  if (const RunnerFault fault = state_->start(spec_); !fault.none()) {
    take_over(fault);
    return outcome;
  }
  const auto entry = state_->find_entry(function);
  if (!entry) {
    take_over(no_entry(function));
    return outcome;
  }
  Ask request;
  request.entry = *entry;
  Done done;
  const Answer answer = state_->link->exchange(Kind::ask, request, done, spec_.patience);
  if (answer != Answer::reply) {
    take_over(state_->ended(answer));
    return outcome;
  }
  if (done.end == gpu::protocol::RequestEnd::returned) {
    outcome.answered = done.value != 0;
    outcome.answer = printable(done.text);
  } else {
    take_over(state_->judge(done));
  }
  return outcome;
}

RunnerFault Runner::open(const SharedArenas& arenas) {
  if (RunnerFault fault = state_->start(spec_); !fault.none()) return fault;
  Done done;
  const Answer answer = state_->link->exchange(
      Kind::open, arenas.layout, done, spec_.first_patience, {arenas.files, nullptr, nullptr});
  if (answer != Answer::reply) return state_->ended(answer);
  RunnerFault fault = state_->judge(done);
  if (fault.end == grader::CallEnd::infra && fault.code != 0)
    fault.message = "buffers cannot be shared with the runner (" + fault.name + ")";
  return fault;
}

TimedOutcome Runner::run(const std::string& entry, const std::vector<Launch>& launches) {
  TimedOutcome outcome;
  if (!state_->link) {
    outcome.fault.end = grader::CallEnd::infra;
    outcome.fault.message = "the runner was not given buffers";
    return outcome;
  }
  const auto number = state_->find_entry(entry);
  if (!number) {
    outcome.fault = no_entry(entry);
    return outcome;
  }
  const Budget::Spending spending(budget_of(spec_.box));
  if (spent(spec_.box)) {
    outcome.fault.end = grader::CallEnd::hung;
    return outcome;
  }
  const Batch batch{*number, fitting(launches)};
  Done done;
  const Answer answer = state_->link->exchange(Kind::batch, batch, done, spec_.patience,
                                               {wire::kNoFiles, nullptr, &outcome.sample.seconds});
  if (answer != Answer::reply) {
    outcome.sample = {};
    outcome.fault = state_->ended(answer);
    return outcome;
  }
  state_->link->pause();
  outcome.sample.device_seconds = done.device_ms > 0 ? done.device_ms / 1e3 : 0;
  outcome.sample.launches = static_cast<unsigned>(batch.launches.size());
  outcome.fault = state_->judge(done);
  return outcome;
}

Runner::Farewell Runner::finish(milliseconds patience) {
  Farewell farewell;
  if (!state_->link) return farewell;
  state_->link->resume();
  state_->link->close_socket();
  Process& process = state_->link->process();
  farewell.left = process.wait(patience);
  process.kill();
  farewell.status = process.status();
  farewell.output = process.output();
  farewell.errors = process.errors();
  state_->drop();
  return farewell;
}

}  // namespace grader::gpu
