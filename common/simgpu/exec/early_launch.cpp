// A kernel that may begin before the one before it has ended (programmatic dependent launch, PTX ISA
// 9.7.13.13): what it touches of that one's memory before griddepcontrol.wait. Also of the memory of
// kernels before that one, if those in between have not waited for them: then not even the wait helps
// (StreamOrder knows which they are).
//
// PTX asks for the wait where the earlier kernel executes griddepcontrol.launch_dependents. Launches
// run one after the other here, so nothing goes wrong by itself.
#include <algorithm>

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/memory_ops.hpp"

namespace simgpu::exec {

void op_grid_wait(Warp& w, const Op&) {
  w.run->grid_waits[w.index] = w.run->clocks.now();
  w.run->grid_control.waits = true;
}

void op_explicit_cluster(Warp& w, const Op& op) {
  auto* const d = lanes_of<std::uint32_t>(w, op.dst);
  *d = (*d & ~w.mask) | (w.run->launch->explicit_cluster ? w.mask : 0);
}

namespace {

/// Whether the warp, or one that it has met since, has waited.
bool has_waited(const BlockRun& run, unsigned warp) {
  if (run.grid_waits[warp] != 0) return true;
  const check::WarpClock& clock = run.clocks.of(warp);
  for (unsigned q = 0; q < run.warps.size(); ++q)
    if (run.grid_waits[q] != 0 && run.grid_waits[q] < clock.seen[q]) return true;
  // Which of a cluster's blocks know of each other, their barriers say: one that waits is enough.
  const auto waits = [](const BlockRun* block) {
    return std::any_of(block->grid_waits.begin(), block->grid_waits.end(),
                       [](std::uint32_t time) { return time != 0; });
  };
  return run.cluster != nullptr && run.launch->cluster_blocks > 1 &&
         std::any_of(run.cluster->blocks.begin(), run.cluster->blocks.end(), waits);
}

/// What of this kernel's memory the access must not come to before that kernel's end; null = nothing.
const TouchedBytes* conflict_with(const EarlierKernel& earlier, const LaneAccess& me) {
  const TouchedBytes* conflict = nullptr;
  for (const TouchedBytes& b : earlier.bytes)
    if (me.address < b.end && b.first < me.address + me.bytes &&
        (b.written || me.type != AccessType::load) && (conflict == nullptr || b.written))
      conflict = &b;
  return conflict;
}

}  // namespace

void op_let_next_begin(Warp& w, const Op&) {
  GridControl& control = w.run->grid_control;
  control.lets_next_begin = true;
  if (!has_waited(*w.run, w.index)) control.waits_first = false;
}

void check_before_wait(BlockRun& run, const LaneAccess& me) {
  const bool waited = has_waited(run, me.warp);
  const EarlierKernel* with = nullptr;
  const TouchedBytes* conflict = nullptr;
  for (const EarlierKernel& earlier : run.launch->options.earlier) {
    if (conflict != nullptr || (waited && earlier.skipped_by.empty())) continue;
    with = &earlier;
    conflict = conflict_with(earlier, me);
  }
  if (conflict == nullptr) return;
  const std::string& skipped = with->skipped_by;
  // One finding for all accesses: what is missing is one instruction.
  run.worker->findings.add(FindingKind::global_race, UINT32_MAX, UINT32_MAX, run.number, [&] {
    Finding f;
    f.kernel = run.launch->kernel_name;
    f.cause = FindingCause::missing_grid_wait;
    f.at = describe(run, me);
    f.detail = line_text(*run.launch->program, me.pc) + " " + std::string(to_string(me.type)) +
               " " + f.at.object + "+" + std::to_string(f.at.offset) + ", which kernel '" +
               with->name + "' " + (conflict->written ? "writes" : "reads") +
               ", and that kernel may still be running: ";
    if (skipped.empty())
      f.detail += std::string(with == &run.launch->options.earlier.back()
                                  ? "it lets this one begin early"
                                  : "it and those behind it let the next one begin early") +
                  " (griddepcontrol.launch_dependents). griddepcontrol.wait, in CUDA "
                  "cudaGridDependencySynchronize(), must come first";
    else
      f.detail +=
          "it lets '" + skipped + "' begin early (griddepcontrol.launch_dependents), and '" +
          skipped +
          "' never waits for it. griddepcontrol.wait, in CUDA cudaGridDependencySynchronize(), "
          "waits for the kernel right before only: '" +
          skipped + "' must call it, too";
    return f;
  });
}

}  // namespace simgpu::exec
