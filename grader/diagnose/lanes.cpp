// Which lanes of a warp make an access in shared memory that goes too far, and where the fragment that they load begins.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include <fmt/core.h>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader::diag {
namespace {

/// Elements that the lanes of one warp reach by the access `at`, counted from the beginning of its array.
struct LaneElements {
  std::array<std::int64_t, 32> element{};
  std::uint32_t mask = 0;
  std::int64_t each = 1;  ///< elements per lane
  bool has(unsigned lane) const { return ((mask >> lane) & 1u) != 0; }
};

/// Empty if that cannot be seen.
std::optional<LaneElements> lanes_of_access(const Evidence& evidence, const Run& run,
                                            const simgpu::LaunchReport& launch,
                                            const simgpu::Access& at, std::int64_t width) {
  const auto thread = static_cast<unsigned>(number_of(at, launch.block));
  const auto again = evidence.follow(run, {at.block, thread / 32});
  if (!again) return std::nullopt;
  const auto start = static_cast<std::int64_t>(at.address) - at.offset;
  for (const simgpu::LaunchReport& one : again->launches)
    for (const simgpu::AccessSample& s : one.samples) {
      if (one.kernel != launch.kernel || !(s.where == at.where) || s.type != at.type ||
          s.space != at.space)
        continue;
      LaneElements found;
      found.mask = s.mask;
      found.each = std::max<std::int64_t>(1, s.bytes / width);
      for (unsigned lane = 0; lane < 32; ++lane)
        if (found.has(lane))
          found.element[lane] = (static_cast<std::int64_t>(s.address[lane]) - start) / width;
      const std::int64_t mine = at.offset / width, first = found.element[thread % 32];
      if (found.has(thread % 32) && first <= mine && mine < first + found.each) return found;
    }
  return std::nullopt;
}

}  // namespace

void ask_of_fragment_begin(const Evidence& evidence, const Run& run,
                           const simgpu::LaunchReport& launch, const simgpu::Finding& finding,
                           Diagnosis& d) {
  const std::int64_t width = width_of(finding.at, evidence.type),
                     length = stored_row_length(finding, width);
  if (length < 2) return;
  const auto lanes = lanes_of_access(evidence, run, launch, finding.at, width);
  if (!lanes || lanes->mask != ~0u) return;
  const std::int64_t begin = *std::min_element(lanes->element.begin(), lanes->element.end()),
                     col = begin % length;
  std::int64_t end = 0;  // behind the fragment's last column
  for (const std::int64_t e : lanes->element) end = std::max(end, e % length + lanes->each);
  const std::int64_t count = end - col;
  // Where a row ends before the fragment does, its other columns lie in the next one.
  if (begin < 0 || count < 2 || count > 16 || col % count == 0 || end > length) return;
  d.next_step = messages::text("UNINIT.fragment.step.next",
                               {{"column", col}, {"count", count}, {"length", length}});
}

std::string lanes_of_row(const Evidence& evidence, const Run& run,
                         const simgpu::LaunchReport& launch, const simgpu::Access& at,
                         std::int64_t begin, std::int64_t columns) {
  const auto lanes =
      lanes_of_access(evidence, run, launch, at, static_cast<std::int64_t>(size_of(evidence.type)));
  if (!lanes || lanes->mask != ~0u || columns < 1) return "";
  const auto row = [&](unsigned lane) { return (lanes->element[lane] - begin) / columns; };
  for (const unsigned group : {4u, 8u, 16u}) {
    bool counted = true;
    for (unsigned lane = 0; lane < 32; ++lane)
      counted = counted && row(lane) == row(0) + lane / group;
    if (counted)
      return " " +
             messages::text(
                 "ASYNC-NOT-WAITED.left.lanes",
                 {{"group", group}, {"rows", 32 / group}, {"first", row(0)}, {"last", row(31)}});
  }
  return "";
}

}  // namespace grader::diag
