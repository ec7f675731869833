// What a sweep must know of an element type: the type of C, its name, and how cuBLAS calls it.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <type_traits>

namespace sweep {

template <typename In>
struct Element;
template <>
struct Element<int> {
  using Result = int;
  static constexpr const char* name = "int32";
};
template <>
struct Element<float> {
  using Result = float;
  static constexpr const char* name = "float";
};
template <>
struct Element<double> {
  using Result = double;
  static constexpr const char* name = "double";
};
template <>
struct Element<__half> {
  using Result = float;
  static constexpr const char* name = "half";
};
template <>
struct Element<__nv_bfloat16> {
  using Result = float;
  static constexpr const char* name = "bfloat16";
};

/// The type in which products of In are summed and C is stored.
template <typename In>
using Result = typename Element<In>::Result;

/// What a tensor core makes of a float. Floats lie in memory; the name tells the tables apart.
constexpr const char* tf32 = "tf32";

/// An element as the type in which a check computes.
template <typename Sum, typename T>
__device__ Sum widened(T value) {
  if constexpr (std::is_same_v<T, __half>)
    return static_cast<Sum>(__half2float(value));
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return static_cast<Sum>(__bfloat162float(value));
  else
    return static_cast<Sum>(value);
}

/// Half of a number's last place: 2^-24 for float (and for the sums of 16-bit products), 2^-53.
template <typename In>
constexpr double roundoff() {
  if (std::is_same_v<Result<In>, double>) return 0x1p-53;
  return std::is_same_v<Result<In>, float> ? 0x1p-24 : 0.0;
}

}  // namespace sweep
