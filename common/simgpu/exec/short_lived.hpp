// Registers that live within one basic block, and which of them can lie in one place.
//
// PTX gives every value a register of its own. A warp's frame would hold hundreds of values that are
// used once, each in 128 or 256 bytes, and the frames of a block would not fit into the cache.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::exec {

struct SharedPlaces {
  static constexpr std::uint32_t kOwn = UINT32_MAX;
  std::vector<std::uint32_t> of;     ///< by register: number of its place; kOwn = it has its own
  std::vector<std::uint32_t> bytes;  ///< by place: of a lane
};

/// `blocks`: instructions [first, second) of each basic block. Two registers of one place are never
/// alive at once, nor used by one instruction. Only such registers share that every lane sets before
/// it reads them, in each run through their block, and that nothing but plain instructions, lane by
/// lane, touches: what a register holds where nobody has set it, or in lanes that are not there,
/// stays as it is.
SharedPlaces share_places(const ptx::Function& function,
                          const std::vector<std::pair<std::uint32_t, std::uint32_t>>& blocks);

}  // namespace simgpu::exec
