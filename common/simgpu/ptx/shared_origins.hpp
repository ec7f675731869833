// From which shared array an address comes. Arrays lie side by side, so that an index too large for one of them
// reaches the next, where something is: only the text says which one was meant.
#pragma once

#include <cstdint>
#include <vector>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::ptx {

inline constexpr std::uint32_t kNoOrigin = UINT32_MAX;

/// By instruction: the .shared variable (index into Module::variables) that its address operand is an element
/// of, else kNoOrigin: if it is no access, may be of several, or was computed in another way than by adding to
/// the variable's address.
std::vector<std::uint32_t> find_shared_origins(const Module& module, const Function& function);

}  // namespace simgpu::ptx
