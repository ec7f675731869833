// The simulated GPU as a device: memory, modules, launches, and what each launch did.
//
// Device is the only door into the engine. It knows nothing of the CUDA runtime, of labs or of
// grading, so a judge can own one in a process of its own. All addresses are virtual: an address
// names an allocation and an offset and is never a host pointer. Same input, same report, whatever
// the number of host threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace simgpu {

using DevicePtr = std::uint64_t;  ///< virtual device address; 0 is null

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// What the simulated chip allows. Defaults: compute capability 8.0 limits, CUDA Programming Guide
/// table "Technical Specifications per Compute Capability".
struct DeviceModel {
  std::string name = "simgpu (compute capability 8.0)";
  int compute_major = 8, compute_minor = 0;
  unsigned multiprocessors = 108;
  unsigned max_threads_per_block = 1024;
  Dim3 max_block{1024, 1024, 64};
  Dim3 max_grid{2147483647u, 65535u, 65535u};
  unsigned shared_bytes_per_block = 48u << 10;         ///< static + dynamic without opt-in
  unsigned shared_bytes_per_block_optin = 163u << 10;  ///< with the function attribute
  unsigned shared_bytes_per_multiprocessor = 164u << 10;
  unsigned registers_per_multiprocessor = 65536, registers_per_thread = 255;
  unsigned threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32;
  std::uint64_t global_bytes = 4ull << 30;  ///< what alloc may hand out in total
};

/// Configuration errors, as CUDA returns them before a kernel runs.
enum class Status : std::uint8_t {
  success,
  invalid_value,
  out_of_memory,
  invalid_device_function,
  invalid_configuration,
  launch_out_of_resources,
  invalid_module,
  unsupported,
};

/// Base of everything Device throws: `what()` says what happened, where, and what to do.
struct DeviceError : std::runtime_error {
  DeviceError(Status s, const std::string& message) : std::runtime_error(message), status(s) {}
  Status status;
};

// ----------------------------------------------------------------------------------------------
// findings

enum class FindingKind : std::uint8_t {
  out_of_bounds,
  misaligned,
  use_after_free,
  null_pointer,
  host_pointer,
  write_to_constant,
  uninitialised_read,
  shared_race,
  global_race,
  async_not_waited,       ///< bytes of an asynchronous copy were read before it was waited for
  divergent_barrier,      ///< some lanes of a warp reach a barrier, others are elsewhere
  exited_before_barrier,  ///< some threads returned while others of their block still meet a
                          ///< barrier
  mismatched_barrier,     ///< warps of a block wait at different barriers
  deadlock,
  budget_exceeded,  ///< the kernel did not end within the instruction budget
  unsupported,
  trap,
  assertion,
  stack_overflow,
  division_by_zero,
  will_spill,  ///< estimate: more live registers than a thread can have
};
std::string_view to_string(FindingKind kind);  ///< "out-of-bounds", "shared-memory race" ...

struct SourceLine {
  std::string file;   ///< as the compiler wrote it; never opened by simgpu
  unsigned line = 0;  ///< 0 = unknown
  friend auto operator<=>(const SourceLine&, const SourceLine&) = default;
};

enum class MemorySpace : std::uint8_t { global, shared, local, constant, param };
enum class AccessType : std::uint8_t { load, store, atomic };
std::string_view to_string(MemorySpace);  ///< "global", "shared" ...
std::string_view to_string(AccessType);   ///< what a thread does: "reads", "writes", "updates"

/// One party of a finding.
struct Access {
  SourceLine where;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  AccessType type = AccessType::load;
  MemorySpace space = MemorySpace::global;
  unsigned bytes = 0;         ///< width of the access per lane
  std::uint64_t address = 0;  ///< virtual address (global) or byte offset in its space
  std::string object;         ///< allocation label or shared array name, "" = none
  std::int64_t offset = 0;    ///< bytes from the start of the object, may be negative
  std::uint64_t object_bytes = 0;
};

struct Finding {
  FindingKind kind{};
  std::string kernel;  ///< demangled
  Access at;
  std::optional<Access> other;    ///< races: the other party; use_after_free: none
  std::string detail;             ///< one sentence, complete on its own
  std::uint64_t occurrences = 1;  ///< of this kind at this line (and other line)
};

// -------------------------------------------------------------------------------------------------
// counts

/// Global (or generic-to-global) accesses. One executed warp instruction with at least one active
/// lane is one request; a sector is 32 bytes.
struct GlobalCounts {
  std::uint64_t requests = 0, sectors = 0, ideal_sectors = 0, bytes = 0;
  GlobalCounts& operator+=(const GlobalCounts&);
};

/// Shared accesses. `requests`/`wavefronts` are after the model of ptxas's load merging,
/// `raw_*` straight from PTX; for stores both are equal.
struct SharedCounts {
  std::uint64_t requests = 0, wavefronts = 0, ideal_wavefronts = 0;
  std::uint64_t raw_requests = 0, raw_wavefronts = 0, raw_ideal_wavefronts = 0, bytes = 0;
  SharedCounts& operator+=(const SharedCounts&);
};

enum class InstructionClass : std::uint8_t {
  fp32,
  fp64,
  integer,
  logic,
  compare,
  convert,
  move,
  control,
  memory_global,
  memory_shared,
  memory_local,
  memory_other,
  synchronisation,
  tensor,
  other,
  count_,
};
std::string_view to_string(InstructionClass);

struct Counts {
  GlobalCounts global_load, global_store, global_atomic;
  SharedCounts shared_load, shared_store, shared_atomic;
  /// The part of global_load made by cp.async: the profiler's counters of loads hold both.
  GlobalCounts async_copy;
  /// Shared-memory side of cp.async, by the rule of stores; not part of shared_store, and hardware
  /// has no counter for it.
  SharedCounts async_store;
  /// The part of shared_load made by ldmatrix, and of shared_store by stmatrix.
  SharedCounts matrix_load, matrix_store;
  /// Bytes of cp.async that the warp waited for without a multiply-add (fma, mad, mma) between
  /// commit and wait: copies not hidden behind arithmetic.
  std::uint64_t async_bytes_idle = 0;
  std::uint64_t local_load_requests = 0, local_store_requests = 0;  ///< warp-level
  std::uint64_t warp_instructions = 0;    ///< executed, with >= 1 active lane
  std::uint64_t thread_instructions = 0;  ///< sum of active lanes
  std::array<std::uint64_t, static_cast<std::size_t>(InstructionClass::count_)>
      thread_instructions_by_class{};
  std::uint64_t fma_f32 = 0, fma_f64 = 0, mad_int = 0;  ///< thread-level fma/mad instructions
  std::uint64_t fma_f16 = 0;               ///< of f16 and bf16; one of a pair counts as two
  std::uint64_t mul_f32 = 0, mul_f64 = 0;  ///< thread-level plain multiplies
  std::uint64_t barriers = 0;              ///< warp-level arrivals at block barriers
  std::uint64_t block_barriers = 0;        ///< barriers completed, summed over blocks
  std::map<std::string, std::uint64_t> tensor_ops;  ///< 2*m*n*k per warp mma, by type (second tier)
  Counts& operator+=(const Counts&);
};

struct LineCounts {
  SourceLine where;
  Counts counts;
};

/// Traffic of one allocation, summed over the launch.
struct BufferCounts {
  DevicePtr base = 0;
  std::string label;
  std::uint64_t bytes = 0;
  GlobalCounts load, store, atomic;
};

struct RegisterEstimate {
  unsigned live_registers = 0;  ///< peak of live 32-bit registers, estimate of what ptxas would
                                ///< allocate if there were no limit
  unsigned allocated = 0;       ///< the same, at most what a thread may have: 255, or less by
                                ///< __launch_bounds__ and -maxrregcount; occupancy counts these
  SourceLine where;             ///< where the peak is
  unsigned blocks_per_multiprocessor = 0;
  double occupancy = 0;  ///< 0..1, of the device model, with that block size and shared memory
  std::string limiter;   ///< "registers", "shared memory", "threads", "blocks"
};

/// One warp access as an example, for drawings: of all executions of one memory instruction the one
/// with the most wavefronts (shared) or sectors (global) above the ideal; among equals that of the
/// lowest block, in it the first. The totals are those of the instruction in the whole launch.
struct AccessSample {
  SourceLine where;
  AccessType type = AccessType::load;
  MemorySpace space = MemorySpace::global;  ///< global or shared
  bool matrix = false;  ///< ldmatrix, stmatrix: the addresses of rows of 16 bytes, eight a matrix
  Dim3 block{0, 0, 0};  ///< that executed it,
  unsigned warp = 0;    ///< and the warp's number in it
  unsigned bytes = 0;   ///< per lane; of shared loads after the model of ptxas's load merging
  std::uint32_t mask = 0;                 ///< active lanes
  std::array<std::uint64_t, 32> address;  ///< by lane, 0 for the others; virtual (global) or byte
                                          ///< offset in the space (shared)
  std::string object;                     ///< that the first active lane reached, "" = none
  std::uint64_t object_address = 0;       ///< where that begins
  std::uint64_t object_bytes = 0;
  unsigned cost = 0, ideal = 0;  ///< wavefronts (shared) or sectors (global) of this access
  std::uint64_t requests = 0, total_cost = 0, total_ideal = 0;
};

// ------------------------------------------------------------------------------------------------
// launches

struct Checks {
  bool memory =
      true;  ///< bounds, alignment, lifetime. Unsafe accesses never happen, checked or not.
  bool race = true;
  bool barrier = true;
  bool init = true;
  static Checks none() { return {false, false, false, false}; }
};

struct LaunchOptions {
  Checks checks;
  bool count = true;                              ///< per-line and per-buffer counters
  unsigned host_threads = 0;                      ///< 0 = all
  std::uint64_t instruction_budget = 1ull << 36;  ///< thread instructions, whole grid
  unsigned max_findings_per_kind = 8;
  bool sample_accesses = false;  ///< fill LaunchReport::samples (needs count)
};

struct LaunchReport {
  std::string kernel;  ///< demangled
  std::string mangled;
  Dim3 grid, block;
  unsigned static_shared_bytes = 0, dynamic_shared_bytes = 0, local_bytes_per_thread = 0;
  std::vector<Finding> findings;  ///< sorted; empty = clean
  bool completed = true;          ///< false: stopped early (trap, deadlock, budget)
  Counts total;
  std::vector<LineCounts> lines;      ///< sorted by file and line
  std::vector<BufferCounts> buffers;  ///< allocations touched, by address
  std::vector<AccessSample> samples;  ///< sorted by file, line and place in the PTX; capped
  RegisterEstimate registers;
  std::string printf_output;  ///< capped
};

struct KernelParam {
  std::uint32_t offset = 0, size = 0, align = 1;  ///< bytes
};

/// What can be known of a kernel without running it.
struct KernelInfo {
  std::string mangled, name;
  std::vector<KernelParam> params;
  std::uint32_t param_bytes = 0;
  unsigned static_shared_bytes = 0, local_bytes_per_thread = 0, const_bytes = 0;
  unsigned max_threads_per_block = 1024;  ///< from __launch_bounds__, else the device's
  unsigned live_registers = 0;
  std::string unsupported;  ///< why it cannot run here, "" = it can
};

using ModuleId = std::uint32_t;

class Device {
 public:
  explicit Device(DeviceModel model = {});
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;

  const DeviceModel& model() const;

  /// Throws DeviceError(out_of_memory). `label` names the allocation in findings and counts ("A",
  /// "scratch 1"). Every byte starts uninitialised. `bytes` may be 0: the result is then null, as
  /// in CUDA.
  DevicePtr alloc(std::size_t bytes, std::string label = {});
  void free(DevicePtr ptr);  ///< throws DeviceError(invalid_value) if not a live base
  void set_label(DevicePtr base, std::string label);
  void set_read_only(DevicePtr base,
                     bool read_only);  ///< a store is then a finding (write_to_constant)

  /// Host-side copies. Bounds are checked: DeviceError(invalid_value). Copies in mark bytes
  /// initialised; copies out return whatever is there. `is_initialised` tells.
  void write(DevicePtr dst, std::span<const std::byte> src);
  void read(std::span<std::byte> dst, DevicePtr src) const;
  void copy(DevicePtr dst, DevicePtr src, std::size_t bytes);
  void fill(DevicePtr dst, std::byte value, std::size_t bytes);
  void mark_uninitialised(DevicePtr ptr, std::size_t bytes);
  bool is_initialised(DevicePtr ptr, std::size_t bytes) const;
  /// Live allocation that holds `ptr`, if any: its base and size.
  struct Allocation {
    DevicePtr base;
    std::size_t bytes;
    std::string label;
  };
  std::optional<Allocation> find(DevicePtr ptr) const;
  std::size_t bytes_in_use() const;

  ModuleId load_module(std::string ptx);  ///< throws ptx::ParseError
  void unload_module(ModuleId module);
  std::vector<KernelInfo> kernels(ModuleId module) const;
  std::optional<KernelInfo> kernel(ModuleId module, std::string_view mangled) const;
  /// A __device__ or __constant__ variable; null if there is none of that (mangled) name.
  DevicePtr variable(ModuleId module, std::string_view mangled, std::size_t* bytes = nullptr) const;

  /// Allow more than 48 KiB of dynamic shared memory (cudaFuncAttributeMaxDynamicSharedMemorySize).
  void set_max_dynamic_shared(ModuleId module, std::string_view mangled, unsigned bytes);

  /// Runs a grid to its end. `args` is the kernel's parameter block, laid out as KernelInfo::params
  /// says. Configuration errors throw DeviceError exactly where CUDA would return an error;
  /// everything that happens on the device is in the report.
  LaunchReport launch(ModuleId module, std::string_view mangled, Dim3 grid, Dim3 block,
                      unsigned dynamic_shared_bytes, std::span<const std::byte> args,
                      const LaunchOptions& options = {});

  /// The launch's configuration check alone.
  void validate_launch(ModuleId module, std::string_view mangled, Dim3 grid, Dim3 block,
                       unsigned dynamic_shared_bytes, std::size_t arg_bytes) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace simgpu
