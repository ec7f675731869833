#include "grader/gpu/worker.hpp"

#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "common/reference.hpp"
#include "grader/gpu/link.hpp"
#include "grader/os/escape.hpp"

namespace grader::gpu {
namespace {

using namespace protocol;

// As worker_main.cu lays matrices out.
constexpr std::uint64_t gap = 512;
std::uint64_t stride_of(std::uint64_t bytes) {
  return (bytes + gap - 1) / gap * gap + gap;
}

std::uint64_t elements(int rows, int cols) {
  return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols);
}

}  // namespace

std::uint64_t Problem::bytes_a() const {
  return elements(m, k) * size_of(type);
}
std::uint64_t Problem::bytes_b() const {
  return elements(k, n) * size_of(type);
}
std::uint64_t Problem::bytes_c() const {
  return elements(m, n) * result_size_of(type);
}

Type wire_type(const std::string& type, bool tf32) {
  if (tf32) return Type::tf32;
  if (type == "int32") return Type::int32;
  if (type == "float") return Type::float32;
  if (type == "double") return Type::float64;
  if (type == "half") return Type::float16;
  if (type == "bfloat16") return Type::bfloat16;
  throw std::invalid_argument("no element type is named " + type);
}

std::string type_name(Type type) {
  switch (type) {
    case Type::int32:
      return "int32";
    case Type::float32:
      return "float";
    case Type::float64:
      return "double";
    case Type::float16:
      return "half";
    case Type::bfloat16:
      return "bfloat16";
    case Type::tf32:
      return "tf32";
  }
  return "?";
}

double allowed_units(Type type) {
  return type == Type::float16 || type == Type::bfloat16 || type == Type::tf32 ? kAllowedTensorUnits
                                                                               : kAllowedUnits;
}

std::uint64_t bytes_of(const Problem& problem, const Buffers& buffers) {
  return buffers.a * stride_of(problem.bytes_a()) + buffers.b * stride_of(problem.bytes_b()) +
         (std::uint64_t{buffers.c} + buffers.own) * stride_of(problem.bytes_c());
}

struct TimingWorker::State {
  explicit State(const WorkerSpec& given) : spec(given) {}
  WorkerSpec spec;
  std::unique_ptr<Link> link;
  DeviceInfo info;
  Problem problem;
  Buffers buffers;
  Arenas arenas;
  std::array<UniqueFd, wire::kMaxFiles> files;  ///< of the arenas

  [[noreturn]] void fail(Answer answer, const char* during) {
    Process& process = link->process();
    const bool dead = process.wait(std::chrono::milliseconds(answer == Answer::closed ? 5000 : 0));
    process.kill();
    std::string end = answer == Answer::silent ? "did not answer" : "sent nonsense";
    if (dead)
      end = WIFSIGNALED(process.status())
                ? "died of " + signal_name(WTERMSIG(process.status()))
                : fmt::format("left with status {}", WEXITSTATUS(process.status()));
    const std::string said = printable(process.errors());
    throw InfraError(fmt::format("the timing worker {} ({}){}{}", end, during,
                                 said.empty() ? "" : ": ", first_bytes(said, 400)));
  }

  template <typename Reply, typename Request>
  Reply ask(Kind kind, const Request& body, const char* during, const Extras& extras = {}) {
    Reply reply;
    const Answer answer = link->exchange(kind, body, reply, spec.patience, extras);
    if (answer != Answer::reply) fail(answer, during);
    return reply;
  }

  DeviceInfo ask_info() {
    const Info got = ask<Info>(Kind::info, Nothing{}, "asked for the device");
    DeviceInfo device;
    device.name = printable(got.name);
    device.uuid = printable(got.uuid);
    device.major = got.major;
    device.minor = got.minor;
    device.multiprocessors = got.multiprocessors;
    device.clock_khz = got.clock_khz;
    device.driver = got.driver;
    device.runtime = got.runtime;
    device.cublas = got.cublas;
    device.cublas_path = printable(got.cublas_path);
    device.sharing = got.sharing;
    device.l2_bytes = got.l2_bytes;
    device.memory_total = got.memory_total;
    device.memory_free = got.memory_free;
    return device;
  }
};

TimingWorker::TimingWorker(WorkerSpec spec) : state_(std::make_unique<State>(spec)) {
  ProcessSpec process;
  process.argv = {spec.program};
  process.argv.insert(process.argv.end(), spec.without.begin(), spec.without.end());
  process.environment = gpu_environment();
  state_->link = std::make_unique<Link>(std::move(process));
  state_->info = state_->ask_info();
}

TimingWorker::~TimingWorker() = default;

const DeviceInfo& TimingWorker::info() const {
  return state_->info;
}
const Problem& TimingWorker::problem() const {
  return state_->problem;
}
const Buffers& TimingWorker::buffers() const {
  return state_->buffers;
}
SharedArenas TimingWorker::arenas() const {
  return {state_->arenas, {state_->files[0].get(), state_->files[1].get()}};
}

std::uint64_t TimingWorker::free_memory() {
  return state_->ask_info().memory_free;
}

void TimingWorker::prepare(const Problem& problem, const Buffers& buffers) {
  Allocate request;
  request.type = problem.type;
  request.m = problem.m;
  request.n = problem.n;
  request.k = problem.k;
  request.count_a = buffers.a;
  request.count_b = buffers.b;
  request.count_c = buffers.c;
  request.count_own = buffers.own;
  // Before: whoever has a file of a buffer keeps its memory.
  for (UniqueFd& file : state_->files) file.reset();
  std::array<UniqueFd, wire::kMaxFiles> files;
  const auto reply = state_->ask<Allocated>(Kind::allocate, request, "making buffers",
                                            {wire::kNoFiles, &files, nullptr});
  if (reply.done.end == RequestEnd::memory) {
    state_->buffers = {};
    throw DeviceMemoryShort(reply.done.value, reply.free_before);
  }
  if (reply.done.end != RequestEnd::returned) throw InfraError("the timing worker made no buffers");
  if (reply.done.code != 0) state_->info.sharing = Sharing::none;
  state_->files = std::move(files);
  state_->problem = problem;
  state_->buffers = buffers;
  state_->arenas = reply.arenas;
}

void TimingWorker::fill(std::uint64_t seed, bool inputs, bool outputs) {
  Fill request;
  request.seed = seed;
  request.inputs = inputs;
  request.outputs = outputs;
  state_->ask<Done>(Kind::fill, request, "filling matrices");
}

bool TimingWorker::has(Yardstick yardstick) const {
  return yardstick == Yardstick::naive ||
         (state_->info.cublas != 0 && state_->problem.type != Type::int32);
}

Sample TimingWorker::run(Yardstick yardstick, const std::vector<Launch>& launches) {
  const Batch batch{static_cast<std::uint32_t>(yardstick), fitting(launches)};
  Sample sample;
  const char* const name = yardstick == Yardstick::naive ? "the naive kernel" : "cuBLAS";
  const Done done =
      state_->ask<Done>(Kind::batch, batch, name, {wire::kNoFiles, nullptr, &sample.seconds});
  if (done.end != RequestEnd::returned)
    throw InfraError(
        fmt::format("{} did not run ({}, status {})", name, printable(done.call), done.code));
  sample.device_seconds = done.device_ms / 1e3;
  sample.launches = static_cast<unsigned>(batch.launches.size());
  return sample;
}

OutputCheck TimingWorker::verify(std::uint64_t seed, const std::vector<Launch>& launches,
                                 bool own) {
  Verify request;
  request.seed = seed;
  request.allowed_units = allowed_units(state_->problem.type);
  request.own = own;
  request.launches = fitting(launches);
  const auto reply = state_->ask<Verified>(Kind::verify, request, "verifying outputs");
  if (reply.done.end != RequestEnd::returned)
    throw InfraError("the timing worker could not verify outputs");
  OutputCheck result;
  result.fault = reply.fault;
  result.launch = reply.launch;
  result.row = reply.row;
  result.col = reply.col;
  result.unwritten = reply.unwritten;
  result.wrong_launches = reply.wrong_launches;
  result.residual = reply.residual;
  result.allowed = reply.allowed;
  result.errors = {reply.worst_error, reply.sum_of_errors, reply.elements};
  return result;
}

std::uint64_t TimingWorker::checksum() {
  return state_->ask<Done>(Kind::checksum, Nothing{}, "summing outputs").value;
}

}  // namespace grader::gpu
