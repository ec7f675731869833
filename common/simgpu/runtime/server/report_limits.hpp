// What the reports of one call may hold together: four thousand launches of a kernel with a thousand
// lines would fill the memory of whoever receives them. Counts are always complete.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "common/simgpu/report.hpp"

namespace simgpu::runtime {

class ReportLimits {
 public:
  /// Appends a report to those of the call, without what goes beyond the limits.
  void add(LaunchReport report, std::vector<LaunchReport>& launches);

 private:
  std::size_t lines_ = 0, samples_ = 0, buffers_ = 0, printed_ = 0;
  std::map<FindingKind, std::size_t> findings_;
};

}  // namespace simgpu::runtime
