#include "common/simgpu/exec/memory_ops.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simgpu/count/coalescing.hpp"
#include "common/simgpu/count/shared_banks.hpp"
#include "common/simgpu/exec/carried.hpp"
#include "common/simgpu/exec/cluster.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/sampling.hpp"
#include "common/simgpu/half.hpp"

namespace simgpu::exec {

namespace {
/// Whether nvcc makes this access a part of a wider one (count/struct_copies.hpp).
bool is_part(count::PartOfCopy part, const std::uint64_t (&address)[kLanes], std::uint32_t mask) {
  if (part.whole == 0) return false;
  for (unsigned i = 0; i < kLanes; ++i)
    if (((mask >> i) & 1u) != 0 && (address[i] - part.place) % part.whole != 0) return false;
  return true;
}
}  // namespace

namespace {

/// One access of a warp to global memory, in the counters of the allocations that it reaches.
GlobalCounts count_one_global(BlockRun& run, AccessType type, bool fetches,
                              const std::uint64_t (&address)[kLanes], std::uint32_t mask,
                              unsigned bytes) {
  Counters& c = run.worker->counters;
  GlobalCounts total;
  total.requests = 1;
  // Usually all lanes reach one allocation; else each gets its share, and the first lane's one the
  // request.
  std::uint32_t left = mask;
  bool first = true;
  while (left != 0) {
    const std::uint64_t slot = memory::slot_of(address[std::countr_zero(left)]);
    std::uint32_t here = 0;
    for (unsigned i = 0; i < kLanes; ++i)
      if (((left >> i) & 1u) && memory::slot_of(address[i]) == slot) here |= 1u << i;
    GlobalCounts part;
    part.requests = first ? 1 : 0;
    part.sectors = type == AccessType::atomic ? count::atomic_sectors(address, here, bytes)
                                              : count::sectors(address, here, bytes);
    part.ideal_sectors = count::ideal_sectors(count::distinct_bytes(address, here, bytes));
    part.bytes = std::uint64_t{bytes} * static_cast<unsigned>(std::popcount(here));
    total.sectors += part.sectors;
    total.ideal_sectors += part.ideal_sectors;
    total.bytes += part.bytes;
    if (const memory::Allocation* a = run.launch->memory->owner(address[std::countr_zero(left)]);
        a != nullptr && a->live_index < c.buffers.size()) {
      BufferTraffic& b = c.buffers[a->live_index];
      (type == AccessType::load ? b.load : type == AccessType::store ? b.store : b.atomic) += part;
      if (fetches) b.fetched += part;
    }
    first = false;
    left &= ~here;
  }
  return total;
}

/// The addresses of an access that begins `bytes` behind them.
struct Moved {
  std::uint64_t address[kLanes];
  Moved(const std::uint64_t (&from)[kLanes], std::int64_t bytes) {
    for (unsigned i = 0; i < kLanes; ++i) address[i] = from[i] + static_cast<std::uint64_t>(bytes);
  }
};

}  // namespace

void count_global(BlockRun& run, const Op& op, AccessType type,
                  const std::uint64_t (&address)[kLanes], std::uint32_t mask, unsigned bytes) {
  if (const count::PartOfCopy part = run.launch->program->parts_of_copies[op.site];
      is_part(part, address, mask)) {
    if (part.place != 0) return;
    bytes = part.whole;
  }
  GlobalCounts total;
  const bool fetches = run.launch->program->fetches[op.site];
  const count::NarrowedLoad& narrowed = run.launch->program->narrowed[op.site];
  if (narrowed.count == 0) total = count_one_global(run, type, fetches, address, mask, bytes);
  for (unsigned k = 0; k < narrowed.count; ++k) {
    const auto [offset, width] = narrowed.accesses[k];
    total += count_one_global(run, type, fetches, Moved(address, offset).address, mask, width);
  }
  run.worker->counters.sites[op.site].global += total;
  sample_access(run, op, type, MemorySpace::global, address, mask, bytes,
                static_cast<unsigned>(total.sectors), static_cast<unsigned>(total.ideal_sectors));
}

SharedCounts shared_cost(const BlockRun& run, const Op& op, AccessType type,
                         const std::uint64_t (&address)[kLanes], std::uint32_t mask,
                         unsigned bytes) {
  SharedCounts s;
  const bool load = type == AccessType::load;
  const count::Wavefronts raw = type == AccessType::atomic
                                    ? count::atomic_wavefronts(address, mask, bytes)
                                    : count::shared_wavefronts(address, mask, bytes, load);
  s.raw_requests = 1;
  s.raw_wavefronts = raw.actual;
  s.raw_ideal_wavefronts = raw.ideal;
  s.bytes = std::uint64_t{bytes} * static_cast<unsigned>(std::popcount(mask));
  const Merge merge = run.launch->program->merges[op.site];
  if (merge.width == 0) return s;  // ptxas makes it part of another access
  const count::PartOfCopy part = run.launch->program->parts_of_copies[op.site];
  const count::NarrowedLoad& narrowed = run.launch->program->narrowed[op.site];
  count::Wavefronts w = raw;
  s.requests = 1;
  if (merge.width == bytes && is_part(part, address, mask)) {
    if (part.place != 0) return s.requests = 0, s;
    w = count::shared_wavefronts(address, mask, part.whole, load);
  } else if (narrowed.count == 2) {
    s.requests = 2;
    w = {};
    for (const auto& [offset, width] : narrowed.accesses) {
      const count::Wavefronts one =
          count::shared_wavefronts(Moved(address, offset).address, mask, width, load);
      w.actual += one.actual, w.ideal += one.ideal;
    }
  } else if (merge.width != bytes) {
    w = count::shared_wavefronts(Moved(address, merge.shift).address, mask, merge.width, load);
  }
  s.wavefronts = w.actual;
  s.ideal_wavefronts = w.ideal;
  return s;
}

void count_shared(BlockRun& run, const Op& op, AccessType type,
                  const std::uint64_t (&address)[kLanes], std::uint32_t mask, unsigned bytes) {
  const SharedCounts cost = shared_cost(run, op, type, address, mask, bytes);
  run.worker->counters.sites[op.site].shared += cost;
  sample_shared(run, op, type, address, mask, bytes, cost);
}

SharedCounts matrix_cost(const std::uint64_t (&row)[kLanes], unsigned matrices) {
  const count::Wavefronts w = count::matrix_wavefronts(row, matrices);
  return {1, w.actual, w.ideal, 1, w.actual, w.ideal, std::uint64_t{128} * matrices};
}

GlobalCounts async_cost(const std::uint64_t (&from)[kLanes], const std::uint64_t (&to)[kLanes],
                        const std::uint8_t (&read)[kLanes], std::uint32_t mask, bool bypasses_l1) {
  GlobalCounts c;
  if (mask == 0) return c;
  c.requests = 1;
  c.sectors = bypasses_l1 ? count::bypass_sectors(from, to, mask) : count::sectors(from, mask, 1);
  // Distinct 4-byte words read, so that a source copied twice counts once.
  std::uint64_t word[kLanes];
  std::uint32_t here[4] = {};
  for (unsigned i = 0; i < kLanes; ++i) {
    word[i] = from[i];
    if (((mask >> i) & 1u) == 0) continue;
    c.bytes += read[i];
    for (unsigned k = 0; 4 * k < read[i]; ++k) here[k] |= 1u << i;
  }
  unsigned distinct = 0;
  if (here[1] == 0) {
    distinct = count::distinct_bytes(word, here[0], 4);
  } else {
    for (const std::uint32_t lanes : here) {
      if (lanes != 0) distinct += count::distinct_bytes(word, lanes, 4);
      for (std::uint64_t& a : word) a += 4;
    }
  }
  c.ideal_sectors = count::ideal_sectors(distinct);
  return c;
}

namespace {
/// Whether a volatile access moves data between lanes: each has a place of its own, and no loop
/// waits for it. One place for all is a flag.
bool is_exchange(const LaunchRun& l, const Op& op, const std::uint64_t (&address)[kLanes],
                 std::uint32_t mask) {
  const InstructionInfo& info = l.program->instructions[op.pc];
  if (info.ptx == nullptr || !info.ptx->mod.is_volatile || info.polls) return false;
  const std::uint64_t first = mask != 0 ? address[std::countr_zero(mask)] : 0;
  for (; mask != 0; mask &= mask - 1)
    if (address[std::countr_zero(mask)] != first) return true;
  return false;
}
}  // namespace

Reached access_lanes(Warp& w, const Op& op, AccessType type, ptx::Space space,
                     const std::uint64_t (&address)[kLanes], std::uint32_t mask, unsigned bytes,
                     std::byte* data, std::size_t stride, bool strong, UnwrittenBytes* unwritten) {
  BlockRun& run = *w.run;
  LaunchRun& l = *run.launch;
  const bool load = type == AccessType::load;
  const Checks& checks = l.options.checks;
  const unsigned element = std::max<unsigned>(op.width, 1);
  const bool exchange = strong && l.exact && is_exchange(l, op, address, mask);
  Reached reached;
  for (unsigned i = 0; i < kLanes; ++i) {
    if (((mask >> i) & 1u) == 0) continue;
    const Target t = resolve(run, w, i, op, space, address[i], bytes, !load);
    if (t.fault != Target::Fault::none) {
      report_fault(run, w, i, op, type, bytes, address[i], t);
      if (load) std::memset(data + i * stride, static_cast<int>(memory::kPoison), bytes);
      continue;
    }
    reached.offset[i] = t.offset;
    const auto look_whether_written = [&] {
      const std::uint32_t missing = unwritten_bytes(run, t, bytes);
      if (missing == 0) return;
      if (unwritten != nullptr && may_bring(run, op, t, bytes, missing))
        (*unwritten)[i] = missing;
      else
        report_uninitialised(run, w, i, op, bytes, address[i], t);
    };
    const std::uint32_t kept = !load && unwritten != nullptr ? (*unwritten)[i] : 0;
    if (t.peer != nullptr) {
      reached.peer |= 1u << i;
      if (!access_peer(run, w, i, op, type, t, bytes, strong)) {
        if (load) std::memset(data + i * stride, static_cast<int>(memory::kPoison), bytes);
        continue;
      }
    } else {
      // Only the exact record compares values.
      const bool same = !load && l.exact && (strong || !checks.rewrites) &&
                        std::memcmp(t.data, data + i * stride, bytes) == 0;
      const bool rewrites = same && !checks.rewrites;
      if (same) reached.same |= 1u << i;
      switch (t.space) {
        case MemorySpace::shared: {
          reached.shared |= 1u << i;
          if (load && run.async.used && reads_too_early(run, w, i, op, type, t.offset, bytes)) {
            std::memset(data + i * stride, static_cast<int>(memory::kPoison), bytes);
            continue;
          }
          if (load && checks.init) look_whether_written();
          const std::uint32_t before = kept != 0 ? unwritten_bytes(run, t, bytes) : 0;
          if (checks.race || checks.init)
            check_shared_access(run, w, i, op, type, t.offset, bytes, strong, rewrites, exchange);
          if (kept != 0) keep_unwritten(run, t, bytes, kept, before);
          break;
        }
        case MemorySpace::local:
          reached.local |= 1u << i;
          if (load && checks.init) look_whether_written();
          if (!load) mark_written(t, bytes, element, kept);
          break;
        case MemorySpace::param:
          break;
        default: {
          (t.space == MemorySpace::global ? reached.global : reached.constant) |= 1u << i;
          if (!load) {
            prepare_write(l, *t.allocation);
            if (t.initialised != nullptr) mark_written(t, bytes, element, kept);
          } else if (checks.init) {
            look_whether_written();
          }
          if (checks.race && t.space == MemorySpace::global)
            check_global_access(run, w, i, op, type, strong, *t.allocation, t.offset, bytes,
                                rewrites);
        }
      }
    }
    if (load)
      copy_element(data + i * stride, t.data, bytes);
    else
      copy_element(t.data, data + i * stride, bytes);
  }
  return reached;
}

Reached move_lanes(Warp& w, const Op& op, const std::uint64_t (&address)[kLanes]) {
  const auto type = static_cast<AccessType>(op.y);
  const bool load = type == AccessType::load;
  std::byte data[kLanes][32];
  for (unsigned k = 0; !load && k < op.vec; ++k) {
    const std::byte* from = address_of(w, op.list[k]);
    for (unsigned i = 0; i < kLanes; ++i)
      copy_element(data[i] + k * op.width, from + i * op.width, op.width);
  }
  UnwrittenBytes unwritten{};
  if (!load && !w.carried.empty()) carried_by(w, op, unwritten);
  const Reached reached = access_lanes(w, op, type, static_cast<ptx::Space>(op.x), address, w.mask,
                                       unsigned{op.width} * op.vec, data[0], sizeof data[0],
                                       (op.z & 1) != 0, &unwritten);
  if (load && (!w.carried.empty() || unwritten != UnwrittenBytes{})) carry(w, op, unwritten);
  for (unsigned k = 0; load && k < op.vec; ++k) {
    std::byte* to = address_of(w, op.list[k]);
    for (unsigned i = 0; i < kLanes; ++i)
      if ((w.mask >> i) & 1u) copy_element(to + i * op.width, data[i] + k * op.width, op.width);
  }
  return reached;
}

/// A place in shared memory by which blocks of a cluster hand over: the same number for all of them.
std::uint64_t variable_of(const BlockRun& run, ptx::Space space, std::uint64_t address) {
  const std::uint64_t offset = space == ptx::Space::generic ? memory::offset_of(address) : address;
  return std::uint64_t{1} << 63 |
         run.cluster->numbers[memory::rank_in(offset)] << memory::kRankBit |
         memory::in_block(offset);
}

/// Only the exact record asks who of a block has looked at a variable.
check::BlockOrder::Actor actor_of(const Warp& w, std::uint32_t lanes) {
  const BlockRun& run = *w.run;
  if (!run.launch->exact) return {};
  return {w.index, lanes, &run.clocks, &run.handovers};
}

/// A volatile, relaxed, acquire or release access: threads hand over by these.
void note_strong_access(Warp& w, const Op& op, const std::uint64_t (&address)[kLanes],
                        const Reached& reached) {
  BlockRun& run = *w.run;
  const bool load = static_cast<AccessType>(op.y) == AccessType::load;
  std::uint64_t sight = w.mask;
  for (unsigned i = 0; i < kLanes; ++i) {
    const bool global = ((reached.global >> i) & 1u) != 0;
    if (!global && (((reached.shared | reached.peer) >> i) & 1u) == 0) continue;
    const std::uint64_t at = global ? address[i] : reached.offset[i];
    if (((reached.peer >> i) & 1u) == 0) run.handovers.touch(w.index, at, load, !load);
    if (global) {
      // Who sees the value may have it from an earlier store: one that changes nothing tells nobody anything.
      const bool changes = !load && ((reached.same >> i) & 1u) == 0;
      run.order.atomic(at, actor_of(w, 1u << i), changes);
      const bool exact = run.launch->exact;
      if (exact && !load) run.order.stores(at, op.pc);
      if (load && run.launch->program->instructions[op.pc].polls) {
        run.order.relies_on(at, actor_of(w, 1u << i));
        if (exact) run.order.awaits(at);
      }
    } else if (run.cluster != nullptr)
      run.order.atomic(variable_of(run, static_cast<ptx::Space>(op.x), address[i]),
                       actor_of(w, 1u << i), !load);
    std::uint64_t value = 0;
    if (load) std::memcpy(&value, address_of(w, op.list[0]) + i * op.width, op.width);
    sight = add_to_sight(add_to_sight(sight, at), value);
  }
  if (load && reached.global != 0) {
    const auto lane = static_cast<unsigned>(std::countr_zero(reached.global));
    w.look = {op.pc, lane, op.width, address[lane]};
  }
  load ? note_poll(w, op.pc, sight) : note_progress(w);
}

void access_lane_by_lane(Warp& w, const Op& op, const std::uint64_t (&address)[kLanes]) {
  BlockRun& run = *w.run;
  const Reached reached = move_lanes(w, op, address);
  if ((op.z & 1) != 0) note_strong_access(w, op, address, reached);
  if (!run.launch->options.count) return;
  const auto type = static_cast<AccessType>(op.y);
  const unsigned bytes = unsigned{op.width} * op.vec;
  if (reached.global != 0) count_global(run, op, type, address, reached.global, bytes);
  if (reached.shared != 0) count_shared(run, op, type, reached.offset, reached.shared, bytes);
  if (reached.peer != 0) count_cluster(run, op);
  // Width 0: ptxas makes it part of another access.
  if (reached.local != 0 && (op.z & kUncounted) == 0 &&
      run.launch->program->merges[op.site].width != 0)
    ++run.worker->counters.sites[op.site].local_requests;
  if (reached.constant != 0)
    run.worker->counters.sites[op.site].constant_words +=
        (count::distinct_bytes(address, reached.constant, bytes) + 3) / 4;
}

void op_memory(Warp& w, const Op& op) {
  std::uint64_t address[kLanes];
  const std::uint64_t* base = lanes_of<std::uint64_t>(w, op.a);
  for (unsigned i = 0; i < kLanes; ++i) address[i] = base[i] + static_cast<std::uint64_t>(op.imm);
  access_lane_by_lane(w, op, address);
}

// ------------------------------------------------------------------------------------------------
// atomics

namespace {

/// The new value of a location. `b` and `c` are the operands' bits, `old` the location's, all
/// `type`.
template <class T>
std::uint64_t integer_atomic(ptx::AtomOp op, std::uint64_t old_bits, std::uint64_t b_bits,
                             std::uint64_t c_bits) {
  using U = std::make_unsigned_t<T>;
  const T old = static_cast<T>(old_bits), b = static_cast<T>(b_bits);
  const U uold = static_cast<U>(old_bits), ub = static_cast<U>(b_bits);
  switch (op) {
    case ptx::AtomOp::add:
      return static_cast<U>(uold + ub);
    case ptx::AtomOp::inc:
      return uold >= ub ? U{0} : static_cast<U>(uold + 1);
    case ptx::AtomOp::dec:
      return uold == 0 || uold > ub ? ub : static_cast<U>(uold - 1);
    case ptx::AtomOp::min:
      return static_cast<U>(b < old ? b : old);
    case ptx::AtomOp::max:
      return static_cast<U>(old < b ? b : old);
    case ptx::AtomOp::and_:
      return uold & ub;
    case ptx::AtomOp::or_:
      return uold | ub;
    case ptx::AtomOp::xor_:
      return uold ^ ub;
    case ptx::AtomOp::exch:
      return ub;
    case ptx::AtomOp::cas:
      return uold == ub ? static_cast<U>(c_bits) : uold;
    default:
      return uold;
  }
}

std::uint16_t half_atomic(ptx::AtomOp op, std::uint16_t old, std::uint16_t b, bool bf) {
  const double x = static_cast<double>(bf ? bfloat_to_float(old) : half_to_float(old));
  const double y = static_cast<double>(bf ? bfloat_to_float(b) : half_to_float(b));
  const double r = op == ptx::AtomOp::min   ? (y < x ? y : x)
                   : op == ptx::AtomOp::max ? (x < y ? y : x)
                                            : x + y;
  return bf ? to_bfloat(r) : to_half(r);
}

}  // namespace

std::uint64_t atomic_result(ptx::AtomOp op, Ty type, std::uint64_t old, std::uint64_t b,
                            std::uint64_t c) {
  const bool exchange = op == ptx::AtomOp::exch || op == ptx::AtomOp::cas;
  switch (type) {
    case Ty::f32:
      if (exchange) break;
      return std::bit_cast<std::uint32_t>(std::bit_cast<float>(static_cast<std::uint32_t>(old)) +
                                          std::bit_cast<float>(static_cast<std::uint32_t>(b)));
    case Ty::f64:
      if (exchange) break;
      return std::bit_cast<std::uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(b));
    case Ty::f16:
    case Ty::bf16:
      return half_atomic(op, static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(b),
                         type == Ty::bf16);
    case Ty::f16x2:
    case Ty::bf16x2: {
      const bool bf = type == Ty::bf16x2;
      const std::uint32_t lo =
          half_atomic(op, static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(b), bf);
      const std::uint32_t hi = half_atomic(op, static_cast<std::uint16_t>(old >> 16),
                                           static_cast<std::uint16_t>(b >> 16), bf);
      return lo | (hi << 16);
    }
    case Ty::s32:
      return integer_atomic<std::int32_t>(op, old, b, c);
    case Ty::s64:
      return integer_atomic<std::int64_t>(op, old, b, c);
    case Ty::u16:
      return integer_atomic<std::uint16_t>(op, old, b, c);
    case Ty::u64:
      return integer_atomic<std::uint64_t>(op, old, b, c);
    default:
      return integer_atomic<std::uint32_t>(op, old, b, c);
  }
  return type == Ty::f64 ? integer_atomic<std::uint64_t>(op, old, b, c)
                         : integer_atomic<std::uint32_t>(op, old, b, c);
}

/// Lanes take their turn in order of their number.
void op_atomic(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  LaunchRun& l = *run.launch;
  // The first element of a vector stands for the access, those behind it are counted with it.
  const unsigned bytes = op.width, all = bytes * std::max<unsigned>(op.vec, 1);
  const std::uint64_t* base = lanes_of<std::uint64_t>(w, op.a);
  const std::byte *b = address_of(w, op.b), *c = op.c != kNoRef ? address_of(w, op.c) : nullptr;
  const Checks& checks = l.options.checks;
  std::uint64_t address[kLanes] = {}, offset[kLanes] = {};
  std::uint32_t global = 0, shared = 0, local = 0, peer = 0;
  std::uint64_t before[kLanes] = {};
  bool changed = false;
  std::uint64_t sight = w.mask;
  for (unsigned i = 0; i < kLanes; ++i) {
    if (((w.mask >> i) & 1u) == 0) continue;
    address[i] = base[i] + static_cast<std::uint64_t>(op.imm);
    const Target t = resolve(run, w, i, op, static_cast<ptx::Space>(op.x), address[i], all, true);
    if (t.fault != Target::Fault::none) {
      report_fault(run, w, i, op, AccessType::atomic, all, address[i], t);
      before[i] = ~std::uint64_t{0};
      continue;
    }
    offset[i] = t.offset;
    bool uninitialised = false;
    if (t.peer != nullptr) {
      peer |= 1u << i;
      if (!access_peer(run, w, i, op, AccessType::atomic, t, bytes, true)) {
        before[i] = ~std::uint64_t{0};
        continue;
      }
    } else if (t.space == MemorySpace::shared) {
      shared |= 1u << i;
      const std::uint64_t in = t.offset - memory::kSharedBase;
      if (run.async.used && reads_too_early(run, w, i, op, AccessType::atomic, t.offset, bytes)) {
        before[i] = ~std::uint64_t{0};
        continue;
      }
      for (std::uint64_t g = in >> run.shadow.shift; g <= (in + bytes - 1) >> run.shadow.shift; ++g)
        uninitialised |= run.shadow.written[g] == 0;
      if (checks.init && uninitialised) report_uninitialised(run, w, i, op, bytes, address[i], t);
      if (checks.race || checks.init)
        check_shared_access(run, w, i, op, AccessType::atomic, t.offset, bytes);
    } else {
      (t.space == MemorySpace::global ? global : local) |= 1u << i;
      if (t.allocation != nullptr) prepare_write(l, *t.allocation);
      uninitialised = t.initialised != nullptr && std::memchr(t.initialised, 0, bytes) != nullptr;
      if (checks.init && uninitialised && static_cast<ptx::AtomOp>(op.y) != ptx::AtomOp::exch)
        report_uninitialised(run, w, i, op, bytes, address[i], t);
      if (t.initialised != nullptr) std::memset(t.initialised, 1, bytes);
      if (t.allocation != nullptr) {
        if (checks.race)
          check_global_access(run, w, i, op, AccessType::atomic, true, *t.allocation, t.offset,
                              bytes);
        // Flags and counters are integers; a matrix of sums must not leave them without room.
        const bool releases = !is_floating(static_cast<Ty>(op.z)) || run.order.has_room_for_sums();
        run.order.atomic(address[i], actor_of(w, 1u << i), releases);
        run.order.relies_on(address[i], actor_of(w, 1u << i));
      }
    }
    std::uint64_t old = 0, operand = 0, operand2 = 0;
    std::memcpy(&old, t.data, bytes);
    std::memcpy(&operand, b + i * bytes, bytes);
    if (c != nullptr) std::memcpy(&operand2, c + i * bytes, bytes);
    before[i] = old;
    const std::uint64_t result = atomic_result(static_cast<ptx::AtomOp>(op.y),
                                               static_cast<Ty>(op.z), old, operand, operand2);
    changed |= std::memcmp(&result, &old, bytes) != 0;
    const std::uint64_t at = t.space == MemorySpace::shared ? t.offset : address[i];
    if (t.peer == nullptr) run.handovers.touch(w.index, at, true, true);
    if (run.cluster != nullptr && t.space == MemorySpace::shared)
      run.order.atomic(variable_of(run, static_cast<ptx::Space>(op.x), address[i]),
                       actor_of(w, 1u << i));
    sight = add_to_sight(add_to_sight(sight, at), old);
    std::memcpy(t.data, &result, bytes);
  }
  changed ? note_progress(w) : note_poll(w, op.pc, sight);
  if (op.dst != kNoRef) {
    std::byte* d = address_of(w, op.dst);
    for (unsigned i = 0; i < kLanes; ++i)
      if ((w.mask >> i) & 1u) std::memcpy(d + i * bytes, &before[i], bytes);
  }
  if (!l.options.count || op.vec == 0) return;
  if (global != 0) count_global(run, op, AccessType::atomic, address, global, all);
  if (shared != 0) {
    if (is_by_swaps(op))
      log_swaps(w, op, offset, shared, bytes);
    else
      count_shared(run, op, AccessType::atomic, offset, shared, bytes);
  }
  if (peer != 0) count_cluster(run, op);
  if (local != 0) ++run.worker->counters.sites[op.site].local_requests;
}

}  // namespace simgpu::exec
