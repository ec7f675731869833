// Loads whose addresses repeat their pattern, all lanes at once: what memory.cpp and stretch.cpp
// share.
#pragma once

#include <cstdint>
#include <cstring>

#include "common/simgpu/exec/kernels/lanes.hpp"
#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec::kernels {

/// Whether the addresses repeat the slot's pattern, in all lanes.
SIMGPU_INLINE bool repeats_pattern(const Warp& w, Ref address_register, std::uint32_t slot,
                                   Warp::Base& base) {
  const std::uint64_t* address = lanes<std::uint64_t>(w, address_register);
  Pattern& p = w.run->worker->patterns.patterns[slot];
  if ((p.mask & w.mask) != kFullMask) return false;
  const std::uint64_t first = address[0];
  base.address = first;
  base.pattern = &p;
  std::uint64_t differs = 0;
  const std::int32_t* rel = p.rel.data();
  for (unsigned i = 0; i < kLanes; ++i)
    differs |= (address[i] - first) ^ static_cast<std::uint64_t>(std::int64_t{rel[i]});
  return differs == 0;
}

#if defined(__AVX2__)
SIMGPU_INLINE __m256i& eight_lanes(std::uint32_t* lanes) {
  return *reinterpret_cast<__m256i*>(lanes);
}

/// One word for each lane, eight lanes at once. In global memory no word is read that no lane reads:
/// another host thread may be writing it. (A block's shared memory has as much room behind it.)
template <bool kShared>
SIMGPU_INLINE void load_octets(std::uint32_t* to, const std::byte* from, const Octets& o) {
  for (unsigned k = 0; k < 4; ++k) {
    const auto* at = reinterpret_cast<const __m256i*>(from + o.start[k]);
    const __m256i touched = _mm256_load_si256(reinterpret_cast<const __m256i*>(&o.touched[8 * k])),
                  word = _mm256_load_si256(reinterpret_cast<const __m256i*>(&o.word[8 * k]));
    const __m256i words = kShared
                              ? _mm256_loadu_si256(at)
                              : _mm256_maskload_epi32(reinterpret_cast<const int*>(at), touched);
    eight_lanes(to + 8 * k) = _mm256_permutevar8x32_epi32(words, word);
  }
}

SIMGPU_INLINE __m128i load16(const std::byte* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
SIMGPU_INLINE void store16(std::byte* to, __m128i v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v);
}
/// Vectors of four words by lane <-> four registers by lane, of eight lanes: those of v[j] are lanes
/// j and j + 4.
SIMGPU_INLINE void exchange(__m256i (&v)[4]) {
  const __m256i a = _mm256_unpacklo_epi32(v[0], v[1]), b = _mm256_unpackhi_epi32(v[0], v[1]),
                c = _mm256_unpacklo_epi32(v[2], v[3]), d = _mm256_unpackhi_epi32(v[2], v[3]);
  v[0] = _mm256_unpacklo_epi64(a, c);
  v[1] = _mm256_unpackhi_epi64(a, c);
  v[2] = _mm256_unpacklo_epi64(b, d);
  v[3] = _mm256_unpackhi_epi64(b, d);
}

/// Two or four words for each lane.
template <unsigned kVec>
SIMGPU_INLINE void load_vectors(std::uint32_t* const (&to)[kVec], const std::byte* from,
                                const std::int32_t* rel) {
  for (unsigned i = 0; i < kLanes; i += 8) {
    const auto at = [=](unsigned lane) SIMGPU_LAMBDA { return from + rel[i + lane]; };
    if constexpr (kVec == 4) {
      __m256i v[4];
      for (unsigned j = 0; j < 4; ++j) v[j] = _mm256_set_m128i(load16(at(j + 4)), load16(at(j)));
      exchange(v);
      for (unsigned k = 0; k < 4; ++k) eight_lanes(to[k] + i) = v[k];
    } else {
      const auto pair = [&](unsigned lane) SIMGPU_LAMBDA {
        const __m128d low = _mm_load_sd(reinterpret_cast<const double*>(at(lane)));
        return _mm_castpd_ps(_mm_loadh_pd(low, reinterpret_cast<const double*>(at(lane + 1))));
      };
      const __m256 a = _mm256_set_m128(pair(4), pair(0)), b = _mm256_set_m128(pair(6), pair(2));
      eight_lanes(to[0] + i) = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
      eight_lanes(to[1] + i) = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd));
    }
  }
}
#endif

/// Whether load_all_lanes() knows how.
template <class E, unsigned kVec>
SIMGPU_INLINE bool loads_together(Shape shape) {
#if defined(__AVX2__)
  if constexpr (sizeof(E) == 4 && kVec != 1) return true;
  if constexpr (sizeof(E) == 4)
    if (shape == Shape::octets) return true;
#endif
  return shape == Shape::broadcast ||
         (kVec == 1 && shape == (sizeof(E) == 4 ? Shape::unit4 : Shape::unit8));
}

/// All lanes load, in vectors.
template <class E, unsigned kVec, bool kShared>
SIMGPU_INLINE void load_all_lanes(Warp& w, const Op& op, const std::byte* from, const Pattern& p) {
  E* d[kVec];
  for (unsigned k = 0; k < kVec; ++k) d[k] = lanes<E>(w, kVec == 1 ? op.dst : op.list[k]);
#if defined(__AVX2__)
  if constexpr (sizeof(E) == 4 && kVec == 1)
    if (p.shape == Shape::octets) return load_octets<kShared>(d[0], from, p.octets);
#endif
  if (p.shape == Shape::broadcast) {
    for (unsigned k = 0; k < kVec; ++k) {
      E v;
      std::memcpy(&v, from + k * sizeof(E), sizeof v);
      E* to = d[k];
      SIMGPU_LANE_LOOP to[i] = v;
    }
    return;
  }
  if constexpr (kVec == 1) std::memcpy(d[0], from, kLanes * sizeof(E));
#if defined(__AVX2__)
  else if constexpr (sizeof(E) == 4)
    load_vectors<kVec>(d, from, p.rel.data());
#endif
}

/// Whether the words of an access were all written before the last barrier of the whole block, by
/// the summaries of up to 64 words at once. `low`: the first word.
SIMGPU_INLINE bool written_before_barrier(const check::SharedShadow::Summary* s,
                                          const PatternWidth& width, std::uint64_t low,
                                          std::uint32_t floor) {
  const unsigned shift = low % 64;
  const std::uint64_t here = width.window << shift, next = width.window >> 1 >> (63 - shift);
  return ((here & ~s[0].written) | (next & ~s[1].written)) == 0 && s[0].latest < floor &&
         (next == 0 || s[1].latest < floor);
}

/// The same; the reader is put down in the block's ReadLog.
SIMGPU_INLINE bool shared_read_is_quick(BlockRun& run, const Warp& w, Pattern& p,
                                        const PatternWidth& width, std::uint64_t at) {
  if (!run.mode.logs_reads || width.window == 0 || run.reads.full()) return false;
  const std::uint32_t floor = run.clocks.floor() << check::kWhoBits;
  const std::uint64_t low = (at >> 2) + static_cast<std::uint64_t>(std::int64_t{width.least});
  check::SharedShadow::Summary* s = run.shadow.summaries.data() + low / 64;
  if (!written_before_barrier(s, width, low, floor)) return false;
  run.reads.add(p,
                {&width, static_cast<std::uint32_t>(at >> 2),
                 (run.clocks.now() << check::kWhoBits) | (w.index << 6)},
                floor);
  s[0].reads_after = floor;
  if ((width.window >> 1 >> (63 - low % 64)) != 0) s[1].reads_after = floor;
  return true;
}

}  // namespace simgpu::exec::kernels
