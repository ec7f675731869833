// Order between the threads of a block. Each warp knows up to which time every other warp's
// accesses come before its own: a barrier brings the clocks of those who meet there together,
// __syncwarp orders the lanes of one warp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace simgpu::check {

inline constexpr unsigned kMaxWarps = 32;

/// Times count synchronisations of the block and start at 1.
struct WarpClock {
  std::array<std::uint32_t, kMaxWarps>
      seen{};               ///< accesses of warp w before seen[w] come before ours
  std::uint32_t lanes = 0;  ///< accesses of other lanes of this warp before this time do

  /// Whether an access at `time` by another thread might run at the same time as one of `me` (a
  /// thread of this clock's warp).
  bool unordered(unsigned me, unsigned thread, std::uint32_t time) const {
    if (me == thread) return false;
    return time >= (me / 32 == thread / 32 ? lanes : seen[thread / 32]);
  }
};

/// The clocks of a block.
class BlockClocks {
 public:
  void reset(unsigned warps) {
    now_ = 1;
    floor_ = 1;
    WarpClock start;
    start.seen.fill(1);
    start.lanes = 1;
    clocks_.assign(warps, start);
  }
  std::uint32_t now() const { return now_; }
  /// Accesses before this time come before everything that runs now: a quick test.
  std::uint32_t floor() const { return floor_; }
  const WarpClock& of(unsigned warp) const { return clocks_[warp]; }

  void sync_lanes(unsigned warp) { clocks_[warp].lanes = ++now_; }

  /// The warps of `waiting` leave a barrier that the warps of `arrived` (all that waiting hold, and
  /// bar.arrive) reached.
  void barrier(std::uint32_t waiting, std::uint32_t arrived) {
    const std::uint32_t warps = clocks_.size() >= 32 ? 0xffffffffu : (1u << clocks_.size()) - 1;
    const std::uint32_t after = ++now_;
    if ((arrived & warps) == warps && waiting == arrived) {
      for (WarpClock& c : clocks_) {
        c.seen.fill(after);
        c.lanes = after;
      }
      floor_ = after;
      return;
    }
    WarpClock joined;
    for (unsigned w = 0; w < clocks_.size(); ++w) {
      if (((arrived >> w) & 1u) == 0) continue;
      for (unsigned k = 0; k < clocks_.size(); ++k)
        joined.seen[k] = joined.seen[k] > clocks_[w].seen[k] ? joined.seen[k] : clocks_[w].seen[k];
      joined.seen[w] = after;
    }
    for (unsigned w = 0; w < clocks_.size(); ++w) {
      if (((waiting >> w) & 1u) == 0) continue;
      for (unsigned k = 0; k < clocks_.size(); ++k)
        clocks_[w].seen[k] =
            joined.seen[k] > clocks_[w].seen[k] ? joined.seen[k] : clocks_[w].seen[k];
      clocks_[w].lanes = after;
    }
  }

 private:
  std::uint32_t now_ = 1, floor_ = 1;
  std::vector<WarpClock> clocks_;
};

}  // namespace simgpu::check
