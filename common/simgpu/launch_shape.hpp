// The shape of a launch: how its grid is cut into clusters, and which shapes are refused (CUDA C++
// Programming Guide, "Thread Block Clusters").
#pragma once

#include <string>

#include "common/simgpu/options.hpp"

namespace simgpu {

std::string text(const Dim3& d);  ///< "(2, 1, 1)"

/// The grid in blocks of a launch that gives it in clusters (.blocksareclusters). What is too large
/// stays too large.
Dim3 grid_in_blocks(Dim3 clusters, Dim3 cluster);

/// The blocks of a cluster, each way: what the kernel requires, or the launch asks for (0 = nothing).
struct Cluster {
  Dim3 blocks;
  unsigned count = 1;   ///< of them in all
  std::string problem;  ///< why the launch is refused; "" = it is not
};
Cluster cluster_of(const DeviceModel& model, Dim3 required, const LaunchOptions& options,
                   Dim3 grid);

/// How many parts of the grid, blocks or clusters, may run on host threads of their own.
std::uint64_t parallel_parts(const LaunchOptions& options, const Cluster& c, Dim3 grid);

}  // namespace simgpu
