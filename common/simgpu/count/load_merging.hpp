// Which scalar loads from shared and local memory ptxas merges into wider ones.
//
// clang leaves `sum += As[ty][k] * Bs[k][tx]` as one ld.shared per element; ptxas turns
// neighbouring loads into LDS.64 and LDS.128, so raw PTX counts of shared loads are up to four
// times too high. The rules below were read off ptxas 13.0 for sm_80 with small PTX probes, each
// changed in one respect, and counted in the SASS of whole kernels
// (tests/tools/check_load_merging.py repeats it):
//
//   - Loads of one straight piece of code merge, in any order and at any distance, if their
//     addresses are the same register plus constants. Constants added to the address are seen
//     through. A constant added to an index before it is scaled is not; but one that `| 7` adds is,
//     which clang 22 writes for `+ 7` where it can and nvcc's front end does not (ptx/joined_sums.hpp). Nor do sums
//     of the same registers in another order differ in more than their constants (ptx/equal_sums.hpp).
//   - A piece ends at a block's end and at whatever may change shared memory or orders it: stores
//     and atomics on shared or generic addresses, barriers, bar.warp.sync, fences, cp.async and its
//     waits, stmatrix, calls (but see math_code.hpp). Global loads, stores and atomics, local memory, shuffles, votes and
//     ldmatrix do not end it. Nor does an `if` whose arms have none of these, no loop and no way out:
//     it goes on behind it, however long they are, and the arms have pieces of their own. Nor does a branch that lets
//     lanes end the kernel (`if (i >= n) return;`), a predicated EXIT in machine code.
//   - A window is four elements, at most 16 bytes, aligned to its own size. With three or four of
//     its elements wanted (two if the elements are 8 bytes) it becomes one load. Otherwise its
//     halves do, if both elements are wanted; anything else stays. So f32 and b32 give 64 or 128
//     bits, f64 gives 128, 16-bit elements give 32 or 64, and bytes never merge. Vector loads take
//     part with all their elements.
//   - The address must be known to be aligned to the window: static arrays lie one behind the other
//     in the order of their declaration (module scope first, then the kernel's own) at their
//     declared alignment, and ptxas knows where, so an array behind one of 20 bytes does not merge.
//     It merges by place alone: `__shared__ float mean, deviation` is one load of both.
//     Dynamic shared memory starts at a multiple of 16. The lowest bits of every register are
//     followed through sums, products and shifts, around loops too, so that a counter that steps by
//     2 from a base that is 4 mod 8 is known to stay there.
//   - Element size counts, not type: a u32 and an f32 merge, an f64 and two f32 do not. A b64 of which only the halves
//     are used is two elements of 4 bytes: so clang 22 loads small structs, where nvcc loads their members. The
//     register must be as wide as the element (a 64-bit one that is only packed with another stands for a
//     member of a small struct, which clang passes as one number), and 16-bit elements must not be used by integer
//     arithmetic, for which ptxas extends them one by one; conversions to floating point take them
//     as they are. Two loads of one element become one.
//   - volatile, acquire and predicated loads are left alone (ptxas does merge some predicated
//     ones).
//
// Loads from local memory differ in this, which was read off ptxas 13.0 for sm_80 and sm_90, which do the same. (Of 157
// probes in PTX of such loads and stores, most of them in tests/local_merging_test.cpp, 147 come out here as there.)
//
//   - Only all four elements of a window make one load, not three: nothing is loaded that nobody wants.
//   - A piece ends at stores to local memory instead of shared, and goes on behind ld.acquire.
//   - A frame begins at a multiple of 8, or of what its variable says (local_arrays.hpp). ptxas gets what the front end of
//     nvcc makes, which has vectors already (local_vectors.hpp).
//
// What nvcc moves before an `if` belongs to the piece around it (early_reads.hpp). Not modelled:
// ptxas merges across the copies of loops that it unrolls (ptx/unrolling.hpp); it sometimes takes a sum of two registers apart; and under register pressure
// it may choose otherwise.
// Checked in three ways: the fixtures of tests/load_merging_test.cpp, exactly; 242 kernels of clang
// 14 and 22 against the SASS that ptxas makes of the same PTX (tests/tools/check_load_merging.py):
// 140 agree; in others ptxas unrolled a loop, whose loads then come several times, or did not prove
// an alignment that the model proves; and `make verify-counts`: the labs as nvcc compiles them,
// counted on an H200, where it does prove those. The model takes the side of nvcc.
#pragma once

#include <vector>

#include "common/simgpu/count/merged_access.hpp"
#include "common/simgpu/count/narrowed_loads.hpp"
#include "common/simgpu/ptx/module.hpp"

namespace simgpu::count {

/// One entry per instruction of `function.body`, of which only ld.shared have bytes. A lone load leads itself with its own width.
/// `narrowed` as find_narrowed_loads has them.
std::vector<MergedAccess> merge_shared_loads(const ptx::Module& module,
                                             const ptx::Function& function,
                                             std::vector<NarrowedLoad> narrowed);

/// The same of ld.local, `vectors` as find_local_vectors has them.
std::vector<MergedAccess> merge_local_loads(const ptx::Module& module,
                                            const ptx::Function& function,
                                            const std::vector<Vector>& vectors);

}  // namespace simgpu::count
