#include "common/simgpu/memory/global_memory.hpp"

#include <cstring>
#include <utility>

namespace simgpu::memory {
namespace {

/// Initialised-marks all set in [offset, offset + bytes)? memchr for a zero is the fastest scan the
/// library has.
bool all_set(const std::uint8_t* marks, std::uint64_t offset, std::uint64_t bytes) {
  return bytes == 0 || std::memchr(marks + offset, 0, bytes) == nullptr;
}

}  // namespace

void ChangedMaps::change(Address map) {
  const std::lock_guard<std::mutex> lock(mutex_);
  maps_[map] = false;
}
void ChangedMaps::release() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [map, released] : maps_) released = true;
}
ChangedMaps::State ChangedMaps::state(Address map) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = maps_.find(map);
  if (found == maps_.end()) return State::as_made;
  return found->second ? State::released : State::changed;
}
void ChangedMaps::forget(Address first, std::uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  maps_.erase(maps_.lower_bound(first), maps_.lower_bound(first + bytes));
}

Allocation* GlobalMemory::allocate(std::uint64_t bytes, std::string label) {
  const std::uint64_t slot = kFirstSlot + 2 * slots_.size();
  if (bytes == 0 || bytes >= kSlotBytes || bytes > capacity_ - used_ || slot >= kEndSlot)
    return nullptr;
  auto a = std::make_unique<Allocation>();
  a->base = slot << kOffsetBits;
  a->size = bytes;
  a->label = std::move(label);
  a->data = unique_bytes(bytes);
  std::memset(a->data.get(), static_cast<int>(kPoison), bytes);
  a->initialised = std::make_unique<std::uint8_t[]>(bytes);
  a->live_index = static_cast<std::uint32_t>(live_.size());
  used_ += bytes;
  slots_.push_back(std::move(a));
  live_.push_back(slots_.back().get());
  return live_.back();
}

bool GlobalMemory::release(Address base) {
  Allocation* a = owner(base);
  if (a == nullptr || a->base != base || !a->live()) return false;
  changed_maps_->forget(a->base, a->size);
  used_ -= a->size;
  a->data.reset();
  a->initialised.reset();
  live_[a->live_index] = live_.back();
  live_[a->live_index]->live_index = a->live_index;
  live_.pop_back();
  return true;
}

Allocation* GlobalMemory::nearest(Address address) const {
  if (Allocation* a = owner(address)) return a;
  // An odd slot: the upper half belongs to what follows (a negative index), the lower to what
  // precedes.
  if ((slot_of(address) & 1) == 0) return nullptr;
  const bool below_next = offset_of(address) >= kSlotBytes / 2;
  return owner(below_next ? address + kSlotBytes : address - kSlotBytes);
}

Allocation* GlobalMemory::containing(Address address, std::uint64_t bytes) const {
  Allocation* a = owner(address);
  if (a == nullptr || !a->live()) return nullptr;
  const std::uint64_t offset = address - a->base;
  return offset <= a->size && bytes <= a->size - offset ? a : nullptr;
}

void GlobalMemory::write(Allocation& a, std::uint64_t offset, std::span<const std::byte> src) {
  if (src.empty()) return;
  changed_maps_->forget(a.base + offset, src.size());
  std::memcpy(a.data.get() + offset, src.data(), src.size());
  mark(a, offset, src.size(), true);
}

void GlobalMemory::fill(Allocation& a, std::uint64_t offset, std::byte value, std::uint64_t bytes) {
  changed_maps_->forget(a.base + offset, bytes);
  std::memset(a.data.get() + offset, static_cast<int>(value), bytes);
  mark(a, offset, bytes, true);
}

void GlobalMemory::copy(Allocation& to, std::uint64_t to_offset, const Allocation& from,
                        std::uint64_t from_offset, std::uint64_t bytes) {
  changed_maps_->forget(to.base + to_offset, bytes);
  std::memmove(to.data.get() + to_offset, from.data.get() + from_offset, bytes);
  if (from.fully_initialised) {
    mark(to, to_offset, bytes, true);
  } else {
    std::memmove(to.initialised.get() + to_offset, from.initialised.get() + from_offset, bytes);
    to.fully_initialised = all_set(to.initialised.get(), 0, to.size);
  }
}

void GlobalMemory::mark(Allocation& a, std::uint64_t offset, std::uint64_t bytes,
                        bool initialised) {
  if (bytes == 0 || (initialised && a.fully_initialised)) return;
  std::memset(a.initialised.get() + offset, initialised ? 1 : 0, bytes);
  a.fully_initialised = initialised && all_set(a.initialised.get(), 0, a.size);
}

void GlobalMemory::roll_back() {
  for (Allocation* a : live_) {
    Allocation::LaunchState& s = a->launch;
    s.read = s.stored = s.atomics = false;
    if (!s.saved) continue;
    std::memcpy(a->data.get(), s.saved_data.get(), a->size);
    if (s.saved_initialised != nullptr)
      std::memcpy(a->initialised.get(), s.saved_initialised.get(), a->size);
    if (s.saved_lent != nullptr) a->lent = std::move(s.saved_lent);
    s.saved_data.reset();
    s.saved_initialised.reset();
    s.saved = false;
    s.written = false;
  }
}

void GlobalMemory::commit() {
  for (Allocation* a : live_) {
    Allocation::LaunchState& s = a->launch;
    if (s.saved) {
      if (!a->fully_initialised) a->fully_initialised = all_set(a->initialised.get(), 0, a->size);
      s.saved_data.reset();
      s.saved_initialised.reset();
      s.saved_lent.reset();
    }
    s.saved = s.written = s.read = s.stored = s.atomics = s.keeps_readers = false;
  }
}

bool GlobalMemory::is_initialised(const Allocation& a, std::uint64_t offset, std::uint64_t bytes) {
  return a.fully_initialised || all_set(a.initialised.get(), offset, bytes);
}

}  // namespace simgpu::memory
