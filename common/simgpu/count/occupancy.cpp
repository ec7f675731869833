#include "common/simgpu/count/occupancy.hpp"

#include <algorithm>

namespace simgpu::count {
namespace {

constexpr unsigned kWarp = 32;              // threads
constexpr unsigned kRegisterUnit = 256;     // registers, as they are given to a warp
constexpr unsigned kSubPartitions = 4;      // of a multiprocessor
constexpr unsigned kSharedUnit = 128;       // bytes, as they are given to a block
constexpr unsigned kReservedShared = 1024;  // bytes of each block that the system takes

unsigned round_up(unsigned value, unsigned unit) {
  return (value + unit - 1) / unit * unit;
}

unsigned registers_per_warp(const DeviceModel& model, unsigned registers) {
  return round_up(std::clamp(registers, 1u, model.registers_per_thread) * kWarp, kRegisterUnit);
}

}  // namespace

unsigned registers_per_block(const DeviceModel& model, unsigned threads_per_block,
                             unsigned registers) {
  const unsigned warps = round_up((threads_per_block + kWarp - 1) / kWarp, kSubPartitions);
  return warps * registers_per_warp(model, registers);
}

Occupancy occupancy(const DeviceModel& model, unsigned threads_per_block, unsigned registers,
                    unsigned shared_bytes) {
  Occupancy best;
  if (threads_per_block == 0) return best;
  const unsigned warps = (threads_per_block + kWarp - 1) / kWarp;
  const unsigned all_warps = model.threads_per_multiprocessor / kWarp;
  // Each sub-partition has a quarter of the registers and holds whole warps.
  const unsigned warps_by_registers = model.registers_per_multiprocessor / kSubPartitions /
                                      registers_per_warp(model, registers) * kSubPartitions;
  const unsigned shared = round_up(shared_bytes + kReservedShared, kSharedUnit);
  struct Limit {
    unsigned blocks;
    const char* name;
  };
  const Limit limits[] = {{model.blocks_per_multiprocessor, "blocks"},
                          {all_warps / warps, "threads"},
                          {warps_by_registers / warps, "registers"},
                          {model.shared_bytes_per_multiprocessor / shared, "shared memory"}};
  const Limit* least =
      std::min_element(std::begin(limits), std::end(limits),
                       [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
  best.blocks = least->blocks;
  best.limiter = least->name;
  best.fraction = static_cast<double>(best.blocks * warps) / all_warps;
  return best;
}

}  // namespace simgpu::count
