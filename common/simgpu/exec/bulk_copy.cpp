// cp.async.bulk and cp.async.bulk.tensor (PTX ISA 9.7.9.25 and 9.7.9.27): issue, arrival, and what
// goes wrong with asynchronous reads and writes of shared memory. check/async_proxy.hpp says how
// copies are modelled.
//
// Where hardware's behaviour is documented: boxes and elements outside of a tensor PTX ISA 5.5.3,
// swizzles 5.5.6, alignment of addresses and sizes in the description of each instruction. The
// rounding of floats to TF32 is to nearest, ties to even.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "common/simgpu/exec/async_proxy.hpp"
#include "common/simgpu/exec/bulk_copy.hpp"
#include "common/simgpu/exec/cluster.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/memory_ops.hpp"

namespace simgpu::exec {

using check::BulkCopy;
using check::MBarrier;

namespace bulk {

void refuse(const Place& at, FindingKind kind, MemorySpace space, std::uint64_t address,
            std::string why, FindingCause cause) {
  if (!at.run.launch->options.checks.memory) return;
  add_finding(
      at.run, kind, at.op.pc, UINT32_MAX,
      describe(at.run, {at.op.pc, at.w.index, at.lane, AccessType::load, space, kChunk, address}),
      std::nullopt, std::move(why), cause);
}

std::uint64_t address_of(const Place& at, Ref base, std::int64_t offset) {
  return lanes_of<std::uint64_t>(at.w, base)[at.lane] + static_cast<std::uint64_t>(offset);
}

namespace {
std::string bytes_text(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}
}  // namespace

std::uint32_t shared_place(const Place& at, std::uint64_t address, std::uint32_t bytes,
                           unsigned align, bool write) {
  const std::uint64_t in = address - memory::kSharedBase;
  const std::uint32_t have = at.run.launch->shared_bytes;
  if (address < memory::kSharedBase || in > have || bytes > have - in) {
    refuse(at, FindingKind::out_of_bounds, MemorySpace::shared, address,
           "a bulk copy " + std::string(write ? "writes " : "reads ") + bytes_text(bytes) +
               " from byte " + std::to_string(in) + " of shared memory on, which has " +
               bytes_text(have));
    return UINT32_MAX;
  }
  if (address % align != 0) {
    refuse(at, FindingKind::misaligned, MemorySpace::shared, address,
           "a bulk copy's address in shared memory must be a multiple of " + bytes_text(align) +
               ", and is " + std::to_string(address % align) + " mod " + std::to_string(align));
    return UINT32_MAX;
  }
  return static_cast<std::uint32_t>(in);
}

std::uint32_t own_place(const Place& at, std::uint64_t address, std::uint32_t bytes,
                        unsigned align) {
  const std::uint64_t named = memory::rank_in(address);
  if (named == at.run.rank) return shared_place(at, memory::in_block(address), bytes, align, false);
  if (named >= at.run.launch->cluster_blocks) return shared_place(at, address, bytes, align, false);
  refuse(at, FindingKind::out_of_bounds, MemorySpace::shared, memory::in_block(address),
         "a bulk copy reads " + bytes_text(bytes) + " " + other_block_text(at.run, address));
  return UINT32_MAX;
}

std::byte* global_piece(const Place& at, std::uint64_t address, std::uint32_t bytes,
                        AccessType type) {
  BlockRun& run = at.run;
  const bool write = type != AccessType::load, read = type != AccessType::store;
  Target t = resolve(run, at.w, at.lane, ptx::Space::global, address, 1, write);
  if (t.fault == Target::Fault::none && bytes > t.allocation->size - t.offset)
    t.fault = Target::Fault::bounds;
  if (t.fault != Target::Fault::none) {
    report_fault(run, at.w, at.lane, at.op, type, bytes, address, t);
    return nullptr;
  }
  const Checks& checks = run.launch->options.checks;
  if (read && checks.init && t.initialised != nullptr &&
      std::memchr(t.initialised, 0, bytes) != nullptr)
    report_uninitialised(run, at.w, at.lane, at.op, bytes, address, t);
  if (write) {
    prepare_write(*run.launch, *t.allocation);
    if (t.initialised != nullptr) std::memset(t.initialised, 1, bytes);
  }
  if (checks.race && t.space == MemorySpace::global)
    check_global_access(run, at.w, at.lane, at.op, type, read && write, *t.allocation, t.offset,
                        bytes);
  return t.data;
}

bool whole_chunks(const Place& at, std::uint32_t bytes, std::uint64_t global, const char* side) {
  if (bytes % kChunk == 0 && global % kChunk == 0) return true;
  refuse(at, FindingKind::misaligned, MemorySpace::global, global,
         bytes % kChunk != 0
             ? "a bulk copy moves multiples of 16 bytes, not " + bytes_text(bytes)
             : "a bulk copy's " + std::string(side) + " lies at a multiple of 16 bytes");
  return false;
}

// ---- copies to shared memory

namespace {

/// The place holds poison until a copy arrives; what a reduction adds to stays.
void mark_pending(BlockRun& run, const BulkCopy& c, unsigned engine) {
  if (c.reduction.width == 0)
    std::memset(run.shared.data() + c.first, static_cast<int>(memory::kPoison), c.bytes);
  mark_place(run, c, engine);
}

/// The destination in another block: as check_destination.
void check_peer_destination(const Place& at, BlockRun& peer, const BulkCopy& c) {
  LaunchRun& l = *at.run.launch;
  const check::WarpClock clock = clock_in(peer, at.w);
  const unsigned shift = peer.shadow.shift;
  for (std::uint32_t g = c.first >> shift; g <= (c.first + c.bytes - 1) >> shift; ++g) {
    const check::Tag written = peer.shadow.written[g];
    if (check::is_by_engine(written) || check::is_pending(written)) {
      if (check::SharedShadow::suspicious(written, clock, UINT32_MAX, at.lane)) {
        report_bulk_conflict(peer, at.w, at.lane, at.op, AccessType::store,
                             c.first + memory::kSharedBase, c.bytes, g);
        return;
      }
    } else if (check::SharedShadow::suspicious(written, clock, UINT32_MAX, at.lane) ||
               check::SharedShadow::suspicious(peer.shadow.read[g], clock, UINT32_MAX, at.lane)) {
      l.suspicious.store(true, std::memory_order_relaxed);
    }
    if (!l.exact) continue;
    Target t;
    t.peer = &peer;
    t.offset = (std::uint64_t{g} << shift) + memory::kSharedBase;
    check_peer_access(at.run, at.w, at.lane, at.op, AccessType::store, t, 1u << shift, false);
  }
}

/// Threads have written what the copy overwrites, and nothing has told the asynchronous proxy: their stores
/// may land behind the copy's.
bool is_unknown_to_proxy(check::Tag written, const check::WarpClock& clock) {
  const std::uint32_t who = written & check::kWhoMask;
  return written != 0 && who != check::kManyWarps &&
         check::time_of(written) >= clock.proxied[who >> 6];
}

void report_unfenced_stores(const Place& at, check::Tag written, std::uint64_t offset) {
  const std::uint32_t who = written & check::kWhoMask;
  const LaneAccess me{at.op.pc, at.w.index, at.lane, AccessType::store, MemorySpace::shared,
                      kChunk,   offset};
  const Access place = describe(at.run, me);
  Access other =
      describe_thread(*at.run.launch, at.run.number,
                      (who >> 6) * kLanes + std::min<std::uint32_t>(who & 63u, kLanes - 1), me);
  other.where = {};
  add_finding(at.run, FindingKind::proxy_fence_missing, at.op.pc, UINT32_MAX, place, other,
              "the bulk copy of " + line_text(*at.run.launch->program, at.op.pc) + " overwrites " +
                  place.object + "+" + std::to_string(place.offset) +
                  ", which threads have written by ordinary stores: fence.proxy.async must come "
                  "between the stores and the barrier that follows them");
}

/// Who wrote or read the destination before must be known to have done so.
void check_destination(const Place& at, BlockRun& to, const BulkCopy& c) {
  BlockRun& run = at.run;
  LaunchRun& l = *run.launch;
  if (overwrites_async_read(to, at.w, at.lane, at.op.pc, c.first, c.bytes)) return;
  if (c.reduction.width != 0) return check_reduction(at, to, c);
  if (!l.options.checks.race) return;
  if (&to != &run) return check_peer_destination(at, to, c);
  const check::WarpClock& clock = run.clocks.of(at.w.index);
  const unsigned shift = run.shadow.shift;
  const std::uint32_t first = c.first >> shift, last = (c.first + c.bytes - 1) >> shift;
  check::Tag fine_write = 0, fine_read = 0;
  bool unfenced = false;
  for (std::uint32_t g = first; g <= last; ++g) {
    const check::Tag written = run.shadow.written[g], read = run.shadow.read[g];
    if (written != fine_write) {
      if (check::is_by_engine(written) || check::is_pending(written)) {
        if (check::SharedShadow::suspicious(written, clock, at.w.index, at.lane)) {
          report_bulk_conflict(run, at.w, at.lane, at.op, AccessType::store,
                               c.first + memory::kSharedBase, c.bytes, g);
          return;
        }
      } else if (check::SharedShadow::suspicious(written, clock, at.w.index, at.lane)) {
        l.suspicious.store(true, std::memory_order_relaxed);
      } else if (!unfenced && is_unknown_to_proxy(written, clock)) {
        unfenced = true;
        report_unfenced_stores(at, written, (std::uint64_t{g} << shift) + memory::kSharedBase);
      }
      fine_write = written;
    }
    if (read != fine_read) {
      if (check::SharedShadow::suspicious(read, clock, at.w.index, at.lane))
        l.suspicious.store(true, std::memory_order_relaxed);
      fine_read = read;
    }
    if (l.exact)
      check_shared_access(run, at.w, at.lane, at.op, AccessType::store,
                          (std::uint64_t{g} << shift) + memory::kSharedBase, 1u << shift);
  }
}

/// The barrier at `address` that a copy reports to; without one after a finding.
Destination destination(const Place& at, std::uint64_t address) {
  const BarrierPlace place =
      find_mbarrier(at.run, at.w, at.lane, at.op.pc, ptx::Space::cluster, address);
  if (place.barrier == nullptr) return {};
  MBarrier* const b = place.barrier;
  if (!b->known_to_proxy && at.run.launch->options.checks.race) {
    b->known_to_proxy = true;
    Access other = describe_thread(
        *at.run.launch, place.block->number, b->init_thread,
        {b->init_pc, 0, 0, AccessType::store, MemorySpace::shared, 8, place.offset});
    add_finding(at.run, FindingKind::proxy_fence_missing, at.op.pc, b->init_pc,
                describe(at.run, {at.op.pc, at.w.index, at.lane, AccessType::atomic,
                                  MemorySpace::shared, 8, place.offset}),
                other,
                "the copy of " + line_text(*at.run.launch->program, at.op.pc) + " reports to " +
                    mbarrier_text(*place.block, place.offset) + ", whose initialisation on " +
                    line_text(*at.run.launch->program, b->init_pc) +
                    " the copy engine may not have seen: fence.mbarrier_init (or "
                    "fence.proxy.async) must follow mbarrier.init in the same thread");
  }
  return {place.block, b, place.offset};
}

std::uint64_t with_rank(std::uint64_t address, std::uint64_t rank) {
  return memory::rank_bits(rank) | memory::in_block(address);
}

}  // namespace

Destinations destinations(const Place& at, Ref multicast, std::uint64_t to, std::uint64_t barrier) {
  Destinations all;
  if (multicast != kNoRef) {
    const std::uint32_t mask = lanes_of<std::uint32_t>(at.w, multicast)[at.lane] & 0xffff;
    if (mask == 0 || mask >> at.run.launch->cluster_blocks != 0) {
      refuse(at, FindingKind::trap, MemorySpace::shared, to,
             "a copy for the blocks of mask " + std::to_string(mask) + " in a cluster of " +
                 std::to_string(at.run.launch->cluster_blocks));
      return all;
    }
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      const auto rank = static_cast<unsigned>(std::countr_zero(left));
      all.of[all.count] = destination(at, with_rank(barrier, rank));
      if (all.of[all.count++].barrier == nullptr) return {};
    }
    return all;
  }
  all.of[0] = destination(at, barrier);
  if (all.of[0].barrier == nullptr) return {};
  if (memory::rank_in(to) != all.of[0].block->rank) {
    refuse(at, FindingKind::trap, MemorySpace::shared, to,
           "a copy's destination and its mbarrier must lie in the same block of the cluster");
    return {};
  }
  all.count = 1;
  return all;
}

namespace {

void issue(const Place& at, BulkCopy& c, const Destination& to) {
  BlockRun& run = at.run;
  to.block->async.used = true;
  c.pc = at.op.pc;
  c.block = run.number;
  c.thread = at.w.index * kLanes + at.lane;
  c.barrier = to.offset;
  to.barrier->copy_pc = at.op.pc;
  check_destination(at, *to.block, c);
  if (to.block == &run)
    run.clocks.arrive(at.w.index, c.issued);
  else
    c.issued = run.known.of[to.block->rank];
  mark_pending(*to.block, c, to.barrier->engine);
  ++to.block->proxy.events;
  bound_times(run);
}

/// More copies under way than words can only write one place again and again: a finding already. The
/// oldest arrives then, so that a hostile kernel cannot fill the host's memory.
void bound_copies(BlockRun& run);

}  // namespace

void issue_to_all(const Place& at, BulkCopy& c, const Destinations& to) {
  for (unsigned k = 1; k < to.count; ++k) {
    BulkCopy& other = to.of[k].block->proxy.add();
    other.first = c.first;
    other.bytes = c.bytes;
    other.counted = c.counted;
    other.swizzle = c.swizzle;
    other.reduction = c.reduction;
    other.data = c.data;
    issue(at, other, to.of[k]);
  }
  issue(at, c, to.of[0]);
  for (unsigned k = 0; k < to.count; ++k) bound_copies(*to.of[k].block);
}

namespace {
void land(BlockRun& run, const BulkCopy& c, MBarrier& b) {
  if (c.reduction.width != 0)
    reduce(c.reduction, c.data.data(), c.bytes, run.shared.data() + c.first);
  else
    std::memcpy(run.shared.data() + c.first, c.data.data(), c.bytes);
  b.arriving.take(c.issued);
  check::take_later(b.arriving.proxied, c.issued.proxied);
  const std::uint32_t now = run.clocks.now();
  const unsigned engine = check::kMaxWarps + b.engine;
  b.arriving.seen[engine] = b.arriving.all[engine] = run.clocks.tick();
  const Checks& checks = run.launch->options.checks;
  if (checks.race || checks.init) {
    const check::Tag mark = check::tag(now, check::who(b.engine, check::kEngineLane));
    const unsigned shift = run.shadow.shift;
    for (std::uint32_t g = c.first >> shift; g <= (c.first + c.bytes - 1) >> shift; ++g) {
      run.shadow.written[g] = mark;
      run.async.landed[g] = {c.pc, mark, c.swizzle, c.reduction.width != 0};
    }
    if (c.reduction.width != 0) mark_others(run, c);
  }
  complete_transaction(run, b, c.counted);
}
}  // namespace

BulkCopy& new_copy(const Destinations& all, std::uint32_t first, std::uint32_t bytes) {
  BulkCopy& c = all.of[0].block->proxy.add();
  c.first = first;
  c.bytes = c.counted = bytes;
  return c;
}

namespace {

void plain_load(const Place& at, const BulkForm& form) {
  BlockRun& run = at.run;
  const std::uint32_t bytes = lanes_of<std::uint32_t>(at.w, form.bytes)[at.lane];
  const std::uint64_t from = address_of(at, form.global, form.global_offset),
                      to = address_of(at, form.shared, form.shared_offset);
  if (!whole_chunks(at, bytes, from, "source")) return;
  const std::uint32_t first = shared_place(at, memory::in_block(to), bytes, kChunk, true);
  const Destinations all =
      destinations(at, form.multicast, to, address_of(at, form.barrier, form.barrier_offset));
  if (first == UINT32_MAX || all.count == 0 || bytes == 0) return;
  BulkCopy& c = new_copy(all, first, bytes);
  c.data.assign(bytes, memory::kPoison);
  Traffic traffic(from);
  if (const std::byte* source = global_piece(at, from, bytes, AccessType::load);
      source != nullptr) {
    std::memcpy(c.data.data(), source, bytes);
    traffic.add(from, bytes);
  }
  traffic.count(run, at.op, false);
  issue_to_all(at, c, all);
}

/// From this block's shared memory to another one's.
void cluster_copy(const Place& at, const BulkForm& form) {
  BlockRun& run = at.run;
  const std::uint32_t bytes = lanes_of<std::uint32_t>(at.w, form.bytes)[at.lane];
  const std::uint64_t from = address_of(at, form.global, form.global_offset),
                      to = address_of(at, form.shared, form.shared_offset);
  if (!whole_chunks(at, bytes, from, "source")) return;
  const std::uint32_t source = own_place(at, from, bytes, kChunk);
  const std::uint32_t first = shared_place(at, memory::in_block(to), bytes, kChunk, true);
  const Destinations all =
      destinations(at, kNoRef, to, address_of(at, form.barrier, form.barrier_offset));
  if (source == UINT32_MAX || first == UINT32_MAX || all.count == 0 || bytes == 0) return;
  AsyncReadCheck check(run, at.w.index, 1, at.op.pc, "a bulk copy");
  for (std::uint32_t k = 0; k < bytes; k += kChunk) check.chunk(source + k);
  BulkCopy& c = new_copy(all, first, bytes);
  c.reduction = form.reduction;
  c.data.assign(run.shared.data() + source, run.shared.data() + source + bytes);
  count_cluster(run, at.op);
  issue_to_all(at, c, all);
}

void async_store(const Place& at, const AsyncStore& form) {
  const auto bytes = static_cast<std::uint32_t>(form.width * form.values.size());
  const std::uint64_t to = address_of(at, form.to, form.to_offset);
  const std::uint32_t first = shared_place(at, memory::in_block(to), bytes, bytes, true);
  const Destinations all =
      destinations(at, kNoRef, to, address_of(at, form.barrier, form.barrier_offset));
  if (first == UINT32_MAX || all.count == 0) return;
  BulkCopy& c = new_copy(all, first, bytes);
  c.reduction = form.reduction;
  c.data.resize(bytes);
  for (std::size_t k = 0; k < form.values.size(); ++k)
    std::memcpy(c.data.data() + k * form.width,
                exec::address_of(at.w, form.values[k]) + at.lane * form.width, form.width);
  issue_to_all(at, c, all);
}

}  // namespace

// ---- copies from shared memory

void begin_store(const Place& at, std::uint32_t first, std::uint32_t bytes) {
  BlockRun& run = at.run;
  AsyncReadCheck check(run, at.w.index, 1, at.op.pc, "a bulk copy");
  check::AsyncReads& reads = run.proxy.stores;
  const std::uint32_t number = reads.begin(at.op.pc);
  run.proxy.names_readers = true;
  for (std::uint32_t k = 0; k < bytes; k += kChunk) {
    check.chunk(first + k);
    reads.touch((first + k) / kChunk, number);
  }
  check::ReadGroups& g = run.proxy.bulk_groups[at.w.index * kLanes + at.lane];
  g.add(number);
}

namespace {

void plain_store(const Place& at, const BulkForm& form) {
  BlockRun& run = at.run;
  const std::uint32_t bytes = lanes_of<std::uint32_t>(at.w, form.bytes)[at.lane];
  const std::uint64_t to = address_of(at, form.global, form.global_offset),
                      from = address_of(at, form.shared, form.shared_offset);
  if (!whole_chunks(at, bytes, to, "destination")) return;
  const std::uint32_t first = own_place(at, from, bytes, kChunk);
  if (first == UINT32_MAX || bytes == 0) return;
  begin_store(at, first, bytes);
  Traffic traffic(to);
  const bool reduces = form.reduction.width != 0;
  std::byte* data = global_piece(at, to, bytes, reduces ? AccessType::atomic : AccessType::store);
  if (data == nullptr) return;
  if (reduces)
    reduce(form.reduction, run.shared.data() + first, bytes, data);
  else
    std::memcpy(data, run.shared.data() + first, bytes);
  traffic.add(to, bytes);
  traffic.count(run, at.op, true);
}

template <void (*kTensor)(const Place&, const BulkForm&),
          void (*kPlain)(const Place&, const BulkForm&)>
void each_lane(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  const BulkForm& form = run.launch->program->bulk_forms[static_cast<std::size_t>(op.imm)];
  for (std::uint32_t left = w.mask; left != 0 && !run.aborted; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    (form.coordinates.empty() ? kPlain : kTensor)({run, w, i, op}, form);
  }
}

void bound_copies(BlockRun& run) {
  constexpr std::size_t kMostBytes = 16u << 20;
  std::size_t bytes = 0;
  for (const auto& c : run.proxy.copies) bytes += c->bytes + sizeof *c;
  while (bytes > kMostBytes) {
    const BulkCopy& oldest = *run.proxy.copies.front();
    bytes -= oldest.bytes + sizeof oldest;
    const auto b = run.proxy.barriers.find(oldest.barrier);
    if (b != run.proxy.barriers.end()) land(run, oldest, b->second);
    run.proxy.retire(0);
  }
}

}  // namespace
}  // namespace bulk

using bulk::each_lane;

void op_bulk_load(Warp& w, const Op& op) {
  each_lane<bulk::tensor_load, bulk::plain_load>(w, op);
}
void op_bulk_cluster(Warp& w, const Op& op) {
  each_lane<bulk::cluster_copy, bulk::cluster_copy>(w, op);
}
void op_async_store(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  const AsyncStore& form = run.launch->program->async_stores[op.slot];
  count_cluster(run, op);
  for (std::uint32_t left = w.mask; left != 0 && !run.aborted; left &= left - 1)
    bulk::async_store({run, w, static_cast<unsigned>(std::countr_zero(left)), op}, form);
}
void op_bulk_store(Warp& w, const Op& op) {
  each_lane<bulk::tensor_store, bulk::plain_store>(w, op);
}

void op_bulk_commit(Warp& w, const Op&) {
  for (unsigned i = 0; i < kLanes; ++i)
    if ((w.mask >> i) & 1u) w.run->proxy.bulk_groups[w.index * kLanes + i].commit();
}
void op_bulk_wait(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  const std::uint32_t now = run.clocks.tick();
  for (unsigned i = 0; i < kLanes; ++i)
    if ((w.mask >> i) & 1u)
      run.proxy.bulk_groups[w.index * kLanes + i].wait(op.slot, [&](std::uint32_t number) {
        if (check::AsyncRead* r = run.proxy.stores.find(number)) r->ended[0] = now;
      });
  bound_times(run);
}

void land_copies(BlockRun& run, std::uint32_t offset, MBarrier& b) {
  const std::uint32_t phase = b.phase;
  for (std::size_t k = 0; k < run.proxy.copies.size() && b.phase == phase;) {
    if (run.proxy.copies[k]->barrier != offset) {
      ++k;
      continue;
    }
    bulk::land(run, *run.proxy.copies[k], b);
    run.proxy.retire(k);
  }
  bound_times(run);
}

}  // namespace simgpu::exec
