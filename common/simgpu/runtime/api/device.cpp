// The device: its properties, limits, and the whole-device calls. There is one device, number 0.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "common/simgpu/runtime/api/state.hpp"
#include "common/simgpu/runtime/api/stream_order.hpp"

using simgpu::DeviceModel;
using simgpu::runtime::kReservedSharedBytes;
using simgpu::runtime::State;

namespace {

constexpr int kWarpSize = 32;
/// CUDA C++ Programming Guide: 64 KiB of __constant__ on every compute capability.
constexpr int kConstantBytes = 64 << 10;
constexpr int kMaxPitch = 0x7fffffff;

cudaError_t bad_device(State& state, const char* call) {
  return state.fail(call, cudaErrorInvalidDevice, "there is one simulated device, number 0");
}

int count(std::uint64_t n) {
  return n > 0x7fffffffu ? 0x7fffffff : static_cast<int>(n);
}

cudaFuncCache cache_config = cudaFuncCachePreferNone;
std::size_t stack_bytes = 1024, printf_bytes = 1 << 20, heap_bytes = 8 << 20;

}  // namespace

cudaError_t cudaGetDeviceCount(int* number) {
  SIMGPU_API_BEGIN;
  if (!number) return state.fail("cudaGetDeviceCount", cudaErrorInvalidValue);
  *number = 1;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  SIMGPU_API_BEGIN;
  return device == 0 ? cudaSuccess : bad_device(state, "cudaSetDevice");
}

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
  SIMGPU_API_BEGIN;
  return device == 0 ? cudaSuccess : bad_device(state, "cudaInitDevice");
}

cudaError_t cudaGetDevice(int* device) {
  SIMGPU_API_BEGIN;
  if (!device) return state.fail("cudaGetDevice", cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop) {
  SIMGPU_API_BEGIN;
  if (!device || !prop) return state.fail("cudaChooseDevice", cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned int) {
  SIMGPU_API_BEGIN;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  SIMGPU_API_BEGIN;
  if (!flags) return state.fail("cudaGetDeviceFlags", cudaErrorInvalidValue);
  *flags = cudaDeviceScheduleAuto;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  SIMGPU_API_BEGIN;
  if (!prop) return state.fail("cudaGetDeviceProperties", cudaErrorInvalidValue);
  if (device != 0) return bad_device(state, "cudaGetDeviceProperties");
  const DeviceModel& model = state.backend().model();
  *prop = {};
  std::snprintf(prop->name, sizeof prop->name, "%s", model.name.c_str());
  prop->totalGlobalMem = model.global_bytes;
  prop->sharedMemPerBlock = model.shared_bytes_per_block;
  prop->sharedMemPerBlockOptin = model.shared_bytes_per_block_optin;
  prop->sharedMemPerMultiprocessor = model.shared_bytes_per_multiprocessor;
  prop->reservedSharedMemPerBlock = kReservedSharedBytes;
  prop->regsPerBlock = count(model.registers_per_multiprocessor);
  prop->regsPerMultiprocessor = count(model.registers_per_multiprocessor);
  prop->warpSize = kWarpSize;
  prop->memPitch = kMaxPitch;
  prop->maxThreadsPerBlock = count(model.max_threads_per_block);
  prop->maxThreadsDim[0] = count(model.max_block.x);
  prop->maxThreadsDim[1] = count(model.max_block.y);
  prop->maxThreadsDim[2] = count(model.max_block.z);
  prop->maxGridSize[0] = count(model.max_grid.x);
  prop->maxGridSize[1] = count(model.max_grid.y);
  prop->maxGridSize[2] = count(model.max_grid.z);
  prop->totalConstMem = kConstantBytes;
  prop->major = model.compute_major;
  prop->minor = model.compute_minor;
  prop->textureAlignment = 512;
  prop->texturePitchAlignment = 32;
  prop->multiProcessorCount = count(model.multiprocessors);
  prop->concurrentKernels = 1;
  prop->unifiedAddressing = 1;
  prop->maxThreadsPerMultiProcessor = count(model.threads_per_multiprocessor);
  prop->maxBlocksPerMultiProcessor = count(model.blocks_per_multiprocessor);
  prop->streamPrioritiesSupported = 1;
  prop->globalL1CacheSupported = 1;
  prop->localL1CacheSupported = 1;
  prop->hostRegisterSupported = 1;
  prop->memoryPoolsSupported = 1;
  prop->canMapHostMemory = 1;
  prop->managedMemory = 1;
  prop->cooperativeLaunch = 1;
  prop->deviceOverlap = 1;
  return cudaSuccess;
}

namespace {

struct Attribute {
  cudaDeviceAttr id;
  int (*value)(const DeviceModel&);
};
constexpr Attribute kAttributes[] = {
    {cudaDevAttrMaxThreadsPerBlock,
     [](const DeviceModel& model) { return count(model.max_threads_per_block); }},
    {cudaDevAttrMaxBlockDimX, [](const DeviceModel& model) { return count(model.max_block.x); }},
    {cudaDevAttrMaxBlockDimY, [](const DeviceModel& model) { return count(model.max_block.y); }},
    {cudaDevAttrMaxBlockDimZ, [](const DeviceModel& model) { return count(model.max_block.z); }},
    {cudaDevAttrMaxGridDimX, [](const DeviceModel& model) { return count(model.max_grid.x); }},
    {cudaDevAttrMaxGridDimY, [](const DeviceModel& model) { return count(model.max_grid.y); }},
    {cudaDevAttrMaxGridDimZ, [](const DeviceModel& model) { return count(model.max_grid.z); }},
    {cudaDevAttrMaxSharedMemoryPerBlock,
     [](const DeviceModel& model) { return count(model.shared_bytes_per_block); }},
    {cudaDevAttrTotalConstantMemory, [](const DeviceModel&) { return kConstantBytes; }},
    {cudaDevAttrWarpSize, [](const DeviceModel&) { return kWarpSize; }},
    {cudaDevAttrMaxPitch, [](const DeviceModel&) { return kMaxPitch; }},
    {cudaDevAttrMaxRegistersPerBlock,
     [](const DeviceModel& model) { return count(model.registers_per_multiprocessor); }},
    {cudaDevAttrMaxRegistersPerMultiprocessor,
     [](const DeviceModel& model) { return count(model.registers_per_multiprocessor); }},
    {cudaDevAttrTextureAlignment, [](const DeviceModel&) { return 512; }},
    {cudaDevAttrTexturePitchAlignment, [](const DeviceModel&) { return 32; }},
    {cudaDevAttrMultiProcessorCount,
     [](const DeviceModel& model) { return count(model.multiprocessors); }},
    {cudaDevAttrMaxThreadsPerMultiProcessor,
     [](const DeviceModel& model) { return count(model.threads_per_multiprocessor); }},
    {cudaDevAttrComputeCapabilityMajor,
     [](const DeviceModel& model) { return model.compute_major; }},
    {cudaDevAttrComputeCapabilityMinor,
     [](const DeviceModel& model) { return model.compute_minor; }},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor,
     [](const DeviceModel& model) { return count(model.shared_bytes_per_multiprocessor); }},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin,
     [](const DeviceModel& model) { return count(model.shared_bytes_per_block_optin); }},
    {cudaDevAttrMaxBlocksPerMultiprocessor,
     [](const DeviceModel& model) { return count(model.blocks_per_multiprocessor); }},
    {cudaDevAttrReservedSharedMemoryPerBlock,
     [](const DeviceModel&) { return kReservedSharedBytes; }},
    {cudaDevAttrConcurrentKernels, [](const DeviceModel&) { return 1; }},
    {cudaDevAttrUnifiedAddressing, [](const DeviceModel&) { return 1; }},
    {cudaDevAttrStreamPrioritiesSupported, [](const DeviceModel&) { return 1; }},
    {cudaDevAttrGlobalL1CacheSupported, [](const DeviceModel&) { return 1; }},
    {cudaDevAttrLocalL1CacheSupported, [](const DeviceModel&) { return 1; }},
    {cudaDevAttrHostRegisterSupported, [](const DeviceModel&) { return 1; }},
    {cudaDevAttrMemoryPoolsSupported, [](const DeviceModel&) { return 1; }},
    {cudaDevAttrCooperativeLaunch, [](const DeviceModel&) { return 1; }},
    {cudaDevAttrManagedMemory, [](const DeviceModel&) { return 1; }},
    {cudaDevAttrCanMapHostMemory, [](const DeviceModel&) { return 1; }},
};
/// A simulated chip has no clock, bus, cache or power supply. 0 is what programs print; dividing by
/// it shows.
constexpr cudaDeviceAttr kZeroAttributes[] = {
    cudaDevAttrClockRate,
    cudaDevAttrMemoryClockRate,
    cudaDevAttrGlobalMemoryBusWidth,
    cudaDevAttrL2CacheSize,
    cudaDevAttrMaxPersistingL2CacheSize,
    cudaDevAttrMaxAccessPolicyWindowSize,
    cudaDevAttrSingleToDoublePrecisionPerfRatio,
    cudaDevAttrGpuOverlap,
    cudaDevAttrAsyncEngineCount,
    cudaDevAttrKernelExecTimeout,
    cudaDevAttrIntegrated,
    cudaDevAttrComputeMode,
    cudaDevAttrEccEnabled,
    cudaDevAttrPciBusId,
    cudaDevAttrPciDeviceId,
    cudaDevAttrPciDomainId,
    cudaDevAttrTccDriver,
    cudaDevAttrIsMultiGpuBoard,
    cudaDevAttrMultiGpuBoardGroupID,
    cudaDevAttrHostNativeAtomicSupported,
    cudaDevAttrPageableMemoryAccess,
    cudaDevAttrConcurrentManagedAccess,
    cudaDevAttrComputePreemptionSupported,
    cudaDevAttrCanUseHostPointerForRegisteredMem,
    cudaDevAttrPageableMemoryAccessUsesHostPageTables,
    cudaDevAttrDirectManagedMemAccessFromHost,
    cudaDevAttrClusterLaunch,
};

}  // namespace

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
  SIMGPU_API_BEGIN;
  if (!value) return state.fail("cudaDeviceGetAttribute", cudaErrorInvalidValue);
  if (device != 0) return bad_device(state, "cudaDeviceGetAttribute");
  for (const Attribute& known : kAttributes) {
    if (known.id != attr) continue;
    *value = known.value(state.backend().model());
    return cudaSuccess;
  }
  if (std::find(std::begin(kZeroAttributes), std::end(kZeroAttributes), attr) ==
      std::end(kZeroAttributes))
    return state.fail("cudaDeviceGetAttribute", cudaErrorInvalidValue, "unknown attribute");
  *value = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  SIMGPU_API_BEGIN;
  if (!id || length < 13) return state.fail("cudaDeviceGetPCIBusId", cudaErrorInvalidValue);
  if (device != 0) return bad_device(state, "cudaDeviceGetPCIBusId");
  std::snprintf(id, static_cast<std::size_t>(length), "0000:00:00.0");
  return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  SIMGPU_API_BEGIN;
  if (!device || !id) return state.fail("cudaDeviceGetByPCIBusId", cudaErrorInvalidValue);
  const std::string_view asked(id);
  if (asked.find("00:00.0") == std::string_view::npos)
    return bad_device(state, "cudaDeviceGetByPCIBusId");
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetValidDevices(int* devices, int count) {
  SIMGPU_API_BEGIN;
  if (count < 0 || (count > 0 && !devices))
    return state.fail("cudaSetValidDevices", cudaErrorInvalidValue);
  for (int i = 0; i < count; ++i)
    if (devices[i] != 0) return bad_device(state, "cudaSetValidDevices");
  return cudaSuccess;
}

cudaError_t cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}
cudaError_t cudaThreadExit() {
  return cudaDeviceReset();
}

cudaError_t cudaDeviceSynchronize() {
  SIMGPU_API_BEGIN;
  simgpu::runtime::StreamOrder::get().host_waits_for_all();
  return state.synchronize("cudaDeviceSynchronize");
}

// The one call that works on a device lost to a sticky error.
cudaError_t cudaDeviceReset() {
  State& state = State::get();
  const std::lock_guard<std::recursive_mutex> lock(state.mutex);
  return state.reset();
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  SIMGPU_API_BEGIN;
  switch (limit) {
    case cudaLimitStackSize:
      stack_bytes = value;
      return cudaSuccess;
    case cudaLimitPrintfFifoSize:
      printf_bytes = value;
      return cudaSuccess;
    case cudaLimitMallocHeapSize:
      heap_bytes = value;
      return cudaSuccess;
    default:
      return state.fail("cudaDeviceSetLimit", cudaErrorUnsupportedLimit);
  }
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  SIMGPU_API_BEGIN;
  if (!value) return state.fail("cudaDeviceGetLimit", cudaErrorInvalidValue);
  switch (limit) {
    case cudaLimitStackSize:
      *value = stack_bytes;
      return cudaSuccess;
    case cudaLimitPrintfFifoSize:
      *value = printf_bytes;
      return cudaSuccess;
    case cudaLimitMallocHeapSize:
      *value = heap_bytes;
      return cudaSuccess;
    default:
      return state.fail("cudaDeviceGetLimit", cudaErrorUnsupportedLimit);
  }
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  SIMGPU_API_BEGIN;
  if (!config) return state.fail("cudaDeviceGetCacheConfig", cudaErrorInvalidValue);
  *config = cache_config;
  return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  SIMGPU_API_BEGIN;
  cache_config = config;
  return cudaSuccess;
}

// Banks have four bytes since compute capability 5.0, whatever a program asks for.
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  SIMGPU_API_BEGIN;
  if (!config) return state.fail("cudaDeviceGetSharedMemConfig", cudaErrorInvalidValue);
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  SIMGPU_API_BEGIN;
  if (config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte)
    return state.fail("cudaDeviceSetSharedMemConfig", cudaErrorInvalidValue);
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  SIMGPU_API_BEGIN;
  if (!can_access) return state.fail("cudaDeviceCanAccessPeer", cudaErrorInvalidValue);
  if (device != 0 || peer != 0) return bad_device(state, "cudaDeviceCanAccessPeer");
  *can_access = 0;
  return cudaSuccess;
}

// Two devices are asked for; there is one.
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int, int) {
  SIMGPU_API_BEGIN;
  if (!value) return state.fail("cudaDeviceGetP2PAttribute", cudaErrorInvalidValue);
  return bad_device(state, "cudaDeviceGetP2PAttribute");
}
cudaError_t cudaCtxResetPersistingL2Cache() {
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (!version) {
    State& state = State::get();
    const std::lock_guard<std::recursive_mutex> lock(state.mutex);
    return state.fail("cudaDriverGetVersion", cudaErrorInvalidValue);
  }
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (!version) {
    State& state = State::get();
    const std::lock_guard<std::recursive_mutex> lock(state.mutex);
    return state.fail("cudaRuntimeGetVersion", cudaErrorInvalidValue);
  }
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaProfilerStart() {
  return cudaSuccess;
}
cudaError_t cudaProfilerStop() {
  return cudaSuccess;
}
