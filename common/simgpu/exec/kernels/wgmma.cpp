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
#include "common/simgpu/exec/kernels/float_tile.hpp"
#include "common/simgpu/exec/kernels/lanes.hpp"
#include "common/simgpu/exec/kernels/operands.hpp"
#include "common/simgpu/exec/kernels/tensor_sums.hpp"

namespace simgpu::exec {
namespace kernels {
namespace {

constexpr unsigned kEight = 8, kRows = 64, kWarps = 4, kRowsOfWarp = 16, kMostColumns = 256;

template <class Format>
class Multiplication {
  using T = typename Format::Dense;
  static constexpr unsigned kBytes = Format::kBits / 8, kK = 32 / kBytes, kChunk = 16;

 public:
  void run(const WgmmaTask& task) {
    if constexpr (!std::is_integral_v<T>)
      if (!task.form->half_sums) return run_by<Columns::split>(task);
    run_by<Columns::ordered>(task);
  }

 private:
  template <Columns kColumns>
  void run_by(const WgmmaTask& task) {
    const Wgmma& f = *task.form;
    load_a(task);
    load_b<kColumns>(task);
    scale(f.negates_a != f.negates_b ? -task.gain : task.gain);
    for (unsigned j = 0; j < f.n; ++j)
      for (unsigned q = 0; q < kWarps; ++q) {
        const T *a = a_ + q * kRowsOfWarp * kK, *b = b_ + j * kK * kEight;
        const Ref* sums = f.sums.data() + (f.half_sums ? 2 : 4) * j;
        if constexpr (kColumns == Columns::split)
          float_tile(task.warps[q], task.keeps_sums, a, b, sums);
        else
          tile(task.warps[q], f, task.keeps_sums, a, b, sums);
      }
  }

  void load_a(const WgmmaTask& task) {
    const Wgmma& f = *task.form;
    if (f.a == kNoRef) {  // PTX ISA 9.7.15.5.1.1: as A of mma.sync, 16 rows of each warp
      for (unsigned q = 0; q < kWarps; ++q)
        expand_a<Format, kRowsOfWarp, kK>(task.warps[q], f.fragment.data(), f.second_a,
                                          a_ + q * kRowsOfWarp * kK);
    } else if (!f.mn_major_a) {
      for (unsigned g = 0; g < kRows * 2; ++g)
        Format::row(task.a, g, f.second_a, a_ + g * Format::kWidth);
    } else if constexpr (Format::kBits == 16) {  // only these may be so
      for (unsigned k = 0; k < kK; k += kEight)
        for (unsigned row = 0; row < kRows; row += kEight) {
          alignas(16) std::uint16_t rows[kEight * kEight];
          transpose8<Columns::ordered>(
              reinterpret_cast<const std::uint16_t*>(task.a) + k * kRows + row, kRows, rows);
          for (unsigned g = 0; g < kEight; ++g)
            Format::row(reinterpret_cast<const std::byte*>(rows), g, f.second_a,
                        a_ + (row + g) * kK + k);
        }
    }
  }
  template <Columns kColumns>
  void load_b(const WgmmaTask& task) {
    const Wgmma& f = *task.form;
    for (unsigned j = 0; j < f.n; ++j) {
      T* to = b_ + j * kK * kEight;
      if (!f.mn_major_b) {
        for (unsigned half = 0; half < 2; ++half)
          expand_columns<Format, kColumns>(task.b + j * kEight * 32 + half * kChunk, 32, f.second_b,
                                           to + half * Format::kWidth * kEight);
      } else if constexpr (Format::kBits == 16) {
        for (unsigned k = 0; k < kK; ++k) {
          alignas(16) std::uint16_t row[kEight];
          order8<kColumns>(task.b + (k * kEight * f.n + j * kEight) * kBytes, row);
          Format::row(reinterpret_cast<const std::byte*>(row), 0, f.second_b, to + k * kEight);
        }
      }
    }
  }
  void scale(std::int32_t gain) {
    if (gain == 1) return;
    for (T& v : a_) v *= static_cast<T>(gain);
  }

  /// 16 rows of a warp and 8 columns, in the registers `sums`.
  static void float_tile(Warp& w, bool keeps, const double* a, const double* b, const Ref* sums) {
    static constexpr float kZeros[kLanes] = {};
    FloatTile t;
    for (unsigned r = 0; r < 4; ++r) {
      t.d[r] = lanes<float>(w, sums[r]);
      t.c[r] = keeps ? t.d[r] : kZeros;
    }
    multiply_float_tile<kK>(a, b, t);
  }
  static void tile(Warp& w, const Wgmma& f, bool keeps, const T* a, const T* b, const Ref* sums) {
    alignas(64) T d[kRowsOfWarp * kEight] = {};
    if constexpr (std::is_integral_v<T>) {
      kernels::multiply<false, kRowsOfWarp, kK>(a, b, d);
      if (keeps) add_c<kRowsOfWarp>(w, sums, f.saturates, d);
      store_d_integer<kRowsOfWarp>(w, kFullMask, sums, d);
    } else {
      if (keeps) load_c_half<kRowsOfWarp>(w, sums, d);
      kernels::multiply<false, kRowsOfWarp, kK>(a, b, d);
      store_d_half<kRowsOfWarp>(w, kFullMask, sums, d, false);
    }
  }

  alignas(64) T a_[kRows * kK];                 // rows of A
  alignas(64) T b_[kMostColumns / 8 * kK * 8];  // for each 8 columns of B, rows of k
};

template <class Format>
void multiply_as(const WgmmaTask& task) {
  static thread_local Multiplication<Format> m;
  m.run(task);
}

}  // namespace
}  // namespace kernels

void multiply_warpgroup(const WgmmaTask& task) {
  switch (task.form->format) {
    case MmaFormat::f16:
      return kernels::multiply_as<kernels::SixteenBits<false>>(task);
    case MmaFormat::bf16:
      return kernels::multiply_as<kernels::SixteenBits<true>>(task);
    case MmaFormat::tf32:
      return kernels::multiply_as<kernels::Tf32>(task);
    case MmaFormat::f8:
      return kernels::multiply_as<kernels::Float8>(task);
    default:
      return kernels::multiply_as<kernels::Int8>(task);
  }
}

}  // namespace simgpu::exec
