#include "common/simgpu/exec/swaps.hpp"

#include <bit>

#include "common/simgpu/count/shared_banks.hpp"
#include "common/simgpu/exec/launch_run.hpp"
#include "common/simgpu/exec/sampling.hpp"

namespace simgpu::exec {
namespace {

/// A block that makes more of them between two barriers is counted in parts: 140 bytes each.
constexpr std::size_t kMostKept = 1u << 16;

SharedCounts cost_of(const count::Wavefronts& w, std::uint32_t lanes, unsigned bytes) {
  const auto active = static_cast<unsigned>(std::popcount(lanes));
  return {1, w.actual, w.ideal, 1, w.actual, w.ideal, std::uint64_t{bytes} * active};
}

/// Adds the loads and swaps of warps that begin together.
void count_turns(const std::vector<count::Updates>& warps, unsigned bytes, SharedCounts& loads,
                 SharedCounts& swaps) {
  struct Attempt {
    std::uint32_t lanes = 0;
    SharedCounts load, swap;
  };
  std::vector<Attempt> attempts(warps.size());  // most fail, and the next one costs the same
  count::swap_turns(warps, [&](std::size_t warp, std::uint32_t lanes) {
    Attempt& a = attempts[warp];
    if (a.lanes != lanes) {
      std::uint64_t address[kLanes];
      for (unsigned i = 0; i < kLanes; ++i) address[i] = warps[warp].location[i];
      a = {lanes, cost_of(count::shared_wavefronts(address, lanes, bytes, true), lanes, bytes),
           cost_of(count::atomic_wavefronts(address, lanes, bytes), lanes, bytes)};
    }
    loads += a.load;
    swaps += a.swap;
  });
}

}  // namespace

bool is_by_swaps(const Op& op) {
  switch (static_cast<Ty>(op.z)) {
    case Ty::f32:
    case Ty::f64:
    case Ty::f16:
    case Ty::bf16:
    case Ty::f16x2:
    case Ty::bf16x2:
      return static_cast<ptx::AtomOp>(op.y) != ptx::AtomOp::exch;
    default:
      return false;
  }
}

void log_swaps(Warp& w, const Op& op, const std::uint64_t (&address)[kLanes], std::uint32_t mask,
               unsigned bytes) {
  BlockRun& run = *w.run;
  count::Updates updates{mask, {}};
  for (unsigned i = 0; i < kLanes; ++i)
    updates.location[i] = static_cast<std::uint32_t>(address[i]);
  if (sampling(run, op)) {
    SharedCounts loads, alone;
    count_turns({updates}, bytes, loads, alone);
    sample_shared(run, op, AccessType::atomic, address, mask, bytes, alone);
  }
  SwapLog& log = run.swaps;
  SwapLog::Instruction& ins = log.by_pc[op.pc];
  ins.op = &op;
  ins.executed.resize(run.launch->warps);
  const std::size_t round = ins.executed[w.index]++;
  if (round >= ins.rounds.size()) ins.rounds.resize(round + 1);
  ins.rounds[round].push_back(updates);
  if (++log.kept >= kMostKept) settle_swaps(run);
}

void settle_swaps(BlockRun& run) {
  if (run.swaps.kept == 0) return;
  for (const auto& [pc, ins] : run.swaps.by_pc) {
    SiteCount& site = run.worker->counters.sites[ins.op->site];
    for (const auto& warps : ins.rounds)
      count_turns(warps, ins.op->width, site.swap_loads, site.shared);
  }
  run.swaps = {};
}

}  // namespace simgpu::exec
