// Runs blocks: warps in turn, each until it waits, ends or the launch stops.
#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <utility>

#include "common/simgpu/exec/async_proxy.hpp"
#include "common/simgpu/exec/barriers.hpp"
#include "common/simgpu/exec/cluster.hpp"
#include "common/simgpu/exec/launch_run.hpp"
#include "common/simgpu/exec/memory_ops.hpp"

namespace simgpu::exec {
namespace {

/// A warp instruction takes the host about as long for one lane as for eight, so the budget charges
/// it so.
constexpr std::uint32_t kLeastCharge = 8;

// -----------------------------------------------------------------------------------------------
// frames

std::uint32_t cluster_value(const BlockRun& run, ptx::Special s) {
  using S = ptx::Special;
  const Dim3 &cluster = run.launch->cluster, &grid = run.launch->grid, &at = run.index;
  switch (s) {
    case S::cluster_ctaid_x:
      return at.x % cluster.x;
    case S::cluster_ctaid_y:
      return at.y % cluster.y;
    case S::cluster_ctaid_z:
      return at.z % cluster.z;
    case S::cluster_nctaid_x:
      return cluster.x;
    case S::cluster_nctaid_y:
      return cluster.y;
    case S::cluster_nctaid_z:
      return cluster.z;
    case S::cluster_ctarank:
      return run.rank;
    case S::cluster_nctarank:
      return run.launch->cluster_blocks;
    case S::clusterid_x:
      return at.x / cluster.x;
    case S::clusterid_y:
      return at.y / cluster.y;
    case S::clusterid_z:
      return at.z / cluster.z;
    case S::nclusterid_x:
      return grid.x / cluster.x;
    case S::nclusterid_y:
      return grid.y / cluster.y;
    case S::nclusterid_z:
      return grid.z / cluster.z;
    default:
      return 0;  // smid, gridid: one multiprocessor, one grid
  }
}

/// All but the thread's indices.
std::uint32_t special_value(const BlockRun& run, const Warp& w, ptx::Special s, unsigned lane) {
  using S = ptx::Special;
  const LaunchRun& l = *run.launch;
  switch (s) {
    case S::ntid_x:
      return l.block.x;
    case S::ntid_y:
      return l.block.y;
    case S::ntid_z:
      return l.block.z;
    case S::ctaid_x:
      return run.index.x;
    case S::ctaid_y:
      return run.index.y;
    case S::ctaid_z:
      return run.index.z;
    case S::nctaid_x:
      return l.grid.x;
    case S::nctaid_y:
      return l.grid.y;
    case S::nctaid_z:
      return l.grid.z;
    case S::laneid:
      return lane;
    case S::warpid:
      return w.index;
    case S::nwarpid:
      return l.warps;
    case S::nsmid:
      return 1;
    case S::lanemask_eq:
      return 1u << lane;
    case S::lanemask_le:
      return (2u << lane) - 1;
    case S::lanemask_lt:
      return (1u << lane) - 1;
    case S::lanemask_ge:
      return ~((1u << lane) - 1);
    case S::lanemask_gt:
      return ~((2u << lane) - 1);
    case S::dynamic_smem_size:
      return l.dynamic_shared;
    case S::total_smem_size:
      return l.shared_bytes;
    case S::warp_size:
      return kLanes;
    case S::unset:
      return 0;
    default:
      return cluster_value(run, s);
  }
}

/// Which thread of its block each lane is, along one way.
void thread_indices(const LaunchRun& l, const Warp& w, ptx::Special way,
                    std::uint64_t (&value)[kLanes]) {
  // Counted up: a division for each lane would take longer than all the rest.
  const unsigned first = w.index * kLanes;
  Dim3 at{first % l.block.x, first / l.block.x % l.block.y, first / (l.block.x * l.block.y)};
  for (std::uint64_t& v : value) {
    v = way == ptx::Special::tid_x ? at.x : way == ptx::Special::tid_y ? at.y : at.z;
    if (++at.x < l.block.x) continue;
    at.x = 0;
    if (++at.y < l.block.y) continue;
    at.y = 0;
    ++at.z;
  }
}

/// What a special register holds in all lanes of a warp.
void special_values(const BlockRun& run, const Warp& w, ptx::Special s,
                    std::uint64_t (&value)[kLanes]) {
  using S = ptx::Special;
  switch (s) {
    case S::tid_x:
    case S::tid_y:
    case S::tid_z:
      return thread_indices(*run.launch, w, s, value);
    case S::laneid:
    case S::lanemask_eq:
    case S::lanemask_le:
    case S::lanemask_lt:
    case S::lanemask_ge:
    case S::lanemask_gt:
      for (unsigned lane = 0; lane < kLanes; ++lane) value[lane] = special_value(run, w, s, lane);
      return;
    default:
      std::fill(std::begin(value), std::end(value), special_value(run, w, s, 0));
  }
}

void fill_specials(const BlockRun& run, const Warp& w, const Frame& frame) {
  for (const SpecialSlot& s : frame.code->specials) {
    std::uint64_t value[kLanes];
    special_values(run, w, s.special, value);
    std::byte* to = frame.memory + s.offset;
    if (s.lane_bytes == 4) {
      std::uint32_t low[kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane)
        low[lane] = static_cast<std::uint32_t>(value[lane]);
      std::memcpy(to, low, sizeof low);
      continue;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane)
      copy_element(to + lane * s.lane_bytes, reinterpret_cast<const std::byte*>(&value[lane]),
                   s.lane_bytes);
  }
  const auto fill = [&](std::uint32_t at, std::uint64_t value) {
    if (at == UINT32_MAX) return;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      std::memcpy(frame.memory + at + lane * 8, &value, 8);
  };
  fill(frame.code->local_base, frame.local_base);
  fill(frame.code->rank_base, memory::rank_bits(run.rank));
}

void use_frame(Warp& w) {
  w.frame = reinterpret_cast<std::uintptr_t>(w.frames[w.depth].memory) +
            static_cast<std::uintptr_t>(kFrameBias);
}

/// Makes room for `bytes` of local memory in every thread, keeping what is there.
void grow_local(BlockRun& run, std::uint32_t bytes) {
  if (bytes <= run.local_capacity) return;
  const std::uint32_t capacity = std::max(bytes, 2 * run.local_capacity);
  const std::size_t threads = std::size_t{run.launch->warps} * kLanes;
  std::vector<std::byte> data(threads * capacity, memory::kPoison);
  std::vector<std::uint8_t> marks(threads * capacity, 0);
  for (std::size_t t = 0; t < threads && run.local_capacity != 0; ++t) {
    std::memcpy(data.data() + t * capacity, run.local.data() + t * run.local_capacity,
                run.local_capacity);
    std::memcpy(marks.data() + t * capacity, run.local_initialised.data() + t * run.local_capacity,
                run.local_capacity);
  }
  run.marked_local.grow(threads, run.local_capacity, capacity);
  run.local = std::move(data);
  run.local_initialised = std::move(marks);
  run.local_capacity = capacity;
}

// -------------------------------------------------------------------------------------------------
// warps

/// Adds lanes to the group at `block`, if there is one.
void add_ready(Frame& frame, std::uint32_t block, std::uint32_t mask, std::uint32_t came_from) {
  if (mask == 0) return;
  for (Group& g : frame.ready)
    if (g.block == block) {
      g.mask |= mask;
      g.waited = 0;
      return;
    }
  frame.ready.push_back({block, mask, came_from, 0, 0});
}

/// Takes all lanes at the block of `taken`, which is not in `ready`.
void join_at_block(Frame& frame, Group& taken) {
  std::erase_if(frame.ready, [&](const Group& g) {
    if (g.block != taken.block) return false;
    taken.mask |= g.mask;
    return true;
  });
}

bool waits(const Group& g, std::uint64_t progress) {
  return g.waited != 0 && g.seen == progress;
}

/// Takes the group that is furthest behind, with everything that waits at the same block; of groups
/// that wait for others, and only if there is no other, the one that has waited longest.
Group take_next(Frame& frame, std::uint64_t progress) {
  const auto turn = [&](const Group& g) { return waits(g, progress) ? g.waited : 0; };
  Group taken = frame.ready.front();
  for (const Group& g : frame.ready)
    if (turn(g) < turn(taken) || (turn(g) == turn(taken) && g.block < taken.block)) taken = g;
  taken.mask = 0;
  join_at_block(frame, taken);
  return taken;
}

/// The running group has looked at memory often enough without seeing a change. Another group of
/// the warp that has something to do goes on in its place; if there is none, the warp gives way
/// (false). `since`: groups that had their turn after that had it in this run of the warp.
bool give_way(BlockRun& run, Warp& w, std::uint64_t since) {
  const std::uint64_t progress = run.worker->progress;
  Frame& frame = w.frames[w.depth];
  w.polls = 0;
  // The longer nothing happens, the less often it is worth asking.
  w.patience =
      waits(w.running, progress) ? std::min(2 * w.patience, kMostPatience) : kLittlePatience;
  w.running.waited = ++run.turns;
  w.running.seen = progress;
  frame.ready.push_back(w.running);
  w.running = take_next(frame, progress);
  if (!waits(w.running, progress) || w.running.waited <= since) return true;
  frame.ready.push_back(w.running);
  w.running.mask = 0;
  run.gave_way = true;
  return false;
}

/// Deals with the budget; false = the launch is over.
bool look_at_budget(BlockRun& run, const Warp& w) {
  Worker& worker = *run.worker;
  LaunchRun& l = *run.launch;
  const auto used = static_cast<std::uint64_t>(worker.portion - worker.allowance);
  worker.allowance = worker.portion;
  run.instructions += used;
  const std::uint64_t total = l.instructions.fetch_add(used) + used;
  if (l.stop || runs_on_after_fault(run)) {
    run.aborted = true;
    return false;
  }
  if (total <= l.options.instruction_budget) return true;
  // The grid needs more than it may have, that is certain. Which block to name must not depend on
  // the host threads: only the first block that still runs goes on, until it alone has used the
  // budget up. Blocks that wait for each other use it up together.
  if (worker.resident.size() <= 1) {
    std::unique_lock lock(l.mutex);
    l.over_budget = true;
    l.lowest_changed.wait(lock, [&] {
      return l.stop ||
             *std::min_element(l.running_blocks.begin(), l.running_blocks.end()) == run.number;
    });
  }
  if (l.stop) {
    run.aborted = true;
    return false;
  }
  if (run.instructions <= l.options.instruction_budget && worker.resident.size() <= 1) return true;
  const Program& p = *l.program;
  const std::uint32_t pc = p.blocks[w.running.block].first_pc;
  const unsigned lane = static_cast<unsigned>(std::countr_zero(w.running.mask));
  add_finding(run, FindingKind::budget_exceeded, pc, UINT32_MAX,
              describe(run, {pc, w.index, lane, AccessType::load, MemorySpace::global, 0, 0}),
              std::nullopt,
              "the kernel did not end within " + std::to_string(l.options.instruction_budget) +
                  " thread instructions; it was last seen at " + line_text(p, pc) +
                  ": a loop that never ends?");
  abort_launch(run);
  return false;
}

void enter_call(BlockRun& run, Warp& w, const BasicBlock& block, std::uint32_t mask) {
  const Program& p = *run.launch->program;
  const Call& call = p.calls[block.detail];
  Frame& caller = w.frames[w.depth];
  const std::byte* call_area = caller.memory + caller.code->call_area;
  const std::uint32_t call_stride = caller.code->call_bytes;
  add_ready(caller, block.next, w.running.mask & ~mask, block.pc);
  if (call.function == kMath || call.function == kForget || call.function == kLend) {
    std::byte* const area = caller.memory + caller.code->call_area;
    (call.function == kMath ? call_math : call_forget)(w, area, call_stride, call, mask);
    if (p.tracks_unset) compute_marks(w, call, mask);
    add_ready(caller, block.next, mask, block.pc);
    w.running.mask = 0;
    return;
  }
  if (call.function == kVprintf || call.function == kAssertFail) {
    (call.function == kVprintf ? call_vprintf : call_assertfail)(w, call_area, call_stride, call,
                                                                 mask, block.pc);
    if (call.function == kVprintf && !call.results.empty()) {
      std::byte* results = caller.memory + caller.code->call_area;
      for (unsigned i = 0; i < kLanes; ++i)
        if ((mask >> i) & 1u)
          std::memset(results + i * call_stride + call.results[0].to, 0, call.results[0].bytes);
    }
    add_ready(caller, block.next, mask, block.pc);
    w.running.mask = 0;
    return;
  }
  const FunctionCode& callee = p.functions[call.function];
  const std::uint32_t local_base = caller.local_base + caller.code->local_bytes;
  if (w.depth + 1 >= kMaxCallDepth || local_base + callee.local_bytes > kMaxLocalBytes) {
    Access at = describe(run, {block.pc, w.index, static_cast<unsigned>(std::countr_zero(mask)),
                               AccessType::load, MemorySpace::local, 0, 0});
    add_finding(run, FindingKind::stack_overflow, block.pc, UINT32_MAX, at, std::nullopt,
                "functions call each other more than " + std::to_string(w.depth) +
                    " deep: a recursion that never ends?");
    abort_launch(run);
    return;
  }
  grow_local(run, local_base + callee.local_bytes);
  ++w.depth;
  if (w.depth == w.frames.size()) w.frames.emplace_back();
  Frame& frame = w.frames[w.depth];
  const Frame& from = w.frames[w.depth - 1];
  // Frames of one depth keep their memory: it is as large as the largest function so far.
  w.frame_memory.resize(std::max<std::size_t>(w.frame_memory.size(), w.depth + 1));
  std::vector<std::byte>& storage = w.frame_memory[w.depth];
  storage.assign(callee.frame_bytes + 64, memory::kPoison);
  frame.code = &callee;
  frame.memory = storage.data() + (64 - reinterpret_cast<std::uintptr_t>(storage.data()) % 64) % 64;
  frame.call = block.detail;
  frame.entered = mask;
  frame.returned = 0;
  frame.local_base = local_base;
  frame.ready.clear();
  const std::byte* arguments = from.memory + from.code->call_area;
  for (const Call::Copy& c : call.arguments)
    for (unsigned i = 0; i < kLanes; ++i) {
      if (((mask >> i) & 1u) == 0) continue;
      const std::byte* source = c.immediate != kNoRef ? address_of(w, c.immediate) + i * c.bytes
                                                      : arguments + i * call_stride + c.from;
      std::memcpy(frame.memory + callee.param_area + i * callee.param_bytes + c.to, source,
                  c.bytes);
    }
  if (p.tracks_unset) pass_marks(w, call, mask);
  if (callee.local_params != UINT32_MAX) params_to_local(run, w, mask);
  fill_specials(run, w, frame);
  use_frame(w);
  w.resume_after_call.resize(std::max<std::size_t>(w.resume_after_call.size(), w.depth + 1));
  w.resume_after_call[w.depth] = block.next;
  w.running = {callee.entry_block, mask, block.pc, 0, 0};
}

/// The running function is done for all its lanes: back to the caller. False if this was the entry.
bool leave_function(BlockRun& run, Warp& w) {
  if (w.depth == 0) return false;
  const Frame& callee = w.frames[w.depth];
  Frame& caller = w.frames[w.depth - 1];
  const Call& call = run.launch->program->calls[callee.call];
  for (const Call::Copy& c : call.results)
    for (unsigned i = 0; i < kLanes; ++i)
      if ((callee.returned >> i) & 1u)
        std::memcpy(
            caller.memory + caller.code->call_area + i * caller.code->call_bytes + c.to,
            callee.memory + callee.code->result_area + i * callee.code->result_bytes + c.from,
            c.bytes);
  if (run.launch->program->tracks_unset) return_marks(w, call, callee.returned);
  add_ready(caller, w.resume_after_call[w.depth], callee.returned, UINT32_MAX);
  --w.depth;
  use_frame(w);
  return true;
}

void guard_count(BlockRun& run, std::uint32_t pc, std::uint32_t mask) {
  GuardCount& g = run.worker->counters.guarded[pc];
  g.executed += mask != 0;
  g.lanes += static_cast<unsigned>(std::popcount(mask));
}

/// Runs the warp until all its lanes wait at barriers or have exited.
void run_warp(BlockRun& run, Warp& w) {
  const Program& p = *run.launch->program;
  Worker& worker = *run.worker;
  const Op* ops = p.ops.data();
  const BasicBlock* blocks = p.blocks.data();
  GuardCount* counts = worker.counters.blocks.data();
  const std::uint64_t since = run.turns;
  w.polls = 0;
  w.holds = false;
  while (!run.aborted) {
    if (w.running.mask == 0) {
      Frame& frame = w.frames[w.depth];
      if (!frame.ready.empty()) {
        w.running = take_next(frame, worker.progress);
      } else if (!w.parked.empty()) {
        return;  // waits
      } else if (!leave_function(run, w)) {
        return;  // done
      }
      continue;
    }
    const std::uint32_t number = w.running.block;
    const BasicBlock& block = blocks[number];
    const std::uint32_t mask = w.running.mask;
    const auto lanes = static_cast<std::uint32_t>(std::popcount(mask));
    if (worker.allowance < 0) {
      worker.allowance += std::exchange(worker.held, 0);
      if (worker.allowance < 0 && !look_at_budget(run, w)) return;
      if (w.polls >= w.patience) {
        if (give_way(run, w, since)) continue;
        return;
      }
    }
    if ((w.live() & ~mask & block.meets) != 0 && must_wait(w, block)) {
      w.holds = true;
      if (give_way(run, w, since)) continue;
      return;
    }
    w.mask = mask;
    ++counts[number].executed;
    counts[number].lanes += lanes;
    w.clock += block.instructions;
    w.work += block.multiply_adds;
    worker.allowance -= std::int64_t{std::max(lanes, kLeastCharge)} * (block.instructions + 1);
    for (const Op *op = ops + block.first, *end = ops + block.last; op != end; ++op) op->fn(w, *op);

    std::uint32_t next = block.next;
    switch (block.end) {
      case End::next:
        next = block.target;
        break;
      case End::branch: {
        const std::uint32_t guard =
            *lanes_of<std::uint32_t>(w, block.guard) ^ (block.guard_negated ? kFullMask : 0u);
        const std::uint32_t taken = mask & guard;
        if (taken == mask) {
          next = block.target;
        } else if (taken != 0) {
          Frame& frame = w.frames[w.depth];
          add_ready(frame, block.target, taken, block.pc);
          add_ready(frame, block.next, mask & ~taken, block.pc);
          w.running.mask = 0;
          continue;
        }
        w.running.came_from = block.pc;
        break;
      }
      case End::indexed: {
        const JumpTable& table = p.jumps[block.detail];
        const std::uint32_t* index = lanes_of<std::uint32_t>(w, table.index);
        std::uint32_t guard = mask;
        if (block.guard != kNoRef) {
          guard &=
              *lanes_of<std::uint32_t>(w, block.guard) ^ (block.guard_negated ? kFullMask : 0u);
          guard_count(run, block.pc, guard);
          add_ready(w.frames[w.depth], block.next, mask & ~guard, block.pc);
        }
        for (unsigned i = 0; i < kLanes; ++i)
          if ((guard >> i) & 1u)
            add_ready(w.frames[w.depth],
                      table.blocks[std::min<std::size_t>(index[i], table.blocks.size() - 1)],
                      1u << i, block.pc);
        w.running.mask = 0;
        continue;
      }
      default: {
        std::uint32_t at_end = mask;
        if (block.guard != kNoRef) {
          at_end &=
              *lanes_of<std::uint32_t>(w, block.guard) ^ (block.guard_negated ? kFullMask : 0u);
          guard_count(run, block.pc, at_end);
          if (at_end == 0) break;  // on to block.next
        }
        Frame& frame = w.frames[w.depth];
        if (block.end == End::call) {
          enter_call(run, w, block, at_end);
          continue;
        }
        if (at_end != mask) add_ready(frame, block.next, mask & ~at_end, block.pc);
        const Group here = w.running;
        w.running.mask = 0;
        if (block.end == End::barrier) {
          park(run, w, block, at_end);
        } else if (block.end == End::wait) {
          wait_at_mbarrier(run, w, block, at_end);
        } else if (block.end == End::product) {
          come_to_product(run, w, block, at_end);
        } else if (block.end == End::cluster_wait) {
          come_to_cluster(run, w, block, at_end);
        } else if (block.end == End::ret) {
          frame.returned |= at_end;
        } else if (block.end == End::exit) {
          lanes_exit(run, w, at_end, block.pc, here, block);
        } else {
          Access at =
              describe(run, {block.pc, w.index, static_cast<unsigned>(std::countr_zero(at_end)),
                             AccessType::load, MemorySpace::global, 0, 0});
          const bool lost = p.instructions[block.pc].ptx->mod.text == ptx::kPointerCall;
          add_finding(run, FindingKind::trap, block.pc, UINT32_MAX, at, std::nullopt,
                      lost ? "a call through a pointer that is the address of no function with "
                             "these arguments"
                           : "the kernel executed a trap instruction",
                      lost ? FindingCause::unspecified : FindingCause::trap_instruction);
          abort_launch(run);
        }
        continue;
      }
    }
    w.running.block = next;
    // Lanes that waited for these join them; if some are further behind, they go first.
    Frame& frame = w.frames[w.depth];
    if (frame.ready.empty()) continue;
    if (waits(w.running, worker.progress)) {  // its turn, until it gives way again
      join_at_block(frame, w.running);
    } else {
      add_ready(frame, next, w.running.mask, w.running.came_from);
      w.running = take_next(frame, worker.progress);
    }
  }
}

AccessMode access_mode(const BlockRun& run) {
  const LaunchRun& l = *run.launch;
  const Program& p = *l.program;
  const Checks& checks = l.options.checks;
  const bool words = run.shadow.shift == 2;
  // What repeats another warp's access is only counted on the quick path, and could not be sampled.
  const bool quick = !l.exact && !l.options.sampled_warp && l.options.earlier.empty();
  return {.quick = quick,
          .checked = checks.race || checks.init,
          .race = checks.race,
          .init = checks.init,
          .orders_lanes = (checks.race || checks.init) && p.uses_proxy,
          .logs_reads = checks.race && words && !p.uses_proxy && p.async_forms.empty() &&
                        !p.uses_cluster && l.cluster_blocks == 1,
          .shared_words = words,
          .global_words = p.global_granule == 4,
          .count = l.options.count,
          .tallied = quick && l.options.count};
}

}  // namespace

// ------------------------------------------------------------------------------------------------
// blocks

void start_block(BlockRun& run) {
  LaunchRun& l = *run.launch;
  const FunctionCode& entry = l.program->functions[0];
  const std::size_t stride = (entry.frame_bytes + 63) / 64 * 64;
  // A register that is read before it is written holds anything on hardware: here NaN, so that an
  // accumulator that was never cleared shows. (clang leaves out the write of what has no value.)
  run.registers.assign(stride * l.warps + 64, memory::kPoison);
  std::byte* registers = run.registers.data() +
                         (64 - reinterpret_cast<std::uintptr_t>(run.registers.data()) % 64) % 64;
  run.warps.resize(l.warps);
  run.index = block_index(l.grid, run.number);
  run.exited = run.diverged = 0;
  run.exits.clear();
  run.barriers.fill(BarrierState{});
  run.idle_rounds = 0;
  run.idle_since = 0;
  run.instructions = run.faulted_at = 0;
  run.aborted = false;
  run.clocks.reset(l.warps);
  run.order.start_block(run.number, run.worker->order);
  run.handovers.reset();
  run.turns = 0;
  if (l.shared_bytes != 0) {
    run.shared.assign(l.shared_bytes + 64, memory::kPoison);
    const auto shift = static_cast<unsigned>(std::countr_zero(l.program->shared_granule));
    run.shadow.reset(l.shared_bytes, shift);
    if (l.exact) run.exact_shared.emplace(l.shared_bytes, shift);
  }
  run.marked_shared.marks.clear();
  run.grid_waits.fill(0);
  run.grid_control = {.waits_first = true};
  run.map_fences.clear();
  run.marked_local.marks.clear();
  run.mode = access_mode(run);
  run.sites = run.worker->counters.sites.data();
  run.reads.clear();
  const bool proxy = l.program->uses_proxy;
  if (!l.program->async_forms.empty() || proxy)
    run.async.reset(
        l.warps, run.shadow.written.size(),
        l.options.count && !l.program->async_forms.empty() ? run.shared.size() / 4 + 1 : 0);
  run.proxy.used = false;
  if (proxy) run.proxy.reset(l.warps, (l.shared_bytes + 15) / 16);
  if (entry.local_bytes != 0 || run.local_capacity != 0) {
    grow_local(run, entry.local_bytes);
    std::fill(run.local.begin(), run.local.end(), memory::kPoison);
    std::fill(run.local_initialised.begin(), run.local_initialised.end(), std::uint8_t{0});
  }
  for (std::uint32_t k = 0; k < l.warps; ++k) {
    Warp& w = run.warps[k];
    w.index = k;
    w.run = &run;
    const std::uint32_t left = l.threads - k * kLanes;
    w.launched = left >= kLanes ? kFullMask : (1u << left) - 1;
    w.exited = 0;
    w.depth = 0;
    w.clock = 0;
    w.work = 0;
    w.product_registers.assign(l.program->product_registers, {});
    w.product_fences = 0;
    w.cluster_arrived = w.cluster_passed = 0;
    w.holds = w.hurries = false;
    w.registers = 0;
    w.parked.clear();
    if (w.frames.empty()) w.frames.emplace_back();
    w.bases.assign(l.program->slots, {});
    w.carried.clear();
    Frame& f = w.frames[0];
    f = Frame{};
    f.code = &entry;
    f.memory = registers + stride * k;
    f.entered = w.launched;
    fill_specials(run, w, f);
    use_frame(w);
    w.patience = kPatience;
    w.sights = {};
    w.look = {};
    w.running = {entry.entry_block, w.launched, UINT32_MAX, 0, 0};
  }
}

bool run_block(BlockRun& run) {
  while (!run.aborted) {
    bool moved = false, live = false, waiting = false;
    for (Warp& w : run.warps) {
      if (!w.parked.empty() && run.proxy.used) wake_at_mbarriers(run, w);
      if (runnable(w) != 0) {
        const std::uint64_t before = run.worker->progress;
        run.running_warp = w.index;
        run.gave_way = false;
        run_warp(run, w);
        waiting |= run.gave_way;
        moved |= !run.gave_way || run.worker->progress != before;
      }
      if (run.aborted) return true;
      live |= w.live() != 0;
    }
    if (!live) {
      check_registers(run);
      if (run.proxy.used) check_end_of_block(run);
      return true;
    }
    run.moved |= moved;
    if (!moved && run.cluster != nullptr) return false;
    if (moved || (run.proxy.used && time_out_at_mbarriers(run, waiting))) continue;
    if (waiting) {
      settle_reads(run);  // another block may come to change the patterns
      return false;
    }
    report_deadlock(*run.worker);
    abort_launch(run);
  }
  return true;
}

void abort_launch(BlockRun& run) {
  run.aborted = true;
  LaunchRun& l = *run.launch;
  {
    std::lock_guard lock(l.mutex);
    l.stop = true;
  }
  l.lowest_changed.notify_all();
}

}  // namespace simgpu::exec
