// Sums of several registers that differ by a constant alone. Where a loop counts up and an offset is taken off, clang 22
// writes (counter + (8 - offset)) + base for one element and (counter + (4 - offset)) + base for its neighbour; nvcc's
// front end has one register for both, and the constants in the accesses.
#pragma once

#include <cstdint>
#include <vector>

#include "common/simgpu/ptx/joined_sums.hpp"
#include "common/simgpu/ptx/module.hpp"

namespace simgpu::ptx {

/// By register: the first that is a sum of 64 bits of the same registers, and how far this one is from it; else itself.
/// `definition` has the only, unguarded definition of a register, or UINT32_MAX; `joined` what undo_joined_sums found.
std::vector<Shifted> find_equal_sums(const Function& function,
                                     const std::vector<std::uint32_t>& definition,
                                     const std::vector<Shifted>& joined);

}  // namespace simgpu::ptx
