// Barriers of a block: who waits at one, when it is complete, and what goes wrong at it.
#pragma once

#include <cstdint>

#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {

/// Lanes of `w` that can still run: not exited, not parked.
std::uint32_t runnable(const Warp& w);
/// Lanes that have come to the barrier at the end of `block`.
void park(BlockRun& run, Warp& w, const BasicBlock& block, std::uint32_t mask);
/// Lanes that have returned from the kernel. Barriers no longer wait for them.
void lanes_exit(BlockRun& run, Warp& w, std::uint32_t mask, std::uint32_t pc, const Group& group,
                const BasicBlock& block);

}  // namespace simgpu::exec
