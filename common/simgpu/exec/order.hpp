// The order in which basic blocks run when the lanes of a warp are apart.
//
// Lanes that diverged meet again if those furthest behind always run first. "Behind" is a position
// in an order of the blocks in which every edge goes forward except those back to the head of a
// loop, and every loop is contiguous, so that lanes that left a loop wait for those still in it.
// That is a weak topological order (F. Bourdoncle, "Efficient chaotic iteration strategies with
// widenings", 1993). The order of the PTX text does not do: clang places the body of a rotated loop
// before the block that decides whether to enter it.
#pragma once

#include <cstdint>
#include <vector>

namespace simgpu::exec {

/// successors[b] lists the blocks that may follow b; block 0 is the entry. Returns the blocks in
/// running order; blocks that cannot be reached come last.
std::vector<std::uint32_t> running_order(const std::vector<std::vector<std::uint32_t>>& successors);

}  // namespace simgpu::exec
