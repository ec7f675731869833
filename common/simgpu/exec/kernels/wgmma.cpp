// wgmma: D = A * B + D of a warpgroup, 64 rows and up to 256 columns.
//
// The sums stay as they lie in registers: of column block j (8 columns) and of registers e = 0, 1
// (and 2, 3 for the rows 8 further down), lane 4 g + t has row g and column 2 t + e. Eight lanes of
// a register are two rows of four columns. So A is expanded to vectors that hold the element of one
// row four times and that of the next row four times, B to vectors that hold four columns twice,
// and a register is eight of their products after the other.
//
// Products of f16, bf16, tf32 and f8 are exact in FP32; sums are rounded to FP32 after each, in
// order of k, to nearest even. Tensor cores do it differently (exec/mma.cpp).
#include <bit>
#include <cstdint>
#include <cstring>
#if defined(__AVX__)
#include <immintrin.h>
#endif
#include <type_traits>

#include "common/simgpu/exec/async_proxy.hpp"
#include "common/simgpu/exec/fragments.hpp"
#include "common/simgpu/exec/kernels/lanes.hpp"
#include "common/simgpu/float8.hpp"
#include "common/simgpu/half.hpp"

namespace simgpu::exec {
namespace kernels {
namespace {

constexpr unsigned kEight = 8, kMostColumns = 256;
typedef float Floats __attribute__((vector_size(32)));
typedef std::int32_t Integers __attribute__((vector_size(32)));

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using type = Floats;
};
template <>
struct VectorOf<std::int32_t> {
  using type = Integers;
};

/// Eight elements that lie together, as what products are made of.
template <MmaFormat kFormat>
SIMGPU_INLINE void widen(const std::byte* from, float* to, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    if constexpr (kFormat == MmaFormat::tf32) {
      std::uint32_t v;
      std::memcpy(&v, from + 4 * i, 4);
      to[i] = std::bit_cast<float>(v & 0xffffe000u);  // the low 13 bits are not looked at
    } else {
      std::uint16_t v;
      std::memcpy(&v, from + 2 * i, 2);
      to[i] = kFormat == MmaFormat::bf16 ? std::bit_cast<float>(std::uint32_t{v} << 16)
                                         : half_to_float_lane(v);
    }
  }
}
SIMGPU_INLINE void widen_bytes(const std::byte* from, bool is_unsigned, std::int32_t* to,
                               unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const auto v = static_cast<std::uint8_t>(from[i]);
    to[i] = is_unsigned ? v : static_cast<std::int8_t>(v);
  }
}

SIMGPU_INLINE void widen_floats8(const std::byte* from, bool is_e5m2, float* to, unsigned count) {
  const auto& values = float8_values(is_e5m2);
  for (unsigned i = 0; i < count; ++i) to[i] = values[static_cast<std::uint8_t>(from[i])];
}

/// `second`: u8 rather than s8, e5m2 rather than e4m3.
template <MmaFormat kFormat, class T>
SIMGPU_INLINE void expand(const std::byte* from, bool second, T* to, unsigned count) {
  if constexpr (kFormat == MmaFormat::s8)
    widen_bytes(from, second, to, count);
  else if constexpr (kFormat == MmaFormat::f8)
    widen_floats8(from, second, to, count);
  else
    widen<kFormat>(from, to, count);
}

constexpr unsigned bytes_of(MmaFormat f) {
  return f == MmaFormat::tf32 ? 4 : f == MmaFormat::s8 || f == MmaFormat::f8 ? 1 : 2;
}

template <MmaFormat kFormat>
class Multiplication {
  using T = std::conditional_t<kFormat == MmaFormat::s8, std::int32_t, float>;
  using Vector = typename VectorOf<T>::type;
  static constexpr unsigned kBytes = bytes_of(kFormat), kK = 32 / kBytes;

 public:
  void run(const WgmmaTask& task) {
    const Wgmma& f = *task.form;
    const unsigned n = kEight * f.n;
    load_a(task);
    load_b(task, n);
    scale(f.negates_a != f.negates_b ? -task.gain : task.gain);
    for (unsigned q = 0; q < 4; ++q) {
      Warp& w = task.warps[q];
      for (unsigned j = 0; j < f.n; ++j) {
        if (f.half_sums) {
          for (unsigned half = 0; half < 2; ++half) half_column(w, task, q, j, half);
        } else {
          for (unsigned half = 0; half < 2; ++half)
            column(lanes<T>(w, f.sums[4 * j + 2 * half]), lanes<T>(w, f.sums[4 * j + 2 * half + 1]),
                   task.keeps_sums, q, j, half, f.saturates);
        }
      }
    }
  }

 private:
  /// Rows g and g + 1 of the half (8 rows) of a warp: pairs 0 to 3.
  T* a_of(unsigned warp, unsigned half, unsigned k) {
    return a_ + ((warp * 2 + half) * kK + k) * 4 * kEight;
  }
  T* b_of(unsigned j, unsigned k) { return b_ + (j * kK + k) * 2 * kEight; }

  void set_a(unsigned row, const T (&values)[kK]) {
    const unsigned warp = row / 16, half = row / 8 % 2, g = row % 8;
    for (unsigned k = 0; k < kK; ++k) {
      T* to = a_of(warp, half, k) + g / 2 * kEight + g % 2 * 4;
      for (unsigned i = 0; i < 4; ++i) to[i] = values[k];
    }
  }
  void load_a(const WgmmaTask& task) {
    const Wgmma& f = *task.form;
    if (f.a == kNoRef) return load_fragments(task);
    for (unsigned row = 0; row < 64; ++row) {
      T values[kK];
      if (!f.mn_major_a) {
        expand<kFormat>(task.a + row * 32, f.second_a, values, kK);
      } else {
        for (unsigned k = 0; k < kK; ++k)
          expand<kFormat>(task.a + (k * 64 + row) * kBytes, f.second_a, values + k, 1);
      }
      set_a(row, values);
    }
  }
  /// PTX ISA 9.7.15.5.1.1: as A of mma.sync, 16 rows of each warp.
  void load_fragments(const WgmmaTask& task) {
    constexpr unsigned kPerRegister = 4 / kBytes;
    for (unsigned q = 0; q < 4; ++q) {
      T rows[16][kK];
      for (unsigned r = 0; r < 4; ++r) {
        const std::byte* from = address_of(task.warps[q], task.form->fragment[r]);
        for (unsigned lane = 0; lane < kLanes; ++lane)
          for (unsigned e = 0; e < kPerRegister; ++e) {
            const Place p = mma_place(Matrix::a, 16, 8 * kBytes, lane, r * kPerRegister + e);
            expand<kFormat>(from + lane * 4 + e * kBytes, task.form->second_a,
                            &rows[p.row][p.column], 1);
          }
      }
      for (unsigned row = 0; row < 16; ++row) set_a(16 * q + row, rows[row]);
    }
  }

  /// Columns 8 j to 8 j + 7 of row k: the even ones twice, then the odd ones twice.
  SIMGPU_INLINE void set_b(unsigned j, unsigned k, const T* v) {
    T* to = b_of(j, k);
    for (unsigned t = 0; t < 4; ++t) {
      to[t] = to[4 + t] = v[2 * t];
      to[kEight + t] = to[kEight + 4 + t] = v[2 * t + 1];
    }
  }
  void load_b(const WgmmaTask& task, unsigned n) {
    const Wgmma& f = *task.form;
    for (unsigned j = 0; j < n / kEight; ++j) {
      if (f.mn_major_b) {
        for (unsigned k = 0; k < kK; ++k) {
          T values[kEight];
          expand<kFormat>(task.b + (k * n + j * kEight) * kBytes, f.second_b, values, kEight);
          set_b(j, k, values);
        }
        continue;
      }
      T rows[kEight][kK];
      for (unsigned i = 0; i < kEight; ++i)
        expand<kFormat>(task.b + (j * kEight + i) * 32, f.second_b, rows[i], kK);
      for (unsigned k = 0; k < kK; ++k) {
        T values[kEight];
        for (unsigned i = 0; i < kEight; ++i) values[i] = rows[i][k];
        set_b(j, k, values);
      }
    }
  }
  void scale(std::int32_t gain) {
    if (gain == 1) return;
    for (T& v : a_) v *= static_cast<T>(gain);
  }

  SIMGPU_INLINE static Vector add(Vector sum, Vector a, Vector b) {
    if constexpr (kFormat == MmaFormat::s8) {
      typedef std::uint32_t Words __attribute__((vector_size(32)));
      return (Vector)((Words)sum + (Words)a * (Words)b);
    } else {
#if defined(__FMA__) && defined(__AVX__)
      return (Vector)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)sum);
#else
      return sum + a * b;  // the product is exact
#endif
    }
  }

  /// Registers of even and odd columns, 8 rows.
  SIMGPU_INLINE void column(T* even, T* odd, bool keeps, unsigned warp, unsigned j, unsigned half,
                            bool saturates) {
    Vector s[2][4] = {};
    if (keeps && !saturates) {
      std::memcpy(s[0], even, sizeof s[0]);
      std::memcpy(s[1], odd, sizeof s[1]);
    }
    for (unsigned k = 0; k < kK; ++k) {
      Vector b[2], a[4];
      std::memcpy(b, b_of(j, k), sizeof b);
      std::memcpy(a, a_of(warp, half, k), sizeof a);
      for (unsigned i = 0; i < 4; ++i) {
        s[0][i] = add(s[0][i], a[i], b[0]);
        s[1][i] = add(s[1][i], a[i], b[1]);
      }
    }
    if (keeps && saturates) {
      saturate(s[0], even);
      saturate(s[1], odd);
    }
    if constexpr (kFormat != MmaFormat::s8) {
      canonical(s[0]);
      canonical(s[1]);
    }
    std::memcpy(even, s[0], sizeof s[0]);
    std::memcpy(odd, s[1], sizeof s[1]);
  }
  static void canonical(Vector (&s)[4]) {
    for (Vector& v : s) {
      const Integers is_nan = (Integers)(v != v);
      v = (Vector)(((Integers)v & ~is_nan) | (is_nan & 0x7fffffff));
    }
  }
  static void saturate(Vector (&s)[4], const T* before) {
    T v[kLanes];
    std::memcpy(v, s, sizeof v);
    for (unsigned i = 0; i < kLanes; ++i) {
      const auto sum = static_cast<std::int64_t>(v[i]) + static_cast<std::int64_t>(before[i]);
      v[i] = static_cast<T>(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
    }
    std::memcpy(s, v, sizeof v);
  }
  /// Sums of f16, two columns in a register.
  void half_column(Warp& w, const WgmmaTask& task, unsigned warp, unsigned j, unsigned half) {
    auto* r = lanes<std::uint32_t>(w, task.form->sums[2 * j + half]);
    alignas(32) T even[kLanes], odd[kLanes];
    for (unsigned i = 0; i < kLanes; ++i) {
      even[i] = static_cast<T>(half_to_float_lane(static_cast<std::uint16_t>(r[i])));
      odd[i] = static_cast<T>(half_to_float_lane(static_cast<std::uint16_t>(r[i] >> 16)));
    }
    column(even, odd, task.keeps_sums, warp, j, half, false);
    for (unsigned i = 0; i < kLanes; ++i)
      r[i] = std::uint32_t{float_to_half_lane(static_cast<float>(even[i]))} |
             std::uint32_t{float_to_half_lane(static_cast<float>(odd[i]))} << 16;
  }

  alignas(64) T a_[64 * kK * 4];
  alignas(64) T b_[kMostColumns * kK * 2];
};

template <MmaFormat kFormat>
void multiply(const WgmmaTask& task) {
  static thread_local Multiplication<kFormat> m;
  m.run(task);
}

}  // namespace
}  // namespace kernels

void multiply_warpgroup(const WgmmaTask& task) {
  switch (task.form->format) {
    case MmaFormat::f16:
      return kernels::multiply<MmaFormat::f16>(task);
    case MmaFormat::bf16:
      return kernels::multiply<MmaFormat::bf16>(task);
    case MmaFormat::tf32:
      return kernels::multiply<MmaFormat::tf32>(task);
    case MmaFormat::f8:
      return kernels::multiply<MmaFormat::f8>(task);
    default:
      return kernels::multiply<MmaFormat::s8>(task);
  }
}

}  // namespace simgpu::exec
