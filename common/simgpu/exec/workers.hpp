// The host threads of a launch: what they own, how they run, and what they have found together.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/simgpu/exec/fold.hpp"
#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec {

/// One for each host thread.
std::vector<std::unique_ptr<Worker>> make_workers(LaunchRun& run, unsigned threads);
/// Runs the blocks of a launch to their end, the first worker on the calling thread. With fewer
/// threads than workers if the system gives no more. Rethrows what a worker threw (std::bad_alloc)
/// once all of them have stopped.
void run_on_threads(std::vector<std::unique_ptr<Worker>>& workers);

/// Runs a launch that `begin` makes of an empty one, from the memory as it was before it: once more
/// where it comes out late that an allocation must keep its readers.
std::unique_ptr<LaunchRun> run_launch(memory::GlobalMemory& memory, unsigned threads,
                                      std::vector<std::unique_ptr<Worker>>& workers,
                                      const std::function<void(LaunchRun&)>& begin);

/// What all workers of a launch have found, counted and printed.
struct Collected {
  check::FindingLog findings;
  Counters counters;
  std::string printed;  ///< by block, capped
};
/// `samples`: with the worst accesses.
Collected collect(const std::vector<std::unique_ptr<Worker>>& workers, const Program& program,
                  std::size_t allocations, bool samples);

}  // namespace simgpu::exec
