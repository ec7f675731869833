// What Hopper's asynchronous proxy does to a block's shared memory: mbarriers, bulk copies that are
// under way, and what wgmma and bulk stores read.
//
// A bulk copy takes its source when it is issued. Until it arrives, its bytes lie aside, the
// destination holds poison and is marked as pending. It arrives when somebody looks at its mbarrier
// and finds the phase open, one copy after the other and no more than the phase needs: if expect_tx
// announced too few bytes, the last copies are still pending when the phase ends, and who reads them
// is found out.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "common/simgpu/check/cluster_times.hpp"

namespace simgpu::check {

/// PTX ISA 9.7.13.15.1 and .2: the limits of an mbarrier object.
inline constexpr std::uint32_t kMostArrivals = (1u << 20) - 1;
inline constexpr std::int64_t kMostTransactions = (1 << 20) - 1;

/// An mbarrier (PTX ISA 9.7.13.15).
struct MBarrier {
  std::uint32_t expected = 0, pending = 0;   ///< arrivals
  std::int64_t transactions = 0;             ///< bytes that are still to come; may be negative
  std::uint32_t phase = 0;                   ///< that is open; those before it have ended
  unsigned engine = 0;                       ///< number of its copies in WarpTimes
  Arrivals arriving;                         ///< to the open phase
  Arrivals ended;                            ///< to the last one that has ended
  std::uint64_t announced = 0, brought = 0;  ///< bytes, in the open phase
  std::uint64_t announced_before = 0;        ///< in the last one that has ended
  std::uint32_t expect_pc = UINT32_MAX, copy_pc = UINT32_MAX, init_pc = UINT32_MAX;
  unsigned init_thread = 0;
  std::uint32_t init_time = 0;
  ClusterTimes arriving_remote, ended_remote;  ///< by arrivals of other blocks
  bool known_to_proxy = false;                 ///< by a fence behind the initialisation
  /// Most lanes of a warp that arrived by one instruction, and that instruction.
  std::uint32_t at_once = 0, at_once_pc = UINT32_MAX;
  /// The last wait for a parity that was let through, and which phase was open then.
  std::uint32_t passed_pc = UINT32_MAX, passed_phase = 0;
};

/// What a copy does with the elements that it finds instead of overwriting them. The layers above know
/// the operation and the type by these numbers.
struct Reduction {
  std::uint8_t width = 0;  ///< bytes of an element; 0: it overwrites
  std::uint8_t operation = 0, type = 0;
};

/// A bulk copy to shared memory, under way.
struct BulkCopy {
  std::uint32_t pc = 0;
  std::uint64_t block = 0;  ///< that issued it
  unsigned thread = 0;
  std::uint32_t barrier = 0;           ///< offset in shared memory
  std::uint32_t first = 0, bytes = 0;  ///< destination, from the start of the arrays
  std::uint32_t counted = 0;           ///< bytes that the barrier is told
  std::uint8_t swizzle = 0xff;         ///< Landed::swizzle
  Reduction reduction;
  Arrivals issued;  ///< what its thread had done
  std::vector<std::byte> data;
};

/// One wgmma or bulk store: a reader of shared memory. Who issued it waits for it.
struct AsyncRead {
  static constexpr std::uint32_t kOpen = UINT32_MAX;
  std::uint32_t pc = 0;
  /// When each warp of the warpgroup knew that it had ended (a bulk store has the first alone).
  std::array<std::uint32_t, 4> ended{kOpen, kOpen, kOpen, kOpen};
};

/// The reads of one warpgroup, or of the bulk stores of a block. By chunk of 16 bytes: the last one
/// that read it.
class AsyncReads {
 public:
  static constexpr std::uint32_t kKept = 1u << 14;

  void reset(std::size_t chunks) {
    reads_.clear();
    last_.assign(chunks, 0);
    count_ = 0;
  }
  /// A new read; its number.
  std::uint32_t begin(std::uint32_t pc) {
    if (reads_.empty()) reads_.resize(kKept);
    reads_[++count_ % kKept] = {};
    reads_[count_ % kKept].pc = pc;
    return count_;
  }
  void touch(std::uint32_t chunk, std::uint32_t number) { last_[chunk] = number; }
  std::uint32_t* chunks() { return last_.data(); }
  std::size_t size() const { return last_.size(); }
  std::uint32_t count() const { return count_; }
  /// The read of `number`, unless it was long ago.
  AsyncRead* find(std::uint32_t number) {
    return number == 0 || number + kKept <= count_ ? nullptr : &reads_[number % kKept];
  }
  AsyncRead* last_of(std::uint32_t chunk) { return find(last_[chunk]); }
  /// Times start again: what has ended, ended long ago.
  void forget_times() {
    for (AsyncRead& r : reads_)
      for (std::uint32_t& t : r.ended)
        if (t != AsyncRead::kOpen) t = 0;
  }

 private:
  std::vector<AsyncRead> reads_;
  std::vector<std::uint32_t> last_;
  std::uint32_t count_ = 0;
};

/// Groups of asynchronous reads that one party commits and waits for, as numbers of AsyncReads.
struct ReadGroups {
  std::vector<std::uint32_t> open;  ///< reads that were not waited for, in order
  std::vector<std::size_t> groups;  ///< how many of these are in each group that is open

  /// How many reads of `open`, the first ones, belong to groups.
  std::size_t grouped() const {
    std::size_t reads = 0;
    for (const std::size_t n : groups) reads += n;
    return std::min(reads, open.size());
  }
  void add(std::uint32_t number) {
    // Nobody waits for so many: what is older has ended.
    if (open.size() >= AsyncReads::kKept) wait(0, [](std::uint32_t) {}), open.clear();
    open.push_back(number);
  }
  void commit() {
    if (groups.size() >= AsyncReads::kKept) groups.erase(groups.begin());
    groups.push_back(open.size() - grouped());
  }
  /// Whether the read of `number`, which is open, is part of a group.
  bool is_grouped(std::uint32_t number) const {
    const auto end = open.begin() + static_cast<std::ptrdiff_t>(grouped());
    return std::find(open.begin(), end, number) != end;
  }
  /// All but the last `pending` groups have ended.
  template <class End>
  void wait(std::size_t pending, End&& end) {
    std::size_t done = 0, reads = 0;
    for (; groups.size() - done > pending; ++done) reads += groups[done];
    reads = std::min(reads, open.size());
    for (std::size_t k = 0; k < reads; ++k) end(open[k]);
    open.erase(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(reads));
    groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(done));
  }
};

/// Of a block.
struct AsyncProxy {
  std::map<std::uint32_t, MBarrier> barriers;  ///< by offset in shared memory
  std::vector<std::unique_ptr<BulkCopy>> copies;
  std::vector<std::unique_ptr<BulkCopy>> spare;
  std::vector<AsyncReads> warpgroups;
  AsyncReads stores;
  std::vector<ReadGroups> groups;              ///< of wgmma, by warp
  std::map<unsigned, ReadGroups> bulk_groups;  ///< of bulk stores, by thread
  std::uint64_t events = 0;                    ///< anything that a waiting thread may wait for
  unsigned engines = 0;
  std::vector<std::byte> row;  ///< of a box that is being copied
  bool used = false;
  bool names_readers = false;  ///< something was read asynchronously

  void reset(std::size_t warps, std::size_t chunks) {
    barriers.clear();
    while (!copies.empty()) retire(copies.size() - 1);
    warpgroups.resize((warps + 3) / 4);
    for (AsyncReads& r : warpgroups) r.reset(chunks);
    stores.reset(chunks);
    groups.assign(warps, {});
    bulk_groups.clear();
    events = 0;
    engines = 0;
    used = true;
    names_readers = false;
  }
  BulkCopy& add() {
    if (spare.empty()) spare.push_back(std::make_unique<BulkCopy>());
    copies.push_back(std::move(spare.back()));
    spare.pop_back();
    *copies.back() =
        BulkCopy{.reduction = {}, .issued = {}, .data = std::move(copies.back()->data)};
    return *copies.back();
  }
  void retire(std::size_t k) {
    if (spare.size() < 64) spare.push_back(std::move(copies[k]));
    copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(k));
  }
  void forget_times(std::uint32_t now) {
    for (AsyncReads& r : warpgroups) r.forget_times();
    stores.forget_times();
    for (auto& [offset, b] : barriers) {
      b.init_time = 0;
      for (Arrivals* a : {&b.arriving, &b.ended}) a->fill(now), a->proxied.fill(now);
    }
    for (auto& c : copies) c->issued.fill(now), c->issued.proxied.fill(now);
  }
};

}  // namespace simgpu::check
