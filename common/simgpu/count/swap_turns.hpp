// Atomics of shared memory for which hardware has no instruction, like sums of floats: each is a loop that loads the
// old value and swaps the new one in if the old one is still there (SASS of nvcc 13.0 for sm_90: LDS, FADD,
// ATOMS.CAST.SPIN). In a turn, every warp that is not done yet makes one attempt, and one lane of each location
// succeeds: the first to come. The others, of all warps, try again.
//
// Who comes first rotates. With that, and with warps that begin together, the attempts are those of an H100 for 1 to 4
// and 8 warps where all lanes meet in one, two or four locations, and for up to 16 warps where one lane of each does.
// With 5 to 7 warps an H100 makes up to 8 % fewer, with 12 and 16 less than half: its loops drift apart. In locations
// drawn at random, the attempts of up to 8 warps are between 39 % too few and 61 % too many; warps that met nobody
// would make a quarter of them (tests/data/hopper_swaps.csv).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

namespace simgpu::count {

/// Lanes of a warp that are to update a location each.
struct Updates {
  std::uint32_t mask = 0;
  std::array<std::uint32_t, 32> location{};
};

/// Calls attempt(warp, lanes) for every attempt of every warp, turn after turn; `lanes` are those of the warp that
/// have not succeeded yet.
void swap_turns(std::span<const Updates> warps,
                const std::function<void(std::size_t, std::uint32_t)>& attempt);

}  // namespace simgpu::count
