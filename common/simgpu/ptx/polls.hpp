// Which loads wait: those whose value decides whether their own loop goes on.
#pragma once

#include <vector>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::ptx {

/// By instruction: whether it is a volatile or relaxed load in a loop whose branches depend on what it brings. What
/// such a load sees may be as old as it likes: it comes again. Where that is not known, it counts as one.
std::vector<bool> find_polls(const Function& function);

}  // namespace simgpu::ptx
