// What the judge and its device worker say to each other: fixed messages as bytes over one socket.
//
// Both ends are the same program on the same machine, so values travel in memory order. The worker
// runs code derived from a stranger's PTX, so the judge decodes its replies as hostile: every
// length is checked against what is left, and anything that does not fit throws WireError (the
// judge's INFRA_ERROR).
#pragma once

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "common/simgpu/device.hpp"
#include "common/simgpu/runtime/server/server.hpp"
#include "grader/diagnose/diagnose.hpp"

namespace grader::wire {

struct WireError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ----------------------------------------------------------------------------------------------
// messages

struct LoadRequest {
  std::vector<std::string> ptx;   ///< one text per file
  std::uint64_t patience_ms = 0;  ///< for the runner's first message
};
struct KernelSummary {
  std::string name;
  unsigned live_registers = 0, static_shared_bytes = 0, local_bytes_per_thread = 0;
  std::string unsupported;
};
/// A text of the request that is no module: ParseError, without its place.
struct RefusedPtx {
  std::uint32_t index = 0;
  std::string error;
  unsigned ptx_line = 0, source_line = 0;
  bool unsupported = false;
};
struct LoadReply {
  std::vector<RefusedPtx> refused;
  simgpu::runtime::Outcome hello = simgpu::runtime::Outcome::returned;
  std::string message;
  std::vector<std::string> entries;
  std::vector<KernelSummary> kernels;
};

struct CallRequest {
  std::uint32_t entry = 0;
  diag::Matrix a, b, c;  ///< c: what C holds before the call
  bool reuse = false;    ///< the device buffers of the last call, which had the same extents
  bool checks = true;    ///< memory, race, barrier, init
  bool samples = false;  ///< LaunchOptions::sample_accesses
  std::uint32_t host_threads = 1;
  std::uint64_t instruction_budget = 0;
  std::uint64_t patience_ms = 0;
};
struct CallReply {
  simgpu::runtime::CallResult result;
  std::vector<std::byte> a_after, b_after, c_after;
  std::uint64_t a_base = 0, b_base = 0, c_base = 0;
};

struct AskRequest {
  std::uint32_t entry = 0;
  std::uint64_t patience_ms = 0;
};

enum class Kind : std::uint32_t { load = 1, call, ask, reply };

// ------------------------------------------------------------------------------------------------
// encoding

/// Appends values; the same `fields` functions drive Writer and Reader, so the two cannot drift
/// apart.
class Writer {
 public:
  static constexpr bool reading = false;
  std::string bytes;
  void raw(void* data, std::size_t size) {
    if (size) bytes.append(static_cast<const char*>(data), size);
  }
  std::size_t count(std::size_t size, std::size_t) {
    std::uint64_t n = size;
    raw(&n, sizeof n);
    return size;
  }
};

class Reader {
 public:
  static constexpr bool reading = true;
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  void raw(void* data, std::size_t size) {
    if (size > bytes_.size() - at_) throw WireError("a message ends too early");
    if (size) std::memcpy(data, bytes_.data() + at_, size);
    at_ += size;
  }
  /// Number of elements that follow, at least `smallest` bytes each.
  std::size_t count(std::size_t, std::size_t smallest) {
    std::uint64_t n = 0;
    raw(&n, sizeof n);
    if (n > (bytes_.size() - at_) / (smallest ? smallest : 1))
      throw WireError("a length in a message is impossible");
    return static_cast<std::size_t>(n);
  }
  void done() const {
    if (at_ != bytes_.size()) throw WireError("a message has bytes to spare");
  }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

template <typename Archive, typename T>
void field(Archive& ar, T& value);

template <typename Archive, typename... Ts>
void all(Archive& ar, Ts&... values) {
  (field(ar, values), ...);
}

template <typename Ar>
void fields(Ar& ar, simgpu::Dim3& x) {
  all(ar, x.x, x.y, x.z);
}
template <typename Ar>
void fields(Ar& ar, simgpu::SourceLine& x) {
  all(ar, x.file, x.line);
}
template <typename Ar>
void fields(Ar& ar, simgpu::Access& x) {
  all(ar, x.where, x.block, x.thread, x.type, x.space, x.bytes, x.address, x.object, x.offset,
      x.object_bytes);
}
template <typename Ar>
void fields(Ar& ar, simgpu::Finding& x) {
  all(ar, x.kind, x.kernel, x.at, x.other, x.detail, x.occurrences);
}
template <typename Ar>
void fields(Ar& ar, simgpu::GlobalCounts& x) {
  all(ar, x.requests, x.sectors, x.ideal_sectors, x.bytes);
}
template <typename Ar>
void fields(Ar& ar, simgpu::SharedCounts& x) {
  all(ar, x.requests, x.wavefronts, x.ideal_wavefronts, x.raw_requests, x.raw_wavefronts,
      x.raw_ideal_wavefronts, x.bytes);
}
template <typename Ar>
void fields(Ar& ar, simgpu::Counts& x) {
  all(ar, x.global_load, x.global_store, x.global_atomic, x.shared_load, x.shared_store,
      x.shared_atomic, x.async_copy, x.async_store, x.matrix_load, x.matrix_store,
      x.async_bytes_idle, x.local_load_requests, x.local_store_requests, x.warp_instructions,
      x.thread_instructions, x.thread_instructions_by_class, x.fma_f32, x.fma_f64, x.mad_int,
      x.fma_f16, x.mul_f32, x.mul_f64, x.barriers, x.block_barriers, x.tensor_ops);
}
template <typename Ar>
void fields(Ar& ar, simgpu::LineCounts& x) {
  all(ar, x.where, x.counts);
}
template <typename Ar>
void fields(Ar& ar, simgpu::BufferCounts& x) {
  all(ar, x.base, x.label, x.bytes, x.load, x.store, x.atomic);
}
template <typename Ar>
void fields(Ar& ar, simgpu::RegisterEstimate& x) {
  all(ar, x.live_registers, x.allocated, x.where, x.blocks_per_multiprocessor, x.occupancy,
      x.limiter);
}
template <typename Ar>
void fields(Ar& ar, simgpu::AccessSample& x) {
  all(ar, x.where, x.type, x.space, x.matrix, x.block, x.warp, x.bytes, x.mask, x.address, x.object,
      x.object_address, x.object_bytes, x.cost, x.ideal, x.requests, x.total_cost, x.total_ideal);
}
template <typename Ar>
void fields(Ar& ar, simgpu::LaunchReport& x) {
  all(ar, x.kernel, x.mangled, x.grid, x.block, x.static_shared_bytes, x.dynamic_shared_bytes,
      x.local_bytes_per_thread, x.findings, x.completed, x.total, x.lines, x.buffers, x.samples,
      x.registers, x.printf_output);
}
template <typename Ar>
void fields(Ar& ar, simgpu::runtime::Refusal& x) {
  all(ar, x.call, x.reason, x.unsupported, x.times);
}
template <typename Ar>
void fields(Ar& ar, simgpu::runtime::ApiError& x) {
  all(ar, x.call, x.kernel, x.code, x.name, x.message, x.grid, x.block, x.shared_bytes);
}
template <typename Ar>
void fields(Ar& ar, simgpu::runtime::Transfer& x) {
  all(ar, x.kind, x.dst, x.src, x.bytes);
}
template <typename Ar>
void fields(Ar& ar, simgpu::runtime::CallResult& x) {
  all(ar, x.outcome, x.message, x.answer, x.answered, x.launches, x.skipped_launches, x.refused,
      x.errors, x.last_error, x.transfers, x.live_allocations, x.live_bytes);
}
template <typename Ar>
void fields(Ar& ar, diag::Matrix& x) {
  all(ar, x.type, x.rows, x.cols, x.ld, x.storage);
}
template <typename Ar>
void fields(Ar& ar, LoadRequest& x) {
  all(ar, x.ptx, x.patience_ms);
}
template <typename Ar>
void fields(Ar& ar, KernelSummary& x) {
  all(ar, x.name, x.live_registers, x.static_shared_bytes, x.local_bytes_per_thread, x.unsupported);
}
template <typename Ar>
void fields(Ar& ar, RefusedPtx& x) {
  all(ar, x.index, x.error, x.ptx_line, x.source_line, x.unsupported);
}
template <typename Ar>
void fields(Ar& ar, LoadReply& x) {
  all(ar, x.refused, x.hello, x.message, x.entries, x.kernels);
}
template <typename Ar>
void fields(Ar& ar, CallRequest& x) {
  all(ar, x.entry, x.a, x.b, x.c, x.reuse, x.checks, x.samples, x.host_threads,
      x.instruction_budget, x.patience_ms);
}
template <typename Ar>
void fields(Ar& ar, CallReply& x) {
  all(ar, x.result, x.a_after, x.b_after, x.c_after, x.a_base, x.b_base, x.c_base);
}
template <typename Ar>
void fields(Ar& ar, AskRequest& x) {
  all(ar, x.entry, x.patience_ms);
}

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};
template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T>
struct IsArray : std::false_type {};
template <typename T, std::size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};
template <typename T>
struct IsMap : std::false_type {};
template <typename K, typename V>
struct IsMap<std::map<K, V>> : std::true_type {};

template <typename Archive, typename T>
void field(Archive& ar, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    std::uint8_t byte = value ? 1 : 0;
    ar.raw(&byte, 1);
    if constexpr (Archive::reading)
      value = byte != 0;  // any other bit pattern in a bool is undefined behaviour
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    ar.raw(&value, sizeof value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    value.resize(ar.count(value.size(), 1));
    ar.raw(value.data(), value.size());
  } else if constexpr (IsVector<T>::value) {
    using Item = typename T::value_type;
    value.resize(ar.count(value.size(), 1));
    if constexpr (sizeof(Item) == 1 && !std::is_class_v<Item>)
      ar.raw(value.data(), value.size());
    else
      for (auto& item : value) field(ar, item);
  } else if constexpr (IsArray<T>::value) {
    for (auto& item : value) field(ar, item);
  } else if constexpr (IsOptional<T>::value) {
    bool present = value.has_value();
    field(ar, present);
    if constexpr (Archive::reading) {
      if (present)
        value.emplace();
      else
        value.reset();
    }
    if (present) field(ar, *value);
  } else if constexpr (IsMap<T>::value) {
    const std::size_t size = ar.count(value.size(), 1);
    if constexpr (Archive::reading) {
      value.clear();
      for (std::size_t i = 0; i < size; ++i) {
        typename T::key_type key{};
        typename T::mapped_type mapped{};
        all(ar, key, mapped);
        value.emplace(std::move(key), std::move(mapped));
      }
    } else {
      for (auto& [key, mapped] : value) {
        auto copy = key;
        all(ar, copy, mapped);
      }
    }
  } else {
    fields(ar, value);
  }
}

template <typename T>
std::string encode(const T& value) {
  Writer writer;
  field(writer, const_cast<T&>(value));  // a Writer only reads
  return std::move(writer.bytes);
}

template <typename T>
T decode(const std::string& bytes) {
  T value{};
  Reader reader(bytes);
  field(reader, value);
  reader.done();
  return value;
}

// ------------------------------------------------------------------------------------------------
// transport

/// Writes one frame. False if the other side is gone.
bool send(int fd, Kind kind, const std::string& payload);

enum class Received { frame, closed, timeout, malformed };

/// Reads one frame. `timeout_ms` < 0 waits for ever.
Received receive(int fd, int timeout_ms, Kind& kind, std::string& payload);

}  // namespace grader::wire
