// Which pieces of a struct's copy nvcc makes as one access.
//
// A struct of eight halves, alignas(16), is copied by clang 14 as two accesses of four elements, since its
// PTX has no vectors of eight. Any struct of 16 bytes that is copied as a whole from memory to memory, both
// versions copy by 8 bytes: the upper ones are read and written, then the lower ones. nvcc's front end copies
// each as 4 x 32 bits, ptxas as one access of 16 bytes, in global and shared memory alike. What PTX does not
// say is whether the struct is aligned. So only where it goes is known beforehand; whether all lanes'
// addresses are aligned is seen when they are there. A struct of two doubles without alignas(16) that happens
// to lie so counts as one access here, and nvcc makes it two.
//
// Checked against nvcc 13.0's PTX and machine code for sm_90: structs of halves, floats, bytes, doubles and
// mixed members, static and dynamic shared memory: LDG.128, STS.128, LDS.128, STG.128 in each of them.
// Of a float4 or its like of which three words are used, nvcc reads all four, clang 14 two and one.
// On an H200, 168 load requests and 84 store requests, where 336 and 126 were counted without this rule.
#pragma once

#include <cstdint>
#include <vector>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::count {

/// The part of a wider access that an instruction is, if all lanes' wider accesses are aligned to their
/// size.
struct PartOfCopy {
  /// bytes per lane of the wider access; 0: the instruction is no part of one
  std::uint8_t whole = 0;
  std::uint8_t place = 0;  ///< bytes from its beginning to this part: 0 leads, the others follow
};

/// One entry per instruction of `function.body`. Parts lie in one straight piece of code, at one register
/// plus constants, and nothing between them may change or order what they reach.
std::vector<PartOfCopy> find_struct_copies(const ptx::Function& function);

}  // namespace simgpu::count
