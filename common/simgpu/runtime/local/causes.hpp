// Which findings of a launch are shown, and in which order.
#pragma once

#include <vector>

#include "common/simgpu/device.hpp"

namespace simgpu::runtime {

/// The cause comes before what follows from it: a value that nothing has set, else what was seen first. But who
/// reads too early, because a barrier is missing, is seen before the write that makes it a race.
/// What only follows from a copy that was not waited for is left out: races with the copy, places
/// that it has not filled yet, and more of the same.
void put_causes_first(std::vector<Finding>& findings);

}  // namespace simgpu::runtime
