// The sums of tensor cores, for mma.sync, wmma and wgmma alike: a tile of D is kRows rows of 8 columns,
// to which kK products each are added. See exec/mma.cpp for the arithmetic that is promised, and
// exec/fragments.hpp for where the elements of C and D lie: register r of a tile has row
// lane / 4 + 8 * (r / 2) and column 2 * (lane % 4) + r % 2.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "common/simgpu/exec/kernels/lanes.hpp"
#include "common/simgpu/exec/kernels/operands.hpp"
#include "common/simgpu/half.hpp"

namespace simgpu::exec::kernels {

// Four doubles or eight 32-bit integers; where the machine has no such vectors the compiler splits
// them.
typedef double Doubles __attribute__((vector_size(32)));
typedef std::int32_t Ints __attribute__((vector_size(32)));

#if defined(__AVX2__) && defined(__FMA__)
/// s[4][8] += a[4][kK] * b[kK][8], in order of k.
template <unsigned kK>
SIMGPU_INLINE void add_four_rows(const double* a, const double* b, __m256d (&s)[4][2]) {
  for (unsigned k = 0; k < kK; ++k) {
    const __m256d b0 = _mm256_loadu_pd(b + k * 8), b1 = _mm256_loadu_pd(b + k * 8 + 4);
    for (unsigned r = 0; r < 4; ++r) {
      const __m256d v = _mm256_broadcast_sd(a + r * kK + k);
      s[r][0] = _mm256_fmadd_pd(v, b0, s[r][0]);
      s[r][1] = _mm256_fmadd_pd(v, b1, s[r][1]);
    }
  }
}
#endif

/// d[kRows][8] += a[kRows][kK] * b[kK][8], every element a chain over k. Products of all formats
/// but FP64 are exact in double, so that fused or not makes no difference there.
template <bool kFused, unsigned kRows, unsigned kK>
SIMGPU_INLINE void multiply(const double* a, const double* b, double* d) {
#if defined(__AVX2__) && defined(__FMA__)
  for (unsigned i = 0; i < kRows; i += 4) {
    __m256d s[4][2];
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned h = 0; h < 2; ++h) s[r][h] = _mm256_loadu_pd(d + (i + r) * 8 + 4 * h);
    add_four_rows<kK>(a + i * kK, b, s);
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned h = 0; h < 2; ++h) _mm256_storeu_pd(d + (i + r) * 8 + 4 * h, s[r][h]);
  }
#else
  for (unsigned i = 0; i < kRows; ++i) {
    if constexpr (kFused) {
      for (unsigned j = 0; j < 8; ++j)
        for (unsigned k = 0; k < kK; ++k)
          d[i * 8 + j] = __builtin_fma(a[i * kK + k], b[k * 8 + j], d[i * 8 + j]);
    } else {
      Doubles s[2];
      std::memcpy(s, d + i * 8, sizeof s);
      for (unsigned k = 0; k < kK; ++k) {
        Doubles v[2];
        std::memcpy(v, b + k * 8, sizeof v);
        s[0] += a[i * kK + k] * v[0];
        s[1] += a[i * kK + k] * v[1];
      }
      std::memcpy(d + i * 8, s, sizeof s);
    }
  }
#endif
}
template <bool, unsigned kRows, unsigned kK>
SIMGPU_INLINE void multiply(const std::int32_t* a, const std::int32_t* b, std::int32_t* d) {
  for (unsigned i = 0; i < kRows; ++i) {
    Ints s;
    std::memcpy(&s, d + i * 8, sizeof s);
    for (unsigned k = 0; k < kK; ++k) {
      Ints v;
      std::memcpy(&v, b + k * 8, sizeof v);
      s += a[i * kK + k] * v;
    }
    std::memcpy(d + i * 8, &s, sizeof s);
  }
}

/// C of one tile, and D, which the lanes of `mask` get. Rows of 8 elements.
template <class T, unsigned kRows>
SIMGPU_INLINE void load_c(const Warp& w, const Ref* refs, double* c) {
  for (unsigned r = 0; r < kRows / 4; r += 2) {
    const T *even = lanes<T>(w, refs[r]), *odd = lanes<T>(w, refs[r + 1]);
    double* to = c + 4 * r * 8;
    for (unsigned i = 0; i < kLanes; ++i) {
      to[2 * i] = static_cast<double>(even[i]);
      to[2 * i + 1] = static_cast<double>(odd[i]);
    }
  }
}
template <unsigned kRows>
SIMGPU_INLINE void load_c_half(const Warp& w, const Ref* refs, double* c) {
  for (unsigned r = 0; r < kRows / 8; ++r)
    for (unsigned g = 0; g < 8; ++g)
      widen8<false>(lanes<std::uint16_t>(w, refs[r]) + 8 * g, c + (8 * r + g) * 8);
}
template <class T>
SIMGPU_INLINE void put(Warp& w, std::uint32_t mask, Ref to, const T (&value)[kLanes]) {
  T* d = lanes<T>(w, to);
  if (mask == kFullMask)
    std::memcpy(d, value, sizeof value);
  else
    blend(d, value, mask);
}
/// The next float towards zero: a double without the 29 bits that a float does not have. What
/// is below float's normal numbers is rounded there, by less than 2^-149; an infinity stays one.
SIMGPU_INLINE float cut_off(double v) {
  return static_cast<float>(
      std::bit_cast<double>(std::bit_cast<std::uint64_t>(v) & ~std::uint64_t{0x1fffffff}));
}
template <class T, unsigned kRows>
SIMGPU_INLINE void store_d(Warp& w, std::uint32_t mask, const Ref* refs, const double* d) {
  for (unsigned r = 0; r < kRows / 4; r += 2) {
    const double* from = d + 4 * r * 8;
    alignas(64) T even[kLanes], odd[kLanes];
    for (unsigned i = 0; i < kLanes; ++i) {
      const double x = from[2 * i], y = from[2 * i + 1];
      if constexpr (sizeof(T) == 4) {
        even[i] = x == x ? cut_off(x) : std::bit_cast<T>(0x7fffffffu);
        odd[i] = y == y ? cut_off(y) : std::bit_cast<T>(0x7fffffffu);
      } else {
        even[i] = x;
        odd[i] = y;
      }
    }
    put(w, mask, refs[r], even);
    put(w, mask, refs[r + 1], odd);
  }
}
template <unsigned kRows>
SIMGPU_INLINE void store_d_half(Warp& w, std::uint32_t mask, const Ref* refs, const double* d,
                                bool finite) {
  for (unsigned r = 0; r < kRows / 8; ++r) {
    alignas(64) std::uint32_t out[kLanes];
    const double* from = d + 64 * r;
    for (unsigned i = 0; i < kLanes; ++i) {
      std::uint32_t low = float_to_half_lane(to_odd_float(from[2 * i])),
                    high = float_to_half_lane(to_odd_float(from[2 * i + 1]));
      if (finite) {  // wmma: overflow to the largest number, NaN to +0
        for (std::uint32_t* v : {&low, &high}) {
          if ((*v & 0x7fffu) > 0x7c00u) *v = 0;
          if ((*v & 0x7fffu) == 0x7c00u) *v -= 1;
        }
      }
      out[i] = low | (high << 16);
    }
    put(w, mask, refs[r], out);
  }
}

/// Sums of integers begin with zero, so that C is added last: only then does .satfinite clamp.
template <unsigned kRows>
SIMGPU_INLINE void add_c(const Warp& w, const Ref* refs, bool finite, std::int32_t* d) {
  for (unsigned r = 0; r < kRows / 4; ++r) {
    const std::int32_t* c = lanes<std::int32_t>(w, refs[r]);
    for (unsigned i = 0; i < kLanes; ++i) {
      std::int32_t& v = d[4 * (r / 2 * 2) * 8 + 2 * i + r % 2];
      const std::int64_t sum = std::int64_t{v} + c[i];
      v = !finite           ? static_cast<std::int32_t>(static_cast<std::uint32_t>(sum))
          : sum > INT32_MAX ? INT32_MAX
          : sum < INT32_MIN ? INT32_MIN
                            : static_cast<std::int32_t>(sum);
    }
  }
}
template <unsigned kRows>
SIMGPU_INLINE void store_d_integer(Warp& w, std::uint32_t mask, const Ref* refs,
                                   const std::int32_t* d) {
  for (unsigned r = 0; r < kRows / 4; ++r) {
    alignas(64) std::int32_t out[kLanes];
    for (unsigned i = 0; i < kLanes; ++i) out[i] = d[4 * (r / 2 * 2) * 8 + 2 * i + r % 2];
    put(w, mask, refs[r], out);
  }
}

}  // namespace simgpu::exec::kernels
