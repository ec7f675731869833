#include "common/simgpu/launch_shape.hpp"

#include <algorithm>

namespace simgpu {

std::string text(const Dim3& d) {
  std::string s = "(";
  s += std::to_string(d.x);
  for (const std::uint32_t v : {d.y, d.z}) {
    s += ", ";
    s += std::to_string(v);
  }
  return s += ")";
}

Cluster cluster_of(const DeviceModel& model, Dim3 required, const LaunchOptions& options,
                   Dim3 grid) {
  const Dim3 asked = options.cluster;
  Cluster c;
  c.blocks = asked.x != 0 ? asked : required;
  for (std::uint32_t* extent : {&c.blocks.x, &c.blocks.y, &c.blocks.z, &required.y, &required.z})
    *extent = std::max(*extent, 1u);
  const Dim3& b = c.blocks;
  const std::uint64_t most = model.blocks_per_cluster;
  if (asked.x != 0 && required.x != 0 && !(b == required))
    c.problem = "clusters of " + text(b) + " are not the " + text(required) + " it requires";
  else if (b.x > most || b.y > most || b.z > most || std::uint64_t{b.x} * b.y * b.z > most)
    c.problem = "a cluster has at most " + std::to_string(most) + " blocks, not " + text(b);
  else if (grid.x % b.x != 0 || grid.y % b.y != 0 || grid.z % b.z != 0)
    c.problem = "the grid " + text(grid) + " is no multiple of its clusters of " + text(b);
  else
    c.count = b.x * b.y * b.z;
  return c;
}

}  // namespace simgpu
