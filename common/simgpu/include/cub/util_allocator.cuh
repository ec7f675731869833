// CUB's allocator of temporary storage, without keeping anything.
#pragma once
#pragma GCC system_header

#include "util/util_ptx.cuh"
#include "util_debug.cuh"

namespace cub {
struct CachingDeviceAllocator {
  template <class... Anything>
  explicit CachingDeviceAllocator(Anything&&...) {}
  cudaError_t DeviceAllocate(void** p, std::size_t bytes, cudaStream_t = nullptr) {
    return cudaMalloc(p, bytes);
  }
  template <class T>
  cudaError_t DeviceAllocate(T** p, std::size_t bytes, cudaStream_t = nullptr) {
    return cudaMalloc(reinterpret_cast<void**>(p), bytes);
  }
  cudaError_t DeviceFree(void* p) { return cudaFree(p); }
  cudaError_t FreeAllCached() { return cudaSuccess; }
};
}  // namespace cub
