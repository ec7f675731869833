// Virtual device addresses: (slot << 32) | offset. An allocation owns a slot; slots are even and
// never used twice, so that a small overrun or negative index falls between two slots and is still
// attributed to its allocation, and a pointer kept after free is recognised.
#pragma once

#include <cstdint>

namespace simgpu::memory {

using Address = std::uint64_t;

inline constexpr unsigned kOffsetBits = 32;
inline constexpr std::uint64_t kSlotBytes = std::uint64_t{1} << kOffsetBits;

/// Generic-address windows of the spaces that are not global. Their slots are never allocated.
inline constexpr Address kSharedWindow = 2 * kSlotBytes;
inline constexpr Address kLocalWindow = 4 * kSlotBytes;
inline constexpr Address kParamWindow = 6 * kSlotBytes;
inline constexpr std::uint64_t kFirstSlot = 16;
/// More slots than any program uses. An address behind the last slot in use is taken for a host
/// pointer.
inline constexpr std::uint64_t kEndSlot = kFirstSlot + (std::uint64_t{1} << 21);

/// Compute capability 9.0 reserves the first 1 KiB of a block's shared memory: arrays start behind
/// it.
inline constexpr std::uint32_t kSharedBase = 0x400;

/// From this bit on, a shared address carries the rank in its cluster of the block that it names. A
/// block's own addresses do so, too (measured on an H200); without clusters every rank is 0.
inline constexpr unsigned kRankBit = 24;
constexpr std::uint64_t rank_bits(std::uint64_t rank) {
  return rank << kRankBit;
}
constexpr std::uint64_t rank_in(std::uint64_t shared_address) {
  return shared_address >> kRankBit;
}
constexpr std::uint64_t in_block(std::uint64_t shared_address) {
  return shared_address & (rank_bits(1) - 1);
}

constexpr std::uint64_t slot_of(Address address) {
  return address >> kOffsetBits;
}
constexpr std::uint64_t offset_of(Address address) {
  return address & (kSlotBytes - 1);
}

}  // namespace simgpu::memory
