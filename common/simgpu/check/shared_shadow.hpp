// What is remembered of a block's shared memory: per granule (the kernel's smallest access) who
// wrote it last and who read it since. Eight bytes per granule: two tags of time (21 bits), warp (5
// bits) and lane (6 bits). Enough to detect a race, not to name both parties: on suspicion the
// launch is run again with ExactShadow.
#pragma once

#include <cstdint>
#include <vector>

#include "common/simgpu/check/clocks.hpp"

namespace simgpu::check {

using Tag = std::uint32_t;

/// Lane field of a tag: one lane, kManyLanes of the warp, or kAtomicLane; this as the whole low field.
inline constexpr std::uint32_t kManyWarps = 0x7ff;
/// A bulk copy: the field of the warp is then a number of WarpTimes behind the warps.
inline constexpr std::uint32_t kEngineLane = 34;
inline constexpr unsigned kWhoBits = 11;
inline constexpr std::uint32_t kWhoMask = (1u << kWhoBits) - 1;
inline constexpr std::uint32_t kTimeLimit = (1u << (32 - kWhoBits)) - 2;

/// The time of a granule that an asynchronous copy is about to write: later than any other, so that
/// every quick check looks closer.
inline constexpr std::uint32_t kPendingTime = kTimeLimit + 1;

constexpr std::uint32_t who(unsigned warp, std::uint32_t lane) {
  return (warp << 6) | lane;
}
constexpr Tag tag(std::uint32_t time, std::uint32_t who_field) {
  return (time << kWhoBits) | who_field;
}
constexpr std::uint32_t time_of(Tag t) {
  return t >> kWhoBits;
}

constexpr bool is_by_engine(Tag t) {
  return (t & 63) == kEngineLane;
}
constexpr bool is_pending(Tag t) {
  return time_of(t) == kPendingTime;
}

/// What becomes of the tag of readers, `before`, when one more reads: all of tag(time, who) in its
/// parts, in place. Readers before `floor` are forgotten; of several only is remembered whether
/// they are of one warp. Without a branch, since it is the body of the loops that most loads take.
[[gnu::always_inline]] constexpr Tag after_read(Tag before, Tag now, Tag warp, Tag lane,
                                                Tag floor) {
  const Tag mine = now | warp | lane, who_before = before & kWhoMask;
  const Tag shared_by =
      (who_before & ~63u) == warp && who_before != kManyWarps ? warp | kManyLanes : kManyWarps;
  const Tag both = who_before == (mine & kWhoMask) ? mine : now | shared_by;
  return before < floor ? mine : both;
}

struct SharedShadow {
  std::vector<Tag> written, read;  ///< by granule; 0 = never
  unsigned shift = 2;              ///< log2 of the granule's bytes

  /// The same of 64 granules at once, as far as plain accesses go: what an asynchronous copy or
  /// another block of a cluster writes is not here.
  struct Summary {
    std::uint64_t written = 0;  ///< bits
    Tag latest = 0;             ///< a time not before that of the last write
    Tag reads_after = 0;  ///< reads after this time stand in a list (ReadLog) instead of `read`
  };
  std::vector<Summary> summaries;
  void summarise_write(std::uint32_t g, std::uint32_t now) {
    Summary& s = summaries[g / 64];
    s.written |= std::uint64_t{1} << (g % 64);
    s.latest = tag(now, 0);
  }

  void reset(std::uint32_t bytes, unsigned granule_shift) {
    shift = granule_shift;
    const std::size_t n = (bytes >> shift) + 64;  // vector loops may look a little beyond
    written.assign(n, 0);
    read.assign(n, 0);
    summaries.assign(n / 64 + 2, {});
  }

  /// Might the access of `t` be unordered with one of lane `lane` of `warp` now? Exact but for tags
  /// of several threads.
  static bool suspicious(Tag t, const WarpClock& clock, unsigned warp, std::uint32_t lane) {
    if (t == 0) return false;
    const std::uint32_t field = t & kWhoMask, other_warp = field >> 6, other_lane = field & 63;
    if (field == kManyWarps) {
      std::uint32_t oldest = clock.lanes;
      for (unsigned k = 0; k < kMaxWarps; ++k)
        oldest = clock.seen[k] < oldest ? clock.seen[k] : oldest;
      return time_of(t) >= oldest;
    }
    if (is_by_engine(t)) return !clock.copied(lane, kMaxWarps + other_warp, time_of(t));
    if (other_warp == warp)
      return other_lane != lane && !clock.lanes_ordered(warp, lane, other_lane, time_of(t));
    return !clock.ordered(lane, other_warp, other_lane, time_of(t));
  }

  /// What becomes of the tag of readers when one more reads.
  static Tag with_reader(Tag readers, const WarpClock& clock, unsigned warp, std::uint32_t lane,
                         std::uint32_t now) {
    if (readers == 0 || !suspicious(readers, clock, warp, lane)) return tag(now, who(warp, lane));
    const std::uint32_t field = readers & kWhoMask;
    return tag(now, field >> 6 == warp && field != kManyWarps ? who(warp, kManyLanes) : kManyWarps);
  }

  /// False: somebody wrote it at the same time.
  bool on_read(std::uint32_t g, const WarpClock& clock, unsigned warp, std::uint32_t lane,
               std::uint32_t now) {
    const bool fine = !suspicious(written[g], clock, warp, lane);
    read[g] = with_reader(read[g], clock, warp, lane, now);
    return fine;
  }
  bool on_write(std::uint32_t g, const WarpClock& clock, unsigned warp, std::uint32_t lane,
                std::uint32_t now, bool atomic) {
    const bool both_atomic =
        atomic && (written[g] & kWhoMask) != kManyWarps && (written[g] & 63) == kAtomicLane;
    const bool fine = (both_atomic || !suspicious(written[g], clock, warp, lane)) &&
                      !suspicious(read[g], clock, warp, lane);
    written[g] = tag(now, who(warp, atomic ? kAtomicLane : lane));
    summarise_write(g, now);
    return fine;
  }
  /// See BlockClocks.
  void forget_times() {
    for (Tag& t : written)
      if (t != 0 && !is_pending(t)) t = tag(1, t & kWhoMask);
    for (Tag& t : read) t = 0;
    for (Summary& s : summaries) s.latest = s.latest != 0 ? tag(1, 0) : 0, s.reads_after = 0;
  }
};

}  // namespace simgpu::check
