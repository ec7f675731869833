// Address patterns: how the 32 addresses of a memory instruction lie to each other.
//
// Nearly every execution of a memory instruction repeats the pattern of the one before and differs
// in its base only. So what depends on the pattern alone (bounds, bank conflicts, which words are
// touched by whom) is worked out once and looked up. Bank conflicts do not change when all
// addresses move by whole words; sectors depend on the base modulo 32 besides.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/simgpu/exec/op.hpp"
#include "common/simgpu/report.hpp"

namespace simgpu::exec {

/// What a pattern means for accesses of one width (4, 8 or 16 bytes a lane).
struct PatternWidth {
  /// Touched 4-byte words, as bits from the least one on; 0 = not known, or they span more than 64.
  std::uint64_t window = 0;
  std::int32_t least = 0;  ///< word, relative to the first lane's
  bool known = false;
  bool lanes_overlap = false;  ///< two lanes touch one word
  std::uint8_t runs = 0;
  /// Touched words as runs of neighbours, relative to the first lane's word.
  struct Run {
    std::int32_t start;
    std::uint16_t length, first;  ///< words, and where its codes start
  };
  std::array<Run, 32> run;
  std::array<std::uint8_t, 128> code;  ///< per touched word: the lane, or check::kManyLanes
};

/// octets: each eight lanes, 0 to 7 and so on, read from eight neighbouring words.
enum class Shape : std::uint8_t { other, broadcast, unit4, unit8, unit16, octets };

/// For Shape::octets, broadcast and unit4: how to load eight lanes at once.
struct Octets {
  std::array<std::int32_t, 4> start{};                     ///< the least rel of the eight lanes
  alignas(32) std::array<std::int32_t, kLanes> touched{};  ///< by word: -1 = by some lane
  alignas(32) std::array<std::int32_t, kLanes> word{};     ///< by lane: which of the eight
};

struct Pattern {
  alignas(64) std::array<std::int32_t, kLanes> rel{};  ///< address minus the first active lane's; 0
                                                       ///< for the others
  std::uint32_t mask = 0;                              ///< active lanes; 0 = nothing learned yet
  std::uint32_t number = 0;                            ///< changes whenever the pattern does
  std::int32_t low = 0, high = 0;                      ///< least and greatest rel
  std::uint32_t bits = 0;                              ///< all rel or-ed: for alignment
  Shape shape = Shape::other;
  bool logged = false;  ///< a ReadLog refers to it
  Octets octets;
  std::array<PatternWidth, 3> width;  ///< log2(bytes) - 2

  const PatternWidth& of(unsigned index) {
    if (!width[index].known) work_out(index);
    return width[index];
  }
  /// Sectors touched by accesses of 4 << index bytes when the first lane's address is `base`.
  unsigned sectors(unsigned index, std::uint64_t base) {
    std::uint8_t& n = sector_count_[index][(base & 31) >> 2];
    if (n == 0) n = count_sectors(index, base);
    return n;
  }
  /// The same if it was asked for before, else 0.
  unsigned known_sectors(unsigned index, std::uint64_t base) const {
    return sector_count_[index][(base & 31) >> 2];
  }
  /// Takes over the pattern of `address`; false if it spans more than 2 GiB.
  bool learn(const std::uint64_t* address, std::uint32_t active, std::uint32_t new_number);

 private:
  void work_out(unsigned index);
  bool find_octets();
  std::uint8_t count_sectors(unsigned index, std::uint64_t base) const;

  std::array<std::array<std::uint8_t, 8>, 3>
      sector_count_{};  ///< by base modulo 32; 0 = not counted yet
};

/// Reads of a block's shared memory that are not in its shadow yet: what they leave there matters only
/// if somebody writes before the next barrier of the whole block.
class ReadLog {
 public:
  struct Entry {
    const PatternWidth* width;
    std::uint32_t word;  ///< of the first lane
    std::uint32_t tag;   ///< but for the lane
  };
  static constexpr std::size_t kMost = 1024;

  bool empty() const { return count_ == 0; }
  bool full() const { return !has_room(1); }
  bool has_room(std::size_t n) const { return count_ + n <= kMost; }
  /// `floor`: reads before it are forgotten.
  void add(Pattern& p, const Entry& e, std::uint32_t floor) {
    if (floor != floor_) count_ = 0;
    floor_ = floor;
    p.logged = true;
    entries_[count_++] = e;
  }
  void clear() { count_ = 0; }
  std::span<const Entry> entries() const { return std::span(entries_).first(count_); }
  std::uint32_t floor() const { return floor_; }

 private:
  std::size_t count_ = 0;
  std::uint32_t floor_ = 0;
  std::vector<Entry> entries_ = std::vector<Entry>(kMost);
};

struct PatternCache {
  std::vector<Pattern> patterns;  ///< by Op::slot
  std::uint32_t last_number = 0;
};

/// Counters of one memory instruction. Equal executions are only tallied (`pending`) and added up
/// when the pattern changes.
struct SiteCount {
  std::uint64_t key = 0;
  std::uint64_t pending = 0, pending_sectors = 0;
  std::uint32_t buffer = UINT32_MAX;  ///< live index of the allocation of `global_each`
  /// global: sectors that make an access the worst so far
  std::uint32_t sample_above = UINT32_MAX;
  GlobalCounts global_each;  ///< without sectors, which depend on the address
  SharedCounts shared_each;
  GlobalCounts global;
  SharedCounts shared;
  SharedCounts swap_loads;  ///< made by atomics that are loops: swaps.hpp
  std::uint64_t local_requests = 0, constant_words = 0;
  std::uint64_t cluster_requests = 0;  ///< of other blocks' shared memory
};

}  // namespace simgpu::exec
