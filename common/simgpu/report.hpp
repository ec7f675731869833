// What a launch did: findings, counts, examples of accesses. Types only; every layer may use them.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simgpu {

using DevicePtr = std::uint64_t;  ///< virtual device address; 0 is null

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
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
  proxy_fence_missing,    ///< the asynchronous proxy may not see what threads have written
  swizzle_mismatch,       ///< a tile was copied with another swizzle than it is read with
  async_not_waited,       ///< bytes of an asynchronous copy were read before it was waited for
  product_registers,      ///< registers of wgmma were touched before it was waited for
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
/// A guess about what ptxas will do: worth a note, but no mistake in the program.
constexpr bool is_estimate(FindingKind kind) {
  return kind == FindingKind::will_spill;
}
std::string_view to_string(FindingKind kind);  ///< "out-of-bounds", "shared-memory race" ...

/// Tells findings of one kind apart that need different repairs.
enum class FindingCause : std::uint8_t {
  unspecified,
  uncommitted_copy,   ///< async_not_waited: no group holds the copy yet
  unwaited_copy,      ///< async_not_waited: its thread has not waited for its group
  unpublished_copy,   ///< async_not_waited: its thread has waited, and no barrier has followed
  refilled_place,     ///< async_not_waited: what an earlier copy brought there is still to be read
  open_phase,         ///< deadlock: a phase of an mbarrier never ends
  unset_value,        ///< uninitialised_read: of a variable or a lane, not of memory
  missing_fence,      ///< global_race: a flag was raised without a fence before it
  awaited_memory,     ///< deadlock: somebody looks at memory that nobody is left to change
  longer_source,      ///< out_of_bounds: an asynchronous copy is to read more bytes than it moves
  trap_instruction,   ///< trap: the program's own, not an instruction that was used wrongly
  late_bytes,         ///< trap: one more arrives at an mbarrier whose phase waits for bytes alone
  unlike_operands,    ///< trap: the threads of a warpgroup name different operands of one product
  extra_arrivals,     ///< deadlock: every lane of a warp arrives at an mbarrier that expects fewer
  negative_source,    ///< out_of_bounds: as longer_source, by a number of bytes below 0
  box_place,          ///< trap: a box of a tensor begins where none can
  other_bytes,        ///< deadlock: all have arrived, and copies brought other bytes than announced
  missing_grid_wait,  ///< global_race: with the kernel before, which lets this one begin early
  lanes_in_step,      ///< shared_race: volatile between the lanes of a warp
  earlier_phase,  ///< async_not_waited: of the mbarrier, the phase before the copy's was waited for
  few_arrivals,   ///< deadlock: some have arrived at an mbarrier, and not all that it expects
  short_phase,    ///< async_not_waited: that phase was told of fewer bytes than its copies bring
  named_row,      ///< out_of_bounds: the address of a row of 16 bytes that a lane gives to ldmatrix
};

struct SourceLine {
  std::string file;   ///< as the compiler wrote it; never opened by simgpu
  unsigned line = 0;  ///< 0 = unknown
  friend auto operator<=>(const SourceLine&, const SourceLine&) = default;
};

enum class MemorySpace : std::uint8_t { global, shared, local, constant, param };
enum class AccessType : std::uint8_t { load, store, atomic };
/// What an access is made by: a thread's own instruction, or what it has started.
enum class Actor : std::uint8_t {
  thread,
  warp,        ///< an instruction of all lanes of a warp together: mma, ldmatrix, shfl ...
  block,       ///< __syncthreads(), bar
  async_copy,  ///< cp.async
  engine,      ///< bulk copies, and the mbarriers that they report to
  wgmma,
  launch,  ///< no instruction: the launch as a whole
};
std::string_view to_string(MemorySpace);  ///< "global", "shared" ...
std::string_view to_string(AccessType);   ///< what a thread does: "reads", "writes", "updates"

/// One party of a finding.
struct Access {
  SourceLine where;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  AccessType type = AccessType::load;
  Actor actor = Actor::thread;
  MemorySpace space = MemorySpace::global;
  unsigned bytes = 0;         ///< width of the access per lane
  std::uint64_t address = 0;  ///< virtual address (global) or byte offset in its space
  std::string object;         ///< allocation label or shared array name, "" = none
  std::int64_t offset = 0;    ///< bytes from the start of the object, may be negative
  std::uint64_t object_bytes = 0;
  /// Width of the one floating-point number that a load or store moves (.f32, .f64); 0 if it moves
  /// several, or if its type does not say what it moves.
  unsigned number_bytes = 0;
};

/// Bytes begin to end - 1 of an object.
struct ByteRange {
  std::uint64_t begin = 0, end = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

struct Finding {
  FindingKind kind{};
  FindingCause cause{};
  std::string kernel;  ///< demangled
  Access at;
  std::optional<Access> other;    ///< races: the other party; use_after_free: none
  std::string detail;             ///< one sentence, complete on its own
  std::uint64_t occurrences = 1;  ///< of this kind at this line (and other line)
  /// Where it was first seen, and how many findings came before it there: a cause comes before its
  /// consequences.
  std::uint64_t block_number = 0, sequence = 0;
  /// Of an uninitialised read of shared or global memory: how many bytes of the object had been
  /// written by then, and the first few ranges of them. Of threads that wait for memory to change: the
  /// elements of the object with another value than the one that they look at.
  std::uint64_t written_bytes = 0;
  std::vector<ByteRange> written;
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

/// cp.async copies into a ring of places that were waited for earlier than they had to be: the place
/// was not filled again before two more waits. Sums over their bytes of the steps from issue to
/// arrival (`under_way`) and from issue to the next copy into the place (`stages`: the ring's length).
struct EarlyWait {
  std::uint64_t bytes = 0, under_way = 0, stages = 0;
  EarlyWait& operator+=(const EarlyWait&);
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
  /// Global memory's side of bulk copies (cp.async.bulk), to and from shared memory. They bypass the
  /// units that the profiler's counters of loads and stores look at, so these do not include them.
  GlobalCounts bulk_load, bulk_store;
  /// Shared-memory side of cp.async, by the rule of stores; not part of shared_store, and hardware
  /// has no counter for it.
  SharedCounts async_store;
  /// The part of shared_load made by ldmatrix, and of shared_store by stmatrix.
  SharedCounts matrix_load, matrix_store;
  /// Bytes of cp.async that arithmetic does not hide: between their commit and the wait the warp made
  /// less than an eighth of the multiply-adds (fma, mad, mma) that it makes per byte copied.
  std::uint64_t async_bytes_idle = 0;
  EarlyWait async_early;  ///< counted where they are waited for
  std::uint64_t local_load_requests = 0, local_store_requests = 0;  ///< warp-level
  /// The part of local_store_requests that hands arguments to printf.
  std::uint64_t printed_store_requests = 0;
  /// Different 4-byte words that warps read from __constant__ variables in one instruction. They are
  /// served one after the other (CUDA C++ Best Practices Guide, "Constant Memory").
  std::uint64_t constant_words = 0;
  /// Accesses to the shared memory of other blocks of the cluster, warp-level; not part of
  /// shared_load and the like.
  std::uint64_t cluster_load_requests = 0, cluster_store_requests = 0, cluster_atomic_requests = 0;
  std::uint64_t warp_instructions = 0;    ///< executed, with >= 1 active lane
  std::uint64_t thread_instructions = 0;  ///< sum of active lanes
  std::array<std::uint64_t, static_cast<std::size_t>(InstructionClass::count_)>
      thread_instructions_by_class{};
  std::uint64_t fma_f32 = 0, fma_f64 = 0, mad_int = 0;  ///< thread-level fma/mad instructions
  std::uint64_t fma_f16 = 0;               ///< of f16 and bf16; one of a pair counts as two
  std::uint64_t mul_f32 = 0, mul_f64 = 0;  ///< thread-level plain multiplies
  std::uint64_t products_int = 0;    ///< thread-level products of integers, by any instruction
  std::uint64_t barriers = 0;        ///< warp-level arrivals at block barriers
  std::uint64_t block_barriers = 0;  ///< barriers completed, summed over blocks
  std::map<std::string, std::uint64_t> tensor_ops;  ///< by type: 2*m*n*k per mma of a warp
  /// wgmma that were started while no other of the same warpgroup was running: how often it had let
  /// the tensor cores run dry.
  std::uint64_t wgmma_alone = 0;
  std::uint64_t wgmma_groups = 0;  ///< warpgroups that have made products, summed over blocks
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
  /// The part of `atomic` whose result a thread goes on to use: a way to read.
  GlobalCounts fetched;
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

/// Global memory that a launch has read or written other than by atomics.
struct TouchedBytes {
  DevicePtr first = 0, end = 0;
  bool written = false;
};

/// What a launch has done by griddepcontrol.
struct GridControl {
  bool lets_next_begin = false;  ///< a block has executed .launch_dependents
  bool waits = false;            ///< one has executed .wait
  /// One has, and nothing of it came to .launch_dependents without knowing of that.
  bool waits_first = false;

  /// What others have done as well: blocks, or workers with theirs.
  void add(const GridControl& other) {
    lets_next_begin |= other.lets_next_begin;
    waits |= other.waits;
    waits_first |= other.waits && other.waits_first;
  }
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
  std::vector<TouchedBytes> touched;  ///< ranges read, by address, then ranges written
  GridControl grid_control;
  std::vector<AccessSample> samples;  ///< sorted by file, line and place in the PTX; capped
  RegisterEstimate registers;
  std::string printf_output;  ///< capped
};

}  // namespace simgpu
