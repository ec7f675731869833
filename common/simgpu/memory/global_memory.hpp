// The device's global memory: allocations of exact size, each with one initialised-mark per byte.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/simgpu/memory/address.hpp"
#include "common/simgpu/memory/aligned.hpp"

namespace simgpu::memory {

/// What a read finds where nothing was written, and what an illegal read returns: NaN as float, -1
/// as integer.
inline constexpr std::byte kPoison{0xff};

/// The variable that malloc() in kernels takes its blocks from (include/simgpu/heap.h). Unlike other variables it
/// starts uninitialised, and a block is uninitialised again once it is freed.
inline constexpr std::string_view kHeapName = "__simgpu_heap_bytes";
/// Blocks begin at multiples of this many bytes, behind a header of the same size.
inline constexpr std::uint64_t kHeapGrain = 16;
inline constexpr std::uint8_t kHeapHeader = kHeapGrain + 1;

struct Allocation {
  Address base = 0;
  std::uint64_t size = 0;  ///< bytes
  std::string label;
  UniqueBytes data;  ///< null once freed
  /// One mark per byte of data: 0 = nothing has written it, else the size of the element that a store
  /// wrote there (1: copied, or not known). Bytes, not bits, because two host threads may mark
  /// neighbours at the same time.
  std::unique_ptr<std::uint8_t[]> initialised;
  bool fully_initialised = false;  ///< then the marks need not be looked at
  /// Heap only, for each grain: how many of its first bytes belong to a block that malloc() has given out, or kHeapHeader.
  std::unique_ptr<std::uint8_t[]> lent;
  bool read_only = false;        ///< a store by a kernel is a finding
  bool checks_stores = false;    ///< read_only, or `lent` is there
  bool constant = false;         ///< a .const variable
  std::uint32_t live_index = 0;  ///< position in GlobalMemory::live()

  /// Set while a launch runs, by any worker: decide what the launch must save and check.
  struct LaunchState {
    std::atomic<bool> read{false}, stored{false}, atomics{false}, written{false};
    /// Record who reads it, not only who writes it. Stays set until the launch ends, even if that is
    /// started over.
    std::atomic<bool> keeps_readers{false};
    std::atomic<bool> saved{false};  ///< `saved_*` hold the state before the launch
    std::unique_ptr<std::byte[]> saved_data;
    std::unique_ptr<std::uint8_t[]> saved_initialised;  ///< null if it was fully initialised
    std::unique_ptr<std::uint8_t[]> saved_lent;
  };
  LaunchState launch;

  bool live() const { return data != nullptr; }
  std::uint64_t grains() const { return (size + kHeapGrain - 1) / kHeapGrain; }
  /// Whether all these bytes belong to blocks of the heap that are in use.
  bool is_lent(std::uint64_t offset, std::uint64_t bytes) const {
    const std::uint64_t end = offset + bytes;
    for (std::uint64_t grain = offset / kHeapGrain; grain * kHeapGrain < end; ++grain)
      if (std::min(end - grain * kHeapGrain, kHeapGrain) > lent[grain]) return false;
    return true;
  }
};

/// A tensor map that a kernel has changed (tensormap.replace, tensormap.cp_fenceproxy): by its address, whether a
/// release fence has followed. The host's copies and whoever frees the memory forget it.
class ChangedMaps {
 public:
  void change(Address map);
  /// fence.proxy.tensormap.release, of all that was changed before.
  void release();
  enum class State : std::uint8_t { as_made, changed, released };
  State state(Address map) const;
  void forget(Address first, std::uint64_t bytes);

 private:
  mutable std::mutex mutex_;
  std::map<Address, bool> maps_;
};

class GlobalMemory {
 public:
  explicit GlobalMemory(std::uint64_t capacity) : capacity_(capacity) {}

  /// Null when the capacity is exhausted. `bytes` > 0.
  Allocation* allocate(std::uint64_t bytes, std::string label);
  /// False if `base` is not the start of a live allocation.
  bool release(Address base);

  /// The allocation that owns the slot of `address` (freed ones included), or null. No bounds are
  /// checked.
  Allocation* owner(Address address) const {
    const std::uint64_t index = (slot_of(address) - kFirstSlot) / 2;
    return index < slots_.size() && (slot_of(address) & 1) == 0 ? slots_[index].get() : nullptr;
  }
  /// Behind every slot handed out so far.
  bool never_used(Address address) const {
    return slot_of(address) > kFirstSlot + 2 * slots_.size();
  }
  /// The allocation whose start or end is nearest to `address`, for messages: the owner of the
  /// slot, or of the one just above it. Null if neither exists.
  Allocation* nearest(Address address) const;
  /// The live allocation that holds [address, address + bytes), else null.
  Allocation* containing(Address address, std::uint64_t bytes) const;

  const std::vector<Allocation*>& live() const { return live_; }
  std::uint64_t bytes_in_use() const { return used_; }
  ChangedMaps& changed_maps() { return *changed_maps_; }

  void write(Allocation& a, std::uint64_t offset, std::span<const std::byte> src);
  void fill(Allocation& a, std::uint64_t offset, std::byte value, std::uint64_t bytes);
  void copy(Allocation& to, std::uint64_t to_offset, const Allocation& from,
            std::uint64_t from_offset, std::uint64_t bytes);
  void mark(Allocation& a, std::uint64_t offset, std::uint64_t bytes, bool initialised);
  /// Restores what the launch has changed, so that it can start over.
  void roll_back();
  /// Ends the launch and keeps what it has changed.
  void commit();
  static bool is_initialised(const Allocation& a, std::uint64_t offset, std::uint64_t bytes);

 private:
  std::uint64_t capacity_, used_ = 0;
  std::deque<std::unique_ptr<Allocation>> slots_;  ///< by slot; records of freed allocations stay
  std::vector<Allocation*> live_;
  std::unique_ptr<ChangedMaps> changed_maps_ = std::make_unique<ChangedMaps>();
};

}  // namespace simgpu::memory
