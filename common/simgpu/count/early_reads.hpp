// Which loads from shared memory nvcc moves before an `if`.
//
// Where an `if` without `else` only computes something, and little, nvcc's front end computes it for all lanes and selects,
// which clang is told not to do for this device: what a lane does not ask for is no race of its. `if (i < warp) x += sums[i]`
// so reads sums[i] in every warp, as one access with its neighbours. Read off 58 kernels in CUDA, each changed in one respect,
// as nvcc 13.0 compiles them for sm_90 (tests/early_reads_test.cpp has those that draw the line):
//
//   - The `if` has one block, without another way in or out, of loads from static shared arrays at a constant place
//     within them and of sums, products, shifts, logic and conversions.
//   - It costs at most 5: a load 1, a multiply-add 2, everything else 1. With 6 it stays.
#pragma once

#include <cstdint>
#include <vector>

#include "common/simgpu/ptx/control_flow.hpp"
#include "common/simgpu/ptx/module.hpp"

namespace simgpu::count {

inline constexpr std::uint32_t kNotEarly = UINT32_MAX;

/// By block of `flow`: whether it is such an `if`'s, and so executed whenever the block before it is.
std::vector<bool> find_early_blocks(const ptx::Module& module, const ptx::Function& function,
                                    const ptx::ControlFlow& flow);

/// By instruction: of a load that nvcc moves, the branch before which it does it; of all others kNotEarly.
std::vector<std::uint32_t> find_early_reads(const ptx::Module& module,
                                            const ptx::Function& function);

}  // namespace simgpu::count
