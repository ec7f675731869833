// Keeps, for every memory instruction, the lane addresses of its worst access
// (LaunchOptions::sample_accesses). Off, it costs one comparison with a constant per global access
// and nothing per shared one.
#pragma once

#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {

/// An instruction may reach both spaces (cp.async does): each has an example of its own.
inline std::size_t sample_of(std::uint32_t site, MemorySpace space) {
  return std::size_t{2} * site + (space == MemorySpace::shared ? 1 : 0);
}
inline bool sampling(const BlockRun& run, const Op& op) {
  return std::size_t{2} * op.site < run.worker->counters.samples.size();
}

/// Looks at one access of any path. `cost` and `ideal` are sectors or wavefronts; `address` is that
/// of the counted access (after load merging), `matrix` as in AccessSample.
void sample_access(BlockRun& run, const Op& op, AccessType type, MemorySpace space,
                   const std::uint64_t (&address)[kLanes], std::uint32_t mask, unsigned bytes,
                   unsigned cost, unsigned ideal, bool matrix = false);

/// Shared accesses: `address` as executed, `cost` as shared_cost() says.
void sample_shared(BlockRun& run, const Op& op, AccessType type,
                   const std::uint64_t (&address)[kLanes], std::uint32_t mask, unsigned bytes,
                   const SharedCounts& cost);

/// The quick path: a pattern that begins at `first`, the first active lane's address.
void sample_shared_pattern(BlockRun& run, const Op& op, const Pattern& p, std::uint64_t first);
void sample_global_pattern(BlockRun& run, const Op& op, const Pattern& p, std::uint64_t first,
                           unsigned sectors);

/// From which number of sectors on the current pattern of a site is the worst so far.
std::uint32_t sample_threshold(const BlockRun& run, const Op& op, unsigned ideal);

/// Of two workers' samples of one site the worse, or that of the lower block.
void merge_sample(SiteSample& to, const SiteSample& from);

}  // namespace simgpu::exec
