// What a launch's accesses of global memory mean once all of its blocks have run: may several blocks
// have used a place in ways that are a race?
#pragma once

#include <memory>
#include <vector>

#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {

/// Whether a race between blocks is likely. (What one host thread sees is in LaunchRun::suspicious.)
bool blocks_may_race(const std::vector<std::unique_ptr<Worker>>& workers,
                     const memory::GlobalMemory& memory);

/// What the workers' blocks have read and written, by plain accesses of `granule` bytes. Nothing, if it is in too
/// many pieces.
std::vector<TouchedBytes> touched_bytes(const std::vector<std::unique_ptr<Worker>>& workers,
                                        const memory::GlobalMemory& memory, unsigned granule);

/// Whether an allocation was read and stored to and its readers were not kept, so that nothing is
/// known yet. It keeps them from now on. `all`: so do all others.
bool missed_readers(memory::GlobalMemory& memory, bool all);

/// For exact mode: shadows of the allocations that the launch has written, by live index.
using ExactShadows = std::vector<std::unique_ptr<check::ExactShadow>>;
ExactShadows exact_shadows(const Program& program, const memory::GlobalMemory& memory);

}  // namespace simgpu::exec
