// What other parts need to know of a warp's matrix multiply-adds.
#pragma once

#include <string>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::exec {

/// Key of Counts::tensor_ops for an mma or wmma.mma: the type of A and B ("s8" and "s4" also when
/// only one of them is signed), with ".f16" behind "f16" if the accumulators are FP16.
std::string tensor_type(const ptx::Instruction& ins);

/// 2 * m * n * k.
std::uint64_t tensor_operations(const ptx::Instruction& ins);

}  // namespace simgpu::exec
