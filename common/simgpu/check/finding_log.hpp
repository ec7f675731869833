// Collects what goes wrong during a launch. One entry per kind and place; the first thread that hit
// it (by block, then in running order) stands for the others, which are counted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "common/simgpu/report.hpp"

namespace simgpu::check {

class FindingLog {
 public:
  /// `make` builds the Finding and is called only when this one is to be kept. `other_pc`
  /// UINT32_MAX = none.
  template <class Make>
  void add(FindingKind kind, std::uint32_t pc, std::uint32_t other_pc, std::uint64_t block,
           Make make) {
    Entry& e = entries_[{kind, pc, other_pc}];
    if (e.count == 0 || block < e.block) {
      e.finding = make();
      e.finding.kind = kind;
      e.finding.block_number = e.block = block;
      e.finding.sequence = ++sequence_;
    }
    ++e.count;
  }
  bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }
  /// Whether there is a finding for which `which(finding, pc)` is true, and to leave out all such.
  template <class Which>
  bool any(Which which) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const auto& e) {
      return which(e.second.finding, std::get<1>(e.first));
    });
  }
  template <class Which>
  void drop(Which which) {
    std::erase_if(entries_,
                  [&](const auto& e) { return which(e.second.finding, std::get<1>(e.first)); });
  }
  /// The same by the instruction of the other party.
  template <class Which>
  void drop_by_other(Which which) {
    std::erase_if(entries_,
                  [&](const auto& e) { return which(e.second.finding, std::get<2>(e.first)); });
  }
  void merge(FindingLog&& other);

  /// One finding per kind and pair of source lines, sorted by place, at most `per_kind` of a kind.
  std::vector<Finding> report(unsigned per_kind) const;

 private:
  struct Entry {
    Finding finding;
    std::uint64_t block = 0, count = 0;
  };
  std::map<std::tuple<FindingKind, std::uint32_t, std::uint32_t>, Entry> entries_;
  std::uint64_t sequence_ = 0;
};

}  // namespace simgpu::check
