// What the CPU of this machine does with the same product: a triple loop, and OpenBLAS where it is
// installed. Both are checked before they are timed.
#pragma once

#include <string>

#include "grader/bench/record.hpp"

namespace grader::bench {

class CpuMeter {
 public:
  CpuMeter();
  ~CpuMeter();
  CpuMeter(const CpuMeter&) = delete;
  CpuMeter& operator=(const CpuMeter&) = delete;

  /// OpenBLAS's own name and build; "" if libopenblas.so.0 is not installed.
  const std::string& openblas() const { return openblas_; }
  const std::string& openblas_trouble() const { return trouble_; }  ///< why not
  unsigned openblas_threads() const;

  /// Median of a few runs. `estimate_ms`: what one run will take, 0 = unknown; a longer one than
  /// `most_ms` is skipped.
  CpuRecord measure(const CpuPoint& point, double estimate_ms, double most_ms) const;

 private:
  void* library_ = nullptr;
  std::string openblas_, trouble_;
};

/// "Intel(R) Xeon(R) ...", from /proc/cpuinfo; "unknown" elsewhere.
std::string cpu_name();

}  // namespace grader::bench
