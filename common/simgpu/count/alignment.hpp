// What is known of the lowest bits of every register, and so of the alignment of addresses in shared and local memory.
//
// ptxas knows where static arrays lie: one behind the other in the order of their declaration (module scope first, then
// the kernel's own) at their declared alignment. Dynamic shared memory starts at a multiple of 16. For local
// memory see local_arrays.hpp. The lowest bits of every register are followed through sums, products and shifts, around
// loops too. A sum of multiples of the same register is one multiple: clang 14 writes 4 t + 28 t, which ends in five
// zeros, where the source says 32 t.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "common/simgpu/count/local_arrays.hpp"
#include "common/simgpu/ptx/addresses.hpp"
#include "common/simgpu/ptx/module.hpp"

namespace simgpu::count {

/// A window of the accesses that ptxas merges: four elements, at most 16 bytes.
inline std::int64_t window_of(unsigned element) {
  return std::min(16u, 4 * element);
}
/// An offset within windows: which one, and how many bytes from where it begins.
struct InWindow {
  std::int64_t window, within;
};
inline InWindow in_window(std::int64_t offset, unsigned element) {
  const std::int64_t bytes = window_of(element), within = (offset % bytes + bytes) % bytes;
  return {(offset - within) / bytes, within};
}

/// What is known of the end of a value: its lowest `bits` bits (at most kMostZeros) are those of
/// `value`.
struct Low {
  static constexpr std::uint8_t kUnset = 255;  ///< no definition seen yet: agrees with everything
  std::uint8_t bits = kUnset, value = 0;
  friend bool operator==(const Low&, const Low&) = default;

  static Low of(unsigned bits, std::uint64_t value) {
    bits = std::min(bits, kMostZeros);
    return {static_cast<std::uint8_t>(bits),
            static_cast<std::uint8_t>(value & ((1u << bits) - 1u))};
  }
  /// Zero bits at the end.
  unsigned zeros() const { return std::min<unsigned>(bits, zeros_of(value)); }
};

/// Where ptxas puts a shared variable that the function uses.
struct SharedPlace {
  unsigned zeros = 0;  ///< bits at the end of its address
  /// The variable in front of all others of a fixed size, and how far behind it this one is. Of dynamic shared memory:
  /// itself. Of all that is not shared: UINT32_MAX.
  std::uint32_t first = UINT32_MAX;
  std::uint64_t offset = 0;
};

/// The known end of each register of a function, which must live as long: the greatest solution over all its
/// definitions, so that a loop's step counts and not only its start.
class Alignment {
 public:
  Alignment(const ptx::Module& module, const ptx::Function& function);

  Low of(const ptx::Operand& operand) const;
  /// Never unset: the address of code that cannot be reached counts as unknown.
  Low of(const ptx::Root& root) const;

  const LocalArrays& local_arrays() const { return local_; }
  /// With an offset into local memory as nvcc lays it out, and all static shared variables as parts of the first.
  ptx::Address placed(ptx::Address address) const;

 private:
  void fix_local_addresses();
  void follow_constants();
  void add_multiples();
  bool pass();
  Low added(const ptx::Instruction& instruction) const;
  Low result(const ptx::Instruction& instruction) const;

  const ptx::Function& function_;
  const ptx::Module& module_;
  std::vector<SharedPlace> shared_;  ///< by variable
  LocalArrays local_;
  /// By register: of addresses in local memory, else unset. Empty: there are none.
  std::vector<Low> fixed_;
  /// By instruction: of a copy of a register that has got a constant just before it, in the same block. clang gives a
  /// counter its 0, and another one what the first has, although the two step by different numbers.
  std::vector<Low> copied_;
  /// By instruction: of an addition of multiples of the same register, all that is added up, else empty.
  struct Multiple {
    ptx::Operand of;
    std::uint64_t factor = 1;
  };
  std::vector<std::vector<Multiple>> added_;
  bool find_multiples(const ptx::Operand& operand, std::uint64_t factor,
                      const std::vector<std::uint32_t>& definition, int depth,
                      std::vector<Multiple>* found) const;
  std::vector<Low> low_;
};

}  // namespace simgpu::count
