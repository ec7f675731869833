// What the judge and its device worker say to each other, over a wire::Channel.
//
// The worker runs code derived from a stranger's PTX: what it replies is decoded as hostile, and
// whatever does not fit is the judge's INFRA_ERROR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/simgpu/runtime/protocol.hpp"
#include "common/simgpu/runtime/server/server.hpp"
#include "common/wire/channel.hpp"
#include "grader/diagnose/diagnose.hpp"

namespace grader::protocol {

/// One file's text.
struct Ptx {
  std::string text;
  bool known = false;  ///< another worker has read it in full, and took it
  template <typename Visit>
  void fields(Visit visit) {
    visit(text, known);
  }
};
struct LoadRequest {
  std::vector<Ptx> files;
  std::uint64_t patience_ms = 0;  ///< for the runner's first message
  template <typename Visit>
  void fields(Visit visit) {
    visit(files, patience_ms);
  }
};
/// A text of the request that is no module: ParseError, without its place.
struct RefusedPtx {
  std::uint32_t index = 0;
  std::string error;
  unsigned ptx_line = 0, source_line = 0;
  bool unsupported = false;
  template <typename Visit>
  void fields(Visit visit) {
    visit(index, error, ptx_line, source_line, unsupported);
  }
};
struct LoadReply {
  std::vector<RefusedPtx> refused;
  simgpu::runtime::Outcome hello = simgpu::runtime::Outcome::returned;
  std::string message;
  std::vector<std::string> entries;
  template <typename Visit>
  void fields(Visit visit) {
    visit(refused, hello, message, entries);
  }
};

struct CallRequest {
  std::uint32_t entry = 0;
  diag::Matrix a, b, c;  ///< c: what C holds before the call
  bool reuse = false;    ///< the device buffers of the last call, which had the same extents
  bool checks = true;    ///< memory, race, barrier, init
  bool samples = false;  ///< LaunchOptions::sample_accesses
  std::optional<simgpu::WarpOf> sampled_warp;
  std::uint32_t tensor_gain = 1;  ///< LaunchOptions::tensor_gain
  std::uint32_t host_threads = 1;
  std::uint64_t instruction_budget = 0;
  std::uint64_t patience_ms = 0;
  template <typename Visit>
  void fields(Visit visit) {
    visit(entry, a, b, c, reuse, checks, samples, sampled_warp, tensor_gain, host_threads,
          instruction_budget, patience_ms);
  }
};
struct CallReply {
  simgpu::runtime::CallResult result;
  std::vector<std::byte> a_after, b_after, c_after;
  std::uint64_t a_base = 0, b_base = 0, c_base = 0;
  template <typename Visit>
  void fields(Visit visit) {
    visit(result, a_after, b_after, c_after, a_base, b_base, c_base);
  }
};

struct AskRequest {
  std::uint32_t entry = 0;
  std::uint64_t patience_ms = 0;
  template <typename Visit>
  void fields(Visit visit) {
    visit(entry, patience_ms);
  }
};

enum class Kind : std::uint16_t { load = 1, call, ask, reply };

/// All of them hold matrices, texts or reports of any size: one cap for everything.
constexpr std::size_t longest(std::uint16_t kind) {
  return kind >= 1 && kind <= static_cast<std::uint16_t>(Kind::reply) ? std::size_t{1} << 30
                                                                      : wire::kNoSuchKind;
}

constexpr wire::Protocol kProtocol{0x4c414247 /* "GBAL" */, 4, longest};

}  // namespace grader::protocol

namespace simgpu {

constexpr FindingKind last_of(FindingKind) {
  return FindingKind::will_spill;
}
constexpr FindingCause last_of(FindingCause) {
  return FindingCause::named_row;
}
constexpr MemorySpace last_of(MemorySpace) {
  return MemorySpace::param;
}
constexpr AccessType last_of(AccessType) {
  return AccessType::atomic;
}
constexpr Actor last_of(Actor) {
  return Actor::launch;
}

template <typename Visit>
void fields(WarpOf& x, Visit visit) {
  visit(x.block, x.warp);
}
template <typename Visit>
void fields(SourceLine& x, Visit visit) {
  visit(x.file, x.line);
}
template <typename Visit>
void fields(Access& x, Visit visit) {
  visit(x.where, x.block, x.thread, x.type, x.actor, x.space, x.bytes, x.address, x.object,
        x.offset, x.object_bytes, x.number_bytes);
}
template <typename Visit>
void fields(ByteRange& x, Visit visit) {
  visit(x.begin, x.end);
}
template <typename Visit>
void fields(Finding& x, Visit visit) {
  visit(x.kind, x.cause, x.kernel, x.at, x.other, x.detail, x.occurrences, x.written_bytes,
        x.written);
}
template <typename Visit>
void fields(GlobalCounts& x, Visit visit) {
  visit(x.requests, x.sectors, x.ideal_sectors, x.bytes);
}
template <typename Visit>
void fields(SharedCounts& x, Visit visit) {
  visit(x.requests, x.wavefronts, x.ideal_wavefronts, x.raw_requests, x.raw_wavefronts,
        x.raw_ideal_wavefronts, x.bytes);
}
template <typename Visit>
void fields(EarlyWait& x, Visit visit) {
  visit(x.bytes, x.under_way, x.stages);
}
template <typename Visit>
void fields(Counts& x, Visit visit) {
  visit(x.global_load, x.global_store, x.global_atomic, x.shared_load, x.shared_store,
        x.shared_atomic, x.async_copy, x.bulk_load, x.bulk_store, x.async_store, x.matrix_load,
        x.matrix_store, x.async_bytes_idle, x.async_early, x.local_load_requests,
        x.local_store_requests, x.printed_store_requests, x.constant_words, x.cluster_load_requests,
        x.cluster_store_requests, x.cluster_atomic_requests, x.warp_instructions,
        x.thread_instructions, x.thread_instructions_by_class, x.fma_f32, x.fma_f64, x.mad_int,
        x.fma_f16, x.mul_f32, x.mul_f64, x.products_int, x.barriers, x.block_barriers, x.tensor_ops,
        x.wgmma_alone, x.wgmma_groups);
}
template <typename Visit>
void fields(LineCounts& x, Visit visit) {
  visit(x.where, x.counts);
}
template <typename Visit>
void fields(BufferCounts& x, Visit visit) {
  visit(x.base, x.label, x.bytes, x.load, x.store, x.atomic, x.fetched);
}
template <typename Visit>
void fields(RegisterEstimate& x, Visit visit) {
  visit(x.live_registers, x.allocated, x.where, x.blocks_per_multiprocessor, x.occupancy,
        x.limiter);
}
template <typename Visit>
void fields(AccessSample& x, Visit visit) {
  visit(x.where, x.type, x.space, x.matrix, x.block, x.warp, x.bytes, x.mask, x.address, x.object,
        x.object_address, x.object_bytes, x.cost, x.ideal, x.requests, x.total_cost, x.total_ideal);
}
template <typename Visit>
void fields(LaunchReport& x, Visit visit) {
  visit(x.kernel, x.mangled, x.grid, x.block, x.static_shared_bytes, x.dynamic_shared_bytes,
        x.local_bytes_per_thread, x.findings, x.completed, x.total, x.lines, x.buffers, x.samples,
        x.registers, x.printf_output);
}

}  // namespace simgpu

namespace simgpu::runtime {

constexpr Outcome last_of(Outcome) {
  return Outcome::protocol;
}
constexpr Transfer::Kind last_of(Transfer::Kind) {
  return Transfer::Kind::from_host;
}

template <typename Visit>
void fields(Refusal& x, Visit visit) {
  visit(x.call, x.reason, x.unsupported, x.times);
}
template <typename Visit>
void fields(ApiError& x, Visit visit) {
  visit(x.call, x.kernel, x.code, x.name, x.message, x.cause, x.grid, x.block, x.shared_bytes);
}
template <typename Visit>
void fields(Transfer& x, Visit visit) {
  visit(x.kind, x.dst, x.src, x.bytes, x.launches);
}
template <typename Visit>
void fields(CallResult& x, Visit visit) {
  visit(x.outcome, x.message, x.answer, x.answered, x.launches, x.skipped_launches, x.refused,
        x.errors, x.last_error, x.default_stream, x.unordered, x.refused_map, x.transfers,
        x.live_allocations, x.live_bytes);
}

}  // namespace simgpu::runtime

namespace grader::diag {

constexpr ElementType last_of(ElementType) {
  return ElementType::bfloat16;
}
template <typename Visit>
void fields(Matrix& x, Visit visit) {
  visit(x.type, x.rows, x.cols, x.ld, x.storage);
}

}  // namespace grader::diag

// Reports count every line of every launch: what writes and reads them is optimised, in protocol.cpp, and
// what uses it is not. (Seconds of a processor to compile it all: 3.8; 7.7 with session.cpp and worker.cpp
// at -O2.)
namespace wire {

extern template Bytes encode(const grader::protocol::LoadRequest&);
extern template Bytes encode(const grader::protocol::CallRequest&);
extern template Bytes encode(const grader::protocol::AskRequest&);
extern template Bytes encode(const grader::protocol::LoadReply&);
extern template Bytes encode(const grader::protocol::CallReply&);
extern template Bytes encode(const simgpu::runtime::CallResult&);
extern template grader::protocol::LoadRequest decode(const Bytes&, const char*);
extern template grader::protocol::CallRequest decode(const Bytes&, const char*);
extern template grader::protocol::AskRequest decode(const Bytes&, const char*);
extern template grader::protocol::LoadReply decode(const Bytes&, const char*);
extern template grader::protocol::CallReply decode(const Bytes&, const char*);
extern template simgpu::runtime::CallResult decode(const Bytes&, const char*);

}  // namespace wire
