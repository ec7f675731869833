// Order between the threads of a block. Each warp knows up to which time every other warp's
// accesses come before its own: a barrier brings the clocks of those who meet there together,
// __syncwarp orders the lanes of one warp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace simgpu::check {

inline constexpr unsigned kMaxWarps = 32;
/// What bulk copies write has a time of its own: by the mbarrier that they report to.
inline constexpr unsigned kEngines = 32;

/// By warp: accesses of warp w before times[w] come before whatever this belongs to. Behind the
/// warps: the copies that report to an mbarrier.
using WarpTimes = std::array<std::uint32_t, kMaxWarps + kEngines>;
/// By warp: accesses before that time are known to the asynchronous proxy, too.
using ProxyTimes = std::array<std::uint32_t, kMaxWarps>;

template <class Times>
void take_later(Times& times, const Times& than) {
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = times[k] > than[k] ? times[k] : than[k];
}

/// Times count synchronisations of the block and start at 1.
struct WarpClock {
  WarpTimes seen{};
  ProxyTimes proxied{};
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
  ProxyTimes proxied{};
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
    proxies_ = false;
  }
  std::uint32_t now() const { return now_; }
  /// Accesses before this time come before everything that runs now: a quick test.
  std::uint32_t floor() const { return floor_; }
  const WarpClock& of(unsigned warp) const { return clocks_[warp]; }

  void sync_lanes(unsigned warp) { clocks_[warp].lanes = ++now_; }

  void arrive(unsigned warp, Arrivals& to) {
    to.warps |= 1u << warp;
    take_later(to.seen, clocks_[warp].seen);
    take_later(to.proxied, clocks_[warp].proxied);
    to.seen[warp] = ++now_;
  }
  /// `warp` has waited for these arrivals.
  void join(unsigned warp, const Arrivals& from) {
    WarpClock& c = clocks_[warp];
    take_later(c.seen, from.seen);
    take_later(c.proxied, from.proxied);
    if (from.seen[warp] > c.lanes) c.lanes = from.seen[warp];
  }
  /// A proxy fence of `warp`: what came before it, the asynchronous proxy knows.
  void fence_proxy(unsigned warp) {
    WarpClock& c = clocks_[warp];
    proxies_ = true;
    for (unsigned k = 0; k < kMaxWarps; ++k)
      if (c.seen[k] > c.proxied[k]) c.proxied[k] = c.seen[k];
    c.proxied[warp] = ++now_;
  }
  std::uint32_t tick() { return ++now_; }

  /// The warps of `waiting` leave a barrier together.
  void barrier(std::uint32_t waiting, const Arrivals& arrivals = {}) {
    const std::uint32_t warps = clocks_.size() >= 32 ? 0xffffffffu : (1u << clocks_.size()) - 1;
    const std::uint32_t after = ++now_;
    if (proxies_) {
      ProxyTimes all = arrivals.proxied;
      for (unsigned w = 0; w < clocks_.size(); ++w)
        if ((waiting >> w) & 1u) take_later(all, clocks_[w].proxied);
      for (unsigned w = 0; w < clocks_.size(); ++w)
        if ((waiting >> w) & 1u) clocks_[w].proxied = all;
    }
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
  std::uint32_t now_ = 1, floor_ = 1;
  bool proxies_ = false;  ///< there was a proxy fence
  std::vector<WarpClock> clocks_;
};

}  // namespace simgpu::check
