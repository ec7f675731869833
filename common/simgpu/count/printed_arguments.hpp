// Which stores to local memory only hand arguments to printf. Compilers gather them in an array there, on hardware, too, and
// so every printf in a kernel stores to local memory; that says nothing about the arrays of the program.
#pragma once

#include <vector>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::count {

/// By instruction: whether it stores to an array that is handed to vprintf. Empty where nothing is printed.
std::vector<bool> find_printed_arguments(const ptx::Module& module, const ptx::Function& function);

}  // namespace simgpu::count
