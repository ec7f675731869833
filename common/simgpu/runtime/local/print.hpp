// Findings and counts as a person at a terminal reads them.
#pragma once

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

/// What SIMGPU_REPORT asks for.
enum class ReportStyle { none, launches, lines, json };

/// One row per launch, and per source line with ReportStyle::lines. ReportStyle::json: an array
/// with an object per launch, its counts under the names of simgpu::Counts.
void print_reports(std::FILE* out, const std::vector<LaunchReport>& reports, ReportStyle style);

}  // namespace simgpu::runtime
