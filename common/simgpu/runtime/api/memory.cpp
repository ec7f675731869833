// Memory: allocation, host memory, copies in one and two dimensions, symbols, queries.

#include <cstdlib>
#include <cstring>
#include <new>

#include "common/simgpu/runtime/api/in_flight.hpp"
#include "common/simgpu/runtime/api/state.hpp"
#include "common/simgpu/runtime/api/stream_order.hpp"
#include "common/simgpu/runtime/backend.hpp"

using simgpu::DevicePtr;
using simgpu::TouchedBytes;
using simgpu::runtime::Backend;
using simgpu::runtime::bad_stream;
using simgpu::runtime::device_ptr;
using simgpu::runtime::ErrorCause;
using simgpu::runtime::HostRange;
using simgpu::runtime::InFlight;
using simgpu::runtime::is_stream;
using simgpu::runtime::Mapping;
using simgpu::runtime::RegisteredVariable;
using simgpu::runtime::State;
using simgpu::runtime::StreamOrder;

namespace {

/// Rows from cudaMallocPitch start at multiples of this, as on compute capability 8.0.
constexpr std::size_t kPitchAlignment = 512;

bool is_device(State& state, const void* p) {
  if (state.mapped.holds(p)) return false;  // the host's bytes are the ones that count
  DevicePtr base = 0;
  std::uint64_t bytes = 0;
  return p && state.backend().find(device_ptr(p), base, bytes);
}

cudaError_t allocate(State& state, const char* call, void** ptr, std::size_t bytes) {
  if (!ptr) return state.fail(call, cudaErrorInvalidValue, "the pointer to fill in is null");
  *ptr = nullptr;
  if (bytes == 0) return cudaSuccess;
  DevicePtr address = 0;
  const cudaError_t error = state.backend().allocate(bytes, address);
  if (error != cudaSuccess) return state.fail(call, error);
  *ptr = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
  return cudaSuccess;
}

/// A copy of `height` rows of `width` bytes. One row may be as long as a whole one-dimensional
/// copy.
struct Copy {
  void* dst = nullptr;
  const void* src = nullptr;
  std::size_t dst_pitch = 0, src_pitch = 0, width = 0, height = 1;
  cudaMemcpyKind kind = cudaMemcpyDefault;
  cudaStream_t stream = cudaStreamLegacy;
  bool host_waits = true;
  std::size_t element_align = 1;  ///< bytes; of what is copied to the host (Backend::copy_out)
};

/// Rows of device memory.
void add_rows(std::vector<TouchedBytes>& to, const void* first, std::size_t pitch,
              std::size_t width, std::size_t height, bool written) {
  for (std::size_t row = 0; row < height; ++row) {
    const DevicePtr at = device_ptr(first) + row * pitch;
    to.push_back({at, at + width, written});
  }
}

/// Work that is no kernel, and touches these bytes.
void order_work(State& state, const char* call, cudaStream_t stream, bool host_waits,
                const std::vector<TouchedBytes>& bytes) {
  StreamOrder& order = StreamOrder::get();
  order.take_running(stream);
  if (!order.matters()) return;
  order.work(state.backend(), stream, call, bytes);
  if (host_waits) order.host_waits(stream);
}

/// What CUDA refuses, cudaSuccess if nothing.
cudaError_t check_copy(State& state, const char* call, const Copy& c) {
  if (c.kind < cudaMemcpyHostToHost || c.kind > cudaMemcpyDefault) {
    return state.fail(call, cudaErrorInvalidMemcpyDirection, "there is no such cudaMemcpyKind");
  }
  if (c.width == 0 || c.height == 0) return cudaSuccess;
  if (c.height > 1 && (c.dst_pitch < c.width || c.src_pitch < c.width)) {
    return state.fail(call, cudaErrorInvalidPitchValue, "a row is wider than the pitch");
  }
  if (!c.dst || !c.src) {
    return state.fail(call, cudaErrorInvalidValue,
                      c.dst ? "the source pointer is null" : "the destination pointer is null");
  }
  return cudaSuccess;
}

/// The copy has its place in the order of streams.
void order_copy(State& state, const char* call, const Copy& c, bool to_device, bool from_device) {
  std::vector<TouchedBytes> bytes;
  if (from_device) add_rows(bytes, c.src, c.src_pitch, c.width, c.height, false);
  if (to_device) add_rows(bytes, c.dst, c.dst_pitch, c.width, c.height, true);
  // A copy to memory that is not page-locked has ended when the call returns.
  const bool pageable =
      from_device && !to_device && !state.mapped.holds(c.dst) && state.host_ranges.empty();
  order_work(state, call, c.stream, c.host_waits || pageable, bytes);
}

cudaError_t move_rows(Backend& backend, const Copy& c, bool to_device, bool from_device) {
  if (to_device && from_device)
    return backend.copy_rows(device_ptr(c.dst), c.dst_pitch, device_ptr(c.src), c.src_pitch,
                             c.width, c.height);
  auto* dst = static_cast<std::byte*>(c.dst);
  auto* src = static_cast<const std::byte*>(c.src);
  for (std::size_t row = 0; row < c.height; ++row, dst += c.dst_pitch, src += c.src_pitch) {
    cudaError_t error = cudaSuccess;
    if (to_device)
      error = backend.copy_in(device_ptr(dst), src, c.width);
    else if (from_device)
      error = backend.copy_out(dst, device_ptr(src), c.width, c.element_align);
    else
      std::memmove(dst, src, c.width);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

std::string not_of_device(const State& state, const void* pointer, const char* which) {
  const std::string shadow = state.shadow_text(pointer);
  return std::string(which) + " is not device memory, but the kind says so" +
         (shadow.empty() ? "" : "; " + shadow);
}

cudaError_t run_copy(State& state, const char* call, Copy c) {
  if (const cudaError_t error = check_copy(state, call, c); error != cudaSuccess) return error;
  if (c.width == 0 || c.height == 0) return cudaSuccess;
  const InFlight::Pause pause;
  // Rows without gaps are one long row.
  if (c.height > 1 && c.dst_pitch == c.width && c.src_pitch == c.width &&
      c.height <= SIZE_MAX / c.width) {
    c.width *= c.height;
    c.height = 1;
  }
  const bool dst_device = is_device(state, c.dst), src_device = is_device(state, c.src);
  bool to_device = dst_device, from_device = src_device;
  if (c.kind != cudaMemcpyDefault) {
    to_device = c.kind == cudaMemcpyHostToDevice || c.kind == cudaMemcpyDeviceToDevice;
    from_device = c.kind == cudaMemcpyDeviceToHost || c.kind == cudaMemcpyDeviceToDevice;
    // Memory that both sides see is on whichever side the kind says.
    if (state.mapped.holds(c.dst)) to_device = false;
    if (state.mapped.holds(c.src)) from_device = false;
    // A pointer of the wrong side would crash the program below; CUDA says so instead.
    if (to_device != dst_device) {
      return state.fail(call, cudaErrorInvalidValue,
                        to_device ? not_of_device(state, c.dst, "the destination")
                                  : "the destination is device memory, but the kind says host",
                        to_device ? ErrorCause::other : ErrorCause::device_as_host);
    }
    if (from_device != src_device) {
      return state.fail(call, cudaErrorInvalidValue,
                        from_device ? not_of_device(state, c.src, "the source")
                                    : "the source is device memory, but the kind says host",
                        from_device ? ErrorCause::other : ErrorCause::device_as_host);
    }
  }
  if (const cudaError_t error = move_rows(state.backend(), c, to_device, from_device))
    return state.fail(call, error);
  order_copy(state, call, c, to_device, from_device);
  return cudaSuccess;
}

cudaError_t run_fill(State& state, const char* call, void* ptr, std::size_t pitch, int value,
                     std::size_t width, std::size_t height,
                     cudaStream_t stream = cudaStreamLegacy) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (!ptr) return state.fail(call, cudaErrorInvalidValue, "the pointer is null");
  const InFlight::Pause pause;
  if (height > 1 && pitch < width) {
    return state.fail(call, cudaErrorInvalidPitchValue, "a row is wider than the pitch");
  }
  if (height > 1 && pitch == width && height <= SIZE_MAX / width) {
    width *= height;
    height = 1;
  }
  if (state.mapped.holds(ptr)) {
    const std::size_t room = state.mapped.bytes_from(ptr);
    if (width > room || (height > 1 && (room - width) / pitch < height - 1))
      return state.fail(call, cudaErrorInvalidValue, "the memory is smaller");
    for (std::size_t row = 0; row < height; ++row)
      std::memset(static_cast<std::byte*>(ptr) + row * pitch, value, width);
    return cudaSuccess;
  }
  for (std::size_t row = 0; row < height; ++row) {
    const cudaError_t error = state.backend().fill(device_ptr(ptr) + row * pitch,
                                                   static_cast<std::uint8_t>(value), width);
    if (error != cudaSuccess) return state.fail(call, error, state.shadow_text(ptr));
  }
  std::vector<TouchedBytes> bytes;
  add_rows(bytes, ptr, pitch, width, height, true);
  order_work(state, call, stream, false, bytes);
  return cudaSuccess;
}

/// Where `bytes` bytes at `offset` of a variable are on the device; null, with the error recorded,
/// if they are not.
void* symbol_address(State& state, const char* call, const void* symbol, std::size_t offset,
                     std::size_t bytes, cudaError_t& error, std::size_t* size = nullptr) {
  const RegisteredVariable* variable = state.variable(symbol);
  if (!variable) {
    error = state.fail(call, cudaErrorInvalidSymbol,
                       "this is no __device__ or __constant__ variable (pass the variable itself, "
                       "not its address)");
    return nullptr;
  }
  DevicePtr address = 0;
  std::uint64_t whole = 0;
  error = state.backend().variable(variable->image, variable->mangled, address, whole);
  if (error != cudaSuccess) {
    state.fail(call, error);
    return nullptr;
  }
  if (offset > whole || bytes > whole - offset) {
    error = state.fail(call, cudaErrorInvalidValue,
                       "the variable has " + std::to_string(whole) + " bytes");
    return nullptr;
  }
  if (size) *size = whole;
  // The bytes of a __managed__ variable that count are the host's.
  if (state.mapped.holds(symbol))
    return const_cast<std::byte*>(static_cast<const std::byte*>(symbol)) + offset;
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address + offset));
}

/// Page-locked memory: kernels reach it, too, at the same address.
cudaError_t host_allocate(State& state, const char* call, void** ptr, std::size_t bytes) {
  if (!ptr) return state.fail(call, cudaErrorInvalidValue, "the pointer to fill in is null");
  *ptr = nullptr;
  if (bytes == 0) return cudaSuccess;
  const cudaError_t error = state.mapped.allocate(state.backend(), bytes, Mapping::pinned, ptr);
  return state.done(call, error);
}

}  // namespace

// ---- device memory

cudaError_t cudaMalloc(void** ptr, size_t bytes) {
  SIMGPU_API_BEGIN;
  if (const cudaError_t error = state.synchronize("cudaMalloc")) return error;
  return allocate(state, "cudaMalloc", ptr, bytes);
}

cudaError_t cudaMallocPitch(void** ptr, size_t* pitch, size_t width, size_t height) {
  SIMGPU_API_BEGIN;
  if (const cudaError_t error = state.synchronize("cudaMallocPitch")) return error;
  if (!pitch)
    return state.fail("cudaMallocPitch", cudaErrorInvalidValue, "the pitch pointer is null");
  if (width > SIZE_MAX - kPitchAlignment) {
    return state.fail("cudaMallocPitch", cudaErrorMemoryAllocation);
  }
  *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  if (*pitch && height > SIZE_MAX / *pitch) {
    return state.fail("cudaMallocPitch", cudaErrorMemoryAllocation);
  }
  return allocate(state, "cudaMallocPitch", ptr, *pitch * height);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* ptr, cudaExtent extent) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaMalloc3D";
  if (!ptr) return state.fail(call, cudaErrorInvalidValue, "the pointer to fill in is null");
  *ptr = {nullptr, 0, extent.width, extent.height};
  if (extent.depth && extent.height > SIZE_MAX / extent.depth)
    return state.fail(call, cudaErrorMemoryAllocation);
  return cudaMallocPitch(&ptr->ptr, &ptr->pitch, extent.width, extent.height * extent.depth);
}

cudaError_t cudaMallocAsync(void** ptr, size_t bytes, cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaMallocAsync");
  state.goes_to(stream, "cudaMallocAsync");
  const cudaError_t error = allocate(state, "cudaMallocAsync", ptr, bytes);
  if (error == cudaSuccess && *ptr != nullptr)
    order_work(state, "cudaMallocAsync", stream, false,
               {{device_ptr(*ptr), device_ptr(*ptr) + bytes, true}});
  return error;
}

cudaError_t cudaFree(void* ptr) {
  SIMGPU_API_BEGIN;
  if (const cudaError_t error = state.synchronize("cudaFree")) return error;
  StreamOrder::get().host_waits_for_all();
  if (!ptr || state.mapped.release(state.backend(), ptr, Mapping::managed)) return cudaSuccess;
  if (state.mapped.kind_of(ptr) == Mapping::pinned)
    return state.fail("cudaFree", cudaErrorInvalidValue,
                      "it is page-locked memory of the host: cudaFreeHost() gives it back");
  return state.done("cudaFree", state.backend().release(device_ptr(ptr)));
}

cudaError_t cudaFreeAsync(void* ptr, cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaFreeAsync");
  state.goes_to(stream, "cudaFreeAsync");
  if (!ptr) return cudaSuccess;
  if (state.mapped.kind_of(ptr) == Mapping::pinned)
    return state.fail("cudaFreeAsync", cudaErrorInvalidValue,
                      "it is page-locked memory of the host: cudaFreeHost() gives it back");
  DevicePtr base = 0;
  std::uint64_t bytes = 0;
  if (state.backend().find(device_ptr(ptr), base, bytes) && base == device_ptr(ptr)) {
    order_work(state, "cudaFreeAsync", stream, false, {{base, base + bytes, true}});
    StreamOrder::get().forget_memory(base, base + bytes);
  }
  return state.done("cudaFreeAsync", state.backend().release(device_ptr(ptr)));
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  SIMGPU_API_BEGIN;
  std::uint64_t unused = 0, total = 0;
  const cudaError_t error = state.backend().memory_info(unused, total);
  if (error != cudaSuccess) return state.fail("cudaMemGetInfo", error);
  if (free_bytes) *free_bytes = unused;
  if (total_bytes) *total_bytes = total;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* ptr) {
  SIMGPU_API_BEGIN;
  if (!attributes) {
    return state.fail("cudaPointerGetAttributes", cudaErrorInvalidValue,
                      "the pointer to fill in is null");
  }
  *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, nullptr};
  if (const auto kind = state.mapped.kind_of(ptr)) {
    const bool managed = *kind == Mapping::managed;
    *attributes = {managed ? cudaMemoryTypeManaged : cudaMemoryTypeHost, 0, const_cast<void*>(ptr),
                   const_cast<void*>(ptr)};
    return cudaSuccess;
  }
  if (is_device(state, ptr)) {
    *attributes = {cudaMemoryTypeDevice, 0, const_cast<void*>(ptr), nullptr};
    return cudaSuccess;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(ptr);
  auto range = state.host_ranges.upper_bound(address);
  if (range != state.host_ranges.begin() &&
      (--range, address - range->first < range->second.bytes)) {
    *attributes = {cudaMemoryTypeHost, 0, state.mapped.device_address(const_cast<void*>(ptr)),
                   const_cast<void*>(ptr)};
  }
  return cudaSuccess;
}

// ---- host memory

cudaError_t cudaMallocHost(void** ptr, size_t bytes) {
  SIMGPU_API_BEGIN;
  return host_allocate(state, "cudaMallocHost", ptr, bytes);
}

cudaError_t cudaHostAlloc(void** ptr, size_t bytes, unsigned int flags) {
  SIMGPU_API_BEGIN;
  if (flags & ~7u) return state.fail("cudaHostAlloc", cudaErrorInvalidValue, "unknown flags");
  return host_allocate(state, "cudaHostAlloc", ptr, bytes);
}

cudaError_t cudaFreeHost(void* ptr) {
  SIMGPU_API_BEGIN;
  if (const cudaError_t error = state.synchronize("cudaFreeHost")) return error;
  StreamOrder::get().host_waits_for_all();
  if (!ptr) return cudaSuccess;
  if (!state.mapped.release(state.backend(), ptr, Mapping::pinned)) {
    return state.fail("cudaFreeHost", cudaErrorInvalidValue,
                      "the pointer does not come from cudaMallocHost or cudaHostAlloc");
  }
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void* ptr, size_t bytes, unsigned int flags) {
  SIMGPU_API_BEGIN;
  if (!ptr || !bytes) return state.fail("cudaHostRegister", cudaErrorInvalidValue);
  (void)flags;
  const auto address = reinterpret_cast<std::uintptr_t>(ptr);
  if (!state.host_ranges.emplace(address, HostRange{bytes}).second) {
    return state.fail("cudaHostRegister", cudaErrorHostMemoryAlreadyRegistered);
  }
  const cudaError_t error = state.mapped.adopt(state.backend(), ptr, bytes);
  if (error != cudaSuccess) state.host_ranges.erase(address);
  return state.done("cudaHostRegister", error);
}

cudaError_t cudaHostUnregister(void* ptr) {
  SIMGPU_API_BEGIN;
  const auto found = state.host_ranges.find(reinterpret_cast<std::uintptr_t>(ptr));
  if (found == state.host_ranges.end()) {
    if (state.mapped.kind_of(ptr) == Mapping::pinned)
      return state.fail("cudaHostUnregister", cudaErrorInvalidValue,
                        "it was allocated page-locked: cudaFreeHost() gives it back");
    return state.fail("cudaHostUnregister", cudaErrorHostMemoryNotRegistered);
  }
  state.mapped.release(state.backend(), ptr, Mapping::registered);
  state.host_ranges.erase(found);
  return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  SIMGPU_API_BEGIN;
  if (!device || flags) return state.fail("cudaHostGetDevicePointer", cudaErrorInvalidValue);
  *device = state.mapped.device_address(host);
  if (*device) return cudaSuccess;
  return state.fail("cudaHostGetDevicePointer", cudaErrorInvalidValue,
                    "the pointer does not come from cudaHostAlloc, and was not registered");
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
  SIMGPU_API_BEGIN;
  if (!flags || !state.mapped.device_address(host))
    return state.fail("cudaHostGetFlags", cudaErrorInvalidValue);
  *flags = cudaHostAllocMapped;
  return cudaSuccess;
}

// ---- managed memory

cudaError_t cudaMallocManaged(void** ptr, size_t bytes, unsigned int flags) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaMallocManaged";
  if (!ptr) return state.fail(call, cudaErrorInvalidValue, "the pointer to fill in is null");
  *ptr = nullptr;
  if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
    return state.fail(call, cudaErrorInvalidValue);
  return state.done(call, state.mapped.allocate(state.backend(), bytes, Mapping::managed, ptr));
}

// Hints: there is one place for the bytes.
cudaError_t cudaMemPrefetchAsync(const void* ptr, size_t, int, cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaMemPrefetchAsync");
  return state.mapped.holds(ptr) ? cudaSuccess
                                 : state.fail("cudaMemPrefetchAsync", cudaErrorInvalidValue,
                                              "the pointer does not come from cudaMallocManaged");
}
cudaError_t cudaMemAdvise(const void* ptr, size_t, cudaMemoryAdvise, int) {
  SIMGPU_API_BEGIN;
  return state.mapped.holds(ptr) ? cudaSuccess
                                 : state.fail("cudaMemAdvise", cudaErrorInvalidValue,
                                              "the pointer does not come from cudaMallocManaged");
}
cudaError_t cudaMemPrefetchAsync(const void* ptr, size_t bytes, cudaMemLocation location,
                                 unsigned int, cudaStream_t stream) {
  return cudaMemPrefetchAsync(ptr, bytes, location.id, stream);
}
cudaError_t cudaMemAdvise(const void* ptr, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return cudaMemAdvise(ptr, bytes, advice, location.id);
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void*, size_t, unsigned int) {
  SIMGPU_API_BEGIN;
  return is_stream(stream) ? cudaSuccess : bad_stream(state, "cudaStreamAttachMemAsync");
}

// ---- copies

cudaError_t __simgpuMemcpy(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind,
                           size_t element_align) {
  SIMGPU_API_BEGIN;
  if (const cudaError_t error = state.synchronize("cudaMemcpy")) return error;
  return run_copy(state, "cudaMemcpy",
                  {dst, src, bytes, bytes, bytes, 1, kind, cudaStreamLegacy, true, element_align});
}
cudaError_t cudaMemcpy(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind) {
  return __simgpuMemcpy(dst, src, bytes, kind, 1);
}

// "Async" copies happen at once: an order that CUDA allows too. They do not wait for a fault to
// show.
cudaError_t __simgpuMemcpyAsync(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind,
                                cudaStream_t stream, size_t element_align) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaMemcpyAsync");
  state.goes_to(stream, "cudaMemcpyAsync");
  const cudaError_t error =
      run_copy(state, "cudaMemcpyAsync",
               {dst, src, bytes, bytes, bytes, 1, kind, stream, false, element_align});
  if (error == cudaSuccess && state.backend().takes_findings()) {
    // Copies of pageable memory have read or written it when they return.
    if (state.mapped.kind_of(dst) == Mapping::pinned && is_device(state, src))
      InFlight::get().begin(dst, 0, bytes, true, "cudaMemcpyAsync");
    if (state.mapped.kind_of(src) == Mapping::pinned && is_device(state, dst))
      InFlight::get().begin(src, 0, bytes, false, "cudaMemcpyAsync");
  }
  return error;
}
cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return __simgpuMemcpyAsync(dst, src, bytes, kind, stream, 1);
}

cudaError_t cudaMemcpy2D(void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  SIMGPU_API_BEGIN;
  if (const cudaError_t error = state.synchronize("cudaMemcpy2D")) return error;
  return run_copy(state, "cudaMemcpy2D", {dst, src, dst_pitch, src_pitch, width, height, kind});
}

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaMemcpy2DAsync");
  state.goes_to(stream, "cudaMemcpy2DAsync");
  return run_copy(state, "cudaMemcpy2DAsync",
                  {dst, src, dst_pitch, src_pitch, width, height, kind, stream, false});
}

cudaError_t cudaMemset(void* ptr, int value, size_t bytes) {
  SIMGPU_API_BEGIN;
  state.goes_to(cudaStreamLegacy, "cudaMemset");  // it does not wait until the memory is filled
  return run_fill(state, "cudaMemset", ptr, bytes, value, bytes, 1);
}

cudaError_t cudaMemsetAsync(void* ptr, int value, size_t bytes, cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaMemsetAsync");
  state.goes_to(stream, "cudaMemsetAsync");
  return run_fill(state, "cudaMemsetAsync", ptr, bytes, value, bytes, 1, stream);
}

cudaError_t cudaMemset2D(void* ptr, size_t pitch, int value, size_t width, size_t height) {
  SIMGPU_API_BEGIN;
  state.goes_to(cudaStreamLegacy, "cudaMemset2D");
  return run_fill(state, "cudaMemset2D", ptr, pitch, value, width, height);
}

cudaError_t cudaMemset2DAsync(void* ptr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaMemset2DAsync");
  state.goes_to(stream, "cudaMemset2DAsync");
  return run_fill(state, "cudaMemset2DAsync", ptr, pitch, value, width, height, stream);
}

// ---- volumes: one copy of two dimensions for each slice

namespace {

std::byte* slice(const cudaPitchedPtr& p, const cudaPos& at, std::size_t z) {
  return static_cast<std::byte*>(p.ptr) + ((at.z + z) * p.ysize + at.y) * p.pitch + at.x;
}

cudaError_t copy_volume(State& state, const char* call, const cudaMemcpy3DParms* p) {
  if (!p) return state.fail(call, cudaErrorInvalidValue, "the parameters are missing");
  if (p->srcArray || p->dstArray || !p->srcPtr.ptr || !p->dstPtr.ptr)
    return state.fail(call, cudaErrorInvalidValue, "both sides are pointers here, none an array");
  for (std::size_t z = 0; z < p->extent.depth; ++z)
    if (const cudaError_t error = run_copy(
            state, call,
            {slice(p->dstPtr, p->dstPos, z), slice(p->srcPtr, p->srcPos, z), p->dstPtr.pitch,
             p->srcPtr.pitch, p->extent.width, p->extent.height, p->kind}))
      return error;
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  SIMGPU_API_BEGIN;
  if (const cudaError_t error = state.synchronize("cudaMemcpy3D")) return error;
  return copy_volume(state, "cudaMemcpy3D", parameters);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaMemcpy3DAsync");
  state.goes_to(stream, "cudaMemcpy3DAsync");
  return copy_volume(state, "cudaMemcpy3DAsync", parameters);
}
namespace {

cudaError_t fill_volume(State& state, const char* call, const cudaPitchedPtr& ptr, int value,
                        const cudaExtent& extent) {
  for (std::size_t z = 0; z < extent.depth; ++z)
    if (const cudaError_t error =
            run_fill(state, call, slice(ptr, {}, z), ptr.pitch, value, extent.width, extent.height))
      return error;
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMemset3D(cudaPitchedPtr ptr, int value, cudaExtent extent) {
  SIMGPU_API_BEGIN;
  state.goes_to(cudaStreamLegacy, "cudaMemset3D");
  return fill_volume(state, "cudaMemset3D", ptr, value, extent);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr ptr, int value, cudaExtent extent,
                              cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaMemset3DAsync");
  state.goes_to(stream, "cudaMemset3DAsync");
  return fill_volume(state, "cudaMemset3DAsync", ptr, value, extent);
}

// ---- symbols

namespace {

cudaError_t copy_to_symbol(State& state, const char* call, const void* symbol, const void* src,
                           std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault) {
    return state.fail(call, cudaErrorInvalidMemcpyDirection, "a variable is on the device");
  }
  cudaError_t error = cudaSuccess;
  void* const dst = symbol_address(state, call, symbol, offset, bytes, error);
  return dst ? run_copy(state, call, {dst, src, bytes, bytes, bytes, 1, kind}) : error;
}

cudaError_t copy_from_symbol(State& state, const char* call, void* dst, const void* symbol,
                             std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault) {
    return state.fail(call, cudaErrorInvalidMemcpyDirection, "a variable is on the device");
  }
  cudaError_t error = cudaSuccess;
  void* const src = symbol_address(state, call, symbol, offset, bytes, error);
  return src ? run_copy(state, call, {dst, src, bytes, bytes, bytes, 1, kind}) : error;
}

}  // namespace

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  SIMGPU_API_BEGIN;
  if (const cudaError_t error = state.synchronize("cudaMemcpyToSymbol")) return error;
  return copy_to_symbol(state, "cudaMemcpyToSymbol", symbol, src, bytes, offset, kind);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaMemcpyToSymbolAsync");
  state.goes_to(stream, "cudaMemcpyToSymbolAsync");
  return copy_to_symbol(state, "cudaMemcpyToSymbolAsync", symbol, src, bytes, offset, kind);
}

cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind) {
  SIMGPU_API_BEGIN;
  if (const cudaError_t error = state.synchronize("cudaMemcpyFromSymbol")) return error;
  return copy_from_symbol(state, "cudaMemcpyFromSymbol", dst, symbol, bytes, offset, kind);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  if (!is_stream(stream)) return bad_stream(state, "cudaMemcpyFromSymbolAsync");
  state.goes_to(stream, "cudaMemcpyFromSymbolAsync");
  return copy_from_symbol(state, "cudaMemcpyFromSymbolAsync", dst, symbol, bytes, offset, kind);
}

cudaError_t cudaGetSymbolAddress(void** ptr, const void* symbol) {
  SIMGPU_API_BEGIN;
  if (!ptr) {
    return state.fail("cudaGetSymbolAddress", cudaErrorInvalidValue,
                      "the pointer to fill in is null");
  }
  cudaError_t error = cudaSuccess;
  *ptr = symbol_address(state, "cudaGetSymbolAddress", symbol, 0, 0, error);
  return error;
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  SIMGPU_API_BEGIN;
  if (!bytes) {
    return state.fail("cudaGetSymbolSize", cudaErrorInvalidValue, "the pointer to fill in is null");
  }
  cudaError_t error = cudaSuccess;
  symbol_address(state, "cudaGetSymbolSize", symbol, 0, 0, error, bytes);
  return error;
}
