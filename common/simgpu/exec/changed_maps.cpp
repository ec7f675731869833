// Tensor maps that kernels change: they are read through a proxy of their own, which sees a change only
// between fence.proxy.tensormap.release, behind it, and .acquire, before the map is used (PTX ISA 8.2,
// "Proxies", and 9.7.13.4, fence.proxy.tensormap).
#include <algorithm>

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/memory_ops.hpp"
#include "common/simgpu/memory/global_memory.hpp"

namespace simgpu::exec {
namespace {

using memory::ChangedMaps;

/// Calls `visit(address)` with what each active lane names.
template <class Visit>
void for_each_map(const Warp& w, const Op& op, Visit visit) {
  const auto* const base = lanes_of<std::uint64_t>(w, op.a);
  for (unsigned i = 0; i < kLanes; ++i)
    if (((w.mask >> i) & 1u) != 0) visit(base[i] + static_cast<std::uint64_t>(op.imm));
}

}  // namespace

void op_map_changed(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  for_each_map(w, op, [&](std::uint64_t map) {
    run.launch->memory->changed_maps().change(map);
    std::erase_if(run.map_fences, [&](const auto& fence) { return fence.first.first == map; });
  });
}

void op_map_acquire(Warp& w, const Op& op) {
  BlockRun& run = *w.run;
  for_each_map(w, op, [&](std::uint64_t map) {
    run.map_fences[{map, w.index}] = run.clocks.now();
  });
  op_fence(w, op);
}

void op_fence_map(Warp& w, const Op& op) {
  w.run->launch->memory->changed_maps().release();
  op_fence(w, op);
}

void check_map_fence(BlockRun& run, const Warp& w, unsigned lane, std::uint32_t pc,
                     std::uint64_t map) {
  if (!run.launch->options.checks.race) return;
  const ChangedMaps::State state = run.launch->memory->changed_maps().state(map);
  if (state == ChangedMaps::State::as_made) return;
  const check::WarpClock& clock = run.clocks.of(w.index);
  const bool acquired =
      std::any_of(run.map_fences.begin(), run.map_fences.end(), [&](const auto& fence) {
        const auto [of, warp] = fence.first;
        return of == map && (warp == w.index || fence.second < clock.seen[warp]);
      });
  if (acquired && state == ChangedMaps::State::released) return;
  const Access at =
      describe(run, {pc, w.index, lane, AccessType::load, MemorySpace::global, 128, map});
  add_finding(run, FindingKind::proxy_fence_missing, pc, UINT32_MAX, at, std::nullopt,
              line_text(*run.launch->program, pc) + " uses the tensor map at " + at.object + "+" +
                  std::to_string(at.offset) + ", which a kernel has changed, and " +
                  (acquired ? "no fence has followed the change: "
                              "fence.proxy.tensormap::generic.release must come behind "
                              "tensormap.replace"
                            : "no fence stands before its use: "
                              "fence.proxy.tensormap::generic.acquire, with the map's address, "
                              "must come first, or the copy may go by the map as it was"));
}

}  // namespace simgpu::exec
