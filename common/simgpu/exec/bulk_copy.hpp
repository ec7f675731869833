// What the files about bulk copies share: bulk_copy.cpp, bulk_tensor.cpp and bulk_reduce.cpp. Every
// function here says what is wrong with operands by findings; none of them reads or writes outside of
// the simulated memory.
#pragma once

#include <array>
#include <string>

#include "common/simgpu/exec/async_proxy.hpp"
#include "common/simgpu/exec/launch_run.hpp"
#include "common/simgpu/tensor_map.hpp"

namespace simgpu::exec::bulk {

inline constexpr unsigned kChunk = 16;

/// Who issues a copy, and by which instruction.
struct Place {
  BlockRun& run;
  Warp& w;
  unsigned lane;
  const Op& op;
};

void refuse(const Place& at, FindingKind kind, MemorySpace space, std::uint64_t address,
            std::string why, FindingCause cause = FindingCause::unspecified);
/// What a memory operand of the lane says.
std::uint64_t address_of(const Place& at, Ref base, std::int64_t offset);
/// The place in shared memory, from the start of the arrays; UINT32_MAX after a finding. `align`: bytes.
/// `address` without a rank: which block it names, destinations() finds out.
std::uint32_t shared_place(const Place& at, std::uint64_t address, std::uint32_t bytes,
                           unsigned align, bool write);
/// The same, of what the block reads of its own.
std::uint32_t own_place(const Place& at, std::uint64_t address, std::uint32_t bytes,
                        unsigned align);
/// One piece of global memory that a bulk copy reads, writes or (atomic) reduces; nullptr after a
/// finding.
std::byte* global_piece(const Place& at, std::uint64_t address, std::uint32_t bytes,
                        AccessType type);
/// Of a copy without a map, whose end in global memory is its `side`; false after a finding.
bool whole_chunks(const Place& at, std::uint32_t bytes, std::uint64_t global, const char* side);

/// Sectors of pieces of global memory, one request.
class Traffic {
 public:
  explicit Traffic(std::uint64_t first) : first_(first) {}
  void add(std::uint64_t address, std::uint32_t bytes) {
    if (bytes == 0) return;
    counts_.sectors += (address + bytes - 1) / 32 - address / 32 + 1;
    counts_.bytes += bytes;
  }
  void count(BlockRun& run, const Op& op, bool write) {
    if (!run.launch->options.count) return;
    counts_.requests = 1;
    counts_.ideal_sectors = (counts_.bytes + 31) / 32;
    Counters& c = run.worker->counters;
    c.sites[op.site].global += counts_;
    const memory::Allocation* a = run.launch->memory->owner(first_);
    if (a == nullptr || a->live_index >= c.buffers.size()) return;
    (write ? c.buffers[a->live_index].store : c.buffers[a->live_index].load) += counts_;
  }

 private:
  std::uint64_t first_;
  GlobalCounts counts_;
};

/// Where a copy goes: a block of the cluster, and the barrier there that it reports to.
struct Destination {
  BlockRun* block = nullptr;
  check::MBarrier* barrier = nullptr;
  std::uint32_t offset = 0;  ///< of the barrier
};
inline constexpr unsigned kMostDestinations = 16;  // blocks of a cluster
struct Destinations {
  std::array<Destination, kMostDestinations> of;
  unsigned count = 0;
};
/// All places that a copy to `to` goes to; none after a finding. `multicast`: kNoRef if there is one.
Destinations destinations(const Place& at, Ref multicast, std::uint64_t to, std::uint64_t barrier);
/// A copy of `bytes` to `first` in the shared memory of the first destination.
check::BulkCopy& new_copy(const Destinations& all, std::uint32_t first, std::uint32_t bytes);
/// A copy that is complete but for where it goes.
void issue_to_all(const Place& at, check::BulkCopy& c, const Destinations& to);
/// Reads [first, first + bytes) for a bulk store, with every check.
void begin_store(const Place& at, std::uint32_t first, std::uint32_t bytes);

// ---- bulk_tensor.cpp
void tensor_load(const Place& at, const BulkForm& form);
void tensor_store(const Place& at, const BulkForm& form);
/// Whether a copy can reduce elements of `type` this way: fewer ways lead to shared memory than to
/// `global` memory.
bool can_reduce(ptx::AtomOp op, ptx::Type type, bool global);
/// What a copy of a tensor does with the elements that it finds; of width 0 if there is no such
/// operation for them.
check::Reduction tensor_reduction(TensorType elements, std::uint8_t operation);

// ---- bulk_reduce.cpp
/// A reduction's destination, which other reductions may reach at the same time.
void check_reduction(const Place& at, BlockRun& to, const check::BulkCopy& c);
/// to = to op from, element by element.
void reduce(const check::Reduction& reduction, const std::byte* from, std::uint32_t bytes,
            std::byte* to);
/// Reductions that are still under way keep their place marked when another one has arrived there.
void mark_others(BlockRun& run, const check::BulkCopy& landed);
/// Marks the destination of `c` as not yet written.
void mark_place(BlockRun& run, const check::BulkCopy& c, unsigned engine);

}  // namespace simgpu::exec::bulk
