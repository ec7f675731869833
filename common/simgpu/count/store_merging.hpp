// Which stores to shared and local memory ptxas merges into wider ones.
//
// Where a thread stores neighbouring elements one after the other, `s[2 * t] = x; s[2 * t + 1] = y`, PTX has one st.shared
// for each and the machine code one STS.64. The rules were read off ptxas 13.0 for sm_90 with 57 probes in PTX, each
// changed in one respect (tests/store_merging_test.cpp has most of them), and 18 kernels in CUDA:
//
//   - Stores become one if they follow each other without any other access to shared memory between them: no load,
//     no store to another place, no atomic, no ldmatrix, barrier, fence or call. Global memory, shuffles and votes may
//     come between, and the values may be computed there. They do not merge across branches, nor with predicates.
//     Divisions and roots that are rounded correctly are branches, too: to code for operands out of the common range.
//   - Their addresses are the same register plus constants, in any order, within a window of four elements and at most 16
//     bytes, aligned to its own size. All four elements become one store, and so do the two of a half; bytes never merge.
//     It does not matter whether they belong to one variable: `__shared__ float mean, deviation` is written and read as a
//     vector of two. Vectors merge with vectors of as many elements. Alignment is known as for loads (alignment.hpp).
//   - Two stores of one element stay two, and end what can be merged.
//   - The same holds for local memory, of which any other access ends what can be merged, and cp.async.commit_group and
//     stores that release, too (sm_80 and sm_90, tests/local_merging_test.cpp). What ptxas gets there are the vectors of nvcc's
//     front end (local_vectors.hpp).
//
// Not modelled: a load between them that reads back what was stored, which ptxas leaves out; and a vector of two
// beside two single elements, which stay single in local memory.
#pragma once

#include <vector>

#include "common/simgpu/count/merged_access.hpp"
#include "common/simgpu/ptx/module.hpp"

namespace simgpu::count {

/// One entry per instruction of `function.body`, of which only st.shared have bytes. A lone store leads itself with its own
/// width.
std::vector<MergedAccess> merge_shared_stores(const ptx::Module& module,
                                              const ptx::Function& function);

/// The same of st.local, `vectors` as find_local_vectors has them.
std::vector<MergedAccess> merge_local_stores(const ptx::Module& module,
                                             const ptx::Function& function,
                                             const std::vector<Vector>& vectors);

}  // namespace simgpu::count
