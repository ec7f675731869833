// How a tensor lies in global memory, as a bulk copy is told: what cuTensorMapEncodeTiled writes into
// the 128 bytes of a CUtensorMap, and what the engine reads out of them. CUDA leaves the encoding
// open; this one is the simulated GPU's own. Whoever reads a map must take it for hostile bytes:
// `valid` says whether it is one that the encoder may have made.
#pragma once

#include <array>
#include <cstdint>

namespace simgpu {

/// The order is that of CUtensorMapDataType.
enum class TensorType : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  count_,
};
constexpr unsigned tensor_element_bytes(TensorType t) {
  switch (t) {
    case TensorType::u8:
      return 1;
    case TensorType::u16:
    case TensorType::f16:
    case TensorType::bf16:
      return 2;
    case TensorType::u64:
    case TensorType::s64:
    case TensorType::f64:
      return 8;
    default:
      return 4;
  }
}

/// Chunks of 16 bytes are exchanged so that the same column of neighbouring rows lies in different
/// banks. PTX ISA 5.5.6, "Swizzling modes".
enum class Swizzle : std::uint8_t { none, b32, b64, b128, count_ };

/// Where byte `address` of shared memory lies in that swizzle: bits 4 to 6 change with bits 7 to 9.
constexpr std::uint64_t swizzled(std::uint64_t address, Swizzle s) {
  const std::uint64_t bits = (std::uint64_t{1} << static_cast<unsigned>(s)) - 1;
  return address ^ ((address >> 7 & bits) << 4);
}

/// What cuTensorMapEncodeTiled demands (CUDA driver API, "Tensor Map Object Management").
enum class MapRule : std::uint8_t {
  none,
  address,  ///< the first address: a multiple of 16 bytes
  pitch,    ///< from row to row: a multiple of 16 bytes, below 2^40
  extent,   ///< of each dimension: 1 to 2^32 elements
  box,      ///< 1 to 256 elements along each dimension, less than 1 MiB in all
  row,      ///< of a box: a multiple of 16 bytes
  swizzle,  ///< a row of a box must not be wider
  other,    ///< types, ranks, traversal strides
};
constexpr MapRule last_of(MapRule) {
  return MapRule::other;
}

/// A rule that a map breaks, and what breaks it: bytes beyond a multiple of 16, bytes from row to row,
/// elements, or bytes of a row.
struct BrokenRule {
  MapRule rule = MapRule::none;
  std::uint64_t value = 0;
};

/// Dimensions are innermost first.
struct TensorMap {
  static constexpr std::uint32_t kMagic = 0x544d4150;  // "PAMT" in memory
  static constexpr unsigned kMostRank = 5;

  std::uint32_t magic = kMagic;
  TensorType type{};
  std::uint8_t rank = 0;
  Swizzle swizzle{};
  bool fills_with_nan = false;
  std::uint64_t base = 0;                             ///< device address
  std::array<std::uint64_t, kMostRank - 1> stride{};  ///< bytes, of dimensions 1 ...
  std::array<std::uint32_t, kMostRank> last{};        ///< elements less one
  std::array<std::uint16_t, kMostRank> box{};         ///< elements, before traversal strides
  std::array<std::uint8_t, kMostRank> step{};         ///< traversal strides
  std::uint8_t zero = 0;

  /// Elements of a box along dimension d, as they arrive in shared memory.
  unsigned extent(unsigned d) const { return (box[d] + step[d] - 1u) / step[d]; }
  std::uint32_t box_bytes() const {
    std::uint32_t n = tensor_element_bytes(type);
    for (unsigned d = 0; d < rank; ++d) n *= extent(d);
    return n;
  }
  BrokenRule broken() const {
    if (magic != kMagic || type >= TensorType::count_ || swizzle >= Swizzle::count_ || rank == 0 ||
        rank > kMostRank)
      return {MapRule::other};
    if (base % 16 != 0) return {MapRule::address, base % 16};
    std::uint64_t bytes = tensor_element_bytes(type);
    for (unsigned d = 0; d < rank; ++d) {
      if (step[d] == 0 || step[d] > 8) return {MapRule::other};
      if (box[d] == 0 || box[d] > 256) return {MapRule::box, box[d]};
      if (d + 1 < rank && (stride[d] % 16 != 0 || stride[d] >= (std::uint64_t{1} << 40)))
        return {MapRule::pitch, stride[d]};
      bytes *= extent(d);
    }
    if (bytes >= (std::uint64_t{1} << 20))
      return {MapRule::box, bytes / tensor_element_bytes(type)};
    const std::uint64_t row = std::uint64_t{extent(0)} * tensor_element_bytes(type);
    if (row % 16 != 0) return {MapRule::row, row};
    const std::uint64_t widest = 16u << static_cast<unsigned>(swizzle);
    if (swizzle != Swizzle::none && row > widest) return {MapRule::swizzle, row};
    return {};
  }
  bool valid() const { return broken().rule == MapRule::none; }
};
static_assert(sizeof(TensorMap) <= 128);

}  // namespace simgpu
