// Counts of shared atomics that are loops (count/swap_turns.hpp). How many turns a warp needs depends on the other
// warps of its block: the k-th execution of an instruction since the last barrier of the block is taken to meet the
// k-th of the others. So executions are kept until all have come, and are counted then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "common/simgpu/count/swap_turns.hpp"
#include "common/simgpu/exec/op.hpp"
#include "common/simgpu/exec/warp.hpp"

namespace simgpu::exec {

struct BlockRun;

/// What the warps of a block have executed of such atomics since its last barrier.
struct SwapLog {
  struct Instruction {
    const Op* op = nullptr;
    std::vector<std::vector<count::Updates>> rounds;  ///< the k-th execution of each warp
    std::vector<std::size_t> executed;                ///< by warp
  };
  std::map<std::uint32_t, Instruction> by_pc;
  std::size_t kept = 0;  ///< executions
};

/// Whether hardware has no instruction for it.
bool is_by_swaps(const Op& op);

/// One execution; `address` in bytes within shared memory.
void log_swaps(Warp& w, const Op& op, const std::uint64_t (&address)[kLanes], std::uint32_t mask,
               unsigned bytes);

/// Counts what has been kept: at a barrier, and when the block ends.
void settle_swaps(BlockRun& run);

}  // namespace simgpu::exec
