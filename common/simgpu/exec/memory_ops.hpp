// The complete path of a memory instruction, lane by lane: every space, every check. The quick path
// in kernels/memory.cpp takes the common cases and hands everything else to this one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {

/// memcpy of 1 to 32 bytes, a power of two: each size in line, where a call would take longer than
/// the copy.
inline void copy_element(std::byte* to, const std::byte* from, unsigned bytes) {
  switch (bytes) {
    case 1:
      std::memcpy(to, from, 1);
      break;
    case 2:
      std::memcpy(to, from, 2);
      break;
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    case 16:
      std::memcpy(to, from, 16);
      break;
    default:
      std::memcpy(to, from, bytes);
  }
}

/// Which lanes of an access reached which space, and where: `offset` is into its space.
struct Reached {
  std::uint32_t global = 0, shared = 0, local = 0, constant = 0;
  std::uint32_t peer = 0;  ///< another block's shared memory
  std::uint32_t same = 0;  ///< stored what was there already, where the exact record asks
  std::uint64_t offset[kLanes] = {};
};
/// Moves the data of a load or store with all checks and without counting.
Reached move_lanes(Warp& w, const Op& op, const std::uint64_t (&address)[kLanes]);
/// Loads and stores.
void access_lane_by_lane(Warp& w, const Op& op, const std::uint64_t (&address)[kLanes]);

/// One access of the lanes of `mask` by an instruction that need not be a plain load or store: lane
/// i reads or writes `bytes` (1..32, a power of two) at address[i], to or from data + i * stride.
/// All checks, findings and marks of a plain access; a lane that may not read gets poison. The
/// caller counts. `unwritten`: which of a lane's bytes nobody has written, bit k for byte k; a load
/// says so of those that it may bring nevertheless, a store is told.
using UnwrittenBytes = std::array<std::uint32_t, kLanes>;
Reached access_lanes(Warp& w, const Op& op, AccessType type, ptx::Space space,
                     const std::uint64_t (&address)[kLanes], std::uint32_t mask, unsigned bytes,
                     std::byte* data, std::size_t stride, bool strong = false,
                     UnwrittenBytes* unwritten = nullptr);

/// The new value of a location that holds `old`. `b` and `c` are the operands; all are bits of `type`.
std::uint64_t atomic_result(ptx::AtomOp op, Ty type, std::uint64_t old, std::uint64_t b,
                            std::uint64_t c);

/// Adds one executed request to the counters. `bytes` per lane; masks name the lanes that reached
/// each space.
void count_global(BlockRun& run, const Op& op, AccessType type,
                  const std::uint64_t (&address)[kLanes], std::uint32_t mask, unsigned bytes);
void count_shared(BlockRun& run, const Op& op, AccessType type,
                  const std::uint64_t (&address)[kLanes], std::uint32_t mask, unsigned bytes);

/// ldmatrix, stmatrix and what ptxas turns into them: `matrices` 8x8 matrices of 16-byte rows, lane
/// 8 * m + r gives row r of matrix m.
SharedCounts matrix_cost(const std::uint64_t (&row)[kLanes], unsigned matrices);
/// One cp.async: lanes of `mask` read `read[i]` > 0 bytes from `from[i]` and write to `to[i]`.
GlobalCounts async_cost(const std::uint64_t (&from)[kLanes], const std::uint64_t (&to)[kLanes],
                        const std::uint8_t (&read)[kLanes], std::uint32_t mask, bool bypasses_l1);

SharedCounts shared_cost(const BlockRun& run, const Op& op, AccessType type,
                         const std::uint64_t (&address)[kLanes], std::uint32_t mask,
                         unsigned bytes);

/// Tallies by pattern, see SiteCount: adds up what is pending; starts another tally with one
/// access.
void settle(Counters& counters, SiteCount& site, AccessType type);
void begin_shared(BlockRun& run, const Op& op, const Pattern& p, std::uint64_t key);
void begin_global(BlockRun& run, const Op& op, const Pattern& p, const memory::Allocation& a,
                  std::uint64_t key);

/// Asynchronous copies (async_copy.cpp). Whether lane `lane` reads bytes of a copy that it may not
/// see yet, which is then reported: the value is to be poison.
bool reads_too_early(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                     std::uint64_t offset, unsigned bytes);
/// A write to a place that a pending copy will write: a race.
void report_pending_conflict(BlockRun& run, const Warp& w, unsigned lane, const Op& op,
                             AccessType type, std::uint64_t offset, unsigned bytes);
/// A `.sync.aligned` instruction must be executed by all 32 lanes: else a finding.
void check_whole_warp(Warp& w, const Op& op, const char* what);

/// What the block's ReadLog holds goes to its shadow. To be called before anything looks there at who
/// has read, and while its patterns are still there.
void settle_reads(BlockRun& run);

/// Race checks of one lane; `offset` is into the space or allocation. `rewrites` and `exchange`: see AccessRecord.
void check_shared_access(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                         std::uint64_t offset, unsigned bytes, bool strong = false,
                         bool rewrites = false, bool exchange = false);
/// Of shared memory of another block: t.peer.
void check_peer_access(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                       const Target& t, unsigned bytes, bool strong);
/// What this host thread remembers of `a`.
inline check::GlobalShadow& shadow_of(BlockRun& run, const memory::Allocation& a) {
  auto& shadow = run.worker->global_shadows[a.live_index];
  if (shadow == nullptr)
    shadow =
        std::make_unique<check::GlobalShadow>(a.size / run.launch->program->global_granule + 1);
  return *shadow;
}
/// The first read of `a`, or the first store to it, in a launch: of both, its readers must be kept.
void begin_use(BlockRun& run, memory::Allocation& a, AccessType type);
inline void note_use(BlockRun& run, memory::Allocation& a, AccessType type) {
  const memory::Allocation::LaunchState& s = a.launch;
  if (!(type == AccessType::load ? s.read : s.stored).load(std::memory_order_relaxed)) [[unlikely]]
    begin_use(run, a, type);
}
/// An access of global memory, where an earlier kernel may still be running (early_launch.cpp).
void check_before_wait(BlockRun& run, const LaneAccess& me);
/// A copy that goes by the tensor map at `map` (changed_maps.cpp).
void check_map_fence(BlockRun& run, const Warp& w, unsigned lane, std::uint32_t pc,
                     std::uint64_t map);
void check_global_access(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                         bool strong, memory::Allocation& a, std::uint64_t offset, unsigned bytes,
                         bool rewrites = false);

}  // namespace simgpu::exec
