// What the lanes of a warp do together: shuffles, votes, matches, reductions, fences (PTX
// ISA 9.7.12).
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "common/simgpu/exec/barriers.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/launch_run.hpp"
#include "common/simgpu/exec/shuffle.hpp"

namespace simgpu::exec {
namespace {

template <class T>
void write_lanes(Warp& w, Ref dst, const T (&value)[kLanes]) {
  T* d = lanes_of<T>(w, dst);
  for (unsigned i = 0; i < kLanes; ++i)
    if ((w.mask >> i) & 1u) d[i] = value[i];
}
void write_mask(Warp& w, Ref dst, std::uint32_t value) {
  std::uint32_t& p = *lanes_of<std::uint32_t>(w, dst);
  p = (p & ~w.mask) | (value & w.mask);
}

/// The lanes a ".sync" instruction names; those that are not here are a finding. Orders the lanes
/// of the warp.
std::uint32_t members(Warp& w, const Op& op, std::string_view what) {
  const unsigned first = static_cast<unsigned>(std::countr_zero(w.mask));
  const std::uint32_t named = lanes_of<std::uint32_t>(w, op.d)[first];
  BlockRun& run = *w.run;
  if ((named & w.live() & ~w.mask) != 0) let_leave(w);
  const std::uint32_t missing = named & w.launched & ~w.mask;
  if (run.launch->options.checks.barrier && (missing != 0 || (w.mask & ~named) != 0)) {
    const std::uint32_t odd = missing != 0 ? missing : w.mask & ~named;
    Access at = describe(run, {op.pc, w.index, first, AccessType::load, MemorySpace::shared, 0, 0});
    char text[200];
    std::snprintf(text, sizeof text, "%.*s names the lanes 0x%08x of warp %u, but lane %d %s",
                  static_cast<int>(what.size()), what.data(), named, w.index, std::countr_zero(odd),
                  missing != 0 ? "is not there" : "executes it without being named");
    // Lanes that have exited are forgiven (PTX ISA: "all non-exited threads").
    if (missing == 0 || (missing & ~w.exited) != 0)
      add_finding(run, FindingKind::divergent_barrier, op.pc, UINT32_MAX, at, std::nullopt, text);
  }
  run.clocks.sync_lanes(w.index, w.mask, w.live());
  bound_times(run);
  return named & w.mask;
}

/// Lanes that name different members (tiles of a warp) are executed set by set.
template <void (*kOne)(Warp&, const Op&)>
void by_members(Warp& w, const Op& op) {
  const std::uint32_t* named = lanes_of<std::uint32_t>(w, op.d);
  const std::uint32_t all = w.mask;
  for (std::uint32_t left = all; left != 0;) {
    const std::uint32_t members_of = named[std::countr_zero(left)];
    std::uint32_t here = 0;
    for (unsigned i = 0; i < kLanes; ++i)
      here |= static_cast<std::uint32_t>(named[i] == members_of) << i;
    w.mask = here & left;
    left &= ~here;
    kOne(w, op);
  }
  w.mask = all;
}

void shuffle(Warp& w, const Op& op) {
  const std::uint32_t there = members(w, op, "a warp shuffle");
  const std::uint32_t *a = lanes_of<std::uint32_t>(w, op.a), *b = lanes_of<std::uint32_t>(w, op.b),
                      *c = lanes_of<std::uint32_t>(w, op.c);
  std::uint32_t out[kLanes] = {}, in_range = 0, absent = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const ShuffleSource from = shuffle_source(static_cast<ptx::ShflMode>(op.x), i, b[i], c[i]);
    out[i] = a[from.lane];
    in_range |= static_cast<std::uint32_t>(from.in_range) << i;
    absent |= (~there >> from.lane & static_cast<std::uint32_t>(from.in_range)) << i;
  }
  // It does no harm as long as nobody uses what comes from there. That lanes are missing whom the mask names is
  // a finding of its own.
  const std::uint32_t named = lanes_of<std::uint32_t>(w, op.d)[std::countr_zero(w.mask)];
  const bool told = (named & w.live() & ~w.mask) != 0;
  if ((absent & w.mask) != 0 && !told)
    w.run->launch->reads_absent.store(true, std::memory_order_relaxed);
  write_lanes(w, op.dst, out);
  if (op.dst2 != kNoRef) write_mask(w, op.dst2, in_range);
}

void vote(Warp& w, const Op& op) {
  const std::uint32_t who = members(w, op, "a warp vote");
  const std::uint32_t votes = *lanes_of<std::uint32_t>(w, op.a) & who;
  switch (static_cast<ptx::VoteMode>(op.x)) {
    case ptx::VoteMode::any:
      write_mask(w, op.dst, votes != 0 ? kFullMask : 0);
      break;
    case ptx::VoteMode::all:
      write_mask(w, op.dst, votes == who ? kFullMask : 0);
      break;
    case ptx::VoteMode::uni:
      write_mask(w, op.dst, votes == who || votes == 0 ? kFullMask : 0);
      break;
    default: {
      std::uint32_t out[kLanes];
      std::fill(std::begin(out), std::end(out), votes);
      write_lanes(w, op.dst, out);
    }
  }
}

/// Value by value: lanes that have one are found together.
template <class T>
void match_values(Warp& w, const Op& op, std::uint32_t who) {
  const T* a = lanes_of<T>(w, op.a);
  std::uint32_t out[kLanes] = {}, same_everywhere = 0;
  for (std::uint32_t left = w.mask; left != 0;) {
    const T value = a[std::countr_zero(left)];
    std::uint32_t same = 0;
    for (unsigned i = 0; i < kLanes; ++i) same |= static_cast<std::uint32_t>(a[i] == value) << i;
    const bool all = (same & who) == who;
    if (all) same_everywhere |= same;
    const bool wants_all = static_cast<ptx::VoteMode>(op.x) == ptx::VoteMode::all;
    const std::uint32_t result = wants_all && !all ? 0 : same & who;
    for (std::uint32_t lanes = same & left; lanes != 0; lanes &= lanes - 1)
      out[std::countr_zero(lanes)] = result;
    left &= ~same;
  }
  write_lanes(w, op.dst, out);
  if (op.dst2 != kNoRef) write_mask(w, op.dst2, same_everywhere);
}

void match(Warp& w, const Op& op) {
  const std::uint32_t who = members(w, op, "a warp match");
  if (op.width == 8)
    match_values<std::uint64_t>(w, op, who);
  else
    match_values<std::uint32_t>(w, op, who);
}

void redux(Warp& w, const Op& op) {
  const std::uint32_t who = members(w, op, "a warp reduction");
  const std::uint32_t* a = lanes_of<std::uint32_t>(w, op.a);
  bool first = true;
  std::uint32_t r = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    if (((who >> i) & 1u) == 0) continue;
    const std::uint32_t v = a[i];
    if (first) {
      r = v;
      first = false;
      continue;
    }
    const bool less = op.y ? static_cast<std::int32_t>(v) < static_cast<std::int32_t>(r) : v < r;
    switch (static_cast<ptx::AtomOp>(op.x)) {
      case ptx::AtomOp::add:
        r += v;
        break;
      case ptx::AtomOp::min:
        r = less ? v : r;
        break;
      case ptx::AtomOp::max:
        r = less ? r : v;
        break;
      case ptx::AtomOp::and_:
        r &= v;
        break;
      case ptx::AtomOp::or_:
        r |= v;
        break;
      default:
        r ^= v;
        break;
    }
  }
  std::uint32_t out[kLanes];
  std::fill(std::begin(out), std::end(out), r);
  write_lanes(w, op.dst, out);
}

void elect(Warp& w, const Op& op) {
  const std::uint32_t who = members(w, op, "elect.sync");
  const auto leader = static_cast<std::uint32_t>(std::countr_zero(who != 0 ? who : w.mask));
  std::uint32_t out[kLanes];
  std::fill(std::begin(out), std::end(out), leader);
  write_lanes(w, op.dst, out);
  if (op.dst2 != kNoRef) write_mask(w, op.dst2, 1u << leader);
}

void warp_sync(Warp& w, const Op& op) {
  members(w, op, "__syncwarp()");
}

}  // namespace

void op_shfl(Warp& w, const Op& op) {
  by_members<shuffle>(w, op);
}
void op_vote(Warp& w, const Op& op) {
  by_members<vote>(w, op);
}
void op_match(Warp& w, const Op& op) {
  by_members<match>(w, op);
}
void op_redux(Warp& w, const Op& op) {
  by_members<redux>(w, op);
}
void op_elect(Warp& w, const Op& op) {
  by_members<elect>(w, op);
}

void op_activemask(Warp& w, const Op& op) {
  std::uint32_t out[kLanes];
  std::fill(std::begin(out), std::end(out), w.mask);
  write_lanes(w, op.dst, out);
}

void op_warp_sync(Warp& w, const Op& op) {
  by_members<warp_sync>(w, op);
}

void op_fence(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  run.order.fence();
  run.handovers.fence(w.index, run.clocks, w.mask, w.live());
  bound_times(run);
  note_poll(w, op.pc, 1);
}

void op_bar_arrive(Warp& w, const Op& op) {
  const unsigned first = static_cast<unsigned>(std::countr_zero(w.mask));
  arrive_at_barrier(w, lanes_of<std::uint32_t>(w, op.a)[first],
                    lanes_of<std::uint32_t>(w, op.b)[first], op.pc);
}

void op_isspacep(Warp& w, const Op& op) {
  const std::uint64_t* a = lanes_of<std::uint64_t>(w, op.a);
  std::uint32_t m = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const std::uint64_t window = a[i] & ~(memory::kSlotBytes - 1);
    bool is;
    switch (static_cast<ptx::Space>(op.x)) {
      case ptx::Space::shared:
        is = window == memory::kSharedWindow &&
             memory::rank_in(memory::offset_of(a[i])) == w.run->rank;
        break;
      case ptx::Space::cluster:
        is = window == memory::kSharedWindow;
        break;
      case ptx::Space::local:
        is = window == memory::kLocalWindow;
        break;
      case ptx::Space::param:
        is = window == memory::kParamWindow;
        break;
      case ptx::Space::constant: {
        const memory::Allocation* o = w.run->launch->memory->owner(a[i]);
        is = o != nullptr && o->constant;
        break;
      }
      default: {
        const memory::Allocation* o = w.run->launch->memory->owner(a[i]);
        is = window != memory::kSharedWindow && window != memory::kLocalWindow &&
             window != memory::kParamWindow && !(o != nullptr && o->constant);
      }
    }
    m |= static_cast<std::uint32_t>(is) << i;
  }
  write_mask(w, op.dst, m);
}

/// Deterministic: instructions this warp has executed. The global timer counts as if each took a
/// nanosecond.
void op_clock(Warp& w, const Op& op) {
  const std::uint64_t v =
      (op.x != 0 ? w.clock >> 32 : w.clock) + (op.y != 0 && op.x == 0 ? w.run->number : 0);
  std::byte* d = address_of(w, op.dst);
  for (unsigned i = 0; i < kLanes; ++i)
    if ((w.mask >> i) & 1u) std::memcpy(d + i * op.width, &v, op.width);
}

void op_nothing(Warp&, const Op&) {}

/// createpolicy: what the bits mean is the hardware's own affair, and caches are not simulated.
void op_policy(Warp& w, const Op& op) {
  std::uint64_t* d = lanes_of<std::uint64_t>(w, op.dst);
  for (unsigned i = 0; i < kLanes; ++i)
    if ((w.mask >> i) & 1u) d[i] = std::uint64_t{1} << 60;
}

/// Integer division by zero gives all ones on hardware, silently; nobody means it.
void op_check_divisor(Warp& w, const Op& op) {
  const std::byte* a = address_of(w, op.a);
  for (unsigned i = 0; i < kLanes; ++i) {
    std::uint64_t v = 0;
    std::memcpy(&v, a + i * op.width, op.width);
    if (v != 0 || ((w.mask >> i) & 1u) == 0) continue;
    add_finding(*w.run, FindingKind::division_by_zero, op.pc, UINT32_MAX,
                describe(*w.run, {op.pc, w.index, i, AccessType::load, MemorySpace::global, 0, 0}),
                std::nullopt, "an integer is divided by zero: the result has all bits set");
  }
}

}  // namespace simgpu::exec
