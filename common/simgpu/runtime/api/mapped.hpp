// Memory that host and device both see: managed (cudaMallocManaged), page-locked (cudaMallocHost)
// and registered (cudaHostRegister).
//
// The device's memory is not the host's. Each region has bytes on both sides: those of the host
// count, and are copied to the device before a launch and back after it. Managed and page-locked
// regions have one address: the host's pages are mapped at the number that the device gave out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "common/simgpu/runtime/backend.hpp"

namespace simgpu::runtime {

enum class Mapping : std::uint8_t { managed, pinned, registered };

class MappedMemory {
 public:
  /// Not for `registered`. The bytes are zero and count as written.
  cudaError_t allocate(Backend& backend, std::size_t bytes, Mapping kind, void** ptr);
  /// Makes the device see `bytes` bytes of the program's own memory, at another address.
  cudaError_t adopt(Backend& backend, void* host, std::size_t bytes);
  /// False if `host` is not the start of a region of this kind.
  bool release(Backend& backend, void* host, Mapping kind);
  /// All of them, without the device's memory: it is gone.
  void forget();

  /// A region with one address holds this pointer.
  bool holds(const void* p) const;
  /// From such a pointer to its region's end.
  std::size_t bytes_from(const void* p) const;
  std::optional<Mapping> kind_of(const void* p) const;
  /// Where the device sees what the host has at `host`; null if nowhere.
  void* device_address(void* host) const;

  /// Before and after a launch. Which regions a kernel can reach is told by its arguments: a region
  /// that one of them points into, and if any of these is managed, all managed ones.
  cudaError_t to_device(Backend& backend, std::span<const std::byte> args);
  void to_host(Backend& backend);

 private:
  struct Region {
    std::size_t bytes = 0;
    DevicePtr device = 0;
    Mapping kind = Mapping::managed;
    bool reached = false;  ///< by the launch that is running
  };
  const std::pair<const std::uintptr_t, Region>* find(const void* p) const;
  void mark_reached(std::span<const std::byte> args);

  std::map<std::uintptr_t, Region> regions_;  ///< by first address on the host
};

}  // namespace simgpu::runtime
