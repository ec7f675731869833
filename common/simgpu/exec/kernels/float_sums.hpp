// What float.cpp and stretch.cpp compute with 32- and 64-bit numbers.
#pragma once

#include <bit>
#include <cstdint>

#include "common/simgpu/exec/kernels/lanes.hpp"

namespace simgpu::exec::kernels::floats {

SIMGPU_INLINE float canonical(float v) {
  return v == v ? v : std::bit_cast<float>(0x7fffffffu);
}
SIMGPU_INLINE double canonical(double v) {
  return v;
}
SIMGPU_INLINE float multiply_add(float a, float b, float c) {
  return canonical(__builtin_fmaf(a, b, c));
}
SIMGPU_INLINE double multiply_add(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}

}  // namespace simgpu::exec::kernels::floats
