// Messages between a runner (the student's process) and the worker that owns the device.
//
// Every message is a Header, a body of the fixed size of its type, and for some types a tail of
// bytes with a cap. Native byte order: both ends run on one machine. The runner speaks first
// (hello), afterwards strictly in turns: the worker's call is answered by requests, each with one
// reply, until `returned` or `threw`. The sequence number counts the runner's messages; a reply
// carries the number of what it answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace simgpu::runtime::wire {

constexpr std::uint32_t kMagic = 0x55504753;  // "SGPU"
constexpr std::uint16_t kVersion = 1;
/// Copies of host data go in pieces of at most this size.
constexpr std::size_t kMaxData = 32u << 10;
constexpr std::size_t kMaxName = 4096;       ///< a mangled kernel or variable name
constexpr std::size_t kMaxArguments = 4096;  ///< a kernel's parameter block (PTX ISA: 4352 at most)
constexpr std::size_t kMaxText = 4096;  ///< free text of the runner: data for the log, never parsed
constexpr std::size_t kMaxParams = 512;
constexpr std::size_t kMaxTail = 64u << 10;  ///< of any message

enum class Type : std::uint16_t {
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
  model,
  // from the worker
  call = 64,
  ask,
  goodbye,
  reply,
};

struct Header {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  std::uint16_t type = 0;
  std::uint32_t sequence = 0;
  std::uint32_t bytes = 0;  ///< body and tail together
};

struct Hello {  // tail: the entries' names, each with a NUL
  std::uint32_t entries = 0, padding = 0;
};
struct Returned {  // tail: the answer of an `ask`
  std::int32_t last_error = 0;
  std::uint32_t answered = 0;
};
struct Threw {  // tail: what()
  std::uint32_t reserved = 0, padding = 0;
};
struct Allocate {
  std::uint64_t bytes = 0;
};
struct Release {
  std::uint64_t ptr = 0;
};
struct Fill {
  std::uint64_t dst = 0, bytes = 0;
  std::uint32_t value = 0, padding = 0;
};
struct Copy {
  std::uint64_t dst = 0, src = 0, bytes = 0;
};
struct CopyIn {  // tail: the data
  std::uint64_t dst = 0;
};
struct CopyOut {
  std::uint64_t src = 0, bytes = 0;
};
struct Find {
  std::uint64_t ptr = 0;
};
struct MemoryInfo {
  std::uint64_t reserved = 0;
};
struct Variable {  // tail: mangled name
  std::uint64_t reserved = 0;
};
struct KernelInfo {  // tail: mangled name
  std::uint64_t reserved = 0;
};
struct SetMaxDynamicShared {  // tail: mangled name
  std::uint32_t bytes = 0, padding = 0;
};
struct Launch {  // tail: mangled name, then the parameter block
  std::uint32_t grid[3] = {}, block[3] = {};
  std::uint32_t shared_bytes = 0, name_bytes = 0, argument_bytes = 0, padding = 0;
};
struct NoteUnsupported {  // tail: call, NUL, why
  std::uint64_t reserved = 0;
};
struct NoteError {  // tail: call, NUL, why
  std::int32_t code = 0;
  std::uint32_t padding = 0;
};
struct Model {
  std::uint64_t reserved = 0;
};

struct View {
  std::uint64_t data = 0;
  std::int32_t rows = 0, cols = 0, ld = 0, padding = 0;
};
struct Call {
  std::uint32_t entry = 0, padding = 0;
  View a, b, c;
};
struct Ask {
  std::uint32_t entry = 0, padding = 0;
};
struct Goodbye {
  std::uint64_t reserved = 0;
};
/// Answer to every request; what `value` and the tail mean depends on the request.
struct Reply {
  std::int32_t code = 0;  ///< cudaError_t
  std::uint32_t padding = 0;
  std::uint64_t value[2] = {};
};

/// Tail of the reply to `kernel_info`: this, then `params` times Param.
struct KernelFacts {
  std::uint32_t param_bytes = 0, static_shared = 0, local_bytes = 0, const_bytes = 0;
  std::uint32_t max_threads = 0, live_registers = 0, params = 0, padding = 0;
};
struct Param {
  std::uint32_t offset = 0, size = 0, align = 0;
};

/// Tail of the reply to `model`.
struct ModelFacts {
  std::int32_t compute_major = 0, compute_minor = 0;
  std::uint32_t multiprocessors = 0, max_threads_per_block = 0;
  std::uint32_t max_block[3] = {}, max_grid[3] = {};
  std::uint32_t shared_per_block = 0, shared_per_block_optin = 0, shared_per_multiprocessor = 0;
  std::uint32_t registers_per_multiprocessor = 0, registers_per_thread = 0;
  std::uint32_t threads_per_multiprocessor = 0, blocks_per_multiprocessor = 0, padding = 0;
  std::uint64_t global_bytes = 0;
  char name[64] = {};
};

/// A message in memory. The sender builds one; the receiver has checked header and sizes before
/// anybody sees it.
struct Message {
  Header header;
  std::vector<std::byte> payload;

  Type type() const { return static_cast<Type>(header.type); }
  /// The body; the payload is known to be at least that long for the message's type.
  template <typename Body>
  Body body() const {
    static_assert(std::is_trivially_copyable_v<Body>);
    Body value;
    std::memcpy(&value, payload.data(), sizeof value);
    return value;
  }
  template <typename Body>
  std::span<const std::byte> tail() const {
    return std::span<const std::byte>(payload).subspan(sizeof(Body));
  }
};

inline std::string_view text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// Builds a message from a body and the pieces of its tail.
template <typename Body>
Message make(Type type, std::uint32_t sequence, const Body& body,
             std::initializer_list<std::span<const std::byte>> tail = {}) {
  static_assert(std::is_trivially_copyable_v<Body>);
  Message message;
  message.payload.resize(sizeof body);
  std::memcpy(message.payload.data(), &body, sizeof body);
  for (const auto& piece : tail)
    message.payload.insert(message.payload.end(), piece.begin(), piece.end());
  message.header.type = static_cast<std::uint16_t>(type);
  message.header.sequence = sequence;
  message.header.bytes = static_cast<std::uint32_t>(message.payload.size());
  return message;
}

/// Size of the body of `type` and the longest tail; false if there is no such type.
bool shape_of(std::uint16_t type, std::size_t& body, std::size_t& max_tail);

}  // namespace simgpu::runtime::wire
