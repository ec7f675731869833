// Which arrays in local memory ptxas keeps in registers.
//
// Where an index is not known, ptxas may compare it with every element's number and select, instead of going to memory.
// Read off kernels in CUDA, compiled by nvcc 13.0 for sm_80, with arrays of 2 to 128 elements:
//
//   - Elements are of 4 bytes, and all accesses, too. Arrays of bytes, 16-bit elements and doubles stay in memory.
//   - Up to 6 elements are always kept, whatever is done with them, and none of 384 bytes; 80 floats are.
//   - Between them it depends on what is done. With n elements, each access with an index, load or store, costs n - 6.
//     What is saved are the accesses at constant places, 1.9 for each and 1.775 for each element that they move, and 4.5
//     beside. These numbers are fitted: of 578 such kernels 3 come out wrong, with clang 14 and 22 alike.
//   - In a loop that is not unrolled, an access with an index counts five times, or 16 times if it is a store. This is known
//     of 22 kernels only.
#pragma once

#include <vector>

#include "common/simgpu/count/merged_access.hpp"
#include "common/simgpu/ptx/module.hpp"

namespace simgpu::count {

/// By instruction: whether it reads or writes an array that is in registers. `vectors` as find_local_vectors has them.
std::vector<bool> find_kept_accesses(const ptx::Module& module, const ptx::Function& function,
                                     const std::vector<Vector>& vectors);

}  // namespace simgpu::count
