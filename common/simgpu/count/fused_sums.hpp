// Products and sums that ptxas joins to multiply-adds, or leaves apart, otherwise than clang.
//
// clang joins a product with the sums of its own basic block, also where the product is needed besides. nvcc leaves
// both as they are, and ptxas joins: a product goes into all the sums that use it, in whatever block, or into none.
// It goes into them if nothing else uses it and either one factor is a constant or a parameter, so that no more
// registers are live, or all sums are in one block that is not in a loop of its own. Seen in the machine code of 20
// kernels by ptxas 13.0 for sm_90: x = s * i before a loop of y - x is an FFMA in each round if s is a parameter, and
// an FADD if both were loaded; re * re, used by a test and by the round behind it, stays an FMUL and two FADDs.
#pragma once

#include <cstdint>
#include <vector>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::count {

enum class Fusion : std::uint8_t {
  as_written,
  joined,    ///< a sum or difference that takes a product in: a multiply-add
  apart,     ///< a multiply-add whose product is computed anyway: a sum
  taken_in,  ///< a product that is part of all its sums: nothing
};

/// By instruction of `function.body`.
std::vector<Fusion> find_fusions(const ptx::Function& function);

}  // namespace simgpu::count
