#include "common/simgpu/runtime/server/report_limits.hpp"

#include <algorithm>
#include <utility>

namespace simgpu::runtime {
namespace {

constexpr std::size_t kMaxLines = 100000;  ///< and as many samples
constexpr std::size_t kMaxBuffers = 50000;
constexpr std::size_t kMaxFindingsOfAKind = 256;
constexpr std::size_t kMaxPrinted = 256u << 10;

void add_to(LaunchReport& report, const BufferCounts& part) {
  for (BufferCounts& own : report.buffers)
    if (own.base == part.base) {
      own.load += part.load;
      own.store += part.store;
      own.atomic += part.atomic;
      own.fetched += part.fetched;
      return;
    }
  report.buffers.push_back(part);
}

}  // namespace

void ReportLimits::add(LaunchReport report, std::vector<LaunchReport>& launches) {
  const auto drop = [](auto& list, std::size_t& sum, std::size_t most) {
    if (sum + list.size() > most) list.clear();
    sum += list.size();
  };
  drop(report.lines, lines_, kMaxLines);
  drop(report.samples, samples_, kMaxLines);
  drop(report.printf_output, printed_, kMaxPrinted);
  // Of each kind: many harmless ones must not hide another.
  auto& found = report.findings;
  found.erase(std::remove_if(found.begin(), found.end(),
                             [&](const Finding& finding) {
                               return ++findings_[finding.kind] > kMaxFindingsOfAKind;
                             }),
              found.end());
  // The first launch may have as many as there are allocations: nobody else's hold them.
  if (buffers_ + report.buffers.size() > kMaxBuffers && !launches.empty()) {
    for (const BufferCounts& part : report.buffers) add_to(launches.front(), part);
    report.buffers.clear();
  }
  buffers_ += report.buffers.size();
  launches.push_back(std::move(report));
}

}  // namespace simgpu::runtime
