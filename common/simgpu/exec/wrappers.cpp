// What stands between the interpreter's loop and a handler: guards and rounding modes.
#include <bit>
#include <cfenv>

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {

void run_guarded(Warp& w, const Op& op) {
  const std::uint32_t all = w.mask;
  const std::uint32_t p = *lanes_of<std::uint32_t>(w, op.guard);
  const std::uint32_t active = all & ((op.guard_negated & 1) != 0 ? ~p : p);
  if (active == 0) return;
  if ((op.guard_negated & 2) != 0) {  // the first op of its instruction counts
    GuardCount& g = w.run->worker->counters.guarded[op.pc];
    ++g.executed;
    g.lanes += static_cast<unsigned>(std::popcount(active));
  }
  w.mask = active;
  op.guarded(w, op);
  w.mask = all;
}

void run_rounded(Warp& w, const Op& op) {
  std::fesetround(static_cast<int>(op.slot));
  op.rounded(w, op);
  std::fesetround(FE_TONEAREST);
}

}  // namespace simgpu::exec
