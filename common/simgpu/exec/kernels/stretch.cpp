// Runs a stretch (exec/stretch.hpp): looks first whether every load is as it was the last time, then
// does nothing but move and multiply.
#include <algorithm>
#include <cstdint>

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/kernels/float_sums.hpp"
#include "common/simgpu/exec/kernels/quick_loads.hpp"
#include "common/simgpu/exec/stretch.hpp"

namespace simgpu::exec::kernels {
namespace {

using Summary = check::SharedShadow::Summary;

/// Where the loads of a window reach.
struct Reach {
  Pattern* pattern = nullptr;
  std::int64_t at = 0;  ///< the window's address, from the start of the block's shared memory
};

/// Whether all loads of the window reach shared memory in a pattern that is known.
SIMGPU_INLINE bool find(Warp& w, const Stretch::Window& window, Reach& reach) {
  const BlockRun& run = *w.run;
  Warp::Base& base = w.bases[window.slot];
  if (window.looks && !repeats_pattern(w, window.address, window.slot, base)) return false;
  Pattern* p = base.pattern;
  if (p == nullptr) return false;
  const std::uint64_t at = base.address - run.shared_start;
  const std::int64_t first = static_cast<std::int64_t>(at) + window.least, low = first + p->low,
                     high = static_cast<std::int64_t>(at) + window.end + p->high;
  reach = {p, static_cast<std::int64_t>(at)};
  return at + (std::uint64_t{1} << 30) < (std::uint64_t{1} << 31) && low >= window.from &&
         high <= window.to && high <= static_cast<std::int64_t>(run.launch->shared_bytes) &&
         ((at | p->bits) & (window.align - 1u)) == 0;
}

SIMGPU_INLINE bool loads_as_one(const Pattern& p, unsigned log2_words) {
  return log2_words == 0   ? loads_together<std::uint32_t, 1>(p.shape)
         : log2_words == 1 ? loads_together<std::uint32_t, 2>(p.shape)
                           : loads_together<std::uint32_t, 4>(p.shape);
}

/// The summaries of the words from a window's first to its last.
struct Covered {
  Summary *first, *last;
  std::uint64_t of_first, of_last;  ///< words in them
};
SIMGPU_INLINE Covered covered(BlockRun& run, const Stretch::Window& window, const Reach& r) {
  const auto low = static_cast<std::uint64_t>(r.at + window.least + r.pattern->low) / 4,
             high = static_cast<std::uint64_t>(r.at + window.end + r.pattern->high - 1) / 4;
  Summary* s = run.shadow.summaries.data();
  return {s + low / 64, s + high / 64, ~std::uint64_t{0} << (low % 64),
          ~std::uint64_t{0} >> (63 - high % 64)};
}

/// Whether all loads of the window read what was written before the last barrier of the whole block.
bool reads_are_quick(BlockRun& run, const Stretch& s, unsigned number, const Reach& r,
                     const Covered& c, std::uint32_t floor) {
  std::uint64_t missing = 0;
  std::uint32_t latest = 0;
  for (const Summary* k = c.first; k <= c.last; ++k) {
    missing |= ~k->written & (k == c.first ? c.of_first : ~std::uint64_t{0}) &
               (k == c.last ? c.of_last : ~std::uint64_t{0});
    latest = std::max(latest, k->latest);
  }
  if (missing == 0 && latest < floor) return true;
  for (const Stretch::Load& l : s.loads) {  // there may be words that none of them reads
    if (l.window != number) continue;
    const PatternWidth& width = r.pattern->width[l.log2_words];
    if (width.window == 0) return false;
    const auto low = static_cast<std::uint64_t>(((r.at + l.offset) >> 2) + width.least);
    if (!written_before_barrier(run.shadow.summaries.data() + low / 64, width, low, floor))
      return false;
  }
  return true;
}

/// Races and initialisation of all loads: false = look closer. Puts down who reads.
[[gnu::noinline]] bool are_quick(const Warp& w, const Stretch& s, const Reach* reach) {
  BlockRun& run = *w.run;
  if (!run.reads.has_room(s.loads.size())) return false;
  const std::uint32_t floor = run.clocks.floor() << check::kWhoBits;
  for (const Stretch::Load& l : s.loads)
    if (!reach[l.window].pattern->width[l.log2_words].known) return false;
  for (unsigned k = 0; k < s.windows.size(); ++k) {
    const Covered c = covered(run, s.windows[k], reach[k]);
    // With so much between the loads it is quicker to look at each.
    if (c.last - c.first > 2 * std::ptrdiff_t{s.windows[k].loads} + 2) return false;
    if (!reads_are_quick(run, s, k, reach[k], c, floor)) return false;
  }
  for (unsigned k = 0; k < s.windows.size(); ++k) {
    const Covered c = covered(run, s.windows[k], reach[k]);
    for (Summary* to = c.first; to <= c.last; ++to) to->reads_after = floor;
  }
  const std::uint32_t tag = (run.clocks.now() << check::kWhoBits) | (w.index << 6);
  for (const Stretch::Load& l : s.loads) {
    const Reach& r = reach[l.window];
    run.reads.add(
        *r.pattern,
        {&r.pattern->width[l.log2_words], static_cast<std::uint32_t>((r.at + l.offset) >> 2), tag},
        floor);
  }
  return true;
}

/// Whether each load would be tallied as the last one of its site.
[[gnu::noinline]] bool costs_are_known(const Warp& w, const Stretch& s, const Reach* reach,
                                       StretchTally& tally) {
  for (const Stretch::Load& l : s.loads) {
    const Pattern& p = *reach[l.window].pattern;
    if (w.run->sites[l.site].key != ((std::uint64_t{p.number} << 32) | 1) ||
        !loads_as_one(p, l.log2_words))
      return false;
  }
  settle_stretch(*w.run->worker, s);
  for (unsigned k = 0; k < s.windows.size(); ++k) tally.patterns[k] = reach[k].pattern->number;
  return true;
}

/// Whether all is as it was the last time.
SIMGPU_INLINE bool is_quick(Warp& w, const Stretch& s, Reach* reach) {
  const BlockRun& run = *w.run;
  if (w.mask != kFullMask) return false;
  const auto windows = static_cast<unsigned>(s.windows.size());
  if (windows == 0) return true;
  if (!run.mode.tallied || (run.mode.checked && !run.mode.logs_reads)) return false;
  StretchTally& tally = run.worker->stretches[s.number];
  std::uint32_t differs = 0;
  for (unsigned k = 0; k < windows; ++k) {
    if (!find(w, s.windows[k], reach[k])) return false;
    differs |= tally.patterns[k] ^ reach[k].pattern->number;
  }
  if (differs != 0 && !costs_are_known(w, s, reach, tally)) return false;
  if (run.mode.checked && !are_quick(w, s, reach)) return false;
  ++tally.pending;
  return true;
}

SIMGPU_INLINE void load(Warp& w, const Stretch::Load& l, const Reach* reach) {
  const Reach& r = reach[l.window];
  const std::byte* from = w.run->shared.data() + (r.at + l.offset);
  if (l.log2_words == 0)
    load_all_lanes<std::uint32_t, 1, true>(w, *l.op, from, *r.pattern);
  else if (l.log2_words == 1)
    load_all_lanes<std::uint32_t, 2, true>(w, *l.op, from, *r.pattern);
  else
    load_all_lanes<std::uint32_t, 4, true>(w, *l.op, from, *r.pattern);
}

SIMGPU_INLINE void multiply_add_lanes(const Warp& w, const Op& op) {
  const float *a = lanes<float>(w, op.a), *b = lanes<float>(w, op.b), *c = lanes<float>(w, op.c);
  float* d = lanes<float>(w, op.dst);
  SIMGPU_LANE_LOOP d[i] = floats::multiply_add(a[i], b[i], c[i]);
}

#if defined(__AVX2__) && defined(__FMA__)
SIMGPU_INLINE __m256 canonical8(__m256 v) {
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  return _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}
SIMGPU_INLINE __m256i load_octet(const std::byte* from, const Octets& o, unsigned k) {
  return _mm256_permutevar8x32_epi32(
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + o.start[k])),
      _mm256_load_si256(reinterpret_cast<const __m256i*>(&o.word[8 * k])));
}

/// Products one after the other, each two loads and the multiply-add of what they loaded, which is
/// still at hand, as is a sum that the next one adds to. Returns how many they were.
SIMGPU_INLINE std::size_t products(Warp& w, const Stretch& s, std::size_t first,
                                   const Reach* reach) {
  const std::byte* shared = w.run->shared.data();
  __m256 sum[4] = {};
  Ref held = kNoRef;
  std::size_t n = first;
  for (; n < s.steps.size() && s.steps[n].kind == Stretch::Kind::product; ++n) {
    const Op& op = *s.steps[n].op;
    const Stretch::Load &l = s.loads[s.steps[n].load], &m = s.loads[s.steps[n].load + 1];
    const Reach &r = reach[l.window], &q = reach[m.window];
    const std::byte *from = shared + (r.at + l.offset), *from_m = shared + (q.at + m.offset);
    auto *to = lanes<std::uint32_t>(w, l.op->dst), *to_m = lanes<std::uint32_t>(w, m.op->dst);
    if (op.c != held) {
      const float* c = lanes<float>(w, op.c);
      for (unsigned k = 0; k < 4; ++k) sum[k] = _mm256_load_ps(c + 8 * k);
    }
    float* d = lanes<float>(w, op.dst);
    for (unsigned k = 0; k < 4; ++k) {
      const __m256i a = load_octet(from, r.pattern->octets, k),
                    b = load_octet(from_m, q.pattern->octets, k);
      eight_lanes(to + 8 * k) = a;
      eight_lanes(to_m + 8 * k) = b;
      sum[k] = _mm256_fmadd_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), sum[k]);
      // Every NaN is the same one, but to the next sum it makes no difference which it adds to.
      _mm256_store_ps(d + 8 * k, canonical8(sum[k]));
    }
    held = op.dst;
  }
  return n - first;
}
#else
SIMGPU_INLINE std::size_t products(Warp& w, const Stretch& s, std::size_t first,
                                   const Reach* reach) {
  const Stretch::Step& step = s.steps[first];
  load(w, s.loads[step.load], reach);
  load(w, s.loads[step.load + 1], reach);
  multiply_add_lanes(w, *step.op);
  return 1;
}
#endif

void run_stretch(Warp& w, const Op& op) {
  const Stretch& s = *reinterpret_cast<const Stretch*>(op.imm);
  Reach reach[Stretch::kWindows];
  if (!is_quick(w, s, reach)) {
    if (!s.loads.empty()) settle_stretch(*w.run->worker, s);
    for (const Op& each : s.ops) each.fn(w, each);
    return;
  }
  for (std::size_t k = 0; k < s.steps.size();) {
    const Stretch::Step& step = s.steps[k];
    if (step.kind == Stretch::Kind::product) {
      k += products(w, s, k, reach);
      continue;
    }
    if (step.kind == Stretch::Kind::load)
      load(w, s.loads[step.load], reach);
    else
      multiply_add_lanes(w, *step.op);
    ++k;
  }
}

}  // namespace

void fill_stretch(HandlerTable& t) {
  t.stretch = run_stretch;
}

}  // namespace simgpu::exec::kernels
