#include "common/simgpu/runtime/server/server.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "common/simgpu/include/driver_types.h"
#include "common/simgpu/runtime/protocol.hpp"
#include "common/simgpu/runtime/server/names.hpp"
#include "common/simgpu/runtime/server/report_limits.hpp"
#include "common/simgpu/runtime/status_code.hpp"

namespace simgpu::runtime {
namespace {

using protocol::Kind;
using protocol::Reply;
using wire::Message;
using wire::Received;

constexpr std::size_t kMaxErrors = 64, kMaxRefusals = 64, kMaxTransfers = 100000;
/// Bytes that even the shortest row of a copy counts as: it takes as long as they would.
constexpr std::uint64_t kLeastTransfer = 256;
/// The work of a product is the same in many launches as in one; this leaves room for waste.
constexpr std::uint64_t kCallBudget = 4;  ///< times the budget of a launch
/// A runner that does not read for so long is gone.
constexpr std::chrono::seconds kSendPatience{10};

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
      : device(d), modules(std::move(m)), policy(std::move(p)), channel(fd, protocol::kProtocol) {}

  /// A kernel and the module it is in.
  struct Kernel {
    KernelInfo info;
    ModuleId module;
  };

  Device& device;
  std::vector<ModuleId> modules;  ///< one per source file; the first that has a name, has it
  Policy policy;
  wire::Channel channel;
  std::map<DevicePtr, Role> roles;
  std::map<DevicePtr, Scratch> scratch;    ///< the runner's allocations, by base
  std::map<DevicePtr, Scratch> variables;  ///< of the modules, by base
  std::map<std::string, Kernel, std::less<>> kernels;
  std::uint64_t scratch_bytes = 0, scratch_count = 0;
  std::uint32_t serial = 0;  ///< of the last message received

  // Of the current call:
  CallResult result;
  unsigned requests = 0, launches = 0;
  std::uint64_t host_bytes = 0, transfer_bytes = 0, argument_bytes = 0;
  std::uint64_t instructions = 0;
  ReportLimits report_limits;
  bool device_lost = false;
  Patience extra{};                 ///< beyond the patience, for a starved runner
  std::optional<ApiError> pending;  ///< the last failure, until the runner says which call it was

  // -------------------------------------------------------------------------------------
  // conversation

  /// Waits for a message, counting the wait against `left`. `outcome` says what else came.
  bool receive(Message& message, Patience& left, Outcome& outcome, std::string& problem) {
    const auto start = wire::Clock::now();
    Received received = channel.receive(message, start + left);
    // A look four times a second: who is kept from running today may get the processor in a moment.
    while (received == Received::timeout && extra > Patience::zero() && policy.starved &&
           policy.starved()) {
      const Patience more = std::min<Patience>(extra, std::chrono::milliseconds(250));
      extra -= more;
      received = channel.receive(message, wire::Clock::now() + more);
    }
    left -= std::min<Patience>(left, wire::Clock::now() - start);
    switch (received) {
      case Received::closed:
        outcome = Outcome::closed;
        return false;
      case Received::timeout:
        outcome = Outcome::timeout;
        return false;
      case Received::garbage:
        outcome = Outcome::protocol;
        problem = channel.problem();
        return false;
      case Received::message:
        break;
    }
    outcome = Outcome::protocol;
    if (message.kind >= static_cast<std::uint16_t>(Kind::call)) {
      problem = "the runner sent a message that only the worker may send";
      return false;
    }
    if (message.serial != serial + 1) {
      problem = "a message is out of sequence";
      return false;
    }
    serial = message.serial;
    if (channel.has_input()) {
      problem = "the runner sent more than one message at a time";
      return false;
    }
    return true;
  }

  void begin_call() {
    result = {};
    requests = launches = 0;
    host_bytes = transfer_bytes = argument_bytes = instructions = 0;
    report_limits = {};
    device_lost = false;
    pending.reset();
  }

  CallResult serve(const Message& first, Patience left) {
    Outcome outcome = Outcome::returned;
    if (channel.has_input()) {
      result.message = "the runner sent something before it was called";
      outcome = Outcome::protocol;
    } else if (!send(first)) {
      outcome = Outcome::closed;
    } else {
      Message message;
      while (receive(message, left, outcome, result.message))
        if (!turn(message, outcome)) break;
    }
    settle_pending();
    result.outcome = outcome;
    result.live_allocations = scratch_count;
    result.live_bytes = scratch_bytes;
    return std::move(result);
  }

  bool send(const Message& message) {
    return channel.send(message, wire::Clock::now() + kSendPatience) == wire::Sent::all;
  }

  /// Takes what the runner says and answers it. False: the call is over, and `outcome` says how.
  bool turn(const Message& message, Outcome& outcome) {
    outcome = Outcome::protocol;
    try {
      switch (static_cast<Kind>(message.kind)) {
        case Kind::returned: {
          auto body = message.as<protocol::Returned>();
          result.last_error = body.last_error;
          result.answered = body.answered;
          result.answer = std::move(body.answer);
          outcome = Outcome::returned;
          return false;
        }
        case Kind::threw:
          result.message = message.as<protocol::Threw>().what;
          outcome = Outcome::threw;
          return false;
        case Kind::hello:
          result.message = "the runner introduced itself twice";
          return false;
        default:
          break;
      }
      if (++requests > policy.requests) {
        result.message = "more than " + std::to_string(policy.requests) + " CUDA calls";
        outcome = Outcome::timeout;  // a loop without an end, whichever limit it meets first
        return false;
      }
      if (send(wire::make(Kind::reply, serial, answer(message)))) return true;
      outcome = Outcome::closed;
    } catch (const wire::Error& error) {
      result.message = error.what();
    }
    return false;
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
    transfer_bytes += std::max(bytes, kLeastTransfer);
    if (transfer_bytes > policy.transfer_bytes) {
      forbid("cudaMemcpy, cudaMemset",
             "one call may move at most " + std::to_string(policy.transfer_bytes) + " bytes");
    }
    if (result.transfers.size() < kMaxTransfers) {
      result.transfers.push_back({kind, dst, src, bytes, result.launches.size()});
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

  /// Throws wire::Error if the message breaks the protocol.
  Reply answer(const Message& message) {
    Reply reply;
    try {
      dispatch(message, reply);
    } catch (const Failure& failure) {
      reply = {};
      reply.code = failure.code;
      note_failure(message, failure.code, failure.why);
    } catch (const DeviceError& error) {
      reply = {};
      reply.code = code_of(error.status);
      note_failure(message, reply.code, error.what());
    } catch (const std::bad_alloc&) {
      reply = {};
      reply.code = cudaErrorMemoryAllocation;
      note_failure(message, reply.code, "the judge has not that much memory");
    }
    return reply;
  }

  void note_failure(const Message& message, int code, const std::string& why) {
    settle_pending();
    if (code == cudaErrorNotPermitted) return;  // among the refusals already
    ApiError error;
    error.code = code;
    error.name = name_of(code);
    error.message = why;
    switch (static_cast<Kind>(message.kind)) {
      case Kind::allocate:
        error.call = "cudaMalloc";
        break;
      case Kind::release:
        error.call = "cudaFree";
        break;
      case Kind::fill:
        error.call = "cudaMemset";
        break;
      case Kind::find:
        return;  // "not device memory" is an answer
      case Kind::launch: {
        auto body = message.as<protocol::Launch>();
        error.call = "kernel launch";
        error.grid = body.grid;
        error.block = body.block;
        error.shared_bytes = body.shared_bytes;
        const auto known = kernels.find(body.mangled);
        error.kernel = known == kernels.end() ? std::move(body.mangled) : known->second.info.name;
        break;
      }
      default:
        error.call = "cudaMemcpy";
        break;
    }
    pending = std::move(error);
  }

  void dispatch(const Message& message, Reply& reply) {
    switch (static_cast<Kind>(message.kind)) {
      case Kind::allocate:
        return allocate(message.as<protocol::Allocate>(), reply);
      case Kind::release:
        return release(message.as<protocol::Address>());
      case Kind::fill:
        return fill(message.as<protocol::Fill>());
      case Kind::copy:
        return copy(message.as<protocol::Copy>());
      case Kind::copy_in:
        return copy_in(message.as<protocol::CopyIn>());
      case Kind::copy_out:
        forbid("cudaMemcpy (device to host)",
               "launchers are graded without a look at the data: nothing may be copied back to the "
               "host");
      case Kind::find:
        return find(message.as<protocol::Address>(), reply);
      case Kind::memory_info:
        // Constant but for the runner's own allocations.
        reply.value[1] = policy.live_bytes;
        reply.value[0] = policy.live_bytes - std::min(policy.live_bytes, scratch_bytes);
        return;
      case Kind::variable:
        return variable(message.as<protocol::Name>().mangled, reply);
      case Kind::kernel_info:
        reply.kernel = kernel_info(message.as<protocol::Name>().mangled);
        return;
      case Kind::set_max_dynamic_shared: {
        const auto body = message.as<protocol::SetMaxDynamicShared>();
        const auto& [info, module] = kernel(body.mangled);
        return device.set_max_dynamic_shared(module, info.mangled, body.bytes);
      }
      case Kind::launch:
        return launch(message.as<protocol::Launch>());
      case Kind::note_unsupported: {
        const auto note = message.as<protocol::Note>();
        return refuse(note.call, note.why, note.code == cudaSuccess);
      }
      case Kind::note_error:
        return note_error(message.as<protocol::Note>());
      case Kind::note_default_stream:
        return note_default_stream(message.as<protocol::Note>());
      case Kind::note_refused_map:
        result.refused_map = message.as<BrokenRule>();
        return;
      case Kind::model:
        reply.model = device.model();
        return;
      default:
        throw wire::Error("a message of kind " + std::to_string(message.kind) +
                          " in the wrong place");
    }
  }

  void allocate(const protocol::Allocate& request, Reply& reply) {
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

  void release(const protocol::Address& request) {
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

  void fill(const protocol::Fill& request) {
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

  void copy(const protocol::Copy& request) {
    const auto [dst, src, bytes, dst_pitch, src_pitch, rows] = request;
    if (rows != 1 && (bytes == 0 || std::min(dst_pitch, src_pitch) < bytes))
      throw Failure{cudaErrorInvalidPitchValue, "a row is wider than the pitch"};
    for (std::uint64_t row = 0; row < rows; ++row)
      copy_row(dst + row * dst_pitch, src + row * src_pitch, bytes);
  }
  void copy_row(DevicePtr dst, DevicePtr src, std::uint64_t bytes) {
    DevicePtr dst_base = 0, src_base = 0;
    const Owner from = owner(src, bytes, src_base);
    if (from == Owner::nobody)
      throw Failure{cudaErrorInvalidValue, "the source address is not yours"};
    switch (owner(dst, bytes, dst_base)) {
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
    count_transfer(Transfer::Kind::copy, dst, src, bytes);
    if (!device_lost) device.copy(dst, src, bytes);
  }

  void copy_in(const protocol::CopyIn& request) {
    const std::span<const std::byte> data = request.data;
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

  void find(const protocol::Address& request, Reply& reply) {
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

  const KernelInfo& kernel_info(std::string_view mangled) {
    const KernelInfo& info = kernel(mangled).info;
    if (info.params.size() > protocol::kMaxParams || info.param_bytes > protocol::kMaxArguments) {
      throw Failure{cudaErrorInvalidDeviceFunction, "the kernel has too many parameters"};
    }
    return info;
  }

  void launch(const protocol::Launch& request) {
    const auto& [grid, block, cluster, shared_bytes, mangled, args] = request;
    const auto& [info, module] = kernel(mangled);
    result.refused_map = {};
    if (++launches > policy.launches) {
      forbid("kernel launch",
             "one call may launch at most " + std::to_string(policy.launches) + " kernels");
    }
    argument_bytes += args.size();
    if (argument_bytes > policy.argument_bytes) {
      forbid("kernel launch", "one call may pass at most " + std::to_string(policy.argument_bytes) +
                                  " bytes to kernels as arguments");
    }
    if (args.size() != info.param_bytes)
      throw Failure{cudaErrorInvalidValue, "'" + info.name + "': " + std::to_string(args.size()) +
                                               " bytes of arguments, the kernel takes " +
                                               std::to_string(info.param_bytes)};
    if (device_lost) {
      // As on hardware: after a fault nothing runs any more, and the program has yet to hear of it.
      device.validate_launch(module, info.mangled, grid, block, shared_bytes, args.size());
      ++result.skipped_launches;
      return;
    }
    LaunchOptions options = policy.launch;
    options.cluster = cluster;
    const std::uint64_t most = kCallBudget * options.instruction_budget;
    options.instruction_budget =
        std::min(options.instruction_budget, most - std::min(most, instructions));
    LaunchReport report =
        device.launch(module, info.mangled, grid, block, shared_bytes, args, options);
    device_lost = !report.completed;
    // One lane costs the host as much as eight, and a launch of nothing costs something.
    instructions +=
        4096 + std::max(report.total.thread_instructions, 8 * report.total.warp_instructions);
    report_limits.add(std::move(report), result.launches);
  }

  void note_error(protocol::Note note) {
    // A failure of a request comes with the server's own words; only the call's name is news.
    if (pending && pending->code == note.code && note.why.empty()) {
      pending->call = std::move(note.call);
      settle_pending();
      return;
    }
    settle_pending();
    if (note.code == cudaErrorNotPermitted || result.errors.size() >= kMaxErrors) return;
    ApiError error;
    error.call = std::move(note.call);
    error.code = note.code;
    error.name = name_of(note.code);
    error.message = std::move(note.why);
    error.cause = note.cause;
    result.errors.push_back(std::move(error));
  }

  void note_default_stream(protocol::Note note) {
    auto& known = note.why.empty() ? result.default_stream : result.unordered;
    if (known.size() < kMaxErrors &&
        std::find(known.begin(), known.end(), note.call) == known.end())
      known.push_back(std::move(note.call));
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
  if (message.kind != static_cast<std::uint16_t>(Kind::hello)) {
    hello.message = "the runner called CUDA before it introduced itself";
    return hello;
  }
  try {
    hello.entries = message.as<protocol::Hello>("the runner's table of entries").entries;
    hello.outcome = Outcome::returned;
  } catch (const wire::Error& error) {
    hello.message = error.what();
  }
  return hello;
}

CallResult Server::call(std::uint32_t entry, const View& a, const View& b, const View& c,
                        Patience patience) {
  impl_->begin_call();
  impl_->extra = (kStarvedPatience - 1) * patience;
  const auto view = [](const View& v) { return protocol::View{v.data, v.rows, v.cols, v.ld}; };
  const protocol::Call call{entry, view(a), view(b), view(c)};
  return impl_->serve(wire::make(Kind::call, 0, call), patience);
}

CallResult Server::ask(std::uint32_t entry, Patience patience) {
  impl_->begin_call();
  impl_->extra = (kStarvedPatience - 1) * patience;
  return impl_->serve(wire::make(Kind::ask, 0, protocol::Ask{entry}), patience);
}

void Server::free_runner_allocations() {
  for (const auto& [base, scratch] : impl_->scratch) impl_->device.free(base);
  impl_->scratch.clear();
  impl_->scratch_bytes = impl_->scratch_count = 0;
}

void Server::dismiss() {
  impl_->send(wire::make(Kind::goodbye, 0, protocol::Nothing{}));
}

}  // namespace simgpu::runtime
