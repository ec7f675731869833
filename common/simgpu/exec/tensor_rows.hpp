// Rows of a tensor on their way to shared memory (PTX ISA 5.5.3): rounding, and what lies outside. Used
// by bulk_tensor.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/simgpu/tensor_map.hpp"

namespace simgpu::exec {

inline std::uint32_t to_tf32(std::uint32_t bits) {
  if ((bits & 0x7f800000u) == 0x7f800000u) return bits & 0xffffe000u;
  return (bits + 0xfffu + (bits >> 13 & 1u)) & 0xffffe000u;
}
/// What a copy does to the elements of a row on its way.
inline void convert_row(std::byte* data, std::uint32_t bytes, TensorType type) {
  const bool rounds = type == TensorType::tf32 || type == TensorType::tf32_ftz;
  const bool flushes = type == TensorType::f32_ftz || type == TensorType::tf32_ftz;
  if (!rounds && !flushes) return;
  for (std::uint32_t k = 0; k + 4 <= bytes; k += 4) {
    std::uint32_t v;
    std::memcpy(&v, data + k, 4);
    if (flushes && (v & 0x7f800000u) == 0) v &= 0x80000000u;
    if (rounds) v = to_tf32(v);
    std::memcpy(data + k, &v, 4);
  }
}

/// Not a number in a floating-point format, zero in the others.
inline void fill_outside(std::byte* to, std::uint32_t bytes, const TensorMap& m) {
  std::memset(to, 0, bytes);
  if (!m.fills_with_nan) return;
  const unsigned size = tensor_element_bytes(m.type);
  const std::uint64_t nan = m.type == TensorType::f16    ? 0x7fff
                            : m.type == TensorType::bf16 ? 0x7fff
                            : m.type == TensorType::f64  ? 0x7fffffffffffffff
                                                         : 0x7fffffff;
  const bool is_float = m.type == TensorType::f16 || m.type == TensorType::bf16 ||
                        m.type == TensorType::f64 || m.type >= TensorType::f32;
  for (std::uint32_t k = 0; is_float && k + size <= bytes; k += size)
    std::memcpy(to + k, &nan, size);
}

}  // namespace simgpu::exec
