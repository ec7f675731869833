// Pools of stream-ordered memory. Memory is not kept here when it is freed, so a pool is no more than its attributes;
// what it reserves and uses reads 0.
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>

#include "common/simgpu/runtime/api/state.hpp"

struct CUmemPoolHandle_st {
  std::map<cudaMemPoolAttr, std::uint64_t> values;
};

namespace simgpu::runtime {
namespace {

/// The pools that programs made, and the device's own, which is first.
std::map<cudaMemPool_t, std::unique_ptr<CUmemPoolHandle_st>>& pools() {
  static auto* const all = new std::map<cudaMemPool_t, std::unique_ptr<CUmemPoolHandle_st>>;
  return *all;
}
cudaMemPool_t make_pool() {
  auto pool = std::make_unique<CUmemPoolHandle_st>();
  const cudaMemPool_t handle = pool.get();
  pools()[handle] = std::move(pool);
  return handle;
}
cudaMemPool_t own_pool() {
  static const cudaMemPool_t own = make_pool();
  return own;
}
cudaMemPool_t& current_pool() {
  static cudaMemPool_t current = own_pool();
  return current;
}

/// The attributes of 4 bytes; the others have 8.
bool is_flag(cudaMemPoolAttr attribute) {
  return attribute <= cudaMemPoolReuseAllowInternalDependencies;
}
bool exists(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies &&
         attribute <= cudaMemPoolAttrUsedMemHigh;
}

cudaError_t give(State& state, const char* call, cudaMemPool_t* to, int device,
                 cudaMemPool_t pool) {
  if (!to) return state.fail(call, cudaErrorInvalidValue, "the pointer to fill in is null");
  if (device != 0) return state.fail(call, cudaErrorInvalidDevice);
  *to = pool;
  return cudaSuccess;
}
cudaError_t check(State& state, const char* call, cudaMemPool_t pool) {
  own_pool();
  return pools().count(pool) != 0
             ? cudaSuccess
             : state.fail(call, cudaErrorInvalidValue, "there is no such memory pool");
}

}  // namespace
}  // namespace simgpu::runtime

using namespace simgpu::runtime;

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  SIMGPU_API_BEGIN;
  return give(state, "cudaDeviceGetDefaultMemPool", pool, device, own_pool());
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  SIMGPU_API_BEGIN;
  return give(state, "cudaDeviceGetMemPool", pool, device, current_pool());
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaDeviceSetMemPool";
  if (device != 0) return state.fail(call, cudaErrorInvalidDevice);
  if (const cudaError_t error = check(state, call, pool)) return error;
  current_pool() = pool;
  return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaMemPoolCreate";
  if (!pool || !props) return state.fail(call, cudaErrorInvalidValue, "a pointer is null");
  if (props->allocType != cudaMemAllocationTypePinned)
    return state.fail(call, cudaErrorInvalidValue,
                      "allocType has to be cudaMemAllocationTypePinned");
  own_pool();
  *pool = make_pool();
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaMemPoolDestroy";
  if (const cudaError_t error = check(state, call, pool)) return error;
  if (pool == own_pool())
    return state.fail(call, cudaErrorInvalidValue, "the device's own pool cannot be destroyed");
  if (pool == current_pool()) current_pool() = own_pool();
  pools().erase(pool);
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaMemPoolSetAttribute";
  if (const cudaError_t error = check(state, call, pool)) return error;
  if (!value || !exists(attribute)) return state.fail(call, cudaErrorInvalidValue);
  std::uint64_t bits = 0;
  std::memcpy(&bits, value, is_flag(attribute) ? 4 : 8);
  pool->values[attribute] = bits;
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  SIMGPU_API_BEGIN;
  const char* const call = "cudaMemPoolGetAttribute";
  if (const cudaError_t error = check(state, call, pool)) return error;
  if (!value || !exists(attribute)) return state.fail(call, cudaErrorInvalidValue);
  const auto found = pool->values.find(attribute);
  const std::uint64_t bits = found != pool->values.end() ? found->second : is_flag(attribute);
  std::memcpy(value, &bits, is_flag(attribute) ? 4 : 8);
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  SIMGPU_API_BEGIN;
  return check(state, "cudaMemPoolTrimTo", pool);
}
cudaError_t cudaMallocFromPoolAsync(void** ptr, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  SIMGPU_API_BEGIN;
  if (const cudaError_t error = check(state, "cudaMallocFromPoolAsync", pool)) return error;
  return cudaMallocAsync(ptr, bytes, stream);
}
