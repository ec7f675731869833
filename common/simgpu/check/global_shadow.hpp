// What one host thread remembers of an allocation in global memory: per granule (the kernel's
// smallest access) which block wrote it last and which one read it since, and which of its threads
// when. Enough to tell that there is no race; on suspicion the launch is run again with ExactShadow.
//
// Every host thread has its own, so that nothing is handed between them while they run: a block runs
// on one of them, and what several of them touched is compared at the end (conflict).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/simgpu/check/shared_shadow.hpp"

namespace simgpu::check {

class GlobalShadow {
 public:
  static constexpr std::size_t kChunk = 1024;  ///< granules whose marks are made together
  /// In place of a block: several.
  static constexpr std::uint32_t kManyBlocks = UINT32_MAX;
  struct Marks {
    alignas(64) std::array<std::uint32_t, kChunk> block{};  ///< block_mark(); 0 = nobody
    std::array<Tag, kChunk> tag{};                          ///< of a thread of that block
  };

  explicit GlobalShadow(std::uint64_t granules)
      : written_(granules / kChunk + 1), read_(granules / kChunk + 1) {}

  /// No launch has 2^32 blocks: its budget ends before.
  static constexpr std::uint32_t block_mark(std::uint64_t number) {
    return static_cast<std::uint32_t>(number % (kManyBlocks - 1)) + 1;
  }

  /// Null if nothing in the chunk was written or read.
  const Marks* written(std::size_t chunk) const { return written_[chunk].get(); }
  const Marks* read(std::size_t chunk) const { return read_[chunk].get(); }
  Marks& make_written(std::size_t chunk) { return made(written_[chunk]); }
  Marks& make_read(std::size_t chunk) { return made(read_[chunk]); }

  /// False: another thread may write it at the same time.
  bool on_read(std::uint64_t granule, std::uint32_t block, const WarpClock& clock, unsigned warp,
               std::uint32_t lane, std::uint32_t now) {
    const std::size_t chunk = granule / kChunk, k = granule % kChunk;
    const bool fine = ordered(written_[chunk].get(), k, block, clock, warp, lane);
    Marks& r = make_read(chunk);
    if (r.block[k] != 0 && r.block[k] != block) {
      r.block[k] = kManyBlocks;
    } else {
      r.block[k] = block;
      r.tag[k] = SharedShadow::with_reader(r.tag[k], clock, warp, lane, now);
    }
    return fine;
  }
  /// False: another thread may read or write it at the same time.
  bool on_write(std::uint64_t granule, std::uint32_t block, const WarpClock& clock, unsigned warp,
                std::uint32_t lane, std::uint32_t now) {
    const std::size_t chunk = granule / kChunk, k = granule % kChunk;
    const bool fine = ordered(written_[chunk].get(), k, block, clock, warp, lane) &&
                      ordered(read_[chunk].get(), k, block, clock, warp, lane);
    Marks& w = make_written(chunk);
    w.block[k] = block;
    w.tag[k] = tag(now, who(warp, lane));
    return fine;
  }

  /// Whether a granule that one of them wrote was written or read by the other, too.
  static bool conflict(const GlobalShadow& a, const GlobalShadow& b) {
    for (std::size_t c = 0; c < a.written_.size(); ++c)
      if (meet(a.written(c), b.written(c)) || meet(a.written(c), b.read(c)) ||
          meet(a.read(c), b.written(c)))
        return true;
    return false;
  }

  /// See BlockClocks; of what `block` did.
  void forget_times(std::uint32_t block) {
    const auto forget = [block](const std::vector<std::unique_ptr<Marks>>& chunks, bool writes) {
      for (const auto& m : chunks)
        for (std::size_t k = 0; m != nullptr && k < kChunk; ++k)
          if (m->block[k] == block) m->tag[k] = writes ? tag(1, m->tag[k] & kWhoMask) : 0;
    };
    forget(written_, true);
    forget(read_, false);
  }

 private:
  static Marks& made(std::unique_ptr<Marks>& marks) {
    if (marks == nullptr) marks = std::make_unique<Marks>();
    return *marks;
  }
  static bool ordered(const Marks* m, std::size_t k, std::uint32_t block, const WarpClock& clock,
                      unsigned warp, std::uint32_t lane) {
    if (m == nullptr || m->block[k] == 0) return true;
    return m->block[k] == block && !SharedShadow::suspicious(m->tag[k], clock, warp, lane);
  }
  static bool meet(const Marks* a, const Marks* b) {
    if (a == nullptr || b == nullptr) return false;
    std::uint32_t both = 0;
    for (std::size_t k = 0; k < kChunk; ++k)
      both |= static_cast<std::uint32_t>(a->block[k] != 0) &
              static_cast<std::uint32_t>(b->block[k] != 0);
    return both != 0;
  }

  std::vector<std::unique_ptr<Marks>> written_, read_;
};

}  // namespace simgpu::check
