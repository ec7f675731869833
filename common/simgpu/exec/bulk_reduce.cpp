// cp.reduce.async.bulk (PTX ISA 9.7.9.26) and red.async (9.7.13.8): copies that do not overwrite what
// they find but add to it, or take the smaller, and so on.
//
// Each element is one relaxed atomic. So reductions of one place do not race with each other, whoever
// issues them; everything else needs order as with a copy: before it the mbarrier's phase, or a
// barrier, and behind it the phase that it completes. Shared memory keeps its old values until the
// reduction arrives.
#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "common/simgpu/exec/bulk_copy.hpp"
#include "common/simgpu/exec/cluster.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/memory_ops.hpp"

namespace simgpu::exec::bulk {

using check::BulkCopy;

namespace {

bool overlap(const BulkCopy& a, const BulkCopy& b) {
  return a.first < b.first + b.bytes && b.first < a.first + a.bytes;
}

/// Whether only reductions have marked granule `g`, which holds `written`, since threads did.
bool only_reduced(const BlockRun& run, const BulkCopy& c, std::uint32_t g, check::Tag written) {
  if (!check::is_by_engine(written)) return false;  // a cp.async
  if (check::is_pending(written))
    return std::all_of(run.proxy.copies.begin(), run.proxy.copies.end(), [&](const auto& other) {
      return other.get() == &c || other->reduction.width != 0 || !overlap(*other, c);
    });
  return run.async.landed[g].reduced && run.async.landed[g].tag == written;
}

}  // namespace

bool can_reduce(ptx::AtomOp op, ptx::Type type, bool global) {
  using Do = ptx::AtomOp;
  using PT = ptx::Type;
  const auto is = [&](std::initializer_list<PT> types) {
    return std::find(types.begin(), types.end(), type) != types.end();
  };
  const bool half = is({PT::f16, PT::bf16});
  switch (op) {
    case Do::and_:
    case Do::or_:
    case Do::xor_:
      return is({PT::b32}) || (global && is({PT::b64}));
    case Do::inc:
    case Do::dec:
      return is({PT::u32});
    case Do::add:
      return is({PT::u32, PT::s32, PT::u64}) || (global && (half || is({PT::f32, PT::f64})));
    case Do::min:
    case Do::max:
      return is({PT::u32, PT::s32}) || (global && (half || is({PT::u64, PT::s64})));
    default:
      return false;
  }
}

namespace {

/// The type that operations on the elements of a tensor have; none: there are no operations.
ptx::Type element_type(TensorType type, bool bits) {
  using PT = ptx::Type;
  switch (type) {
    case TensorType::u32:
      return bits ? PT::b32 : PT::u32;
    case TensorType::s32:
      return bits ? PT::b32 : PT::s32;
    case TensorType::u64:
      return bits ? PT::b64 : PT::u64;
    case TensorType::s64:
      return bits ? PT::b64 : PT::s64;
    case TensorType::f16:
      return PT::f16;
    case TensorType::bf16:
      return PT::bf16;
    case TensorType::f32:
    case TensorType::f32_ftz:
      return PT::f32;
    case TensorType::f64:
      return PT::f64;
    default:
      return PT::none;
  }
}

}  // namespace

check::Reduction tensor_reduction(TensorType elements, std::uint8_t operation) {
  const auto op = static_cast<ptx::AtomOp>(operation);
  const bool bits = op == ptx::AtomOp::and_ || op == ptx::AtomOp::or_ || op == ptx::AtomOp::xor_;
  const ptx::Type type = element_type(elements, bits);
  if (!can_reduce(op, type, true)) return {};
  return {static_cast<std::uint8_t>(ptx::size_of(type)), operation,
          static_cast<std::uint8_t>(lane_type(type))};
}

void reduce(const check::Reduction& reduction, const std::byte* from, std::uint32_t bytes,
            std::byte* to) {
  for (std::uint32_t k = 0; k + reduction.width <= bytes; k += reduction.width) {
    std::uint64_t old = 0, value = 0;
    std::memcpy(&old, to + k, reduction.width);
    std::memcpy(&value, from + k, reduction.width);
    const std::uint64_t result = atomic_result(static_cast<ptx::AtomOp>(reduction.operation),
                                               static_cast<Ty>(reduction.type), old, value, 0);
    std::memcpy(to + k, &result, reduction.width);
  }
}

void mark_place(BlockRun& run, const BulkCopy& c, unsigned engine) {
  const Checks& checks = run.launch->options.checks;
  if (!checks.race && !checks.init) return;
  const check::Tag mark = check::tag(check::kPendingTime, check::who(engine, check::kEngineLane));
  const unsigned shift = run.shadow.shift;
  std::fill(run.shadow.written.begin() + (c.first >> shift),
            run.shadow.written.begin() + ((c.first + c.bytes - 1) >> shift) + 1, mark);
}

void mark_others(BlockRun& run, const BulkCopy& landed) {
  for (const auto& other : run.proxy.copies) {
    if (other.get() == &landed || other->reduction.width == 0 || !overlap(*other, landed)) continue;
    const auto b = run.proxy.barriers.find(other->barrier);
    if (b != run.proxy.barriers.end()) mark_place(run, *other, b->second.engine);
  }
}

void check_reduction(const Place& at, BlockRun& to, const BulkCopy& c) {
  BlockRun& run = at.run;
  LaunchRun& l = *run.launch;
  const bool own = &to == &run;
  const check::WarpClock clock = own ? run.clocks.of(at.w.index) : clock_in(to, at.w);
  const unsigned warp = own ? at.w.index : UINT32_MAX, shift = to.shadow.shift;
  bool told = false;
  for (std::uint32_t g = c.first >> shift; g <= (c.first + c.bytes - 1) >> shift; ++g) {
    const check::Tag written = to.shadow.written[g];
    Target t;
    t.space = MemorySpace::shared;
    t.peer = &to;
    t.offset = (std::uint64_t{g} << shift) + memory::kSharedBase;
    if (written == 0 && l.options.checks.init && !told) {
      report_uninitialised(run, at.w, at.lane, at.op, c.reduction.width, t.offset, t);
      told = true;
    }
    if (!l.options.checks.race) continue;
    if (check::is_by_engine(written) || check::is_pending(written)) {
      if (!only_reduced(to, c, g, written) &&
          check::SharedShadow::suspicious(written, clock, warp, at.lane)) {
        report_bulk_conflict(to, at.w, at.lane, at.op, AccessType::atomic,
                             c.first + memory::kSharedBase, c.bytes, g);
        return;
      }
    } else if (check::SharedShadow::suspicious(written, clock, warp, at.lane)) {
      l.suspicious.store(true, std::memory_order_relaxed);
    }
    if (check::SharedShadow::suspicious(to.shadow.read[g], clock, warp, at.lane))
      l.suspicious.store(true, std::memory_order_relaxed);
    if (l.exact)
      check_peer_access(run, at.w, at.lane, at.op, AccessType::atomic, t, 1u << shift, true);
  }
}

}  // namespace simgpu::exec::bulk
