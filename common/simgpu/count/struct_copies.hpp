// Which global accesses of vectors of 1- and 2-byte elements nvcc makes as one.
//
// A struct of eight halves, alignas(16), is copied by clang 14 as two accesses of four elements, since its
// PTX has no vectors of eight. nvcc's front end copies it as 4 x 32 bits, and so does clang 22: one request
// per warp, not two. What PTX does not say is whether the struct is aligned. So only where it goes is
// known beforehand; whether all lanes' addresses are aligned is seen when they are there.
//
// Checked against nvcc 13.0's PTX and the profiler's counts on an H200 of a kernel with alignas(16) structs
// of 8 halves: 168 load requests and 84 store requests, here 336 and 126 without this rule.
#pragma once

#include <cstdint>
#include <vector>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::count {

/// The part of a wider access that an instruction is, if all lanes' wider accesses are aligned to their
/// size.
struct PartOfCopy {
  std::uint8_t whole =
      0;  ///< bytes per lane of the wider access; 0: the instruction is no part of one
  std::uint8_t place = 0;  ///< bytes from its beginning to this part: 0 leads, the others follow
};

/// One entry per instruction of `function.body`. Parts lie in one straight piece of code, at one register
/// plus constants, and nothing between them may change or order what they reach.
std::vector<PartOfCopy> find_struct_copies(const ptx::Function& function);

}  // namespace simgpu::count
