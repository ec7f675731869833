// Philox4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011), for
// kernels (curand_kernel.h) and the host (curand.h).
#pragma once
#pragma GCC system_header

#include "../vector_functions.h"
#include "attributes.h"

__SIMGPU_BOTH uint4 __simgpu_philox(uint4 c, uint2 k) {
  const unsigned long long m0 = 0xd2511f53u, m1 = 0xcd9e8d57u;
#if defined(__clang__)
#pragma unroll
#endif
  for (int round = 0; round < 10; ++round) {
    const unsigned long long p0 = m0 * c.x, p1 = m1 * c.z;
    c = make_uint4(static_cast<unsigned int>(p1 >> 32) ^ c.y ^ k.x, static_cast<unsigned int>(p1),
                   static_cast<unsigned int>(p0 >> 32) ^ c.w ^ k.y, static_cast<unsigned int>(p0));
    k.x += 0x9e3779b9u;
    k.y += 0xbb67ae85u;
  }
  return c;
}
