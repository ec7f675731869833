// Multiply-adds that nvcc writes as two sums: 2 x - y becomes (x + x) - y.
//
// In nvcc 13.0 a product with 2 is replaced by a sum before differences are joined with products; where it is one term
// of a sum, y + 2 x, it is joined first and stays a multiply-add. clang joins both. Seen in the machine code for sm_90 of
// 40 expressions in float and double: 2 x - y, y - 2 x, 1 - 2 x, y + -2 x and sums of them are FADDs; y + 2 x, 2 x - 1,
// -2 x - y, and 4 x - y are FFMAs. The same fma called by name (fmaf) stays one in nvcc and cannot be told from these.
// On an H200: 2 of 3 multiply-adds of a wave equation's 2 u - before + c (...), which counted as 3.
#pragma once

#include <vector>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::count {

/// By instruction of `function.body`: whether it is such a multiply-add.
std::vector<bool> find_doubled_sums(const ptx::Function& function);

}  // namespace simgpu::count
