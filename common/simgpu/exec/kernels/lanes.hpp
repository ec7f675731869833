// Loops over the 32 lanes of a warp, for the handlers in this folder: everything here is inlined
// into them. They are compiled for the vectors of the machine that builds (Makefile).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "common/simgpu/exec/op.hpp"
#include "common/simgpu/exec/warp.hpp"

/// Tells the compiler that lanes do not depend on each other: two operands are the same register or
/// disjoint.
#if defined(__clang__)
#define SIMGPU_LANE_LOOP \
  _Pragma("clang loop vectorize(assume_safety)") for (unsigned i = 0; i < kLanes; ++i)
#else
#define SIMGPU_LANE_LOOP _Pragma("GCC ivdep") for (unsigned i = 0; i < kLanes; ++i)
#endif
#define SIMGPU_INLINE [[gnu::always_inline]] inline
#define SIMGPU_LAMBDA __attribute__((always_inline))

namespace simgpu::exec::kernels {

using I16 = std::int16_t;
using I32 = std::int32_t;
using I64 = std::int64_t;
using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <class T>
using Unsigned = std::make_unsigned_t<T>;
template <class T>
inline constexpr unsigned kBits = sizeof(T) * 8;

/// Arithmetic that does not promote 16-bit operands to signed int.
template <class T>
using Work = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;

template <class T>
SIMGPU_INLINE T* lanes(const Warp& w, Ref ref) {
  return reinterpret_cast<T*>(address_of(w, ref));
}

SIMGPU_INLINE std::uint32_t& mask_of(const Warp& w, Ref ref) {
  return *lanes<std::uint32_t>(w, ref);
}

/// Writes the lanes of `mask` from `from`, leaves the others.
template <class T>
SIMGPU_INLINE void blend(T* to, const T* from, std::uint32_t mask) {
  SIMGPU_LANE_LOOP to[i] = (mask >> i) & 1u ? from[i] : to[i];
}

/// dst[i] = f(i) for the active lanes. `f` is evaluated for all lanes: it must be harmless for any
/// input.
template <class D, class F>
SIMGPU_INLINE void each_lane(Warp& w, Ref dst, F f) {
  D* d = lanes<D>(w, dst);
  if (w.mask == kFullMask) {
    SIMGPU_LANE_LOOP d[i] = f(i);
  } else {
    alignas(64) D t[kLanes];
    SIMGPU_LANE_LOOP t[i] = f(i);
    blend(d, t, w.mask);
  }
}

/// A lane-by-lane condition as a mask. `f` returns bool.
template <class F>
SIMGPU_INLINE std::uint32_t lane_mask(F f) {
  alignas(64) std::int32_t t[kLanes];
  SIMGPU_LANE_LOOP t[i] = f(i) ? -1 : 0;
#if defined(__AVX2__)
  std::uint32_t m = 0;
  for (unsigned k = 0; k < 4; ++k)
    m |= static_cast<std::uint32_t>(
             _mm256_movemask_ps(_mm256_load_ps(reinterpret_cast<const float*>(t + 8 * k))))
         << (8 * k);
  return m;
#elif defined(__SSE2__)
  std::uint32_t m = 0;
  for (unsigned k = 0; k < 8; ++k)
    m |= static_cast<std::uint32_t>(
             _mm_movemask_ps(_mm_load_ps(reinterpret_cast<const float*>(t + 4 * k))))
         << (4 * k);
  return m;
#else
  std::uint32_t m = 0;
  for (unsigned i = 0; i < kLanes; ++i) m |= static_cast<std::uint32_t>(t[i] & 1) << i;
  return m;
#endif
}

SIMGPU_INLINE void write_pred(Warp& w, Ref ref, std::uint32_t value) {
  std::uint32_t& p = mask_of(w, ref);
  p = (p & ~w.mask) | (value & w.mask);
}

constexpr std::size_t idx(Alu op) {
  return static_cast<std::size_t>(op);
}
constexpr std::size_t idx(ptx::Compare compare) {
  return static_cast<std::size_t>(compare);
}
constexpr std::size_t idx(Ty type) {
  return static_cast<std::size_t>(type);
}

}  // namespace simgpu::exec::kernels
