// Atomic functions: device scope, and the _block and _system forms. Part of <cuda_runtime.h>;
// device code only.
#pragma once
#pragma GCC system_header

#include "attributes.h"

// The compiler has one family of builtins per scope: __nvvm_atom_, __nvvm_atom_cta_,
// __nvvm_atom_sys_. add, exchange, compare-and-swap and the bit operations exist for signed words
// only; unsigned values go through as the same bits.
#define __SIMGPU_ATOMIC(Function, Builtin, Suffix, T, Word)                              \
  __SIMGPU_DEVICE T Function(T* address, T value) {                                      \
    return static_cast<T>(                                                               \
        __nvvm_atom_##Builtin##_gen_##Suffix((Word*)address, static_cast<Word>(value))); \
  }
#define __SIMGPU_ATOMIC_CAS(Function, Builtin, Suffix, T, Word)                 \
  __SIMGPU_DEVICE T Function(T* address, T compare, T value) {                  \
    return static_cast<T>(__nvvm_atom_##Builtin##_gen_##Suffix(                 \
        (Word*)address, static_cast<Word>(compare), static_cast<Word>(value))); \
  }
#define __SIMGPU_ATOMIC_BITS(Function, Builtin)            \
  __SIMGPU_ATOMIC(Function, Builtin, i, int, int)          \
  __SIMGPU_ATOMIC(Function, Builtin, i, unsigned int, int) \
  __SIMGPU_ATOMIC(Function, Builtin, ll, unsigned long long, long long)
#define __SIMGPU_ATOMIC_ORDER(Function, Builtin)                     \
  __SIMGPU_ATOMIC(Function, Builtin, i, int, int)                    \
  __SIMGPU_ATOMIC(Function, Builtin, ui, unsigned int, unsigned int) \
  __SIMGPU_ATOMIC(Function, Builtin, ll, long long, long long)       \
  __SIMGPU_ATOMIC(Function, Builtin, ull, unsigned long long, unsigned long long)

#define __SIMGPU_ATOMICS(Scope, Prefix, Ptx)                                                       \
  __SIMGPU_ATOMIC(atomicAdd##Scope, Prefix##add, i, int, int)                                      \
  __SIMGPU_ATOMIC(atomicAdd##Scope, Prefix##add, i, unsigned int, int)                             \
  __SIMGPU_ATOMIC(atomicAdd##Scope, Prefix##add, ll, unsigned long long, long long)                \
  __SIMGPU_ATOMIC(atomicAdd##Scope, Prefix##add, f, float, float)                                  \
  __SIMGPU_ATOMIC(atomicAdd##Scope, Prefix##add, d, double, double)                                \
  __SIMGPU_DEVICE int atomicSub##Scope(int* address, int value) {                                  \
    return atomicAdd##Scope(address, static_cast<int>(0u - static_cast<unsigned int>(value)));     \
  }                                                                                                \
  __SIMGPU_DEVICE unsigned int atomicSub##Scope(unsigned int* address, unsigned int value) {       \
    return atomicAdd##Scope(address, 0u - value);                                                  \
  }                                                                                                \
  __SIMGPU_ATOMIC_BITS(atomicExch##Scope, Prefix##xchg)                                            \
  __SIMGPU_DEVICE float atomicExch##Scope(float* address, float value) {                           \
    int bits;                                                                                      \
    __builtin_memcpy(&bits, &value, 4);                                                            \
    bits = atomicExch##Scope((int*)address, bits);                                                 \
    __builtin_memcpy(&value, &bits, 4);                                                            \
    return value;                                                                                  \
  }                                                                                                \
  __SIMGPU_ATOMIC_ORDER(atomicMin##Scope, Prefix##min)                                             \
  __SIMGPU_ATOMIC_ORDER(atomicMax##Scope, Prefix##max)                                             \
  __SIMGPU_ATOMIC(atomicInc##Scope, Prefix##inc, ui, unsigned int, unsigned int)                   \
  __SIMGPU_ATOMIC(atomicDec##Scope, Prefix##dec, ui, unsigned int, unsigned int)                   \
  __SIMGPU_ATOMIC_CAS(atomicCAS##Scope, Prefix##cas, i, int, int)                                  \
  __SIMGPU_ATOMIC_CAS(atomicCAS##Scope, Prefix##cas, i, unsigned int, int)                         \
  __SIMGPU_ATOMIC_CAS(atomicCAS##Scope, Prefix##cas, ll, unsigned long long, long long)            \
  __SIMGPU_DEVICE unsigned short atomicCAS##Scope(unsigned short* address, unsigned short compare, \
                                                  unsigned short value) {                          \
    unsigned short old;                                                                            \
    asm volatile("atom" Ptx ".cas.b16 %0, [%1], %2, %3;"                                           \
                 : "=h"(old)                                                                       \
                 : "l"(address), "h"(compare), "h"(value)                                          \
                 : "memory");                                                                      \
    return old;                                                                                    \
  }                                                                                                \
  __SIMGPU_ATOMIC_BITS(atomicAnd##Scope, Prefix##and)                                              \
  __SIMGPU_ATOMIC_BITS(atomicOr##Scope, Prefix## or)                                               \
  __SIMGPU_ATOMIC_BITS(atomicXor##Scope, Prefix## xor)

__SIMGPU_ATOMICS(, , "")
__SIMGPU_ATOMICS(_block, cta_, ".cta")
__SIMGPU_ATOMICS(_system, sys_, ".sys")

// Compute capability 9.0: up to 16 bytes at once, each element an atomic of its own.
__SIMGPU_DEVICE float2 atomicAdd(float2* address, float2 value) {
  float2 old;
  asm volatile("atom.global.v2.f32.add {%0, %1}, [%2], {%3, %4};"
               : "=f"(old.x), "=f"(old.y)
               : "l"(__cvta_generic_to_global(address)), "f"(value.x), "f"(value.y)
               : "memory");
  return old;
}
__SIMGPU_DEVICE float4 atomicAdd(float4* address, float4 value) {
  float4 old;
  asm volatile("atom.global.v4.f32.add {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"
               : "=f"(old.x), "=f"(old.y), "=f"(old.z), "=f"(old.w)
               : "l"(__cvta_generic_to_global(address)), "f"(value.x), "f"(value.y), "f"(value.z),
                 "f"(value.w)
               : "memory");
  return old;
}

#undef __SIMGPU_ATOMICS
#undef __SIMGPU_ATOMIC_ORDER
#undef __SIMGPU_ATOMIC_BITS
#undef __SIMGPU_ATOMIC_CAS
#undef __SIMGPU_ATOMIC
