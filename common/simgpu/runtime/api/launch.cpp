// Kernels: launches, attributes, occupancy.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "common/simgpu/runtime/api/in_flight.hpp"
#include "common/simgpu/runtime/api/state.hpp"
#include "common/simgpu/runtime/api/stream_order.hpp"

using simgpu::DeviceModel;
using simgpu::Dim3;
using simgpu::EarlierKernel;
using simgpu::KernelInfo;
using simgpu::KernelParam;
using simgpu::runtime::InFlight;
using simgpu::runtime::is_stream;
using simgpu::runtime::kReservedSharedBytes;
using simgpu::runtime::Registered;
using simgpu::runtime::State;
using simgpu::runtime::StreamOrder;

namespace {

// Occupancy on compute capabilities 8.x and 9.0 (CUDA occupancy calculator): registers are given to a
// warp in units of 256, shared memory to a block in units of 128 bytes, with the runtime's own on top.
constexpr unsigned kRegisterUnit = 256, kSharedUnit = 128;

unsigned round_up(unsigned n, unsigned unit) {
  return (n + unit - 1) / unit * unit;
}

/// Resident blocks of `threads` threads on one multiprocessor; 0 if a single block does not fit.
int resident_blocks(const DeviceModel& model, const Registered& kernel, unsigned threads,
                    std::uint64_t dynamic_shared) {
  const KernelInfo& info = kernel.info;
  const unsigned warps = (threads + 31) / 32;
  unsigned blocks =
      std::min(model.blocks_per_multiprocessor, model.threads_per_multiprocessor / (32 * warps));
  const unsigned registers =
      std::max(1u, std::min(info.live_registers, model.registers_per_thread));
  const unsigned warp_registers = round_up(32 * registers, kRegisterUnit);
  blocks = std::min(blocks, model.registers_per_multiprocessor / warp_registers / warps);
  const std::uint64_t shared = info.static_shared_bytes + dynamic_shared;
  const std::uint64_t limit =
      std::max<std::uint64_t>(model.shared_bytes_per_block,
                              std::uint64_t{info.static_shared_bytes} + kernel.max_dynamic_shared);
  if (shared > limit) return 0;
  const unsigned block_shared =
      round_up(static_cast<unsigned>(shared), kSharedUnit) + kReservedSharedBytes;
  return static_cast<int>(std::min(blocks, model.shared_bytes_per_multiprocessor / block_shared));
}

/// A grid whose blocks wait for each other must be resident as a whole.
cudaError_t check_residency(State& state, const Registered& kernel, dim3 grid, dim3 block,
                            size_t shared_bytes) {
  const DeviceModel& model = state.backend().model();
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > model.max_threads_per_block) return cudaSuccess;  // refused later
  const auto each = static_cast<std::uint64_t>(
      resident_blocks(model, kernel, static_cast<unsigned>(threads), shared_bytes));
  const std::uint64_t fit = each * model.multiprocessors;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  if (blocks <= fit) return cudaSuccess;
  return state.fail("cudaLaunchCooperativeKernel", cudaErrorCooperativeLaunchTooLarge,
                    "the grid has " + std::to_string(blocks) + " blocks, of which " +
                        std::to_string(fit) + " can be resident (" + std::to_string(each) +
                        " on each of " + std::to_string(model.multiprocessors) +
                        " multiprocessors)");
}

struct Attributes {
  bool cooperative = false;
  bool begins_early = false;  ///< programmatic stream serialisation
  Dim3 cluster{0, 0, 0};
};

cudaError_t launch(State& state, const void* function, dim3 grid, dim3 block, void** args,
                   size_t shared_bytes, cudaStream_t stream, const Attributes& attributes = {}) {
  const char* const call = "kernel launch";
  cudaError_t error = cudaSuccess;
  // CUDA 13 takes what is no kernel's function for a handle of one.
  Registered* const kernel = state.kernel(call, function, error, cudaErrorInvalidResourceHandle);
  if (!kernel) return error;
  if (!is_stream(stream)) {
    return state.fail(call, cudaErrorInvalidResourceHandle, "the stream does not exist (any more)");
  }
  if (shared_bytes > UINT32_MAX) {
    return state.fail(call, cudaErrorInvalidValue, "no device has that much shared memory");
  }
  const KernelInfo& info = kernel->info;
  if (!info.params.empty() && !args) {
    return state.fail(call, cudaErrorInvalidValue, "the kernel's arguments are missing");
  }
  std::vector<std::byte> bytes(info.param_bytes);
  for (std::size_t i = 0; i < info.params.size(); ++i) {
    const KernelParam& param = info.params[i];
    std::memcpy(bytes.data() + param.offset, args[i], param.size);
  }
  if (attributes.cooperative)
    if (const cudaError_t refused = check_residency(state, *kernel, grid, block, shared_bytes))
      return refused;
  state.note_shadows(*kernel, bytes);
  const InFlight::Pause pause;
  state.say_how_launched(kernel->name.image, attributes.cooperative);
  if (const cudaError_t failed = state.mapped.to_device(state.backend(), bytes))
    return state.fail(call, failed);
  StreamOrder& order = StreamOrder::get();
  StreamOrder::Running earlier = order.take_running(stream);
  if (!attributes.begins_early) earlier.clear();
  for (const EarlierKernel& kernel_before : earlier) state.backend().begins_early(kernel_before);
  const bool lets_next_begin = info.lets_next_begin && state.backend().takes_findings();
  const bool needs_touched = order.matters() || lets_next_begin;
  state.backend().note_touched(needs_touched);
  const cudaError_t launched = state.backend().launch(
      kernel->name, Dim3{grid.x, grid.y, grid.z}, Dim3{block.x, block.y, block.z},
      attributes.cluster, static_cast<unsigned>(shared_bytes), bytes);
  // A kernel that fences for the whole system talks to the host while it runs.
  if (state.backend().takes_findings() && !state.talks_to_host(kernel->name.image))
    state.mapped.to_host(state.backend(), "kernel '" + info.name + "'");
  else
    state.mapped.to_host(state.backend());
  if (launched == cudaSuccess) {
    state.goes_to(stream, info.name);
    std::vector<simgpu::TouchedBytes> touched;
    if (needs_touched) touched = state.backend().touched();
    order.work(state.backend(), stream, "kernel '" + info.name + "'", touched);
    if (lets_next_begin || !earlier.empty())
      order.keep_running(stream, std::move(earlier), {info.name, std::move(touched), ""},
                         state.backend().grid_control());
  }
  return state.done(call, launched);
}

}  // namespace

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                             size_t shared_bytes, cudaStream_t stream) {
  const bool by_brackets = std::exchange(simgpu::runtime::called_by_brackets, false);
  SIMGPU_API_BEGIN;
  const cudaError_t error = launch(state, function, grid, block, args, shared_bytes, stream);
  if (error != cudaSuccess && by_brackets) state.refused(function, error);
  return error;
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** args,
                                        size_t shared_bytes, cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  return launch(state, function, grid, block, args, shared_bytes, stream, {.cooperative = true});
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** args) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaLaunchKernelEx";
  if (!config || (config->numAttrs != 0 && !config->attrs))
    return state.fail(call, cudaErrorInvalidValue, "the configuration is missing");
  Attributes attributes;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative)
      attributes.cooperative = attribute.val.cooperative;
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization)
      attributes.begins_early = attribute.val.programmaticStreamSerializationAllowed != 0;
    if (attribute.id != cudaLaunchAttributeClusterDimension) continue;
    const auto& asked = attribute.val.clusterDim;
    attributes.cluster = {asked.x, asked.y, asked.z};
    if (asked.x == 0 || asked.y == 0 || asked.z == 0)
      return state.fail(call, cudaErrorInvalidValue, "a cluster without blocks");
  }
  return launch(state, function, config->gridDim, config->blockDim, args, config->dynamicSmemBytes,
                config->stream, attributes);
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaFuncSetAttribute";
  cudaError_t error = cudaSuccess;
  Registered* const kernel = state.kernel(call, function, error);
  if (!kernel) return error;
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize: {
      const unsigned limit = state.backend().model().shared_bytes_per_block_optin;
      const unsigned fixed = kernel->info.static_shared_bytes;
      if (value < 0 || static_cast<unsigned>(value) + fixed > limit) {
        return state.fail(call, cudaErrorInvalidValue,
                          "a block of this device has at most " + std::to_string(limit) +
                              " bytes of shared memory, of which the kernel's own arrays take " +
                              std::to_string(fixed));
      }
      error = state.backend().set_max_dynamic_shared(kernel->name, static_cast<unsigned>(value));
      if (error == cudaSuccess) kernel->max_dynamic_shared = static_cast<unsigned>(value);
      return state.done(call, error);
    }
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      return cudaSuccess;  // clusters of 16 may always be had
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return state.fail(call, cudaErrorInvalidValue);
      return cudaSuccess;  // a hint; the simulated chip has no cache to share with
    default:
      return state.unsupported(call, "of the attributes only the shared memory ones are there");
  }
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaFuncGetAttributes";
  if (!attributes) return state.fail(call, cudaErrorInvalidValue);
  cudaError_t error = cudaSuccess;
  Registered* const kernel = state.kernel(call, function, error);
  if (!kernel) return error;
  const DeviceModel& model = state.backend().model();
  *attributes = {};
  attributes->sharedSizeBytes = kernel->info.static_shared_bytes;
  attributes->constSizeBytes = kernel->info.const_bytes;
  attributes->localSizeBytes = kernel->info.local_bytes_per_thread;
  attributes->maxThreadsPerBlock = static_cast<int>(kernel->info.max_threads_per_block);
  attributes->numRegs = static_cast<int>(kernel->info.live_registers);
  attributes->ptxVersion = attributes->binaryVersion =
      model.compute_major * 10 + model.compute_minor;
  const unsigned fixed = std::min(kernel->info.static_shared_bytes, model.shared_bytes_per_block);
  attributes->maxDynamicSharedSizeBytes =
      static_cast<int>(kernel->max_dynamic_shared ? kernel->max_dynamic_shared
                                                  : model.shared_bytes_per_block - fixed);
  attributes->preferredShmemCarveout = -1;
  return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  SIMGPU_API_BEGIN;
  cudaError_t error = cudaSuccess;
  state.kernel("cudaFuncSetCacheConfig", function, error);
  return error;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_size, size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, function, block_size, dynamic_shared, cudaOccupancyDefault);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block_size, size_t dynamic_shared, unsigned int) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaOccupancyMaxActiveBlocksPerMultiprocessor";
  if (!blocks || block_size <= 0) return state.fail(call, cudaErrorInvalidValue);
  *blocks = 0;
  cudaError_t error = cudaSuccess;
  Registered* const kernel = state.kernel(call, function, error);
  if (!kernel) return error;
  if (static_cast<unsigned>(block_size) > kernel->info.max_threads_per_block) return cudaSuccess;
  *blocks = resident_blocks(state.backend().model(), *kernel, static_cast<unsigned>(block_size),
                            dynamic_shared);
  return cudaSuccess;
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                      int blocks, int block_size) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaOccupancyAvailableDynamicSMemPerBlock";
  if (!bytes || blocks <= 0 || block_size <= 0) return state.fail(call, cudaErrorInvalidValue);
  cudaError_t error = cudaSuccess;
  Registered* const kernel = state.kernel(call, function, error);
  if (!kernel) return error;
  const DeviceModel& model = state.backend().model();
  std::uint64_t available = 0;
  for (std::uint64_t size = model.shared_bytes_per_block_optin / kSharedUnit * kSharedUnit;
       size >= kernel->info.static_shared_bytes && size > 0; size -= kSharedUnit) {
    const std::uint64_t dynamic = size - kernel->info.static_shared_bytes;
    if (resident_blocks(model, *kernel, static_cast<unsigned>(block_size), dynamic) >= blocks) {
      available = dynamic;
      break;
    }
  }
  *bytes = available;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                 const cudaLaunchConfig_t* config) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaOccupancyMaxPotentialClusterSize";
  if (!blocks || !config) return state.fail(call, cudaErrorInvalidValue);
  cudaError_t error = cudaSuccess;
  if (!state.kernel(call, function, error)) return error;
  *blocks = 8;  // what every GPU with clusters has
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaOccupancyMaxActiveClusters";
  if (!clusters || !config) return state.fail(call, cudaErrorInvalidValue);
  cudaError_t error = cudaSuccess;
  Registered* const kernel = state.kernel(call, function, error);
  if (!kernel) return error;
  unsigned size = 1;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) {
      const auto& asked = config->attrs[i].val.clusterDim;
      size = asked.x * asked.y * asked.z;
    }
  if (size == 0) return state.fail(call, cudaErrorInvalidValue, "a cluster without blocks");
  const DeviceModel& model = state.backend().model();
  const unsigned threads = config->blockDim.x * config->blockDim.y * config->blockDim.z;
  const int blocks = resident_blocks(model, *kernel, threads, config->dynamicSmemBytes);
  *clusters = static_cast<int>(static_cast<unsigned>(blocks) * model.multiprocessors / size);
  return cudaSuccess;
}
