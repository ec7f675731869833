// memset and memcpy in device code; malloc, free, new and delete on 8 MB of global memory that blocks of all launches
// share. What is freed is used again for a block of the same size class; a heap that is used up
// gives null, as in CUDA. Part of <cuda_runtime.h>; device code only.
#pragma once
#pragma GCC system_header

#include <stddef.h>

#include "atomics.h"
#include "sync.h"

struct __simgpu_heap_t {
  unsigned long long used;
  unsigned int lock;
  void* freed[48];  ///< by power of two
  alignas(16) char bytes[8 << 20];
};
static __device__ __simgpu_heap_t __simgpu_heap;

// A freed block's first word points to the next one of its class. Each block is preceded by 16 bytes
// that hold its class.
__SIMGPU_DEVICE void* __simgpu_heap_take(size_t bytes) {
  const int size_class = bytes <= 16 ? 4 : 64 - __clzll((long long)bytes - 1);
  if (size_class > 23) return 0;
  char* block = 0;
  for (bool done = false; !done;) {
    if (atomicCAS(&__simgpu_heap.lock, 0u, 1u) == 0u) {
      __threadfence();
      void* volatile* const first = &__simgpu_heap.freed[size_class];
      if (*first) {
        block = (char*)*first;
        *first = *(void* volatile*)block;
      } else {
        volatile unsigned long long* const used = &__simgpu_heap.used;
        const unsigned long long at = *used, need = (1ull << size_class) + 16;
        if (at + need <= sizeof __simgpu_heap.bytes) {
          *used = at + need;
          block = __simgpu_heap.bytes + at + 16;
          *(volatile int*)(block - 16) = size_class;
        }
      }
      __threadfence();
      atomicExch(&__simgpu_heap.lock, 0u);
      done = true;
    }
  }
  return block;
}
__SIMGPU_DEVICE void __simgpu_heap_give(void* pointer) {
  if (!pointer) return;
  for (bool done = false; !done;) {
    if (atomicCAS(&__simgpu_heap.lock, 0u, 1u) == 0u) {
      __threadfence();
      const int size_class = *(volatile int*)((char*)pointer - 16);
      *(void* volatile*)pointer = *(void* volatile*)&__simgpu_heap.freed[size_class];
      *(void* volatile*)&__simgpu_heap.freed[size_class] = pointer;
      __threadfence();
      atomicExch(&__simgpu_heap.lock, 0u);
      done = true;
    }
  }
}

extern "C" {
// Byte by byte through the compiler, which makes loops of them.
__attribute__((device, nodebug, always_inline)) static inline void* memset(void* to, int value,
                                                                           size_t bytes) {
  return __builtin_memset(to, value, bytes);
}
__attribute__((device, nodebug, always_inline)) static inline void* memcpy(void* to,
                                                                           const void* from,
                                                                           size_t bytes) {
  return __builtin_memcpy(to, from, bytes);
}
__attribute__((device, nodebug, always_inline)) static inline void* memmove(void* to,
                                                                            const void* from,
                                                                            size_t bytes) {
  return __builtin_memmove(to, from, bytes);
}
__attribute__((device, nodebug)) static inline void* malloc(size_t bytes) {
  return __simgpu_heap_take(bytes);
}
__attribute__((device, nodebug)) static inline void free(void* pointer) {
  __simgpu_heap_give(pointer);
}
}
// clang's own header defines new and delete in device code by these.
#include <new>
