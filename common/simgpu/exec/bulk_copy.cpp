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
#include "common/simgpu/exec/cluster.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/memory_ops.hpp"
#include "common/simgpu/exec/tensor_rows.hpp"
#include "common/simgpu/tensor_map.hpp"

namespace simgpu::exec {

using check::BulkCopy;
using check::MBarrier;

namespace {

constexpr unsigned kChunk = 16;

struct Place {
  BlockRun& run;
  Warp& w;
  unsigned lane;
  const Op& op;
};

void refuse(const Place& at, FindingKind kind, MemorySpace space, std::uint64_t address,
            std::string why) {
  if (!at.run.launch->options.checks.memory) return;
  add_finding(
      at.run, kind, at.op.pc, UINT32_MAX,
      describe(at.run, {at.op.pc, at.w.index, at.lane, AccessType::load, space, kChunk, address}),
      std::nullopt, std::move(why));
}

std::uint64_t address_of(const Place& at, Ref base, std::int64_t offset) {
  return lanes_of<std::uint64_t>(at.w, base)[at.lane] + static_cast<std::uint64_t>(offset);
}

std::string bytes_text(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

/// The place in shared memory, from the start of the arrays; UINT32_MAX after a finding.
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

/// One piece of global memory that a bulk copy reads or writes; nullptr after a finding.
std::byte* global_piece(const Place& at, std::uint64_t address, std::uint32_t bytes, bool write) {
  BlockRun& run = at.run;
  const AccessType type = write ? AccessType::store : AccessType::load;
  Target t = resolve(run, at.w, at.lane, ptx::Space::global, address, 1, write);
  if (t.fault == Target::Fault::none && bytes > t.allocation->size - t.offset)
    t.fault = Target::Fault::bounds;
  if (t.fault != Target::Fault::none) {
    report_fault(run, at.w, at.lane, at.op, type, bytes, address, t);
    return nullptr;
  }
  const Checks& checks = run.launch->options.checks;
  if (write) {
    prepare_write(*run.launch, *t.allocation);
    if (t.initialised != nullptr) std::memset(t.initialised, 1, bytes);
  } else if (checks.init && t.initialised != nullptr &&
             std::memchr(t.initialised, 0, bytes) != nullptr) {
    report_uninitialised(run, at.w, at.lane, at.op, bytes, address, t);
  }
  if (checks.race && t.space == MemorySpace::global)
    check_global_access(run, at.w, at.lane, at.op, type, false, *t.allocation, t.offset, bytes);
  return t.data;
}

/// Sectors of pieces of global memory, one request.
class Traffic {
 public:
  explicit Traffic(std::uint64_t first) : first_(first) {}
  void add(std::uint64_t address, std::uint32_t bytes) {
    if (bytes == 0) return;
    counts_.sectors += (address + bytes - 1) / 32 - address / 32 + 1;
    counts_.bytes += bytes;
  }
  void count(BlockRun& run, const Op& op, bool write) {
    if (!run.launch->options.count) return;
    counts_.requests = 1;
    counts_.ideal_sectors = (counts_.bytes + 31) / 32;
    Counters& c = run.worker->counters;
    c.sites[op.site].global += counts_;
    const memory::Allocation* a = run.launch->memory->owner(first_);
    if (a == nullptr || a->live_index >= c.buffers.size()) return;
    (write ? c.buffers[a->live_index].store : c.buffers[a->live_index].load) += counts_;
  }

 private:
  std::uint64_t first_;
  GlobalCounts counts_;
};

/// Of a copy without a map, whose end in global memory is its `side`; false after a finding.
bool whole_chunks(const Place& at, std::uint32_t bytes, std::uint64_t global, const char* side) {
  if (bytes % kChunk == 0 && global % kChunk == 0) return true;
  refuse(at, FindingKind::misaligned, MemorySpace::global, global,
         bytes % kChunk != 0
             ? "a bulk copy moves multiples of 16 bytes, not " + bytes_text(bytes)
             : "a bulk copy's " + std::string(side) + " lies at a multiple of 16 bytes");
  return false;
}

// ---- copies to shared memory

void mark_pending(BlockRun& run, const BulkCopy& c, unsigned engine) {
  const Checks& checks = run.launch->options.checks;
  std::memset(run.shared.data() + c.first, static_cast<int>(memory::kPoison), c.bytes);
  if (!checks.race && !checks.init) return;
  const check::Tag mark = check::tag(check::kPendingTime, check::who(engine, check::kEngineLane));
  const unsigned shift = run.shadow.shift;
  std::fill(run.shadow.written.begin() + (c.first >> shift),
            run.shadow.written.begin() + ((c.first + c.bytes - 1) >> shift) + 1, mark);
}

/// Where a copy goes: a block of the cluster, and the barrier there that it reports to.
struct Destination {
  BlockRun* block = nullptr;
  MBarrier* barrier = nullptr;
  std::uint32_t offset = 0;  ///< of the barrier
};
constexpr unsigned kMostDestinations = 16;  // blocks of a cluster
struct Destinations {
  std::array<Destination, kMostDestinations> of;
  unsigned count = 0;
};

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

/// Who wrote or read the destination before must be known to have done so.
void check_destination(const Place& at, BlockRun& to, const BulkCopy& c) {
  BlockRun& run = at.run;
  LaunchRun& l = *run.launch;
  if (overwrites_async_read(to, at.w, at.lane, at.op.pc, c.first, c.bytes)) return;
  if (!l.options.checks.race) return;
  if (&to != &run) return check_peer_destination(at, to, c);
  const check::WarpClock& clock = run.clocks.of(at.w.index);
  const unsigned shift = run.shadow.shift;
  const std::uint32_t first = c.first >> shift, last = (c.first + c.bytes - 1) >> shift;
  check::Tag fine_write = 0, fine_read = 0;
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
  return (rank + 1) << memory::kRankBit | memory::in_block(address);
}

/// All places that a copy to `to` goes to; none after a finding.
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
      all.of[all.count] = destination(
          at, rank == at.run.rank ? memory::in_block(barrier) : with_rank(barrier, rank));
      if (all.of[all.count++].barrier == nullptr) return {};
    }
    return all;
  }
  const std::uint64_t named = to >> memory::kRankBit;
  all.of[0] = destination(at, barrier);
  if (all.of[0].barrier == nullptr) return {};
  if (named != 0 ? named - 1 != all.of[0].block->rank : all.of[0].block != &at.run) {
    refuse(at, FindingKind::trap, MemorySpace::shared, to,
           "a copy's destination and its mbarrier must lie in the same block of the cluster");
    return {};
  }
  all.count = 1;
  return all;
}

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

/// A copy that is complete but for where it goes.
void issue_to_all(const Place& at, BulkCopy& c, const Destinations& to) {
  for (unsigned k = 1; k < to.count; ++k) {
    BulkCopy& other = to.of[k].block->proxy.add();
    other.first = c.first;
    other.bytes = c.bytes;
    other.counted = c.counted;
    other.swizzle = c.swizzle;
    other.data = c.data;
    issue(at, other, to.of[k]);
  }
  issue(at, c, to.of[0]);
  for (unsigned k = 0; k < to.count; ++k) bound_copies(*to.of[k].block);
}

void land(BlockRun& run, const BulkCopy& c, MBarrier& b) {
  std::memcpy(run.shared.data() + c.first, c.data.data(), c.bytes);
  check::take_later(b.arriving.seen, c.issued.seen);
  check::take_later(b.arriving.proxied, c.issued.proxied);
  const std::uint32_t now = run.clocks.now();
  b.arriving.seen[check::kMaxWarps + b.engine] = run.clocks.tick();
  const Checks& checks = run.launch->options.checks;
  if (checks.race || checks.init) {
    const check::Tag mark = check::tag(now, check::who(b.engine, check::kEngineLane));
    const unsigned shift = run.shadow.shift;
    for (std::uint32_t g = c.first >> shift; g <= (c.first + c.bytes - 1) >> shift; ++g) {
      run.shadow.written[g] = mark;
      run.async.landed[g] = {c.pc, mark, c.swizzle};
    }
  }
  complete_transaction(run, b, c.counted);
}

// ---- tensors

/// The map that an instruction names, checked; false after a finding.
bool read_map(const Place& at, std::uint64_t address, TensorMap* map) {
  BlockRun& run = at.run;
  constexpr unsigned kMapBytes = 128;
  std::byte bytes[kMapBytes];
  // Of a __grid_constant__ parameter, clang makes a copy in local memory.
  for (unsigned k = 0; k < kMapBytes; k += 8) {
    const Target t = resolve(run, at.w, at.lane, ptx::Space::generic, address + k, 8, false);
    if (t.fault != Target::Fault::none) {
      report_fault(run, at.w, at.lane, at.op, AccessType::load, 8, address + k, t);
      return false;
    }
    std::memcpy(bytes + k, t.data, 8);
  }
  const bool aligned = address % 64 == 0;
  std::memcpy(map, bytes, sizeof *map);
  if (aligned && map->valid()) return true;
  refuse(at, aligned ? FindingKind::trap : FindingKind::misaligned, MemorySpace::global, address,
         aligned ? "the bytes that the copy takes for a tensor map are none that "
                   "cuTensorMapEncodeTiled has made"
                 : "a tensor map lies at a multiple of 64 bytes");
  return false;
}

using Origin = std::int64_t[TensorMap::kMostRank];

/// The map that a copy names and the box's first element; false after a finding.
bool read_box(const Place& at, const BulkForm& form, TensorMap* map, Origin& origin) {
  if (!read_map(at, address_of(at, form.global, form.global_offset), map)) return false;
  if (map->rank != form.coordinates.size()) {
    refuse(at, FindingKind::trap, MemorySpace::global, map->base,
           "a copy of a " + std::to_string(form.coordinates.size()) + "d box with the map of a " +
               std::to_string(map->rank) + "d tensor");
    return false;
  }
  for (unsigned d = 0; d < map->rank; ++d)
    origin[d] = lanes_of<std::int32_t>(at.w, form.coordinates[d])[at.lane];
  return true;
}

/// Walks the rows of a box: rows along the innermost dimension.
class Box {
 public:
  Box(const TensorMap& m, const Origin& origin) : m_(m) {
    std::copy(std::begin(origin), std::end(origin), origin_);
    for (unsigned d = 1; d < m.rank; ++d) rows_ *= m.extent(d);
  }
  std::uint32_t rows() const { return rows_; }
  std::uint32_t row_bytes() const { return m_.extent(0) * tensor_element_bytes(m_.type); }
  /// Address of the first element of row `r` if coordinate 0 is 0; false: outside of the tensor.
  bool row(std::uint32_t r, std::uint64_t* address) const {
    std::uint64_t at = m_.base;
    for (unsigned d = 1; d < m_.rank; ++d) {
      const std::int64_t c = origin_[d] + std::int64_t{r % m_.extent(d)} * m_.step[d];
      r /= m_.extent(d);
      if (c < 0 || c > std::int64_t{m_.last[d]}) return false;
      at += static_cast<std::uint64_t>(c) * m_.stride[d - 1];
    }
    *address = at;
    return true;
  }
  /// Elements [first, last) of a row are inside of the tensor.
  std::pair<std::uint32_t, std::uint32_t> inside() const {
    const std::int64_t step = m_.step[0], n = m_.extent(0), c = origin_[0],
                       size = std::int64_t{m_.last[0]} + 1;
    const std::int64_t first = c >= 0 ? 0 : std::min(n, (-c + step - 1) / step);
    const std::int64_t last = c >= size ? 0 : std::min(n, (size - c + step - 1) / step);
    return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(std::max(first, last))};
  }

 private:
  const TensorMap& m_;
  Origin origin_;
  std::uint32_t rows_ = 1;
};

/// Reads a row's elements [first, last) from global memory. False after a finding.
bool read_row(const Place& at, const TensorMap& m, std::uint64_t row, std::int64_t origin,
              std::uint32_t first, std::uint32_t last, std::byte* to, Traffic& traffic) {
  const unsigned size = tensor_element_bytes(m.type);
  const auto place = [&](std::uint32_t k) {
    return row + static_cast<std::uint64_t>(origin + std::int64_t{k} * m.step[0]) * size;
  };
  if (m.step[0] == 1) {
    const std::uint32_t bytes = (last - first) * size;
    const std::byte* from = global_piece(at, place(first), bytes, false);
    if (from == nullptr) return false;
    traffic.add(place(first), bytes);
    std::memcpy(to + first * size, from, bytes);
    return true;
  }
  for (std::uint32_t k = first; k < last; ++k) {
    const std::byte* from = global_piece(at, place(k), size, false);
    if (from == nullptr) return false;
    traffic.add(place(k), size);
    std::memcpy(to + k * size, from, size);
  }
  return true;
}

/// A copy of `bytes` to `first` in the shared memory of the first destination.
BulkCopy& new_copy(const Destinations& all, std::uint32_t first, std::uint32_t bytes) {
  BulkCopy& c = all.of[0].block->proxy.add();
  c.first = first;
  c.bytes = c.counted = bytes;
  return c;
}

void tensor_load(const Place& at, const BulkForm& form) {
  BlockRun& run = at.run;
  TensorMap m;
  Origin origin = {};
  if (!read_box(at, form, &m, origin)) return;
  const std::uint64_t named = address_of(at, form.shared, form.shared_offset),
                      to = memory::in_block(named);
  const std::uint32_t bytes = m.box_bytes();
  const std::uint32_t first = shared_place(at, to, bytes, 128, true);
  const Destinations all =
      destinations(at, form.multicast, named, address_of(at, form.barrier, form.barrier_offset));
  if (first == UINT32_MAX || all.count == 0) return;
  BulkCopy& c = new_copy(all, first, bytes);
  c.swizzle = static_cast<std::uint8_t>(m.swizzle);
  c.data.resize((bytes + 127) / 128 * 128 + 128);
  const Box box(m, origin);
  const auto [inside, end] = box.inside();
  const std::uint32_t row_bytes = box.row_bytes(), size = tensor_element_bytes(m.type);
  std::vector<std::byte>& row = run.proxy.row;
  row.resize(row_bytes);
  Traffic traffic(m.base);
  bool fine = true;
  for (std::uint32_t r = 0; r < box.rows(); ++r) {
    std::uint64_t address = 0;
    const bool exists = box.row(r, &address) && inside < end;
    if (!exists || inside != 0 || end * size != row_bytes) fill_outside(row.data(), row_bytes, m);
    if (exists && fine)
      fine = read_row(at, m, address, origin[0], inside, end, row.data(), traffic);
    convert_row(row.data(), row_bytes, m.type);
    const std::uint64_t start = to + std::uint64_t{r} * row_bytes;
    for (std::uint32_t k = 0; k < row_bytes; k += kChunk) {
      const std::uint64_t place = swizzled(start + k, m.swizzle) - to;
      if (place + kChunk <= c.data.size())
        std::memcpy(c.data.data() + place, row.data() + k, kChunk);
    }
  }
  traffic.count(run, at.op, false);
  issue_to_all(at, c, all);
}

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
  if (const std::byte* source = global_piece(at, from, bytes, false); source != nullptr) {
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
  const std::uint32_t source = shared_place(at, from, bytes, kChunk, false);
  const std::uint32_t first = shared_place(at, memory::in_block(to), bytes, kChunk, true);
  const Destinations all =
      destinations(at, kNoRef, to, address_of(at, form.barrier, form.barrier_offset));
  if (source == UINT32_MAX || first == UINT32_MAX || all.count == 0 || bytes == 0) return;
  AsyncReadCheck check(run, at.w.index, 1, at.op.pc, "a bulk copy");
  for (std::uint32_t k = 0; k < bytes; k += kChunk) check.chunk(source + k);
  BulkCopy& c = new_copy(all, first, bytes);
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
  c.data.resize(bytes);
  for (std::size_t k = 0; k < form.values.size(); ++k)
    std::memcpy(c.data.data() + k * form.width,
                exec::address_of(at.w, form.values[k]) + at.lane * form.width, form.width);
  issue_to_all(at, c, all);
}

// ---- copies from shared memory

/// Reads [first, first + bytes) for a bulk store, with every check.
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

void tensor_store(const Place& at, const BulkForm& form) {
  BlockRun& run = at.run;
  TensorMap m;
  Origin origin = {};
  if (!read_box(at, form, &m, origin)) return;
  const std::uint64_t from = address_of(at, form.shared, form.shared_offset);
  const std::uint32_t bytes = m.box_bytes();
  const std::uint32_t first = shared_place(at, from, bytes, 128, false);
  if (first == UINT32_MAX) return;
  begin_store(at, first, bytes);
  const Box box(m, origin);
  const auto [inside, end] = box.inside();
  const std::uint32_t row_bytes = box.row_bytes(), size = tensor_element_bytes(m.type);
  std::vector<std::byte>& row = run.proxy.row;
  row.resize(row_bytes);
  Traffic traffic(m.base);
  for (std::uint32_t r = 0; r < box.rows(); ++r) {
    std::uint64_t address = 0;
    if (!box.row(r, &address) || inside >= end) continue;
    for (std::uint32_t k = 0; k < row_bytes; k += kChunk) {
      const std::uint64_t place =
          swizzled(from + std::uint64_t{r} * row_bytes + k, m.swizzle) - memory::kSharedBase;
      if (place + kChunk <= run.launch->shared_bytes)
        std::memcpy(row.data() + k, run.shared.data() + place, kChunk);
    }
    const bool dense = m.step[0] == 1;
    for (std::uint32_t k = inside; k < end; k = dense ? end : k + 1) {
      const std::uint32_t piece = dense ? (end - inside) * size : size;
      const std::uint64_t to =
          address + static_cast<std::uint64_t>(origin[0] + std::int64_t{k} * m.step[0]) * size;
      std::byte* data = global_piece(at, to, piece, true);
      if (data == nullptr) return;
      std::memcpy(data, row.data() + k * size, piece);
      traffic.add(to, piece);
    }
  }
  traffic.count(run, at.op, true);
}

void plain_store(const Place& at, const BulkForm& form) {
  BlockRun& run = at.run;
  const std::uint32_t bytes = lanes_of<std::uint32_t>(at.w, form.bytes)[at.lane];
  const std::uint64_t to = address_of(at, form.global, form.global_offset),
                      from = address_of(at, form.shared, form.shared_offset);
  if (!whole_chunks(at, bytes, to, "destination")) return;
  const std::uint32_t first = shared_place(at, from, bytes, kChunk, false);
  if (first == UINT32_MAX || bytes == 0) return;
  begin_store(at, first, bytes);
  Traffic traffic(to);
  std::byte* data = global_piece(at, to, bytes, true);
  if (data == nullptr) return;
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

void op_bulk_load(Warp& w, const Op& op) {
  each_lane<tensor_load, plain_load>(w, op);
}
void op_bulk_cluster(Warp& w, const Op& op) {
  each_lane<cluster_copy, cluster_copy>(w, op);
}
void op_async_store(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  const AsyncStore& form = run.launch->program->async_stores[op.slot];
  count_cluster(run, op);
  for (std::uint32_t left = w.mask; left != 0 && !run.aborted; left &= left - 1)
    async_store({run, w, static_cast<unsigned>(std::countr_zero(left)), op}, form);
}
void op_bulk_store(Warp& w, const Op& op) {
  each_lane<tensor_store, plain_store>(w, op);
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
    land(run, *run.proxy.copies[k], b);
    run.proxy.retire(k);
  }
  bound_times(run);
}

}  // namespace simgpu::exec
