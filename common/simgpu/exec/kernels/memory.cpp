// The quick path of loads and stores of 4, 8 and 16 bytes to global and shared memory. It handles
// what goes well: addresses that repeat their pattern, in bounds, initialised, not in a race.
// Anything else takes the complete path, lane by lane (memory_ops.cpp), before anything has been
// changed.
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/kernels/lanes.hpp"
#include "common/simgpu/exec/memory_ops.hpp"
#include "common/simgpu/exec/sampling.hpp"

namespace simgpu::exec::kernels {
namespace {

/// Op::z: the register was looked at by an earlier access of this block
constexpr std::uint8_t kFollows = 2;

/// Compares the addresses with the slot's pattern; learns the new one if they differ.
SIMGPU_INLINE void look_at_addresses(Warp& w, const Op& op, Warp::Base& base) {
  const std::uint64_t* address = lanes<std::uint64_t>(w, op.a);
  PatternCache& cache = w.run->worker->patterns;
  Pattern& p = cache.patterns[op.slot];
  const std::uint32_t mask = w.mask;
  const std::uint64_t first = address[std::countr_zero(mask)];
  base.address = first;
  base.pattern = &p;
  if (p.mask == mask) {
    std::uint64_t differs = 0;
    const std::int32_t* rel = p.rel.data();
    if (mask == kFullMask) {
      for (unsigned i = 0; i < kLanes; ++i)
        differs |= (address[i] - first) ^ static_cast<std::uint64_t>(std::int64_t{rel[i]});
    } else {
      for (unsigned i = 0; i < kLanes; ++i)
        differs |= ((address[i] - first) ^ static_cast<std::uint64_t>(std::int64_t{rel[i]})) &
                   (std::uint64_t{0} - ((mask >> i) & 1u));
    }
    if (differs == 0) return;
  }
  if (!p.learn(address, mask, ++cache.last_number)) base.pattern = nullptr;
}

[[gnu::noinline]] void whole_access(Warp& w, const Op& op) {
  op_memory(w, op);
}

template <class E, unsigned kVec>
SIMGPU_INLINE void load_lanes(Warp& w, const Op& op, const std::byte* from, const Pattern& p) {
  const std::int32_t* rel = p.rel.data();
  if (w.mask == kFullMask) {
    if constexpr (kVec == 1) {
      E* d = lanes<E>(w, op.dst);
      if (p.shape == (sizeof(E) == 4 ? Shape::unit4 : Shape::unit8)) {
        std::memcpy(d, from, kLanes * sizeof(E));
        return;
      }
      if (p.shape == Shape::broadcast) {
        E v;
        std::memcpy(&v, from, sizeof v);
        SIMGPU_LANE_LOOP d[i] = v;
        return;
      }
      SIMGPU_LANE_LOOP std::memcpy(d + i, from + rel[i], sizeof(E));
    } else {
      E* d[kVec];
      for (unsigned k = 0; k < kVec; ++k) d[k] = lanes<E>(w, op.list[k]);
      if (p.shape == Shape::broadcast) {
        for (unsigned k = 0; k < kVec; ++k) {
          E v;
          std::memcpy(&v, from + k * sizeof(E), sizeof v);
          E* to = d[k];
          SIMGPU_LANE_LOOP to[i] = v;
        }
        return;
      }
      for (unsigned i = 0; i < kLanes; ++i) {
        E v[kVec];
        std::memcpy(v, from + rel[i], sizeof v);
        for (unsigned k = 0; k < kVec; ++k) d[k][i] = v[k];
      }
    }
    return;
  }
  for (unsigned k = 0; k < kVec; ++k) {
    E* d = lanes<E>(w, kVec == 1 ? op.dst : op.list[k]);
    for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      std::memcpy(d + i, from + rel[i] + k * sizeof(E), sizeof(E));
    }
  }
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
                                        std::uint32_t word, const Checks& checks) {
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
  if (!checks.race) return true;
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
  return true;
}

template <bool kLoad, class E, unsigned kVec>
void shared_access(Warp& w, const Op& op) {
  constexpr unsigned kBytes = sizeof(E) * kVec;
  constexpr unsigned kIndex = kBytes == 4 ? 0 : kBytes == 8 ? 1 : 2;
  BlockRun& run = *w.run;
  const LaunchRun& launch = *run.launch;
  if (launch.exact) return whole_access(w, op);
  Warp::Base& base = w.bases[op.slot];
  if ((op.z & kFollows) == 0) look_at_addresses(w, op, base);
  Pattern* p = base.pattern;
  if (p == nullptr) return whole_access(w, op);
  const std::uint64_t at = base.address + static_cast<std::uint64_t>(op.imm) - run.shared_start;
  const std::int64_t low = static_cast<std::int64_t>(at) + p->low,
                     high = static_cast<std::int64_t>(at) + p->high + kBytes;
  if (at > (1u << 30) || low < 0 || high > static_cast<std::int64_t>(launch.shared_bytes) ||
      ((at | p->bits) & (kBytes - 1)) != 0)
    return whole_access(w, op);
  const Checks& checks = launch.options.checks;
  if (checks.race || checks.init) {
    if (run.shadow.shift != 2) return whole_access(w, op);
    const PatternWidth& width = p->of(kIndex);
    const auto word = static_cast<std::uint32_t>(at >> 2);
    if (!(kLoad ? shared_read_is_plain(run, w, width, word, checks)
                : shared_write_is_plain(run, w, width, word)))
      return whole_access(w, op);
  }
  if constexpr (kLoad)
    load_lanes<E, kVec>(w, op, run.shared.data() + at, *p);
  else
    store_lanes<E, kVec>(w, op, run.shared.data() + at, *p);
  if (launch.options.count) {
    SiteCount& s = run.worker->counters.sites[op.site];
    const std::uint64_t key = (std::uint64_t{p->number} << 32) | 1;
    if (s.key == key)
      ++s.pending;
    else {
      begin_shared(run, op, *p, key);
      if (launch.options.sample_accesses)
        sample_shared_pattern(run, op, *p, at + memory::kSharedBase);
    }
  }
}

template <bool kLoad, class E, unsigned kVec>
void global_access(Warp& w, const Op& op) {
  constexpr unsigned kBytes = sizeof(E) * kVec;
  constexpr unsigned kIndex = kBytes == 4 ? 0 : kBytes == 8 ? 1 : 2;
  BlockRun& run = *w.run;
  LaunchRun& launch = *run.launch;
  if (launch.exact) return whole_access(w, op);
  Warp::Base& base = w.bases[op.slot];
  if ((op.z & kFollows) == 0) look_at_addresses(w, op, base);
  Pattern* p = base.pattern;
  if (p == nullptr) return whole_access(w, op);
  const std::uint64_t address = base.address + static_cast<std::uint64_t>(op.imm);
  memory::Allocation* a = base.allocation;
  if (a == nullptr || memory::slot_of(a->base) != memory::slot_of(address)) {
    a = launch.memory->owner(address);
    base.allocation = a;
    if (a == nullptr) return whole_access(w, op);
  }
  const std::uint64_t at = address - a->base;
  const std::int64_t low = static_cast<std::int64_t>(at) + p->low,
                     high = static_cast<std::int64_t>(at) + p->high + kBytes;
  if (low < 0 || high > static_cast<std::int64_t>(a->size) ||
      ((at | p->bits) & (kBytes - 1)) != 0 || !a->live() || a->constant)
    return whole_access(w, op);
  const Checks& checks = launch.options.checks;
  memory::Allocation::LaunchState& state = a->launch;
  if constexpr (kLoad) {
    if (checks.init && !a->fully_initialised &&
        (high - low > 4096 || std::memchr(a->initialised.get() + low, 0,
                                          static_cast<std::size_t>(high - low)) != nullptr))
      return whole_access(w, op);
    if (checks.race) {
      note_use(run, *a, AccessType::load);
      if (state.keeps_readers.load(std::memory_order_relaxed) &&
          (launch.program->global_granule != 4 ||
           !global_read_is_plain(run, w, p->of(kIndex), shadow_of(run, *a),
                                 static_cast<std::int64_t>(at >> 2))))
        return whole_access(w, op);
    }
    load_lanes<E, kVec>(w, op, a->data.get() + at, *p);
  } else {
    if (a->read_only) return whole_access(w, op);
    if (!state.saved.load(std::memory_order_acquire)) prepare_write(launch, *a);
    if (checks.race) {
      note_use(run, *a, AccessType::store);
      if (launch.program->global_granule != 4 ||
          !global_write_is_plain(run, w, p->of(kIndex), shadow_of(run, *a),
                                 static_cast<std::int64_t>(at >> 2)))
        return whole_access(w, op);
    }
    if (!a->fully_initialised)
      for (std::uint32_t left = w.mask; left != 0; left &= left - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(left));
        std::memset(a->initialised.get() + at + p->rel[i], 1, kBytes);
      }
    store_lanes<E, kVec>(w, op, a->data.get() + at, *p);
  }
  if (launch.options.count) {
    SiteCount& s = run.worker->counters.sites[op.site];
    const std::uint64_t key =
        (std::uint64_t{p->number} << 32) | (std::uint64_t{a->live_index} << 1);
    if (s.key == key)
      ++s.pending;
    else
      begin_global(run, op, *p, *a, key);
    const unsigned sectors = p->sectors(kIndex, at);
    s.pending_sectors += sectors;
    if (sectors > s.sample_above) [[unlikely]]
      sample_global_pattern(run, op, *p, address, sectors);
  }
}

template <bool kLoad>
void set_memory(HandlerTable& t) {
  const unsigned k = kLoad ? 0 : 1;
  t.shared[k][0][0] = shared_access<kLoad, std::uint32_t, 1>;
  t.shared[k][0][1] = shared_access<kLoad, std::uint32_t, 2>;
  t.shared[k][0][2] = shared_access<kLoad, std::uint32_t, 4>;
  t.shared[k][1][0] = shared_access<kLoad, std::uint64_t, 1>;
  t.shared[k][1][1] = shared_access<kLoad, std::uint64_t, 2>;
  t.global[k][0][0] = global_access<kLoad, std::uint32_t, 1>;
  t.global[k][0][1] = global_access<kLoad, std::uint32_t, 2>;
  t.global[k][0][2] = global_access<kLoad, std::uint32_t, 4>;
  t.global[k][1][0] = global_access<kLoad, std::uint64_t, 1>;
  t.global[k][1][1] = global_access<kLoad, std::uint64_t, 2>;
}

}  // namespace

void fill_memory(HandlerTable& t) {
  set_memory<true>(t);
  set_memory<false>(t);
}

}  // namespace simgpu::exec::kernels
