// mma.sync and wmma.mma: D = A * B + C of a warp. See exec/mma.cpp for the arithmetic that is
// promised and fragments.hpp for where elements lie.
//
// Op::list: registers of D, C, A, B in this order, tile after tile. Op::x, y: tiles down and
// across. Fragments are expanded to small dense matrices (A by rows, B by rows of k), multiplied
// and scattered.
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/fragments.hpp"
#include "common/simgpu/exec/kernels/float_tile.hpp"
#include "common/simgpu/exec/kernels/lanes.hpp"
#include "common/simgpu/exec/kernels/operands.hpp"
#include "common/simgpu/exec/kernels/tensor_sums.hpp"
#include "common/simgpu/exec/launch_run.hpp"

namespace simgpu::exec::kernels {
namespace {

/// A fragment of A or B that this host thread has expanded, and what it was made of.
template <unsigned kRegisters, unsigned kElements>
struct KnownFragment {
  alignas(64) std::uint64_t lanes[kRegisters][kLanes / 2] = {};
  alignas(64) double dense[kElements] = {};
  bool second = false, filled = false;

  /// Its elements as `expand` makes them.
  template <class F>
  SIMGPU_INLINE const double* expanded(const Warp& w, const Ref* refs, bool is_second, F expand) {
    if (filled && second == is_second && same(w, refs)) return dense;
    for (unsigned r = 0; r < kRegisters; ++r)
      std::memcpy(lanes[r], address_of(w, refs[r]), sizeof lanes[r]);
    second = is_second;
    filled = true;
    expand(dense);
    return dense;
  }

 private:
  typedef std::uint64_t Words __attribute__((vector_size(32)));
  SIMGPU_INLINE bool same(const Warp& w, const Ref* refs) const {
    Words differs = {};
    for (unsigned r = 0; r < kRegisters; ++r) {
      const auto* now = kernels::lanes<std::uint64_t>(w, refs[r]);
      for (unsigned k = 0; k < kLanes / 2; k += 4) {
        Words is, was;
        std::memcpy(&is, now + k, sizeof is);
        std::memcpy(&was, lanes[r] + k, sizeof was);
        differs |= is ^ was;
      }
    }
    return (differs[0] | differs[1] | differs[2] | differs[3]) == 0;
  }
};

/// A kernel multiplies each of several A by each of several B. The last ones are kept, by where their
/// registers lie.
template <class Format, unsigned kK>
struct KnownFragments {
  static constexpr unsigned kPlaces = 8;
  KnownFragment<registers_of_a(16, kK, Format::kBits), 16 * kK> a;
  KnownFragment<registers_of_b(kK, Format::kBits), kK * 8> b[kPlaces];

  static unsigned place_of(Ref first_register) {
    constexpr unsigned kBytes = 4 * kLanes * registers_of_b(kK, Format::kBits);
    return static_cast<std::uint64_t>(first_register) / kBytes % kPlaces;
  }
};

/// The common case: one tile of FP32 sums, all lanes, and D in the registers of C or in none of them.
/// False: it is another one.
template <class Format, unsigned kK>
SIMGPU_INLINE bool multiply_one_tile(Warp& w, const Op& op) {
  constexpr unsigned kSums = 4;
  if (op.x * op.y != 1 || (op.z & (kMmaHalfC | kMmaHalfD)) != 0 || w.mask != kFullMask ||
      w.run->launch->options.tensor_gain != 1)
    return false;
  const Ref *d_refs = op.list, *c_refs = d_refs + kSums, *a_refs = c_refs + kSums,
            *b_refs = a_refs + registers_of_a(16, kK, Format::kBits);
  FloatTile tile;
  unsigned clashes = 0;
  for (unsigned i = 0; i < kSums; ++i) {
    tile.c[i] = lanes<float>(w, c_refs[i]);
    tile.d[i] = lanes<float>(w, d_refs[i]);
    for (unsigned j = 0; j < kSums; ++j)
      clashes |= static_cast<unsigned>(i != j) & static_cast<unsigned>(d_refs[i] == c_refs[j]);
  }
  if (clashes != 0) return false;
  static thread_local KnownFragments<Format, kK> known;
  const bool second_a = (op.z & kMmaSecondA) != 0, second_b = (op.z & kMmaSecondB) != 0;
  const double* a = known.a.expanded(w, a_refs, second_a, [&](double* to) SIMGPU_LAMBDA {
    expand_a<Format, 16, kK>(w, a_refs, second_a, to);
  });
  const double* b = known.b[known.place_of(b_refs[0])].expanded(
      w, b_refs, second_b, [&](double* to) SIMGPU_LAMBDA {
        expand_b<Format, kK, Columns::split>(w, b_refs, second_b, to);
      });
  multiply_float_tile<kK>(a, b, tile);
  return true;
}

template <class Format, unsigned kRows, unsigned kK>
void mma(Warp& w, const Op& op) {
  meet_aligned(w);
  if constexpr (kRows == 16 && Format::kBits != 64 &&
                std::is_same_v<typename Format::Dense, double>)
    if (multiply_one_tile<Format, kK>(w, op)) return;
  if (w.mask != kFullMask) report_part_of_warp(w, op);
  constexpr bool kInt = std::is_integral_v<typename Format::Dense>, kDouble = Format::kBits == 64;
  using Dense = typename Format::Dense;
  constexpr unsigned kA = registers_of_a(kRows, kK, Format::kBits);
  constexpr unsigned kB = registers_of_b(kK, Format::kBits);
  constexpr unsigned kTile = kRows * 8, kMostTiles = 4;
  const unsigned down = op.x, across = op.y, tiles = down * across;
  const auto gain = static_cast<Dense>(w.run->launch->options.tensor_gain);
  const unsigned c_registers = registers_of_c(kRows, (op.z & kMmaHalfC) != 0 ? 16 : 32);
  const unsigned d_registers = registers_of_c(kRows, (op.z & kMmaHalfD) != 0 ? 16 : 32);
  const Ref* d_refs = op.list;
  const Ref* c_refs = d_refs + tiles * d_registers;
  const Ref* a_refs = c_refs + tiles * c_registers;
  const Ref* b_refs = a_refs + down * kA;
  // D may be in the registers of A, B or C: nothing is written before everything has been read.
  alignas(64) Dense d[kMostTiles * kTile];
  alignas(64) Dense b[kMostTiles][kK * 8];
  alignas(64) Dense a[kRows * kK];
  for (unsigned j = 0; j < across; ++j)
    expand_b<Format, kK, Columns::ordered>(w, b_refs + j * kB, (op.z & kMmaSecondB) != 0, b[j]);
  for (unsigned i = 0; i < down; ++i) {
    expand_a<Format, kRows, kK>(w, a_refs + i * kA, (op.z & kMmaSecondA) != 0, a);
    if (gain != 1)
      for (Dense& v : a) v *= gain;
    for (unsigned j = 0; j < across; ++j) {
      const unsigned tile = i * across + j;
      Dense* to = d + tile * kTile;
      if constexpr (kInt)
        std::memset(to, 0, kTile * sizeof(Dense));
      else if constexpr (kDouble)
        load_c<double, kRows>(w, c_refs + tile * c_registers, to);
      else if ((op.z & kMmaHalfC) != 0)
        load_c_half<kRows>(w, c_refs + tile * c_registers, to);
      else
        load_c<float, kRows>(w, c_refs + tile * c_registers, to);
      multiply<kDouble, kRows, kK>(a, b[j], to);
      if constexpr (kInt) {
        add_c<kRows>(w, c_refs + tile * c_registers, (op.z & kMmaSatFinite) != 0, to);
      }
    }
  }
  for (unsigned tile = 0; tile < tiles; ++tile) {
    const Dense* from = d + tile * kTile;
    const Ref* to = d_refs + tile * d_registers;
    if constexpr (kInt) {
      store_d_integer<kRows>(w, w.mask, to, from);
    } else if constexpr (kDouble) {
      store_d<double, kRows>(w, w.mask, to, from);
    } else if ((op.z & kMmaHalfD) != 0) {
      store_d_half<kRows>(w, w.mask, to, from, (op.z & kMmaSatFinite) != 0);
    } else {
      store_d<float, kRows>(w, w.mask, to, from);
    }
  }
}

/// Of single bits: the words of a row of A and of a column of B are combined as they lie in registers.
template <unsigned kRows, unsigned kK>
void mma_bits(Warp& w, const Op& op) {
  meet_aligned(w);
  if (w.mask != kFullMask) report_part_of_warp(w, op);
  constexpr unsigned kDown = kRows / 8, kAlong = kK / 128, kSums = registers_of_c(kRows, 32);
  const Ref *d_refs = op.list, *c_refs = d_refs + kSums, *a_refs = c_refs + kSums,
            *b_refs = a_refs + kDown * kAlong;
  const bool exclusive = (op.z & kMmaSecondA) != 0;
  const std::uint32_t gain = w.run->launch->options.tensor_gain;
  alignas(64) std::uint32_t d[kSums][kLanes];
  for (unsigned r = 0; r < kSums; ++r) {
    const std::uint32_t* c = lanes<std::uint32_t>(w, c_refs[r]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const Place at = mma_place(Matrix::c, kRows, 1, lane, r);
      std::uint32_t sum = 0;
      for (unsigned k = 0; k < kAlong; ++k) {
        const std::uint32_t* row =
            lanes<std::uint32_t>(w, a_refs[at.row / 8 + kDown * k]) + 4 * (at.row % 8);
        const std::uint32_t* column = lanes<std::uint32_t>(w, b_refs[k]) + 4 * at.column;
        for (unsigned i = 0; i < 4; ++i)
          sum += static_cast<std::uint32_t>(
              std::popcount(exclusive ? row[i] ^ column[i] : row[i] & column[i]));
      }
      d[r][lane] = c[lane] + gain * sum;
    }
  }
  for (unsigned r = 0; r < kSums; ++r) put(w, w.mask, d_refs[r], d[r]);
}

template <unsigned kRows, unsigned kK>
void set(HandlerTable& t, MmaFormat format, Handler handler) {
  t.mma[static_cast<std::size_t>(format)][kRows == 16][std::bit_width(kK) - 3] = handler;
}
template <class Format, unsigned kRows, unsigned kK>
void set_mma(HandlerTable& t, MmaFormat format) {
  set<kRows, kK>(t, format, mma<Format, kRows, kK>);
}
template <unsigned kRows, unsigned kK>
void set_bits(HandlerTable& t) {
  set<kRows, kK>(t, MmaFormat::b1, mma_bits<kRows, kK>);
}
template <class Format>
void set_sixteen(HandlerTable& t, MmaFormat format) {
  set_mma<Format, 16, 16>(t, format);
  set_mma<Format, 16, 8>(t, format);
  set_mma<Format, 8, 16>(t, format);
}

}  // namespace

void fill_mma(HandlerTable& t) {
  set_sixteen<SixteenBits<false>>(t, MmaFormat::f16);
  set_sixteen<SixteenBits<true>>(t, MmaFormat::bf16);
  set_mma<Tf32, 16, 8>(t, MmaFormat::tf32);
  set_mma<Tf32, 16, 4>(t, MmaFormat::tf32);
  set_mma<Fp64, 8, 4>(t, MmaFormat::f64);
  set_mma<Fp64, 16, 4>(t, MmaFormat::f64);
  set_mma<Fp64, 16, 8>(t, MmaFormat::f64);
  set_mma<Fp64, 16, 16>(t, MmaFormat::f64);
  set_mma<Int8, 16, 32>(t, MmaFormat::s8);
  set_mma<Int8, 16, 16>(t, MmaFormat::s8);
  set_mma<Int8, 8, 16>(t, MmaFormat::s8);
  set_mma<Int4, 16, 64>(t, MmaFormat::s4);
  set_mma<Int4, 16, 32>(t, MmaFormat::s4);
  set_mma<Int4, 8, 32>(t, MmaFormat::s4);
  set_bits<16, 256>(t);
  set_bits<16, 128>(t);
  set_bits<8, 128>(t);
  set_mma<Float8, 16, 32>(t, MmaFormat::f8);
  set_mma<Float8, 16, 16>(t, MmaFormat::f8);
}

}  // namespace simgpu::exec::kernels
