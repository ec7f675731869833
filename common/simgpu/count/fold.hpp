// From counters per basic block and per instruction to counts per source line and in total.
#pragma once

#include "common/simgpu/device.hpp"
#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::count {

/// Adds up what the tallies of memory instructions still hold; before add.
void settle_all(const exec::Program& program, exec::Counters& counters);
void add(exec::Counters& to, const exec::Counters& from);
/// `samples`: with room for one example of each memory instruction.
exec::Counters make_counters(const exec::Program& program, std::size_t allocations,
                             bool samples = false);
void fold(const exec::LaunchRun& run, const exec::Counters& counters, LaunchReport& report);

}  // namespace simgpu::count
