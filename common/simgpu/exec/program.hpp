// A kernel ready to run: the decoded code of an entry and of all functions it calls.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "common/simgpu/check/async_proxy.hpp"
#include "common/simgpu/count/fused_sums.hpp"
#include "common/simgpu/count/narrowed_loads.hpp"
#include "common/simgpu/count/struct_copies.hpp"
#include "common/simgpu/exec/math_calls.hpp"
#include "common/simgpu/exec/op.hpp"
#include "common/simgpu/exec/stretch.hpp"
#include "common/simgpu/exec/unset.hpp"
#include "common/simgpu/ptx/module.hpp"
#include "common/simgpu/ptx/used_bytes.hpp"
#include "common/simgpu/report.hpp"

namespace simgpu::exec {

/// How a basic block ends.
enum class End : std::uint8_t {
  next,          ///< falls through (or an unconditional branch): `target`
  branch,        ///< lanes whose guard holds go to `target`, the others to `next`
  indexed,       ///< brx.idx: lane i goes to targets[index register]
  call,          ///< then continues at `next`
  ret,           ///< lanes whose guard holds leave the function; in an entry they exit
  exit,          ///< lanes whose guard holds exit
  barrier,       ///< bar.sync, bar.red: `op` says which; continues at `next`
  wait,          ///< mbarrier.try_wait and test_wait: continues at `next`, now or later
  cluster_wait,  ///< barrier.cluster.wait: at `next`, when all threads of the cluster have arrived
  product,       ///< wgmma: when all four warps of a warpgroup have come, at `next`
  trap,
};

inline constexpr std::uint32_t kNoBlock = UINT32_MAX;

/// Straight-line code. Blocks are numbered so that of all lanes that are not together, running
/// those with the smallest number first brings them together again as early as possible (see
/// order.hpp).
struct BasicBlock {
  std::uint32_t first = 0, last = 0;  ///< ops [first, last)
  std::uint32_t instructions = 0;     ///< PTX instructions executed by every active lane
  End end = End::next;
  bool guard_negated = false;
  std::uint32_t multiply_adds = 0;  ///< fma, mad and mma instructions in it
  bool returns_at_once = false;     ///< nothing here but ret or exit
  /// Lanes that its shuffles, votes and instructions `.sync` wait for (all, where a register says which).
  std::uint32_t meets = 0;
  Ref guard = kNoRef;
  std::uint32_t target = kNoBlock, next = kNoBlock;
  std::uint32_t pc = 0;  ///< of the ending instruction (the last one for `next`)
  std::uint32_t first_pc = 0;
  std::uint32_t detail = UINT32_MAX;  ///< index into calls, barriers or jump tables
};

struct Call {
  std::uint32_t function = 0;  ///< index into Program::functions, or kVprintf ...
  /// Values: from the caller's call area to the callee's parameter area (and results back).
  struct Copy {
    std::uint32_t from = 0, to = 0, bytes = 0;  ///< byte offsets per lane
    Ref immediate = kNoRef;                     ///< an immediate argument: its constant lanes
  };
  std::vector<Copy> arguments, results;
  const MathFunction* math = nullptr;  ///< of kMath
};
inline constexpr std::uint32_t kVprintf = UINT32_MAX - 1, kAssertFail = UINT32_MAX - 2,
                               kMath = UINT32_MAX - 3, kForget = UINT32_MAX - 4,
                               kLend = UINT32_MAX - 5;

struct Barrier {
  Ref id = kNoRef, count = kNoRef;  ///< u32 lanes; count kNoRef = all threads of the block
  Ref dst = kNoRef, pred = kNoRef;  ///< bar.red
  bool pred_negated = false, aligned = true;
  std::uint8_t reduce = 0;  ///< 0 none, 1 popc, 2 and, 3 or
};

/// mbarrier.try_wait and test_wait.
struct MBarrierWait {
  Ref dst = kNoRef;      ///< predicate
  Ref address = kNoRef;  ///< u64 lanes
  std::int64_t offset = 0;
  Ref phase = kNoRef;  ///< a parity, u32 lanes, or a state of the barrier, u64 lanes
  bool by_parity = false;
  bool may_suspend = false;  ///< try_wait
  bool is_looked_at = true;  ///< what it returns
  bool generic = false;      ///< the address
};

/// The operands of a wgmma.mma_async (PTX ISA 9.7.15.5).
struct Wgmma {
  MmaFormat format{};
  std::uint8_t n = 0;                       ///< columns, divided by 8
  bool second_a = false, second_b = false;  ///< u8 rather than s8, e5m2 rather than e4m3
  bool saturates = false;
  bool half_sums = false;  ///< D is f16
  bool negates_a = false, negates_b = false;
  bool mn_major_a = false, mn_major_b = false;
  Ref scale_d = kNoRef;             ///< predicate: false clears the sums
  Ref a = kNoRef, b = kNoRef;       ///< descriptors, u64 lanes; a: kNoRef = registers
  std::vector<Ref> sums, fragment;  ///< registers of D, and of A
  std::vector<std::uint32_t> sum_numbers, fragment_numbers;  ///< of Warp::product_registers
};

/// What an instruction does to registers of products.
struct ProductAccess {
  std::vector<std::uint32_t> reads, writes;
  /// mov: a compiler writes constants and packed values where it likes, so only whether any fence
  /// stands between two products can be asked.
  bool moves = false;
};

/// The operands of a st.async or red.async.
struct AsyncStore {
  Ref to = kNoRef, barrier = kNoRef;  ///< u64 lanes
  std::int64_t to_offset = 0, barrier_offset = 0;
  unsigned width = 4;  ///< bytes of a value
  std::vector<Ref> values;
  check::Reduction reduction;
};

/// The operands of a bulk copy.
struct BulkForm {
  Ref shared = kNoRef, global = kNoRef, bytes = kNoRef, barrier = kNoRef;  ///< u64 lanes; u32
  std::int64_t shared_offset = 0, global_offset = 0, barrier_offset = 0;
  std::vector<Ref> coordinates;  ///< of a tensor copy, whose `global` is the address of its map
  Ref multicast = kNoRef;        ///< u32 lanes: ranks of the blocks that it is for
  check::Reduction reduction;    ///< its type is that of the map, of a tensor that is reduced
  bool reduces_tensor = false;
};

struct JumpTable {
  Ref index = kNoRef;
  std::vector<std::uint32_t> blocks;
};

/// The operands of a cp.async.
struct AsyncForm {
  Ref to = kNoRef, from = kNoRef;  ///< u64 lanes
  std::int64_t to_offset = 0, from_offset = 0;
  Ref source_bytes = kNoRef;  ///< u32 lanes: bytes to read, zeros fill the rest
  Ref ignore = kNoRef;        ///< predicate: lanes that read nothing
  bool bypasses_l1 = false;   ///< .cg
};

/// A special register that a frame must hold, and where.
struct SpecialSlot {
  ptx::Special special{};
  std::uint32_t offset = 0;
  std::uint32_t lane_bytes = 4;
};

struct FunctionCode {
  const ptx::Function* source = nullptr;
  std::uint32_t entry_block = 0, end_block = 0;
  std::uint32_t first_pc = 0;     ///< unified number of its first instruction
  std::uint32_t frame_bytes = 0;  ///< registers, temporaries and parameter areas
  std::vector<SpecialSlot> specials;
  /// frame slot (u64 lanes) that holds the frame's local address
  std::uint32_t local_base = UINT32_MAX;
  /// the same of what the block's shared addresses carry (SharedAddresses::ranked)
  std::uint32_t rank_base = UINT32_MAX;
  /// Of a function that takes the address of a parameter: where in its locals they are copied to.
  std::uint32_t local_params = UINT32_MAX;
  std::uint32_t local_bytes = 0;  ///< .local per thread
  std::uint32_t param_area = 0,
                param_bytes = 0;  ///< [lane][bytes], incoming parameters (not of an entry)
  std::uint32_t result_area = 0, result_bytes = 0;
  std::uint32_t call_area = 0, call_bytes = 0;
};

/// What is known of one PTX instruction at run time, by unified pc.
struct InstructionInfo {
  const ptx::Instruction* ptx = nullptr;
  std::uint32_t function = 0;
  std::uint32_t block = 0;
  InstructionClass klass = InstructionClass::other;
  bool guarded = false;  ///< counted by itself, not with its block
  bool is_branch = false;
  bool polls = false;    ///< a load that waits, see ptx/polls.hpp
  bool updates = false;  ///< part of `x += y` in memory, see ptx/updates.hpp
  /// FFMAs of each lane that are no fma in PTX: what ptxas makes of a division, or nvcc of expf.
  std::uint8_t hidden_fma_f32 = 0;
  bool prints = false;  ///< hands an argument to printf, see count/printed_arguments.hpp
  /// A multiply-add that nvcc makes two sums, see count/doubled_sums.hpp.
  bool doubled_sum = false;
  count::Fusion fusion = count::Fusion::as_written;
  std::uint32_t site = UINT32_MAX;   ///< memory counters
  std::uint32_t array = UINT32_MAX;  ///< of Program::shared: the one that its address must stay in
};

/// A shared variable of the kernel, placed.
struct SharedArray {
  std::uint32_t variable = 0;  ///< index into the module, UINT32_MAX = dynamic shared memory
  std::uint32_t offset = 0;    ///< within shared space, from memory::kSharedBase on
  std::uint32_t bytes = 0;
  std::string name;
};

/// How ptxas would merge this load with its neighbours.
struct Merge {
  std::uint8_t width = 0;  ///< bytes of the merged access this one leads; 0 = follows another
  std::int16_t shift = 0;  ///< where the merged access starts, relative to this one's address
};

/// How a wmma.load or wmma.store reaches memory.
struct WmmaPlan {
  struct Element {  ///< of every lane: which row (or column) of the memory's matrix, and where in
                    ///< it
    std::array<std::uint8_t, kLanes> major, minor;
  };
  struct Access {
    unsigned first, count;  ///< elements that lie together
  };
  unsigned element_bytes = 4;
  unsigned packed = 1;  ///< elements of s4, u4 or b1 in a word: one element of the plan
  unsigned used = 0;    ///< registers; f16 fragments may have more
  std::vector<Element> places;
  std::vector<Access> accesses;
  bool by_matrices = false, transposed = false;  ///< from shared memory: as ldmatrix
};

struct alignas(64) ConstantLanes {
  std::byte bytes[256];
};

struct Program {
  const ptx::Module* module = nullptr;
  std::vector<Op> ops;
  std::vector<BasicBlock> blocks;
  std::vector<FunctionCode> functions;  ///< [0] is the entry
  std::vector<InstructionInfo> instructions;
  std::vector<Call> calls;
  std::vector<Barrier> barriers;
  std::vector<JumpTable> jumps;
  std::vector<AsyncForm> async_forms;  ///< by Op::imm of cp.async
  std::vector<MBarrierWait> waits;
  std::vector<Wgmma> products;
  std::vector<BulkForm> bulk_forms;             ///< by Op::imm of bulk copies
  std::vector<AsyncStore> async_stores;         ///< by Op::slot of st.async
  std::vector<ProductAccess> product_accesses;  ///< by Op::slot
  std::vector<UnsetForm> unset_forms;           ///< by Op::imm of op_unset
  std::vector<std::uint32_t> unset_origins;     ///< pcs
  std::vector<bool> unset_strays;               ///< by origin: of bytes that may be padding
  bool tracks_unset = false;                    ///< Tracking: any
  bool tracks_unwritten = false;  ///< Tracking::unwritten: what is lost of a mark counts as a use
  std::uint32_t product_registers = 0;
  bool uses_proxy = false;       ///< mbarriers, bulk copies or wgmma
  bool uses_cluster = false;     ///< its barrier, or its blocks' shared memory
  bool lets_next_begin = false;  ///< griddepcontrol.launch_dependents
  std::vector<SharedArray> shared;
  std::vector<Merge> merges;                       ///< by site
  std::vector<bool> fetches;                       ///< by site: an atomic whose result is used
  std::vector<count::PartOfCopy> parts_of_copies;  ///< by site
  std::vector<count::NarrowedLoad> narrowed;       ///< by site
  std::vector<ptx::MovedBytes> moved;              ///< by site
  std::vector<std::uint32_t>
      early;  ///< by site: pc of the branch before which nvcc loads, else UINT32_MAX
  std::vector<std::uint32_t> site_pc;  ///< by site
  std::uint32_t slots = 0;             ///< address patterns
  std::uint32_t moves = 0;             ///< tallies of cp.async and ldmatrix
  std::uint32_t guard_sites = 0;
  std::uint32_t static_shared_bytes = 0;
  /// where dynamic shared memory starts, behind the static arrays
  std::uint32_t dynamic_shared_offset = 0;
  std::uint32_t shared_granule = 4, global_granule = 4;  ///< smallest access, 1, 2 or 4 bytes
  bool uses_global_atomics = false, has_calls = false;
  bool watches_global = false;  ///< reads what other blocks may be about to write
  std::string unsupported;      ///< why it cannot run, "" = it can
  ptx::Location unsupported_where;

  std::deque<Stretch> stretches;
  std::deque<WmmaPlan> wmma;  ///< by Op::slot
  std::deque<ConstantLanes> constants;
  std::deque<std::vector<Ref>> lists;

  SourceLine line_of(std::uint32_t pc) const;
};

/// Where the device put a module's variables: virtual address by variable index.
struct Placement {
  std::vector<std::uint64_t> variables;
};

/// What the address of a shared variable is: a constant, or in a cluster of several blocks one that
/// carries the rank of the block (memory/address.hpp).
enum class SharedAddresses : std::uint8_t { constant, ranked };

/// Whether marks go with values that nothing has set (unset.hpp): of variables and shuffles, or of what loads bring
/// from shared and local memory that nobody has written.
enum class Tracking : std::uint8_t { none, unset, unwritten };

/// Decodes an entry. Never throws for what a program contains: `unsupported` says it.
std::unique_ptr<Program> decode(const ptx::Module& module, std::uint32_t entry,
                                const Placement& placement, SharedAddresses addresses,
                                Tracking tracking = Tracking::none);

}  // namespace simgpu::exec
