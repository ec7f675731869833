// Mathematical functions that the engine provides to device code, computed by the host's C library
// (include/simgpu/math_engine.h declares them).
#pragma once

#include <string_view>

namespace simgpu::exec {

struct MathFunction {
  std::string_view name;    ///< without the prefix __simgpu_math_
  unsigned parameters = 1;  ///< doubles; so is the result
  double (*one)(double) = nullptr;
  double (*two)(double, double) = nullptr;
};

/// Null if there is no such function. The name is the declared one, with its prefix; that of a
/// function whose result becomes a float may end with an f, as in C.
const MathFunction* find_math_function(std::string_view declared);

/// How many FFMAs nvcc's code for such a float function has, on its way for ordinary arguments; 0 for
/// others.
unsigned multiply_adds_of(std::string_view declared);

}  // namespace simgpu::exec
