// How many blocks of a kernel fit on a multiprocessor, by the rules of the CUDA Occupancy
// Calculator for compute capabilities 8.0 and 9.0: registers are given to warps in units of 256, warps are
// placed on four sub-partitions, shared memory is given to blocks in units of 128 bytes with 1 KiB
// per block reserved for the system (CUDA C++ Best Practices Guide 11.1; Ampere Tuning Guide 1.4.2;
// constants of cuda_occupancy.h).
#pragma once

#include <string>

#include "common/simgpu/options.hpp"

namespace simgpu::count {

struct Occupancy {
  unsigned blocks = 0;  ///< per multiprocessor
  double fraction = 0;  ///< resident warps of the possible ones, 0..1
  std::string limiter;  ///< "registers", "shared memory", "threads", "blocks"
};

/// `registers` per thread (more than the device's limit counts as the limit: the rest spills);
/// `shared_bytes` static and dynamic of one block.
Occupancy occupancy(const DeviceModel& model, unsigned threads_per_block, unsigned registers,
                    unsigned shared_bytes);

/// Registers that one block takes, rounded as they are handed out.
unsigned registers_per_block(const DeviceModel& model, unsigned threads_per_block,
                             unsigned registers);

}  // namespace simgpu::count
