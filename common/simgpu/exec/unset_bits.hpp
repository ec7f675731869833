// Which bits of a result depend on bits that nothing has set. A struct's bit field is set by reading its word, and, or,
// and writing it back; a byte of a word may be padding. So it is known of each bit.
#pragma once

#include <array>
#include <cstdint>

#include "common/simgpu/ptx/modifiers.hpp"
#include "common/simgpu/ptx/module.hpp"

namespace simgpu::exec {

inline constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

/// An instruction that works lane by lane on integers or bits.
struct BitwiseForm {
  ptx::Opcode op{};
  std::uint8_t bytes = 0;            ///< of its type
  std::uint8_t from_bytes = 0;       ///< cvt: of the source
  bool is_signed = false;            ///< bfe, shr, cvt (of the source), and comparisons
  bool left = false, wraps = false;  ///< shf
  ptx::Compare compare = ptx::Compare::none;
};

/// What one lane's operands are, as far as they are set.
struct BitwiseOperands {
  std::array<std::uint64_t, 4> value{};
  std::array<std::uint64_t, 4> unset{};  ///< bits
};

/// Whether unset_bits() knows the instruction.
bool follows_bits(const ptx::Instruction& ins);
BitwiseForm bitwise_form(const ptx::Instruction& ins);
/// Bits of the result that may differ with the bits that nothing has set.
std::uint64_t unset_bits(const BitwiseForm& form, const BitwiseOperands& operands);
/// Whether the result has been computed, not only put together from bits of the operands.
bool computes(ptx::Opcode op);

/// The lowest of them and all above: what a sum or a product can make of them.
constexpr std::uint64_t from_lowest(std::uint64_t bits) {
  return bits == 0 ? 0 : ~((bits & (~bits + 1)) - 1);
}
constexpr std::uint64_t low_bits(unsigned bytes) {
  return bytes >= 8 ? kAllBits : (std::uint64_t{1} << (8 * bytes)) - 1;
}

}  // namespace simgpu::exec
