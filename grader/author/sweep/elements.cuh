// What a sweep must know of an element type: its name, the type of C, and how the engine calls it.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "grader/gpu/freivalds.cuh"
#include "grader/gpu/protocol.hpp"

namespace sweep {

/// The type in which products of In are summed and C is stored.
template <typename In>
using Result = grader::gpu::freivalds::ResultOf<In>;

/// As tables call it.
template <typename In>
constexpr const char* name_of() {
  if constexpr (std::is_same_v<In, int>)
    return "int32";
  else if constexpr (std::is_same_v<In, float>)
    return "float";
  else if constexpr (std::is_same_v<In, double>)
    return "double";
  else if constexpr (std::is_same_v<In, __half>)
    return "half";
  else
    return "bfloat16";
}

/// What a tensor core makes of a float. Floats lie in memory; the name tells the tables apart.
constexpr const char* tf32 = "tf32";

template <typename In>
constexpr grader::gpu::protocol::Type wire_type(bool is_tf32) {
  using grader::gpu::protocol::Type;
  if constexpr (std::is_same_v<In, int>)
    return Type::int32;
  else if constexpr (std::is_same_v<In, float>)
    return is_tf32 ? Type::tf32 : Type::float32;
  else if constexpr (std::is_same_v<In, double>)
    return Type::float64;
  else if constexpr (std::is_same_v<In, __half>)
    return Type::float16;
  else
    return Type::bfloat16;
}

}  // namespace sweep
