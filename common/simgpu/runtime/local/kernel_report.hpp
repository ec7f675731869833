// Counts of a whole program as a person at a terminal reads them: per kernel, over all its launches.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "common/simgpu/device.hpp"

namespace simgpu::runtime {

/// What one kernel did in all launches of a program.
class KernelTotals {
 public:
  explicit KernelTotals(const LaunchReport& first);
  void add(const LaunchReport& launch);
  const std::string& name() const { return kernel_; }
  /// A block of lines; `by_line`: and a table of its source lines.
  void print(std::FILE* out, bool by_line) const;

 private:
  void print_lines(std::FILE* out) const;

  std::string kernel_;
  std::uint64_t launches_ = 0;
  Dim3 grid_, block_;
  bool one_shape_ = true;       ///< every launch had this grid and block
  unsigned shared_bytes_ = 0;   ///< static and dynamic, the most of any launch
  RegisterEstimate registers_;  ///< of the first launch
  Counts total_;
  std::map<SourceLine, Counts> lines_;
};

/// Totals of all kernels, in the order of their first launches.
class ProgramReport {
 public:
  void add(const LaunchReport& launch);
  void print(std::FILE* out, bool by_line) const;

 private:
  std::uint64_t launches_ = 0;
  std::vector<KernelTotals> kernels_;
};

}  // namespace simgpu::runtime
