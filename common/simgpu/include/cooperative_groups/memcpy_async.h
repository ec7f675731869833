// cg::memcpy_async from global to shared memory: each thread copies its share with cp.async, in
// pieces of 16, 8 or 4 bytes as alignment allows.
#pragma once
#pragma GCC system_header

#include "../cooperative_groups.h"
#include "../cuda_pipeline_primitives.h"

#if defined(__CUDA__)

namespace cooperative_groups {
namespace __simgpu {

template <size_t Bytes, typename Group>
__SIMGPU_DEVICE void copy_pieces(const Group& group, char* to, const char* from, size_t bytes) {
  for (size_t at = group.thread_rank() * Bytes; at + Bytes <= bytes;
       at += group.num_threads() * Bytes)
    __pipeline_memcpy_async(to + at, from + at, Bytes);
}

/// Begins a copy that no group has yet.
template <typename Group, typename T, typename U>
__SIMGPU_DEVICE void copy_async(const Group& group, T* to, const U* from, size_t bytes) {
  char* const t = reinterpret_cast<char*>(to);
  const char* const f = reinterpret_cast<const char*>(from);
  const size_t at = reinterpret_cast<size_t>(t) | reinterpret_cast<size_t>(f) | bytes;
  if (at % 16 == 0)
    copy_pieces<16>(group, t, f, bytes);
  else if (at % 8 == 0)
    copy_pieces<8>(group, t, f, bytes);
  else if (at % 4 == 0)
    copy_pieces<4>(group, t, f, bytes);
  else
    for (size_t i = group.thread_rank(); i < bytes; i += group.num_threads()) t[i] = f[i];
}

/// For a copy by one thread.
struct one_thread {
  static __attribute__((device, nodebug, always_inline)) unsigned int thread_rank() { return 0; }
  static __attribute__((device, nodebug, always_inline)) unsigned int num_threads() { return 1; }
};

}  // namespace __simgpu

template <typename Group, typename T, typename U>
__SIMGPU_DEVICE void memcpy_async(const Group& group, T* to, const U* from, size_t bytes) {
  __simgpu::copy_async(group, to, from, bytes);
  __pipeline_commit();
}

/// By elements: as many as there are on both sides.
template <typename Group, typename T, typename N, typename U, typename M>
__SIMGPU_DEVICE void memcpy_async(const Group& group, T* to, N room, const U* from, M count) {
  const size_t n = static_cast<size_t>(room), m = static_cast<size_t>(count);
  memcpy_async(group, to, from, (n < m ? n : m) * sizeof(T));
}

/// Until all but the last `Stages` copies of the caller are there.
template <unsigned int Stages, typename Group>
__SIMGPU_DEVICE void wait_prior(const Group& group) {
  __pipeline_wait_prior(Stages);
  group.sync();
}
template <typename Group>
__SIMGPU_DEVICE void wait(const Group& group) {
  __pipeline_wait_prior(0);
  group.sync();
}

}  // namespace cooperative_groups

#endif
