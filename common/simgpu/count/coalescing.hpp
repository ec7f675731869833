// Sectors of a global memory request. A request is one executed warp instruction; the memory system
// moves whole 32-byte sectors, so a request costs as many sectors as its active lanes touch,
// however often. (Measured exact on an H200 for loads and stores of 4 bytes, aligned or not.)
#pragma once

#include <cstdint>

namespace simgpu::count {

inline constexpr unsigned kSectorBytes = 32;

/// Distinct sectors touched by the lanes of `mask`, each accessing `bytes` from its address.
/// Accesses are naturally aligned, so one of up to 32 bytes lies in one sector.
unsigned sectors(const std::uint64_t (&address)[32], std::uint32_t mask, unsigned bytes);

/// Atomic accesses: lanes that hit one location are served one after the other, so each sector
/// costs as many as the most lanes on one of its locations. (Measured on an H200: 32 neighbours 4,
/// one word 32, own sector each 32.)
unsigned atomic_sectors(const std::uint64_t (&address)[32], std::uint32_t mask, unsigned bytes);

/// cp.async.cg, 16 bytes a lane from `from[i]` to the shared offset `to[i]`: a sector travels once
/// for each aligned pair of 16-byte places that it goes to, its halves in either order, and twice
/// where one half goes to both places. (Measured on an H200, 19 patterns: neighbours, i ^ 1, i ^ 2
/// and xor swizzles 16 sectors; shifted by 16 bytes, 32 or 128 bytes apart, each half twice 32.)
/// cp.async.ca of 4, 8 or 16 bytes costs what a load costs, wherever the bytes go: swizzled,
/// transposed, scattered, part of them zeros (measured alike, grader/author/counts/micro.cu).
unsigned bypass_sectors(const std::uint64_t (&from)[32], const std::uint64_t (&to)[32],
                        std::uint32_t mask);

/// Distinct bytes touched.
unsigned distinct_bytes(const std::uint64_t (&address)[32], std::uint32_t mask, unsigned bytes);

/// The least number of sectors that could hold what was asked for: ceil(distinct bytes / 32).
constexpr unsigned ideal_sectors(unsigned distinct) {
  return (distinct + kSectorBytes - 1) / kSectorBytes;
}

}  // namespace simgpu::count
