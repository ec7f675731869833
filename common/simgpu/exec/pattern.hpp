// Address patterns: what is known of how the 32 addresses of a memory instruction lie to each other. Most executions repeat
// the pattern of the one before, so bank conflicts, sectors and bounds are worked out once per pattern.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/simgpu/exec/op.hpp"

namespace simgpu::exec {

struct PatternCache {
};

}  // namespace simgpu::exec
