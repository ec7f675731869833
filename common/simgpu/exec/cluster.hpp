// Clusters: blocks that run together, know each other's shared memory and meet at a barrier of their
// own (PTX ISA 5.1.5, 9.7.13.4). What is remembered of their order: check/cluster_times.hpp.
#pragma once

#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {

/// What `warp` gives to those that acquire from it, and takes from those that have released.
check::ClusterTimes release(BlockRun& run, unsigned warp);
/// The same of an arrival that releases nothing: the block runs, and has fenced its mbarriers.
check::ClusterTimes release_start(const BlockRun& run);
void acquire(BlockRun& run, unsigned warp, const check::ClusterTimes& from);

/// Lanes have come to barrier.cluster.wait.
void come_to_cluster(BlockRun& run, Warp& w, const BasicBlock& block, std::uint32_t mask);
/// Lets all go on that have waited, if everybody has arrived or ended.
void complete_cluster(ClusterRun& cluster);
/// A block of the cluster has ended: nobody may still need its shared memory.
void check_end_in_cluster(BlockRun& run);

/// What `w` knows of `run`, another block of its cluster, in that block's time.
check::WarpClock clock_in(const BlockRun& run, const Warp& w);

/// An access of another block's shared memory, with every check. False after a finding that makes it
/// impossible. `run` is who does it.
bool visit_peer(BlockRun& run, const Warp& w, unsigned lane, std::uint32_t pc, BlockRun& peer,
                std::uint64_t offset);
/// The same, of a load, store or atomic.
bool access_peer(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                 const Target& t, unsigned bytes, bool strong);
void count_cluster(BlockRun& run, const Op& op);

}  // namespace simgpu::exec
