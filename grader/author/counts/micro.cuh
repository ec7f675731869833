// What the kernels of micro.cu share: accesses spelled out in PTX, and how one is launched and named.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using u32 = unsigned;
using u64 = unsigned long long;

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "micro: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

constexpr int shared_words = 8192;  // 32 KiB

// ---- accesses, spelled out

__device__ __forceinline__ u32 global_word(const u32* p) {
  u32 v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ __forceinline__ void put(u32* p, u32 v) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ __forceinline__ u32 shared_base(const void* p) {
  return static_cast<u32>(__cvta_generic_to_shared(p));
}
/// Every word of the array, a warp in one wavefront at a time.
__device__ __forceinline__ void fill_shared(u32 base) {
  for (int i = 0; i < shared_words / 32; ++i)
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + (i * 32 + threadIdx.x) * 4),
                 "r"(i * 32 + threadIdx.x)
                 : "memory");
  __syncwarp();
}

template <int BYTES>
__device__ __forceinline__ u32 shared_load_asm(u32 address) {
  u32 a = 0, b = 0, c = 0, d = 0;
  if constexpr (BYTES == 1)
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(a) : "r"(address) : "memory");
  if constexpr (BYTES == 2) {
    unsigned short h;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(h) : "r"(address) : "memory");
    a = h;
  }
  if constexpr (BYTES == 4)
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(address) : "memory");
  if constexpr (BYTES == 8)
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(address) : "memory");
  if constexpr (BYTES == 16)
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(address)
                 : "memory");
  return a ^ b ^ c ^ d;
}
template <int BYTES>
__device__ __forceinline__ void shared_store_asm(u32 address, u32 v) {
  if constexpr (BYTES == 2)
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(address), "h"(static_cast<unsigned short>(v))
                 : "memory");
  if constexpr (BYTES == 4)
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(v) : "memory");
  if constexpr (BYTES == 8)
    asm volatile("st.shared.v2.u32 [%0], {%1, %1};" ::"r"(address), "r"(v) : "memory");
  if constexpr (BYTES == 16)
    asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(address), "r"(v) : "memory");
}
template <int BYTES>
__device__ __forceinline__ u32 global_load_asm(const char* address) {
  u32 a = 0, b = 0, c = 0, d = 0;
  if constexpr (BYTES == 1)
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(a) : "l"(address) : "memory");
  if constexpr (BYTES == 2) {
    unsigned short h;
    asm volatile("ld.global.u16 %0, [%1];" : "=h"(h) : "l"(address) : "memory");
    a = h;
  }
  if constexpr (BYTES == 4)
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(a) : "l"(address) : "memory");
  if constexpr (BYTES == 8)
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(address) : "memory");
  if constexpr (BYTES == 16)
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(address)
                 : "memory");
  return a ^ b ^ c ^ d;
}
template <int BYTES>
__device__ __forceinline__ void global_store_asm(char* address, u32 v) {
  if constexpr (BYTES == 2)
    asm volatile("st.global.u16 [%0], %1;" ::"l"(address), "h"(static_cast<unsigned short>(v))
                 : "memory");
  if constexpr (BYTES == 4)
    asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(v) : "memory");
  if constexpr (BYTES == 8)
    asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(address), "r"(v) : "memory");
  if constexpr (BYTES == 16)
    asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(address), "r"(v) : "memory");
}

// ---- the launches

u32* offsets = nullptr;  // 64 words on the device
char* data = nullptr;    // 1 MiB
u32* out = nullptr;

/// Byte offsets of the 32 lanes (and of 32 destinations), from f(lane).
template <class F>
void offsets_are(F f) {
  std::vector<u32> host(64);
  for (u32 i = 0; i < 64; ++i) host[i] = static_cast<u32>(f(i));
  check(cudaMemcpy(offsets, host.data(), 64 * 4, cudaMemcpyHostToDevice), "copy");
}
void launched(const char* name) {
  check(cudaGetLastError(), name);
  check(cudaDeviceSynchronize(), name);
  std::printf("%s\n", name);
}
constexpr u32 all = 0xffffffffu;

#define LAUNCH(name, ...) \
  do {                    \
    __VA_ARGS__;          \
    launched(name);       \
  } while (false)

}  // namespace
