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

/// Lanes with nothing before them but the kernel's end return now, whatever the rest of their warp does. ptxas makes
/// "@p exit" of such a branch, so on hardware they are gone when others come to a shuffle that names them.
void let_leave(Warp& w);

/// Whether lanes that the block at hand would meet still wait behind it: in a loop, or at an mbarrier. Hardware
/// waits for them in the middle of the block; here it is not begun. They may never come, if they wait for these
/// lanes: `hurries` then says not to wait any more (see hurry).
bool must_wait(const Warp& w, const BasicBlock& block);

}  // namespace simgpu::exec
