// Loads and stores that together update a place in memory: `*count += 1`.
#pragma once

#include <vector>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::ptx {

/// By instruction: whether it is a load that a store of the same line, type and address follows
/// within its stretch of straight code, or such a store.
std::vector<bool> find_updates(const Function& function);

}  // namespace simgpu::ptx
