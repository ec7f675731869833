// From which lane a lane takes its value in a shuffle (PTX ISA, shfl.sync).
#pragma once

#include <cstdint>

#include "common/simgpu/exec/op.hpp"

namespace simgpu::exec {

struct ShuffleSource {
  unsigned lane = 0;
  bool in_range = false;  ///< else it is the lane itself
};

/// `b` and `c` are the operands: lane or distance, and clamp with segment mask.
inline ShuffleSource shuffle_source(ptx::ShflMode mode, unsigned of, std::uint32_t b,
                                    std::uint32_t c) {
  const int lane = static_cast<int>(of), bval = static_cast<int>(b & 31),
            cval = static_cast<int>(c & 31);
  const int segment = static_cast<int>((c >> 8) & 31);
  const int first = lane & segment, last = first | (cval & ~segment);
  int j = lane;
  bool ok = false;
  switch (mode) {
    case ptx::ShflMode::up:
      j = lane - bval;
      ok = j >= last;
      break;
    case ptx::ShflMode::down:
      j = lane + bval;
      ok = j <= last;
      break;
    case ptx::ShflMode::bfly:
      j = lane ^ bval;
      ok = j <= last;
      break;
    default:
      j = first | (bval & ~segment);
      ok = j <= last;
      break;
  }
  return {static_cast<unsigned>(ok ? j : lane), ok};
}

}  // namespace simgpu::exec
