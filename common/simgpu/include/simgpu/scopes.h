// What the headers of cuda/ share: scopes, orders and sizes that the compiler knows.
#pragma once
#pragma GCC system_header

#include <stddef.h>

#include "../cuda_runtime.h"

#if defined(__CUDA__)

#define __SIMGPU_SCOPED __attribute__((host, device, nodebug, always_inline))
#define __SIMGPU_DEVICE_MEMBER __attribute__((device, nodebug, always_inline))

namespace cuda {

enum thread_scope {
  thread_scope_system,
  thread_scope_device,
  thread_scope_block,
  thread_scope_thread
};

namespace std {
enum memory_order {
  memory_order_relaxed,
  memory_order_consume,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
}  // namespace std
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

/// A number of bytes that is a multiple of Alignment, as the addresses that it is used with.
template <size_t Alignment>
struct aligned_size_t {
  static constexpr size_t align = Alignment;
  size_t value;
  explicit __SIMGPU_SCOPED aligned_size_t(size_t size) : value(size) {}
  __SIMGPU_SCOPED operator size_t() const { return value; }
};

namespace __simgpu {

template <thread_scope Scope>
__SIMGPU_DEVICE void fence() {
  if (Scope == thread_scope_block)
    __threadfence_block();
  else if (Scope == thread_scope_device)
    __threadfence();
  else if (Scope == thread_scope_system)
    __threadfence_system();
}
/// What an order asks for before an access, and after it.
template <thread_scope Scope>
__SIMGPU_DEVICE void before(memory_order order) {
  if (order >= memory_order_release) fence<Scope>();
}
template <thread_scope Scope>
__SIMGPU_DEVICE void after(memory_order order) {
  if (order != memory_order_relaxed && order != memory_order_release) fence<Scope>();
}

}  // namespace __simgpu
}  // namespace cuda

#endif
