// What the owner of a Device chooses: the limits of the chip, and what a launch checks and counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/simgpu/report.hpp"

namespace simgpu {

/// What the simulated chip allows. Defaults: the limits of compute capability 9.0, for which
/// programs are compiled (__CUDA_ARCH__); CUDA Programming Guide, table "Technical Specifications per
/// Compute Capability".
struct DeviceModel {
  std::string name = "simgpu (compute capability 9.0)";
  int compute_major = 9, compute_minor = 0;
  unsigned multiprocessors = 108;
  unsigned max_threads_per_block = 1024;
  Dim3 max_block{1024, 1024, 64};
  Dim3 max_grid{2147483647u, 65535u, 65535u};
  unsigned shared_bytes_per_block = 48u << 10;         ///< static + dynamic without opt-in
  unsigned shared_bytes_per_block_optin = 227u << 10;  ///< with the function attribute
  unsigned shared_bytes_per_multiprocessor = 228u << 10;
  unsigned registers_per_multiprocessor = 65536, registers_per_thread = 255;
  unsigned threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32;
  unsigned blocks_per_cluster = 16;         ///< with the attribute that allows more than 8
  std::uint64_t global_bytes = 4ull << 30;  ///< what alloc may hand out in total
};

struct Checks {
  /// Bounds, alignment, lifetime. If off, illegal accesses are still not carried out.
  bool memory = true;
  bool race = true;
  bool barrier = true;
  bool init = true;
  /// Whether threads race that write the same value (`*found = 1`, from many). CUDA programs do so
  /// on purpose and without harm; in a lab, where every element has one owner, it is a mistake.
  bool rewrites = true;
  static Checks none() { return {false, false, false, false, false}; }
};

/// A kernel before in the stream that may still be running when this one begins (programmatic dependent
/// launch).
struct EarlierKernel {
  std::string name;
  std::vector<TouchedBytes> bytes;  ///< that it reads or writes, in order of their addresses
  /// The kernel in between that ends without having waited for it, so that griddepcontrol.wait, which waits
  /// for the kernel right before, does not wait for this one; "": it does.
  std::string skipped_by;
};

/// A warp of a launch: its block's index in the grid, and its number in the block.
struct WarpOf {
  Dim3 block{0, 0, 0};
  unsigned warp = 0;
};

struct LaunchOptions {
  Checks checks;
  bool count = true;                              ///< per-line and per-buffer counters
  unsigned host_threads = 0;                      ///< 0 = one per core
  std::uint64_t instruction_budget = 1ull << 36;  ///< thread instructions, whole grid
  unsigned max_findings_per_kind = 8;
  bool note_touched = false;  ///< fill LaunchReport::touched (needs checks.race)
  Dim3 cluster{0, 0, 0};      ///< blocks of a cluster, each way; 0: as the kernel says
  std::vector<EarlierKernel> earlier;
  bool sample_accesses = false;  ///< fill LaunchReport::samples (needs count)
  /// If set, samples are the first access of each instruction by this warp, not the worst of all.
  std::optional<WarpOf> sampled_warp;
  /// Factor on every product of the tensor cores. Results that do not grow with it came from
  /// somewhere else.
  std::uint32_t tensor_gain = 1;
};

}  // namespace simgpu
