// What a runner (the student's process) and the worker that owns the device say to each other, over
// a wire::Channel.
//
// The runner speaks first (hello), afterwards strictly in turns: the worker's call is answered by
// requests, each with one reply, until `returned` or `threw`. The serial counts the runner's
// messages; a reply carries the number of what it answers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/simgpu/device.hpp"
#include "common/simgpu/runtime/error_cause.hpp"
#include "common/simgpu/tensor_map.hpp"
#include "common/wire/channel.hpp"

namespace simgpu::runtime::protocol {

/// Copies of host data go in pieces of at most this size.
constexpr std::size_t kMaxData = 32u << 10;
constexpr std::size_t kMaxName = 4096;       ///< a mangled kernel or variable name
constexpr std::size_t kMaxArguments = 4096;  ///< a kernel's parameter block (PTX ISA: 4352 at most)
constexpr std::size_t kMaxText = 4096;  ///< free text of the runner: data for the log, never parsed
constexpr std::size_t kMaxParams = 512;

enum class Kind : std::uint16_t {
  // from the runner: life
  hello = 1,
  returned,
  threw,
  // from the runner: requests
  allocate = 16,
  release,
  fill,
  copy,
  copy_in,
  copy_out,
  find,
  memory_info,
  variable,
  kernel_info,
  set_max_dynamic_shared,
  launch,
  note_unsupported,
  note_error,
  note_default_stream,
  model,
  note_refused_map,
  // from the worker
  call = 64,
  ask,
  goodbye,
  reply,
};

struct Hello {
  std::vector<std::string> entries;  ///< names, in the order of their numbers
  template <typename Visit>
  void fields(Visit visit) {
    visit(entries);
  }
};
struct Returned {
  std::int32_t last_error = 0;
  bool answered = false;
  std::string answer;  ///< to an `ask`
  template <typename Visit>
  void fields(Visit visit) {
    visit(last_error, answered, answer);
  }
};
struct Threw {
  std::string what;
  template <typename Visit>
  void fields(Visit visit) {
    visit(what);
  }
};
struct Allocate {
  std::uint64_t bytes = 0;
  template <typename Visit>
  void fields(Visit visit) {
    visit(bytes);
  }
};
struct Fill {
  DevicePtr dst = 0;
  std::uint64_t bytes = 0;
  std::uint8_t value = 0;
  template <typename Visit>
  void fields(Visit visit) {
    visit(dst, bytes, value);
  }
};
struct Copy {  ///< rows of `bytes`; the pitches are from one to the next
  DevicePtr dst = 0, src = 0;
  std::uint64_t bytes = 0, dst_pitch = 0, src_pitch = 0, rows = 1;
  template <typename Visit>
  void fields(Visit visit) {
    visit(dst, src, bytes, dst_pitch, src_pitch, rows);
  }
};
struct CopyIn {
  DevicePtr dst = 0;
  std::vector<std::byte> data;
  template <typename Visit>
  void fields(Visit visit) {
    visit(dst, data);
  }
};
struct CopyOut {
  DevicePtr src = 0;
  std::uint64_t bytes = 0;
  template <typename Visit>
  void fields(Visit visit) {
    visit(src, bytes);
  }
};
struct Address {  ///< of `release` and `find`
  DevicePtr ptr = 0;
  template <typename Visit>
  void fields(Visit visit) {
    visit(ptr);
  }
};
struct Name {  ///< mangled, of `variable` and `kernel_info`
  std::string mangled;
  template <typename Visit>
  void fields(Visit visit) {
    visit(mangled);
  }
};
struct SetMaxDynamicShared {
  std::uint32_t bytes = 0;
  std::string mangled;
  template <typename Visit>
  void fields(Visit visit) {
    visit(bytes, mangled);
  }
};
struct Launch {
  Dim3 grid, block;
  Dim3 cluster{0, 0, 0};  ///< 0 = as the kernel says
  std::uint32_t shared_bytes = 0;
  std::string mangled;
  std::vector<std::byte> arguments;  ///< the parameter block
  template <typename Visit>
  void fields(Visit visit) {
    visit(grid, block, cluster, shared_bytes, mangled, arguments);
  }
};
/// Of `note_unsupported`, `note_error` and `note_default_stream`. Of the last, `why` is empty, or not if the work
/// is in a stream of its own and nothing orders it.
struct Note {
  std::int32_t code = 0;
  std::string call, why;
  ErrorCause cause = ErrorCause::other;
  template <typename Visit>
  void fields(Visit visit) {
    visit(code, call, why, cause);
  }
};
struct Nothing {  ///< of `memory_info`, `model` and `goodbye`
  template <typename Visit>
  void fields(Visit visit) {
    visit();
  }
};

struct View {
  DevicePtr data = 0;
  std::int32_t rows = 0, cols = 0, ld = 0;
  template <typename Visit>
  void fields(Visit visit) {
    visit(data, rows, cols, ld);
  }
};
struct Call {
  std::uint32_t entry = 0;
  View a, b, c;
  template <typename Visit>
  void fields(Visit visit) {
    visit(entry, a, b, c);
  }
};
struct Ask {
  std::uint32_t entry = 0;
  template <typename Visit>
  void fields(Visit visit) {
    visit(entry);
  }
};
/// Answer to every request; what the values mean depends on the request.
struct Reply {
  std::int32_t code = 0;  ///< cudaError_t
  std::array<std::uint64_t, 2> value{};
  std::optional<KernelInfo> kernel;  ///< of `kernel_info`
  std::optional<DeviceModel> model;  ///< of `model`
  template <typename Visit>
  void fields(Visit visit) {
    visit(code, value, kernel, model);
  }
};

/// See wire::Protocol. Beside a text or data stand their count and the other fields.
constexpr std::size_t longest(std::uint16_t kind) {
  switch (static_cast<Kind>(kind)) {
    case Kind::allocate:
    case Kind::release:
    case Kind::find:
      return 8;
    case Kind::copy_out:
      return 16;
    case Kind::fill:
      return 17;
    case Kind::copy:
      return 48;
    case Kind::memory_info:
    case Kind::model:
    case Kind::goodbye:
      return 0;
    case Kind::note_refused_map:
      return 9;
    case Kind::variable:
    case Kind::kernel_info:
    case Kind::set_max_dynamic_shared:
      return kMaxName + 8;
    case Kind::returned:
    case Kind::threw:
    case Kind::note_unsupported:
    case Kind::note_error:
    case Kind::note_default_stream:
      return kMaxText + 12;
    case Kind::launch:
      return kMaxName + kMaxArguments + 64;
    case Kind::copy_in:
      return kMaxData + 12;
    case Kind::ask:
      return 4;
    case Kind::call:
      return 4 + 3 * 20;
    case Kind::hello:
    case Kind::reply:
      return 64u << 10;
  }
  return wire::kNoSuchKind;
}

constexpr wire::Protocol kProtocol{0x55504753 /* "SGPU" */, 6, longest};

}  // namespace simgpu::runtime::protocol

namespace simgpu {

template <typename Visit>
void fields(BrokenRule& x, Visit visit) {  // of `note_refused_map`
  visit(x.rule, x.value);
}
template <typename Visit>
void fields(Dim3& x, Visit visit) {
  visit(x.x, x.y, x.z);
}
template <typename Visit>
void fields(KernelParam& x, Visit visit) {
  visit(x.offset, x.size, x.align);
}
template <typename Visit>
void fields(KernelInfo& x, Visit visit) {
  visit(x.mangled, x.name, x.params, x.param_bytes, x.static_shared_bytes, x.local_bytes_per_thread,
        x.const_bytes, x.max_threads_per_block, x.live_registers, x.lets_next_begin, x.unsupported);
}
template <typename Visit>
void fields(DeviceModel& x, Visit visit) {
  visit(x.name, x.compute_major, x.compute_minor, x.multiprocessors, x.max_threads_per_block,
        x.max_block, x.max_grid, x.shared_bytes_per_block, x.shared_bytes_per_block_optin,
        x.shared_bytes_per_multiprocessor, x.registers_per_multiprocessor, x.registers_per_thread,
        x.threads_per_multiprocessor, x.blocks_per_multiprocessor, x.global_bytes);
}

}  // namespace simgpu
