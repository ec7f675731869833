// The slow, exact record of accesses: per granule the last writer and recent readers with thread
// and instruction, so that a race names both parties. Used for shared memory of a block and for
// written global allocations, in a re-run of the launch with all blocks in order on one host
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/simgpu/check/cluster_times.hpp"
#include "common/simgpu/check/handovers.hpp"

namespace simgpu::check {

struct AccessRecord {
  std::uint64_t block = 0;
  std::uint32_t pc = UINT32_MAX;  ///< UINT32_MAX = no access
  std::uint32_t time = 0;
  std::uint16_t thread = 0;
  bool atomic = false, strong = false, write = false;
  bool exchange = false;          ///< volatile, but no flag: several lanes, at places of their own
  bool rewrites = false;          ///< a store of what is there already, which is not to be a race
  std::uint64_t launch_time = 0;  ///< counts fences of the whole launch; see BlockOrder

  bool exists() const { return pc != UINT32_MAX; }
};

/// Which earlier blocks this block is ordered after, by the fence-and-atomic pattern (a block that
/// reads a counter which others incremented after their fence has seen what they wrote).
class BlockOrder {
 public:
  /// What the blocks of a launch have released, in order of time.
  struct Launch {
    /// That the first `count` releases of the variable at `address` have been seen.
    struct Fact {
      std::uint64_t address;
      std::size_t count;
    };
    struct Release {
      std::uint64_t block;
      std::uint64_t time;
      /// Of the block's warps, and when that was put down; null = of all of them.
      std::shared_ptr<const Knowledge> known;
      std::uint32_t block_time = 0;
      /// What the block had seen of others' releases, which it hands on; null = nothing.
      std::shared_ptr<const std::vector<Fact>> seen;
    };
    struct Variable {
      std::vector<Release> releases;
      std::unordered_map<std::uint64_t, std::vector<std::size_t>> of_block;  ///< indices of these
    };
    std::uint64_t time = 1;
    /// When each block changed a variable last, by its address.
    std::unordered_map<std::uint64_t, std::unordered_map<std::uint64_t, std::uint64_t>> changes;
    /// Releases that may still be looked at to find an order through other blocks: many races take long.
    std::size_t patience = std::size_t{1} << 26;
    std::unordered_map<std::uint64_t, Variable> variables;  ///< by address
    /// What a loop has waited for, and the last volatile store to each variable, by address.
    std::unordered_set<std::uint64_t> awaited;
    std::unordered_map<std::uint64_t, std::uint32_t> stores;
    /// Volatile stores to what a loop waits for. What one of these writes elsewhere is not guarded by a flag
    /// either: it is the next element of the same structure, such as a tree whose threads follow parents.
    std::unordered_set<std::uint32_t> raisers;
  };

  void start_block(std::uint64_t block, Launch& launch) {
    launch_ = &launch;
    current_ = block;
    fenced_at_ = 0;
    joined_.clear();
    relied_.clear();
    joins_ = 0;
    seen_ = nullptr;
    cluster_ = nullptr;
  }
  /// See BlockClocks.
  void forget_times() {
    for (auto& [address, looks] : joined_)
      for (Joined& j : looks) j.time = 0;
    for (auto& [address, j] : relied_) j.time = 0;
  }
  /// The block is one of a cluster, and knows this of the others. `numbers`: of blocks, by
  /// rank.
  void join_cluster(const ClusterTimes& known, const std::vector<std::uint64_t>& numbers) {
    cluster_ = &known;
    numbers_ = &numbers;
  }
  void fence() { fenced_at_ = ++launch_->time; }
  std::uint64_t now() const { return launch_->time; }
  /// Lanes of a warp that look at a variable, or change it. Where nothing is known of the block's clocks, all
  /// of its threads are one.
  struct Actor {
    unsigned warp = 0;
    std::uint32_t lanes = 0xffffffffu;
    const BlockClocks* clocks = nullptr;
    const Handovers* handovers = nullptr;
  };
  /// The block looks at a variable by which blocks synchronise, or changes it: only then it releases.
  void atomic(std::uint64_t address, const Actor& by, bool changes = true);
  /// Whether sums, too, may be taken for variables by which blocks synchronise.
  bool has_room_for_sums() const;
  /// `by` has waited for a variable, or changed it by an atomic: what it reads behind that relies on the order in
  /// which others have written.
  void relies_on(std::uint64_t address, const Actor& by);
  /// A loop waits for the variable; the volatile store at `pc` changes it.
  void awaits(std::uint64_t address);
  void stores(std::uint64_t address, std::uint32_t pc);
  /// `other`'s block has changed such a variable after it wrote, and thread `me` relies on it: a fence between the
  /// two is missing, unless the accesses are ordered().
  bool lacks_fence(const AccessRecord& other, std::uint64_t written, unsigned me,
                   const WarpClock& clock) const;
  /// An access of another block is known to come before what thread `me` of the current block does now, whose
  /// warp's clock it is.
  bool ordered(const AccessRecord& other, unsigned me, const WarpClock& clock) const;

 private:
  struct Joined {
    std::size_t count;  ///< releases of the variable
    unsigned warp;
    std::uint32_t lanes, time;  ///< who has looked, and when
  };
  static bool knows(unsigned me, const WarpClock& clock, const Joined& j);
  void join(std::vector<Joined>& looks, std::size_t count, const Actor& by);
  std::shared_ptr<const Knowledge> released_by(const Actor& by) const;
  std::shared_ptr<const std::vector<Launch::Fact>> seen_by(const Actor& by, const Knowledge* known);
  static bool covers(const Launch::Release& r, const AccessRecord& other);
  bool ordered_through_others(const AccessRecord& other, std::vector<Launch::Fact> facts) const;
  Launch* launch_ = nullptr;
  std::uint64_t current_ = 0, fenced_at_ = 0;
  /// How many releases of a variable, by its address, the block has seen.
  std::unordered_map<std::uint64_t, std::vector<Joined>> joined_;
  std::uint64_t joins_ = 0;  ///< changes of joined_
  /// By address, the last time that somebody came to rely on a variable; Joined::count is of Launch::time.
  std::unordered_map<std::uint64_t, Joined> relied_;
  /// The last answer of seen_by, and to what.
  std::shared_ptr<const std::vector<Launch::Fact>> seen_;
  std::uint64_t seen_joins_ = 0;
  unsigned seen_warp_ = 0;
  std::uint32_t seen_time_ = 0;
  const ClusterTimes* cluster_ = nullptr;
  const std::vector<std::uint64_t>* numbers_ = nullptr;
};

class ExactShadow {
 public:
  explicit ExactShadow(std::uint64_t bytes, unsigned granule_shift)
      : shift_(granule_shift), pages_(((bytes >> granule_shift) / kPage) + 1) {}

  unsigned shift() const { return shift_; }
  bool was_written(std::uint64_t granule) const {
    const Page* p = pages_[granule / kPage].get();
    return p != nullptr && p->cells[granule % kPage].writer.exists();
  }
  /// Records the access; returns the other party of a race, if there is one.
  std::optional<AccessRecord> access(std::uint64_t granule, const AccessRecord& me,
                                     const WarpClock& clock, const BlockOrder* order);
  /// See BlockClocks; for the accesses of one block.
  void forget_times(std::uint64_t block);
  /// Who wrote a granule last.
  const AccessRecord& writer(std::uint64_t granule) { return cell(granule).writer; }

 private:
  static constexpr std::size_t kPage = 1024;
  /// The latest readers: of two warps, two lanes each. Any unordered reader is found among them,
  /// because a later reader of the same warp is unordered whenever an earlier one is.
  struct Cell {
    AccessRecord writer;
    AccessRecord readers[4];
  };
  struct Page {
    Cell cells[kPage];
  };
  Cell& cell(std::uint64_t granule) {
    std::unique_ptr<Page>& p = pages_[granule / kPage];
    if (p == nullptr) p = std::make_unique<Page>();
    return p->cells[granule % kPage];
  }
  unsigned shift_;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace simgpu::check
