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
};
static __device__ __simgpu_heap_t __simgpu_heap;
/// The device knows it by its name: nothing of it is written at first.
alignas(16) static __device__ char __simgpu_heap_bytes[8 << 20];

/// In front of each block.
struct __simgpu_block_t {
  int size_class;
  unsigned int in_use;
  void* next;  ///< of a freed one: the next of its class
};

/// The device does it: the bytes count as never written, and as nobody's.
extern "C" __attribute__((device)) void __simgpu_forget(void* at, size_t bytes);
/// The same: a header and as many bytes behind it are somebody's, who may write there.
extern "C" __attribute__((device)) void __simgpu_lend(volatile void* header, size_t bytes);

__SIMGPU_DEVICE void* __simgpu_heap_take(size_t bytes) {
  const int size_class = bytes <= 16 ? 4 : 64 - __clzll((long long)bytes - 1);
  if (size_class > 23) return 0;
  volatile __simgpu_block_t* block = 0;
  for (bool done = false; !done;) {
    if (atomicCAS(&__simgpu_heap.lock, 0u, 1u) == 0u) {
      __threadfence();
      void* volatile* const first = &__simgpu_heap.freed[size_class];
      if (*first) {
        block = (volatile __simgpu_block_t*)*first;
        *first = block->next;
      } else {
        volatile unsigned long long* const used = &__simgpu_heap.used;
        const unsigned long long at = *used, need = (1ull << size_class) + sizeof *block;
        if (at + need <= sizeof __simgpu_heap_bytes) {
          *used = at + need;
          block = (volatile __simgpu_block_t*)(__simgpu_heap_bytes + at);
          __simgpu_lend(block, bytes);
          block->size_class = size_class;
        }
      }
      if (block) {
        __simgpu_lend(block, bytes);
        block->in_use = 1;
      }
      __threadfence();
      atomicExch(&__simgpu_heap.lock, 0u);
      done = true;
    }
  }
  return block ? (void*)(block + 1) : 0;
}
__SIMGPU_DEVICE void __simgpu_heap_give(void* pointer) {
  if (!pointer) return;
  bool was_in_use = false;
  for (bool done = false; !done;) {
    if (atomicCAS(&__simgpu_heap.lock, 0u, 1u) == 0u) {
      __threadfence();
      volatile __simgpu_block_t* const block = (volatile __simgpu_block_t*)pointer - 1;
      was_in_use = block->in_use == 1;
      if (was_in_use) {
        const int size_class = block->size_class;
        __simgpu_forget(pointer, size_t{1} << size_class);
        block->in_use = 0;
        block->next = *(void* volatile*)&__simgpu_heap.freed[size_class];
        *(void* volatile*)&__simgpu_heap.freed[size_class] = (void*)block;
      }
      __threadfence();
      atomicExch(&__simgpu_heap.lock, 0u);
      done = true;
    }
  }
  if (!was_in_use)
    __assertfail("free() or delete of memory that is free already, or that malloc() did not give",
                 __FILE__, __LINE__, __func__, sizeof(char));
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
// What constexpr functions of the host's library call, such as those of std::string_view. Kernels cannot name
// them: strlen and the others themselves are the host's alone, as with nvcc.
__attribute__((device, nodebug)) static inline size_t __simgpu_strlen(const char* text) __asm__(
    "strlen");
__attribute__((device, nodebug)) static inline size_t __simgpu_strlen(const char* text) {
  size_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}
__attribute__((device, nodebug)) static inline int __simgpu_memcmp(const void* a, const void* b,
                                                                   size_t bytes) __asm__("memcmp");
__attribute__((device, nodebug)) static inline int __simgpu_memcmp(const void* a, const void* b,
                                                                   size_t bytes) {
  const unsigned char* x = static_cast<const unsigned char*>(a);
  const unsigned char* y = static_cast<const unsigned char*>(b);
  for (size_t k = 0; k < bytes; ++k)
    if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
  return 0;
}
__attribute__((device, nodebug)) static inline void* __simgpu_memchr(
    const void* in, int byte, size_t bytes) __asm__("memchr");
__attribute__((device, nodebug)) static inline void* __simgpu_memchr(const void* in, int byte,
                                                                     size_t bytes) {
  const unsigned char* x = static_cast<const unsigned char*>(in);
  for (size_t k = 0; k < bytes; ++k)
    if (x[k] == static_cast<unsigned char>(byte)) return const_cast<unsigned char*>(x + k);
  return nullptr;
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
