// Calls of the engine's mathematical functions (exec/math_calls.hpp), which nvcc has as code in their place.
//
// Such code has branches, or a slow path for arguments that are rare, or neither. Loads from shared memory before and behind
// it become one all the same, stores only where it has none that ptxas keeps. Read off nvcc 13.0 for sm_90, with each
// function in a loop of four turns that loads the neighbours it takes, and in one that stores what it returns. sinf, cosf and
// tanf keep both apart: their slow path has a table of its own in local memory. All others are calls like any other.
#pragma once

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::count {

/// Whether `instruction` calls a function across which shared loads become one.
bool loads_pass(const ptx::Module& module, const ptx::Instruction& instruction);

/// The same of stores.
bool stores_pass(const ptx::Module& module, const ptx::Instruction& instruction);

}  // namespace simgpu::count
