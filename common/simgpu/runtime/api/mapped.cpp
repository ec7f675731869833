#include "common/simgpu/runtime/api/mapped.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/simgpu/runtime/api/in_flight.hpp"

namespace simgpu::runtime {
namespace {

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace

cudaError_t MappedMemory::allocate(Backend& backend, std::size_t bytes, Mapping kind, void** ptr) {
  if (bytes > SIZE_MAX - kPage) return cudaErrorMemoryAllocation;
  DevicePtr device = 0;
  if (const cudaError_t error = backend.allocate(bytes, device)) return error;
  void* const wanted = reinterpret_cast<void*>(static_cast<std::uintptr_t>(device));
  void* const got = mmap(wanted, whole_pages(bytes), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != wanted) {
    if (got != MAP_FAILED) munmap(got, whole_pages(bytes));
    backend.release(device);
    return cudaErrorMemoryAllocation;
  }
  regions_[static_cast<std::uintptr_t>(device)] = {bytes, device, kind, false};
  *ptr = got;
  return cudaSuccess;
}

cudaError_t MappedMemory::adopt(Backend& backend, void* host, std::size_t bytes) {
  DevicePtr device = 0;
  if (const cudaError_t error = backend.allocate(bytes, device)) return error;
  regions_[reinterpret_cast<std::uintptr_t>(host)] = {bytes, device, Mapping::registered, false};
  return cudaSuccess;
}

void MappedMemory::adopt_variable(void* host, DevicePtr device, std::size_t bytes) {
  regions_[reinterpret_cast<std::uintptr_t>(host)] = {bytes, device, Mapping::variable, false};
}

bool MappedMemory::release(Backend& backend, void* host, Mapping kind) {
  const auto found = regions_.find(reinterpret_cast<std::uintptr_t>(host));
  if (found == regions_.end() || found->second.kind != kind) return false;
  backend.release(found->second.device);
  InFlight::get().forget(host, found->second.bytes);
  if (kind != Mapping::registered) munmap(host, whole_pages(found->second.bytes));
  regions_.erase(found);
  return true;
}

void MappedMemory::forget() {
  for (const auto& [address, region] : regions_)
    if (region.kind == Mapping::managed || region.kind == Mapping::pinned)
      munmap(reinterpret_cast<void*>(address), whole_pages(region.bytes));
  regions_.clear();
}

const std::pair<const std::uintptr_t, MappedMemory::Region>* MappedMemory::find(
    const void* p) const {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return nullptr;
  --after;
  return address - after->first < after->second.bytes ? &*after : nullptr;
}

bool MappedMemory::holds(const void* p) const {
  const auto* const region = find(p);
  return region != nullptr && region->second.kind != Mapping::registered;
}

std::size_t MappedMemory::bytes_from(const void* p) const {
  const auto* const region = find(p);
  return region == nullptr
             ? 0
             : region->second.bytes - (reinterpret_cast<std::uintptr_t>(p) - region->first);
}

std::optional<Mapping> MappedMemory::kind_of(const void* p) const {
  const auto* const region = find(p);
  if (region == nullptr || region->second.kind == Mapping::registered) return std::nullopt;
  return region->second.kind == Mapping::variable ? Mapping::managed : region->second.kind;
}

void* MappedMemory::device_address(void* host) const {
  const auto* const region = find(host);
  if (region == nullptr) return nullptr;
  const auto offset = reinterpret_cast<std::uintptr_t>(host) - region->first;
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(region->second.device + offset));
}

void MappedMemory::mark_reached(std::span<const std::byte> args) {
  bool managed = false;
  for (auto& [address, region] : regions_) {
    region.reached = region.kind == Mapping::variable;
    for (std::size_t at = 0; at + 8 <= args.size() && !region.reached; at += 4) {
      std::uint64_t value = 0;
      std::memcpy(&value, args.data() + at, sizeof value);
      // The place behind the end as well: kernels walk down from there.
      region.reached = value - region.device <= region.bytes;
    }
    // A variable may be a pointer to any managed memory.
    managed |=
        region.reached && (region.kind == Mapping::managed || region.kind == Mapping::variable);
  }
  if (!managed) return;
  for (auto& [address, region] : regions_) region.reached |= region.kind == Mapping::managed;
}

void MappedMemory::translate(std::span<std::byte> args) const {
  for (std::size_t at = 0; at + 8 <= args.size(); at += 8) {
    std::uint64_t value = 0;
    std::memcpy(&value, args.data() + at, sizeof value);
    const auto* const found = find(reinterpret_cast<const void*>(value));
    if (found == nullptr || found->second.kind != Mapping::variable) continue;
    value = found->second.device + (value - found->first);
    std::memcpy(args.data() + at, &value, sizeof value);
  }
}

cudaError_t MappedMemory::to_device(Backend& backend, std::span<std::byte> args) {
  translate(args);
  mark_reached(args);
  for (const auto& [address, region] : regions_) {
    if (!region.reached) continue;
    if (const cudaError_t error =
            backend.copy_in(region.device, reinterpret_cast<const void*>(address), region.bytes))
      return error;
  }
  return cudaSuccess;
}

void MappedMemory::to_host(Backend& backend) {
  for (auto& [address, region] : regions_)
    if (region.reached)
      backend.copy_out(reinterpret_cast<void*>(address), region.device, region.bytes, 1);
}

void MappedMemory::to_host(Backend& backend, const std::string& kernel) {
  // A kernel may write what is there already, as a 0 at the beginning: neighbours of what it has changed count
  // as written.
  constexpr std::size_t kNear = 16;
  for (auto& [address, region] : regions_) {
    if (!region.reached) continue;
    auto* const host = reinterpret_cast<std::byte*>(address);
    if (region.kind != Mapping::managed) {
      backend.copy_out(host, region.device, region.bytes, 1);
      continue;
    }
    std::vector<std::byte> now(region.bytes);
    if (backend.copy_out(now.data(), region.device, region.bytes, 1) != cudaSuccess) continue;
    std::size_t first = 0, end = 0;
    const auto written = [&] {
      if (end <= first) return;
      first -= std::min(first, kNear);
      InFlight::get().begin(host, first, std::min(end + kNear, now.size()) - first, true, kernel);
      first = end = 0;
    };
    // Of neighbouring pages that have changed, from the first byte that has to the last.
    for (std::size_t page = 0; page < now.size(); page += kPage) {
      const std::size_t behind = std::min(page + kPage, now.size());
      const auto [was, is] = std::mismatch(host + page, host + behind, now.data() + page);
      if (was == host + behind) {
        written();
        continue;
      }
      if (end == 0) first = static_cast<std::size_t>(was - host);
      for (end = behind; host[end - 1] == now[end - 1];) --end;
    }
    written();
    std::memcpy(host, now.data(), now.size());
  }
}

void MappedMemory::to_host(Backend& backend, void* host) {
  const auto found = regions_.find(reinterpret_cast<std::uintptr_t>(host));
  if (found != regions_.end()) backend.copy_out(host, found->second.device, found->second.bytes, 1);
}

}  // namespace simgpu::runtime
