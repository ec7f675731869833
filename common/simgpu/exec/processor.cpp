#include "common/simgpu/processor.hpp"

namespace simgpu {

bool runs_here() {
#if defined(__AVX2__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

}  // namespace simgpu
