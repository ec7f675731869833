// Vector loads of which the program uses only some elements: ptxas loads no more than it has to.
//
// `float4 p = points[i]` reads 16 bytes in PTX, also where the program looks at p.x and p.z alone. What ptxas
// 13.0 makes of it, for sm_80 and sm_90 alike, was read off 80 probes in PTX, each with other elements used:
//
//   - Of four elements of 4 bytes: three or four used are one access of 16 bytes, from generic addresses only
//     four. Otherwise a half of which both are used is one access of 8 bytes, anything else 4 bytes each.
//   - Of two elements of 4 or 8 bytes, the one that is used.
//   - Volatile and ordered loads stay as they are. Elements of 1 and 2 bytes are narrowed as well, but never
//     become two accesses, so that no count changes; they are left out here.
//   - A predicated load is narrowed like any other.
//
// An H200 shows it in lab 6's copies of rows of floats (docs/results/h200/counts.json, gemm_tf32_shapes): 12 bytes
// at a generic address are two requests.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/simgpu/ptx/module.hpp"

namespace simgpu::count {

/// What ptxas makes of one load.
struct NarrowedLoad {
  struct Access {
    std::uint8_t offset = 0, bytes = 0;  ///< per lane, from the address in PTX
  };
  std::uint8_t count = 0;  ///< accesses; 0: the load stays as it is written
  std::array<Access, 2> accesses{};
};

/// One entry per instruction of `function.body`. A load of which nothing is used stays.
std::vector<NarrowedLoad> find_narrowed_loads(const ptx::Function& function);

}  // namespace simgpu::count
