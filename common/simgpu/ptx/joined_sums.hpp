// Sums that the compiler writes as `|`: from (t & ~15) + 15 clang 22 makes t | 15, and the register that
// held t & ~15 and the new one are no longer seen to be a constant apart.
#pragma once

#include <cstdint>
#include <vector>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::ptx {

/// One register as another one plus a constant.
struct Shifted {
  std::uint32_t reg = 0;
  std::int64_t offset = 0;
};

/// By register: where a constant that `|` added was carried through products and sums, the register that
/// computes the same without it; else itself. `definition` has the only, unguarded definition of a
/// register, or UINT32_MAX.
std::vector<Shifted> undo_joined_sums(const Function& function,
                                      const std::vector<std::uint32_t>& definition);

}  // namespace simgpu::ptx
