// What the timing worker's matrices hold, and kernels that see whether anybody changed it: random
// numbers in A and B, poison in C until it is written, and poison behind every matrix.
//
// Element `index` of a matrix is a function of the matrix's seed and the index, so that the same
// matrix can be drawn again to be compared.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "grader/gpu/freivalds.cuh"
#include "grader/gpu/protocol.hpp"

namespace grader::gpu {

using freivalds::split_mix;
using freivalds::Tf32;

/// Another finaliser, for B: "Mix13" of D. Stafford, "Better bit mixing", 2011.
__host__ __device__ inline std::uint64_t mix13(std::uint64_t state) {
  std::uint64_t z = state * 0xd6e8feb86659fd93u + 0x632be59bd9b4e019u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

enum class Operand { a, b };

inline std::uint64_t seed_of(std::uint64_t seed, Operand operand, std::uint32_t number) {
  return split_mix(seed ^
                   split_mix((operand == Operand::a ? 0x100000000u : 0x200000000u) + number));
}

__device__ inline std::uint64_t bits_at(std::uint64_t seed, Operand operand, std::uint64_t index) {
  return operand == Operand::a ? split_mix(seed + index * 0x9e3779b97f4a7c15u)
                               : mix13(seed ^ (index * 0xff51afd7ed558ccdu));
}

/// As inputs::zero_mean (common/inputs.hpp): multiples of 2^-23 or 2^-52 in [-1, 1), rounded once
/// for 16-bit types and for TF32; all 2^32 values of int32.
template <typename T>
__device__ inline T draw(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    return static_cast<std::int32_t>(bits >> 32);
  } else if constexpr (std::is_same_v<T, double>) {
    return static_cast<double>(static_cast<std::int64_t>(bits >> 11) - (std::int64_t{1} << 52)) *
           0x1p-52;
  } else {
    const float value =
        static_cast<float>(static_cast<std::int32_t>(bits >> 40) - (1 << 23)) * 0x1p-23F;
    if constexpr (std::is_same_v<T, float>)
      return value;
    else if constexpr (std::is_same_v<T, Tf32>)  // to nearest, ties away from zero
      return Tf32{__uint_as_float((__float_as_uint(value) + 0x1000u) & ~0x1fffu)};
    else if constexpr (std::is_same_v<T, __half>)
      return __float2half_rn(value);
    else
      return __float2bfloat16_rn(value);
  }
}

/// What unwritten memory holds, as inputs::poison: eight bytes of it.
inline std::uint64_t poison_of(protocol::Type type) {
  if (type == protocol::Type::float64) return 0x7ff85eed5eed5eedu;
  const std::uint64_t word = type == protocol::Type::int32 ? 0x5eed5eedu : 0x7fc5eed5u;
  return word << 32 | word;
}

template <typename T>
__global__ void fill_kernel(T* data, std::uint64_t count, std::uint64_t seed, Operand operand) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    data[i] = draw<T>(bits_at(seed, operand, i));
}

template <typename T>
__device__ inline bool same(T x, T y) {
  unsigned char p[sizeof(T)], q[sizeof(T)];
  memcpy(p, &x, sizeof(T));
  memcpy(q, &y, sizeof(T));
  bool equal = true;
  for (std::size_t i = 0; i < sizeof(T); ++i) equal = equal && p[i] == q[i];
  return equal;
}

template <typename T>
__global__ void compare_kernel(const T* data, std::uint64_t count, std::uint64_t seed,
                               Operand operand, unsigned long long* changed) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  unsigned long long mine = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    mine += same(data[i], draw<T>(bits_at(seed, operand, i))) ? 0 : 1;
  if (mine > 0) atomicAdd(changed, mine);
}

__global__ void poison_kernel(std::uint64_t* data, std::uint64_t count, std::uint64_t value) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    data[i] = value;
}

/// Sum of a hash of each word with its place: whatever the order, and any change shows.
__global__ void checksum_kernel(const std::uint64_t* data, std::uint64_t count,
                                unsigned long long* sum) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint64_t mine = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    mine += split_mix(data[i] ^ (i * 0xd6e8feb86659fd93u));
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_down_sync(~0u, mine, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

/// The bytes between C_l and C_{l+1}.
__global__ void padding_kernel(const unsigned char* outputs, std::uint64_t stride,
                               std::uint64_t used, std::uint64_t poison,
                               unsigned long long* changed) {
  const unsigned char* const one = outputs + blockIdx.x * stride;
  unsigned long long mine = 0;
  for (std::uint64_t i = used + threadIdx.x; i < stride; i += blockDim.x)
    mine += one[i] == static_cast<unsigned char>(poison >> (8 * (i % 8))) ? 0 : 1;
  if (mine > 0) atomicAdd(changed, mine);
}

}  // namespace grader::gpu
