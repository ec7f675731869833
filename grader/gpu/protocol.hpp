// What the judge, the timing worker and the runner of a real GPU say to each other.
//
//   judge  <-- fd 3 of the worker -->  worker   our code; owns the buffers that are timed
//          <-- fd 3 of the runner -->  runner   the student's launchers and
//          grader/gpu/runner_main.cu
//
// One SOCK_SEQPACKET socket each: a message is one packet, a Header and one body whose size follows
// from its kind (and, for a batch, from its count). Whoever receives one checks magic, version,
// kind, serial and size before it looks at the body; a request is answered by exactly one reply
// with the same serial. All three run on one machine, so values travel in memory order. C++17, no
// CUDA, nothing but the standard library: nvcc's and the judge's compiler both read this file.
//
// The runner is a stranger's process. It gets sizes, and files or handles of buffers that hold
// inputs and outputs; expected results, seeds, checks and clocks are never sent to it. What it
// replies is never a verdict: `end` and the texts are for people, `device_ms` is shown only. That a
// reply came is all that counts, and it cannot lie to its own advantage: too early, and the outputs
// are not there yet; too late, and the judge's clock says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace grader::gpu::protocol {

constexpr std::uint32_t kMagic = 0x55504747;  // "GGPU", as it lies in memory
constexpr std::uint32_t kVersion = 2;
constexpr int kDescriptor = 3;  ///< of the socket, in the worker and in the runner

constexpr std::size_t kMaxEntries = 64, kMaxName = 96, kMaxText = 512;
constexpr std::size_t kMaxLaunches = 8192;  ///< of one batch
constexpr std::size_t kHandleBytes = 64;    ///< of a cudaIpcMemHandle_t
constexpr std::size_t kMaxFiles = 2;        ///< descriptors that travel with one packet
constexpr std::size_t kMaxVectors = 8;      ///< random vectors of one Freivalds check

enum class Kind : std::uint32_t {
  // runner
  hello = 1,  ///< runner -> judge, once, before anything else
  call,       ///< own buffers, one launch; data in a memory file that is passed along
  ask,        ///< a function without arguments
  open,       ///< the worker's buffers: two files, or two handles
  batch,      ///< launches on those; worker: of a yardstick
  // worker
  info = 32,
  allocate,
  fill,
  verify,
  checksum,
  // both
  done = 64,
};

struct Header {
  std::uint32_t magic = kMagic, version = kVersion;
  Kind kind = Kind::done;
  std::uint32_t size = 0;  ///< of the body, bytes
  std::uint64_t serial = 0;
};

/// Element types on the wire. TF32: float operands that are rounded to TF32.
enum class Type : std::uint32_t { int32, float32, float64, float16, bfloat16, tf32 };

constexpr std::size_t size_of(Type type) {
  return type == Type::float64 ? 8 : type == Type::float16 || type == Type::bfloat16 ? 2 : 4;
}
/// Of an element of C.
constexpr std::size_t result_size_of(Type type) {
  return type == Type::float64 ? 8 : 4;
}

/// A matrix in a memory file or in an arena.
struct Place {
  std::uint64_t offset = 0;  ///< bytes from the beginning
  std::uint64_t bytes = 0;   ///< of its storage, exactly
  std::int32_t rows = 0, cols = 0, ld = 0, reserved = 0;
};

struct Hello {
  std::uint32_t entries = 0, reserved = 0;
  char names[kMaxEntries][kMaxName] = {};
};

/// How a request ended in the process that served it.
enum class RequestEnd : std::uint32_t {
  returned,
  threw,    ///< a C++ exception left the launcher; text: what()
  refused,  ///< the launcher returned and left an error of the runtime unread (a bad launch)
  failed,   ///< the device reported an error when it was waited for: the context is lost
  memory,   ///< no device memory for the buffers
  broken,   ///< the request itself made no sense: our fault
};

struct Done {
  RequestEnd end = RequestEnd::returned;
  std::int32_t code = 0;     ///< cudaError_t, 0 = none
  double device_ms = 0;      ///< by the serving process's own events; shown, never judged
  std::uint64_t value = 0;   ///< worker: what was asked for
  char call[64] = {};        ///< the call that failed: "cudaDeviceSynchronize"
  char name[64] = {};        ///< "cudaErrorIllegalAddress"
  char text[kMaxText] = {};  ///< what(), the error's meaning, or an answer
};

struct Call {
  std::uint32_t entry = 0, reserved = 0;
  Place a, b, c;  ///< in the memory file; written back there after the call, all three
};

struct Ask {
  std::uint32_t entry = 0, reserved = 0;
};

/// How a runner gets at memory of the worker's; see grader/gpu/shared_memory.cuh.
enum class Sharing : std::uint32_t {
  none,     ///< not at all, here
  files,    ///< descriptors that travel with the packet
  handles,  ///< cudaIpcMemHandle_t
};

/// One allocation.
struct Block {
  std::uint64_t bytes = 0;  ///< 0: there is none
  unsigned char handle[kHandleBytes] = {};
};

/// Two allocations of the worker: all A_i and B_j in one, all C_l in the other, each at its stride.
/// Their files travel in this order.
struct Arenas {
  Block inputs, outputs;
  std::uint64_t first_b = 0;  ///< offset of B_0 in `inputs`
  std::uint64_t stride_a = 0, stride_b = 0, stride_c = 0;
  std::uint32_t count_a = 0, count_b = 0, count_c = 0;
  Sharing sharing = Sharing::none;
  std::int32_t m = 0, n = 0, k = 0, reserved = 0;
};

/// C_c = A_a * B_b.
struct Launch {
  std::uint16_t a = 0, b = 0, c = 0, reserved = 0;
};

enum class Yardstick : std::uint32_t { naive, cublas };

struct Batch {
  std::uint32_t what = 0;  ///< runner: number of the entry; worker: a Yardstick
  std::uint32_t count = 0;
  Launch launches[kMaxLaunches] = {};  ///< only `count` of them travel
};

// ---- worker

struct Info {
  char name[256] = {}, uuid[64] = {}, cublas_path[kMaxText] = {};
  std::int32_t major = 0, minor = 0, multiprocessors = 0, clock_khz = 0;
  std::int32_t driver = 0, runtime = 0, cublas = 0;  ///< 13000; cublas: 0 = not found
  Sharing sharing = Sharing::none;                   ///< of buffers, here
  std::uint64_t l2_bytes = 0, memory_total = 0, memory_free = 0;
};

struct Allocate {
  Type type = Type::float32;
  std::int32_t m = 0, n = 0, k = 0;
  std::uint32_t count_a = 0, count_b = 0, count_c = 0;
  std::uint32_t count_own = 0;  ///< outputs of the yardsticks, which nobody else sees
};

struct Allocated {
  Done done;  ///< memory: value = bytes that were asked for
  std::uint64_t free_before = 0;
  Arenas arenas;
};

struct Fill {
  std::uint64_t seed = 0;
  std::uint32_t outputs = 0, inputs = 0;  ///< 1: poison all C; 1: new A and B
};

struct Verify {
  std::uint64_t seed = 0;      ///< of the vectors, the rows and the columns: drawn after the run
  double allowed_units = 32;   ///< of u, see common/reference.hpp
  std::uint32_t vectors = 8;   ///< of Freivalds' check, at most kMaxVectors
  std::uint32_t sampled = 16;  ///< launches of which single rows are recomputed in full
  std::uint32_t own = 0;       ///< 1: the yardsticks' outputs
  std::uint32_t count = 0;
  Launch launches[kMaxLaunches] = {};  ///< only `count` of them travel
};

enum class Fault : std::uint32_t {
  none,
  product,    ///< Freivalds: a row of C does not belong to A * B
  precision,  ///< an element of a recomputed row is further off than its type may be
  inputs,     ///< A or B changed
  padding,    ///< bytes between two outputs changed
};

struct Verified {
  Done done;
  Fault fault = Fault::none;
  std::uint32_t launch = 0;  ///< index in the request's list, of the first that is wrong
  std::int32_t row = -1, col = -1;
  std::uint32_t unwritten = 0;  ///< 1: that place still holds the poison
  std::uint32_t wrong_launches = 0;
  double residual = 0, allowed = 0;
};

/// Size of the body that must follow a header, without the launches of a batch.
template <typename Body>
constexpr std::size_t fixed_size() {
  if constexpr (std::is_same_v<Body, Batch> || std::is_same_v<Body, Verify>)
    return offsetof(Body, launches);
  else
    return sizeof(Body);
}

template <typename Body>
constexpr std::size_t body_size(const Body& body) {
  if constexpr (std::is_same_v<Body, Batch> || std::is_same_v<Body, Verify>)
    return fixed_size<Body>() + body.count * sizeof(Launch);
  else
    return sizeof body;
}

/// Largest packet: a Verify or Batch with all its launches.
constexpr std::size_t kMaxPacket = sizeof(Header) + sizeof(Verify);

static_assert(std::is_trivially_copyable_v<Batch> && std::is_trivially_copyable_v<Verified>);

/// Takes a body out of a packet. False: not the kind, size or count that it must have. Texts are
/// ended with a zero wherever they came from.
inline bool valid_header(const Header& header, std::size_t packet_bytes) {
  return packet_bytes >= sizeof header && header.magic == kMagic && header.version == kVersion &&
         header.size == packet_bytes - sizeof header && header.size <= kMaxPacket;
}

template <typename Body>
bool take(const void* bytes, std::size_t size, Body& body) {
  if (size < fixed_size<Body>() || size > sizeof(Body)) return false;
  std::memcpy(&body, bytes, size);
  if constexpr (std::is_same_v<Body, Batch> || std::is_same_v<Body, Verify>)
    return body.count <= kMaxLaunches && size == body_size(body);
  else
    return size == sizeof(Body);
}

}  // namespace grader::gpu::protocol
