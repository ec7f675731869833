// Order between the threads of a block. Each warp knows up to which time every other warp's
// accesses come before its own: a barrier brings the clocks of those who meet there together,
// __syncwarp orders the lanes of one warp.
//
// A warp is not one thread. Where some lanes arrive at an mbarrier, wait for a flag or meet at a
// __syncwarp(mask) by themselves, only what these lanes did or know is ordered. Knowledge keeps that
// apart, as far as it costs little: where it does not know for sure it takes accesses for ordered.
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

/// What stands in a tag in place of a lane (shared_shadow.hpp): several, or an atomic.
inline constexpr std::uint32_t kManyLanes = 32, kAtomicLane = 33;

template <class Times>
void take_later(Times& times, const Times& than) {
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = times[k] > than[k] ? times[k] : than[k];
}

/// What is known of a block's warps.
struct Knowledge {
  /// Some lanes of a warp: what they did before `time`.
  struct Part {
    std::uint32_t lanes = 0, time = 0;
  };
  WarpTimes seen{};                     ///< of some lanes at least
  WarpTimes all{};                      ///< of all lanes; never later than `seen`
  std::array<Part, kMaxWarps> parts{};  ///< of the lanes of whom more is known

  void take(const Knowledge& k) {
    take_later(seen, k.seen);
    take_later(all, k.all);
    for (unsigned w = 0; w < kMaxWarps; ++w) add(w, k.parts[w]);
  }
  void add(unsigned warp, const Part& more) {
    if (more.time <= all[warp]) return;
    Part& p = parts[warp];
    if (p.time <= all[warp]) p = {};
    p.lanes |= more.lanes;
    if (more.time > p.time) p.time = more.time;
  }
  void fill(std::uint32_t time) {
    seen.fill(time);
    all.fill(time);
  }
  /// Whether what `lane` of `warp` did at `time` is known.
  bool has(unsigned warp, std::uint32_t lane, std::uint32_t time) const {
    if (time < all[warp]) return true;
    const Part& p = parts[warp];
    return time < p.time && (lane < kManyLanes ? (p.lanes >> lane & 1u) != 0 : lane == kAtomicLane);
  }
};

/// Times count synchronisations of the block and start at 1.
struct WarpClock : Knowledge {
  ProxyTimes proxied{};
  std::uint32_t lanes = 0;       ///< accesses of other lanes of this warp before this time do
  std::uint32_t by_arrival = 0;  ///< warps that met this one last by bar.arrive, without waiting
  std::uint32_t all_lanes = 0;   ///< when all lanes met last, whichever met since
  /// Lanes that know more than the others, and what.
  std::uint32_t some = 0;
  Knowledge of_some;
  /// Lanes that met since `all_lanes`, by themselves.
  struct Meeting {
    std::uint32_t lanes, time;
  };
  std::vector<Meeting> meetings;

  /// Whether an access at `time` by another thread might run at the same time as one of `me` (a
  /// thread of this clock's warp).
  bool unordered(unsigned me, unsigned thread, std::uint32_t time) const {
    if (me == thread) return false;
    return me / 32 == thread / 32 ? !lanes_ordered(me / 32, me % 32, thread % 32, time)
                                  : !ordered(me % 32, thread / 32, thread % 32, time);
  }
  /// An access by `other_lane` (or one of the above) of another warp, and what `lane` does now.
  bool ordered(std::uint32_t lane, unsigned warp, std::uint32_t other_lane,
               std::uint32_t time) const {
    return time < all[warp] || (time < seen[warp] && (has(warp, other_lane, time) ||
                                                      of_some_has(lane, warp, other_lane, time)));
  }
  /// A bulk copy that ended at `time`, for a barrier of `engine`.
  bool copied(std::uint32_t lane, unsigned engine, std::uint32_t time) const {
    return time < all[engine] || ((some >> lane & 1u) != 0 && time < of_some.all[engine]);
  }
  /// The same within this warp, which is `warp`.
  bool lanes_ordered(unsigned warp, std::uint32_t lane, std::uint32_t other_lane,
                     std::uint32_t time) const {
    if (time >= lanes) return false;
    return time < all_lanes || has(warp, other_lane, time) ||
           of_some_has(lane, warp, other_lane, time) || have_met(lane, other_lane, time);
  }

 private:
  bool of_some_has(std::uint32_t lane, unsigned warp, std::uint32_t other_lane,
                   std::uint32_t time) const {
    return (some >> lane & 1u) != 0 && of_some.has(warp, other_lane, time);
  }
  /// Of several lanes it is enough that `lane` met some since: which they were is not known.
  bool have_met(std::uint32_t lane, std::uint32_t other_lane, std::uint32_t time) const {
    std::uint32_t know = other_lane < kManyLanes ? 1u << other_lane : 0xffffffffu & ~(1u << lane);
    for (const Meeting& m : meetings)
      if (m.time > time && (m.lanes & know) != 0) know |= m.lanes;
    return (know >> lane & 1u) != 0;
  }
};

/// What warps have given to a barrier by bar.arrive: who does not wait goes on at once, and only
/// what came before counts.
struct Arrivals : Knowledge {
  std::uint32_t warps = 0;
  ProxyTimes proxied{};
};

/// The clocks of a block.
class BlockClocks {
 public:
  void reset(unsigned warps) {
    now_ = 1;
    floor_ = 1;
    WarpClock start;
    start.fill(1);
    start.lanes = start.all_lanes = 1;
    clocks_.assign(warps, start);
    proxies_ = false;
  }
  std::uint32_t now() const { return now_; }
  /// Accesses before this time come before everything that runs now: a quick test.
  std::uint32_t floor() const { return floor_; }
  const WarpClock& of(unsigned warp) const { return clocks_[warp]; }

  /// Lanes `mask` of `warp` meet, of those that are `live`.
  void sync_lanes(unsigned warp, std::uint32_t mask = kAllLanes, std::uint32_t live = kAllLanes) {
    WarpClock& c = clocks_[warp];
    c.lanes = ++now_;
    if ((live & ~mask) == 0) return all_meet(c);
    if (c.meetings.size() == kMostMeetings) {  // the older ones count as of all lanes
      c.all_lanes = c.meetings[kMostMeetings / 2 - 1].time;
      c.meetings.erase(c.meetings.begin(), c.meetings.begin() + kMostMeetings / 2);
    }
    c.meetings.push_back({mask, now_});
    if ((c.some & mask) != 0) add_to_some(c, mask, live);
  }

  /// Lanes `mask` of `warp` arrive.
  void arrive(unsigned warp, Arrivals& to, std::uint32_t mask = kAllLanes,
              std::uint32_t live = kAllLanes) {
    const WarpClock& c = clocks_[warp];
    to.warps |= 1u << warp;
    take_later(to.proxied, c.proxied);
    to.take(c);
    if ((c.some & mask) != 0) to.take(c.of_some);
    to.seen[warp] = ++now_;
    if (c.all_lanes > to.all[warp]) to.all[warp] = c.all_lanes;
    // Whom they have met, and whom those have met before.
    for (auto m = c.meetings.rbegin(); m != c.meetings.rend(); ++m)
      if ((m->lanes & mask) != 0) mask |= m->lanes;
    to.add(warp, {mask, now_});
    if ((live & ~to.parts[warp].lanes) == 0) to.all[warp] = now_;
  }
  /// Lanes `mask` of `warp` have waited for these arrivals.
  void join(unsigned warp, const Arrivals& from, std::uint32_t mask = kAllLanes,
            std::uint32_t live = kAllLanes) {
    WarpClock& c = clocks_[warp];
    take_later(c.proxied, from.proxied);
    if (from.seen[warp] > c.lanes) c.lanes = from.seen[warp];
    if ((live & ~mask) == 0) {
      c.take(from);
      return;
    }
    take_later(c.seen, from.seen);
    c.of_some.take(from);
    add_to_some(c, mask, live);
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
        c.fill(after);
        c.lanes = after;
        c.by_arrival = 0;
        all_meet(c);
      }
      floor_ = after;
      return;
    }
    Knowledge joined = arrivals;
    for (unsigned w = 0; w < clocks_.size(); ++w) {
      if (((waiting >> w) & 1u) == 0) continue;
      joined.take(clocks_[w]);
      joined.take(clocks_[w].of_some);
      joined.seen[w] = joined.all[w] = after;
    }
    for (unsigned w = 0; w < clocks_.size(); ++w) {
      if (((waiting >> w) & 1u) == 0) continue;
      WarpClock& c = clocks_[w];
      c.take(joined);
      c.lanes = after;
      all_meet(c);
      c.by_arrival = (c.by_arrival | arrivals.warps) & ~waiting;
    }
  }

  /// Times are about to overflow: everything so far counts as long ago.
  void forget_times() {
    reset(static_cast<unsigned>(clocks_.size()));
    barrier(0xffffffffu);
  }

 private:
  static constexpr std::uint32_t kAllLanes = 0xffffffffu;
  static constexpr std::size_t kMostMeetings = 64;

  void all_meet(WarpClock& c) {
    c.all_lanes = now_;
    c.meetings.clear();
    if (c.some != 0) add_to_some(c, kAllLanes, kAllLanes);
  }
  void add_to_some(WarpClock& c, std::uint32_t lanes, std::uint32_t live) {
    c.some |= lanes;
    if ((live & ~c.some) != 0) return;
    c.take(c.of_some);
    c.some = 0;
    c.of_some = {};
  }

  std::uint32_t now_ = 1, floor_ = 1;
  bool proxies_ = false;  ///< there was a proxy fence
  std::vector<WarpClock> clocks_;
};

}  // namespace simgpu::check
