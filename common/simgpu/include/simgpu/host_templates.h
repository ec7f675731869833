// The C++ overloads of the runtime API: typed pointers, symbols and kernels. Part of
// <cuda_runtime.h>.
#pragma once
#pragma GCC system_header

#include "../cuda_runtime_api.h"

/// As before CUDA 12.
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, void*, char*,
                                        size_t) {
  return ::cudaGraphInstantiate(exec, graph, 0ULL);
}
template <class T>
inline cudaError_t cudaMalloc(T** ptr, size_t bytes) {
  return ::cudaMalloc(reinterpret_cast<void**>(ptr), bytes);
}
template <class T>
inline cudaError_t cudaMallocPitch(T** ptr, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch(reinterpret_cast<void**>(ptr), pitch, width, height);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** ptr, size_t bytes, cudaStream_t stream) {
  return ::cudaMallocAsync(reinterpret_cast<void**>(ptr), bytes, stream);
}
template <typename T>
inline cudaError_t cudaMallocFromPoolAsync(T** ptr, size_t bytes, cudaMemPool_t pool,
                                           cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(reinterpret_cast<void**>(ptr), bytes, pool, stream);
}
template <typename T>
inline cudaError_t cudaMallocAsync(T** ptr, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(reinterpret_cast<void**>(ptr), bytes, pool, stream);
}
template <class T>
inline cudaError_t cudaMallocHost(T** ptr, size_t bytes, unsigned int flags = 0) {
  return ::cudaHostAlloc(reinterpret_cast<void**>(ptr), bytes, flags);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** ptr, size_t bytes, unsigned int flags) {
  return ::cudaHostAlloc(reinterpret_cast<void**>(ptr), bytes, flags);
}
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** device_ptr, void* host_ptr, unsigned int flags) {
  return ::cudaHostGetDevicePointer(reinterpret_cast<void**>(device_ptr), host_ptr, flags);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** ptr, size_t bytes,
                                     unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged(reinterpret_cast<void**>(ptr), bytes, flags);
}

// Symbols: a __device__ or __constant__ variable stands for the address of its shadow on the host.
/// Of a variable of the device, which may be volatile.
template <class T>
inline const void* __simgpu_address_of(const T& symbol) {
  return const_cast<const void*>(static_cast<const volatile void*>(&symbol));
}
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* src, size_t bytes,
                                      size_t offset = 0,
                                      enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol(__simgpu_address_of(symbol), src, bytes, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* src, size_t bytes,
                                           size_t offset = 0,
                                           enum cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                           cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync(__simgpu_address_of(symbol), src, bytes, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* dst, const T& symbol, size_t bytes, size_t offset = 0,
                                        enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(dst, __simgpu_address_of(symbol), bytes, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const T& symbol, size_t bytes,
                                             size_t offset = 0,
                                             enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(dst, __simgpu_address_of(symbol), bytes, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaGetSymbolAddress(void** ptr, const T& symbol) {
  return ::cudaGetSymbolAddress(ptr, __simgpu_address_of(symbol));
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  return ::cudaGetSymbolSize(bytes, __simgpu_address_of(symbol));
}

inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}

// Kernels: a function name stands for the address of its host stub.
template <class T>
inline cudaError_t cudaLaunchKernel(T* function, dim3 grid, dim3 block, void** args,
                                    size_t shared_bytes = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchKernel(reinterpret_cast<const void*>(function), grid, block, args,
                            shared_bytes, stream);
}
template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T* function, dim3 grid, dim3 block, void** args,
                                               size_t shared_bytes = 0, cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(function), grid, block, args,
                                       shared_bytes, stream);
}
/// The arguments are converted to the kernel's parameters first, as in a call.
template <class... Parameters, class... Arguments>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config,
                                      void (*kernel)(Parameters...), Arguments&&... arguments) {
  return [&](Parameters... converted) {
    void* pointers[sizeof...(Parameters) + 1] = {(void*)&converted..., 0};
    return ::cudaLaunchKernelExC(config, reinterpret_cast<const void*>(kernel), pointers);
  }(static_cast<Arguments&&>(arguments)...);
}
template <class T>
inline cudaError_t cudaFuncSetAttribute(T* function, enum cudaFuncAttribute attribute, int value) {
  return ::cudaFuncSetAttribute(reinterpret_cast<const void*>(function), attribute, value);
}
template <class T>
inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, T* function) {
  return ::cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(function));
}
template <class T>
inline cudaError_t cudaFuncSetCacheConfig(T* function, enum cudaFuncCache config) {
  return ::cudaFuncSetCacheConfig(reinterpret_cast<const void*>(function), config);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T function,
                                                                 int block_size,
                                                                 size_t dynamic_shared_bytes) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, reinterpret_cast<const void*>(function), block_size, dynamic_shared_bytes);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, T function, int block_size, size_t dynamic_shared_bytes, unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, reinterpret_cast<const void*>(function), block_size, dynamic_shared_bytes, flags);
}

template <class T>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, T* function, int blocks,
                                                             int block_size) {
  return ::cudaOccupancyAvailableDynamicSMemPerBlock(bytes, reinterpret_cast<const void*>(function),
                                                     blocks, block_size);
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, T* function,
                                                        const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxPotentialClusterSize(blocks, reinterpret_cast<const void*>(function),
                                                config);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, T* function,
                                                  const cudaLaunchConfig_t* config) {
  return ::cudaOccupancyMaxActiveClusters(clusters, reinterpret_cast<const void*>(function),
                                          config);
}

/// The block size with the most threads per multiprocessor; the largest such. `shared_of` maps a
/// block size to its dynamic shared bytes, `block_size_limit` 0 means none.
template <class SharedOf, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid_size,
                                                                  int* block_size, T function,
                                                                  SharedOf shared_of,
                                                                  int block_size_limit = 0) {
  if (!min_grid_size || !block_size) return cudaErrorInvalidValue;
  int device = 0, multiprocessors = 0;
  struct cudaFuncAttributes attributes;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  }
  if (error == cudaSuccess) {
    error = ::cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(function));
  }
  if (error != cudaSuccess) return error;
  int limit = attributes.maxThreadsPerBlock;
  if (block_size_limit > 0 && block_size_limit < limit) limit = block_size_limit;
  int best_threads = 0, best_blocks = 0, best_size = 0;
  // Whole warps, and the limit itself if it is no multiple of a warp.
  for (int size = limit; size > 0; size = size % 32 ? size / 32 * 32 : size - 32) {
    int blocks = 0;
    error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, reinterpret_cast<const void*>(function), size, shared_of(size));
    if (error != cudaSuccess) return error;
    if (blocks * size > best_threads) {
      best_threads = blocks * size;
      best_blocks = blocks;
      best_size = size;
    }
  }
  *min_grid_size = best_blocks * multiprocessors;
  *block_size = best_size;
  return cudaSuccess;
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid_size, int* block_size,
                                                      T function, size_t dynamic_shared_bytes = 0,
                                                      int block_size_limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      min_grid_size, block_size, function, [=](int) { return dynamic_shared_bytes; },
      block_size_limit);
}
// Copies that say what the host's elements are aligned to, in bytes. A struct that is aligned to more than its members need
// ends in padding, which no kernel writes. Vectors have a component in each of their words, so they have none.
cudaError_t __simgpuMemcpy(void* dst, const void* src, size_t bytes, enum cudaMemcpyKind kind,
                           size_t element_align);
cudaError_t __simgpuMemcpyAsync(void* dst, const void* src, size_t bytes, enum cudaMemcpyKind kind,
                                cudaStream_t stream, size_t element_align);
template <class T, bool kNoClass = !__is_class(T), size_t kAlign = alignof(T)>
struct __simgpu_padded {
  static constexpr size_t align = kAlign;
  static constexpr bool value = !kNoClass && kAlign > 4 && !__is_same(T, float2) &&
                                !__is_same(T, float4) && !__is_same(T, double2) &&
                                !__is_same(T, int2) && !__is_same(T, int4) &&
                                !__is_same(T, uint2) && !__is_same(T, uint4);
};
template <bool kHolds>
struct __simgpu_only_if {};
template <>
struct __simgpu_only_if<true> {
  using error = cudaError_t;
};
template <class T, size_t kComplete = sizeof(T)>
inline typename __simgpu_only_if<__simgpu_padded<T>::value>::error cudaMemcpy(
    T* dst, const void* src, size_t bytes, enum cudaMemcpyKind kind) {
  return __simgpuMemcpy(dst, src, bytes, kind, __simgpu_padded<T>::align);
}
template <class T, size_t kComplete = sizeof(T)>
inline typename __simgpu_only_if<__simgpu_padded<T>::value>::error cudaMemcpyAsync(
    T* dst, const void* src, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream = 0) {
  return __simgpuMemcpyAsync(dst, src, bytes, kind, stream, __simgpu_padded<T>::align);
}
