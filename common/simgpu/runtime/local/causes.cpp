#include "common/simgpu/runtime/local/causes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace simgpu::runtime {
namespace {

/// A copy that was not waited for: where it stands, and what it fills.
struct EarlyCopy {
  SourceLine copy, reader;
  std::string object;
  FindingCause cause;
};

/// Whether a copy that is told of already says all that `f` does.
bool follows_from(const Finding& f, const EarlyCopy& early) {
  const auto stands_at = [&](const SourceLine& line) {
    return line.line != 0 && (f.at.where == line || (f.other && f.other->where == line));
  };
  switch (f.kind) {
    case FindingKind::shared_race:
      return f.at.object == early.object && stands_at(early.copy);
    case FindingKind::uninitialised_read:
      return f.cause != FindingCause::unset_value && f.at.space == MemorySpace::shared &&
             f.at.object == early.object && stands_at(early.reader);
    case FindingKind::async_not_waited:
      return f.cause == early.cause && stands_at(early.copy);
    default:
      return false;
  }
}

void drop_consequences(std::vector<Finding>& findings) {
  std::vector<EarlyCopy> told;
  for (const Finding& f : findings) {
    if (f.kind != FindingKind::async_not_waited || !f.other) continue;
    const EarlyCopy early{f.other->where, f.at.where, f.at.object, f.cause};
    const bool is_known = std::any_of(told.begin(), told.end(),
                                      [&](const EarlyCopy& e) { return follows_from(f, e); });
    if (!is_known) told.push_back(early);
  }
  for (const EarlyCopy& early : told) {
    bool shown = false;
    std::erase_if(findings, [&](const Finding& f) {
      if (!follows_from(f, early)) return false;
      const bool is_first = !shown && f.kind == FindingKind::async_not_waited && f.other &&
                            f.other->where == early.copy && f.at.where == early.reader;
      shown |= is_first;
      return !is_first;
    });
  }
}

/// A sum over a warp by volatile accesses has a line for each step, and each line reads and writes: of one
/// object, the first says it all.
void drop_further_steps(std::vector<Finding>& findings) {
  std::map<std::string, Finding*> first;
  std::vector<Finding> kept;
  kept.reserve(findings.size());
  for (Finding& f : findings) {
    if (f.cause == FindingCause::lanes_in_step) {
      Finding*& told = first[f.at.object];
      if (told != nullptr) {
        told->occurrences += f.occurrences;
        continue;
      }
      kept.push_back(std::move(f));
      told = &kept.back();
    } else {
      kept.push_back(std::move(f));
    }
  }
  findings = std::move(kept);
}

}  // namespace

void put_causes_first(std::vector<Finding>& findings) {
  std::set<std::string> raced;
  for (const Finding& f : findings)
    if (f.kind == FindingKind::shared_race) raced.insert(f.at.object);
  const auto rank = [&](const Finding& f) {
    const bool too_early = f.kind == FindingKind::uninitialised_read &&
                           f.at.space == MemorySpace::shared && raced.count(f.at.object) != 0;
    return std::tuple(f.cause != FindingCause::unset_value, f.block_number, too_early, f.sequence);
  };
  std::vector<std::pair<decltype(rank(findings.front())), std::size_t>> order;
  for (const Finding& f : findings) order.emplace_back(rank(f), order.size());
  std::sort(order.begin(), order.end());
  std::vector<Finding> sorted;
  for (const auto& [first, k] : order) sorted.push_back(std::move(findings[k]));
  findings = std::move(sorted);
  drop_consequences(findings);
  drop_further_steps(findings);
}

}  // namespace simgpu::runtime
