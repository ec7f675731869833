#include "common/simgpu/count/coalescing.hpp"

#include <bit>

namespace simgpu::count {
namespace {

/// Distinct values of address >> shift among the lanes of `mask`. Lanes are taken by windows of 64
/// units around the first lane left, each a bit set: one round for unit stride, at most 32 for
/// scattered addresses.
unsigned distinct_units(const std::uint64_t (&address)[32], std::uint32_t mask, unsigned shift) {
  unsigned n = 0;
  while (mask != 0) {
    const std::uint64_t window = address[std::countr_zero(mask)] >> shift >> 6;
    std::uint64_t bits = 0;
    std::uint32_t inside = 0;
    for (unsigned i = 0; i < 32; ++i) {
      const std::uint64_t unit = address[i] >> shift;
      const bool in = ((mask >> i) & 1u) && (unit >> 6) == window;
      bits |= in ? std::uint64_t{1} << (unit & 63) : 0;
      inside |= static_cast<std::uint32_t>(in) << i;
    }
    n += static_cast<unsigned>(std::popcount(bits));
    mask &= ~inside;
  }
  return n;
}

}  // namespace

unsigned sectors(const std::uint64_t (&address)[32], std::uint32_t mask, unsigned bytes) {
  return distinct_units(address, mask, 5) * (bytes > kSectorBytes ? bytes / kSectorBytes : 1);
}

unsigned distinct_bytes(const std::uint64_t (&address)[32], std::uint32_t mask, unsigned bytes) {
  const auto shift = static_cast<unsigned>(std::countr_zero(bytes));
  return distinct_units(address, mask, shift) * bytes;
}

}  // namespace simgpu::count
