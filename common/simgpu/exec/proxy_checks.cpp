// What goes wrong between threads and the asynchronous proxy: bytes that are read before they have
// come, tiles that are overwritten while something still reads them, fences that are missing.
#include <algorithm>
#include <optional>

#include "common/simgpu/exec/async_proxy.hpp"
#include "common/simgpu/exec/barriers.hpp"
#include "common/simgpu/exec/cluster.hpp"
#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/memory_ops.hpp"

namespace simgpu::exec {

using check::BulkCopy;

namespace {

constexpr unsigned kChunk = 16;

/// The copy that will write byte `at`; of several the one that was issued first.
const BulkCopy* pending_copy(const BlockRun& run, std::uint32_t at) {
  for (const auto& c : run.proxy.copies)
    if (at >= c->first && at < c->first + c->bytes) return c.get();
  return nullptr;
}

std::string object_text(const Access& a) {
  if (a.object.empty()) return "byte " + std::to_string(a.address) + " of shared memory";
  return a.object + "+" + std::to_string(a.offset);
}

/// Nothing has come to the open phase yet, and no bytes are announced for it: the copy belongs to the phase before,
/// which ended without its bytes.
bool ended_too_early(const check::MBarrier& b) {
  return b.phase > 0 && b.announced == 0 && b.pending == b.expected;
}

/// " (the last wait there that was let through, at gemm.cu:31, was for parity 1; ...)": who waited for the
/// phase before, and so not for the copy. Empty if nobody did.
std::string wait_before(const Program& p, const check::MBarrier& b) {
  if (b.passed_pc == UINT32_MAX || b.passed_phase != b.phase) return "";
  const std::uint32_t parity = b.phase & 1u;
  return " (the last wait there that was let through, at " + line_text(p, b.passed_pc) +
         ", was for parity " + std::to_string(parity ^ 1u) +
         (b.phase == 0 ? ", which counts as ended at a new barrier"
          : ended_too_early(b)
              ? ", a phase that ended as soon as the " + std::to_string(b.announced_before) +
                    " bytes announced for it had come"
              : ", the phase before") +
         "; the copy ends the phase of parity " + std::to_string(parity) + ")";
}

}  // namespace

void report_bulk_conflict(BlockRun& run, const Warp& w, unsigned lane, const Op& op,
                          AccessType type, std::uint64_t offset, unsigned bytes, std::uint32_t g) {
  const check::Tag t = run.shadow.written[g];
  const bool pending = check::is_pending(t);
  const BulkCopy* copy = pending ? pending_copy(run, g << run.shadow.shift) : nullptr;
  const std::uint32_t pc =
      pending ? (copy != nullptr ? copy->pc : UINT32_MAX) : run.async.landed[g].pc;
  const auto kind =
      type == AccessType::load ? FindingKind::async_not_waited : FindingKind::shared_race;
  if (kind == FindingKind::shared_race && !run.launch->options.checks.race) return;
  run.worker->findings.add(kind, op.pc, pc, w.run->number, [&] {
    const Program& p = *run.launch->program;
    const LaneAccess me{op.pc, w.index, lane, type, MemorySpace::shared, bytes, offset};
    Finding f;
    f.kernel = run.launch->kernel_name;
    f.at = describe(*w.run, me);
    LaneAccess theirs = me;
    theirs.pc = pc;
    theirs.type = AccessType::store;
    if (copy != nullptr) {
      theirs.address = copy->first + memory::kSharedBase;
      theirs.bytes = copy->bytes;
    }
    if (pc != UINT32_MAX)
      f.other = copy != nullptr ? describe_thread(*run.launch, copy->block, copy->thread, theirs)
                                : describe_thread(*run.launch, run.number, 0, theirs);
    const std::string copy_text =
        pc != UINT32_MAX ? "the bulk copy of " + line_text(p, pc) : std::string("a bulk copy");
    f.detail = line_text(p, op.pc) + " " + std::string(to_string(type)) + " " + object_text(f.at) +
               ", which " + copy_text + (pending ? " is still writing" : " has written");
    f.detail += type == AccessType::load
                    ? ": wait for the phase of its mbarrier first, with the parity of that phase"
                : pending ? ": the place may be written again when its copy has arrived and has "
                            "been read"
                          : ", and its mbarrier was not waited for";
    if (pending && copy != nullptr) {
      const auto b = run.proxy.barriers.find(copy->barrier);
      if (b != run.proxy.barriers.end() && b->second.transactions < 0)
        f.detail += " (its barrier was told of more bytes than expect_tx announced)";
      else if (b != run.proxy.barriers.end() && type == AccessType::load) {
        const std::string wait = wait_before(p, b->second);
        f.detail += wait;
        if (!wait.empty() && b->second.phase > 0)
          f.cause =
              ended_too_early(b->second) ? FindingCause::short_phase : FindingCause::earlier_phase;
      }
    }
    return f;
  });
}

bool overwrites_async_read(BlockRun& run, const Warp& w, unsigned lane, std::uint32_t pc,
                           std::uint32_t first, std::uint32_t bytes) {
  if (!run.proxy.names_readers || !run.launch->options.checks.race) return false;
  std::optional<check::WarpClock> of_peer;
  if (w.run != &run) of_peer = clock_in(run, w);
  const check::WarpClock& clock = of_peer ? *of_peer : run.clocks.of(w.index);
  const auto unordered = [&](const check::AsyncRead& r, unsigned first_warp, unsigned warps) {
    for (unsigned q = 0; q < warps; ++q) {
      if (r.ended[q] == check::AsyncRead::kOpen) continue;
      const unsigned warp = first_warp + q;
      if ((warp == w.index && !of_peer) || r.ended[q] < clock.seen[warp]) return false;
    }
    return true;
  };
  const auto look = [&](check::AsyncReads& reads, unsigned first_warp, unsigned warps,
                        const char* what) {
    std::uint32_t last = 0;
    for (std::uint32_t k = first / kChunk; k <= (first + bytes - 1) / kChunk; ++k) {
      if (k >= reads.size() || reads.chunks()[k] == last) continue;
      last = reads.chunks()[k];
      const check::AsyncRead* r = reads.find(last);
      if (r == nullptr || !unordered(*r, first_warp, warps)) continue;
      bool waited = false;
      for (unsigned q = 0; q < warps; ++q) waited |= r->ended[q] != check::AsyncRead::kOpen;
      const LaneAccess me{pc,
                          w.index,
                          lane,
                          AccessType::store,
                          MemorySpace::shared,
                          kChunk,
                          std::uint64_t{k} * kChunk + memory::kSharedBase};
      const Program& p = *run.launch->program;
      const Access at = describe(*w.run, me);
      LaneAccess theirs = me;
      theirs.pc = r->pc;
      theirs.type = AccessType::load;
      add_finding(*w.run, FindingKind::shared_race, pc, r->pc, at,
                  describe_thread(*run.launch, run.number, first_warp * kLanes, theirs),
                  line_text(p, pc) + " writes " + object_text(at) + ", which " + what + " of " +
                      line_text(p, r->pc) + " may still be reading: " +
                      (waited ? "who writes must wait until the reader has said, behind its "
                                "wait_group, that it is done"
                              : "wait_group must come before the place is given free"));
      return true;
    }
    return false;
  };
  for (unsigned g = 0; g < run.proxy.warpgroups.size(); ++g)
    if (look(run.proxy.warpgroups[g], 4 * g, 4, "the wgmma")) return true;
  // A thread that waits for its bulk stores is ordered before itself; others see it by its warp.
  return !of_peer && look(run.proxy.stores, w.index, 1, "the bulk copy");
}

void op_set_registers(Warp& w, const Op& op) {
  if (w.mask != w.live()) let_leave(w);
  if (w.mask != w.live()) report_part_of_warp(w, op);
  w.registers = op.slot;
  w.registers_pc = op.pc;
}

/// A block has the registers that it was launched with: at the most what the multiprocessor has, divided by its
/// threads. Who asks for more waits until others have given some up, and if they never do, for ever.
void check_registers(BlockRun& run) {
  constexpr std::uint32_t kRegisters = 65536, kMost = 256, kStep = 8, kGroup = 4;
  const auto warps = static_cast<std::uint32_t>(run.warps.size());
  const std::uint32_t launched = std::min(kMost, kRegisters / (warps * kLanes) / kStep * kStep);
  std::uint32_t all = 0;
  const Warp* most = nullptr;
  for (const Warp& w : run.warps) {
    all += w.registers != 0 ? w.registers : launched;
    if (w.registers != 0 && (most == nullptr || w.registers > most->registers)) most = &w;
  }
  if (most == nullptr || !run.launch->options.checks.barrier) return;
  const Program& p = *run.launch->program;
  const auto tell = [&](const Warp& w, FindingKind kind, const std::string& text) {
    add_finding(
        run, kind, w.registers_pc, UINT32_MAX,
        describe(run, {w.registers_pc, w.index, 0, AccessType::load, MemorySpace::shared, 0, 0}),
        std::nullopt, text);
  };
  for (std::uint32_t k = 0; k < warps; ++k) {
    const Warp &w = run.warps[k], &first = run.warps[k - k % kGroup];
    const Warp& who = first.registers != 0 ? first : w;
    if (w.registers == first.registers) continue;
    tell(who, FindingKind::divergent_barrier,
         "all four warps of a warpgroup must execute the same setmaxnreg, but warps " +
             std::to_string(first.index) + " and " + std::to_string(w.index) + " end with " +
             std::to_string(first.registers) + " and " + std::to_string(w.registers) +
             " registers (0: they have executed none)");
    return;
  }
  if (all <= launched * warps) return;
  tell(*most, FindingKind::deadlock,
       "the setmaxnreg of " + line_text(p, most->registers_pc) + " to " +
           std::to_string(most->registers) +
           " registers waits forever: the threads of the block would have " +
           std::to_string(all * kLanes) + " in all, and it was launched with " +
           std::to_string(launched * warps * kLanes) +
           " at the most: other warpgroups must give up more, by setmaxnreg.dec");
}

void check_end_of_block(BlockRun& run) {
  if (!run.launch->options.checks.race) return;
  const Program& p = *run.launch->program;
  const auto tell = [&](std::uint32_t pc, unsigned thread, const std::string& what,
                        std::uint64_t block) {
    add_finding(run, FindingKind::async_not_waited, pc, UINT32_MAX,
                describe_thread(*run.launch, block, thread,
                                {pc, 0, 0, AccessType::store, MemorySpace::shared, 0, 0}),
                std::nullopt,
                "the block ends while the " + what + " of " + line_text(p, pc) +
                    " is under way: wait for it first, its shared memory may belong to another "
                    "block by then");
  };
  for (const auto& c : run.proxy.copies) tell(c->pc, c->thread, "bulk copy", c->block);
  for (auto& [thread, g] : run.proxy.bulk_groups)
    for (const std::uint32_t number : g.open)
      if (const check::AsyncRead* r = run.proxy.stores.find(number))
        tell(r->pc, thread, "bulk copy", run.number);
  for (unsigned w = 0; w < run.proxy.groups.size(); ++w)
    for (const std::uint32_t number : run.proxy.groups[w].open)
      if (const check::AsyncRead* r = run.proxy.warpgroups[w / 4].find(number)) {
        tell(r->pc, w * kLanes, "wgmma", run.number);
        return;
      }
}

ReaderTimes reader_times(const BlockRun& run, unsigned first_warp, unsigned warps) {
  ReaderTimes t;
  t.seen.fill(UINT32_MAX);
  t.proxied.fill(UINT32_MAX);
  for (unsigned q = 0; q < warps; ++q) {
    const check::WarpClock& c = run.clocks.of(first_warp + q);
    for (std::size_t k = 0; k < t.seen.size(); ++k) t.seen[k] = std::min(t.seen[k], c.seen[k]);
    for (std::size_t k = 0; k < t.proxied.size(); ++k)
      t.proxied[k] = std::min(t.proxied[k], c.proxied[k]);
  }
  // What a reader wrote itself needs no order, but a proxy fence.
  for (unsigned q = 0; q < warps && warps == 1; ++q) t.seen[first_warp + q] = UINT32_MAX;
  return t;
}

AsyncReadCheck::AsyncReadCheck(BlockRun& run, unsigned first_warp, unsigned warps, std::uint32_t pc,
                               const char* what)
    : run_(run),
      warp_(first_warp),
      shift_(run.shadow.shift),
      pc_(pc),
      what_(what),
      written_(run.shadow.written.data()),
      times_(reader_times(run, first_warp, warps)),
      checked_(run.launch->options.checks.race || run.launch->options.checks.init) {
  for (unsigned w = 0; w < check::kMaxWarps; ++w)
    before_[w] = std::min({times_.seen[w], times_.proxied[w], check::kPendingTime});
}

namespace {

/// Whether the readers are known to come after who wrote this tag, and by which proxy.
bool is_ordered(check::Tag t, const ReaderTimes& times) {
  const std::uint32_t time = check::time_of(t), who = t & check::kWhoMask;
  if (t == 0) return false;
  if (check::is_by_engine(t)) return time < times.seen[check::kMaxWarps + (who >> 6)];
  if (check::is_pending(t)) return false;
  return who == check::kManyWarps ||
         (time < times.seen[who >> 6] && time < times.proxied[who >> 6]);
}

}  // namespace

void AsyncReadCheck::look(std::uint32_t first, check::Tag t) {
  if (!checked_ || reported_) return;
  if (is_ordered(t, times_)) {
    last_ = t;
    return;
  }
  // Most tags are of the kind above, each of another lane: no room for findings is made for them.
  find_fault(first, t);
}

void AsyncReadCheck::find_fault(std::uint32_t first, check::Tag t) {
  const std::uint32_t time = check::time_of(t), who = t & check::kWhoMask;
  Op op;
  op.pc = pc_;
  const Warp& w = run_.warps[warp_];
  const std::uint64_t offset = std::uint64_t{first} + memory::kSharedBase;
  const LaneAccess me{pc_, warp_, 0, AccessType::load, MemorySpace::shared, kChunk, offset};
  const Checks& checks = run_.launch->options.checks;
  const Program& p = *run_.launch->program;
  if (t == 0) {
    if (!checks.init) return;
    reported_ = true;
    run_.worker->findings.add(FindingKind::uninitialised_read, pc_, UINT32_MAX, run_.number, [&] {
      Finding f;
      f.kernel = run_.launch->kernel_name;
      f.at = describe(run_, me);
      f.detail = std::string(what_) + " reads " + object_text(f.at) + ", which nothing has written";
      if (operand_ != 0) {
        Access begin = f.at;
        begin.offset -= static_cast<std::int64_t>(offset - start_);
        f.detail += std::string(": the descriptor of its operand ") + operand_ + " begins at " +
                    object_text(begin);
      }
      if (f.at.offset >= 0) add_written_shared(run_, first, f);
      return f;
    });
    return;
  }
  if (check::is_by_engine(t)) {
    reported_ = true;
    std::uint32_t g = first >> shift_;
    while (run_.shadow.written[g] != t) ++g;
    report_bulk_conflict(run_, w, 0, op, AccessType::load, offset, kChunk, g);
    return;
  }
  if (check::is_pending(t)) {  // a cp.async
    reported_ = true;
    reads_too_early(run_, w, 0, op, AccessType::load, offset, kChunk);
    return;
  }
  if (!checks.race) return;
  const unsigned writer = who >> 6;
  const bool ordered = time < times_.seen[writer];
  reported_ = true;
  const Access at = describe(run_, me);
  LaneAccess theirs = me;
  theirs.type = AccessType::store;
  Access other = describe_thread(*run_.launch, run_.number,
                                 writer * kLanes + std::min(who & 63u, kLanes - 1), theirs);
  other.where = {};
  if (ordered)
    add_finding(run_, FindingKind::proxy_fence_missing, pc_, UINT32_MAX, at, other,
                std::string(what_) + " on " + line_text(p, pc_) + " reads " + object_text(at) +
                    ", which threads have written by ordinary stores: fence.proxy.async must come "
                    "between the stores and the barrier that follows them");
  else
    add_finding(run_, FindingKind::shared_race, pc_, UINT32_MAX, at, other,
                std::string(what_) + " on " + line_text(p, pc_) + " reads " + object_text(at) +
                    ", which warp " + std::to_string(writer) +
                    " has written in the same barrier interval: fence.proxy.async and a barrier "
                    "must come between them");
}

}  // namespace simgpu::exec
