// From counters per basic block and per instruction to counts per source line and in total.
#pragma once

#include "common/simgpu/exec/launch_run.hpp"
#include "common/simgpu/report.hpp"

namespace simgpu::exec {

/// Adds up what the tallies of memory instructions still hold; before add.
void settle_all(const Program& program, Counters& counters);
void add(Counters& to, const Counters& from);
/// `samples`: with room for one example of each memory instruction.
Counters make_counters(const Program& program, std::size_t allocations, bool samples = false);
void fold(const LaunchRun& run, const Counters& counters, LaunchReport& report);

}  // namespace simgpu::exec
