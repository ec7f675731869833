// The simulated GPU as a device: memory, modules, launches, and what each launch did.
//
// Device is the engine's whole interface. It knows nothing of the CUDA runtime, of labs or of
// grading, so a judge can own one in a process of its own. Addresses are virtual: an allocation and
// an offset, never a host pointer. The same input gives the same report, whatever the number of host
// threads. A Device may be used by one thread at a time; all sizes are in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/simgpu/options.hpp"
#include "common/simgpu/ptx/parse_error.hpp"
#include "common/simgpu/report.hpp"

namespace simgpu {

/// Configuration errors, as CUDA returns them before a kernel runs.
enum class Status : std::uint8_t {
  success,
  invalid_value,
  out_of_memory,
  invalid_device_function,
  invalid_configuration,
  launch_out_of_resources,
  invalid_cluster,
  invalid_module,
  unsupported,
};

/// Base of everything Device throws: `what()` says what happened, where, and what to do.
struct DeviceError : std::runtime_error {
  DeviceError(Status s, const std::string& message) : std::runtime_error(message), status(s) {}
  Status status;
};

struct KernelParam {
  std::uint32_t offset = 0, size = 0, align = 1;  ///< bytes
};

/// What is known about a kernel before it runs.
struct KernelInfo {
  std::string mangled, name;
  std::vector<KernelParam> params;
  std::uint32_t param_bytes = 0;
  unsigned static_shared_bytes = 0, local_bytes_per_thread = 0, const_bytes = 0;
  unsigned max_threads_per_block = 1024;  ///< from __launch_bounds__, else the device's
  unsigned live_registers = 0;   ///< per thread, 32 bits each: RegisterEstimate::live_registers
  bool lets_next_begin = false;  ///< griddepcontrol.launch_dependents
  std::string unsupported;       ///< why it cannot run here, "" = it can
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
  /// A store to a read-only allocation is a finding (write_to_constant).
  void set_read_only(DevicePtr base, bool read_only);

  /// Host-side copies. Throw DeviceError(invalid_value) if they leave an allocation. write() and
  /// fill() mark bytes as initialised, copy() copies the marks; read() returns whatever is there.
  void write(DevicePtr dst, std::span<const std::byte> src);
  void read(std::span<std::byte> dst, DevicePtr src) const;
  void copy(DevicePtr dst, DevicePtr src, std::size_t bytes);
  void fill(DevicePtr dst, std::byte value, std::size_t bytes);
  void mark_uninitialised(DevicePtr ptr, std::size_t bytes);
  bool is_initialised(DevicePtr ptr, std::size_t bytes) const;
  /// For each byte: 0 if nothing has written it, else the size of the element that a kernel stored
  /// there last, or 1 if it was copied or filled.
  std::vector<std::uint8_t> written_by(DevicePtr ptr, std::size_t bytes) const;
  struct Allocation {
    DevicePtr base;
    std::size_t bytes;
    std::string label;
  };
  std::optional<Allocation> find(DevicePtr ptr) const;  ///< the live one that holds `ptr`, if any
  std::size_t bytes_in_use() const;

  /// Throws ptx::ParseError, or DeviceError(out_of_memory) for its variables. `known`: this text was
  /// loaded before and found to be good, so each kernel is parsed only when it is first asked for.
  /// `marked`: the same code with marks for values that nothing has set (flags/unset.awk); launches
  /// run it as well. Ignored if its functions are not the same.
  ModuleId load_module(std::string ptx, bool known = false, std::string marked = {});
  void unload_module(ModuleId module);
  std::vector<KernelInfo> kernels(ModuleId module) const;
  std::optional<KernelInfo> kernel(ModuleId module, std::string_view mangled) const;
  /// A __device__ or __constant__ variable by its mangled name, null if there is none. Stores its
  /// size in `bytes`.
  DevicePtr variable(ModuleId module, std::string_view mangled, std::size_t* bytes = nullptr) const;

  /// Allows more than 48 KiB of dynamic shared memory (cudaFuncAttributeMaxDynamicSharedMemorySize).
  /// Throws DeviceError(invalid_value) beyond what a block can have.
  void set_max_dynamic_shared(ModuleId module, std::string_view mangled, unsigned bytes);

  /// Runs a grid to its end. `args` is the kernel's parameter block, laid out as KernelInfo::params
  /// says. Throws DeviceError where CUDA would return a configuration error, and std::bad_alloc if
  /// the host is short of memory; both leave global memory unchanged. What goes wrong on the device
  /// is in the report.
  LaunchReport launch(ModuleId module, std::string_view mangled, Dim3 grid, Dim3 block,
                      unsigned dynamic_shared_bytes, std::span<const std::byte> args,
                      const LaunchOptions& options = {});

  /// Only checks the configuration, and throws as launch() does.
  void validate_launch(ModuleId module, std::string_view mangled, Dim3 grid, Dim3 block,
                       unsigned dynamic_shared_bytes, std::size_t arg_bytes) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace simgpu
