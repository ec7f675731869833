#include "common/simgpu/check/exact_shadow.hpp"

#include <algorithm>
#include <bit>

namespace simgpu::check {

namespace {
/// A flag per warp of every block that hands over, but not every bin of a large histogram.
constexpr std::size_t kMaxVariables = 16384;
}  // namespace

bool BlockOrder::has_room_for_sums() const {
  return launch_->variables.size() < kMaxVariables / 2 &&
         launch_->changes.size() < kMaxVariables / 2;
}

void BlockOrder::relies_on(std::uint64_t address, const Actor& by) {
  if (by.clocks == nullptr || (relied_.size() >= kMaxVariables && !relied_.contains(address)))
    return;
  relied_[address] = {launch_->time, by.warp, by.lanes, by.clocks->now()};
}

void BlockOrder::awaits(std::uint64_t address) {
  if (launch_->awaited.size() < kMaxVariables) launch_->awaited.insert(address);
  if (const auto store = launch_->stores.find(address); store != launch_->stores.end())
    launch_->raisers.insert(store->second);
}

void BlockOrder::stores(std::uint64_t address, std::uint32_t pc) {
  if (launch_->awaited.contains(address)) launch_->raisers.insert(pc);
  if (launch_->stores.size() < kMaxVariables || launch_->stores.contains(address))
    launch_->stores[address] = pc;
}

bool BlockOrder::lacks_fence(const AccessRecord& other, std::uint64_t written, unsigned me,
                             const WarpClock& clock) const {
  return std::any_of(relied_.begin(), relied_.end(), [&](const auto& on) {
    const auto& [address, look] = on;
    const auto changes = launch_->changes.find(address);
    if (address == written || changes == launch_->changes.end()) return false;
    const auto change = changes->second.find(other.block);
    // The write itself counted as a change: it is at launch_time + 1.
    return change != changes->second.end() && change->second > other.launch_time + 1 &&
           change->second <= look.count && knows(me, clock, look);
  });
}

void BlockOrder::atomic(std::uint64_t address, const Actor& by, bool changes) {
  if (changes && by.clocks != nullptr &&
      (launch_->changes.size() < kMaxVariables || launch_->changes.contains(address)))
    launch_->changes[address][current_] = ++launch_->time;
  const auto found = launch_->variables.find(address);
  // Acquire: everything released through this variable so far.
  if (found != launch_->variables.end()) join(joined_[address], found->second.releases.size(), by);
  // Release: what this block did before its last fence.
  if (!changes || fenced_at_ == 0) return;
  if (found == launch_->variables.end() && launch_->variables.size() >= kMaxVariables) return;
  Launch::Variable& variable = launch_->variables[address];
  std::vector<std::size_t>& mine = variable.of_block[current_];
  const std::uint32_t now = by.clocks != nullptr ? by.clocks->now() : 0;
  if (!mine.empty()) {
    const Launch::Release& last = variable.releases[mine.back()];
    if (last.time == fenced_at_ && last.block_time == now) return;
  }
  mine.push_back(variable.releases.size());
  std::shared_ptr<const Knowledge> known = released_by(by);
  std::shared_ptr<const std::vector<Launch::Fact>> seen = seen_by(by, known.get());
  variable.releases.push_back({current_, fenced_at_, std::move(known), now, std::move(seen)});
}

void BlockOrder::join(std::vector<Joined>& looks, std::size_t count, const Actor& by) {
  const auto same = [&](const Joined& j) { return j.warp == by.warp && j.lanes == by.lanes; };
  const std::uint32_t time = by.clocks != nullptr ? by.clocks->now() : 0;
  const auto last = std::find_if(looks.rbegin(), looks.rend(), same);
  if (last != looks.rend() && (last->count == count || last->time == time)) {
    joins_ += last->count != count;
    last->count = count;
    return;
  }
  ++joins_;
  // Of looks that all threads of the block know of, the last one says it all.
  std::size_t known = 0;
  for (const Joined& j : looks)
    if (same(j) && by.clocks != nullptr && j.time < by.clocks->floor()) known = j.count;
  std::erase_if(looks, [&](const Joined& j) { return same(j) && j.count < known; });
  looks.push_back({count, by.warp, by.lanes, time});
}

std::shared_ptr<const Knowledge> BlockOrder::released_by(const Actor& by) const {
  if (by.handovers == nullptr || by.handovers->empty()) return nullptr;
  return std::make_shared<const Knowledge>(by.handovers->released_by(by.warp, *by.clocks));
}

/// What `by` hands on when it releases what is `known`: the looks that happened before.
std::shared_ptr<const std::vector<BlockOrder::Launch::Fact>> BlockOrder::seen_by(
    const Actor& by, const Knowledge* known) {
  if (by.clocks == nullptr || joined_.empty()) return nullptr;
  if (seen_ != nullptr && seen_joins_ == joins_ && seen_warp_ == by.warp &&
      seen_time_ == by.clocks->now())
    return seen_;
  const auto before = [&](const Joined& j) {
    if (j.time == 0 || known == nullptr) return true;
    for (std::uint32_t left = j.lanes; left != 0; left &= left - 1)
      if (known->has(j.warp, static_cast<std::uint32_t>(std::countr_zero(left)), j.time))
        return true;
    return false;
  };
  auto facts = std::make_shared<std::vector<Launch::Fact>>();
  for (const auto& [address, looks] : joined_) {
    std::size_t count = 0;
    for (const Joined& j : looks)
      if (before(j)) count = std::max(count, j.count);
    if (count != 0) facts->push_back({address, count});
  }
  seen_ = std::move(facts);
  seen_joins_ = joins_;
  seen_warp_ = by.warp;
  seen_time_ = by.clocks->now();
  return seen_;
}

bool BlockOrder::knows(unsigned me, const WarpClock& clock, const Joined& j) {
  if (j.time == 0 || (me / 32 == j.warp && (j.lanes >> me % 32 & 1u) != 0)) return true;
  for (std::uint32_t left = j.lanes; left != 0; left &= left - 1)
    if (!clock.unordered(me, j.warp * 32 + static_cast<unsigned>(std::countr_zero(left)), j.time))
      return true;
  return false;
}

bool BlockOrder::ordered(const AccessRecord& other, unsigned me, const WarpClock& clock) const {
  if (cluster_ != nullptr) {
    const auto rank = std::find(numbers_->begin(), numbers_->end(), other.block);
    if (rank != numbers_->end() &&
        cluster_->knows(static_cast<std::size_t>(rank - numbers_->begin()), other.thread / 32u,
                        other.time))
      return true;
  }
  std::vector<Launch::Fact> facts;
  for (const auto& [address, looks] : joined_) {
    std::size_t count = 0;
    for (const Joined& j : looks)
      if (knows(me, clock, j)) count = std::max(count, j.count);
    if (count == 0) continue;
    facts.push_back({address, count});
    const Launch::Variable& variable = launch_->variables.at(address);
    const auto it = variable.of_block.find(other.block);
    if (it == variable.of_block.end()) continue;
    for (const std::size_t number : it->second)
      if (number < count && covers(variable.releases[number], other)) return true;
  }
  return ordered_through_others(other, std::move(facts));
}

bool BlockOrder::covers(const Launch::Release& r, const AccessRecord& other) {
  return other.launch_time < r.time &&
         (r.known == nullptr || r.known->has(other.thread / 32u, other.thread % 32u, other.time));
}

/// A block that was seen to release had seen others do so before.
bool BlockOrder::ordered_through_others(const AccessRecord& other,
                                        std::vector<Launch::Fact> facts) const {
  std::unordered_map<std::uint64_t, std::size_t> followed;
  while (!facts.empty()) {
    const Launch::Fact fact = facts.back();
    facts.pop_back();
    std::size_t& from = followed[fact.address];
    const std::vector<Launch::Release>& releases = launch_->variables.at(fact.address).releases;
    for (; from < fact.count; ++from) {
      if (launch_->patience == 0) return false;
      --launch_->patience;
      const Launch::Release& r = releases[from];
      if (r.block == other.block && covers(r, other)) return true;
      if (r.seen != nullptr) facts.insert(facts.end(), r.seen->begin(), r.seen->end());
    }
  }
  return false;
}

namespace {
bool in_race(const AccessRecord& me, const AccessRecord& other, const WarpClock& clock,
             const BlockOrder* order) {
  if (!other.exists() || (!other.write && !me.write)) return false;
  // Volatile keeps the lanes of a warp in no order.
  const bool exchanged = other.exchange && me.exchange && other.block == me.block &&
                         other.thread / 32 == me.thread / 32;
  if (!exchanged && (other.atomic || other.strong) && (me.atomic || me.strong)) return false;
  if (other.block != me.block) return order == nullptr || !order->ordered(other, me.thread, clock);
  return clock.unordered(me.thread, other.thread, other.time);
}
}  // namespace

std::optional<AccessRecord> ExactShadow::access(std::uint64_t granule, const AccessRecord& me,
                                                const WarpClock& clock, const BlockOrder* order) {
  Cell& c = cell(granule);
  const auto races_with = [&](const AccessRecord& other) {
    return in_race(me, other, clock, order);
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
