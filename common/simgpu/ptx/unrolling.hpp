// Loops that ptxas unrolls: four turns at a time as long as four are left, then two, then the rest.
//
// It does so with an innermost loop of one basic block whose turns are counted by a constant step, unless the
// loop is long, writes memory atomically, waits or calls, or `.pragma "nounroll"` stands at its head. Read
// off ptxas 13.0 for sm_90; front ends have unrolled such loops before, by four, so that sixteen turns of the
// author's run at once.
//
// It shows in the counts only where the lanes of a warp take different numbers of turns: those with 20 left
// go through the long copy alone while those with 15 wait, and both make requests of their own for what
// would have been one request in the loop as it was written. So only loops whose end depends on the lane are
// unrolled here; all others stay as they are.
#pragma once

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::ptx {

/// Unrolls them in place. What the function computes stays the same.
void unroll_loops(Function& function);

}  // namespace simgpu::ptx
