// The complete path of a memory instruction, lane by lane: every space, every check. The quick path
// in kernels/memory.inl takes the common cases and hands everything else to this one.
#pragma once

#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {

/// Which lanes of an access reached which space, and where: `offset` is into shared memory.
struct Reached {
  std::uint32_t global = 0, shared = 0, local = 0;
  std::uint64_t offset[kLanes] = {};
};
/// Moves the data of a load or store with all checks and without counting.
Reached move_lanes(Warp& w, const Op& op, const std::uint64_t (&address)[kLanes]);
/// Loads and stores.
void access_lane_by_lane(Warp& w, const Op& op, const std::uint64_t (&address)[kLanes]);

/// Adds one executed request to the counters. `bytes` per lane; masks name the lanes that reached
/// each space.
void count_global(BlockRun& run, const Op& op, AccessType type,
                  const std::uint64_t (&address)[kLanes], std::uint32_t mask, unsigned bytes);
void count_shared(BlockRun& run, const Op& op, AccessType type,
                  const std::uint64_t (&address)[kLanes], std::uint32_t mask, unsigned bytes);

SharedCounts shared_cost(const BlockRun& run, const Op& op, AccessType type,
                         const std::uint64_t (&address)[kLanes], std::uint32_t mask,
                         unsigned bytes);

/// Tallies by pattern, see SiteCount: adds up what is pending; starts another tally with one
/// access.
void settle(Counters& counters, SiteCount& site, AccessType type);
void begin_shared(BlockRun& run, const Op& op, const Pattern& p, std::uint64_t key);
void begin_global(BlockRun& run, const Op& op, const Pattern& p, const memory::Allocation& a,
                  std::uint64_t key);

/// Race checks of one lane; `offset` is into the space or allocation.
void check_shared_access(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                         std::uint64_t offset, unsigned bytes);
void check_global_access(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                         bool strong, memory::Allocation& a, std::uint64_t offset, unsigned bytes);

}  // namespace simgpu::exec
