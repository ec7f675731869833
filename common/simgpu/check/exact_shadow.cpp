#include "common/simgpu/check/exact_shadow.hpp"

#include <algorithm>

namespace simgpu::check {

void BlockOrder::atomic(std::uint64_t address) {
  std::vector<std::uint64_t>& addresses = launch_->addresses;
  const auto it = std::find(addresses.begin(), addresses.end(), address);
  const auto number = static_cast<std::size_t>(it - addresses.begin());
  if (it == addresses.end()) {
    if (addresses.size() >= 256) return;  // synchronisation goes through few; a histogram is none
    addresses.push_back(address);
    launch_->variables.emplace_back();
  }
  Launch::Variable& variable = launch_->variables[number];
  // Acquire: everything released through this variable so far.
  const auto joined = std::find_if(joined_.begin(), joined_.end(),
                                   [&](const Joined& j) { return j.variable == number; });
  if (joined == joined_.end())
    joined_.push_back({number, variable.releases});
  else
    joined->count = variable.releases;
  // Release: what this block did before its last fence.
  if (fenced_at_ == 0) return;
  std::vector<Launch::Release>& mine = variable.of_block[current_];
  if (mine.empty() || mine.back().time != fenced_at_)
    mine.push_back({variable.releases++, fenced_at_});
}

bool BlockOrder::ordered(const AccessRecord& other) const {
  if (cluster_ != nullptr) {
    const auto rank = std::find(numbers_->begin(), numbers_->end(), other.block);
    if (rank != numbers_->end() &&
        cluster_->knows(static_cast<std::size_t>(rank - numbers_->begin()), other.thread / 32u,
                        other.time))
      return true;
  }
  for (const Joined& j : joined_) {
    const auto& of_block = launch_->variables[j.variable].of_block;
    const auto it = of_block.find(other.block);
    if (it == of_block.end()) continue;
    for (const Launch::Release& r : it->second)
      if (r.number < j.count && other.launch_time < r.time) return true;
  }
  return false;
}

std::optional<AccessRecord> ExactShadow::access(std::uint64_t granule, const AccessRecord& me,
                                                const WarpClock& clock, const BlockOrder* order) {
  Cell& c = cell(granule);
  auto races_with = [&](const AccessRecord& other) {
    if (!other.exists() || (!other.write && !me.write)) return false;
    if ((other.atomic || other.strong) && (me.atomic || me.strong)) return false;
    if (other.block != me.block) return order == nullptr || !order->ordered(other);
    return clock.unordered(me.thread, other.thread, other.time);
  };
  std::optional<AccessRecord> found;
  const bool same_value = me.rewrites && !c.writer.atomic;
  if (!same_value && races_with(c.writer)) found = c.writer;
  if (me.write) {
    for (const AccessRecord& r : c.readers)
      if (!found && races_with(r)) found = r;
    c.writer = me;
    for (AccessRecord& r : c.readers) r = AccessRecord{};
    return found;
  }
  // readers[0], [1]: the warp that read last; [2], [3]: another warp.
  auto same_warp = [](const AccessRecord& a, const AccessRecord& b) {
    return a.block == b.block && a.thread / 32 == b.thread / 32;
  };
  AccessRecord* r = c.readers;
  if (r[0].exists() && !same_warp(r[0], me)) {
    if (r[2].exists() && same_warp(r[2], me)) {
      std::swap(r[0], r[2]);
      std::swap(r[1], r[3]);
    } else {
      r[2] = r[0];
      r[3] = r[1];
      r[0] = r[1] = AccessRecord{};
    }
  }
  if (r[0].exists() && r[0].thread != me.thread) r[1] = r[0];
  r[0] = me;
  return found;
}

void ExactShadow::forget_times(std::uint64_t block) {
  for (const std::unique_ptr<Page>& p : pages_) {
    if (p == nullptr) continue;
    for (Cell& c : p->cells) {
      if (c.writer.block == block) c.writer.time = 0;
      for (AccessRecord& r : c.readers)
        if (r.block == block) r.time = 0;
    }
  }
}

}  // namespace simgpu::check
