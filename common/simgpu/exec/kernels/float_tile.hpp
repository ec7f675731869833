// A tile of 16 x 8 FP32 sums, straight from and to registers: what most mma.sync and wgmma add to.
//
// Sums are made in double (exec/mma.cpp), so that the width of the machine's vectors bounds them: with
// AVX-512, which is looked for when the program runs, one vector holds a row of eight sums.
//
// A product of mma.m16n8k16 is 256 of such FMAs, and nothing can be faster than these: 1.9e7 products a
// second on a Xeon of 2.5 GHz that starts two FMAs a cycle, where this code makes 1.45e7 with the
// conversions (`make bench-simgpu` prints it: "its sums alone"). More would take sums in another type,
// and these have other bits.
#pragma once

#include <bit>
#include <cstdint>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "common/simgpu/exec/kernels/lanes.hpp"
#include "common/simgpu/exec/kernels/tensor_sums.hpp"

namespace simgpu::exec::kernels {

/// Registers of the 32 lanes: [0] and [1] have the even and the odd columns of rows 0 to 7, [2] and [3]
/// those of rows 8 to 15. D may be C.
struct FloatTile {
  const float* c[4];
  float* d[4];
};

template <unsigned kK>
SIMGPU_INLINE void multiply_by_elements(const double* a, const double* b, const FloatTile& t) {
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned even = i / 8 * 2, lane = i % 8 * 4;
    double s[8];
    for (unsigned j = 0; j < 8; ++j) s[j] = static_cast<double>(t.c[even + j / 4][lane + j % 4]);
    for (unsigned k = 0; k < kK; ++k)
      for (unsigned j = 0; j < 8; ++j) s[j] += a[i * kK + k] * b[k * 8 + j];
    for (unsigned j = 0; j < 8; ++j)
      t.d[even + j / 4][lane + j % 4] =
          s[j] == s[j] ? cut_off(s[j]) : std::bit_cast<float>(0x7fffffffu);
  }
}

#if defined(__AVX2__) && defined(__FMA__)
/// As cut_off() and store_d() have them: four sums.
SIMGPU_INLINE __m128 cut_off4(__m256d v) {
  const __m256d bits = _mm256_castsi256_pd(_mm256_set1_epi64x(~std::int64_t{0x1fffffff}));
  const __m128 cut = _mm256_cvtpd_ps(_mm256_and_pd(v, bits)),
               nan = _mm_castsi128_ps(_mm_set1_epi32(0x7fffffff));
  const __m256 unordered = _mm256_castpd_ps(_mm256_cmp_pd(v, v, _CMP_UNORD_Q));
  const __m128 is_nan =
      _mm_shuffle_ps(_mm256_castps256_ps128(unordered), _mm256_extractf128_ps(unordered, 1), 0x88);
  return _mm_blendv_ps(cut, nan, is_nan);
}

template <unsigned kK>
SIMGPU_INLINE void multiply_by_half_rows(const double* a, const double* b, const FloatTile& t) {
  for (unsigned i = 0; i < 16; i += 4) {
    const unsigned even = i / 8 * 2, lane = i % 8 * 4;
    __m256d s[4][2];
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned h = 0; h < 2; ++h)
        s[r][h] = _mm256_cvtps_pd(_mm_loadu_ps(t.c[even + h] + lane + 4 * r));
    add_four_rows<kK>(a + i * kK, b, s);
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned h = 0; h < 2; ++h)
        _mm_storeu_ps(t.d[even + h] + lane + 4 * r, cut_off4(s[r][h]));
  }
}

inline const bool kHasAvx512 = __builtin_cpu_supports("avx512f") &&
                               __builtin_cpu_supports("avx512vl") &&
                               __builtin_cpu_supports("avx512dq");

template <unsigned kK>
__attribute__((target("avx512f,avx512vl,avx512dq"))) void multiply_by_rows(const double* a,
                                                                           const double* b,
                                                                           const FloatTile& t) {
  float* const d[] = {t.d[0], t.d[1], t.d[2], t.d[3]};
  __m512d s[16];
#pragma GCC unroll 16
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned even = i / 8 * 2, lane = i % 8 * 4;
    const __m256 c =
        _mm256_set_m128(_mm_loadu_ps(t.c[even + 1] + lane), _mm_loadu_ps(t.c[even] + lane));
    s[i] = _mm512_maskz_cvtps_pd(0xff, c);  // as _mm512_cvtps_pd, of which g++ 12 warns
  }
  for (unsigned k = 0; k < kK; ++k) {
    const __m512d row = _mm512_load_pd(b + k * 8);
#pragma GCC unroll 16
    for (unsigned i = 0; i < 16; ++i)
      s[i] = _mm512_fmadd_pd(_mm512_set1_pd(a[i * kK + k]), row, s[i]);
  }
  const __m512d bits = _mm512_castsi512_pd(_mm512_set1_epi64(~std::int64_t{0x1fffffff}));
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
#pragma GCC unroll 16
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned even = i / 8 * 2, lane = i % 8 * 4;
    const __m256 cut = _mm512_mask_cvtpd_ps(nan, _mm512_cmp_pd_mask(s[i], s[i], _CMP_ORD_Q),
                                            _mm512_and_pd(s[i], bits));
    _mm_storeu_ps(d[even] + lane, _mm256_castps256_ps128(cut));
    _mm_storeu_ps(d[even + 1] + lane, _mm256_extractf128_ps(cut, 1));
  }
}
#endif

/// D = A * B + C. A: 16 rows of k. B: kK rows of 8, the even columns before the odd ones
/// (Columns::split), aligned to 64 bytes.
template <unsigned kK>
SIMGPU_INLINE void multiply_float_tile(const double* a, const double* b, const FloatTile& t) {
#if defined(__AVX2__) && defined(__FMA__)
  if (kHasAvx512)
    multiply_by_rows<kK>(a, b, t);
  else
    multiply_by_half_rows<kK>(a, b, t);
#else
  multiply_by_elements<kK>(a, b, t);
#endif
}

}  // namespace simgpu::exec::kernels
