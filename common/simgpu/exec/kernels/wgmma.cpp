// wgmma: D = A * B + D of a warpgroup, 64 rows and up to 256 columns.
//
// A warp has 16 rows of A, and every 8 columns of B make one tile of mma.sync for it: the same sums,
// with the same arithmetic (exec/mma.cpp), over the k of one wgmma.
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/simgpu/exec/async_proxy.hpp"
#include "common/simgpu/exec/fragments.hpp"
#include "common/simgpu/exec/kernels/lanes.hpp"
#include "common/simgpu/exec/kernels/tensor_sums.hpp"
#include "common/simgpu/float8.hpp"
#include "common/simgpu/half.hpp"

namespace simgpu::exec {
namespace kernels {
namespace {

constexpr unsigned kEight = 8, kRows = 64, kRowsOfWarp = 16, kMostColumns = 256;

/// Elements that lie together, as what products are made of.
template <MmaFormat kFormat>
SIMGPU_INLINE void widen(const std::byte* from, double* to, unsigned count) {
  if constexpr (kFormat == MmaFormat::tf32) {
    for (unsigned i = 0; i < count; ++i) {
      std::uint32_t v;
      std::memcpy(&v, from + 4 * i, 4);
      to[i] = std::bit_cast<float>(v & 0xffffe000u);  // the low 13 bits are not looked at
    }
  } else {
    constexpr bool kBf = kFormat == MmaFormat::bf16;
    unsigned i = 0;
    for (; i + 8 <= count; i += 8) {
      alignas(16) std::uint16_t v[8];
      std::memcpy(v, from + 2 * i, sizeof v);
      widen8<kBf>(v, to + i);
    }
    for (; i < count; ++i) {
      std::uint16_t v;
      std::memcpy(&v, from + 2 * i, 2);
      to[i] = static_cast<double>(kBf ? bfloat_to_float(v) : half_to_float_lane(v));
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
SIMGPU_INLINE void widen_floats8(const std::byte* from, bool is_e5m2, double* to, unsigned count) {
  const auto& values = float8_values(is_e5m2);
  for (unsigned i = 0; i < count; ++i)
    to[i] = static_cast<double>(values[static_cast<std::uint8_t>(from[i])]);
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
  using T = std::conditional_t<kFormat == MmaFormat::s8, std::int32_t, double>;
  static constexpr unsigned kBytes = bytes_of(kFormat), kK = 32 / kBytes;

 public:
  void run(const WgmmaTask& task) {
    const Wgmma& f = *task.form;
    load_a(task);
    load_b(task, kEight * f.n);
    scale(f.negates_a != f.negates_b ? -task.gain : task.gain);
    for (unsigned q = 0; q < kRows / kRowsOfWarp; ++q)
      for (unsigned j = 0; j < f.n; ++j)
        tile(task.warps[q], f, task.keeps_sums, a_ + q * kRowsOfWarp * kK, b_ + j * kK * kEight,
             f.sums.data() + (f.half_sums ? 2 : 4) * j);
  }

 private:
  void load_a(const WgmmaTask& task) {
    const Wgmma& f = *task.form;
    if (f.a == kNoRef) return load_fragments(task);
    for (unsigned row = 0; row < kRows; ++row) {
      T* to = a_ + row * kK;
      if (!f.mn_major_a) {
        expand<kFormat>(task.a + row * 32, f.second_a, to, kK);
      } else {
        for (unsigned k = 0; k < kK; ++k)
          expand<kFormat>(task.a + (k * kRows + row) * kBytes, f.second_a, to + k, 1);
      }
    }
  }
  /// PTX ISA 9.7.15.5.1.1: as A of mma.sync, 16 rows of each warp.
  void load_fragments(const WgmmaTask& task) {
    constexpr unsigned kPerRegister = 4 / kBytes;
    for (unsigned q = 0; q < kRows / kRowsOfWarp; ++q)
      for (unsigned r = 0; r < 4; ++r) {
        const std::byte* from = address_of(task.warps[q], task.form->fragment[r]);
        for (unsigned lane = 0; lane < kLanes; ++lane)
          for (unsigned e = 0; e < kPerRegister; ++e) {
            const Place p =
                mma_place(Matrix::a, kRowsOfWarp, 8 * kBytes, lane, r * kPerRegister + e);
            expand<kFormat>(from + lane * 4 + e * kBytes, task.form->second_a,
                            a_ + (q * kRowsOfWarp + p.row) * kK + p.column, 1);
          }
      }
  }
  void load_b(const WgmmaTask& task, unsigned n) {
    const Wgmma& f = *task.form;
    for (unsigned j = 0; j < n / kEight; ++j) {
      T* to = b_ + j * kK * kEight;
      if (f.mn_major_b) {
        for (unsigned k = 0; k < kK; ++k)
          expand<kFormat>(task.b + (k * n + j * kEight) * kBytes, f.second_b, to + k * kEight,
                          kEight);
        continue;
      }
      T columns[kEight][kK];
      for (unsigned i = 0; i < kEight; ++i)
        expand<kFormat>(task.b + (j * kEight + i) * 32, f.second_b, columns[i], kK);
      for (unsigned k = 0; k < kK; ++k)
        for (unsigned i = 0; i < kEight; ++i) to[k * kEight + i] = columns[i][k];
    }
  }
  void scale(std::int32_t gain) {
    if (gain == 1) return;
    for (T& v : a_) v *= static_cast<T>(gain);
  }

  /// 16 rows of a warp and 8 columns, in the registers `sums`.
  static void tile(Warp& w, const Wgmma& f, bool keeps, const T* a, const T* b, const Ref* sums) {
    alignas(64) T d[kRowsOfWarp * kEight] = {};
    if constexpr (kFormat == MmaFormat::s8) {
      kernels::multiply<false, kRowsOfWarp, kK>(a, b, d);
      if (keeps) add_c<kRowsOfWarp>(w, sums, f.saturates, d);
      store_d_integer<kRowsOfWarp>(w, kFullMask, sums, d);
    } else {
      if (keeps && f.half_sums) load_c_half<kRowsOfWarp>(w, sums, d);
      if (keeps && !f.half_sums) load_c<float, kRowsOfWarp>(w, sums, d);
      kernels::multiply<false, kRowsOfWarp, kK>(a, b, d);
      if (f.half_sums)
        store_d_half<kRowsOfWarp>(w, kFullMask, sums, d, false);
      else
        store_d<float, kRowsOfWarp>(w, kFullMask, sums, d);
    }
  }

  alignas(64) T a_[kRows * kK];                 // rows of A
  alignas(64) T b_[kMostColumns / 8 * kK * 8];  // for each 8 columns of B, rows of k
};

template <MmaFormat kFormat>
void multiply_as(const WgmmaTask& task) {
  static thread_local Multiplication<kFormat> m;
  m.run(task);
}

}  // namespace
}  // namespace kernels

void multiply_warpgroup(const WgmmaTask& task) {
  switch (task.form->format) {
    case MmaFormat::f16:
      return kernels::multiply_as<MmaFormat::f16>(task);
    case MmaFormat::bf16:
      return kernels::multiply_as<MmaFormat::bf16>(task);
    case MmaFormat::tf32:
      return kernels::multiply_as<MmaFormat::tf32>(task);
    case MmaFormat::f8:
      return kernels::multiply_as<MmaFormat::f8>(task);
    default:
      return kernels::multiply_as<MmaFormat::s8>(task);
  }
}

}  // namespace simgpu::exec
