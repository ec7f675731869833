#include "common/simgpu/count/coalescing.hpp"

#include <algorithm>
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

unsigned atomic_sectors(const std::uint64_t (&address)[32], std::uint32_t mask, unsigned bytes) {
  unsigned n = 0;
  while (mask != 0) {
    const std::uint64_t sector = address[std::countr_zero(mask)] / kSectorBytes;
    unsigned lanes_at[kSectorBytes] = {}, most = 0;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      if (address[i] / kSectorBytes != sector) continue;
      mask &= ~(1u << i);
      most = std::max(most, ++lanes_at[address[i] % kSectorBytes / bytes]);
    }
    n += most;
  }
  return n;
}

unsigned bypass_sectors(const std::uint64_t (&from)[32], const std::uint64_t (&to)[32],
                        std::uint32_t mask) {
  unsigned n = 0;
  while (mask != 0) {
    const std::uint64_t sector = from[std::countr_zero(mask)] / kSectorBytes;
    std::uint32_t half[2] = {};  // lanes that fetch it
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      if (from[i] / kSectorBytes == sector) half[from[i] / 16 % 2] |= 1u << i;
    }
    bool together = false;
    for (std::uint32_t low = half[0]; low != 0 && !together; low &= low - 1) {
      const std::uint64_t place = to[std::countr_zero(low)];
      for (std::uint32_t high = half[1]; high != 0; high &= high - 1)
        together |= place % kSectorBytes == 0 && to[std::countr_zero(high)] == place + 16;
    }
    n += half[0] != 0 && half[1] != 0 && !together ? 2 : 1;
    mask &= ~(half[0] | half[1]);
  }
  return n;
}

unsigned distinct_bytes(const std::uint64_t (&address)[32], std::uint32_t mask, unsigned bytes) {
  const auto shift = static_cast<unsigned>(std::countr_zero(bytes));
  return distinct_units(address, mask, shift) * bytes;
}

}  // namespace simgpu::count
