// Memory that host and device both see: managed (cudaMallocManaged), page-locked (cudaMallocHost)
// and registered (cudaHostRegister), and __managed__ variables.
//
// The device's memory is not the host's. Each region has bytes on both sides: those of the host
// count, and are copied to the device before a launch and back after it. Managed and page-locked
// regions have one address: the host's pages are mapped at the number that the device gave out.
// A variable's place on the host is chosen by the linker; where a launch's arguments name it, they
// are changed to the device's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "common/simgpu/runtime/backend.hpp"

namespace simgpu::runtime {

enum class Mapping : std::uint8_t { managed, pinned, registered, variable };

class MappedMemory {
 public:
  /// Not for `registered` and `variable`. The bytes are zero and count as written.
  cudaError_t allocate(Backend& backend, std::size_t bytes, Mapping kind, void** ptr);
  /// Makes the device see `bytes` bytes of the program's own memory, at another address.
  cudaError_t adopt(Backend& backend, void* host, std::size_t bytes);
  /// `host` and `device` are the two places of one variable.
  void adopt_variable(void* host, DevicePtr device, std::size_t bytes);
  /// False if `host` is not the start of a region of this kind.
  bool release(Backend& backend, void* host, Mapping kind);
  /// All of them, without the device's memory: it is gone.
  void forget();

  /// A region whose bytes on the host are reached by any copy holds this pointer: all but
  /// registered ones.
  bool holds(const void* p) const;
  /// From such a pointer to its region's end.
  std::size_t bytes_from(const void* p) const;
  std::optional<Mapping> kind_of(const void* p) const;
  /// Where the device sees what the host has at `host`; null if nowhere.
  void* device_address(void* host) const;

  /// Before and after a launch. Which regions a kernel can reach is told by its arguments: a region
  /// that one of them points into, and if any of these is managed, all managed ones. Variables are
  /// always reached. Addresses of variables among the arguments become the device's.
  cudaError_t to_device(Backend& backend, std::span<std::byte> args);
  void to_host(Backend& backend);
  /// The same; what the kernel has changed of managed memory is in flight from now on (InFlight).
  void to_host(Backend& backend, const std::string& kernel);
  /// The region that begins at `host` alone.
  void to_host(Backend& backend, void* host);

 private:
  struct Region {
    std::size_t bytes = 0;
    DevicePtr device = 0;
    Mapping kind = Mapping::managed;
    bool reached = false;  ///< by the launch that is running
  };
  const std::pair<const std::uintptr_t, Region>* find(const void* p) const;
  void mark_reached(std::span<const std::byte> args);
  void translate(std::span<std::byte> args) const;

  std::map<std::uintptr_t, Region> regions_;  ///< by first address on the host
};

}  // namespace simgpu::runtime
