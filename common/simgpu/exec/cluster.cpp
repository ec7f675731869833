#include "common/simgpu/exec/cluster.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/simgpu/exec/async_proxy.hpp"
#include "common/simgpu/exec/barriers.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/memory_ops.hpp"

namespace simgpu::exec {

namespace {

std::string block_text(const BlockRun& run) {
  return "block (" + std::to_string(run.index.x) + "," + std::to_string(run.index.y) + "," +
         std::to_string(run.index.z) + ") of its cluster";
}

void stop_with(Warp& w, std::uint32_t pc, std::uint32_t mask, std::string why) {
  add_finding(*w.run, FindingKind::trap, pc, UINT32_MAX,
              describe(*w.run, {pc, w.index, static_cast<unsigned>(std::countr_zero(mask)),
                                AccessType::load, MemorySpace::shared, 0, 0}),
              std::nullopt, std::move(why));
  abort_launch(*w.run);
}

/// Of an access of shared memory of `peer`.
void tell(BlockRun& run, const Warp& w, unsigned lane, std::uint32_t pc, const BlockRun& peer,
          std::uint64_t offset, const char* why) {
  LaneAccess access{pc, w.index, lane, AccessType::store, MemorySpace::shared, 4, offset};
  const Access at = describe(run, access);
  access.pc = UINT32_MAX;
  access.type = AccessType::load;
  add_finding(run, FindingKind::shared_race, pc, UINT32_MAX, at,
              describe_thread(*run.launch, peer.number, 0, access),
              line_text(*run.launch->program, pc) + " reaches shared memory of " +
                  block_text(peer) + ", which " + why);
}

}  // namespace

// ---- order

check::ClusterTimes release(BlockRun& run, unsigned warp) {
  check::ClusterTimes times = run.known;
  times.join(release_start(run));
  run.clocks.arrive(warp, times.of[run.rank]);
  bound_times(run);
  return times;
}

check::ClusterTimes release_start(const BlockRun& run) {
  check::ClusterTimes times;
  times.of.resize(run.rank + 1);
  times.of[run.rank].begun = true;
  times.of[run.rank].inits = run.fenced_inits;
  return times;
}

void acquire(BlockRun& run, unsigned warp, const check::ClusterTimes& from) {
  run.known.join(from);
  if (run.rank < from.of.size()) run.clocks.join(warp, from.of[run.rank]);
}

check::WarpClock clock_in(const BlockRun& run, const Warp& w) {
  check::WarpClock clock;
  const check::ClusterTimes& known = w.run->known;
  if (run.rank < known.of.size()) {
    clock.seen = clock.all = known.of[run.rank].seen;
    clock.proxied = known.of[run.rank].proxied;
  }
  return clock;
}

// ---- the cluster's barrier

void op_cluster_arrive(Warp& w, const Op& op) {
  if (w.mask != w.live()) let_leave(w);
  if ((op.x & kWholeWarp) != 0 && w.mask != w.live()) report_part_of_warp(w, op);
  if (((w.cluster_arrived | w.cluster_passed) & w.mask) != 0)
    return stop_with(w, op.pc, w.mask,
                     "barrier.cluster.arrive twice without barrier.cluster.wait between them");
  w.cluster_arrived |= w.mask;
  ClusterRun& cluster = *w.run->cluster;
  cluster.arriving.join((op.x & kRelaxed) == 0 ? release(*w.run, w.index) : release_start(*w.run));
  ++w.run->proxy.events;
  complete_cluster(cluster);
}

void come_to_cluster(BlockRun& run, Warp& w, const BasicBlock& block, std::uint32_t mask) {
  if ((mask & ~(w.cluster_arrived | w.cluster_passed)) != 0)
    return stop_with(w, block.pc, mask,
                     "barrier.cluster.wait by threads that have not arrived: "
                     "barrier.cluster.arrive must come first");
  const std::uint32_t passes = mask & w.cluster_passed, waits = mask & ~passes;
  if (passes != 0) {
    w.cluster_passed &= ~passes;
    acquire(run, w.index, run.cluster->ended);
    w.frames[w.depth].ready.push_back({block.next, passes, block.pc});
  }
  if (waits != 0)
    w.parked.push_back({block.next, waits, block.pc, 0, block.detail, 0, WaitsFor::cluster});
}

void complete_cluster(ClusterRun& cluster) {
  std::uint32_t arrived = 0;
  for (const BlockRun* run : cluster.blocks)
    for (const Warp& w : run->warps) {
      if (((w.cluster_arrived | w.exited) & w.launched) != w.launched) return;
      arrived |= w.cluster_arrived;
    }
  if (arrived == 0) return;
  cluster.ended = std::exchange(cluster.arriving, {});
  for (BlockRun* run : cluster.blocks) {
    ++run->proxy.events;
    for (Warp& w : run->warps) {
      w.cluster_passed |= std::exchange(w.cluster_arrived, 0);
      std::erase_if(w.parked, [&](const Parked& p) {
        if (p.what != WaitsFor::cluster) return false;
        w.cluster_passed &= ~p.mask;
        acquire(*run, w.index, cluster.ended);
        w.frames[w.depth].ready.push_back({p.resume, p.mask, p.pc});
        return true;
      });
    }
  }
}

// ---- addresses; Op::a address, Op::b rank, Op::width bytes of an address, Op::x its space

namespace {
std::uint64_t load_address(const Warp& w, const Op& op, unsigned lane) {
  return op.width == 8 ? lanes_of<std::uint64_t>(w, op.a)[lane]
                       : lanes_of<std::uint32_t>(w, op.a)[lane];
}
/// A generic address of shared memory, or one in its space?
bool is_shared(const Op& op, std::uint64_t address) {
  return static_cast<ptx::Space>(op.x) != ptx::Space::generic ||
         (address & ~(memory::kSlotBytes - 1)) == memory::kSharedWindow;
}
}  // namespace

void op_map_address(Warp& w, const Op& op) {
  const auto* rank = lanes_of<std::uint32_t>(w, op.b);
  for (unsigned i = 0; i < kLanes; ++i) {
    if (((w.mask >> i) & 1u) == 0) continue;
    const std::uint64_t from = load_address(w, op, i);
    if (rank[i] >= w.run->cluster->blocks.size())
      return stop_with(w, op.pc, 1u << i,
                       "mapa to block " + std::to_string(rank[i]) + " of a cluster of " +
                           std::to_string(w.run->cluster->blocks.size()));
    if (!is_shared(op, from))
      return stop_with(w, op.pc, 1u << i, "mapa of an address that is not of shared memory");
    const std::uint64_t window = from & ~(memory::kSlotBytes - 1);
    const std::uint64_t to =
        window | memory::rank_bits(rank[i]) | memory::in_block(memory::offset_of(from));
    if (op.width == 8)
      lanes_of<std::uint64_t>(w, op.dst)[i] = to;
    else
      lanes_of<std::uint32_t>(w, op.dst)[i] = static_cast<std::uint32_t>(to);
  }
}

void op_rank_of_address(Warp& w, const Op& op) {
  auto* to = lanes_of<std::uint32_t>(w, op.dst);
  for (unsigned i = 0; i < kLanes; ++i) {
    if (((w.mask >> i) & 1u) == 0) continue;
    const std::uint64_t from = load_address(w, op, i);
    if (!is_shared(op, from))
      return stop_with(w, op.pc, 1u << i, "getctarank of an address that is not of shared memory");
    to[i] = static_cast<std::uint32_t>(memory::rank_in(memory::offset_of(from)));
  }
}

// ---- shared memory of other blocks

bool visit_peer(BlockRun& run, const Warp& w, unsigned lane, std::uint32_t pc, BlockRun& peer,
                std::uint64_t offset) {
  const Checks& checks = run.launch->options.checks;
  if (peer.done) {
    if (checks.memory)
      tell(run, w, lane, pc, peer, offset,
           "has ended: a barrier of the cluster must keep it until all are done");
    return false;
  }
  if (checks.race) {
    if (!run.known.of[peer.rank].begun)
      tell(run, w, lane, pc, peer, offset,
           "may not have begun: a barrier of the cluster must come first");
    peer.visits[run.rank * check::kMaxWarps + w.index] = {pc, run.clocks.now(), lane};
  }
  return true;
}

bool access_peer(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                 const Target& t, unsigned bytes, bool strong) {
  BlockRun& peer = *t.peer;
  if (!visit_peer(run, w, lane, op.pc, peer, t.offset)) return false;
  const Checks& checks = run.launch->options.checks;
  if (!checks.race && !checks.init) return true;
  const std::uint64_t in = t.offset - memory::kSharedBase;
  const bool load = type == AccessType::load;
  if (!load) overwrites_async_read(peer, w, lane, op.pc, static_cast<std::uint32_t>(in), bytes);
  const check::WarpClock clock = clock_in(peer, w);
  bool told = false;
  for (std::uint64_t g = in >> peer.shadow.shift; g <= (in + bytes - 1) >> peer.shadow.shift; ++g) {
    check::Tag& written = peer.shadow.written[g];
    if (written == 0 && type != AccessType::store && checks.init && !told) {
      report_uninitialised(run, w, lane, op, bytes, t.offset, t);
      told = true;
    }
    const bool copied = check::is_pending(written) || check::is_by_engine(written);
    if (copied && check::SharedShadow::suspicious(written, clock, UINT32_MAX, lane)) {
      report_bulk_conflict(peer, w, lane, op, type, t.offset, bytes, static_cast<std::uint32_t>(g));
      return !load;
    }
    if (!load && !copied) written = check::tag(peer.clocks.now(), check::kManyWarps);
  }
  if (checks.race) check_peer_access(run, w, lane, op, type, t, bytes, strong);
  return true;
}

void count_cluster(BlockRun& run, const Op& op) {
  if (run.launch->options.count) ++run.worker->counters.sites[op.site].cluster_requests;
}

void check_end_in_cluster(BlockRun& run) {
  if (!run.launch->options.checks.race) return;
  for (std::size_t k = 0; k < run.visits.size(); ++k) {
    const VisitOfPeer& visit = run.visits[k];
    const std::size_t rank = k / check::kMaxWarps;
    const auto warp = static_cast<unsigned>(k % check::kMaxWarps);
    if (visit.pc == UINT32_MAX || run.known.knows(rank, warp, visit.time)) continue;
    BlockRun& visitor = *run.cluster->blocks[rank];
    tell(visitor, visitor.warps[warp], visit.lane, visit.pc, run, memory::kSharedBase,
         "may have ended by then: a barrier of the cluster must keep it until all are done");
  }
}

}  // namespace simgpu::exec
