// Opens a namespace of handlers for one instruction set. A .cpp defines SIMGPU_ISA (the namespace's
// name) and SIMGPU_ISA_V3 (1: x86-64-v3) and then includes one or more .inl files, each wrapped by
// this header and isa_end.hpp. Standard headers come first, outside of the wider target, so that no
// inline function of theirs can be compiled for it and then be picked by the linker for an older
// machine.
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "common/simgpu/exec/decoder.hpp"
#include "common/simgpu/exec/fragments.hpp"
#include "common/simgpu/exec/half.hpp"
#include "common/simgpu/exec/memory_ops.hpp"
#include "common/simgpu/exec/op.hpp"
#include "common/simgpu/exec/sampling.hpp"
#include "common/simgpu/exec/warp.hpp"

#if SIMGPU_ISA_V3
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,f16c,lzcnt,popcnt,movbe"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2,f16c,lzcnt,popcnt,movbe")
#endif
#endif

namespace simgpu::exec::SIMGPU_ISA {
#include "common/simgpu/exec/lanes.hpp"
}  // namespace simgpu::exec::SIMGPU_ISA
