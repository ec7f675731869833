// Wavefronts of a shared memory request: how many cycles the 32 banks of 4 bytes need for it.
//
// A request runs in phases: all 32 lanes for accesses of up to 4 bytes, 16 lanes for 8 bytes, 8
// lanes for 16 bytes. A phase takes as many wavefronts as the worst bank has distinct words to
// deliver (lanes that read the same word share it). Loads whose lanes n and n^1 (or n and n^2) all
// have the same address need half the phases. Derived from, and tested against, measurements on an
// H200 (tests/data/hopper_shared_wavefronts.csv). What the measurements leave open: a pair with an
// inactive lane is taken to agree.
#pragma once

#include <cstdint>

namespace simgpu::count {

struct Wavefronts {
  unsigned actual = 0;
  unsigned ideal = 0;  ///< non-empty phases: what it would take without bank conflicts
};

/// `address` in bytes; only differences between lanes and the position within a bank's word matter.
/// `bytes` per lane is 1, 2, 4, 8, 16 or 32 (32 counts as two accesses of 16).
Wavefronts shared_wavefronts(const std::uint64_t (&address)[32], std::uint32_t mask, unsigned bytes,
                             bool is_load);

/// How many neighbouring lanes the hardware serves in one phase of such a request: 8, 16 or 32;
/// `bytes` at most 16.
unsigned lanes_per_phase(const std::uint64_t (&address)[32], std::uint32_t mask, unsigned bytes,
                         bool is_load);

/// Atomic accesses: lanes that hit one location are served one after the other. (Measured on an
/// H200: 32 neighbours 1, one word 32.)
Wavefronts atomic_wavefronts(const std::uint64_t (&address)[32], std::uint32_t mask,
                             unsigned bytes);

/// One 8x8 matrix of ldmatrix or stmatrix: eight rows of 16 bytes, no merging.
Wavefronts matrix_wavefronts(const std::uint64_t (&row_address)[32], unsigned matrices);

}  // namespace simgpu::count
