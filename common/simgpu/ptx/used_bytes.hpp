// Which bytes of a register decide anything, and which are only passed on.
//
// A struct is copied as a whole, the padding between its members included, which nobody has written.
// That is no mistake. So a load may bring bytes that were never written, as long as the program does
// nothing with them but move them: to another register, another lane, or memory.
#pragma once

#include <cstdint>
#include <vector>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::ptx {

/// Bit k: byte k of the register. A register of more than 8 bytes counts as used.
using ByteSet = std::uint8_t;

/// By register of `function`: bytes that an address, a condition or any computed value depends on.
std::vector<ByteSet> used_bytes(const Function& function);

/// What loads and stores of `function` do with bytes that are only moved, by instruction of its body;
/// bit k is byte k of what one lane moves.
struct MovedBytes {
  std::uint32_t bytes = 0;  ///< a load: those that nobody uses; a store: those of registers that
                            ///< only loads set
  /// Loads that are one step of a struct's copy, 8 bytes each: where in the struct, and its bytes.
  std::uint16_t place = 0, whole = 0;
  /// A load from local memory, of what is stored there again and no more.
  bool stays_local = false;
};
std::vector<MovedBytes> find_moved_bytes(const Function& function);

}  // namespace simgpu::ptx
