// Order between the threads of a block. Each warp knows up to which time every other warp's
// accesses come before its own: a barrier brings the clocks of those who meet there together,
// __syncwarp orders the lanes of one warp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace simgpu::check {

inline constexpr unsigned kMaxWarps = 32;

/// By warp: accesses of warp w before times[w] come before whatever this belongs to.
using WarpTimes = std::array<std::uint32_t, kMaxWarps>;

/// Times count synchronisations of the block and start at 1.
struct WarpClock {
  WarpTimes seen{};
  std::uint32_t lanes = 0;       ///< accesses of other lanes of this warp before this time do
  std::uint32_t by_arrival = 0;  ///< warps that met this one last by bar.arrive, without waiting

  /// Whether an access at `time` by another thread might run at the same time as one of `me` (a
  /// thread of this clock's warp).
  bool unordered(unsigned me, unsigned thread, std::uint32_t time) const {
    if (me == thread) return false;
    return time >= (me / 32 == thread / 32 ? lanes : seen[thread / 32]);
  }
};

/// What warps have given to a barrier by bar.arrive: who does not wait goes on at once, and only
/// what came before counts.
struct Arrivals {
  std::uint32_t warps = 0;
  WarpTimes seen{};
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

  void arrive(unsigned warp, Arrivals& to) {
    to.warps |= 1u << warp;
    take_later(to.seen, clocks_[warp].seen);
    to.seen[warp] = ++now_;
  }

  /// The warps of `waiting` leave a barrier together.
  void barrier(std::uint32_t waiting, const Arrivals& arrivals = {}) {
    const std::uint32_t warps = clocks_.size() >= 32 ? 0xffffffffu : (1u << clocks_.size()) - 1;
    const std::uint32_t after = ++now_;
    if ((waiting & warps) == warps) {
      for (WarpClock& c : clocks_) {
        c.seen.fill(after);
        c.lanes = after;
        c.by_arrival = 0;
      }
      floor_ = after;
      return;
    }
    WarpTimes joined = arrivals.seen;
    for (unsigned w = 0; w < clocks_.size(); ++w) {
      if (((waiting >> w) & 1u) == 0) continue;
      take_later(joined, clocks_[w].seen);
      joined[w] = after;
    }
    for (unsigned w = 0; w < clocks_.size(); ++w) {
      if (((waiting >> w) & 1u) == 0) continue;
      WarpClock& c = clocks_[w];
      take_later(c.seen, joined);
      c.lanes = after;
      c.by_arrival = (c.by_arrival | arrivals.warps) & ~waiting;
    }
  }

  /// Times are about to overflow: everything so far counts as long ago.
  void forget_times() {
    reset(static_cast<unsigned>(clocks_.size()));
    barrier(0xffffffffu);
  }

 private:
  void take_later(WarpTimes& times, const WarpTimes& than) const {
    for (unsigned k = 0; k < clocks_.size(); ++k)
      times[k] = times[k] > than[k] ? times[k] : than[k];
  }

  std::uint32_t now_ = 1, floor_ = 1;
  std::vector<WarpClock> clocks_;
};

}  // namespace simgpu::check
