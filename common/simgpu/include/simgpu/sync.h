// Barriers, fences, assert, printf, clocks. Part of <cuda_runtime.h>; device code only.
#pragma once
#pragma GCC system_header

#include <stddef.h>

#include "attributes.h"

// clang 14 takes its own __syncthreads() and the other barrier intrinsics for something that cannot
// change a shared variable, and moves loads of one across: with `__shared__ int n; if (t == 0) n =
// 5; __syncthreads(); use(n);` the other lanes of warp 0 read n before it is written, on real
// hardware too. An asm statement with a memory clobber orders them in every version.
// `nomerge`: barriers in both arms of an `if` are two, where lanes of a warp wait for each other in
// vain; clang would make one of them, which all reach.
__SIMGPU_DEVICE void __simgpu_syncthreads() {
  [[clang::nomerge]] {
    asm volatile("bar.sync 0;" : : : "memory");
  }
}
#define __syncthreads() __simgpu_syncthreads()

/// Barrier `id` of the block, 0 to 15, for all of its threads, or for `count` of them (whole warps).
__SIMGPU_DEVICE void __barrier_sync(unsigned int id) {
  asm volatile("barrier.sync %0;" : : "r"(id) : "memory");
}
__SIMGPU_DEVICE void __barrier_sync_count(unsigned int id, unsigned int count) {
  asm volatile("barrier.sync %0, %1;" : : "r"(id), "r"(count) : "memory");
}

__SIMGPU_DEVICE int __syncthreads_count(int predicate) {
  int count;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; bar.red.popc.u32 %0, 0, p; }"
               : "=r"(count)
               : "r"(predicate)
               : "memory");
  return count;
}
__SIMGPU_DEVICE int __syncthreads_and(int predicate) {
  int result;
  asm volatile(
      "{ .reg .pred p, q; setp.ne.s32 p, %1, 0; bar.red.and.pred q, 0, p; selp.s32 %0, 1, 0, q; }"
      : "=r"(result)
      : "r"(predicate)
      : "memory");
  return result;
}
__SIMGPU_DEVICE int __syncthreads_or(int predicate) {
  int result;
  asm volatile(
      "{ .reg .pred p, q; setp.ne.s32 p, %1, 0; bar.red.or.pred q, 0, p; selp.s32 %0, 1, 0, q; }"
      : "=r"(result)
      : "r"(predicate)
      : "memory");
  return result;
}
__SIMGPU_DEVICE void __syncwarp(unsigned int mask = 0xffffffffu) {
  asm volatile("bar.warp.sync %0;" : : "r"(mask) : "memory");
}

__SIMGPU_DEVICE void __threadfence_block() {
  asm volatile("membar.cta;" : : : "memory");
}
__SIMGPU_DEVICE void __threadfence() {
  asm volatile("membar.gl;" : : : "memory");
}
__SIMGPU_DEVICE void __threadfence_system() {
  asm volatile("membar.sys;" : : : "memory");
}

/// Programmatic dependent launch: kernels run one after the other here, and who does not wait is told of.
__SIMGPU_DEVICE void cudaTriggerProgrammaticLaunchCompletion() {
  asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
}
__SIMGPU_DEVICE void cudaGridDependencySynchronize() {
  asm volatile("griddepcontrol.wait;" : : : "memory");
}

__SIMGPU_DEVICE void __trap() {
  asm volatile("trap;");
}
__SIMGPU_DEVICE void __brkpt() {
  asm volatile("brkpt;");
}
/// Counts for a profiler: nobody looks.
#define __prof_trigger(counter) static_cast<void>(0)
__SIMGPU_DEVICE void __nanosleep(unsigned int nanoseconds) {
  asm volatile("nanosleep.u32 %0;" : : "r"(nanoseconds));
}
__SIMGPU_DEVICE long long clock64() {
  long long value;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(value) : : "memory");
  return value;
}
__SIMGPU_DEVICE int clock() {
  int value;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(value) : : "memory");
  return value;
}
__SIMGPU_DEVICE unsigned long long __globaltimer() {
  unsigned long long value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value) : : "memory");
  return value;
}

extern "C" {
// The engine implements both.
__attribute__((device)) int vprintf(const char* format, const char* arguments);
__attribute__((device, noreturn)) void __assertfail(const char* message, const char* file,
                                                    unsigned int line, const char* function,
                                                    size_t char_size);
// What the C library's assert() calls.
__attribute__((device, noreturn, nodebug)) static inline void __assert_fail(const char* message,
                                                                            const char* file,
                                                                            unsigned int line,
                                                                            const char* function) {
  __assertfail(message, file, line, function, sizeof(char));
}

// What constexpr functions of libstdc++ call if a precondition is violated. They run in kernels, too, but
// from version 14 on these two are host functions. The first is called in constant expressions alone, the
// second with _GLIBCXX_ASSERTIONS. Later versions of clang bring their own.
#ifndef __CLANG_CUDA_WRAPPERS_BITS_CPP_CONFIG
namespace std {
__attribute__((device, nodebug)) inline void __glibcxx_assert_fail() {}
__attribute__((device, noreturn, nodebug)) inline void __glibcxx_assert_fail(
    const char* file, int line, const char* function, const char* condition) {
  __assertfail(condition, file, static_cast<unsigned>(line), function, sizeof(char));
}
}  // namespace std
#endif
}
