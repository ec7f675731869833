// Which of all findings is told first.
#include <vector>

#include "grader/diagnose/diagnose.hpp"

namespace grader::diag {

using simgpu::Finding;
using simgpu::FindingKind;

namespace {

/// Smaller is reported first: causes before their consequences.
int rank(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::null_pointer:
    case FindingKind::host_pointer:
    case FindingKind::use_after_free:
    case FindingKind::unsupported:
      return 0;
    case FindingKind::misaligned:
      return 1;
    case FindingKind::write_to_constant:
      return 2;
    // Threads that pass by a barrier meet the wrong one later, and are gone when the others reach
    // the last.
    case FindingKind::divergent_barrier:
      return 3;
    case FindingKind::mismatched_barrier:
      return 4;
    case FindingKind::exited_before_barrier:
      return 5;
    case FindingKind::out_of_bounds:
      return 6;
    case FindingKind::trap:
    case FindingKind::assertion:
    case FindingKind::stack_overflow:
    case FindingKind::division_by_zero:
      return 7;
    // Before the race: what was not waited for often lacks its barrier as well.
    case FindingKind::proxy_fence_missing:
    case FindingKind::swizzle_mismatch:
    case FindingKind::product_registers:
      return 8;
    case FindingKind::async_not_waited:
      return finding.other ? 8 : 14;  // without a reader: still under way when its block ended
    case FindingKind::shared_race:
      return 9;
    case FindingKind::deadlock:
      return 10;
    case FindingKind::uninitialised_read:
      return 11;
    case FindingKind::global_race:
      return 12;
    case FindingKind::budget_exceeded:
      return 13;
    default:
      return 99;
  }
}

}  // namespace

const Finding* worst_finding(const std::vector<simgpu::LaunchReport>& launches) {
  const Finding* worst = nullptr;
  for (const simgpu::LaunchReport& launch : launches)
    for (const Finding& finding : launch.findings)
      if (!is_estimate(finding.kind) && (worst == nullptr || rank(finding) < rank(*worst)))
        worst = &finding;
  return worst;
}

}  // namespace grader::diag
