// The shape of a launch: how its grid is cut into clusters, and which shapes are refused (CUDA C++
// Programming Guide, "Thread Block Clusters").
#pragma once

#include <string>

#include "common/simgpu/options.hpp"

namespace simgpu {

std::string text(const Dim3& d);  ///< "(2, 1, 1)"

/// Converts a grid that is given in clusters (.blocksareclusters) to blocks. Saturates, so that a
/// grid which is too large does not become a legal one.
Dim3 grid_in_blocks(Dim3 clusters, Dim3 cluster);

/// The cluster of a launch: what the launch asks for, else what the kernel requires (0 = nothing).
struct Cluster {
  Dim3 blocks;
  unsigned count = 1;        ///< of them in all
  bool is_explicit = false;  ///< the launch or the kernel says how large it is
  std::string problem;       ///< why the launch is refused; "" = it is not
};
Cluster cluster_of(const DeviceModel& model, Dim3 required, const LaunchOptions& options,
                   Dim3 grid);

/// How many parts of the grid (blocks or clusters) may run at the same time on host threads.
std::uint64_t parallel_parts(const LaunchOptions& options, const Cluster& c, Dim3 grid);

}  // namespace simgpu
