#include "common/simgpu/runtime/server/server.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "common/simgpu/include/driver_types.h"
#include "common/simgpu/runtime/server/names.hpp"
#include "common/simgpu/runtime/status_code.hpp"
#include "common/simgpu/runtime/wire/channel.hpp"

namespace simgpu::runtime {
namespace {

using wire::Channel;
using wire::Message;
using wire::Received;
using wire::Reply;
using wire::Type;

constexpr std::size_t kMaxErrors = 64;
constexpr std::size_t kMaxRefusals = 64;
constexpr std::size_t kMaxTransfers = 100000;
constexpr std::size_t kMaxEntries = 1024;

/// A request that is not allowed or not possible: what the program's call will return, and why.
struct Failure {
  int code;
  std::string why;
};

/// What a request may do with the memory at an address.
enum class Owner { runner, input, output, variable, nobody };

struct Scratch {
  std::uint64_t bytes = 0;
  bool from_host = false;  ///< received host data, directly or through a copy
};

}  // namespace

struct Server::Impl {
  Impl(Device& d, std::vector<ModuleId> m, Policy p, int fd)
      : device(d), modules(std::move(m)), policy(std::move(p)), channel(fd) {}

  /// A kernel and the module it is in.
  struct Kernel {
    KernelInfo info;
    ModuleId module;
  };

  Device& device;
  std::vector<ModuleId> modules;  ///< one per source file; the first that has a name, has it
  Policy policy;
  Channel channel;
  std::map<DevicePtr, Role> roles;
  std::map<DevicePtr, Scratch> scratch;    ///< the runner's allocations, by base
  std::map<DevicePtr, Scratch> variables;  ///< of the modules, by base
  std::map<std::string, Kernel, std::less<>> kernels;
  std::uint64_t scratch_bytes = 0, scratch_count = 0;
  std::uint32_t sequence = 0;  ///< of the last message received

  // Of the current call:
  CallResult result;
  unsigned requests = 0, launches = 0;
  std::uint64_t host_bytes = 0, transfer_bytes = 0;
  bool device_lost = false;
  Patience extra{};                 ///< beyond the patience, for a starved runner
  std::optional<ApiError> pending;  ///< the last failure, until the runner says which call it was

  // -------------------------------------------------------------------------------------
  // conversation

  /// Waits for a message, counting the wait against `left`. `outcome` says what else came.
  bool receive(Message& message, Patience& left, Outcome& outcome, std::string& problem) {
    const auto start = Channel::Clock::now();
    Received received = channel.receive(message, start + left, problem);
    // A look four times a second: who is kept from running today may get the processor in a moment.
    while (received == Received::timeout && extra > Patience::zero() && policy.starved &&
           policy.starved()) {
      const Patience more = std::min<Patience>(extra, std::chrono::milliseconds(250));
      extra -= more;
      received = channel.receive(message, Channel::Clock::now() + more, problem);
    }
    left -= std::min<Patience>(left, Channel::Clock::now() - start);
    switch (received) {
      case Received::closed:
        outcome = Outcome::closed;
        return false;
      case Received::timeout:
        outcome = Outcome::timeout;
        return false;
      case Received::garbage:
        outcome = Outcome::protocol;
        return false;
      case Received::message:
        break;
    }
    outcome = Outcome::protocol;
    if (message.header.type >= static_cast<std::uint16_t>(Type::call)) {
      problem = "the runner sent a message that only the worker may send";
      return false;
    }
    if (message.header.sequence != sequence + 1) {
      problem = "a message is out of sequence";
      return false;
    }
    sequence = message.header.sequence;
    if (channel.has_input()) {
      problem = "the runner sent more than one message at a time";
      return false;
    }
    return true;
  }

  void begin_call() {
    result = {};
    requests = launches = 0;
    host_bytes = transfer_bytes = 0;
    device_lost = false;
    pending.reset();
  }

  CallResult serve(const Message& first, Patience left) {
    Outcome outcome = Outcome::returned;
    if (channel.has_input()) {
      result.message = "the runner sent something before it was called";
      outcome = Outcome::protocol;
    } else if (!channel.send(first)) {
      outcome = Outcome::closed;
    } else {
      Message message;
      while (receive(message, left, outcome, result.message)) {
        if (message.type() == Type::returned) {
          const auto body = message.body<wire::Returned>();
          result.last_error = body.last_error;
          result.answered = body.answered != 0;
          result.answer = wire::text(message.tail<wire::Returned>());
          outcome = Outcome::returned;
          break;
        }
        if (message.type() == Type::threw) {
          result.message = wire::text(message.tail<wire::Threw>());
          outcome = Outcome::threw;
          break;
        }
        if (message.type() == Type::hello) {
          result.message = "the runner introduced itself twice";
          outcome = Outcome::protocol;
          break;
        }
        if (++requests > policy.requests) {
          result.message = "more than " + std::to_string(policy.requests) + " CUDA calls";
          outcome = Outcome::protocol;
          break;
        }
        Message reply;
        if (!answer(message, reply)) {
          outcome = Outcome::protocol;
          break;
        }
        reply.header.sequence = sequence;
        if (!channel.send(reply)) {
          outcome = Outcome::closed;
          break;
        }
      }
    }
    settle_pending();
    result.outcome = outcome;
    result.live_allocations = scratch_count;
    result.live_bytes = scratch_bytes;
    return std::move(result);
  }

  // -------------------------------------------------------------------------------------
  // bookkeeping

  void refuse(const std::string& call, const std::string& reason, bool unsupported) {
    for (Refusal& known : result.refused) {
      if (known.call == call && known.reason == reason) {
        ++known.times;
        return;
      }
    }
    if (result.refused.size() < kMaxRefusals)
      result.refused.push_back({call, reason, unsupported, 1});
  }

  /// A rule of grading says no.
  [[noreturn]] void forbid(const std::string& call, const std::string& reason) {
    refuse(call, reason, false);
    throw Failure{cudaErrorNotPermitted, reason};
  }

  void settle_pending() {
    if (pending && result.errors.size() < kMaxErrors) result.errors.push_back(std::move(*pending));
    pending.reset();
  }

  Owner owner(DevicePtr ptr, std::uint64_t bytes, DevicePtr& base) {
    const auto found = device.find(ptr);
    if (!found) throw Failure{cudaErrorInvalidValue, "the address is not device memory"};
    base = found->base;
    const std::uint64_t offset = ptr - found->base;
    if (offset > found->bytes || bytes > found->bytes - offset) {
      throw Failure{cudaErrorInvalidValue, std::to_string(bytes) + " bytes at offset " +
                                               std::to_string(offset) +
                                               " do not fit into an allocation of " +
                                               std::to_string(found->bytes) + " bytes"};
    }
    if (scratch.count(base)) return Owner::runner;
    if (const auto role = roles.find(base); role != roles.end()) {
      return role->second == Role::input ? Owner::input : Owner::output;
    }
    return variables.count(base) ? Owner::variable : Owner::nobody;
  }

  Scratch& tainted(DevicePtr base) {
    const auto own = scratch.find(base);
    return own != scratch.end() ? own->second : variables[base];
  }

  bool from_host(DevicePtr base) const {
    if (const auto own = scratch.find(base); own != scratch.end()) return own->second.from_host;
    const auto variable = variables.find(base);
    return variable != variables.end() && variable->second.from_host;
  }

  void count_transfer(Transfer::Kind kind, DevicePtr dst, DevicePtr src, std::uint64_t bytes) {
    transfer_bytes += bytes;
    if (transfer_bytes > policy.transfer_bytes) {
      forbid("cudaMemcpy, cudaMemset",
             "one call may move at most " + std::to_string(policy.transfer_bytes) + " bytes");
    }
    if (result.transfers.size() < kMaxTransfers) {
      result.transfers.push_back({kind, dst, src, bytes});
    } else {
      // The list is full: lump the rest together, so that no byte goes uncounted.
      result.transfers.back().bytes += bytes;
    }
  }

  const Kernel& kernel(std::string_view mangled) {
    if (const auto found = kernels.find(mangled); found != kernels.end()) return found->second;
    for (const ModuleId module : modules)
      if (auto info = device.kernel(module, mangled))
        return kernels.emplace(std::string(mangled), Kernel{std::move(*info), module})
            .first->second;
    throw Failure{cudaErrorInvalidDeviceFunction, "the submitted code has no such kernel"};
  }

  // ------------------------------------------------------------------------------------------
  // requests

  /// False if the message breaks the protocol (`result.message` says how).
  bool answer(const Message& message, Message& reply) {
    Reply body;
    std::vector<std::byte> tail;
    try {
      if (!dispatch(message, body, tail)) return false;
    } catch (const Failure& failure) {
      body = {};
      body.code = failure.code;
      note_failure(message, failure.code, failure.why);
    } catch (const DeviceError& error) {
      body = {};
      body.code = code_of(error.status);
      note_failure(message, body.code, error.what());
    } catch (const std::bad_alloc&) {
      body = {};
      body.code = cudaErrorMemoryAllocation;
      note_failure(message, body.code, "the judge has not that much memory");
    }
    reply = wire::make(Type::reply, 0, body, {tail});
    return true;
  }

  void note_failure(const Message& message, int code, const std::string& why) {
    settle_pending();
    if (code == cudaErrorNotPermitted) return;  // among the refusals already
    ApiError error;
    error.code = code;
    error.name = name_of(code);
    error.message = why;
    switch (message.type()) {
      case Type::allocate:
        error.call = "cudaMalloc";
        break;
      case Type::release:
        error.call = "cudaFree";
        break;
      case Type::fill:
        error.call = "cudaMemset";
        break;
      case Type::find:
        return;  // "not device memory" is an answer
      case Type::launch: {
        const auto body = message.body<wire::Launch>();
        error.call = "kernel launch";
        error.grid = {body.grid[0], body.grid[1], body.grid[2]};
        error.block = {body.block[0], body.block[1], body.block[2]};
        error.shared_bytes = body.shared_bytes;
        const auto name = wire::text(message.tail<wire::Launch>().first(body.name_bytes));
        const auto known = kernels.find(name);
        error.kernel = known == kernels.end() ? std::string(name) : known->second.info.name;
        break;
      }
      default:
        error.call = "cudaMemcpy";
        break;
    }
    pending = std::move(error);
  }

  bool dispatch(const Message& message, Reply& reply, std::vector<std::byte>& tail) {
    switch (message.type()) {
      case Type::allocate:
        allocate(message.body<wire::Allocate>(), reply);
        return true;
      case Type::release:
        release(message.body<wire::Release>());
        return true;
      case Type::fill:
        fill(message.body<wire::Fill>());
        return true;
      case Type::copy:
        copy(message.body<wire::Copy>());
        return true;
      case Type::copy_in:
        copy_in(message.body<wire::CopyIn>(), message.tail<wire::CopyIn>());
        return true;
      case Type::copy_out:
        forbid("cudaMemcpy (device to host)",
               "launchers are graded without a look at the data: nothing may be copied back to the "
               "host");
      case Type::find:
        find(message.body<wire::Find>(), reply);
        return true;
      case Type::memory_info:
        // Constant but for the runner's own allocations.
        reply.value[1] = policy.live_bytes;
        reply.value[0] = policy.live_bytes - std::min(policy.live_bytes, scratch_bytes);
        return true;
      case Type::variable:
        variable(wire::text(message.tail<wire::Variable>()), reply);
        return true;
      case Type::kernel_info:
        kernel_info(wire::text(message.tail<wire::KernelInfo>()), tail);
        return true;
      case Type::set_max_dynamic_shared: {
        const auto body = message.body<wire::SetMaxDynamicShared>();
        const auto& [info, module] = kernel(wire::text(message.tail<wire::SetMaxDynamicShared>()));
        device.set_max_dynamic_shared(module, info.mangled, body.bytes);
        return true;
      }
      case Type::launch:
        return launch(message);
      case Type::note_unsupported:
        note_unsupported(message);
        return true;
      case Type::note_error:
        note_error(message);
        return true;
      case Type::model:
        model(tail);
        return true;
      default:
        break;
    }
    result.message =
        "a message of type " + std::to_string(message.header.type) + " in the wrong place";
    return false;
  }

  void allocate(const wire::Allocate& request, Reply& reply) {
    if (request.bytes == 0) throw Failure{cudaErrorInvalidValue, "an allocation of 0 bytes"};
    if (scratch_count >= policy.live_allocations) {
      throw Failure{cudaErrorMemoryAllocation, "there are " + std::to_string(scratch_count) +
                                                   " allocations already; free some"};
    }
    if (request.bytes > policy.live_bytes - std::min(policy.live_bytes, scratch_bytes)) {
      throw Failure{cudaErrorMemoryAllocation, std::to_string(request.bytes) +
                                                   " bytes asked for, " +
                                                   std::to_string(scratch_bytes) + " in use, " +
                                                   std::to_string(policy.live_bytes) + " allowed"};
    }
    const DevicePtr ptr =
        device.alloc(request.bytes, "scratch " + std::to_string(++scratch_serial));
    scratch[ptr] = {request.bytes, false};
    scratch_bytes += request.bytes;
    ++scratch_count;
    reply.value[0] = ptr;
  }

  void release(const wire::Release& request) {
    const auto own = scratch.find(request.ptr);
    if (own == scratch.end()) {
      if (roles.count(request.ptr)) {
        forbid("cudaFree", "a, b and c belong to the caller: free only what you allocated");
      }
      throw Failure{cudaErrorInvalidValue,
                    "the pointer does not come from cudaMalloc, or was freed before"};
    }
    device.free(request.ptr);
    scratch_bytes -= own->second.bytes;
    --scratch_count;
    scratch.erase(own);
  }

  void fill(const wire::Fill& request) {
    DevicePtr base = 0;
    switch (owner(request.dst, request.bytes, base)) {
      case Owner::runner:
      case Owner::variable:
      case Owner::output:
        break;
      case Owner::input:
        forbid("cudaMemset", "the inputs a and b must stay as they are");
      case Owner::nobody:
        throw Failure{cudaErrorInvalidValue, "the address is not yours"};
    }
    count_transfer(Transfer::Kind::fill, request.dst, 0, request.bytes);
    if (!device_lost) {
      device.fill(request.dst, static_cast<std::byte>(request.value & 0xff), request.bytes);
    }
  }

  void copy(const wire::Copy& request) {
    DevicePtr dst_base = 0, src_base = 0;
    const Owner from = owner(request.src, request.bytes, src_base);
    if (from == Owner::nobody)
      throw Failure{cudaErrorInvalidValue, "the source address is not yours"};
    switch (owner(request.dst, request.bytes, dst_base)) {
      case Owner::runner:
      case Owner::variable:
        if (from_host(src_base)) tainted(dst_base).from_host = true;
        break;
      case Owner::output:
        if (from_host(src_base)) {
          forbid("cudaMemcpy (device to device)",
                 "c must be computed by kernels: data that came from the host cannot be copied "
                 "into it");
        }
        break;
      case Owner::input:
        forbid("cudaMemcpy (device to device)", "the inputs a and b must stay as they are");
      case Owner::nobody:
        throw Failure{cudaErrorInvalidValue, "the destination address is not yours"};
    }
    count_transfer(Transfer::Kind::copy, request.dst, request.src, request.bytes);
    if (!device_lost) device.copy(request.dst, request.src, request.bytes);
  }

  void copy_in(const wire::CopyIn& request, std::span<const std::byte> data) {
    DevicePtr base = 0;
    switch (owner(request.dst, data.size(), base)) {
      case Owner::runner:
      case Owner::variable:
        break;
      case Owner::input:
        forbid("cudaMemcpy (host to device)", "the inputs a and b must stay as they are");
      case Owner::output:
        forbid("cudaMemcpy (host to device)",
               "c must be computed by kernels: nothing can be copied into it from the host");
      case Owner::nobody:
        throw Failure{cudaErrorInvalidValue, "the address is not yours"};
    }
    host_bytes += data.size();
    if (host_bytes > policy.host_to_device_bytes) {
      forbid("cudaMemcpy (host to device)", "one call may bring at most " +
                                                std::to_string(policy.host_to_device_bytes) +
                                                " bytes from the host");
    }
    count_transfer(Transfer::Kind::from_host, request.dst, 0, data.size());
    tainted(base).from_host = true;
    if (!device_lost) device.write(request.dst, data);
  }

  void find(const wire::Find& request, Reply& reply) {
    // Only what the runner may know of: its own memory, variables, and the matrices.
    const auto found = device.find(request.ptr);
    if (!found ||
        !(scratch.count(found->base) || roles.count(found->base) || variables.count(found->base))) {
      throw Failure{cudaErrorInvalidValue, ""};
    }
    reply.value[0] = found->base;
    reply.value[1] = found->bytes;
  }

  void variable(std::string_view mangled, Reply& reply) {
    std::size_t bytes = 0;
    DevicePtr ptr = 0;
    for (std::size_t i = 0; i < modules.size() && ptr == 0; ++i)
      ptr = device.variable(modules[i], mangled, &bytes);
    if (ptr == 0) {
      throw Failure{
          cudaErrorInvalidSymbol,
          "the compiler left the variable out: no kernel uses it, or it stands in an unnamed "
          "namespace (write static instead)"};
    }
    // Where the device keeps several variables in one piece, they share what is known of that
    // piece.
    const auto found = device.find(ptr);
    variables.try_emplace(found ? found->base : ptr, Scratch{bytes, false});
    reply.value[0] = ptr;
    reply.value[1] = bytes;
  }

  void kernel_info(std::string_view mangled, std::vector<std::byte>& tail) {
    const KernelInfo& info = kernel(mangled).info;
    if (info.params.size() > wire::kMaxParams || info.param_bytes > wire::kMaxArguments) {
      throw Failure{cudaErrorInvalidDeviceFunction, "the kernel has too many parameters"};
    }
    wire::KernelFacts facts;
    facts.param_bytes = info.param_bytes;
    facts.static_shared = info.static_shared_bytes;
    facts.local_bytes = info.local_bytes_per_thread;
    facts.const_bytes = info.const_bytes;
    facts.max_threads = info.max_threads_per_block;
    facts.live_registers = info.live_registers;
    facts.params = static_cast<std::uint32_t>(info.params.size());
    append(tail, facts);
    for (const KernelParam& param : info.params) {
      append(tail, wire::Param{param.offset, param.size, param.align});
    }
  }

  bool launch(const Message& message) {
    const auto body = message.body<wire::Launch>();
    const auto tail = message.tail<wire::Launch>();
    if (body.name_bytes > wire::kMaxName || body.argument_bytes > wire::kMaxArguments ||
        static_cast<std::size_t>(body.name_bytes) + body.argument_bytes != tail.size()) {
      result.message = "a launch request whose parts do not add up";
      return false;
    }
    const std::string name(wire::text(tail.first(body.name_bytes)));
    const auto args = tail.subspan(body.name_bytes);
    const auto& [info, module] = kernel(name);
    if (++launches > policy.launches) {
      forbid("kernel launch",
             "one call may launch at most " + std::to_string(policy.launches) + " kernels");
    }
    const Dim3 grid{body.grid[0], body.grid[1], body.grid[2]};
    const Dim3 block{body.block[0], body.block[1], body.block[2]};
    if (device_lost) {
      // As on hardware: after a fault nothing runs any more, and the program has yet to hear of it.
      device.validate_launch(module, info.mangled, grid, block, body.shared_bytes, args.size());
      ++result.skipped_launches;
      return true;
    }
    LaunchReport report =
        device.launch(module, info.mangled, grid, block, body.shared_bytes, args, policy.launch);
    device_lost = !report.completed;
    result.launches.push_back(std::move(report));
    return true;
  }

  /// "call, NUL, why" as the runner's API wrote it.
  static std::pair<std::string, std::string> two_texts(std::span<const std::byte> tail) {
    const std::string_view both = wire::text(tail);
    const auto end = both.find('\0');
    if (end == std::string_view::npos) return {std::string(both), ""};
    return {std::string(both.substr(0, end)), std::string(both.substr(end + 1))};
  }

  void note_unsupported(const Message& message) {
    auto [call, why] = two_texts(message.tail<wire::NoteUnsupported>());
    refuse(call, why, true);
  }

  void note_error(const Message& message) {
    const int code = message.body<wire::NoteError>().code;
    auto [call, why] = two_texts(message.tail<wire::NoteError>());
    // A failure of a request comes with the server's own words; only the call's name is news.
    if (pending && pending->code == code && why.empty()) {
      pending->call = std::move(call);
      settle_pending();
      return;
    }
    settle_pending();
    if (code == cudaErrorNotPermitted || result.errors.size() >= kMaxErrors) return;
    ApiError error;
    error.call = std::move(call);
    error.code = code;
    error.name = name_of(code);
    error.message = std::move(why);
    result.errors.push_back(std::move(error));
  }

  void model(std::vector<std::byte>& tail) {
    const DeviceModel& m = device.model();
    wire::ModelFacts facts;
    facts.compute_major = m.compute_major;
    facts.compute_minor = m.compute_minor;
    facts.multiprocessors = m.multiprocessors;
    facts.max_threads_per_block = m.max_threads_per_block;
    const Dim3 extents[] = {m.max_block, m.max_grid};
    std::uint32_t* const fields[] = {facts.max_block, facts.max_grid};
    for (int i = 0; i < 2; ++i) {
      fields[i][0] = extents[i].x;
      fields[i][1] = extents[i].y;
      fields[i][2] = extents[i].z;
    }
    facts.shared_per_block = m.shared_bytes_per_block;
    facts.shared_per_block_optin = m.shared_bytes_per_block_optin;
    facts.shared_per_multiprocessor = m.shared_bytes_per_multiprocessor;
    facts.registers_per_multiprocessor = m.registers_per_multiprocessor;
    facts.registers_per_thread = m.registers_per_thread;
    facts.threads_per_multiprocessor = m.threads_per_multiprocessor;
    facts.blocks_per_multiprocessor = m.blocks_per_multiprocessor;
    facts.global_bytes = m.global_bytes;
    m.name.copy(facts.name, sizeof facts.name - 1);
    append(tail, facts);
  }

  template <typename T>
  static void append(std::vector<std::byte>& tail, const T& value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    tail.insert(tail.end(), bytes, bytes + sizeof value);
  }

  std::uint64_t scratch_serial = 0;
};

Server::Server(Device& device, std::vector<ModuleId> modules, Policy policy, int fd)
    : impl_(std::make_unique<Impl>(device, std::move(modules), std::move(policy), fd)) {}

Server::~Server() = default;

Policy& Server::policy() {
  return impl_->policy;
}

void Server::protect(DevicePtr base, Role role) {
  impl_->roles[base] = role;
}
void Server::unprotect(DevicePtr base) {
  impl_->roles.erase(base);
}

Server::Hello Server::wait_hello(Patience patience) {
  Hello hello;
  Message message;
  impl_->extra = (kStarvedPatience - 1) * patience;
  if (!impl_->receive(message, patience, hello.outcome, hello.message)) return hello;
  hello.outcome = Outcome::protocol;
  if (message.type() != Type::hello) {
    hello.message = "the runner called CUDA before it introduced itself";
    return hello;
  }
  const auto body = message.body<wire::Hello>();
  std::string_view names = wire::text(message.tail<wire::Hello>());
  if (body.entries > kMaxEntries ||
      static_cast<std::size_t>(std::count(names.begin(), names.end(), '\0')) != body.entries ||
      (!names.empty() && names.back() != '\0')) {
    hello.message = "the runner's table of entries is malformed";
    return hello;
  }
  while (!names.empty()) {
    const auto end = names.find('\0');
    hello.entries.emplace_back(names.substr(0, end));
    names.remove_prefix(end + 1);
  }
  hello.outcome = Outcome::returned;
  return hello;
}

CallResult Server::call(std::uint32_t entry, const View& a, const View& b, const View& c,
                        Patience patience) {
  impl_->begin_call();
  impl_->extra = (kStarvedPatience - 1) * patience;
  const auto view = [](const View& v) { return wire::View{v.data, v.rows, v.cols, v.ld, 0}; };
  wire::Call call;
  call.entry = entry;
  call.a = view(a);
  call.b = view(b);
  call.c = view(c);
  return impl_->serve(wire::make(Type::call, 0, call), patience);
}

CallResult Server::ask(std::uint32_t entry, Patience patience) {
  impl_->begin_call();
  impl_->extra = (kStarvedPatience - 1) * patience;
  return impl_->serve(wire::make(Type::ask, 0, wire::Ask{entry, 0}), patience);
}

void Server::free_runner_allocations() {
  for (const auto& [base, scratch] : impl_->scratch) impl_->device.free(base);
  impl_->scratch.clear();
  impl_->scratch_bytes = impl_->scratch_count = 0;
}

void Server::dismiss() {
  impl_->channel.send(wire::make(Type::goodbye, 0, wire::Goodbye{}));
}

}  // namespace simgpu::runtime
