// mbarrier (PTX ISA 9.7.13.15): arrivals, transactions, phases and who waits for them.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "common/simgpu/exec/async_proxy.hpp"
#include "common/simgpu/exec/cluster.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/memory_ops.hpp"

namespace simgpu::exec {

using check::MBarrier;

namespace {

constexpr unsigned kBytes = 8;
/// How often those that only test, or whose wait has a time limit, are let go while nothing else
/// happens in the block. Then it waits for ever.
constexpr unsigned kIdleRounds = 1000, kIdleRoundsOfLookers = 64;

Access shared_access(const BlockRun& run, const Warp& w, unsigned lane, std::uint32_t pc,
                     std::uint64_t offset) {
  return describe(run,
                  {pc, w.index, lane, AccessType::atomic, MemorySpace::shared, kBytes, offset});
}

void trap(BlockRun& run, const Warp& w, unsigned lane, std::uint32_t pc, std::uint64_t offset,
          std::string why, FindingCause cause = FindingCause::unspecified) {
  add_finding(run, FindingKind::trap, pc, UINT32_MAX, shared_access(run, w, lane, pc, offset),
              std::nullopt, std::move(why), cause);
  abort_launch(run);
}

/// Marks an access of the barrier object as one of the thread, so that an initialisation that others
/// may not have seen is a race.
void mark(BlockRun& run, const Warp& w, unsigned lane, std::uint32_t pc, AccessType type,
          std::uint64_t offset) {
  const Checks& checks = run.launch->options.checks;
  if (!checks.race && !checks.init) return;
  Op op;
  op.pc = pc;
  check_shared_access(run, w, lane, op, type, offset, kBytes);
}

/// The phase ends if all have come.
void end_phase(BlockRun& run, MBarrier& b) {
  if (b.pending != 0 || b.transactions != 0) return;
  ++b.phase;
  b.pending = b.expected;
  b.ended = b.arriving;
  b.arriving = {};
  b.ended_remote = std::exchange(b.arriving_remote, {});
  b.announced_before = std::exchange(b.announced, 0);
  b.brought = 0;
  ++run.proxy.events;
  bound_times(run);
}

bool expect(const Warp& w, unsigned lane, std::uint32_t pc, const BarrierPlace& at,
            std::uint32_t bytes) {
  MBarrier& b = *at.barrier;
  if (bytes > check::kMostTransactions || b.transactions + bytes > check::kMostTransactions) {
    trap(*w.run, w, lane, pc, at.offset,
         "expect_tx of " + std::to_string(bytes) + " bytes: an mbarrier counts up to " +
             std::to_string(check::kMostTransactions));
    return false;
  }
  b.transactions += bytes;
  b.announced += bytes;
  b.expect_pc = pc;
  ++at.block->proxy.events;
  return true;
}

/// Where the barrier lies, checked; UINT32_MAX after a finding.
std::uint32_t offset_of(BlockRun& run, const Warp& w, unsigned lane, std::uint32_t pc,
                        ptx::Space space, std::uint64_t address, Target* target) {
  *target = resolve(run, w, lane, space, address, kBytes, true);
  Op op;
  op.pc = pc;
  if (target->fault == Target::Fault::none && target->space != MemorySpace::shared) {
    trap(run, w, lane, pc, memory::kSharedBase, "an mbarrier must lie in shared memory");
    return UINT32_MAX;
  }
  if (target->fault != Target::Fault::none) {
    report_fault(run, w, lane, op, AccessType::atomic, kBytes, address, *target);
    return UINT32_MAX;
  }
  return static_cast<std::uint32_t>(target->offset);
}

/// A state of the barrier, as arrive returns it: the phase, and the arrivals that were missing.
std::uint64_t state_of(const MBarrier& b) {
  return std::uint64_t{b.phase} << 32 | b.pending;
}

/// More lanes of a warp arrive by this instruction than end a phase.
bool at_once_too_many(const MBarrier& b, const Op& op) {
  return b.at_once_pc == op.pc && b.at_once > b.expected;
}

/// Why more have arrived than can, and what to do.
std::string surplus_text(const Warp& w, const MBarrier& b, const Op& op) {
  if (at_once_too_many(b, op))
    return ": " + std::to_string(std::popcount(w.mask)) + " lanes of a warp arrive, and " +
           std::to_string(b.expected) + (b.expected == 1 ? " arrival ends" : " arrivals end") +
           " a phase: let one thread do it";
  if (b.pending == 0 && b.transactions != 0)
    return ": the phase waits only for the bytes of copies; who fills the place again must first wait "
           "until those who read it have given it free";
  return "";
}

void arrive(Warp& w, unsigned lane, const Op& op, const BarrierPlace& at, std::uint32_t count,
            bool drops) {
  BlockRun& run = *at.block;
  MBarrier& b = *at.barrier;
  if (count == 0 || count > b.pending || (drops && count > b.expected)) {
    trap(*w.run, w, lane, op.pc, at.offset,
         count == 0
             ? "an arrival counts 1 at least"
             : "more arrivals at " + mbarrier_text(run, at.offset) +
                   " than its phase expects: " + std::to_string(b.expected) +
                   " by mbarrier.init, " + std::to_string(b.pending) + " still missing, and " +
                   std::to_string(count) + " come" + surplus_text(w, b, op),
         count > 0 && b.pending == 0 && !at_once_too_many(b, op) ? FindingCause::late_bytes
                                                                 : FindingCause::unspecified);
    return;
  }
  if (&run == w.run)
    run.clocks.arrive(w.index, b.arriving, 1u << lane, w.live());
  else
    b.arriving_remote.join(release(*w.run, w.index));
  b.pending -= count;
  if (drops) b.expected -= count;
  ++run.proxy.events;
  end_phase(run, b);
}

/// Ended already? Lets copies arrive that the phase waits for.
bool has_ended(BlockRun& run, std::uint32_t offset, MBarrier& b, const MBarrierWait& form,
               std::uint64_t phase) {
  const auto ended = [&] {
    return form.by_parity ? (b.phase & 1u) != (phase & 1u) : b.phase != phase >> 32;
  };
  if (!ended()) land_copies(run, offset, b);
  return ended();
}

/// `lanes` of `w` have waited for the last phase.
void join_phase(BlockRun& run, const Warp& w, std::uint32_t lanes, const MBarrier& b) {
  run.clocks.join(w.index, b.ended, lanes, w.live());
  if (!b.ended_remote.of.empty()) acquire(run, w.index, b.ended_remote);
}

void write_lane(const Warp& w, Ref dst, std::uint32_t lanes, bool value) {
  std::uint32_t& p = *lanes_of<std::uint32_t>(w, dst);
  p = value ? p | lanes : p & ~lanes;
}

void resume(Warp& w, const Parked& p, bool value) {
  const MBarrierWait& form = w.run->launch->program->waits[p.detail];
  write_lane(w, form.dst, p.mask, value);
  w.frames[w.depth].ready.push_back({p.resume, p.mask, p.pc});
}

}  // namespace

std::string mbarrier_text(const BlockRun& run, std::uint32_t offset) {
  const Access a =
      describe_thread(*run.launch, run.number, 0,
                      {0, 0, 0, AccessType::atomic, MemorySpace::shared, kBytes, offset});
  return a.object.empty() ? "the mbarrier at byte " + std::to_string(offset) + " of shared memory"
                          : "the mbarrier " + a.object + "+" + std::to_string(a.offset);
}

namespace {

/// Whoever uses an mbarrier must know that it has been initialised. The record of accesses does not say so once its
/// own thread has used it, too.
void check_initialised(BlockRun& run, const Warp& w, unsigned lane, std::uint32_t pc,
                       std::uint32_t offset, const MBarrier& b) {
  LaunchRun& l = *run.launch;
  if (!l.options.checks.race ||
      !run.clocks.of(w.index).unordered(w.index * kLanes + lane, b.init_thread, b.init_time))
    return;
  // fence.mbarrier_init and a relaxed barrier of the cluster.
  if (b.known_to_proxy && run.rank < run.known.of.size() &&
      b.init_time < run.known.of[run.rank].inits)
    return;
  if (!l.exact) {
    l.suspicious.store(true, std::memory_order_relaxed);
    return;
  }
  LaneAccess theirs{b.init_pc, 0, 0, AccessType::store, MemorySpace::shared, kBytes, offset};
  add_finding(run, FindingKind::shared_race, pc, b.init_pc, shared_access(run, w, lane, pc, offset),
              describe_thread(l, run.number, b.init_thread, theirs),
              line_text(*l.program, pc) + " uses " + mbarrier_text(run, offset) + ", which " +
                  line_text(*l.program, b.init_pc) +
                  " initialises in the same barrier interval: a __syncthreads() must come between "
                  "them");
}

}  // namespace

BarrierPlace find_mbarrier(BlockRun& run, const Warp& w, unsigned lane, std::uint32_t pc,
                           ptx::Space space, std::uint64_t address) {
  Target t;
  const std::uint32_t offset = offset_of(run, w, lane, pc, space, address, &t);
  if (offset == UINT32_MAX) return {};
  BlockRun& owner = t.peer != nullptr ? *t.peer : run;
  if (&owner != &run && !visit_peer(run, w, lane, pc, owner, offset)) return {};
  const auto it = owner.proxy.barriers.find(offset);
  if (it == owner.proxy.barriers.end()) {
    trap(run, w, lane, pc, offset,
         "there is no mbarrier at byte " + std::to_string(offset) + " of shared memory" +
             (&owner != &run ? " of block " + std::to_string(owner.rank) + " of the cluster" : "") +
             ": none was initialised there before this instruction");
    return {};
  }
  const MBarrier& b = it->second;
  if (&owner == &run) check_initialised(run, w, lane, pc, offset, b);
  if (&owner != &run && run.launch->options.checks.race &&
      !run.known.knows(owner.rank, b.init_thread / kLanes, b.init_time) &&
      !(b.known_to_proxy && b.init_time < run.known.of[owner.rank].inits))
    add_finding(run, FindingKind::shared_race, pc, b.init_pc,
                shared_access(run, w, lane, pc, offset), std::nullopt,
                line_text(*run.launch->program, pc) + " uses " + mbarrier_text(owner, offset) +
                    " of block " + std::to_string(owner.rank) +
                    " of the cluster, whose initialisation on " +
                    line_text(*run.launch->program, b.init_pc) +
                    " may not have happened yet: a barrier of the cluster must come first");
  return {&it->second, &owner, offset};
}

void complete_transaction(BlockRun& run, MBarrier& b, std::uint32_t bytes) {
  b.transactions -= bytes;
  b.brought += bytes;
  ++run.proxy.events;
  end_phase(run, b);
}

// ---- instructions; Op::a address, Op::imm its offset, Op::x space, Op::b count or bytes

void op_mbarrier_init(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  const auto* address = lanes_of<std::uint64_t>(w, op.a);
  const auto* count = lanes_of<std::uint32_t>(w, op.b);
  for (std::uint32_t left = w.mask; left != 0 && !run.aborted; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    Target t;
    const std::uint32_t offset = offset_of(run, w, i, op.pc, static_cast<ptx::Space>(op.x),
                                           address[i] + static_cast<std::uint64_t>(op.imm), &t);
    if (offset == UINT32_MAX) continue;
    if (count[i] == 0 || count[i] > check::kMostArrivals) {
      trap(run, w, i, op.pc, offset,
           "mbarrier.init for " + std::to_string(count[i]) + " arrivals: 1 to " +
               std::to_string(check::kMostArrivals) + " can be expected");
      return;
    }
    mark(run, w, i, op.pc, AccessType::store, offset);
    std::memset(t.data, static_cast<int>(memory::kPoison), kBytes);
    MBarrier b;
    b.expected = b.pending = count[i];
    b.engine = run.proxy.engines++ % check::kEngines;
    b.init_pc = op.pc;
    b.init_thread = w.index * kLanes + i;
    b.init_time = run.clocks.now();
    run.proxy.barriers[offset] = b;
    ++run.proxy.events;
  }
}

void op_mbarrier_inval(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  const auto* address = lanes_of<std::uint64_t>(w, op.a);
  for (std::uint32_t left = w.mask; left != 0 && !run.aborted; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t at = address[i] + static_cast<std::uint64_t>(op.imm);
    const BarrierPlace place = find_mbarrier(run, w, i, op.pc, static_cast<ptx::Space>(op.x), at);
    if (place.block != &run) continue;
    mark(run, w, i, op.pc, AccessType::store, place.offset);
    run.proxy.barriers.erase(place.offset);
  }
}

/// All forms of arrive, expect_tx and complete_tx. Op::c: the count of arrivals, Op::y: what to do.
void op_mbarrier_arrive(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  const auto* address = lanes_of<std::uint64_t>(w, op.a);
  const auto* bytes = op.b != kNoRef ? lanes_of<std::uint32_t>(w, op.b) : nullptr;
  const auto* count = op.c != kNoRef ? lanes_of<std::uint32_t>(w, op.c) : nullptr;
  const MBarrier* met = nullptr;
  std::uint32_t lanes = 0;  // that have arrived there
  for (std::uint32_t left = w.mask; left != 0 && !run.aborted; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t at = address[i] + static_cast<std::uint64_t>(op.imm);
    const auto space = static_cast<ptx::Space>(op.x);
    const BarrierPlace place = find_mbarrier(run, w, i, op.pc, space, at);
    if (place.barrier == nullptr) continue;
    if (place.block == &run) mark(run, w, i, op.pc, AccessType::atomic, place.offset);
    if ((op.y & kExpects) != 0 && !expect(w, i, op.pc, place, bytes[i])) return;
    if (op.dst != kNoRef) lanes_of<std::uint64_t>(w, op.dst)[i] = state_of(*place.barrier);
    if ((op.y & kCompletes) != 0) complete_transaction(*place.block, *place.barrier, bytes[i]);
    if ((op.y & kArrives) == 0) continue;
    lanes = place.barrier == met ? lanes + 1 : 1;
    met = place.barrier;
    if (lanes > place.barrier->at_once)
      place.barrier->at_once = lanes, place.barrier->at_once_pc = op.pc;
    arrive(w, i, op, place, count != nullptr ? count[i] : 1, (op.y & kDrops) != 0);
  }
}

void op_mbarrier_pending(Warp& w, const Op& op) {
  const auto* state = lanes_of<std::uint64_t>(w, op.a);
  auto* d = lanes_of<std::uint32_t>(w, op.dst);
  for (unsigned i = 0; i < kLanes; ++i)
    if ((w.mask >> i) & 1u) d[i] = static_cast<std::uint32_t>(state[i]);
}

/// What a thread wrote before a proxy fence, the asynchronous proxy sees: memory, and barriers.
void op_fence_proxy(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  run.clocks.fence_proxy(w.index);
  bound_times(run);
  op_fence_mbarrier(w, op);
}
void op_fence_mbarrier(Warp& w, const Op&) {
  if (w.run->cluster != nullptr) w.run->fenced_inits = w.run->clocks.tick();
  for (auto& [offset, b] : w.run->proxy.barriers)
    if (b.init_thread / kLanes == w.index && ((w.mask >> (b.init_thread % kLanes)) & 1u) != 0)
      b.known_to_proxy = true;
}

// ---- waiting

void wait_at_mbarrier(BlockRun& run, Warp& w, const BasicBlock& block, std::uint32_t mask) {
  const MBarrierWait& form = run.launch->program->waits[block.detail];
  const auto* address = lanes_of<std::uint64_t>(w, form.address);
  const auto space = form.generic ? ptx::Space::generic : ptx::Space::shared;
  Frame& frame = w.frames[w.depth];
  std::uint32_t through = 0;
  if (!form.is_looked_at && run.launch->options.checks.race)
    add_finding(run, FindingKind::async_not_waited, block.pc, UINT32_MAX,
                describe(run, {block.pc, w.index, static_cast<unsigned>(std::countr_zero(mask)),
                               AccessType::load, MemorySpace::shared, 0, 0}),
                std::nullopt,
                "nobody looks at what the wait of " + line_text(*run.launch->program, block.pc) +
                    " returns: it may come back before the phase has ended, with false, and must "
                    "then be repeated, in a loop");
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t at = address[i] + static_cast<std::uint64_t>(form.offset);
    const BarrierPlace place = find_mbarrier(run, w, i, block.pc, space, at);
    if (place.barrier != nullptr && place.block != &run)
      trap(run, w, i, block.pc, place.offset,
           "a thread can wait only at an mbarrier in its own block's shared memory");
    if (place.block != &run) {
      if (!run.aborted) abort_launch(run);
      return;
    }
    MBarrier* const b = place.barrier;
    const std::uint32_t offset = place.offset;
    mark(run, w, i, block.pc, AccessType::atomic, offset);
    const std::uint64_t phase = form.by_parity ? lanes_of<std::uint32_t>(w, form.phase)[i]
                                               : lanes_of<std::uint64_t>(w, form.phase)[i];
    if (form.by_parity && phase > 1) {
      trap(run, w, i, block.pc, offset,
           "the parity of a phase is 0 or 1, not " + std::to_string(phase));
      return;
    }
    if (has_ended(run, offset, *b, form, phase)) {
      join_phase(run, w, 1u << i, *b);
      if (form.by_parity) b->passed_pc = block.pc, b->passed_phase = b->phase;
      through |= 1u << i;
      continue;
    }
    // Parked lanes remember their phase by its parity, or the low half of its number.
    const auto wanted = static_cast<std::uint32_t>(form.by_parity ? phase : phase >> 32);
    const auto same = std::find_if(w.parked.begin(), w.parked.end(), [&](const Parked& p) {
      return p.what == WaitsFor::mbarrier && p.pc == block.pc && p.barrier == offset &&
             p.pred == wanted;
    });
    if (same != w.parked.end())
      same->mask |= 1u << i;
    else
      w.parked.push_back(
          {block.next, 1u << i, block.pc, offset, block.detail, wanted, WaitsFor::mbarrier});
  }
  if (through == 0) return;
  write_lane(w, form.dst, through, true);
  frame.ready.push_back({block.next, through, block.pc});
}

bool wake_at_mbarriers(BlockRun& run, Warp& w) {
  bool woken = false;
  for (std::size_t k = 0; k < w.parked.size();) {
    const Parked p = w.parked[k];
    if (p.what != WaitsFor::mbarrier) {
      ++k;
      continue;
    }
    const MBarrierWait& form = run.launch->program->waits[p.detail];
    const auto it = run.proxy.barriers.find(p.barrier);
    const std::uint64_t phase = form.by_parity ? p.pred : std::uint64_t{p.pred} << 32;
    const bool ended =
        it == run.proxy.barriers.end() || has_ended(run, p.barrier, it->second, form, phase);
    if (!ended) {
      ++k;
      continue;
    }
    if (it != run.proxy.barriers.end()) join_phase(run, w, p.mask, it->second);
    w.parked.erase(w.parked.begin() + static_cast<std::ptrdiff_t>(k));
    resume(w, p, true);
    woken = true;
  }
  return woken;
}

bool time_out_at_mbarriers(BlockRun& run, bool others_look) {
  if (run.idle_since != run.proxy.events) {
    run.idle_since = run.proxy.events;
    run.idle_rounds = 0;
  }
  if (++run.idle_rounds > (others_look ? kIdleRoundsOfLookers : kIdleRounds))
    return false;  // they stay parked, to be told of
  bool woken = false;
  for (Warp& w : run.warps)
    for (std::size_t k = 0; k < w.parked.size();) {
      const Parked p = w.parked[k];
      if (p.what != WaitsFor::mbarrier) {
        ++k;
        continue;
      }
      w.parked.erase(w.parked.begin() + static_cast<std::ptrdiff_t>(k));
      resume(w, p, false);
      woken = true;
    }
  return woken;
}

namespace {

/// " ([2] of the 4 that ring.cuh:60 sets up for 128 arrivals)": which of the barriers it is that share a
/// struct, or dynamic shared memory. Those that one line sets up alike are most likely an array.
std::string which_of_many(const BlockRun& run, std::uint32_t offset) {
  const auto object_of = [&run](std::uint32_t at) {
    return describe_thread(*run.launch, run.number, 0,
                           {0, 0, 0, AccessType::atomic, MemorySpace::shared, kBytes, at})
        .object;
  };
  const Program& p = *run.launch->program;
  const MBarrier& own = run.proxy.barriers.at(offset);
  const std::string object = object_of(offset), line = line_text(p, own.init_pc);
  unsigned in_object = 0, alike = 0, before = 0;
  for (const auto& [at, other] : run.proxy.barriers) {
    if (object_of(at) != object) continue;
    ++in_object;
    if (other.expected != own.expected || line_text(p, other.init_pc) != line) continue;
    ++alike;
    before += at < offset ? 1 : 0;
  }
  if (in_object < 2) return "";
  return " (" +
         (alike < 2 ? "which " + line + " sets up"
                    : "[" + std::to_string(before) + "] of the " + std::to_string(alike) +
                          " that " + line + " sets up") +
         " for " + std::to_string(own.expected) + (own.expected == 1 ? " arrival)" : " arrivals)");
}

/// Lanes that wait for ever for a phase.
struct OpenPhase {
  const Warp* warp;
  const Parked* parked;
  const MBarrier* barrier;
  /// What explains itself comes first: bytes that do not add up, then arrivals that are too many. Who waits for
  /// one of those waits, too.
  int rank() const {
    return barrier->transactions != 0 ? 0 : barrier->at_once > barrier->expected ? 1 : 2;
  }
};

/// All of them, each place once.
std::vector<OpenPhase> open_phases(const BlockRun& run) {
  std::vector<OpenPhase> all;
  for (const Warp& w : run.warps)
    for (const Parked& k : w.parked) {
      const auto it = run.proxy.barriers.find(k.barrier);
      if (k.what != WaitsFor::mbarrier || it == run.proxy.barriers.end()) continue;
      const bool told = std::any_of(all.begin(), all.end(), [&](const OpenPhase& o) {
        return o.parked->pc == k.pc && o.parked->barrier == k.barrier;
      });
      if (!told) all.push_back({&w, &k, &it->second});
    }
  std::stable_sort(all.begin(), all.end(),
                   [](const OpenPhase& x, const OpenPhase& y) { return x.rank() < y.rank(); });
  return all;
}

std::string who_waits(const BlockRun& run, const OpenPhase& o) {
  const MBarrier& b = *o.barrier;
  return "warp " + std::to_string(o.warp->index) + " waits at " +
         line_text(*run.launch->program, o.parked->pc) + " for phase " + std::to_string(b.phase) +
         " (parity " + std::to_string(b.phase & 1u) + ") of " +
         mbarrier_text(run, o.parked->barrier) + which_of_many(run, o.parked->barrier);
}

/// What has come, and what is missing.
std::string what_has_come(const Program& p, const OpenPhase& o) {
  const MBarrier& b = *o.barrier;
  std::string text = ", at which ";
  if (b.pending != 0)
    text += std::to_string(b.expected - b.pending) + " of " + std::to_string(b.expected) +
            " arrivals have come";
  else
    text += "all " + std::to_string(b.expected) + " arrivals have come";
  if (b.transactions != 0) {
    text += "; expect_tx announced " + std::to_string(b.announced) + " bytes";
    if (b.expect_pc != UINT32_MAX && b.announced != 0)
      text += " (" + line_text(p, b.expect_pc) + ")";
    text += " and copies brought " + std::to_string(b.brought);
  }
  // Who has passed its phase of parity 1 knows this.
  if (p.waits[o.parked->detail].by_parity && b.phase == 0 && o.parked->pred == 0 &&
      b.transactions == 0 && b.pending == b.expected && b.passed_pc == UINT32_MAX)
    text += ": of a new barrier, the phase of parity 1 counts as ended, that of parity 0 is open";
  if (b.at_once > b.expected)
    text += "; " + line_text(p, b.at_once_pc) + " brings " + std::to_string(b.at_once) +
            " arrivals at once, one of each lane of a warp, and " + std::to_string(b.expected) +
            " end a phase: " + std::to_string(b.phase) + " have ended";
  return text;
}

/// Those at a barrier of the block may be what the others wait for.
std::string who_is_at_barriers(const BlockRun& run) {
  for (const Warp& w : run.warps)
    for (const Parked& k : w.parked) {
      if (k.what != WaitsFor::barrier) continue;
      const BarrierState& b = run.barriers[k.barrier];
      return "; and warp " + std::to_string(w.index) + " waits at barrier " +
             std::to_string(k.barrier) + " (" + line_text(*run.launch->program, k.pc) + ") for " +
             std::to_string(b.expected != 0 ? b.expected : run.launch->threads) +
             " threads, of which " +
             std::to_string(b.expected != 0 ? b.arrived_count : b.arrived_lanes) + " have come";
    }
  return "";
}

}  // namespace

bool report_mbarrier_deadlock(BlockRun& run) {
  const Program& p = *run.launch->program;
  const std::vector<OpenPhase> all = open_phases(run);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const OpenPhase& o = all[i];
    const auto same_line = [&](const OpenPhase& x) {
      return x.parked->pc == o.parked->pc || p.line_of(x.parked->pc) == p.line_of(o.parked->pc);
    };
    if (std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), same_line)) continue;
    std::string text =
        (i == 0 ? "the block waits forever: " : "") + who_waits(run, o) + what_has_come(p, o);
    // One line serves many barriers if it is that of a function wait(): the first finding there says it all.
    const auto next = std::find_if(
        all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end(), [&](const OpenPhase& x) {
          return same_line(x) && x.warp != o.warp && x.barrier != o.barrier;
        });
    if (next != all.end()) text += "; and " + who_waits(run, *next) + what_has_come(p, *next);
    if (i == 0) text += who_is_at_barriers(run);
    const MBarrier& b = *o.barrier;
    const auto lane = static_cast<unsigned>(std::countr_zero(o.parked->mask));
    add_finding(
        run, FindingKind::deadlock, o.parked->pc, b.transactions != 0 ? b.expect_pc : UINT32_MAX,
        shared_access(run, *o.warp, lane, o.parked->pc, o.parked->barrier), std::nullopt, text,
        b.at_once > b.expected                     ? FindingCause::extra_arrivals
        : b.pending == 0 && b.transactions != 0    ? FindingCause::other_bytes
        : b.pending != 0 && b.pending < b.expected ? FindingCause::few_arrivals
                                                   : FindingCause::open_phase);
  }
  return !all.empty();
}

}  // namespace simgpu::exec
