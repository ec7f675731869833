// cuda::device::experimental: bulk and tensor copies as the CUDA Programming Guide spells them. Included by
// <cuda/barrier>.
#pragma once
#pragma GCC system_header

#include "../cuda.h"

#if defined(__CUDA__)

namespace cuda {
namespace device {
namespace experimental {

__SIMGPU_DEVICE unsigned int __shared_address(const void* p) {
  return static_cast<unsigned int>(__cvta_generic_to_shared(p));
}
using __barrier = barrier<thread_scope_block>;

__SIMGPU_DEVICE void cp_async_bulk_global_to_shared(void* to, const void* from, unsigned int bytes,
                                                    __barrier& bar) {
  memcpy_async_tx(static_cast<char*>(to), static_cast<const char*>(from), bytes, bar);
}
__SIMGPU_DEVICE void cp_async_bulk_shared_to_global(void* to, const void* from,
                                                    unsigned int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :
               : "l"(__cvta_generic_to_global(to)), "r"(__shared_address(from)), "r"(bytes)
               : "memory");
}
__SIMGPU_DEVICE void cp_async_bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" : : : "memory");
}
template <int kPrior>
__SIMGPU_DEVICE void cp_async_bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(kPrior) : "memory");
}
__SIMGPU_DEVICE void fence_proxy_async_shared_cta() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

__SIMGPU_DEVICE void cp_async_bulk_tensor_1d_global_to_shared(void* to, const CUtensorMap* map,
                                                              int c0, __barrier& bar) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2}], [%3];"
      :
      : "r"(__shared_address(to)), "l"(map), "r"(c0), "r"(__shared_address(bar.__native()))
      : "memory");
}
__SIMGPU_DEVICE void cp_async_bulk_tensor_1d_shared_to_global(const CUtensorMap* map, int c0,
                                                              const void* from) {
  asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%1, {%2}], [%0];"
               :
               : "r"(__shared_address(from)), "l"(map), "r"(c0)
               : "memory");
}

__SIMGPU_DEVICE void cp_async_bulk_tensor_2d_global_to_shared(void* to, const CUtensorMap* map,
                                                              int c0, int c1, __barrier& bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];"
      :
      : "r"(__shared_address(to)), "l"(map), "r"(c0), "r"(c1), "r"(__shared_address(bar.__native()))
      : "memory");
}
__SIMGPU_DEVICE void cp_async_bulk_tensor_2d_shared_to_global(const CUtensorMap* map, int c0,
                                                              int c1, const void* from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];"
               :
               : "r"(__shared_address(from)), "l"(map), "r"(c0), "r"(c1)
               : "memory");
}

__SIMGPU_DEVICE void cp_async_bulk_tensor_3d_global_to_shared(void* to, const CUtensorMap* map,
                                                              int c0, int c1, int c2,
                                                              __barrier& bar) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];"
      :
      : "r"(__shared_address(to)), "l"(map), "r"(c0), "r"(c1), "r"(c2),
        "r"(__shared_address(bar.__native()))
      : "memory");
}
__SIMGPU_DEVICE void cp_async_bulk_tensor_3d_shared_to_global(const CUtensorMap* map, int c0,
                                                              int c1, int c2, const void* from) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%1, {%2, %3, %4}], [%0];"
      :
      : "r"(__shared_address(from)), "l"(map), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}

__SIMGPU_DEVICE void cp_async_bulk_tensor_4d_global_to_shared(void* to, const CUtensorMap* map,
                                                              int c0, int c1, int c2, int c3,
                                                              __barrier& bar) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6];"
      :
      : "r"(__shared_address(to)), "l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(c3),
        "r"(__shared_address(bar.__native()))
      : "memory");
}
__SIMGPU_DEVICE void cp_async_bulk_tensor_4d_shared_to_global(const CUtensorMap* map, int c0,
                                                              int c1, int c2, int c3,
                                                              const void* from) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%1, {%2, %3, %4, %5}], [%0];"
      :
      : "r"(__shared_address(from)), "l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}

__SIMGPU_DEVICE void cp_async_bulk_tensor_5d_global_to_shared(void* to, const CUtensorMap* map,
                                                              int c0, int c1, int c2, int c3,
                                                              int c4, __barrier& bar) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
      :
      : "r"(__shared_address(to)), "l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4),
        "r"(__shared_address(bar.__native()))
      : "memory");
}
__SIMGPU_DEVICE void cp_async_bulk_tensor_5d_shared_to_global(const CUtensorMap* map, int c0,
                                                              int c1, int c2, int c3, int c4,
                                                              const void* from) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%1, {%2, %3, %4, %5, %6}], [%0];"
      :
      : "r"(__shared_address(from)), "l"(map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}

}  // namespace experimental
}  // namespace device
}  // namespace cuda

#endif
