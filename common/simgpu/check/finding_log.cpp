#include "common/simgpu/check/finding_log.hpp"

#include <algorithm>
#include <utility>

namespace simgpu::check {

void FindingLog::merge(FindingLog&& other) {
  for (auto& [key, theirs] : other.entries_) {
    Entry& mine = entries_[key];
    if (mine.count == 0 || theirs.block < mine.block) {
      mine.finding = std::move(theirs.finding);
      mine.block = theirs.block;
    }
    mine.count += theirs.count;
  }
  other.entries_.clear();
}

std::vector<Finding> FindingLog::report(unsigned per_kind) const {
  // Several instructions of one line tell one story.
  std::map<std::tuple<SourceLine, SourceLine, FindingKind>, Entry> lines;
  for (const auto& [key, e] : entries_) {
    // A race is the same whichever party came second.
    SourceLine at = e.finding.at.where,
               other = e.finding.other ? e.finding.other->where : SourceLine{};
    const bool race =
        e.finding.kind == FindingKind::shared_race || e.finding.kind == FindingKind::global_race;
    if (race && other < at) std::swap(at, other);
    Entry& line = lines[{at, other, e.finding.kind}];
    if (line.count == 0 || e.block < line.block) {
      line.finding = e.finding;
      line.block = e.block;
    }
    line.count += e.count;
  }
  std::vector<Finding> out;
  std::map<FindingKind, unsigned> shown;
  for (auto& [key, e] : lines) {
    if (shown[e.finding.kind]++ >= per_kind) continue;
    out.push_back(std::move(e.finding));
    out.back().occurrences = e.count;
  }
  return out;
}

}  // namespace simgpu::check
