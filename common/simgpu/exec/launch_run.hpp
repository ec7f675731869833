// A launch while it runs: what all host threads share (LaunchRun), what one of them owns (Worker),
// and the block it is working on (BlockRun).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/simgpu/check/async_proxy.hpp"
#include "common/simgpu/check/async_shadow.hpp"
#include "common/simgpu/check/clocks.hpp"
#include "common/simgpu/check/exact_shadow.hpp"
#include "common/simgpu/check/finding_log.hpp"
#include "common/simgpu/check/global_shadow.hpp"
#include "common/simgpu/check/handovers.hpp"
#include "common/simgpu/check/shared_shadow.hpp"
#include "common/simgpu/exec/pattern.hpp"
#include "common/simgpu/exec/program.hpp"
#include "common/simgpu/exec/swaps.hpp"
#include "common/simgpu/exec/warp.hpp"
#include "common/simgpu/memory/aligned.hpp"
#include "common/simgpu/memory/global_memory.hpp"
#include "common/simgpu/options.hpp"
#include "common/simgpu/report.hpp"

namespace simgpu::exec {

inline constexpr unsigned kBarriers = 16;
inline constexpr std::uint32_t kMaxCallDepth = 1024;
inline constexpr std::uint32_t kMaxLocalBytes = 512u << 10;  ///< per thread, as on hardware
inline constexpr std::size_t kPrintfCap = 1u << 20;          ///< of a launch

struct LaunchRun {
  const Program* program = nullptr;
  memory::GlobalMemory* memory = nullptr;
  LaunchOptions options;
  Dim3 grid, block;
  Dim3 cluster{1, 1, 1};  ///< blocks of a cluster
  std::uint32_t cluster_blocks = 1;
  bool explicit_cluster = false;  ///< the launch or the kernel says how large it is
  std::span<const std::byte> args;
  std::uint32_t dynamic_shared = 0;
  std::uint32_t shared_bytes = 0;  ///< static and dynamic, without the reserved first kilobyte
  std::uint32_t threads = 0, warps = 0;  ///< of a block
  std::uint64_t resident_blocks = 1;     ///< that fit on the chip together
  std::uint64_t blocks = 0;
  std::string kernel_name;

  /// Slow mode: blocks in order on one thread, every access recorded exactly.
  bool exact = false;
  /// In exact mode: shadows of the allocations that kernels write, by GlobalMemory live index.
  std::vector<std::unique_ptr<check::ExactShadow>> global_shadows;

  std::atomic<std::uint64_t> next_block{0};
  std::atomic<std::uint64_t> instructions{0};  ///< thread instructions, added in portions
  /// a trap, an assertion, a deadlock or the budget ended the launch
  std::atomic<bool> stop{false};
  std::atomic<bool> suspicious{false};  ///< a race is likely: run again in exact mode
  std::atomic<bool> over_budget{false};
  std::atomic<bool> reads_absent{false};  ///< a shuffle, from a lane that does not take part
  std::mutex mutex;                       ///< snapshots and the list below
  std::condition_variable lowest_changed;
  std::vector<std::uint64_t> running_blocks;  ///< one per worker, UINT64_MAX = none
};

struct GuardCount {
  std::uint64_t executed = 0, lanes = 0;
};
struct BufferTraffic {
  GlobalCounts load, store, atomic, fetched;
};

/// The worst access of a memory instruction so far, see AccessSample.
struct SiteSample {
  bool taken = false, matrix = false;
  AccessType type = AccessType::load;
  MemorySpace space = MemorySpace::global;
  std::uint8_t bytes = 0;
  std::uint32_t mask = 0, warp = 0;
  std::uint32_t cost = 0, ideal = 0;
  std::uint64_t block = 0;
  std::array<std::uint64_t, kLanes> address{};
};

/// See Counts::wgmma_alone and Counts::wgmma_groups.
struct WgmmaCount {
  std::uint64_t alone = 0, groups = 0;
};

struct Counters {
  std::vector<GuardCount> blocks;   ///< by basic block
  std::vector<GuardCount> guarded;  ///< by pc, instructions with a guard
  std::vector<SiteCount> sites;
  std::vector<SiteSample> samples;            ///< sample_of(); empty = not asked for
  std::vector<BufferTraffic> buffers;         ///< by live index
  std::vector<std::uint64_t> block_barriers;  ///< by pc of the barrier that was reached first
  std::vector<std::uint64_t> async_idle;      ///< by site: see Counts::async_bytes_idle
  std::vector<EarlyWait> async_early;         ///< by pc of the wait: see Counts::async_early
  std::vector<WgmmaCount> wgmma;              ///< by pc
};

/// What the last execution of a cp.async or ldmatrix cost, for the next with the same pattern.
struct MoveTally {
  std::uint32_t mask = 0;  ///< 0 = nothing yet
  std::uint32_t from_base = 0, to_base = 0;
  std::array<std::int32_t, kLanes> from{}, to{};  ///< relative to the first active lane
  GlobalCounts global;
  SharedCounts shared;
};

struct Worker;

/// One of the sixteen barriers of a block.
struct BarrierState {
  std::uint32_t arrived_lanes = 0;  ///< lanes parked here
  std::uint32_t arrived_count = 0;  ///< as the hardware counts: 32 for a whole warp
  std::uint32_t expected = 0;       ///< 0 = all threads of the block
  std::uint32_t waiting_warps = 0;
  check::Arrivals arrivals;              ///< by bar.arrive
  std::uint32_t first_pc = UINT32_MAX;   ///< of those that wait
  std::uint32_t arrive_pc = UINT32_MAX;  ///< of bar.arrive
  std::uint32_t ones = 0;                ///< bar.red: lanes whose predicate holds
};

/// An access of this block's shared memory by a warp of another block: the last one.
struct VisitOfPeer {
  std::uint32_t pc = UINT32_MAX, time = 0;  ///< of the visitor's clocks
  unsigned lane = 0;
};

/// A cluster whose blocks run.
struct ClusterRun {
  std::vector<BlockRun*> blocks;        ///< by rank
  std::vector<std::uint64_t> numbers;   ///< of them
  check::ClusterTimes arriving, ended;  ///< barrier.cluster: its open phase, and the one before
  /// Leading offsets in descriptors of wgmma's operands, by instruction and operand, and the rank of
  /// the block that came first with one.
  struct Leading {
    std::uint32_t rank, bytes;
  };
  std::map<std::pair<std::uint32_t, char>, Leading> leading;
};

/// What the quick path of loads and stores asks of its launch each time.
struct AccessMode {
  bool quick = false;    ///< there is such a path: not in exact mode
  bool checked = false;  ///< for races or initialisation
  bool race = false, init = false;
  bool orders_lanes = false;  ///< there are mbarriers
  bool logs_reads = false;  ///< nothing but accesses of the block's own threads reaches the shadow
  bool shared_words = false, global_words = false;  ///< granules of 4 bytes
  bool count = false;
  bool tallied = false;  ///< quick and count
};

/// fence.proxy.tensormap.acquire: by the map's address and the warp, its time.
using MapFences = std::map<std::pair<std::uint64_t, unsigned>, std::uint32_t>;

/// Threads of a block that have returned at one place.
struct Exits {
  std::uint32_t threads = 0;
  std::uint32_t first = 0;  ///< one of them, linear in its block
};

struct BlockRun {
  LaunchRun* launch = nullptr;
  Worker* worker = nullptr;
  AccessMode mode;
  SiteCount* sites = nullptr;  ///< of the worker's counters
  std::uint64_t number = 0;    ///< linear
  Dim3 index{0, 0, 0};
  std::vector<Warp> warps;
  std::vector<std::byte> registers;  ///< first frames of all warps
  memory::Bytes shared;
  check::SharedShadow shadow;
  ReadLog reads;
  check::AsyncShadow async;
  check::AsyncProxy proxy;
  std::optional<check::ExactShadow> exact_shared;
  check::BlockClocks clocks;
  check::Handovers handovers;
  std::array<BarrierState, kBarriers> barriers;
  std::uint32_t exited = 0;              ///< threads
  std::map<std::uint32_t, Exits> exits;  ///< by the pc that led to the return
  std::uint32_t diverged = 0;            ///< warps of which a divergent barrier was told
  std::uint32_t local_capacity = 0;      ///< bytes per thread
  std::vector<std::byte> local;          ///< [thread][local_capacity]
  std::vector<std::uint8_t> local_initialised;
  MarkedBytes marked_shared, marked_local;  ///< unset.hpp
  std::uint64_t instructions = 0;           ///< thread instructions of this block
  std::uint64_t faulted_at = 0;             ///< `instructions` + 1 at its first fault; 0 = none
  std::uint32_t running_warp = 0;
  /// Rounds in which nobody could go on but those that were told that their time is over.
  unsigned idle_rounds = 0;
  std::uint64_t idle_since = 0;  ///< AsyncProxy::events then
  std::uint64_t turns = 0;       ///< groups that have given way
  bool gave_way = false;         ///< the warp that ran last waits for others
  bool aborted = false;
  /// Its cluster, if its threads may see that they are in one (cluster.hpp).
  ClusterRun* cluster = nullptr;
  std::uint32_t rank = 0;
  /// Address of its first array in shared memory, as its own threads know it.
  std::uint64_t shared_start = memory::kSharedBase;
  check::ClusterTimes known;       ///< of the others
  std::uint32_t fenced_inits = 0;  ///< the time of the last fence.mbarrier_init
  /// By warp: the time of its last griddepcontrol.wait; 0 = none yet.
  std::array<std::uint32_t, check::kMaxWarps> grid_waits{};
  /// `waits_first`: no warp has let the next kernel begin without knowing of a wait.
  GridControl grid_control;
  MapFences map_fences;
  std::vector<VisitOfPeer> visits;  ///< by rank * kMaxWarps + warp
  bool done = false, moved = false;
  std::string printed;
  check::BlockOrder order;  ///< nothing that the quick path asks for lies behind it
  SwapLog swaps;
};

struct Worker {
  LaunchRun* launch = nullptr;
  unsigned number = 0;
  Counters counters;
  check::FindingLog findings;
  std::map<std::uint64_t, std::string> printed;  ///< by block
  std::size_t printed_bytes = 0;
  /// Blocks that run, and used ones for the next. There is more than one that runs only where
  /// blocks wait for each other.
  std::vector<std::unique_ptr<BlockRun>> resident, spare;
  std::vector<std::unique_ptr<ClusterRun>> clusters;  ///< that run
  check::BlockOrder::Launch order;
  std::uint64_t progress = 1;  ///< changes by which a thread that waits can get on
  /// Thread instructions between two looks at the budget, and what is left of them.
  std::int64_t portion = 0, allowance = 0;
  std::int64_t held = 0;  ///< allowance put aside to have the scheduler called soon
  PatternCache patterns;
  std::vector<StretchTally> stretches;  ///< by Stretch::number
  /// By number of Program::unset_origins, from 1: the lane that a shuffle read from last.
  std::array<std::uint8_t, kMostOrigins + 1> absent_lanes{};
  /// By number of an origin: what this load brought from memory that nobody had written was used.
  std::array<bool, kMostOrigins + 1> used_unwritten{};
  std::vector<MoveTally> moves;  ///< by Op::slot of cp.async and ldmatrix
  GridControl grid_control;      ///< of the blocks that have ended
  /// Of the allocations that this worker's blocks use, by live index. Not in exact mode.
  std::vector<std::unique_ptr<check::GlobalShadow>> global_shadows;
};

/// Adds what the stretch has tallied to its sites. From then on each load is looked at again.
inline void settle_stretch(Worker& worker, const Stretch& s) {
  StretchTally& tally = worker.stretches[s.number];
  if (tally.pending != 0)
    for (const Stretch::Load& l : s.loads) worker.counters.sites[l.site].pending += tally.pending;
  tally = {};
}

// ---- running (interpreter.cpp, blocks.cpp)
void run_blocks(Worker& worker);
/// Runs a block until it is done, or until all its warps wait for others (false).
bool run_block(BlockRun& run);
void start_block(BlockRun& run);
/// Nobody gets on: lanes that wait for others of their warp (Warp::holds) go on without them. False if there are
/// none.
bool hurry(Worker& worker);
void report_deadlock(Worker& worker);
BlockRun& add_resident(Worker& worker, std::uint64_t number);  ///< to be started
void end_block(Worker& worker, std::size_t index);
void begin_budget(Worker& worker);
/// What this worker has used of the budget goes to the launch's account.
std::uint64_t settle_budget(Worker& worker);  ///< returns the thread instructions since then
/// Since when nobody has got on.
class Idleness {
 public:
  void reset(const LaunchRun& launch) {
    rounds_ = 0;
    since_ = launch.instructions;
    states_.clear();
  }
  /// Once more nobody has got on: will they never?
  bool is_for_ever(const Worker& worker);

 private:
  unsigned rounds_ = 0;
  std::uint64_t since_ = 0;
  std::vector<std::uint64_t> states_;
};
/// As run_blocks, of kernels with clusters (clusters.cpp).
void run_clusters(Worker& worker);

/// So many looks that see nothing new, and others may go first: at first, and once a warp has given
/// way.
inline constexpr std::uint32_t kPatience = 32, kLittlePatience = 4, kMostPatience = 4096;
inline std::uint64_t add_to_sight(std::uint64_t sight, std::uint64_t value) {
  return (sight ^ value) * 0x9e3779b97f4a7c15u;
}
/// The running group has looked at memory that others may change: a volatile load, an atomic that
/// left the value as it was, a fence. `sight` stands for addresses and values: who looks at
/// something new each time gets on.
inline void note_poll(Warp& w, std::uint32_t pc, std::uint64_t sight) {
  sight = add_to_sight(sight, pc + 1);
  if (std::find(w.sights.begin(), w.sights.end(), sight) == w.sights.end()) {
    w.sights[w.next_sight++ % w.sights.size()] = sight;
    w.polls = 0;
  } else if (++w.polls == w.patience) {
    Worker& worker = *w.run->worker;  // the scheduler is called before the next basic block
    worker.held += worker.allowance + 1;
    worker.allowance = -1;
  }
}
/// It has changed memory in a way that others may wait for.
inline void note_progress(Warp& w) {
  w.polls = 0;
  ++w.run->worker->progress;
}
/// To be called after each synchronisation that the clocks have counted.
void forget_times(BlockRun& run);
inline void bound_times(BlockRun& run) {
  if (run.clocks.now() >= check::kTimeLimit) forget_times(run);
}
/// Instructions `.sync.aligned` hold all lanes of the warp until all have come. It matters to who arrives at an
/// mbarrier for all.
inline void meet_aligned(const Warp& w) {
  BlockRun& run = *w.run;
  if (!run.mode.orders_lanes) return;
  run.clocks.sync_lanes(w.index, w.mask, w.live());
  bound_times(run);
}
/// Arrival of lanes that do not wait.
void arrive_at_barrier(Warp& w, std::uint32_t id, std::uint32_t count, std::uint32_t pc);

// ---- descriptions of what a lane does (access_report.cpp)
struct LaneAccess {
  std::uint32_t pc = 0;
  unsigned warp = 0, lane = 0;
  AccessType type = AccessType::load;
  MemorySpace space = MemorySpace::global;
  unsigned bytes = 0;
  std::uint64_t address = 0;
};
Access describe(const BlockRun& run, const LaneAccess& a);
Access describe_thread(const LaunchRun& launch, std::uint64_t block, unsigned thread,
                       const LaneAccess& a);
Dim3 thread_index(const Dim3& block, unsigned thread);
Dim3 block_index(const Dim3& grid, std::uint64_t number);
void add_finding(BlockRun& run, FindingKind kind, std::uint32_t pc, std::uint32_t other_pc,
                 Access at, std::optional<Access> other, std::string detail,
                 FindingCause cause = FindingCause::unspecified);
std::string line_text(const Program& p, std::uint32_t pc);  ///< "gemm.cu:31"
/// Adds what had been written of the array that `f.at` is in, in the shared memory of `owner`;
/// `place`: bytes from where that begins to `f.at`.
void add_written_shared(const BlockRun& owner, std::uint64_t place, Finding& f);
/// Adds to a wait for memory which elements of the object hold something else than the one that is looked at.
void add_unlike(const LaunchRun& l, Finding& f);

// ---- memory (resolve.cpp)
/// Where a lane's access lands.
struct Target {
  enum class Fault : std::uint8_t {
    none,
    null,
    host,
    freed,
    bounds,
    other_block,  ///< of the cluster, and the instruction reaches only its own
    misaligned,
    read_only,
    not_lent  ///< of the heap of malloc()
  } fault = Fault::none;
  MemorySpace space = MemorySpace::global;
  memory::Allocation* allocation = nullptr;  ///< global and constant
  std::byte* data = nullptr;
  std::uint8_t* initialised = nullptr;  ///< null = nothing to check
  std::uint64_t offset = 0;             ///< in the allocation or space
  BlockRun* peer = nullptr;             ///< whose shared memory it is, if not the own block's
  const SharedArray* array = nullptr;   ///< bounds: of this one, though there is something
};
Target resolve(BlockRun& run, const Warp& w, unsigned lane, ptx::Space space, std::uint64_t address,
               unsigned bytes, bool write);
/// The same for a lane of an instruction, whose address must stay in the shared array that it was computed from.
Target resolve(BlockRun& run, const Warp& w, unsigned lane, const Op& op, ptx::Space space,
               std::uint64_t address, unsigned bytes, bool write);
/// Must be called before the first store of a launch to `a`.
void prepare_write(LaunchRun& launch, memory::Allocation& a);
/// What an instruction of the own block's shared memory does at an address of another block.
std::string other_block_text(const BlockRun& run, std::uint64_t address);
void report_fault(BlockRun& run, const Warp& w, unsigned lane, const Op& op, AccessType type,
                  unsigned bytes, std::uint64_t address, const Target& t);
void report_uninitialised(BlockRun& run, const Warp& w, unsigned lane, const Op& op, unsigned bytes,
                          std::uint64_t address, const Target& t);

// ---- calls of functions that the device provides (builtins.cpp)
void call_vprintf(Warp& w, const std::byte* arguments, std::uint32_t stride, const Call& call,
                  std::uint32_t mask, std::uint32_t pc);
void call_assertfail(Warp& w, const std::byte* arguments, std::uint32_t stride, const Call& call,
                     std::uint32_t mask, std::uint32_t pc);
/// free() in a kernel: what lies there has not been written by anybody, and is nobody's. malloc(): it is somebody's.
void call_forget(Warp& w, std::byte* arguments, std::uint32_t stride, const Call& call,
                 std::uint32_t mask);
/// The result goes to the caller's area, as a function's would.
void call_math(Warp& w, std::byte* area, std::uint32_t stride, const Call& call,
               std::uint32_t mask);
void abort_launch(BlockRun& run);
/// Hardware ends a kernel at its first fault. Here its block goes on for a while, to find what else is wrong: not for
/// ever, since a loop may have its bounds from the very address that nobody should have read. True = it is over.
bool runs_on_after_fault(BlockRun& run);
/// The parameters of the function that `w` has entered, for lanes `mask`, to local memory (FunctionCode::local_params).
void params_to_local(BlockRun& run, const Warp& w, std::uint32_t mask);

}  // namespace simgpu::exec
