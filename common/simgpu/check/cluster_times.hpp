// Order between the blocks of a cluster: what one of them knows of the others, each in its own time.
// Who releases (barrier.cluster.arrive, an arrival at another block's mbarrier) gives what it knows;
// who acquires (barrier.cluster.wait, a wait for that phase) takes it. A block knows as a whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/simgpu/check/clocks.hpp"

namespace simgpu::check {

struct BlockTimes : Arrivals {
  bool begun = false;  ///< its threads run
  std::uint32_t inits =
      0;  ///< mbarriers that were initialised before this time are (fence.mbarrier_init)
};

struct ClusterTimes {
  std::vector<BlockTimes> of;  ///< by rank; empty: nothing

  void join(const ClusterTimes& from) {
    if (of.size() < from.of.size()) of.resize(from.of.size());
    for (std::size_t r = 0; r < from.of.size(); ++r) {
      of[r].take(from.of[r]);
      take_later(of[r].proxied, from.of[r].proxied);
      of[r].begun |= from.of[r].begun;
      of[r].inits = std::max(of[r].inits, from.of[r].inits);
    }
  }
  /// What `warp` of block `rank` did at `time` of that block is known to come before.
  bool knows(std::size_t rank, unsigned warp, std::uint32_t time) const {
    return rank < of.size() && time < of[rank].seen[warp];
  }
};

}  // namespace simgpu::check
