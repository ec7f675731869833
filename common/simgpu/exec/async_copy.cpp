// cp.async: issue, commit, wait, and who looks at a copy before it has arrived.
//
// A copy takes its source bytes when it is issued. They lie aside until the issuing thread waits
// for their group; meanwhile the destination holds poison and is marked as pending, so that every
// access of it takes the complete path and is found out. The landing counts as a write of the
// issuing thread at the time of the wait: other threads see it after a barrier that follows.
#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simgpu/count/coalescing.hpp"
#include "common/simgpu/count/shared_banks.hpp"
#include "common/simgpu/exec/async_proxy.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/memory_ops.hpp"
#include "common/simgpu/exec/sampling.hpp"

namespace simgpu::exec {
namespace {

std::string thread_text(const Dim3& d) {
  std::string s = "(";
  s += std::to_string(d.x);
  for (const std::uint32_t v : {d.y, d.z}) {
    s += ',';
    s += std::to_string(v);
  }
  return s += ')';
}
std::string object_text(const Access& a) {
  if (a.object.empty()) return "byte " + std::to_string(a.address) + " of shared memory";
  return a.object + "+" + std::to_string(a.offset);
}

struct Party {
  std::uint32_t pc = UINT32_MAX;
  unsigned thread = 0;
  bool pending = false, committed = false;
  bool again = false;  ///< an earlier copy had arrived in the same place
};

/// The copy under way that will write granule `g`, marked by `tag`.
Party pending_party(const BlockRun& run, std::uint32_t g, check::Tag tag) {
  const std::uint32_t field = tag & check::kWhoMask, warp = field >> 6, lane = field & 31;
  Party p;
  p.thread = warp * kLanes + lane;
  p.pending = true;
  p.again = run.async.landed[g].tag != 0;
  const std::uint32_t byte = g << run.shadow.shift;
  if (warp >= run.async.warps.size()) return p;
  for (const auto& c : run.async.warps[warp].open)
    if (((c->mask >> lane) & 1u) && byte >= c->offset[lane] && byte < c->offset[lane] + c->bytes) {
      p.pc = c->pc;
      p.committed = c->committed;
    }
  return p;
}

Access party_access(const BlockRun& run, const Party& p, const LaneAccess& me) {
  LaneAccess theirs = me;
  theirs.pc = p.pc;
  theirs.type = AccessType::store;
  return describe_thread(*run.launch, run.number, p.thread, theirs);
}

bool checked(const BlockRun& run) {
  const Checks& c = run.launch->options.checks;
  return c.race || c.init;
}

/// Marks the destination of one lane's copy, in order with everything else that happens to it.
void mark_pending(BlockRun& run, const Warp& w, unsigned lane, const Op& op, std::uint32_t in,
                  unsigned bytes) {
  check_shared_access(run, w, lane, op, AccessType::store, in + memory::kSharedBase, bytes);
  const check::Tag mark = check::tag(check::kPendingTime, check::who(w.index, lane));
  for (std::uint32_t g = in >> run.shadow.shift; g <= (in + bytes - 1) >> run.shadow.shift; ++g)
    run.shadow.written[g] = mark;
}

/// The copy of one lane arrives.
void land(BlockRun& run, const Warp& w, const check::AsyncCopy& c, unsigned lane) {
  const std::uint32_t in = c.offset[lane];
  std::memcpy(run.shared.data() + in, c.data[lane], c.bytes);
  if (!checked(run)) return;
  const std::uint32_t now = run.clocks.now();
  const check::Tag mark = check::tag(now, check::who(w.index, lane));
  for (std::uint32_t g = in >> run.shadow.shift; g <= (in + c.bytes - 1) >> run.shadow.shift; ++g) {
    run.shadow.written[g] = mark;
    run.async.landed[g] = {c.pc, mark, check::Landed::kNoSwizzle};
    if (run.launch->exact && run.launch->options.checks.race) {
      check::AccessRecord me;
      me.block = run.number;
      me.pc = c.pc;
      me.time = now;
      me.thread = static_cast<std::uint16_t>(w.index * kLanes + lane);
      me.write = true;
      // Whoever touched it while it was pending has been reported already.
      run.exact_shared->access(g, me, run.clocks.of(w.index), nullptr);
    }
  }
}

/// The same for the lanes of `mask`, with a size the compiler knows.
template <unsigned kBytes>
void land_words(BlockRun& run, const Warp& w, const check::AsyncCopy& c, std::uint32_t mask) {
  std::byte* shared = run.shared.data();
  check::Tag* written = run.shadow.written.data();
  check::Landed* landed = run.async.landed.data();
  const bool marks = checked(run);
  const std::uint32_t now = run.clocks.now();
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const std::uint32_t in = c.offset[i];
    std::memcpy(shared + in, c.data[i], kBytes);
    if (!marks) continue;
    const check::Tag mark = check::tag(now, check::who(w.index, i));
    for (unsigned k = 0; k < kBytes / 4; ++k) {
      written[in / 4 + k] = mark;
      landed[in / 4 + k] = {c.pc, mark, check::Landed::kNoSwizzle};
    }
  }
}

void land_lanes(BlockRun& run, const Warp& w, const check::AsyncCopy& c, std::uint32_t mask) {
  if (run.launch->exact || run.shadow.shift != 2) {
    for (std::uint32_t left = mask; left != 0; left &= left - 1)
      land(run, w, c, static_cast<unsigned>(std::countr_zero(left)));
  } else if (c.bytes == 16) {
    land_words<16>(run, w, c, mask);
  } else if (c.bytes == 8) {
    land_words<8>(run, w, c, mask);
  } else {
    land_words<4>(run, w, c, mask);
  }
}

/// Multiply-adds that the warp has executed up to `op`, which holds those of its block before it.
std::uint64_t work_at(const Warp& w, const Op& op) {
  const BasicBlock& block = w.run->launch->program->blocks[w.running.block];
  return w.work - block.multiply_adds + static_cast<std::uint64_t>(op.imm);
}

/// Where the stay of what `c` copies is kept; null without copies that are under way, or if nobody
/// counts.
check::Stay* stay_of(BlockRun& run, const check::AsyncCopy& c) {
  if (c.mask == 0) return nullptr;
  const std::size_t word = c.offset[static_cast<unsigned>(std::countr_zero(c.mask))] / 4;
  return word < run.async.stays.size() ? &run.async.stays[word] : nullptr;
}

/// A ring of M places can have the copies of M - 1 steps under way: while one tile is multiplied, all
/// others are. So a tile is waited for when its turn has come, and the place is free again after the
/// next wait. If two waits of the warp or more lie between a tile's arrival and the next copy into
/// its place, it was there for a step in which nobody needed it, and was waited for too early.
void count_stay(BlockRun& run, const Warp& w, const check::AsyncCopy& c) {
  check::Stay* const stay = stay_of(run, c);
  if (stay == nullptr || stay->wait_pc == UINT32_MAX) return;
  const check::Stay last = *stay;
  *stay = {};
  if (last.warp != w.index || c.step < last.arrived + 2) return;
  EarlyWait& early = run.worker->counters.async_early[last.wait_pc];
  const std::uint64_t bytes = std::uint64_t{c.bytes} * static_cast<unsigned>(std::popcount(c.mask));
  early.bytes += bytes;
  early.under_way += bytes * (last.arrived - last.issued);
  early.stages += bytes * (c.step - last.issued);
}

/// A place in the list of copies under way, for the lanes of `mask`, which have committed `group`
/// groups.
check::AsyncCopy& new_copy(BlockRun& run, Warp& w, const Op& op, std::uint32_t group) {
  check::WarpCopies& list = run.async.warps[w.index];
  // More copies than words can only come from some that write one place again and again: a finding.
  // The oldest arrives then, so that a hostile kernel cannot fill the host's memory.
  if (list.open.size() > run.launch->shared_bytes / 4 + kLanes) {
    const check::AsyncCopy& oldest = *list.open.front();
    land_lanes(run, w, oldest, oldest.mask);
    list.retire(0);
  }
  check::AsyncCopy& c = list.add();
  c.pc = op.pc;
  c.site = op.site;
  c.bytes = op.width;
  c.group = group;
  c.step = list.steps;
  return c;
}

struct Issue {
  std::uint64_t from[kLanes], to[kLanes];
  std::uint8_t read[kLanes];  ///< bytes to take from the source
};

void count_issue(BlockRun& run, const Op& op, const AsyncForm& form, const Issue& issue,
                 std::uint32_t reading, std::uint32_t writing) {
  Counters& c = run.worker->counters;
  SiteCount& site = c.sites[op.site];
  if (writing != 0) {
    const count::Wavefronts w = count::shared_wavefronts(issue.to, writing, op.width, false);
    site.shared +=
        SharedCounts{1,
                     w.actual,
                     w.ideal,
                     1,
                     w.actual,
                     w.ideal,
                     std::uint64_t{op.width} * static_cast<unsigned>(std::popcount(writing))};
    sample_access(run, op, AccessType::store, MemorySpace::shared, issue.to, writing, op.width,
                  w.actual, w.ideal);
  }
  bool first = true;
  GlobalCounts total;
  const std::uint32_t all = reading;
  while (reading != 0) {
    const std::uint64_t slot = memory::slot_of(issue.from[std::countr_zero(reading)]);
    std::uint32_t here = 0;
    for (unsigned i = 0; i < kLanes; ++i)
      if (((reading >> i) & 1u) && memory::slot_of(issue.from[i]) == slot) here |= 1u << i;
    GlobalCounts part = async_cost(issue.from, issue.to, issue.read, here, form.bypasses_l1);
    if (!first) part.requests = 0;
    first = false;
    total += part;
    const memory::Allocation* a = run.launch->memory->owner(issue.from[std::countr_zero(reading)]);
    if (a != nullptr && a->live_index < c.buffers.size()) c.buffers[a->live_index].load += part;
    reading &= ~here;
  }
  site.global += total;
  sample_access(run, op, AccessType::load, MemorySpace::global, issue.from, all, op.width,
                static_cast<unsigned>(total.sectors), static_cast<unsigned>(total.ideal_sectors));
}

/// One lane's source, with every check; false = it may not be read.
bool fetch(BlockRun& run, const Warp& w, unsigned lane, const Op& op, std::uint64_t address,
           unsigned read, std::byte* to) {
  LaunchRun& l = *run.launch;
  // Alignment is that of the whole copy, bounds and initialisation those of the bytes really read.
  Target t = resolve(run, w, lane, ptx::Space::global, address, 1, false);
  if (t.fault == Target::Fault::none) {
    if (read > t.allocation->size - t.offset)
      t.fault = Target::Fault::bounds;
    else if (address % op.width != 0)
      t.fault = Target::Fault::misaligned;
  }
  if (t.fault != Target::Fault::none) {
    report_fault(run, w, lane, op, AccessType::load,
                 t.fault == Target::Fault::misaligned ? op.width : read, address, t);
    return false;
  }
  if (l.options.checks.init && t.initialised != nullptr &&
      std::memchr(t.initialised, 0, read) != nullptr)
    report_uninitialised(run, w, lane, op, read, address, t);
  if (l.options.checks.race && t.space == MemorySpace::global)
    check_global_access(run, w, lane, op, AccessType::load, false, *t.allocation, t.offset, read);
  std::memcpy(to, t.data, read);
  return true;
}

/// The copies of the lanes of `mask`, which are in one group, one lane after the other.
void issue_lane_by_lane(Warp& w, const Op& op, const Issue& issue, std::uint32_t mask,
                        std::uint32_t group, std::uint32_t& reading, std::uint32_t& writing) {
  BlockRun& run = *w.run;
  check::AsyncCopy& c = new_copy(run, w, op, group);
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    std::memset(c.data[i], 0, sizeof c.data[i]);
    if (issue.read[i] != 0) {
      if (fetch(run, w, i, op, issue.from[i], issue.read[i], c.data[i]))
        reading |= 1u << i;
      else
        std::memset(c.data[i], static_cast<int>(memory::kPoison), op.width);
    }
    const std::uint64_t to = issue.to[i] + memory::rank_bits(run.rank);
    const Target t = resolve(run, w, i, ptx::Space::shared, to, op.width, true);
    if (t.fault != Target::Fault::none) {
      report_fault(run, w, i, op, AccessType::store, op.width, to, t);
      continue;
    }
    const auto in = static_cast<std::uint32_t>(t.offset - memory::kSharedBase);
    if (checked(run)) mark_pending(run, w, i, op, in, op.width);
    c.mask |= 1u << i;
    c.offset[i] = in;
    c.read[i] = issue.read[i];
    std::memset(t.data, static_cast<int>(memory::kPoison), op.width);
    writing |= 1u << i;
  }
  count_stay(run, w, c);
}

/// Takes the source bytes and marks the destinations, which nobody uses. True: two lanes copy to
/// one place.
template <unsigned kBytes>
bool take(BlockRun& run, const Warp& w, check::AsyncCopy& c, const Issue& issue,
          const memory::Allocation& a) {
  std::byte* shared = run.shared.data();
  const std::byte* source = a.data.get();
  check::Tag* written = run.shadow.written.data();
  const bool marks = checked(run);
  bool overlap = false;
  for (std::uint32_t left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const auto in = static_cast<std::uint32_t>(issue.to[i] - memory::kSharedBase);
    c.offset[i] = in;
    c.read[i] = kBytes;
    std::memcpy(c.data[i], source + (issue.from[i] - a.base), kBytes);
    std::memset(shared + in, static_cast<int>(memory::kPoison), kBytes);
    if (!marks) continue;
    const check::Tag mark = check::tag(check::kPendingTime, check::who(w.index, i));
    for (unsigned k = 0; k < kBytes / 4; ++k) {
      overlap |= check::is_pending(written[in / 4 + k]);
      written[in / 4 + k] = mark;
    }
  }
  return overlap;
}

/// What goes well: whole copies from one allocation to places that nobody uses. False: nothing has
/// been changed, look at each lane.
bool issue_at_once(Warp& w, const Op& op, const AsyncForm& form, const Issue& issue,
                   std::uint32_t group) {
  BlockRun& run = *w.run;
  LaunchRun& l = *run.launch;
  const Checks& checks = l.options.checks;
  const std::uint32_t mask = w.mask;
  const unsigned bytes = op.width;
  if (l.exact || (checked(run) && run.shadow.shift != 2)) return false;
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  std::uint64_t low = issue.from[first], high = low, to_low = issue.to[first], to_high = to_low,
                bits = 0;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    if (issue.read[i] != bytes) return false;
    low = std::min(low, issue.from[i]);
    high = std::max(high, issue.from[i]);
    to_low = std::min(to_low, issue.to[i]);
    to_high = std::max(to_high, issue.to[i]);
    bits |= issue.from[i] | issue.to[i];
  }
  if ((bits & (bytes - 1)) != 0 || memory::slot_of(low) != memory::slot_of(high) ||
      to_low < memory::kSharedBase || to_high > (1u << 30) ||
      to_high + bytes > memory::kSharedBase + l.shared_bytes)
    return false;
  memory::Allocation* a = l.memory->owner(low);
  if (a == nullptr || !a->live() || a->constant || high + bytes > a->base + a->size) return false;
  if (checks.init && !a->fully_initialised) {
    for (std::uint32_t left = mask; left != 0; left &= left - 1)
      if (std::memchr(a->initialised.get() + (issue.from[std::countr_zero(left)] - a->base), 0,
                      bytes) != nullptr)
        return false;
  }
  const unsigned words = bytes / 4;
  check::Tag *written = run.shadow.written.data(), *read = run.shadow.read.data();
  if (checked(run)) {
    const std::uint32_t floor = run.clocks.floor() << check::kWhoBits;
    std::uint32_t odd = 0;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      const std::uint64_t g = (issue.to[std::countr_zero(left)] - memory::kSharedBase) / 4;
      for (unsigned k = 0; k < words; ++k)
        odd |= static_cast<std::uint32_t>(written[g + k] >= floor) |
               static_cast<std::uint32_t>(read[g + k] >= floor);
    }
    if (odd != 0) return false;
  }
  if (checks.race) {
    if (a->launch.keeps_readers.load(std::memory_order_relaxed)) return false;
    note_use(run, *a, AccessType::load);
  }
  check::AsyncCopy& c = new_copy(run, w, op, group);
  c.mask = mask;
  const bool overlap = bytes == 16  ? take<16>(run, w, c, issue, *a)
                       : bytes == 8 ? take<8>(run, w, c, issue, *a)
                                    : take<4>(run, w, c, issue, *a);
  count_stay(run, w, c);
  // Two lanes copy to one place: the re-run names them.
  if (overlap && checks.race) l.suspicious.store(true, std::memory_order_relaxed);
  if (!l.options.count) return true;

  // The cost depends on how addresses lie to each other, and on the first ones modulo a sector.
  std::vector<MoveTally>& tallies = run.worker->moves;
  if (tallies.size() <= op.slot) tallies.resize(l.program->moves);
  MoveTally& tally = tallies[op.slot];
  Counters& counters = run.worker->counters;
  const auto from_base = static_cast<std::uint32_t>(issue.from[first] & 31),
             to_base = static_cast<std::uint32_t>(issue.to[first] & 31);
  bool same = tally.mask == mask && tally.from_base == from_base && tally.to_base == to_base;
  std::uint32_t differs = 0;
  for (unsigned i = 0; same && i < kLanes; ++i)
    differs |= ((static_cast<std::uint32_t>(issue.from[i] - issue.from[first]) ^
                 static_cast<std::uint32_t>(tally.from[i])) |
                (static_cast<std::uint32_t>(issue.to[i] - issue.to[first]) ^
                 static_cast<std::uint32_t>(tally.to[i]))) &
               (0u - ((mask >> i) & 1u));
  if (!same || differs != 0) {
    tally.mask = mask;
    tally.from_base = from_base;
    tally.to_base = to_base;
    for (unsigned i = 0; i < kLanes; ++i) {
      tally.from[i] = static_cast<std::int32_t>(issue.from[i] - issue.from[first]);
      tally.to[i] = static_cast<std::int32_t>(issue.to[i] - issue.to[first]);
    }
    tally.global = async_cost(issue.from, issue.to, issue.read, mask, form.bypasses_l1);
    const count::Wavefronts f = count::shared_wavefronts(issue.to, mask, bytes, false);
    tally.shared = {1, f.actual, f.ideal, 1, f.actual, f.ideal, tally.global.bytes};
    sample_access(run, op, AccessType::load, MemorySpace::global, issue.from, mask, bytes,
                  static_cast<unsigned>(tally.global.sectors),
                  static_cast<unsigned>(tally.global.ideal_sectors));
    sample_access(run, op, AccessType::store, MemorySpace::shared, issue.to, mask, bytes, f.actual,
                  f.ideal);
  }
  counters.sites[op.site].global += tally.global;
  counters.sites[op.site].shared += tally.shared;
  if (a->live_index < counters.buffers.size()) counters.buffers[a->live_index].load += tally.global;
  return true;
}

}  // namespace

void op_async_copy(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  const AsyncForm& form = run.launch->program->async_forms[static_cast<std::size_t>(op.imm)];
  const std::uint64_t *from = lanes_of<std::uint64_t>(w, form.from),
                      *to = lanes_of<std::uint64_t>(w, form.to);
  Issue issue;
  const std::uint64_t own = memory::rank_bits(run.rank);
  for (unsigned i = 0; i < kLanes; ++i) {
    issue.from[i] = from[i] + static_cast<std::uint64_t>(form.from_offset);
    issue.to[i] = to[i] + static_cast<std::uint64_t>(form.to_offset) - own;
    issue.read[i] = op.width;
  }
  if (form.source_bytes != kNoRef) {
    const std::uint32_t* wanted = lanes_of<std::uint32_t>(w, form.source_bytes);
    for (unsigned i = 0; i < kLanes; ++i) {
      issue.read[i] = static_cast<std::uint8_t>(std::min<std::uint32_t>(wanted[i], op.width));
      if (wanted[i] <= op.width || ((w.mask >> i) & 1u) == 0) continue;
      if (!run.launch->options.checks.memory) continue;
      add_finding(run, FindingKind::out_of_bounds, op.pc, UINT32_MAX,
                  describe(run, {op.pc, w.index, i, AccessType::load, MemorySpace::global, op.width,
                                 issue.from[i]}),
                  std::nullopt,
                  "asks cp.async for " + std::to_string(static_cast<std::int32_t>(wanted[i])) +
                      " source bytes of a copy of " + std::to_string(op.width) +
                      ": the source may be shorter, not longer",
                  static_cast<std::int32_t>(wanted[i]) < 0 ? FindingCause::negative_source
                                                           : FindingCause::longer_source);
    }
  }
  if (form.ignore != kNoRef) {
    const std::uint32_t ignored = *lanes_of<std::uint32_t>(w, form.ignore);
    for (unsigned i = 0; i < kLanes; ++i)
      if ((ignored >> i) & 1u) issue.read[i] = 0;
  }
  run.async.used = true;
  if (w.index >= run.async.warps.size()) return;
  // Lanes that have committed different numbers of groups (they were apart) are kept apart.
  const auto& committed = run.async.warps[w.index].committed;
  const auto first = static_cast<unsigned>(std::countr_zero(w.mask));
  bool uniform = true;
  for (unsigned i = 0; i < kLanes; ++i)
    uniform &= ((w.mask >> i) & 1u) == 0 || committed[i] == committed[first];
  if (uniform && issue_at_once(w, op, form, issue, committed[first])) return;
  std::uint32_t reading = 0, writing = 0;
  for (std::uint32_t left = w.mask; left != 0;) {
    const std::uint32_t group = committed[static_cast<unsigned>(std::countr_zero(left))];
    std::uint32_t here = 0;
    for (unsigned i = 0; i < kLanes; ++i)
      if (((left >> i) & 1u) && committed[i] == group) here |= 1u << i;
    issue_lane_by_lane(w, op, issue, here, group, reading, writing);
    left &= ~here;
  }
  if (run.launch->options.count) count_issue(run, op, form, issue, reading, writing);
}

void op_async_commit(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  if (w.index >= run.async.warps.size()) return;  // no cp.async in this kernel
  check::WarpCopies& list = run.async.warps[w.index];
  for (auto& c : list.open) {
    if (c->committed || (c->mask & w.mask) == 0) continue;
    c->committed = true;
    c->work_at_commit = work_at(w, op);
  }
  for (unsigned i = 0; i < kLanes; ++i) list.committed[i] += (w.mask >> i) & 1u;
}

namespace {

/// The lanes of a copy that a wait is for: all that are there, or those of the oldest groups.
std::uint32_t waited_for(const check::WarpCopies& list, const check::AsyncCopy& c,
                         std::uint32_t mask, const Op& op) {
  std::uint32_t lanes = c.mask & mask;
  if (op.x != 0) return lanes;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    if (std::uint64_t{c.group} + op.slot >= list.committed[i]) lanes &= ~(1u << i);
  }
  return lanes;
}

std::uint64_t bytes_of(const check::AsyncCopy& c, std::uint32_t lanes) {
  std::uint64_t bytes = 0;
  for (; lanes != 0; lanes &= lanes - 1)
    bytes += c.read[static_cast<unsigned>(std::countr_zero(lanes))];
  return bytes;
}

/// What hides the bytes that a wait is for are multiply-adds since their commit: at least this part of
/// those that the warp makes per byte anyway. One of nothing, before a wait at once, hides nothing.
constexpr std::uint64_t kPart = 8;

bool is_hidden(const check::AsyncCopy& c, std::uint64_t work, std::uint64_t now,
               std::uint64_t arrived) {
  const std::uint64_t since = c.committed ? work - c.work_at_commit : 0;
  return since != 0 && kPart * since * (arrived + now) >= work * now;
}

}  // namespace

void op_async_wait(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  if (w.index >= run.async.warps.size()) return;
  check::WarpCopies& list = run.async.warps[w.index];
  const std::uint64_t work = work_at(w, op);
  const bool next_step = list.steps == 0 || work != list.work_at_step;
  const std::uint32_t step = list.steps + (next_step ? 1 : 0);
  std::uint64_t now = 0;
  for (const auto& c : list.open) now += bytes_of(*c, waited_for(list, *c, w.mask, op));
  std::size_t kept = 0;
  for (std::size_t k = 0; k < list.open.size(); ++k) {
    check::AsyncCopy& c = *list.open[k];
    const std::uint32_t arriving = waited_for(list, c, w.mask, op);
    land_lanes(run, w, c, arriving);
    if (arriving != 0) {
      list.steps = step;
      list.work_at_step = work;
      if (check::Stay* const stay = stay_of(run, c)) *stay = {c.step, step, op.pc, w.index};
    }
    c.mask &= ~arriving;
    const bool stops = op.x != 2;  // cp.async.mbarrier.arrive does not
    if (stops && run.launch->options.count && !is_hidden(c, work, now, list.arrived))
      run.worker->counters.async_idle[c.site] += bytes_of(c, arriving);
    if (c.mask != 0) std::swap(list.open[kept++], list.open[k]);
  }
  list.arrived += now;
  while (list.open.size() > kept) list.retire(list.open.size() - 1);
}

// ------------------------------------------------------------------------------------------------
// findings

bool reads_too_early(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                     std::uint64_t offset, unsigned bytes) {
  if (!checked(run)) return false;
  const std::uint64_t in = offset - memory::kSharedBase;
  const unsigned shift = run.shadow.shift;
  Party party;
  for (auto g = static_cast<std::uint32_t>(in >> shift); g <= (in + bytes - 1) >> shift; ++g) {
    const check::Tag t = run.shadow.written[g];
    if (check::is_by_engine(t)) {
      if (!check::SharedShadow::suspicious(t, run.clocks.of(w.index), w.index, lane)) continue;
      report_bulk_conflict(run, w, lane, op, type, offset, bytes, g);
      return true;
    }
    if (check::is_pending(t)) {
      party = pending_party(run, g, t);
      break;
    }
    if (t != 0 && run.async.landed[g].tag == t &&
        check::SharedShadow::suspicious(t, run.clocks.of(w.index), w.index, lane)) {
      const std::uint32_t field = t & check::kWhoMask;
      party = {run.async.landed[g].pc, (field >> 6) * kLanes + (field & 31), false, true, false};
      break;
    }
  }
  if (party.pc == UINT32_MAX) return false;
  run.worker->findings.add(FindingKind::async_not_waited, op.pc, party.pc, run.number, [&] {
    const LaneAccess me{op.pc, w.index, lane, type, MemorySpace::shared, bytes, offset};
    const Program& p = *run.launch->program;
    Finding f;
    f.kernel = run.launch->kernel_name;
    f.at = describe(run, me);
    f.other = party_access(run, party, me);
    const bool own = party.thread == w.index * kLanes + lane;
    const std::string issuer =
        own ? std::string("this thread") : "thread " + thread_text(f.other->thread);
    f.detail = line_text(p, op.pc) + " reads " + object_text(f.at) + ", bytes of a cp.async that " +
               issuer + " issued on " + line_text(p, party.pc);
    f.cause = !party.pending     ? FindingCause::unpublished_copy
              : !party.committed ? FindingCause::uncommitted_copy
              : party.again      ? FindingCause::refilled_place
                                 : FindingCause::unwaited_copy;
    if (!party.pending)
      f.detail +=
          ", with no barrier between its arrival there and this read: other threads see a copy "
          "only after a barrier that follows the wait for it: a __syncthreads(), the wait() of a "
          "cuda::barrier, the consumer_wait() of a cuda::pipeline";
    else if (!party.committed)
      f.detail +=
          ", before commit_group and wait_group: a copy can be waited for once its group is "
          "committed";
    else if (party.again)
      f.detail +=
          ", before wait_group; what an earlier copy had brought to this place is still to be read "
          "there";
    else
      f.detail += std::string(", before wait_group: ") +
                  (own ? "the thread must wait for the group first"
                       : "that thread must wait for the group, and a __syncthreads() must follow");
    return f;
  });
  return true;
}

void report_pending_conflict(BlockRun& run, const Warp& w, unsigned lane, const Op& op,
                             AccessType type, std::uint64_t offset, unsigned bytes) {
  LaunchRun& l = *run.launch;
  if (!l.options.checks.race) return;
  if (!l.exact) {
    l.suspicious.store(true, std::memory_order_relaxed);
    return;
  }
  const std::uint64_t in = offset - memory::kSharedBase;
  Party party;
  for (auto g = static_cast<std::uint32_t>(in >> run.shadow.shift);
       g <= (in + bytes - 1) >> run.shadow.shift && party.pc == UINT32_MAX; ++g)
    if (check::is_pending(run.shadow.written[g]))
      party = pending_party(run, g, run.shadow.written[g]);
  if (party.pc == UINT32_MAX) return;
  run.worker->findings.add(FindingKind::shared_race, op.pc, party.pc, run.number, [&] {
    const LaneAccess me{op.pc, w.index, lane, type, MemorySpace::shared, bytes, offset};
    Finding f;
    f.kernel = l.kernel_name;
    f.at = describe(run, me);
    f.other = party_access(run, party, me);
    f.detail = line_text(*l.program, op.pc) + " writes " + object_text(f.at) +
               ", which the cp.async of " + line_text(*l.program, party.pc) +
               " may still be writing (threads " + thread_text(f.at.thread) + " and " +
               thread_text(f.other->thread) +
               "): wait for the copy before the place is written again";
    return f;
  });
}

}  // namespace simgpu::exec
