// Race checks of single lanes: quick tags in the normal run, exact records in the re-run.
#include <algorithm>

#include "common/simgpu/exec/async_proxy.hpp"
#include "common/simgpu/exec/memory_ops.hpp"

namespace simgpu::exec {
namespace {

std::string_view doing(const check::AccessRecord& r) {
  return r.atomic ? "updated" : r.write ? "written" : "read";
}
std::string object_text(const Access& a) {
  if (a.object.empty()) return "byte " + std::to_string(a.address) + " of shared memory";
  return a.object + "+" + std::to_string(a.offset);
}

std::string thread_text(const Access& a, bool with_block) {
  auto triple = [](std::string s, const Dim3& d) {
    s += std::to_string(d.x);
    for (const std::uint32_t v : {d.y, d.z}) {
      s += ',';
      s += std::to_string(v);
    }
    return s += ')';
  };
  return with_block ? triple("(", a.thread) + triple(" of block (", a.block)
                    : triple("(", a.thread);
}

/// Whether the blocks of both threads are ordered, as far as a flag of theirs goes, though not the threads.
bool blocks_are_ordered(const BlockRun& run, const LaneAccess& me,
                        const check::AccessRecord& other) {
  check::WarpClock knows_all;
  knows_all.fill(UINT32_MAX);
  knows_all.lanes = knows_all.all_lanes = UINT32_MAX;
  check::AccessRecord early = other;
  early.time = 0, early.launch_time = 0;
  return run.order.ordered(early, me.warp * kLanes + me.lane, knows_all);
}

/// Bytes that a lane moves by the load, store or atomic at `pc`; `otherwise` if it is something else.
unsigned bytes_at(const Program& p, std::uint32_t pc, unsigned otherwise) {
  const ptx::Instruction* const i = p.instructions[pc].ptx;
  if (i == nullptr || (i->op != ptx::Opcode::ld && i->op != ptx::Opcode::st)) return otherwise;
  return ptx::size_of(i->mod.type) * std::max<unsigned>(1, i->mod.vec);
}

/// Both sides belong to `x += y` of one place: a load and a store of one line by one address.
bool is_update(const Program& p, std::uint32_t a, std::uint32_t b) {
  return p.line_of(a).line != 0 && p.line_of(a) == p.line_of(b) && p.instructions[a].updates &&
         p.instructions[b].updates;
}

/// Whether some instruction may take a lock.
bool may_lock(const Program& p) {
  return std::any_of(p.instructions.begin(), p.instructions.end(), [](const auto& instruction) {
    const ptx::Instruction* const i = instruction.ptx;
    return i != nullptr && i->op == ptx::Opcode::atom &&
           (i->mod.atom == ptx::AtomOp::cas || i->mod.atom == ptx::AtomOp::exch);
  });
}

/// What would have ordered the two accesses of a race.
const char* missing_order(const BlockRun& run, FindingKind kind, const LaneAccess& me,
                          const check::AccessRecord& other, bool by_arrival, bool engine) {
  const unsigned warp = other.thread / kLanes;
  const check::WarpClock& clock = run.clocks.of(me.warp);
  const bool update = is_update(*run.launch->program, me.pc, other.pc);
  if (update && (other.block == run.number || kind == FindingKind::global_race))
    return may_lock(*run.launch->program)
               ? "each reads the place, changes it and writes it back, and of two at once one is "
                 "lost: if a lock guards the place, __threadfence() is missing after it is taken or "
                 "before it is given back; if none does, use an atomic, such as atomicAdd()"
               : "each reads the place, changes it and writes it back, and of two at once one is "
                 "lost: use an atomic, such as atomicAdd(), or let one thread own the place";
  if (other.block != run.number) {
    if (kind == FindingKind::shared_race) return "a barrier of the cluster is missing between them";
    return blocks_are_ordered(run, me, other)
               ? "a flag orders these blocks, but not these threads: a __syncthreads() is missing "
                 "before one thread raises it, or after one has waited for it"
               : "blocks are not ordered: use an atomic, or let one block own each element";
  }
  if (warp == me.warp && other.exchange)
    return "volatile keeps no order between the lanes of a warp, which need not run in step: a "
           "__syncwarp() is missing between them";
  if (warp == me.warp)
    return other.time < clock.lanes
               ? "lanes have met since, but not these two: a __syncwarp() is missing whose mask "
                 "names both"
           : me.type != AccessType::load && other.write
               ? "a __syncwarp() or __syncthreads() is missing between them, or two lanes write one "
                 "place"
               : "a __syncwarp() or __syncthreads() is missing between them";
  if (by_arrival)
    return "bar.arrive orders only what its warp did before it: arrive after the last access, or "
           "wait at a barrier before the next one";
  return other.time < clock.seen[warp]
             ? "one lane has arrived, raised a flag or waited for its whole warp: a __syncwarp() is "
               "missing between it and the other lanes"
         : engine ? "one must arrive at an mbarrier after its access, and the other wait for that "
                    "phase before its own"
                  : "a __syncthreads() is missing between them";
}

void report_race(BlockRun& run, FindingKind kind, const LaneAccess& me,
                 const check::AccessRecord& other) {
  run.worker->findings.add(kind, me.pc, other.pc, run.number, [&] {
    Finding f;
    f.kernel = run.launch->kernel_name;
    f.at = describe(run, me);
    LaneAccess theirs = me;
    theirs.pc = other.pc;
    theirs.type = other.atomic  ? AccessType::atomic
                  : other.write ? AccessType::store
                                : AccessType::load;
    theirs.bytes = bytes_at(*run.launch->program, other.pc, me.bytes);
    f.other = describe_thread(*run.launch, other.block, other.thread, theirs);
    const bool other_block = other.block != run.number;
    const unsigned other_warp = other.thread / kLanes;
    const bool by_arrival = !other_block && ((((run.clocks.of(me.warp).by_arrival >> other_warp) |
                                               (run.clocks.of(other_warp).by_arrival >> me.warp)) &
                                              1u) != 0);
    f.detail = line_text(*run.launch->program, me.pc) + " " + std::string(to_string(me.type)) +
               " " + object_text(f.at) + " " + std::string(doing(other)) + " by " +
               line_text(*run.launch->program, other.pc) +
               (other_block             ? " in another block"
                : other_warp == me.warp ? " by another lane of the same warp"
                                        : " in the same barrier interval") +
               " (threads " + thread_text(f.at, other_block) + " and " +
               thread_text(*f.other, other_block) + "): ";
    if (!other_block && other_warp == me.warp && other.exchange)
      f.cause = FindingCause::lanes_in_step;
    const bool engine = f.at.actor == Actor::engine || f.other->actor == Actor::engine;
    f.detail += missing_order(run, kind, me, other, by_arrival, engine);
    return f;
  });
}

/// What the exact record keeps of an access that happens now.
check::AccessRecord record_of(const BlockRun& run, const Warp& w, unsigned lane, const Op& op,
                              AccessType type, bool strong, bool rewrites = false) {
  check::AccessRecord me;
  me.block = run.number;
  me.pc = op.pc;
  me.time = run.clocks.now();
  me.thread = static_cast<std::uint16_t>(w.index * kLanes + lane);
  me.atomic = type == AccessType::atomic;
  me.write = type != AccessType::load;
  me.strong = strong;
  me.rewrites = rewrites;
  me.launch_time = run.order.now();
  return me;
}

/// A volatile read of what another block wrote before it raised a flag, without a fence between the two.
void look_for_fence(BlockRun& run, const LaneAccess& me, const check::AccessRecord& other) {
  const unsigned thread = me.warp * kLanes + me.lane;
  const check::WarpClock& clock = run.clocks.of(me.warp);
  if (!other.exists() || !other.strong || other.atomic || other.block == run.number ||
      run.order.ordered(other, thread, clock) ||
      !run.order.lacks_fence(other, me.address, thread, clock))
    return;
  run.worker->findings.add(FindingKind::global_race, me.pc, other.pc, run.number, [&] {
    Finding f;
    f.kernel = run.launch->kernel_name;
    f.cause = FindingCause::missing_fence;
    f.at = describe(run, me);
    LaneAccess theirs = me;
    theirs.pc = other.pc;
    theirs.type = AccessType::store;
    f.other = describe_thread(*run.launch, other.block, other.thread, theirs);
    f.detail =
        line_text(*run.launch->program, me.pc) + " reads " + object_text(f.at) +
        " behind a flag that another block raised after it wrote that on " +
        line_text(*run.launch->program, other.pc) + " (threads " + thread_text(f.at, true) +
        " and " + thread_text(*f.other, true) +
        "), but no fence stands between the write and the flag: others may see the flag "
        "first. A __threadfence() is missing before the flag is raised, and one after it was "
        "waited for";
    return f;
  });
}

}  // namespace

void check_shared_access(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                         std::uint64_t offset, unsigned bytes, bool strong, bool rewrites,
                         bool exchange) {
  LaunchRun& l = *run.launch;
  if (!run.marked_shared.marks.empty()) touch_marks(run, w, lane, op, type, offset, bytes);
  const std::uint64_t in = offset - memory::kSharedBase;
  const unsigned shift = run.shadow.shift;
  const auto first = static_cast<std::uint32_t>(in >> shift),
             last = static_cast<std::uint32_t>((in + bytes - 1) >> shift);
  const check::WarpClock& clock = run.clocks.of(w.index);
  const std::uint32_t now = run.clocks.now();
  if (type != AccessType::load && run.proxy.names_readers)
    overwrites_async_read(run, w, lane, op.pc, static_cast<std::uint32_t>(in), bytes);
  if (!run.reads.empty()) settle_reads(run);
  for (std::uint32_t g = first; g <= last; ++g) {
    if (type != AccessType::load && check::is_by_engine(run.shadow.written[g]) &&
        check::SharedShadow::suspicious(run.shadow.written[g], clock, w.index, lane)) {
      report_bulk_conflict(run, w, lane, op, type, offset, bytes, g);
      return;
    }
    if (type != AccessType::load && check::is_pending(run.shadow.written[g])) {
      report_pending_conflict(run, w, lane, op, type, offset, bytes);
      return;
    }
    const bool fine = type == AccessType::load ? run.shadow.on_read(g, clock, w.index, lane, now)
                                               : run.shadow.on_write(g, clock, w.index, lane, now,
                                                                     type == AccessType::atomic);
    if (!l.options.checks.race) continue;
    if (!l.exact) {
      if (!fine) l.suspicious.store(true, std::memory_order_relaxed);
      continue;
    }
    check::AccessRecord me = record_of(run, w, lane, op, type, strong, rewrites);
    me.exchange = exchange;
    if (const auto other =
            run.exact_shared->access(g, me, clock, run.cluster != nullptr ? &run.order : nullptr))
      report_race(run, FindingKind::shared_race,
                  {op.pc, w.index, lane, type, MemorySpace::shared, bytes, offset}, *other);
  }
}

void check_peer_access(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                       const Target& t, unsigned bytes, bool strong) {
  LaunchRun& l = *run.launch;
  if (!l.exact) {  // only the exact record knows whose times are whose
    l.suspicious.store(true, std::memory_order_relaxed);
    return;
  }
  const check::AccessRecord me = record_of(run, w, lane, op, type, strong);
  const unsigned shift = t.peer->shadow.shift;
  const std::uint64_t in = t.offset - memory::kSharedBase;
  for (std::uint64_t g = in >> shift; g <= (in + bytes - 1) >> shift; ++g)
    if (const auto other = t.peer->exact_shared->access(g, me, run.clocks.of(w.index), &run.order))
      report_race(run, FindingKind::shared_race,
                  {op.pc, w.index, lane, type, MemorySpace::shared, bytes, t.offset}, *other);
}

void begin_use(BlockRun& run, memory::Allocation& a, AccessType type) {
  memory::Allocation::LaunchState& s = a.launch;
  (type == AccessType::load ? s.read : s.stored) = true;
  if (s.read && s.stored && !s.keeps_readers) abort_launch(run);  // to begin once more: run_launch
}

void check_global_access(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                         bool strong, memory::Allocation& a, std::uint64_t offset, unsigned bytes,
                         bool rewrites) {
  LaunchRun& l = *run.launch;
  memory::Allocation::LaunchState& s = a.launch;
  const auto granule = l.program->global_granule;
  if (!l.options.earlier.empty())
    check_before_wait(run,
                      {op.pc, w.index, lane, type, MemorySpace::global, bytes, a.base + offset});
  if (!l.exact) {
    if (type == AccessType::atomic) {
      if (!s.atomics.load(std::memory_order_relaxed))
        s.atomics.store(true, std::memory_order_relaxed);
      return;
    }
    note_use(run, a, type);
    if (type == AccessType::load && !s.keeps_readers.load(std::memory_order_relaxed)) return;
    check::GlobalShadow& shadow = shadow_of(run, a);
    const std::uint32_t block = check::GlobalShadow::block_mark(run.number), now = run.clocks.now();
    const check::WarpClock& clock = run.clocks.of(w.index);
    for (std::uint64_t g = offset / granule; g <= (offset + bytes - 1) / granule; ++g) {
      const bool fine = type == AccessType::load
                            ? shadow.on_read(g, block, clock, w.index, lane, now)
                            : shadow.on_write(g, block, clock, w.index, lane, now);
      if (!fine) l.suspicious.store(true, std::memory_order_relaxed);
    }
    return;
  }
  if (a.live_index >= l.global_shadows.size() || l.global_shadows[a.live_index] == nullptr) return;
  check::ExactShadow& shadow = *l.global_shadows[a.live_index];
  const check::AccessRecord me = record_of(run, w, lane, op, type, strong, rewrites);
  const LaneAccess access{op.pc, w.index, lane, type, MemorySpace::global, bytes, a.base + offset};
  const bool relies = strong && type == AccessType::load && !l.program->instructions[op.pc].polls;
  for (std::uint64_t g = offset / granule; g <= (offset + bytes - 1) / granule; ++g) {
    if (relies) look_for_fence(run, access, shadow.writer(g));
    if (const auto other = shadow.access(g, me, run.clocks.of(w.index), &run.order))
      report_race(run, FindingKind::global_race, access, *other);
  }
}

}  // namespace simgpu::exec
