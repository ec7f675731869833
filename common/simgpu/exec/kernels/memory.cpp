// The quick path of loads and stores of 4, 8 and 16 bytes to global and shared memory. It handles
// what goes well: addresses that repeat their pattern, in bounds, initialised, not in a race.
// Anything else takes the complete path, lane by lane (memory_ops.cpp), before anything has been
// changed.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/kernels/quick_loads.hpp"
#include "common/simgpu/exec/memory_ops.hpp"
#include "common/simgpu/exec/sampling.hpp"

namespace simgpu::exec::kernels {
namespace {

// What is rare stands in functions of its own, so that the rest needs few registers.
[[gnu::noinline]] void whole_access(Warp& w, const Op& op) {
  op_memory(w, op);
}

[[gnu::noinline]] void learn_addresses(Warp& w, const Op& op, Warp::Base& base) {
  const std::uint64_t* address = lanes<std::uint64_t>(w, op.a);
  PatternCache& cache = w.run->worker->patterns;
  Pattern& p = cache.patterns[op.slot];
  if (p.mask == w.mask) {  // of lanes that are not here, anything may be in the register
    std::uint64_t differs = 0;
    for (unsigned i = 0; i < kLanes; ++i)
      differs |=
          ((address[i] - base.address) ^ static_cast<std::uint64_t>(std::int64_t{p.rel[i]})) &
          (std::uint64_t{0} - ((w.mask >> i) & 1u));
    if (differs == 0) return;
  }
  if (p.logged) settle_reads(*w.run);
  if (!p.learn(address, w.mask, ++cache.last_number)) base.pattern = nullptr;
}

/// Compares the addresses with the slot's pattern; learns the new one if they differ.
SIMGPU_INLINE void look_at_addresses(Warp& w, const Op& op, Warp::Base& base) {
  if (repeats_pattern(w, op.a, op.slot, base)) return;
  base.address = lanes<std::uint64_t>(w, op.a)[std::countr_zero(w.mask)];
  base.pattern = &w.run->worker->patterns.patterns[op.slot];
  learn_addresses(w, op, base);
}

#if defined(__AVX2__)
/// Four words from each lane, in order of lanes.
SIMGPU_INLINE void store_vectors(std::byte* to, const std::uint32_t* const (&from)[4],
                                 const std::int32_t* rel) {
  for (unsigned i = 0; i < kLanes; i += 8) {
    __m256i v[4];
    for (unsigned k = 0; k < 4; ++k)
      v[k] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from[k] + i));
    exchange(v);
    for (unsigned j = 0; j < 4; ++j) store16(to + rel[i + j], _mm256_castsi256_si128(v[j]));
    for (unsigned j = 0; j < 4; ++j)
      store16(to + rel[i + j + 4], _mm256_extracti128_si256(v[j], 1));
  }
}
#endif

template <class E, unsigned kVec>
[[gnu::noinline]] void load_lane_by_lane(Warp& w, const Op& op, const std::byte* from,
                                         const std::int32_t* rel) {
  for (unsigned k = 0; k < kVec; ++k) {
    E* d = lanes<E>(w, kVec == 1 ? op.dst : op.list[k]);
    for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      std::memcpy(d + i, from + rel[i] + k * sizeof(E), sizeof(E));
    }
  }
}

template <class E, unsigned kVec, bool kShared>
SIMGPU_INLINE void load_lanes(Warp& w, const Op& op, const std::byte* from, const Pattern& p) {
  if (w.mask == kFullMask && loads_together<E, kVec>(p.shape))
    load_all_lanes<E, kVec, kShared>(w, op, from, p);
  else
    load_lane_by_lane<E, kVec>(w, op, from, p.rel.data());
}

/// In order of lanes: of two that write one place the higher wins.
template <class E, unsigned kVec>
SIMGPU_INLINE void store_lanes(Warp& w, const Op& op, std::byte* to, const Pattern& p) {
  const std::int32_t* rel = p.rel.data();
  if constexpr (kVec == 1) {
    const E* s = lanes<E>(w, op.list[0]);
    if (w.mask == kFullMask && p.shape == (sizeof(E) == 4 ? Shape::unit4 : Shape::unit8)) {
      std::memcpy(to, s, kLanes * sizeof(E));
      return;
    }
  }
  const E* s[kVec];
  for (unsigned k = 0; k < kVec; ++k) s[k] = lanes<E>(w, op.list[k]);
#if defined(__AVX2__)
  if constexpr (sizeof(E) == 4 && kVec == 4)
    if (w.mask == kFullMask) return store_vectors(to, s, rel);
#endif
  for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    for (unsigned k = 0; k < kVec; ++k)
      std::memcpy(to + rel[i] + k * sizeof(E), s[k] + i, sizeof(E));
  }
}

/// Calls f(chunk of a GlobalShadow, first granule in it, number of granules, their codes) for all
/// words of an access whose first lane touches `word`.
template <class F>
SIMGPU_INLINE void each_piece(const PatternWidth& p, std::int64_t word, F f) {
  constexpr auto kChunk = static_cast<std::int64_t>(check::GlobalShadow::kChunk);
  for (unsigned r = 0; r < p.runs; ++r) {
    std::int64_t g = word + p.run[r].start;
    const std::uint8_t* code = p.code.data() + p.run[r].first;
    for (unsigned left = p.run[r].length; left != 0;) {
      const auto in = static_cast<unsigned>(g % kChunk);
      const unsigned n = std::min(left, static_cast<unsigned>(kChunk) - in);
      f(static_cast<std::size_t>(g / kChunk), in, n, code);
      g += n;
      code += n;
      left -= n;
    }
  }
}

/// What an access of global memory by this warp writes into shadows.
struct GlobalTags {
  std::uint32_t block, floor, now, warp;
  GlobalTags(const BlockRun& run, const Warp& w)
      : block(check::GlobalShadow::block_mark(run.number)),
        floor(run.clocks.floor() << check::kWhoBits),
        now(run.clocks.now() << check::kWhoBits),
        warp(w.index << 6) {}
  /// Nonzero: a place marked so may be in use by another thread.
  SIMGPU_INLINE std::uint32_t odd(const check::GlobalShadow::Marks& m, unsigned k,
                                  std::uint8_t code) const {
    const std::uint32_t other_thread =
        static_cast<std::uint32_t>(((m.tag[k] ^ (warp | code)) & check::kWhoMask) != 0) &
        static_cast<std::uint32_t>(m.tag[k] >= floor);
    return static_cast<std::uint32_t>(m.block[k] != 0) &
           (static_cast<std::uint32_t>(m.block[k] != block) | other_thread);
  }
};

/// Of global memory whose readers are kept; false = look closer. Marks the words as read.
SIMGPU_INLINE bool global_read_is_plain(BlockRun& run, const Warp& w, const PatternWidth& p,
                                        check::GlobalShadow& shadow, std::int64_t word) {
  using Shadow = check::GlobalShadow;
  const GlobalTags mine(run, w);
  std::uint32_t odd = 0;
  each_piece(p, word, [&](std::size_t c, unsigned in, unsigned n, const std::uint8_t* code) {
    if (const Shadow::Marks* m = shadow.written(c))
      for (unsigned k = 0; k < n; ++k) odd |= mine.odd(*m, in + k, code[k]);
  });
  if (odd != 0) return false;
  each_piece(p, word, [&](std::size_t c, unsigned in, unsigned n, const std::uint8_t* code) {
    Shadow::Marks& m = shadow.make_read(c);
    for (unsigned k = 0; k < n; ++k) {
      const std::uint32_t by = m.block[in + k];
      m.tag[in + k] = check::after_read(by == mine.block ? m.tag[in + k] : 0, mine.now, mine.warp,
                                        code[k], mine.floor);
      m.block[in + k] = by == 0 || by == mine.block ? mine.block : Shadow::kManyBlocks;
    }
  });
  return true;
}

SIMGPU_INLINE bool global_write_is_plain(BlockRun& run, const Warp& w, const PatternWidth& p,
                                         check::GlobalShadow& shadow, std::int64_t word) {
  using Shadow = check::GlobalShadow;
  if (p.lanes_overlap) return false;
  const GlobalTags mine(run, w);
  std::uint32_t odd = 0;
  each_piece(p, word, [&](std::size_t c, unsigned in, unsigned n, const std::uint8_t* code) {
    for (const Shadow::Marks* m : {shadow.written(c), shadow.read(c)})
      for (unsigned k = 0; m != nullptr && k < n; ++k) odd |= mine.odd(*m, in + k, code[k]);
  });
  if (odd != 0) return false;
  each_piece(p, word, [&](std::size_t c, unsigned in, unsigned n, const std::uint8_t* code) {
    Shadow::Marks& m = shadow.make_written(c);
    for (unsigned k = 0; k < n; ++k) {
      m.block[in + k] = mine.block;
      m.tag[in + k] = mine.now | mine.warp | code[k];
    }
  });
  return true;
}

/// A load's race and initialisation checks; false = look closer. Marks the words as read.
SIMGPU_INLINE bool shared_read_is_plain(BlockRun& run, const Warp& w, const PatternWidth& p,
                                        std::uint32_t word) {
  const std::uint32_t floor = run.clocks.floor() << check::kWhoBits;
  const check::Tag* written = run.shadow.written.data();
  // Written in this interval by anybody (even by this warp), or never.
  std::uint32_t odd = 0;
  for (unsigned r = 0; r < p.runs; ++r) {
    const check::Tag* t = written + static_cast<std::int64_t>(word) + p.run[r].start;
    const unsigned n = p.run[r].length;
    for (unsigned k = 0; k < n; ++k)
      odd |= static_cast<std::uint32_t>(t[k] >= floor) | static_cast<std::uint32_t>(t[k] == 0);
  }
  if (odd != 0) return false;
  if (!run.mode.race) return true;
  if (!run.reads.empty()) settle_reads(run);
  const std::uint32_t now = run.clocks.now() << check::kWhoBits;
  const std::uint32_t warp = w.index << 6;
  for (unsigned r = 0; r < p.runs; ++r) {
    check::Tag* t = run.shadow.read.data() + static_cast<std::int64_t>(word) + p.run[r].start;
    const std::uint8_t* code = p.code.data() + p.run[r].first;
    const unsigned n = p.run[r].length;
    for (unsigned k = 0; k < n; ++k) t[k] = check::after_read(t[k], now, warp, code[k], floor);
  }
  return true;
}

SIMGPU_INLINE bool shared_write_is_plain(BlockRun& run, const Warp& w, const PatternWidth& p,
                                         std::uint32_t word) {
  if (p.lanes_overlap) return false;
  const std::uint32_t floor = run.clocks.floor() << check::kWhoBits;
  const PatternWidth::Run& last = p.run[p.runs - 1u];
  check::SharedShadow::Summary* const summary =
      run.shadow.summaries.data() + (static_cast<std::int64_t>(word) + p.run[0].start) / 64;
  const check::SharedShadow::Summary* const end =
      run.shadow.summaries.data() +
      (static_cast<std::int64_t>(word) + last.start + last.length - 1) / 64 + 1;
  if (!run.reads.empty() && std::any_of(static_cast<const check::SharedShadow::Summary*>(summary),
                                        end, [=](const auto& s) { return s.reads_after == floor; }))
    settle_reads(run);
  std::uint32_t odd = 0;
  for (unsigned r = 0; r < p.runs; ++r) {
    const std::int64_t start = static_cast<std::int64_t>(word) + p.run[r].start;
    const check::Tag *wt = run.shadow.written.data() + start, *rt = run.shadow.read.data() + start;
    const unsigned n = p.run[r].length;
    for (unsigned k = 0; k < n; ++k)
      odd |=
          static_cast<std::uint32_t>(wt[k] >= floor) | static_cast<std::uint32_t>(rt[k] >= floor);
  }
  if (odd != 0) return false;
  const std::uint32_t mine = (run.clocks.now() << check::kWhoBits) | (w.index << 6);
  for (unsigned r = 0; r < p.runs; ++r) {
    check::Tag* t = run.shadow.written.data() + static_cast<std::int64_t>(word) + p.run[r].start;
    const std::uint8_t* code = p.code.data() + p.run[r].first;
    const unsigned n = p.run[r].length;
    for (unsigned k = 0; k < n; ++k) t[k] = mine | code[k];
  }
  if (p.window != 0) {
    const auto shift =
        static_cast<unsigned>((static_cast<std::int64_t>(word) + p.run[0].start) % 64);
    summary[0].written |= p.window << shift;
    summary[1].written |= p.window >> 1 >> (63 - shift);
  } else {
    for (unsigned r = 0; r < p.runs; ++r)
      for (unsigned k = 0; k < p.run[r].length; ++k) {
        const std::int64_t g = static_cast<std::int64_t>(word) + p.run[r].start + k;
        run.shadow.summaries[static_cast<std::size_t>(g / 64)].written |= std::uint64_t{1}
                                                                          << (g % 64);
      }
  }
  for (check::SharedShadow::Summary* s = summary; s != end; ++s)
    s->latest = mine & ~check::kWhoMask;
  return true;
}

template <bool kLoad>
[[gnu::noinline]] bool shared_is_plain(const Warp& w, Pattern& p, unsigned index,
                                       std::uint64_t at) {
  BlockRun& run = *w.run;
  if (!run.mode.shared_words) return false;
  const PatternWidth& width = p.of(index);
  const auto word = static_cast<std::uint32_t>(at >> 2);
  if constexpr (kLoad)
    return shared_read_is_plain(run, w, width, word);
  else
    return shared_write_is_plain(run, w, width, word);
}

[[gnu::noinline]] void new_shared_tally(const Warp& w, const Op& op, const Pattern& p,
                                        std::uint64_t key, std::uint64_t at) {
  BlockRun& run = *w.run;
  begin_shared(run, op, p, key);
  if (run.launch->options.sample_accesses)
    sample_shared_pattern(run, op, p, at + memory::kSharedBase);
}

template <bool kLoad, class E, unsigned kVec>
[[gnu::noinline]] void shared_access(Warp& w, const Op& op) {
  constexpr unsigned kBytes = sizeof(E) * kVec;
  constexpr unsigned kIndex = kBytes == 4 ? 0 : kBytes == 8 ? 1 : 2;
  BlockRun& run = *w.run;
  Warp::Base& base = w.bases[op.slot];
  if ((op.z & kFollows) == 0) look_at_addresses(w, op, base);
  Pattern* p = base.pattern;
  if (p == nullptr || !run.mode.quick) [[unlikely]]
    return whole_access(w, op);
  const std::uint64_t at = base.address + static_cast<std::uint64_t>(op.imm) - run.shared_start;
  const std::int64_t low = static_cast<std::int64_t>(at) + p->low,
                     high = static_cast<std::int64_t>(at) + p->high + kBytes;
  if (at > (1u << 30) || low < op.b || high > op.c ||
      high > static_cast<std::int64_t>(run.launch->shared_bytes) ||
      ((at | p->bits) & (kBytes - 1)) != 0) [[unlikely]]
    return whole_access(w, op);
  if (run.mode.checked && !(kLoad && shared_read_is_quick(run, w, *p, p->width[kIndex], at)) &&
      !shared_is_plain<kLoad>(w, *p, kIndex, at)) [[unlikely]]
    return whole_access(w, op);
  if constexpr (kLoad)
    load_lanes<E, kVec, true>(w, op, run.shared.data() + at, *p);
  else
    store_lanes<E, kVec>(w, op, run.shared.data() + at, *p);
  if (!run.mode.count) return;
  SiteCount& s = run.sites[op.site];
  const std::uint64_t key = (std::uint64_t{p->number} << 32) | 1;
  if (s.key == key) [[likely]]
    ++s.pending;
  else
    new_shared_tally(w, op, *p, key, at);
}

/// Races and initialisation. False = look closer.
template <bool kLoad>
[[gnu::noinline]] bool global_is_plain(const Warp& w, Pattern& p, unsigned index,
                                       memory::Allocation& a, std::uint64_t at) {
  BlockRun& run = *w.run;
  const unsigned bytes = 4u << index;
  memory::Allocation::LaunchState& state = a.launch;
  const auto low = static_cast<std::int64_t>(at) + p.low,
             high = static_cast<std::int64_t>(at) + p.high + bytes;
  if constexpr (kLoad) {
    if (run.mode.init && !a.fully_initialised &&
        (high - low > 4096 || std::memchr(a.initialised.get() + low, 0,
                                          static_cast<std::size_t>(high - low)) != nullptr))
      return false;
    if (!run.mode.race) return true;
    note_use(run, a, AccessType::load);
    return !state.keeps_readers.load(std::memory_order_relaxed) ||
           (run.mode.global_words && global_read_is_plain(run, w, p.of(index), shadow_of(run, a),
                                                          static_cast<std::int64_t>(at >> 2)));
  } else {
    if (!run.mode.race) return true;
    note_use(run, a, AccessType::store);
    return run.mode.global_words && global_write_is_plain(run, w, p.of(index), shadow_of(run, a),
                                                          static_cast<std::int64_t>(at >> 2));
  }
}

[[gnu::noinline]] void mark_initialised(const Warp& w, const Pattern& p, std::uint8_t* marks,
                                        unsigned bytes, int element) {
  for (std::uint32_t left = w.mask; left != 0; left &= left - 1)
    std::memset(marks + p.rel[static_cast<unsigned>(std::countr_zero(left))], element, bytes);
}

[[gnu::noinline]] void begin_writing(const Warp& w, memory::Allocation& a) {
  prepare_write(*w.run->launch, a);
}

[[gnu::noinline]] void new_global_tally(const Warp& w, const Op& op, const Pattern& p,
                                        const memory::Allocation& a, std::uint64_t key) {
  begin_global(*w.run, op, p, a, key);
}

[[gnu::noinline]] void sample_worst(const Warp& w, const Op& op, const Pattern& p,
                                    std::uint64_t address, unsigned sectors) {
  sample_global_pattern(*w.run, op, p, address, sectors);
}

/// Whose slot the address is in, remembered for the next access; null = nobody's.
[[gnu::noinline]] memory::Allocation* find_owner(const Warp& w, Warp::Base& base,
                                                 std::uint64_t address) {
  return base.allocation = w.run->launch->memory->owner(address);
}

/// Whether all lanes reach places of the allocation that they may load from, or store to. `at`: of the
/// first lane.
template <bool kLoad, unsigned kBytes>
SIMGPU_INLINE bool all_may_access(const memory::Allocation& a, const Pattern& p, std::uint64_t at) {
  const std::int64_t low = static_cast<std::int64_t>(at) + p.low,
                     high = static_cast<std::int64_t>(at) + p.high + kBytes;
  return low >= 0 && high <= static_cast<std::int64_t>(a.size) &&
         ((at | p.bits) & (kBytes - 1)) == 0 && a.live() && !a.constant &&
         (kLoad || !a.checks_stores);
}

/// Of an allocation that is only read, and all there, nothing more is to be known.
SIMGPU_INLINE bool is_only_read(const memory::Allocation& a) {
  return a.fully_initialised && a.launch.read.load(std::memory_order_relaxed) &&
         !a.launch.keeps_readers.load(std::memory_order_relaxed);
}

SIMGPU_INLINE std::uint64_t tally_key(const Pattern& p, const memory::Allocation& a) {
  return (std::uint64_t{p.number} << 32) | (std::uint64_t{a.live_index} << 1);
}

template <bool kLoad, class E, unsigned kVec>
[[gnu::noinline]] void global_access(Warp& w, const Op& op) {
  constexpr unsigned kBytes = sizeof(E) * kVec;
  constexpr unsigned kIndex = kBytes == 4 ? 0 : kBytes == 8 ? 1 : 2;
  BlockRun& run = *w.run;
  Warp::Base& base = w.bases[op.slot];
  if ((op.z & kFollows) == 0) look_at_addresses(w, op, base);
  Pattern* p = base.pattern;
  if (p == nullptr || !run.mode.quick) [[unlikely]]
    return whole_access(w, op);
  const std::uint64_t address = base.address + static_cast<std::uint64_t>(op.imm);
  memory::Allocation* a = base.allocation;
  if (a == nullptr || memory::slot_of(a->base) != memory::slot_of(address)) [[unlikely]]
    if ((a = find_owner(w, base, address)) == nullptr) return whole_access(w, op);
  const std::uint64_t at = address - a->base;
  if (!all_may_access<kLoad, kBytes>(*a, *p, at)) [[unlikely]]
    return whole_access(w, op);
  if constexpr (!kLoad)
    if (!a->launch.saved.load(std::memory_order_acquire)) [[unlikely]]
      begin_writing(w, *a);
  if (run.mode.checked && !(kLoad && is_only_read(*a)) &&
      !global_is_plain<kLoad>(w, *p, kIndex, *a, at))
    return whole_access(w, op);
  if constexpr (kLoad) {
    load_lanes<E, kVec, false>(w, op, a->data.get() + at, *p);
  } else {
    if (!a->fully_initialised)
      mark_initialised(w, *p, a->initialised.get() + at, kBytes, sizeof(E));
    store_lanes<E, kVec>(w, op, a->data.get() + at, *p);
  }
  if (!run.mode.count) return;
  SiteCount& s = run.sites[op.site];
  const std::uint64_t key = tally_key(*p, *a);
  if (s.key == key) [[likely]]
    ++s.pending;
  else
    new_global_tally(w, op, *p, *a, key);
  const unsigned sectors = p->sectors(kIndex, at);
  s.pending_sectors += sectors;
  if (sectors > s.sample_above) [[unlikely]]
    sample_worst(w, op, *p, address, sectors);
}

// Loads that are as the last ones were: nothing is called, so that nothing need be kept for later.
// Whatever is not so takes the way above, before anything has been changed.

template <class E, unsigned kVec, bool kChecked>
[[gnu::noinline]] void shared_load(Warp& w, const Op& op) {
  constexpr unsigned kBytes = sizeof(E) * kVec;
  constexpr unsigned kIndex = kBytes == 4 ? 0 : kBytes == 8 ? 1 : 2;
  BlockRun& run = *w.run;
  Warp::Base& base = w.bases[op.slot];
  if ((op.z & kFollows) == 0 && !repeats_pattern(w, op.a, op.slot, base))
    return shared_access<true, E, kVec>(w, op);
  Pattern* p = base.pattern;
  if (w.mask != kFullMask || p == nullptr || !run.mode.tallied ||
      !loads_together<E, kVec>(p->shape))
    return shared_access<true, E, kVec>(w, op);
  const std::uint64_t at = base.address + static_cast<std::uint64_t>(op.imm) - run.shared_start;
  const std::int64_t low = static_cast<std::int64_t>(at) + p->low,
                     high = static_cast<std::int64_t>(at) + p->high + kBytes;
  SiteCount& s = run.sites[op.site];
  if (at > (1u << 30) || low < op.b || high > op.c ||
      high > static_cast<std::int64_t>(run.launch->shared_bytes) ||
      ((at | p->bits) & (kBytes - 1)) != 0 || s.key != ((std::uint64_t{p->number} << 32) | 1) ||
      (kChecked && !shared_read_is_quick(run, w, *p, p->width[kIndex], at)))
    return shared_access<true, E, kVec>(w, op);
  ++s.pending;
  load_all_lanes<E, kVec, true>(w, op, run.shared.data() + at, *p);
}

template <class E, unsigned kVec>
void shared_load(Warp& w, const Op& op) {
  return w.run->mode.checked ? shared_load<E, kVec, true>(w, op)
                             : shared_load<E, kVec, false>(w, op);
}

template <class E, unsigned kVec>
void global_load(Warp& w, const Op& op) {
  constexpr unsigned kBytes = sizeof(E) * kVec;
  constexpr unsigned kIndex = kBytes == 4 ? 0 : kBytes == 8 ? 1 : 2;
  BlockRun& run = *w.run;
  Warp::Base& base = w.bases[op.slot];
  if ((op.z & kFollows) == 0 && !repeats_pattern(w, op.a, op.slot, base))
    return global_access<true, E, kVec>(w, op);
  Pattern* p = base.pattern;
  const memory::Allocation* a = base.allocation;
  if (w.mask != kFullMask || p == nullptr || a == nullptr || !run.mode.tallied ||
      !loads_together<E, kVec>(p->shape))
    return global_access<true, E, kVec>(w, op);
  const std::uint64_t at = base.address + static_cast<std::uint64_t>(op.imm) - a->base;
  SiteCount& s = run.sites[op.site];
  const unsigned sectors = p->known_sectors(kIndex, at);
  if (at >= a->size || !all_may_access<true, kBytes>(*a, *p, at) ||
      (run.mode.checked && !is_only_read(*a)) || s.key != tally_key(*p, *a) || sectors == 0 ||
      sectors > s.sample_above)
    return global_access<true, E, kVec>(w, op);
  ++s.pending;
  s.pending_sectors += sectors;
  load_all_lanes<E, kVec, false>(w, op, a->data.get() + at, *p);
}

template <bool kLoad, class E, unsigned kVec>
void set_access(HandlerTable& t) {
  constexpr unsigned kSize = sizeof(E) == 8 ? 1 : 0, kLog2 = kVec == 1 ? 0 : kVec == 2 ? 1 : 2;
  if constexpr (kLoad) {
    t.shared[0][kSize][kLog2] = shared_load<E, kVec>;
    t.global[0][kSize][kLog2] = global_load<E, kVec>;
  } else {
    t.shared[1][kSize][kLog2] = shared_access<false, E, kVec>;
    t.global[1][kSize][kLog2] = global_access<false, E, kVec>;
  }
}

template <bool kLoad>
void set_memory(HandlerTable& t) {
  set_access<kLoad, std::uint32_t, 1>(t);
  set_access<kLoad, std::uint32_t, 2>(t);
  set_access<kLoad, std::uint32_t, 4>(t);
  set_access<kLoad, std::uint64_t, 1>(t);
  set_access<kLoad, std::uint64_t, 2>(t);
}

}  // namespace

void fill_memory(HandlerTable& t) {
  set_memory<true>(t);
  set_memory<false>(t);
}

}  // namespace simgpu::exec::kernels
