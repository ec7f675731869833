// Findings and counts as a person at a terminal reads them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "common/simgpu/device.hpp"

namespace simgpu::runtime {

/// "vectors.cu:12: out-of-bounds: <the finding's sentence>", then kernel, thread, block and the
/// other party, each line indented. Ends with a newline.
std::string describe(const Finding& finding);

/// The error that CUDA would report for a launch with these findings, as an int of cudaError_t; 0
/// if none.
int fault_of(const LaunchReport& report);

/// "vectors.cu:12": the file without its folders.
std::string place(const SourceLine& where);

/// 1234567 as "1 234 567".
std::string grouped(std::uint64_t n);

/// An array with an object per launch, its counts under the names of simgpu::Counts.
void print_json(std::FILE* out, const std::vector<LaunchReport>& reports);

}  // namespace simgpu::runtime
