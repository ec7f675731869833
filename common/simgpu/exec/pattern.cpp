#include "common/simgpu/exec/pattern.hpp"

#include <algorithm>
#include <bit>

#include "common/simgpu/check/shared_shadow.hpp"
#include "common/simgpu/count/coalescing.hpp"
#include "common/simgpu/count/shared_banks.hpp"
#include "common/simgpu/exec/memory_ops.hpp"
#include "common/simgpu/exec/sampling.hpp"

namespace simgpu::exec {

bool Pattern::learn(const std::uint64_t* address, std::uint32_t active, std::uint32_t new_number) {
  mask = 0;
  const unsigned first = static_cast<unsigned>(std::countr_zero(active));
  std::int64_t least = 0, greatest = 0;
  bits = 0;
  bool same = true, by4 = active == kFullMask, by8 = by4, by16 = by4;
  for (unsigned i = 0; i < kLanes; ++i) {
    rel[i] = 0;
    if (((active >> i) & 1u) == 0) continue;
    const auto d = static_cast<std::int64_t>(address[i] - address[first]);
    if (d != static_cast<std::int32_t>(d)) return false;
    least = std::min(least, d);
    greatest = std::max(greatest, d);
    rel[i] = static_cast<std::int32_t>(d);
    bits |= static_cast<std::uint32_t>(d);
    same &= d == 0;
    by4 &= d == 4 * static_cast<std::int64_t>(i);
    by8 &= d == 8 * static_cast<std::int64_t>(i);
    by16 &= d == 16 * static_cast<std::int64_t>(i);
  }
  low = static_cast<std::int32_t>(least);
  high = static_cast<std::int32_t>(greatest);
  shape = same   ? Shape::broadcast
          : by4  ? Shape::unit4
          : by8  ? Shape::unit8
          : by16 ? Shape::unit16
                 : Shape::other;
  const bool regular = shape == Shape::broadcast || shape == Shape::unit4;
  if (active == kFullMask && (regular || shape == Shape::other) && find_octets() && !regular)
    shape = Shape::octets;
  logged = false;
  for (PatternWidth& w : width) w.known = false, w.window = 0;
  sector_count_ = {};
  mask = active;
  number = new_number;
  return true;
}

bool Pattern::find_octets() {
  if ((bits & 3) != 0) return false;
  octets.touched.fill(0);
  for (unsigned k = 0; k < octets.start.size(); ++k) {
    const auto first = rel.begin() + 8 * k;
    octets.start[k] = *std::min_element(first, first + 8);
    for (unsigned i = 8 * k; i < 8 * k + 8; ++i) {
      const std::int64_t word = (std::int64_t{rel[i]} - octets.start[k]) / 4;
      if (word >= 8) return false;
      octets.word[i] = static_cast<std::int32_t>(word);
      octets.touched[8 * k + static_cast<unsigned>(word)] = -1;
    }
  }
  return true;
}

void Pattern::work_out(unsigned index) {
  PatternWidth& w = width[index];
  const unsigned words = 1u << index;
  struct Touch {
    std::int32_t word;
    std::uint8_t lane;
  };
  std::array<Touch, 128> touches;
  unsigned n = 0;
  for (unsigned i = 0; i < kLanes; ++i)
    if ((mask >> i) & 1u)
      for (unsigned k = 0; k < words; ++k)
        touches[n++] = {(rel[i] >> 2) + static_cast<std::int32_t>(k), static_cast<std::uint8_t>(i)};
  std::sort(touches.begin(), touches.begin() + n, [](const Touch& a, const Touch& b) {
    return a.word != b.word ? a.word < b.word : a.lane < b.lane;
  });
  w.runs = 0;
  w.lanes_overlap = false;
  unsigned codes = 0;
  for (unsigned k = 0; k < n;) {
    const std::int32_t word = touches[k].word;
    std::uint8_t code = touches[k].lane;
    unsigned next = k + 1;
    while (next < n && touches[next].word == word) ++next;
    if (next > k + 1) {
      code = static_cast<std::uint8_t>(check::kManyLanes);
      w.lanes_overlap = true;
    }
    if (w.runs != 0 && w.run[w.runs - 1u].start + w.run[w.runs - 1u].length == word) {
      ++w.run[w.runs - 1u].length;
    } else {
      w.run[w.runs++] = {word, 1, static_cast<std::uint16_t>(codes)};
    }
    w.code[codes++] = code;
    k = next;
  }
  w.window = 0;
  w.least = touches[0].word;
  if (std::int64_t{touches[n - 1].word} - w.least < 64)
    for (unsigned k = 0; k < n; ++k) w.window |= std::uint64_t{1} << (touches[k].word - w.least);
  w.known = true;
}

namespace {

void addresses_of(const Pattern& p, std::uint64_t base, std::uint64_t (&address)[kLanes]) {
  for (unsigned i = 0; i < kLanes; ++i)
    address[i] = base + static_cast<std::uint64_t>(std::int64_t{p.rel[i]});
}

template <class T>
void add_times(T& to, const T& each, std::uint64_t n);
template <>
void add_times(GlobalCounts& to, const GlobalCounts& each, std::uint64_t n) {
  to.requests += each.requests * n;
  to.sectors += each.sectors * n;
  to.ideal_sectors += each.ideal_sectors * n;
  to.bytes += each.bytes * n;
}
template <>
void add_times(SharedCounts& to, const SharedCounts& each, std::uint64_t n) {
  to.requests += each.requests * n;
  to.wavefronts += each.wavefronts * n;
  to.ideal_wavefronts += each.ideal_wavefronts * n;
  to.raw_requests += each.raw_requests * n;
  to.raw_wavefronts += each.raw_wavefronts * n;
  to.raw_ideal_wavefronts += each.raw_ideal_wavefronts * n;
  to.bytes += each.bytes * n;
}

}  // namespace

std::uint8_t Pattern::count_sectors(unsigned index, std::uint64_t base) const {
  std::uint64_t address[kLanes];
  addresses_of(*this, base, address);
  return static_cast<std::uint8_t>(count::sectors(address, mask, 4u << index));
}

void settle_reads(BlockRun& run) {
  const std::uint32_t floor = run.reads.floor();
  // After a barrier of the whole block they are forgotten.
  if (floor == run.clocks.floor() << check::kWhoBits)
    for (const ReadLog::Entry& e : run.reads.entries()) {
      const std::uint32_t warp = e.tag & check::kWhoMask, now = e.tag - warp;
      for (unsigned r = 0; r < e.width->runs; ++r) {
        check::Tag* t = run.shadow.read.data() + std::int64_t{e.word} + e.width->run[r].start;
        const std::uint8_t* code = e.width->code.data() + e.width->run[r].first;
        const unsigned n = e.width->run[r].length;
        for (unsigned k = 0; k < n; ++k) t[k] = check::after_read(t[k], now, warp, code[k], floor);
      }
    }
  run.reads.clear();
}

void settle(Counters& counters, SiteCount& s, AccessType type) {
  if (s.pending == 0) return;
  add_times(s.global, s.global_each, s.pending);
  add_times(s.shared, s.shared_each, s.pending);
  s.global.sectors += s.pending_sectors;
  if (s.buffer != UINT32_MAX) {
    BufferTraffic& b = counters.buffers[s.buffer];
    GlobalCounts& g = type == AccessType::load ? b.load : b.store;
    add_times(g, s.global_each, s.pending);
    g.sectors += s.pending_sectors;
  }
  s.pending = s.pending_sectors = 0;
}

void begin_shared(BlockRun& run, const Op& op, const Pattern& p, std::uint64_t key) {
  SiteCount& s = run.worker->counters.sites[op.site];
  const auto type = static_cast<AccessType>(op.y);
  settle(run.worker->counters, s, type);
  std::uint64_t address[kLanes];
  addresses_of(p, std::uint64_t{1} << 40, address);
  const unsigned bytes = unsigned{op.width} * op.vec;
  s.key = key;
  s.pending = 1;
  s.buffer = UINT32_MAX;
  s.global_each = {};
  s.shared_each = shared_cost(run, op, type, address, p.mask, bytes);
}

void begin_global(BlockRun& run, const Op& op, const Pattern& p, const memory::Allocation& a,
                  std::uint64_t key) {
  SiteCount& s = run.worker->counters.sites[op.site];
  settle(run.worker->counters, s, static_cast<AccessType>(op.y));
  std::uint64_t address[kLanes];
  addresses_of(p, std::uint64_t{1} << 40, address);
  const unsigned bytes = unsigned{op.width} * op.vec;
  s.key = key;
  s.pending = 1;
  s.buffer = a.live_index;
  s.shared_each = {};
  s.global_each = {1, 0, count::ideal_sectors(count::distinct_bytes(address, p.mask, bytes)),
                   std::uint64_t{bytes} * static_cast<unsigned>(std::popcount(p.mask))};
  s.sample_above = sample_threshold(run, op, static_cast<unsigned>(s.global_each.ideal_sectors));
}

}  // namespace simgpu::exec
