// Which element of a matrix lies in which register of which lane, for mma.sync and wmma.
//
// mma.sync: PTX ISA 9.7.15.5, "Matrix multiply-accumulate operation using mma instruction", the
// figures "Matrix fragments for mma.mMnNkK". All shapes with M = 16 or 8 and N = 8 follow one rule.
// With g = lane / 4, t = lane % 4 and p elements in a register (32 of 1 bit, 8 of 4 bits, 4 of 8 bits, 2 of
// 16 bits, else 1):
//   A, M = 16   register r, part q: row g + 8 * (r % 2), column t * p + q + 4 * p * (r / 2)
//   A, M = 8    register r, part q: row g,               column t * p + q + 4 * p * r
//   B           register r, part q: row t * p + q + 4 * p * r, column g
//   C, D        element e:          row g + 8 * (e / 2), column 2 * t + e % 2
// So the 32 lanes of one register of A hold a block of 8 rows and 4p columns in row-major order,
// and those of B one in column-major order.
//
// wmma: the ISA leaves the layout open. Hardware makes it of mma.sync's tiles (seen on an H200 for
// m16n16k16, m16n16k8 and m8n8k4: ptxas loads f16 fragments by one ldmatrix), and so does this:
// tiles of 16 (or 8) rows of A, of 8 columns of B, tile after tile; C and D by rows of tiles. f16
// fragments have 8 registers for A and B in every shape: what a tile does not need repeats the
// others.
#pragma once

#include <cstdint>

namespace simgpu::exec {

enum class Matrix : std::uint8_t { a, b, c };

struct Place {
  unsigned row = 0, column = 0;
};

/// `element` of `lane` in a fragment of mma.sync. `bits` of an element of A or B: 1, 4, 8, 16, 32 or 64;
/// `rows` of A: 8 or 16.
constexpr Place mma_place(Matrix matrix, unsigned rows, unsigned bits, unsigned lane,
                          unsigned element) {
  const unsigned g = lane / 4, t = lane % 4;
  if (matrix == Matrix::c) return {g + 8 * (element / 2), 2 * t + element % 2};
  const unsigned p = bits < 32 ? 32 / bits : 1;
  const unsigned r = element / p, q = element % p;
  if (matrix == Matrix::b) return {t * p + q + 4 * p * r, g};
  if (rows == 8) return {g, t * p + q + 4 * p * r};
  return {g + 8 * (r % 2), t * p + q + 4 * p * (r / 2)};
}

/// A matrix multiply-add as tiles of mma.sync.
struct Tiling {
  unsigned rows = 16;             ///< of a tile of A, C and D
  unsigned down = 1, across = 1;  ///< tiles
};
constexpr Tiling tiling(unsigned m, unsigned n) {
  if (m == 8) return {8, 1, n / 8};
  return {16, m / 16, n / 8};
}

/// Registers of one tile.
constexpr unsigned registers_of_a(unsigned rows, unsigned k, unsigned bits) {
  return rows * k * bits / (bits == 64 ? 64u * 32u : 32u * 32u);
}
constexpr unsigned registers_of_b(unsigned k, unsigned bits) {
  return registers_of_a(8, k, bits);
}
constexpr unsigned registers_of_c(unsigned rows, unsigned bits) {
  return bits == 16 ? rows / 8 : rows / 4;
}

/// Op::z of an mma.
inline constexpr std::uint8_t kMmaHalfC = 1, kMmaHalfD = 2;  ///< C, D hold f16
inline constexpr std::uint8_t kMmaSatFinite = 4;             ///< .satfinite
/// A, B are u8 rather than s8, u4 rather than s4, e5m2 rather than e4m3. Of bits, kMmaSecondA: .xor
/// rather than .and.
inline constexpr std::uint8_t kMmaSecondA = 8, kMmaSecondB = 16;

}  // namespace simgpu::exec
