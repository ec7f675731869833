#include "common/simgpu/exec/barriers.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "common/simgpu/exec/cluster.hpp"
#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {
namespace {

void write_reduction(Warp& w, const Parked& p, const Barrier& bar, std::uint32_t ones,
                     std::uint32_t total) {
  const bool every = ones == total, any = ones != 0;
  if (bar.reduce == 1) {
    std::uint32_t* d = lanes_of<std::uint32_t>(w, bar.dst);
    for (unsigned i = 0; i < kLanes; ++i)
      if ((p.mask >> i) & 1u) d[i] = ones;
  } else {
    std::uint32_t& d = *lanes_of<std::uint32_t>(w, bar.dst);
    const bool value = bar.reduce == 2 ? every : any;
    d = value ? (d | p.mask) : (d & ~p.mask);
  }
}

void check_barrier_on_completion(BlockRun& run, std::uint32_t id) {
  const LaunchRun& l = *run.launch;
  const Program& p = *l.program;
  const BarrierState& b = run.barriers[id];
  if (b.expected != 0) return;  // parts of a block meet by number, wherever they are
  const SourceLine first_line = p.line_of(b.first_pc);
  for (const Warp& w : run.warps)
    for (const Parked& k : w.parked) {
      if (k.what != WaitsFor::barrier || k.barrier != id || k.pc == b.first_pc) continue;
      // Lanes of a warp that wait at different barriers have been told of.
      if (((run.diverged >> w.index) & 1u) != 0) continue;
      const SourceLine line = p.line_of(k.pc);
      const bool same_place = line.line != 0 && line == first_line;
      if (same_place) continue;
      const unsigned lane = static_cast<unsigned>(std::countr_zero(k.mask));
      Access at = describe(run, {k.pc, w.index, lane, AccessType::load, MemorySpace::shared, 0, 0});
      Access other = at;
      other.where = first_line;
      for (const Warp& v : run.warps)
        for (const Parked& q : v.parked)
          if (q.what == WaitsFor::barrier && q.barrier == id && q.pc == b.first_pc)
            other.thread = thread_index(
                l.block, v.index * kLanes + static_cast<unsigned>(std::countr_zero(q.mask)));
      add_finding(run, FindingKind::mismatched_barrier, k.pc, b.first_pc, at, other,
                  "warp " + std::to_string(w.index) + " waits at the barrier of " +
                      line_text(p, k.pc) + " while others of its block wait at the one of " +
                      line_text(p, b.first_pc) +
                      ": all threads of a block must meet at the same __syncthreads()");
      return;
    }
  if (run.exited != 0) {
    auto most = std::max_element(
        run.exits.begin(), run.exits.end(),
        [](const auto& x, const auto& y) { return x.second.threads < y.second.threads; });
    Access at;
    for (const Warp& w : run.warps)
      for (const Parked& k : w.parked)
        if (k.what == WaitsFor::barrier && k.barrier == id && at.where.line == 0)
          at = describe(run, {k.pc, w.index, static_cast<unsigned>(std::countr_zero(k.mask)),
                              AccessType::load, MemorySpace::shared, 0, 0});
    Access other = at;
    other.where = p.line_of(most->first);
    other.thread = thread_index(l.block, most->second.first);
    // Code lies in the order of the source: who ended behind the barrier went past it by a branch,
    // who ended before it never came that far.
    std::uint32_t past = 0, past_pc = 0;
    for (const auto& [pc, left] : run.exits)
      if (b.first_pc != UINT32_MAX && pc > b.first_pc) past += left.threads, past_pc = pc;
    if (2 * past > run.exited) {
      other.where = p.line_of(past_pc);
      other.thread = thread_index(l.block, run.exits[past_pc].first);
      add_finding(run, FindingKind::divergent_barrier, b.first_pc, past_pc, at, other,
                  std::to_string(past) + " of " + std::to_string(l.threads) +
                      " threads went past the barrier at " + line_text(p, b.first_pc) +
                      " and have ended (" + line_text(p, past_pc) +
                      "): __syncthreads() must not be placed where only some threads get to it");
      return;
    }
    add_finding(run, FindingKind::exited_before_barrier, b.first_pc, most->first, at, other,
                std::to_string(run.exited) + " of " + std::to_string(l.threads) +
                    " threads returned (" + line_text(p, most->first) + ") before the barrier at " +
                    line_text(p, b.first_pc) +
                    ": every thread of a block must reach every __syncthreads()");
  }
}

void complete_barrier(BlockRun& run, std::uint32_t id) {
  BarrierState& b = run.barriers[id];
  if (run.launch->options.checks.barrier) check_barrier_on_completion(run, id);
  for (Warp& w : run.warps) {
    for (std::size_t k = 0; k < w.parked.size();) {
      const Parked p = w.parked[k];
      if (p.what != WaitsFor::barrier || p.barrier != id) {
        ++k;
        continue;
      }
      const Barrier& bar = run.launch->program->barriers[p.detail];
      if (bar.reduce != 0) write_reduction(w, p, bar, b.ones, b.arrived_lanes);
      w.frames[w.depth].ready.push_back({p.resume, p.mask, p.pc});
      w.parked.erase(w.parked.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  run.diverged = 0;
  std::uint32_t waiting = b.waiting_warps;
  if (b.expected == 0) {
    // Warps that are gone order nothing, and nobody waits for them.
    for (const Warp& w : run.warps)
      if (w.live() == 0) waiting |= 1u << w.index;
  }
  run.clocks.barrier(waiting, b.arrivals);
  settle_swaps(run);
  ++run.worker->counters.block_barriers[b.first_pc != UINT32_MAX ? b.first_pc : b.arrive_pc];
  b = BarrierState{};
  bound_times(run);
}

/// All threads that can come have come?
bool is_complete(const BlockRun& run, const BarrierState& b) {
  if (b.arrived_lanes == 0 && b.arrived_count == 0) return false;
  if (b.expected == 0) return b.arrived_lanes + run.exited >= run.launch->threads;
  return b.arrived_count >= b.expected;
}

/// Whether lanes at block `from` come to the barrier at `pc` whatever branches they take.
bool must_come(const Program& p, std::uint32_t from, std::uint32_t pc) {
  std::vector<bool> seen(p.blocks.size(), false);
  std::vector<std::uint32_t> left{from};
  while (!left.empty()) {
    const std::uint32_t number = left.back();
    left.pop_back();
    if (number == kNoBlock || seen[number]) continue;
    seen[number] = true;
    const BasicBlock& block = p.blocks[number];
    const bool is_certain = block.guard == kNoRef;
    switch (block.end) {
      case End::barrier:
        if (block.pc != pc) return false;
        if (is_certain) continue;
        break;
      case End::exit:
      case End::ret:
        return false;
      case End::trap:
        if (is_certain) continue;
        break;
      case End::next:
        left.push_back(block.target);
        continue;
      case End::indexed:
        for (const std::uint32_t target : p.jumps[block.detail].blocks) left.push_back(target);
        if (is_certain) continue;
        break;
      case End::branch:
        left.push_back(block.target);
        break;
      default:
        break;
    }
    left.push_back(block.next);
  }
  return true;
}

void check_arrival(BlockRun& run, const Warp& w, std::uint32_t mask, std::uint32_t pc) {
  const Program& p = *run.launch->program;
  std::uint32_t elsewhere = w.live() & ~mask;
  std::uint32_t leaving = 0, other_pc = UINT32_MAX;
  for (std::size_t d = 0; d <= w.depth; ++d)
    for (const Group& g : w.frames[d].ready) {
      // Who waits for others comes later. A barrier of half a warp is found when they end elsewhere.
      // So do lanes that a loop's end has kept behind: they have no other way.
      if (g.waited != 0 || (d == w.depth && must_come(p, g.block, pc))) {
        elsewhere &= ~g.mask;
        continue;
      }
      if (d == w.depth && p.blocks[g.block].returns_at_once && p.blocks[g.block].end == End::exit)
        leaving |= g.mask;
      else if (other_pc == UINT32_MAX)
        other_pc = p.blocks[g.block].first_pc;
    }
  for (const Parked& k : w.parked) {
    if (k.pc == pc || k.what == WaitsFor::mbarrier)  // like those that wait in a loop
      elsewhere &= ~k.mask;
    else if (other_pc == UINT32_MAX)
      other_pc = k.pc;
  }
  elsewhere &= ~leaving;
  if (elsewhere == 0) return;
  // The second arm of a branch: that the first one's barrier was reached by some lanes says it all.
  std::uint32_t waiting = 0;
  for (const Parked& k : w.parked)
    if (k.what == WaitsFor::barrier) waiting |= k.mask;
  const std::uint32_t told = 1u << w.index;
  if ((run.diverged & told) != 0 && (elsewhere & ~waiting) == 0) return;
  run.diverged |= told;
  const unsigned here = static_cast<unsigned>(std::popcount(mask)),
                 all = static_cast<unsigned>(std::popcount(w.live()));
  Access at = describe(run, {pc, w.index, static_cast<unsigned>(std::countr_zero(mask)),
                             AccessType::load, MemorySpace::shared, 0, 0});
  std::optional<Access> other;
  std::string where;
  if (other_pc != UINT32_MAX) {
    other = describe(run, {other_pc, w.index, static_cast<unsigned>(std::countr_zero(elsewhere)),
                           AccessType::load, MemorySpace::shared, 0, 0});
    where = " (the others are at " + line_text(p, other_pc) + ")";
  }
  add_finding(run, FindingKind::divergent_barrier, pc, UINT32_MAX, at, other,
              "the barrier is reached by " + std::to_string(here) + " of " + std::to_string(all) +
                  " threads of warp " + std::to_string(w.index) + where +
                  ": __syncthreads() must not be placed where only some threads get to it");
}

/// Barriers 0 to 15, for whole warps (PTX ISA, "bar"); ends the launch with a finding otherwise.
bool exists(BlockRun& run, const Warp& w, std::uint32_t id, std::uint32_t count, std::uint32_t pc,
            std::uint32_t mask) {
  if (id < kBarriers && count % kLanes == 0) return true;
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  add_finding(run, FindingKind::trap, pc, UINT32_MAX,
              describe(run, {pc, w.index, lane, AccessType::load, MemorySpace::shared, 0, 0}),
              std::nullopt,
              id < kBarriers ? "a barrier for " + std::to_string(count) +
                                   " threads: only whole warps can be waited for"
                             : "there is no barrier " + std::to_string(id) +
                                   ": a block has barriers 0 to " + std::to_string(kBarriers - 1));
  abort_launch(run);
  return false;
}

/// Everybody at a barrier must name the same number of threads (PTX ISA, "bar"): which one hardware takes is
/// not defined.
void check_count(BlockRun& run, const Warp& w, std::uint32_t mask, std::uint32_t id,
                 std::uint32_t count, std::uint32_t pc) {
  const BarrierState& b = run.barriers[id];
  if (!run.launch->options.checks.barrier || (b.arrived_lanes == 0 && b.arrived_count == 0)) return;
  const auto threads = [&](std::uint32_t n) { return n == 0 ? run.launch->warps * kLanes : n; };
  if (threads(count) == threads(b.expected)) return;
  const Program& p = *run.launch->program;
  const std::uint32_t other_pc = b.first_pc != UINT32_MAX ? b.first_pc : b.arrive_pc;
  const Access at = describe(run, {pc, w.index, static_cast<unsigned>(std::countr_zero(mask)),
                                   AccessType::load, MemorySpace::shared, 0, 0});
  Access other = at;
  other.where = p.line_of(other_pc);
  add_finding(run, FindingKind::mismatched_barrier, pc, other_pc, at, other,
              "warp " + std::to_string(w.index) + " comes to barrier " + std::to_string(id) +
                  " at " + line_text(p, pc) + " for " + std::to_string(threads(count)) +
                  " threads, others at " + line_text(p, other_pc) + " for " +
                  std::to_string(threads(b.expected)) +
                  ": all who meet at a barrier must name the same number of threads");
}

}  // namespace

std::uint32_t runnable(const Warp& w) {
  std::uint32_t m = w.live();
  for (const Parked& p : w.parked) m &= ~p.mask;
  return m;
}

bool must_wait(const Warp& w, const BasicBlock& block) {
  const std::uint32_t missing = w.live() & ~w.running.mask & block.meets;
  if (missing == 0 || w.hurries) return false;
  const std::uint32_t number = w.running.block;
  for (const Group& g : w.frames[w.depth].ready)
    if (g.waited != 0 && g.block < number && (g.mask & missing) != 0) return true;
  for (const Parked& k : w.parked)
    if (k.what == WaitsFor::mbarrier && k.resume <= number && (k.mask & missing) != 0) return true;
  return false;
}

void park(BlockRun& run, Warp& w, const BasicBlock& block, std::uint32_t mask) {
  const Barrier& bar = run.launch->program->barriers[block.detail];
  const unsigned first = static_cast<unsigned>(std::countr_zero(mask));
  const std::uint32_t id = lanes_of<std::uint32_t>(w, bar.id)[first];
  const std::uint32_t count =
      bar.count == kNoRef ? 0 : lanes_of<std::uint32_t>(w, bar.count)[first];
  if (!exists(run, w, id, count, block.pc, mask)) return;
  if (run.launch->options.checks.barrier && bar.aligned) check_arrival(run, w, mask, block.pc);
  check_count(run, w, mask, id, count, block.pc);
  BarrierState& b = run.barriers[id];
  if (b.first_pc == UINT32_MAX) b.first_pc = block.pc;
  if (count != 0) b.expected = count;
  const auto lanes = static_cast<std::uint32_t>(std::popcount(mask));
  b.arrived_lanes += lanes;
  b.arrived_count += mask == w.live() ? kLanes : lanes;
  b.waiting_warps |= 1u << w.index;
  std::uint32_t pred = 0;
  if (bar.reduce != 0) {
    pred = *lanes_of<std::uint32_t>(w, bar.pred) ^ (bar.pred_negated ? kFullMask : 0u);
    b.ones += static_cast<std::uint32_t>(std::popcount(pred & mask));
  }
  w.parked.push_back({block.next, mask, block.pc, id, block.detail, pred, WaitsFor::barrier});
  ++run.proxy.events;
  if (is_complete(run, b)) complete_barrier(run, id);
}

void lanes_exit(BlockRun& run, Warp& w, std::uint32_t mask, std::uint32_t pc, const Group& group,
                const BasicBlock& block) {
  w.exited |= mask;
  const auto n = static_cast<std::uint32_t>(std::popcount(mask));
  run.exited += n;
  Exits& exits =
      run.exits[block.returns_at_once && group.came_from != UINT32_MAX ? group.came_from : pc];
  if (exits.threads == 0)
    exits.first = w.index * kLanes + static_cast<unsigned>(std::countr_zero(mask));
  exits.threads += n;
  if (run.cluster != nullptr) complete_cluster(*run.cluster);
  for (std::uint32_t id = 0; id < kBarriers; ++id)
    if (run.barriers[id].arrived_lanes != 0 && is_complete(run, run.barriers[id]))
      complete_barrier(run, id);
}

void let_leave(Warp& w) {
  BlockRun& run = *w.run;
  const std::vector<BasicBlock>& blocks = run.launch->program->blocks;
  std::vector<Group> leaving;
  for (std::uint32_t d = 0; d <= w.depth; ++d)
    std::erase_if(w.frames[d].ready, [&](const Group& g) {
      const BasicBlock& block = blocks[g.block];
      if (!block.returns_at_once || block.end != End::exit) return false;
      leaving.push_back(g);
      return true;
    });
  for (const Group& g : leaving) {
    GuardCount& count = run.worker->counters.blocks[g.block];
    ++count.executed;
    count.lanes += static_cast<std::uint32_t>(std::popcount(g.mask));
    w.clock += blocks[g.block].instructions;
    lanes_exit(run, w, g.mask, blocks[g.block].pc, g, blocks[g.block]);
  }
}

void arrive_at_barrier(Warp& w, std::uint32_t id, std::uint32_t count, std::uint32_t pc) {
  BlockRun& run = *w.run;
  if (!exists(run, w, id, count, pc, w.mask)) return;
  check_count(run, w, w.mask, id, count, pc);
  BarrierState& b = run.barriers[id];
  b.arrive_pc = pc;
  b.expected = count;
  b.arrived_count +=
      w.mask == w.live() ? kLanes : static_cast<std::uint32_t>(std::popcount(w.mask));
  run.clocks.arrive(w.index, b.arrivals);
  bound_times(run);
  if (is_complete(run, b)) complete_barrier(run, id);
}

}  // namespace simgpu::exec
