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
  return distinct_units(address, mask, std::countr_zero(kSectorBytes)) *
         (bytes > kSectorBytes ? bytes / kSectorBytes : 1);
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
    // The lanes that copy from the first one's sector into its aligned pair of 16-byte places.
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    std::uint32_t group = 0;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      if (from[i] / kSectorBytes == from[first] / kSectorBytes &&
          to[i] / kSectorBytes == to[first] / kSectorBytes)
        group |= 1u << i;
    }
    // A half that goes to both places travels twice.
    unsigned places[2] = {0, 0};
    for (std::uint32_t left = group; left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      places[from[i] / 16 % 2] |= 1u << (to[i] / 16 % 2);
    }
    n += static_cast<unsigned>(std::max(std::popcount(places[0]), std::popcount(places[1])));
    mask &= ~group;
  }
  return n;
}

unsigned distinct_bytes(const std::uint64_t (&address)[32], std::uint32_t mask, unsigned bytes) {
  const auto shift = static_cast<unsigned>(std::countr_zero(bytes));
  return distinct_units(address, mask, shift) * bytes;
}

}  // namespace simgpu::count
