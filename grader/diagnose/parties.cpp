// Two threads that store to one place: what they should have asked of their indices, and which of
// two findings is the cause of the other.
#include <algorithm>
#include <cstdint>

#include "grader/diagnose/hypotheses.hpp"
#include "grader/diagnose/wording.hpp"
#include "grader/messages.hpp"

namespace grader::diag {
namespace {

using simgpu::AccessType;
using simgpu::Finding;
using simgpu::FindingKind;

bool both_store(const Finding& finding) {
  return finding.kind == FindingKind::global_race && finding.other &&
         finding.at.type == AccessType::store && finding.other->type == AccessType::store;
}

}  // namespace

bool stored_twice(const Run& run) {
  for (const simgpu::LaunchReport& launch : run.launches)
    for (const Finding& finding : launch.findings)
      if (both_store(finding) && finding.at.object == "C") return true;
  return false;
}

const Finding* first_cause(const std::vector<simgpu::LaunchReport>& launches) {
  const Finding* const worst = worst_finding(launches);
  if (worst == nullptr || worst->kind != FindingKind::uninitialised_read) return worst;
  for (const simgpu::LaunchReport& launch : launches)
    for (const Finding& finding : launch.findings)
      if (both_store(finding) && finding.at.object == worst->at.object) return &finding;
  return worst;
}

void ask_of_parts(const Tile& tile, const Finding& finding, Diagnosis& d) {
  if (both_store(finding) && finding.at.object.starts_with("scratch "))
    d.next_step = messages::text(finding.at.block == finding.other->block ? "RACE-WAW.scratch.next"
                                                                          : "RACE-WAW.parts.next");
  // With tensor cores a thread has no rectangle of its own.
  if (!both_store(finding) || finding.at.object != "C" || tile.wm > 0) return;
  const simgpu::Access &one = finding.at, &other = *finding.other;
  if (one.block != other.block) return;
  const auto apart = [](std::uint32_t x, std::uint32_t y) { return x < y ? y - x : x - y; };
  const std::uint32_t x = apart(one.thread.x, other.thread.x),
                      y = apart(one.thread.y, other.thread.y);
  if ((x == 0) == (y == 0) || one.thread.z != other.thread.z) return;
  const std::vector<messages::Gap> gaps = {{"difference", y > 0 ? "threadIdx.y" : "threadIdx.x"},
                                           {"steps", y > 0 ? y : x}};
  if (tile.tm < 2 && tile.tn < 2) {
    d.next_step = messages::text("RACE-WAW.element.next", gaps);
    return;
  }
  if (tile.tn < 1) return;
  // Blocks of a single row of threads: so many of them share a row of the tile.
  const auto across = static_cast<std::uint32_t>(tile.bn / tile.tn);
  const bool beyond_row = std::max(one.thread.x, other.thread.x) >= across && across > 0;
  if (beyond_row && one.thread.x / across != other.thread.x / across && x % across != 0) return;
  const bool rows = y > 0 || (beyond_row && x % across == 0);
  d.next_step = messages::text(rows ? "RACE-WAW.rows.next" : "RACE-WAW.columns.next", gaps);
}

}  // namespace grader::diag
