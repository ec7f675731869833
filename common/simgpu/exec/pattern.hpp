// Address patterns: how the 32 addresses of a memory instruction lie to each other.
//
// Nearly every execution of a memory instruction repeats the pattern of the one before and differs
// in its base only. So what depends on the pattern alone (bounds, bank conflicts, which words are
// touched by whom) is worked out once and looked up. Bank conflicts do not change when all
// addresses move by whole words; sectors depend on the base modulo 32 besides.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/simgpu/exec/op.hpp"
#include "common/simgpu/report.hpp"

namespace simgpu::exec {

/// What a pattern means for accesses of one width (4, 8 or 16 bytes a lane).
struct PatternWidth {
  bool known = false;
  bool lanes_overlap = false;  ///< two lanes touch one word
  std::uint8_t runs = 0;
  /// Touched 4-byte words as runs of neighbours, relative to the first lane's word.
  struct Run {
    std::int32_t start;
    std::uint16_t length, first;  ///< words, and where its codes start
  };
  std::array<Run, 32> run;
  std::array<std::uint8_t, 128> code;  ///< per touched word: the lane, or check::kManyLanes
};

enum class Shape : std::uint8_t { other, broadcast, unit4, unit8, unit16 };

struct Pattern {
  alignas(64) std::array<std::int32_t, kLanes> rel{};  ///< address minus the first active lane's; 0
                                                       ///< for the others
  std::uint32_t mask = 0;                              ///< active lanes; 0 = nothing learned yet
  std::uint32_t number = 0;                            ///< changes whenever the pattern does
  std::int32_t low = 0, high = 0;                      ///< least and greatest rel
  std::uint32_t bits = 0;                              ///< all rel or-ed: for alignment
  Shape shape = Shape::other;
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
  /// Takes over the pattern of `address`; false if it spans more than 2 GiB.
  bool learn(const std::uint64_t* address, std::uint32_t active, std::uint32_t new_number);

 private:
  void work_out(unsigned index);
  std::uint8_t count_sectors(unsigned index, std::uint64_t base) const;

  std::array<std::array<std::uint8_t, 8>, 3>
      sector_count_{};  ///< by base modulo 32; 0 = not counted yet
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
  std::uint64_t local_requests = 0, constant_words = 0;
  std::uint64_t cluster_requests = 0;  ///< of other blocks' shared memory
};

}  // namespace simgpu::exec
