// What the judge, the timing worker and the runner of a real GPU say to each other.
//
//   judge  <-- fd 3 of the worker -->  worker   our code; owns the buffers that are timed
//          <-- fd 3 of the runner -->  runner   the student's launchers and
//          grader/gpu/runner_main.cu
//
// One wire::Channel each. A request is answered by exactly one reply with the same serial. C++17, no
// CUDA, nothing but the standard library: nvcc's and the judge's compiler both read this file.
//
// The runner is a stranger's process. It gets sizes, and files or handles of buffers that hold
// inputs and outputs; expected results, seeds, checks and clocks are never sent to it. What it
// replies is never a verdict: `end` and the texts are for people, `device_ms` is shown only. That a
// reply came is all that counts, and it cannot lie to its own advantage: too early, and the outputs
// are not there yet; too late, and the judge's clock says so.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/wire/channel.hpp"

namespace grader::gpu::protocol {

constexpr int kDescriptor = 3;  ///< of the socket, in the worker and in the runner

constexpr std::size_t kMaxEntries = 64, kMaxName = 96, kMaxText = 512;
constexpr std::size_t kMaxLaunches = 8192;  ///< of one batch
constexpr std::size_t kHandleBytes = 64;    ///< of a cudaIpcMemHandle_t
constexpr std::size_t kMaxVectors = 8;      ///< random vectors of one Freivalds check

enum class Kind : std::uint16_t {
  // runner
  hello = 1,  ///< runner -> judge, once, before anything else
  call,       ///< own buffers, one launch; data in a memory file that is sent along
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

/// Element types on the wire. TF32: float operands that are rounded to TF32.
enum class Type : std::uint32_t { int32, float32, float64, float16, bfloat16, tf32 };
constexpr Type last_of(Type) {
  return Type::tf32;
}

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
  std::int32_t rows = 0, cols = 0, ld = 0;
  template <typename Visit>
  void fields(Visit visit) {
    visit(offset, bytes, rows, cols, ld);
  }
};

struct Hello {
  std::vector<std::string> entries;  ///< names, in the order of their numbers
  template <typename Visit>
  void fields(Visit visit) {
    visit(entries);
  }
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
constexpr RequestEnd last_of(RequestEnd) {
  return RequestEnd::broken;
}

struct Done {
  RequestEnd end = RequestEnd::returned;
  std::int32_t code = 0;    ///< cudaError_t, 0 = none
  double device_ms = 0;     ///< by the serving process's own events; shown, never judged
  std::uint64_t value = 0;  ///< worker: what was asked for
  std::string call;         ///< the call that failed: "cudaDeviceSynchronize"
  std::string name;         ///< "cudaErrorIllegalAddress"
  std::string text;         ///< what(), the error's meaning, or an answer
  template <typename Visit>
  void fields(Visit visit) {
    visit(end, code, device_ms, value, call, name, text);
  }
};

struct Nothing {  ///< of `info` and `checksum`
  template <typename Visit>
  void fields(Visit visit) {
    visit();
  }
};

struct Call {
  std::uint32_t entry = 0;
  Place a, b, c;  ///< in the memory file; written back there after the call, all three
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

/// How a runner gets at memory of the worker's; see grader/gpu/shared_memory.cuh.
enum class Sharing : std::uint32_t {
  none,     ///< not at all, here
  files,    ///< descriptors that travel with the message
  handles,  ///< cudaIpcMemHandle_t
};
constexpr Sharing last_of(Sharing) {
  return Sharing::handles;
}

/// One allocation.
struct Block {
  std::uint64_t bytes = 0;  ///< 0: there is none
  std::array<unsigned char, kHandleBytes> handle{};
  template <typename Visit>
  void fields(Visit visit) {
    visit(bytes, handle);
  }
};

/// Two allocations of the worker: all A_i and B_j in one, all C_l in the other, each at its stride.
/// Their files travel in this order.
struct Arenas {
  Block inputs, outputs;
  std::uint64_t first_b = 0;  ///< offset of B_0 in `inputs`
  std::uint64_t stride_a = 0, stride_b = 0, stride_c = 0;
  std::uint32_t count_a = 0, count_b = 0, count_c = 0;
  Sharing sharing = Sharing::none;
  std::int32_t m = 0, n = 0, k = 0;
  template <typename Visit>
  void fields(Visit visit) {
    visit(inputs, outputs, first_b, stride_a, stride_b, stride_c, count_a, count_b, count_c,
          sharing, m, n, k);
  }
};

/// C_c = A_a * B_b.
struct Launch {
  std::uint16_t a = 0, b = 0, c = 0, reserved = 0;
};

enum class Yardstick : std::uint32_t { naive, cublas };

struct Batch {
  std::uint32_t what = 0;        ///< runner: number of the entry; worker: a Yardstick
  std::vector<Launch> launches;  ///< at most kMaxLaunches
  template <typename Visit>
  void fields(Visit visit) {
    visit(what, launches);
  }
};

// ---- worker

struct Info {
  std::string name, uuid, cublas_path;
  std::int32_t major = 0, minor = 0, multiprocessors = 0, clock_khz = 0;
  std::int32_t driver = 0, runtime = 0, cublas = 0;  ///< 13000; cublas: 0 = not found
  Sharing sharing = Sharing::none;                   ///< of buffers, here
  std::uint64_t l2_bytes = 0, memory_total = 0, memory_free = 0;
  template <typename Visit>
  void fields(Visit visit) {
    visit(name, uuid, cublas_path, major, minor, multiprocessors, clock_khz, driver, runtime,
          cublas, sharing, l2_bytes, memory_total, memory_free);
  }
};

struct Allocate {
  Type type = Type::float32;
  std::int32_t m = 0, n = 0, k = 0;
  std::uint32_t count_a = 0, count_b = 0, count_c = 0;
  std::uint32_t count_own = 0;  ///< outputs of the yardsticks, which nobody else sees
  template <typename Visit>
  void fields(Visit visit) {
    visit(type, m, n, k, count_a, count_b, count_c, count_own);
  }
};

struct Allocated {
  Done done;  ///< memory: value = bytes that were asked for
  std::uint64_t free_before = 0;
  Arenas arenas;
  template <typename Visit>
  void fields(Visit visit) {
    visit(done, free_before, arenas);
  }
};

struct Fill {
  std::uint64_t seed = 0;
  bool inputs = false, outputs = false;  ///< new A and B; all C poisoned
  template <typename Visit>
  void fields(Visit visit) {
    visit(seed, inputs, outputs);
  }
};

struct Verify {
  std::uint64_t seed = 0;        ///< of the vectors, the rows and the columns: drawn after the run
  double allowed_units = 32;     ///< of u, see common/reference.hpp
  std::uint32_t vectors = 8;     ///< of Freivalds' check, at most kMaxVectors
  std::uint32_t sampled = 16;    ///< launches of which single rows are recomputed in full
  bool own = false;              ///< the yardsticks' outputs
  std::vector<Launch> launches;  ///< at most kMaxLaunches
  template <typename Visit>
  void fields(Visit visit) {
    visit(seed, allowed_units, vectors, sampled, own, launches);
  }
};

enum class Fault : std::uint32_t {
  none,
  product,    ///< Freivalds: a row of C does not belong to A * B
  precision,  ///< an element of a recomputed row is further off than its type may be
  inputs,     ///< A or B changed
  padding,    ///< bytes between two outputs changed
};
constexpr Fault last_of(Fault) {
  return Fault::padding;
}

struct Verified {
  Done done;
  Fault fault = Fault::none;
  std::uint32_t launch = 0;  ///< index in the request's list, of the first that is wrong
  std::int32_t row = -1, col = -1;
  bool unwritten = false;  ///< that place still holds the poison
  std::uint32_t wrong_launches = 0;
  double residual = 0, allowed = 0;
  double worst_error = 0, sum_of_errors = 0;  ///< of the recomputed elements, in u(|A||B|)
  std::uint64_t elements = 0;                 ///< so many; 0 for int32
  template <typename Visit>
  void fields(Visit visit) {
    visit(done, fault, launch, row, col, unwritten, wrong_launches, residual, allowed, worst_error,
          sum_of_errors, elements);
  }
};

/// See wire::Protocol.
constexpr std::size_t longest(std::uint16_t kind) {
  constexpr std::size_t launches = 64 + kMaxLaunches * sizeof(Launch);
  switch (static_cast<Kind>(kind)) {
    case Kind::hello:
      return 4 + kMaxEntries * (4 + kMaxName);
    case Kind::batch:
    case Kind::verify:
      return launches;
    case Kind::ask:
      return 4;
    case Kind::call:
      return 4 + 3 * 28;
    case Kind::open:
      return 2 * (8 + kHandleBytes) + 60;
    case Kind::allocate:
      return 32;
    case Kind::fill:
      return 10;
    case Kind::info:
    case Kind::checksum:
      return 0;
    case Kind::done:
      return 4 * kMaxText;
  }
  return wire::kNoSuchKind;
}

constexpr wire::Protocol kProtocol{0x55504747 /* "GGPU" */, 4, longest};

/// As many launches as fit into one request.
inline std::vector<Launch> fitting(std::vector<Launch> launches) {
  if (launches.size() > kMaxLaunches) launches.resize(kMaxLaunches);
  return launches;
}

/// A text as it may travel.
inline std::string capped(const char* text) {
  return text != nullptr ? std::string(text, ::strnlen(text, kMaxText)) : std::string();
}

}  // namespace grader::gpu::protocol

template <>
inline constexpr bool wire::plain<grader::gpu::protocol::Launch> = true;
