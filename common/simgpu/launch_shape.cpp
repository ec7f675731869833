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

Dim3 grid_in_blocks(Dim3 clusters, Dim3 cluster) {
  const auto times = [](std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(std::uint64_t{a} * std::max(b, 1u), UINT32_MAX));
  };
  return {times(clusters.x, cluster.x), times(clusters.y, cluster.y), times(clusters.z, cluster.z)};
}

Cluster cluster_of(const DeviceModel& model, Dim3 required, const LaunchOptions& options,
                   Dim3 grid) {
  const Dim3 asked = options.cluster;
  Cluster c;
  c.is_explicit = asked.x != 0 || required.x != 0;
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

namespace {
/// Whether each cluster has higher block numbers than the cluster before it. Of two samples that are
/// as bad as each other the one of the lower block is kept, whoever ran first only then.
bool in_order(const Cluster& c, Dim3 grid) {
  const bool row = grid.x == c.blocks.x, plane = row && grid.y == c.blocks.y;
  return (c.blocks.y == 1 || row) && (c.blocks.z == 1 || plane);
}
}  // namespace

std::uint64_t parallel_parts(const LaunchOptions& options, const Cluster& c, Dim3 grid) {
  if (options.sample_accesses && !in_order(c, grid)) return 1;
  return std::uint64_t{grid.x} * grid.y * grid.z / c.count;
}

}  // namespace simgpu
