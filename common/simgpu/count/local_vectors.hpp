// Which accesses to local memory nvcc's front end makes vectors of, before ptxas sees them.
//
// It knows its arrays apart and aligns them (local_arrays.hpp), so that it does more than ptxas would. Read off
// 114 kernels in CUDA, compiled by nvcc 13.0 for sm_90. With clang 14, 103 of them come out the same, with clang 22 101; in
// most of the others ptxas unrolled a loop, or the array was in a struct. tests/local_merging_test.cpp has 51 of this kind.
//
//   - Accesses of one basic block become a vector of two elements or more, at most 16 bytes, if their addresses are the
//     same register or array plus constants, it is aligned to its size, and all of its elements are there. Bytes and
//     16-bit elements, too, whatever is computed with them.
//   - Between loads may come any other access, if it does not store what a later one of them loads, between stores any
//     that does not touch what an earlier one of them stored. Different arrays never touch; in the same array, two indices
//     that differ by a constant do not, and others may.
//   - Nothing orders loads of arrays of which no generic address is taken. Stores are ended by barriers, fences, atomics,
//     shuffles, votes and calls.
//   - A vector of loads of less than 4 bytes may lack some of its elements: not the first, and not all of the second half.
//     ptxas loads whole words of it, those that are wanted.
#pragma once

#include <vector>

#include "common/simgpu/count/alignment.hpp"
#include "common/simgpu/count/merged_access.hpp"
#include "common/simgpu/ptx/module.hpp"

namespace simgpu::count {

/// One entry per instruction of `function.body`, of which only ld.local and st.local have elements; empty if the function
/// has no arrays in local memory.
std::vector<Vector> find_local_vectors(const ptx::Module& module, const ptx::Function& function);

/// Of all registers the array that their value is an address in, LocalArrays::kNone: of none, or nobody knows.
std::vector<std::uint32_t> arrays_of(const ptx::Function& function, const ptx::Module& module,
                                     const LocalArrays& arrays);

}  // namespace simgpu::count
