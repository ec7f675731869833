// How many blocks a kernel with __cluster_dims__ has in a cluster. clang has no attribute for that:
// include/simgpu/attributes.h marks the kernel's name, and compiled once more with
// -D__SIMGPU_CLUSTER_PASS the same file has the numbers in place of launch bounds. Whoever compiles
// appends that text to the code, behind kClusters.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace simgpu::ptx {

constexpr std::string_view kClusters = "\n//simgpu: clusters\n";

/// Whether a kernel's mangled name, or one in a text, says that it has clusters.
bool has_clusters(std::string_view mangled);

/// "_Z1kB12cluster_dimsILi2EEvPi" -> "_Z1kILi2EEvPi", as nvcc names it.
std::string without_cluster_tag(std::string mangled);

/// Blocks along x, y, z of each kernel in what stands behind kClusters; the text outlives it. What is
/// no such text has none.
using Clusters = std::map<std::string_view, std::array<std::uint32_t, 3>>;
Clusters read_clusters(std::string_view text);

}  // namespace simgpu::ptx
