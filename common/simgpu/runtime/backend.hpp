// What the CUDA runtime API stands on: a device in this process (local/) or a judge's behind a
// socket (remote/).
//
// A backend knows device addresses, kernels by name and errors; it knows nothing of streams,
// events, host memory, last errors or host stubs, which are the API's (api/). Calls come one at a
// time: the API holds a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/simgpu/device.hpp"
#include "common/simgpu/include/driver_types.h"
#include "common/simgpu/runtime/error_cause.hpp"
#include "common/simgpu/tensor_map.hpp"

namespace simgpu::runtime {

/// One translation unit's embedded device code; numbers are never reused.
using ImageId = std::uint32_t;

struct KernelName {
  ImageId image = 0;
  std::string mangled;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual const DeviceModel& model() = 0;

  /// Called before main. `ptx` stays valid until the process ends and may be empty. Parsing waits
  /// until something of the image is used.
  virtual void add_image(ImageId image, std::string_view ptx) = 0;

  virtual cudaError_t allocate(std::size_t bytes, DevicePtr& ptr) = 0;  ///< bytes > 0
  virtual cudaError_t release(DevicePtr ptr) = 0;
  virtual cudaError_t copy_in(DevicePtr dst, const void* src, std::size_t bytes) = 0;
  /// `element_align`: what the elements of `dst` are aligned to, in bytes. Nothing need have written
  /// the padding before a multiple of it; everything else should have been written.
  virtual cudaError_t copy_out(void* dst, DevicePtr src, std::size_t bytes,
                               std::size_t element_align) = 0;
  virtual cudaError_t copy(DevicePtr dst, DevicePtr src, std::size_t bytes) = 0;
  /// `rows` of `width` bytes, which is no more than either pitch, in this order.
  virtual cudaError_t copy_rows(DevicePtr dst, std::size_t dst_pitch, DevicePtr src,
                                std::size_t src_pitch, std::size_t width, std::size_t rows) {
    cudaError_t error = cudaSuccess;
    for (; rows > 0 && error == cudaSuccess; --rows, dst += dst_pitch, src += src_pitch)
      error = copy(dst, src, width);
    return error;
  }
  virtual cudaError_t fill(DevicePtr dst, std::uint8_t value, std::size_t bytes) = 0;
  /// The live allocation or module variable that holds `ptr`; false if there is none.
  virtual bool find(DevicePtr ptr, DevicePtr& base, std::uint64_t& bytes) = 0;
  virtual cudaError_t memory_info(std::uint64_t& free_bytes, std::uint64_t& total_bytes) = 0;

  virtual cudaError_t kernel_info(const KernelName& kernel, KernelInfo& info) = 0;
  virtual cudaError_t variable(ImageId image, const std::string& mangled, DevicePtr& ptr,
                               std::uint64_t& bytes) = 0;
  virtual cudaError_t set_max_dynamic_shared(const KernelName& kernel, unsigned bytes) = 0;
  /// Configuration errors only: what goes wrong on the device shows at the next `synchronize`.
  /// `cluster`: 0 = as the kernel says.
  virtual cudaError_t launch(const KernelName& kernel, Dim3 grid, Dim3 block, Dim3 cluster,
                             unsigned shared_bytes, std::span<const std::byte> args) = 0;
  /// Whether launches are to note what they read and write, and what the last one did.
  virtual void note_touched(bool wanted) { (void)wanted; }
  virtual std::vector<TouchedBytes> touched() { return {}; }
  virtual GridControl grid_control() { return {}; }  ///< of the last launch
  /// The next launch may begin before this kernel has ended. Once for each.
  virtual void begins_early(EarlierKernel earlier) { (void)earlier; }
  /// Waits for everything launched. An error here is sticky: the device is lost.
  virtual cudaError_t synchronize() = 0;
  /// Everything as at the start of the process: memory freed, variables as initialised, no error.
  virtual cudaError_t reset() = 0;

  /// The program called something that the simulated GPU does not have. Once per `call`.
  virtual void note_unsupported(std::string_view call, std::string_view why) = 0;
  /// A time that was asked for is 0.
  virtual void note_no_time(std::string_view call, std::string_view why) {
    note_unsupported(call, why);
  }
  /// `call` is about to return `error` to the program; `why` may be empty. Not for sticky
  /// repetitions.
  virtual void note_error(std::string_view call, cudaError_t error, std::string_view why,
                          ErrorCause cause) = 0;
  /// Whether somebody wants to know of mistakes of the host's that no call returns.
  virtual bool takes_findings() const { return false; }
  /// Such a mistake: counts as a finding.
  virtual void note_finding(std::string_view what) { (void)what; }
  /// A launcher that was given a stream put `work` into a default stream: a kernel's name, or a
  /// call's. Nobody but a grader gives streams.
  virtual void note_default_stream(std::string_view work) { (void)work; }
  /// Of a call to the runner: this work, in a stream of its own, may go on when the call is over.
  virtual void note_unordered(std::string_view work) { (void)work; }
  /// The driver's encoder refused a tensor map. The runtime's last error does not change by it, and
  /// a program may well go on without a map.
  virtual void note_refused_map(BrokenRule broken) { (void)broken; }
};

/// Defined by the library that is linked: libsimgpu_cudart_local.a or libsimgpu_cudart_remote.a.
std::unique_ptr<Backend> make_backend();

}  // namespace simgpu::runtime
