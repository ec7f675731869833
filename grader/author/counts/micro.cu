// Small kernels, one launch each, whose counts the profiler and the simulated GPU must agree on.
// Every access is inline PTX, so that nvcc's and clang's code make the same ones. One line of
// output per launch, in order: the name under which verify-counts shows it.
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

// ---- kernels: lane i works at byte offset[i], if bit i of `active` is set

template <int BYTES>
__global__ void shared_load(const u32* offset, u32 active, u32* out) {
  __shared__ __align__(128) u32 words[shared_words];
  const u32 base = shared_base(words), lane = threadIdx.x, mine = global_word(offset + lane);
  fill_shared(base);
  u32 v = 0;
  if ((active >> lane) & 1) v = shared_load_asm<BYTES>(base + mine);
  put(out + lane, v);
}

template <int BYTES>
__global__ void shared_store(const u32* offset, u32 active, u32* out) {
  __shared__ __align__(128) u32 words[shared_words];
  const u32 base = shared_base(words), lane = threadIdx.x, mine = global_word(offset + lane);
  fill_shared(base);
  if ((active >> lane) & 1) shared_store_asm<BYTES>(base + mine, lane);
  __syncwarp();
  put(out + lane, shared_load_asm<4>(base + lane * 4));
}

template <int BYTES>
__global__ void global_load(const u32* offset, u32 active, const char* data, u32* out) {
  const u32 lane = threadIdx.x, mine = global_word(offset + lane);
  u32 v = 0;
  if ((active >> lane) & 1) v = global_load_asm<BYTES>(data + mine);
  put(out + lane, v);
}

template <int BYTES>
__global__ void global_store(const u32* offset, u32 active, char* data) {
  const u32 lane = threadIdx.x, mine = global_word(offset + lane);
  if ((active >> lane) & 1) global_store_asm<BYTES>(data + mine, lane);
}

/// One instruction under a predicate, never a branch: what a request with no active lane counts.
__global__ void predicated_load(const u32* offset, u32 active, const char* data, u32* out) {
  const u32 lane = threadIdx.x, mine = global_word(offset + lane);
  u32 v = 0;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.u32 %0, [%1]; }"
               : "+r"(v)
               : "l"(data + mine), "r"((active >> lane) & 1)
               : "memory");
  put(out + lane, v);
}

__global__ void global_red(const u32* offset, u32 active, char* data) {
  const u32 lane = threadIdx.x, mine = global_word(offset + lane);
  if ((active >> lane) & 1)
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(data + mine), "r"(lane) : "memory");
}
__global__ void global_red_float(const u32* offset, u32 active, char* data) {
  const u32 lane = threadIdx.x, mine = global_word(offset + lane);
  if ((active >> lane) & 1)
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(data + mine), "f"(1.0f) : "memory");
}
__global__ void global_atomic(const u32* offset, u32 active, char* data, u32* out) {
  const u32 lane = threadIdx.x, mine = global_word(offset + lane);
  u32 v = 0;
  if ((active >> lane) & 1)
    asm volatile("atom.global.add.u32 %0, [%1], %2;"
                 : "=r"(v)
                 : "l"(data + mine), "r"(lane)
                 : "memory");
  put(out + lane, v);
}
__global__ void shared_atomic(const u32* offset, u32 active, u32* out) {
  __shared__ __align__(128) u32 words[shared_words];
  const u32 base = shared_base(words), lane = threadIdx.x, mine = global_word(offset + lane);
  fill_shared(base);
  u32 v = 0;
  if ((active >> lane) & 1)
    asm volatile("atom.shared.add.u32 %0, [%1], %2;"
                 : "=r"(v)
                 : "r"(base + mine), "r"(lane)
                 : "memory");
  put(out + lane, v);
}

// ---- asynchronous copies: from data + offset[i] to words + offset[32 + i]

// Lanes that are not active copy nothing or, if ZERO, zeros: 0 bytes of their source.
template <int BYTES, bool L1, bool ZERO = false>
__global__ void async_copy(const u32* offset, u32 active, const char* data, u32 source_bytes,
                           u32* out) {
  __shared__ __align__(128) u32 words[shared_words];
  const u32 base = shared_base(words), lane = threadIdx.x;
  const u32 from = global_word(offset + lane), to = global_word(offset + 32 + lane);
  fill_shared(base);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const bool mine = (active >> lane) & 1;
  if (ZERO && !mine) source_bytes = 0;
  if (ZERO || mine) {
    if constexpr (L1)
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(base + to),
                   "l"(data + from), "n"(BYTES), "r"(source_bytes)
                   : "memory");
    else
      asm volatile("cp.async.cg.shared.global [%0], [%1], %2, %3;" ::"r"(base + to),
                   "l"(data + from), "n"(BYTES), "r"(source_bytes)
                   : "memory");
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
#endif
  __syncwarp();
  put(out + lane, shared_load_asm<4>(base + lane * 4));
}

// ---- matrix loads and stores: lane i gives the row at byte offset[i]

template <int COUNT, bool TRANS>
__global__ void matrix_load(const u32* offset, u32, u32* out) {
  __shared__ __align__(128) u32 words[shared_words];
  const u32 base = shared_base(words), lane = threadIdx.x, mine = global_word(offset + lane);
  fill_shared(base);
  u32 a = 0, b = 0, c = 0, d = 0;
  const u32 row = base + mine;
  if constexpr (COUNT == 1 && !TRANS)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(a)
                 : "r"(row)
                 : "memory");
  if constexpr (COUNT == 1 && TRANS)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(a)
                 : "r"(row)
                 : "memory");
  if constexpr (COUNT == 2 && !TRANS)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a), "=r"(b)
                 : "r"(row)
                 : "memory");
  if constexpr (COUNT == 2 && TRANS)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a), "=r"(b)
                 : "r"(row)
                 : "memory");
  if constexpr (COUNT == 4 && !TRANS)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(row)
                 : "memory");
  if constexpr (COUNT == 4 && TRANS)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(row)
                 : "memory");
  put(out + lane, a);
  put(out + 32 + lane, b);
  put(out + 64 + lane, c);
  put(out + 96 + lane, d);
}

template <int COUNT, bool TRANS>
__global__ void matrix_store(const u32* offset, u32, u32* out) {
  __shared__ __align__(128) u32 words[shared_words];
  const u32 base = shared_base(words), lane = threadIdx.x, mine = global_word(offset + lane);
  fill_shared(base);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  const u32 row = base + mine;
  if constexpr (COUNT == 1 && !TRANS)
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(row), "r"(lane)
                 : "memory");
  if constexpr (COUNT == 2 && !TRANS)
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %1};" ::"r"(row), "r"(lane)
                 : "memory");
  if constexpr (COUNT == 4 && !TRANS)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(row),
                 "r"(lane)
                 : "memory");
  if constexpr (COUNT == 4 && TRANS)
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(row),
        "r"(lane)
        : "memory");
#endif
  __syncwarp();
  put(out + lane, shared_load_asm<4>(base + lane * 4));
}

// ---- arithmetic: `repeat` instructions per lane

__global__ void multiply_adds_float(u32 active, int repeat, u32* out) {
  float s = 1;
  if ((active >> threadIdx.x) & 1)
    for (int i = 0; i < repeat; ++i) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(s));
  put(out + threadIdx.x, __float_as_uint(s));
}
__global__ void multiply_adds_double(u32 active, int repeat, u32* out) {
  double s = 1;
  if ((active >> threadIdx.x) & 1)
    for (int i = 0; i < repeat; ++i) asm volatile("fma.rn.f64 %0, %0, %0, %0;" : "+d"(s));
  put(out + threadIdx.x, static_cast<u32>(s));
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define MICRO_MMA 1
#endif

__global__ void mma_f16(int repeat, u32* out) {  // m16n8k16, FP32 accumulation
  float c[4] = {};
  const u32 a = threadIdx.x, b = 7;
#ifdef MICRO_MMA
  for (int i = 0; i < repeat; ++i)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, "
        "{%5, %5}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a), "r"(b));
#endif
  put(out + threadIdx.x, __float_as_uint(c[0] + c[1] + c[2] + c[3]));
}
__global__ void mma_f16_half_sums(int repeat, u32* out) {  // m16n8k16, FP16 accumulation
  u32 c0 = 0, c1 = 0;
  const u32 a = threadIdx.x, b = 7;
#ifdef MICRO_MMA
  for (int i = 0; i < repeat; ++i)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %2, %2, %2}, {%3, %3}, "
        "{%0, %1};"
        : "+r"(c0), "+r"(c1)
        : "r"(a), "r"(b));
#endif
  put(out + threadIdx.x, c0 ^ c1);
}
__global__ void mma_bf16(int repeat, u32* out) {
  float c[4] = {};
  const u32 a = threadIdx.x, b = 7;
#ifdef MICRO_MMA
  for (int i = 0; i < repeat; ++i)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, "
        "{%5, %5}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a), "r"(b));
#endif
  put(out + threadIdx.x, __float_as_uint(c[0] + c[1] + c[2] + c[3]));
}
__global__ void mma_tf32(int repeat, u32* out) {
  float c[4] = {};
  const u32 a = threadIdx.x, b = 7;
#ifdef MICRO_MMA
  for (int i = 0; i < repeat; ++i)
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, "
        "{%5, %5}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a), "r"(b));
#endif
  put(out + threadIdx.x, __float_as_uint(c[0] + c[1] + c[2] + c[3]));
}
__global__ void mma_f64(int repeat, u32* out) {  // m8n8k4
  double c[2] = {};
  const double a = threadIdx.x, b = 7;
#ifdef MICRO_MMA
  for (int i = 0; i < repeat; ++i)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a), "d"(b));
#endif
  put(out + threadIdx.x, static_cast<u32>(c[0] + c[1]));
}
__global__ void mma_f64_wide(int repeat, u32* out) {  // m16n8k8
  double c[4] = {};
  const double a = threadIdx.x, b = 7;
#ifdef MICRO_MMA
  for (int i = 0; i < repeat; ++i)
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %4, %4, %4}, "
        "{%5, %5}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a), "d"(b));
#endif
  put(out + threadIdx.x, static_cast<u32>(c[0] + c[1] + c[2] + c[3]));
}
__global__ void mma_s8(int repeat, u32* out) {  // m16n8k32
  int c[4] = {};
  const u32 a = threadIdx.x, b = 7;
#ifdef MICRO_MMA
  for (int i = 0; i < repeat; ++i)
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, "
        "{%5, %5}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a), "r"(b));
#endif
  put(out + threadIdx.x, c[0] + c[1] + c[2] + c[3]);
}

// ---- wmma fragments from shared memory, elements in rows of `pitch` elements

template <char FRAGMENT>
__global__ void wmma_load(u32 pitch, u32* out) {
  __shared__ __align__(128) u32 words[shared_words];
  const u32 base = shared_base(words), lane = threadIdx.x;
  fill_shared(base);
  u32 r[8] = {};
  double d = 0;
  float f[8] = {};
  if constexpr (FRAGMENT == 'a')
    asm volatile(
        "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], "
        "%9;"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]),
          "=r"(r[7])
        : "r"(base), "r"(pitch)
        : "memory");
  if constexpr (FRAGMENT == 'b')
    asm volatile(
        "wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], "
        "%9;"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]),
          "=r"(r[7])
        : "r"(base), "r"(pitch)
        : "memory");
  if constexpr (FRAGMENT == 'c')
    asm volatile(
        "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], "
        "%9;"
        : "=f"(f[0]), "=f"(f[1]), "=f"(f[2]), "=f"(f[3]), "=f"(f[4]), "=f"(f[5]), "=f"(f[6]),
          "=f"(f[7])
        : "r"(base), "r"(pitch)
        : "memory");
  if constexpr (FRAGMENT == 't')  // tf32 A
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k8.shared.tf32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(base), "r"(pitch)
                 : "memory");
  if constexpr (FRAGMENT == 'u')  // tf32 B
    asm volatile("wmma.load.b.sync.aligned.row.m16n16k8.shared.tf32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(base), "r"(pitch)
                 : "memory");
  if constexpr (FRAGMENT == 'd')  // f64 A
    asm volatile("wmma.load.a.sync.aligned.row.m8n8k4.shared.f64 {%0}, [%1], %2;"
                 : "=d"(d)
                 : "r"(base), "r"(pitch)
                 : "memory");
  if constexpr (FRAGMENT == 'e')  // f64 B
    asm volatile("wmma.load.b.sync.aligned.row.m8n8k4.shared.f64 {%0}, [%1], %2;"
                 : "=d"(d)
                 : "r"(base), "r"(pitch)
                 : "memory");
  u32 v = static_cast<u32>(d);
  for (int i = 0; i < 8; ++i) v ^= r[i] ^ __float_as_uint(f[i]);
  put(out + lane, v);
}

template <char FRAGMENT>
__global__ void wmma_store(u32 pitch, u32* out) {
  __shared__ __align__(128) u32 words[shared_words];
  const u32 base = shared_base(words), lane = threadIdx.x;
  fill_shared(base);
  const float f = static_cast<float>(lane);
  const double d = lane;
  if constexpr (FRAGMENT == 'c')
    asm volatile(
        "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1, %1, %1, %1, %1, %1, %1, "
        "%1}, %2;" ::"r"(base),
        "f"(f), "r"(pitch)
        : "memory");
  if constexpr (FRAGMENT == 'd')
    asm volatile("wmma.store.d.sync.aligned.row.m8n8k4.shared.f64 [%0], {%1, %1}, %2;" ::"r"(base),
                 "d"(d), "r"(pitch)
                 : "memory");
  __syncwarp();
  put(out + lane, shared_load_asm<4>(base + lane * 4));
}
template <char FRAGMENT>
__global__ void wmma_store_global(u32 pitch, u32* out) {
  const float f = static_cast<float>(threadIdx.x);
  const double d = threadIdx.x;
  if constexpr (FRAGMENT == 'c')
    asm volatile(
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0], {%1, %1, %1, %1, %1, %1, %1, "
        "%1}, %2;" ::"l"(out),
        "f"(f), "r"(pitch)
        : "memory");
  if constexpr (FRAGMENT == 'd')
    asm volatile("wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%0], {%1, %1}, %2;" ::"l"(out),
                 "d"(d), "r"(pitch)
                 : "memory");
}
__global__ void wmma_load_global(const u32* data, u32 pitch, u32* out) {
  u32 r[8];
  asm volatile(
      "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], "
      "%9;"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]),
        "=r"(r[7])
      : "l"(data), "r"(pitch)
      : "memory");
  u32 v = 0;
  for (int i = 0; i < 8; ++i) v ^= r[i];
  put(out + threadIdx.x, v);
}

/// The combinations that lie otherwise in memory; v is what is loaded, to keep it alive.
template <int CASE>
__global__ void wmma_other(const u32* from, u32 pitch, u32* out) {
  __shared__ __align__(128) u32 words[shared_words];
  const u32 base = shared_base(words), lane = threadIdx.x;
  fill_shared(base);
  u32 r[8] = {};
  float f[8] = {};
  double d[2] = {};
#define MICRO_LOAD8(form, constraint, address)                                           \
  asm volatile(form " {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"                       \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), \
                 "=r"(r[6]), "=r"(r[7])                                                  \
               : constraint(address), "r"(pitch)                                         \
               : "memory")
#define MICRO_LOAD8F(form, constraint, address)                                          \
  asm volatile(form " {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"                       \
               : "=f"(f[0]), "=f"(f[1]), "=f"(f[2]), "=f"(f[3]), "=f"(f[4]), "=f"(f[5]), \
                 "=f"(f[6]), "=f"(f[7])                                                  \
               : constraint(address), "r"(pitch)                                         \
               : "memory")
#define MICRO_LOAD4(form, constraint, address)                  \
  asm volatile(form " {%0, %1, %2, %3}, [%4], %5;"              \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) \
               : constraint(address), "r"(pitch)                \
               : "memory")
  if constexpr (CASE == 0)
    MICRO_LOAD8("wmma.load.a.sync.aligned.col.m16n16k16.shared.f16", "r", base);
  if constexpr (CASE == 1)
    MICRO_LOAD8("wmma.load.b.sync.aligned.col.m16n16k16.shared.f16", "r", base);
  if constexpr (CASE == 2)
    MICRO_LOAD8("wmma.load.a.sync.aligned.col.m16n16k16.global.f16", "l", from);
  if constexpr (CASE == 3)
    MICRO_LOAD8("wmma.load.b.sync.aligned.row.m16n16k16.global.f16", "l", from);
  if constexpr (CASE == 4)
    MICRO_LOAD8("wmma.load.b.sync.aligned.col.m16n16k16.global.f16", "l", from);
  if constexpr (CASE == 5)
    MICRO_LOAD8F("wmma.load.c.sync.aligned.col.m16n16k16.shared.f32", "r", base);
  if constexpr (CASE == 6)
    MICRO_LOAD4("wmma.load.a.sync.aligned.col.m16n16k8.shared.tf32", "r", base);
  if constexpr (CASE == 7)
    MICRO_LOAD4("wmma.load.b.sync.aligned.col.m16n16k8.shared.tf32", "r", base);
  if constexpr (CASE == 8)
    asm volatile("wmma.load.a.sync.aligned.col.m8n8k4.shared.f64 {%0}, [%1], %2;"
                 : "=d"(d[0])
                 : "r"(base), "r"(pitch)
                 : "memory");
  if constexpr (CASE == 9)
    asm volatile("wmma.load.b.sync.aligned.col.m8n8k4.shared.f64 {%0}, [%1], %2;"
                 : "=d"(d[0])
                 : "r"(base), "r"(pitch)
                 : "memory");
  if constexpr (CASE == 10)
    asm volatile("wmma.load.c.sync.aligned.row.m8n8k4.shared.f64 {%0, %1}, [%2], %3;"
                 : "=d"(d[0]), "=d"(d[1])
                 : "r"(base), "r"(pitch)
                 : "memory");
  if constexpr (CASE == 11)
    MICRO_LOAD4("wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16", "r", base);
  if constexpr (CASE == 12)
    MICRO_LOAD4("wmma.load.b.sync.aligned.row.m16n16k16.shared.bf16", "r", base);
  if constexpr (CASE == 13)
    MICRO_LOAD8("wmma.load.a.sync.aligned.row.m32n8k16.shared.f16", "r", base);
  if constexpr (CASE == 14)
    MICRO_LOAD8("wmma.load.b.sync.aligned.row.m32n8k16.shared.f16", "r", base);
  if constexpr (CASE == 15)
    MICRO_LOAD8("wmma.load.a.sync.aligned.row.m8n32k16.shared.f16", "r", base);
  if constexpr (CASE == 16)
    MICRO_LOAD8("wmma.load.b.sync.aligned.row.m8n32k16.shared.f16", "r", base);
  if constexpr (CASE == 17)
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.s8 {%0, %1}, [%2], %3;"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(base), "r"(pitch)
                 : "memory");
  if constexpr (CASE == 18)
    asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.shared.s8 {%0, %1}, [%2], %3;"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(base), "r"(pitch)
                 : "memory");
  if constexpr (CASE == 19)
    MICRO_LOAD4("wmma.load.c.sync.aligned.row.m16n16k16.shared.f16", "r", base);
  if constexpr (CASE == 20)
    asm volatile(
        "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%0], {%1, %1, %1, %1}, %2;" ::"r"(
            base),
        "r"(lane), "r"(pitch)
        : "memory");
  if constexpr (CASE == 21)
    asm volatile(
        "wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 [%0], {%1, %1, %1, %1, %1, %1, %1, "
        "%1}, %2;" ::"r"(base),
        "f"(f[0]), "r"(pitch)
        : "memory");
  if constexpr (CASE == 22)
    MICRO_LOAD4("wmma.load.a.sync.aligned.row.m16n16k8.global.tf32", "l", from);
  if constexpr (CASE == 23)
    MICRO_LOAD8F("wmma.load.c.sync.aligned.row.m16n16k16.global.f32", "l", from);
  u32 v = static_cast<u32>(d[0] + d[1]);
  for (int i = 0; i < 8; ++i) v ^= r[i] ^ __float_as_uint(f[i]);
  put(out + lane, v);
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

void shared_accesses() {
  offsets_are([](u32 i) { return 8 * (i / 2); });
  LAUNCH("shared load 8 B, i/2", shared_load<8><<<1, 32>>>(offsets, all, out));
  LAUNCH("shared load 8 B, i/2, even lanes", shared_load<8><<<1, 32>>>(offsets, 0x55555555u, out));
  LAUNCH("shared load 8 B, i/2, lane 5 off", shared_load<8><<<1, 32>>>(offsets, all & ~32u, out));
  offsets_are([](u32 i) { return 8 * (i / 2) + (i == 7 ? 1024 : 0); });
  LAUNCH("shared load 8 B, i/2, lane 7 apart", shared_load<8><<<1, 32>>>(offsets, all, out));
  LAUNCH("shared load 8 B, i/2, lane 7 apart and lane 6 off",
         shared_load<8><<<1, 32>>>(offsets, all & ~64u, out));
  offsets_are([](u32 i) { return 8 * i; });
  LAUNCH("shared load 8 B, i, even lanes", shared_load<8><<<1, 32>>>(offsets, 0x55555555u, out));
  LAUNCH("shared load 8 B, i, lanes 0-15", shared_load<8><<<1, 32>>>(offsets, 0xffffu, out));
  LAUNCH("shared load 8 B, i, lanes 0, 1, 16, 17",
         shared_load<8><<<1, 32>>>(offsets, 0x30003u, out));
  LAUNCH("shared load 8 B, i, lanes 0, 16", shared_load<8><<<1, 32>>>(offsets, 0x10001u, out));
  offsets_are([](u32 i) { return 16 * (i / 2); });
  LAUNCH("shared load 16 B, i/2, even lanes",
         shared_load<16><<<1, 32>>>(offsets, 0x55555555u, out));
  LAUNCH("shared load 16 B, i/2, lane 5 off", shared_load<16><<<1, 32>>>(offsets, all & ~32u, out));
  offsets_are([](u32 i) { return 16 * i; });
  LAUNCH("shared load 16 B, i, lanes 0-7", shared_load<16><<<1, 32>>>(offsets, 0xffu, out));
  LAUNCH("shared load 16 B, i, even lanes", shared_load<16><<<1, 32>>>(offsets, 0x55555555u, out));
  LAUNCH("shared load 16 B, i, lanes 0, 8, 16, 24",
         shared_load<16><<<1, 32>>>(offsets, 0x01010101u, out));
  LAUNCH("shared load 16 B, i, lane 0", shared_load<16><<<1, 32>>>(offsets, 1u, out));
  offsets_are([](u32 i) { return 16 * (i / 8); });
  LAUNCH("shared load 16 B, i/8", shared_load<16><<<1, 32>>>(offsets, all, out));
  offsets_are([](u32 i) { return 16 * (i % 8); });
  LAUNCH("shared load 16 B, i%8", shared_load<16><<<1, 32>>>(offsets, all, out));
  offsets_are([](u32 i) { return 2 * i; });
  LAUNCH("shared load 2 B, i", shared_load<2><<<1, 32>>>(offsets, all, out));
  LAUNCH("shared store 2 B, i", shared_store<2><<<1, 32>>>(offsets, all, out));
  offsets_are([](u32 i) { return 64 * i; });
  LAUNCH("shared load 2 B, 16 words apart", shared_load<2><<<1, 32>>>(offsets, all, out));
  LAUNCH("shared store 2 B, 16 words apart", shared_store<2><<<1, 32>>>(offsets, all, out));
  offsets_are([](u32 i) { return i; });
  LAUNCH("shared load 1 B, i", shared_load<1><<<1, 32>>>(offsets, all, out));
  offsets_are([](u32 i) { return 16 * i; });
  LAUNCH("shared store 16 B, i", shared_store<16><<<1, 32>>>(offsets, all, out));
  LAUNCH("shared store 16 B, i, even lanes",
         shared_store<16><<<1, 32>>>(offsets, 0x55555555u, out));
  LAUNCH("shared store 16 B, i, lanes 0-7", shared_store<16><<<1, 32>>>(offsets, 0xffu, out));
  offsets_are([](u32 i) { return 8 * i; });
  LAUNCH("shared store 8 B, i, even lanes", shared_store<8><<<1, 32>>>(offsets, 0x55555555u, out));
  offsets_are([](u32 i) { return 4 * i; });
  LAUNCH("shared atomic, i", shared_atomic<<<1, 32>>>(offsets, all, out));
  offsets_are([](u32) { return 0; });
  LAUNCH("shared atomic, one word", shared_atomic<<<1, 32>>>(offsets, all, out));
}

void global_accesses() {
  for (const u32 shift : {0u, 4u, 16u}) {
    offsets_are([=](u32 i) { return 4 * i + shift; });
    LAUNCH(shift == 0   ? "global load 4 B, i"
           : shift == 4 ? "global load 4 B, i + 1"
                        : "global load 4 B, i + 4",
           global_load<4><<<1, 32>>>(offsets, all, data, out));
  }
  offsets_are([](u32 i) { return 1024 * i; });
  LAUNCH("global load 4 B, rows apart", global_load<4><<<1, 32>>>(offsets, all, data, out));
  LAUNCH("global load 16 B, rows apart", global_load<16><<<1, 32>>>(offsets, all, data, out));
  offsets_are([](u32 i) { return 16 * i; });
  LAUNCH("global load 16 B, i", global_load<16><<<1, 32>>>(offsets, all, data, out));
  LAUNCH("global load 16 B, i, even lanes",
         global_load<16><<<1, 32>>>(offsets, 0x55555555u, data, out));
  LAUNCH("global load 16 B, i, lanes 0-7", global_load<16><<<1, 32>>>(offsets, 0xffu, data, out));
  offsets_are([](u32) { return 0; });
  LAUNCH("global load 16 B, one place", global_load<16><<<1, 32>>>(offsets, all, data, out));
  LAUNCH("global load 4 B, one place", global_load<4><<<1, 32>>>(offsets, all, data, out));
  offsets_are([](u32 i) { return 16 * (i / 8); });
  LAUNCH("global load 16 B, i/8", global_load<16><<<1, 32>>>(offsets, all, data, out));
  offsets_are([](u32 i) { return 1024 * (i / 8) + 16 * (i % 8); });
  LAUNCH("global load 16 B, 4 rows of 8", global_load<16><<<1, 32>>>(offsets, all, data, out));
  offsets_are([](u32 i) { return 8 * i; });
  LAUNCH("global load 8 B, i", global_load<8><<<1, 32>>>(offsets, all, data, out));
  offsets_are([](u32 i) { return 8 * i + 8; });
  LAUNCH("global load 8 B, i + 1", global_load<8><<<1, 32>>>(offsets, all, data, out));
  offsets_are([](u32 i) { return 2 * i; });
  LAUNCH("global load 2 B, i", global_load<2><<<1, 32>>>(offsets, all, data, out));
  offsets_are([](u32 i) { return i; });
  LAUNCH("global load 1 B, i", global_load<1><<<1, 32>>>(offsets, all, data, out));
  offsets_are([](u32 i) { return 4 * i; });
  LAUNCH("global load under a predicate, all", predicated_load<<<1, 32>>>(offsets, all, data, out));
  LAUNCH("global load under a predicate, none", predicated_load<<<1, 32>>>(offsets, 0u, data, out));
  LAUNCH("global store 4 B, i", global_store<4><<<1, 32>>>(offsets, all, data));
  offsets_are([](u32 i) { return 4 * i + 4; });
  LAUNCH("global store 4 B, i + 1", global_store<4><<<1, 32>>>(offsets, all, data));
  offsets_are([](u32 i) { return 1024 * i; });
  LAUNCH("global store 4 B, rows apart", global_store<4><<<1, 32>>>(offsets, all, data));
  offsets_are([](u32 i) { return 16 * i; });
  LAUNCH("global store 16 B, i", global_store<16><<<1, 32>>>(offsets, all, data));
  LAUNCH("global store 16 B, i, even lanes",
         global_store<16><<<1, 32>>>(offsets, 0x55555555u, data));
  offsets_are([](u32 i) { return 2 * i; });
  LAUNCH("global store 2 B, i", global_store<2><<<1, 32>>>(offsets, all, data));
  offsets_are([](u32 i) { return 4 * i; });
  LAUNCH("global red, i", global_red<<<1, 32>>>(offsets, all, data));
  LAUNCH("global red float, i", global_red_float<<<1, 32>>>(offsets, all, data + 65536));
  LAUNCH("global atomic, i", global_atomic<<<1, 32>>>(offsets, all, data, out));
  offsets_are([](u32) { return 0; });
  LAUNCH("global red, one word", global_red<<<1, 32>>>(offsets, all, data));
  LAUNCH("global red float, one word", global_red_float<<<1, 32>>>(offsets, all, data + 65536));
  LAUNCH("global atomic, one word", global_atomic<<<1, 32>>>(offsets, all, data, out));
  offsets_are([](u32 i) { return 1024 * i; });
  LAUNCH("global atomic, rows apart", global_atomic<<<1, 32>>>(offsets, all, data, out));
}

void async_copies() {
  const auto source_and_target = [](u32 from, u32 to) {
    offsets_are([=](u32 i) { return i < 32 ? from * i : to * (i - 32); });
  };
  source_and_target(4, 4);
  LAUNCH("cp.async 4 B, i", async_copy<4, true><<<1, 32>>>(offsets, all, data, 4, out));
  LAUNCH("cp.async 4 B, i, nothing read",
         async_copy<4, true><<<1, 32>>>(offsets, all, data, 0, out));
  source_and_target(8, 8);
  LAUNCH("cp.async 8 B, i", async_copy<8, true><<<1, 32>>>(offsets, all, data, 8, out));
  source_and_target(16, 16);
  LAUNCH("cp.async 16 B ca, i", async_copy<16, true><<<1, 32>>>(offsets, all, data, 16, out));
  LAUNCH("cp.async 16 B cg, i", async_copy<16, false><<<1, 32>>>(offsets, all, data, 16, out));
  LAUNCH("cp.async 16 B cg, i, even lanes",
         async_copy<16, false><<<1, 32>>>(offsets, 0x55555555u, data, 16, out));
  LAUNCH("cp.async 16 B cg, i, 4 bytes each",
         async_copy<16, false><<<1, 32>>>(offsets, all, data, 4, out));
  LAUNCH("cp.async 16 B cg, i, nothing read",
         async_copy<16, false><<<1, 32>>>(offsets, all, data, 0, out));
  source_and_target(16, 32);
  LAUNCH("cp.async 16 B cg, to every other place",
         async_copy<16, false><<<1, 32>>>(offsets, all, data, 16, out));
  LAUNCH("cp.async 16 B ca, to every other place",
         async_copy<16, true><<<1, 32>>>(offsets, all, data, 16, out));
  source_and_target(8, 16);
  LAUNCH("cp.async 8 B, to every other place",
         async_copy<8, true><<<1, 32>>>(offsets, all, data, 8, out));
  offsets_are([](u32 i) { return i < 32 ? 16 * i : 16 * (i - 32) + 16; });
  LAUNCH("cp.async 16 B cg, to i + 1",
         async_copy<16, false><<<1, 32>>>(offsets, all, data, 16, out));
  offsets_are([](u32 i) { return i < 32 ? 16 * i : 16 * ((i - 32) ^ 1); });
  LAUNCH("cp.async 16 B cg, to i ^ 1",
         async_copy<16, false><<<1, 32>>>(offsets, all, data, 16, out));
  offsets_are([](u32 i) { return i < 32 ? 16 * i : 16 * ((i - 32) ^ 2); });
  LAUNCH("cp.async 16 B cg, to i ^ 2",
         async_copy<16, false><<<1, 32>>>(offsets, all, data, 16, out));
  offsets_are([](u32 i) { return i < 32 ? 16 * i : 16 * ((i - 32) ^ ((i - 32) / 8)); });
  LAUNCH("cp.async 16 B cg, xor swizzle by row",
         async_copy<16, false><<<1, 32>>>(offsets, all, data, 16, out));
  LAUNCH("cp.async 16 B cg, xor swizzle by row, even lanes",
         async_copy<16, false><<<1, 32>>>(offsets, 0x55555555u, data, 16, out));
  offsets_are([](u32 i) { return i < 32 ? 16 * (i / 2) : 16 * (i - 32); });
  LAUNCH("cp.async 16 B cg, each source twice",
         async_copy<16, false><<<1, 32>>>(offsets, all, data, 16, out));
  offsets_are([](u32 i) { return i < 32 ? 16 * i + 16 : 16 * (i - 32); });
  LAUNCH("cp.async 16 B cg, from i + 1",
         async_copy<16, false><<<1, 32>>>(offsets, all, data, 16, out));
  offsets_are([](u32 i) { return i < 32 ? 1024 * (i / 4) + 16 * (i % 4) : 16 * (i - 32); });
  LAUNCH("cp.async 16 B cg, rows of 4",
         async_copy<16, false><<<1, 32>>>(offsets, all, data, 16, out));
  offsets_are([](u32 i) {
    return i < 32 ? 1024 * (i / 4) + 16 * (i % 4) : 80 * ((i - 32) / 4) + 16 * (i % 4);
  });
  LAUNCH("cp.async 16 B cg, rows of 4 to a pitch of 80",
         async_copy<16, false><<<1, 32>>>(offsets, all, data, 16, out));
  source_and_target(16, 128);
  LAUNCH("cp.async 16 B cg, to one bank",
         async_copy<16, false><<<1, 32>>>(offsets, all, data, 16, out));
  LAUNCH("cp.async 16 B ca, to one bank",
         async_copy<16, true><<<1, 32>>>(offsets, all, data, 16, out));
  source_and_target(4, 128);
  LAUNCH("cp.async 4 B, to one bank", async_copy<4, true><<<1, 32>>>(offsets, all, data, 4, out));
  source_and_target(1024, 4);
  LAUNCH("cp.async 4 B, rows apart", async_copy<4, true><<<1, 32>>>(offsets, all, data, 4, out));
  source_and_target(1024, 16);
  LAUNCH("cp.async 16 B cg, rows apart",
         async_copy<16, false><<<1, 32>>>(offsets, all, data, 16, out));
  source_and_target(0, 4);
  LAUNCH("cp.async 4 B, from one place",
         async_copy<4, true><<<1, 32>>>(offsets, all, data, 4, out));
  offsets_are([](u32 i) { return i < 32 ? 4 * i + 4 : 4 * (i - 32); });
  LAUNCH("cp.async 4 B, from i + 1", async_copy<4, true><<<1, 32>>>(offsets, all, data, 4, out));
  // Where the bytes of a sector go matters to 16 bytes past L1 only.
  offsets_are([](u32 i) { return i < 32 ? 8 * i : 8 * (31 - (i - 32)); });
  LAUNCH("cp.async 8 B, to 31 - i", async_copy<8, true><<<1, 32>>>(offsets, all, data, 8, out));
  offsets_are([](u32 i) { return i < 32 ? 8 * i : 1040 * (i % 8) + 8 * ((i - 32) / 8); });
  LAUNCH("cp.async 8 B, to columns", async_copy<8, true><<<1, 32>>>(offsets, all, data, 8, out));
  offsets_are([](u32 i) { return i < 32 ? 8 * (i % 4 * 8 + i / 4) : 8 * (i - 32); });
  LAUNCH("cp.async 8 B, from columns", async_copy<8, true><<<1, 32>>>(offsets, all, data, 8, out));
  // An element of each chunk of a tile of doubles, from rows 127 long.
  for (const u32 e : {0u, 8u}) {
    offsets_are([=](u32 i) {
      return e + (i < 32 ? 1016 * (i / 8) + 16 * (i % 8)
                         : 128 * (i / 8 - 4) + 16 * ((i % 8) ^ (2 * (i / 8) % 8)));
    });
    LAUNCH(e == 0 ? "cp.async 8 B, swizzled rows of 127, even places"
                  : "cp.async 8 B, swizzled rows of 127, odd places",
           async_copy<8, true><<<1, 32>>>(offsets, all, data, 8, out));
    LAUNCH(e == 0 ? "cp.async 8 B, swizzled rows of 127, even places, zeros at the end"
                  : "cp.async 8 B, swizzled rows of 127, odd places, zeros at the end",
           async_copy<8, true, true><<<1, 32>>>(offsets, 0x1f1f1f1fu, data, 8, out));
  }
  offsets_are([](u32 i) { return i < 32 ? 8 * (i * 7 % 16) : 8 * (i * 13 % 32); });
  LAUNCH("cp.async 8 B, scattered", async_copy<8, true><<<1, 32>>>(offsets, all, data, 8, out));
  offsets_are([](u32 i) { return i < 32 ? 4 * (i * 7 % 24) : 4 * (i * 13 % 32); });
  LAUNCH("cp.async 4 B, scattered", async_copy<4, true><<<1, 32>>>(offsets, all, data, 4, out));
  offsets_are([](u32 i) { return i < 32 ? 16 * (i * 7 % 12) : 16 * (i * 13 % 32); });
  LAUNCH("cp.async 16 B ca, scattered",
         async_copy<16, true><<<1, 32>>>(offsets, all, data, 16, out));
  LAUNCH("cp.async 16 B cg, scattered",
         async_copy<16, false><<<1, 32>>>(offsets, all, data, 16, out));
  LAUNCH("cp.async 16 B cg, scattered, some zeros",
         async_copy<16, false, true><<<1, 32>>>(offsets, 0x7b6f5dafu, data, 16, out));
}

void matrix_accesses() {
  for (const u32 pitch : {16u, 64u, 80u, 128u}) {
    offsets_are([=](u32 i) { return pitch * (i % 32); });
    char name[64];
    const auto label = [&](const char* what) {
      std::snprintf(name, sizeof name, "%s, rows %u B apart", what, pitch);
      return name;
    };
    LAUNCH(label("ldmatrix x1"), matrix_load<1, false><<<1, 32>>>(offsets, all, out));
    LAUNCH(label("ldmatrix x4"), matrix_load<4, false><<<1, 32>>>(offsets, all, out));
    LAUNCH(label("ldmatrix x1 trans"), matrix_load<1, true><<<1, 32>>>(offsets, all, out));
    LAUNCH(label("ldmatrix x2 trans"), matrix_load<2, true><<<1, 32>>>(offsets, all, out));
    LAUNCH(label("ldmatrix x4 trans"), matrix_load<4, true><<<1, 32>>>(offsets, all, out));
    LAUNCH(label("stmatrix x1"), matrix_store<1, false><<<1, 32>>>(offsets, all, out));
    LAUNCH(label("stmatrix x2"), matrix_store<2, false><<<1, 32>>>(offsets, all, out));
    LAUNCH(label("stmatrix x4"), matrix_store<4, false><<<1, 32>>>(offsets, all, out));
    LAUNCH(label("stmatrix x4 trans"), matrix_store<4, true><<<1, 32>>>(offsets, all, out));
  }
  offsets_are([](u32 i) { return 128 * (i % 8) + 16 * ((i / 8) ^ (i % 8)); });
  LAUNCH("ldmatrix x4, xor swizzle", matrix_load<4, false><<<1, 32>>>(offsets, all, out));
  offsets_are([](u32 i) { return 16 * (i % 2); });
  LAUNCH("ldmatrix x4, two rows only", matrix_load<4, false><<<1, 32>>>(offsets, all, out));
}

void arithmetic() {
  LAUNCH("fma f32, 10 each", multiply_adds_float<<<1, 32>>>(all, 10, out));
  LAUNCH("fma f32, 10 each, even lanes", multiply_adds_float<<<1, 32>>>(0x55555555u, 10, out));
  LAUNCH("fma f64, 10 each", multiply_adds_double<<<1, 32>>>(all, 10, out));
  LAUNCH("mma m16n8k16 f16, f32 sums, 10", mma_f16<<<1, 32>>>(10, out));
  LAUNCH("mma m16n8k16 f16, f16 sums, 10", mma_f16_half_sums<<<1, 32>>>(10, out));
  LAUNCH("mma m16n8k16 bf16, 10", mma_bf16<<<1, 32>>>(10, out));
  LAUNCH("mma m16n8k8 tf32, 10", mma_tf32<<<1, 32>>>(10, out));
  LAUNCH("mma m8n8k4 f64, 10", mma_f64<<<1, 32>>>(10, out));
  LAUNCH("mma m16n8k8 f64, 10", mma_f64_wide<<<1, 32>>>(10, out));
  LAUNCH("mma m16n8k32 s8, 10", mma_s8<<<1, 32>>>(10, out));
}

void wmma_accesses() {
  for (const u32 pitch : {16u, 24u, 64u}) {
    char name[64];
    const auto label = [&](const char* what) {
      std::snprintf(name, sizeof name, "wmma %s, pitch %u", what, pitch);
      return name;
    };
    LAUNCH(label("load A f16"), wmma_load<'a'><<<1, 32>>>(pitch, out));
    LAUNCH(label("load B f16"), wmma_load<'b'><<<1, 32>>>(pitch, out));
    LAUNCH(label("load C f32"), wmma_load<'c'><<<1, 32>>>(pitch, out));
    LAUNCH(label("load A tf32"), wmma_load<'t'><<<1, 32>>>(pitch, out));
    LAUNCH(label("load B tf32"), wmma_load<'u'><<<1, 32>>>(pitch, out));
    LAUNCH(label("load A f64"), wmma_load<'d'><<<1, 32>>>(pitch, out));
    LAUNCH(label("load B f64"), wmma_load<'e'><<<1, 32>>>(pitch, out));
    LAUNCH(label("store f32"), wmma_store<'c'><<<1, 32>>>(pitch, out));
    LAUNCH(label("store f64"), wmma_store<'d'><<<1, 32>>>(pitch, out));
    LAUNCH(label("store f32 to global"), wmma_store_global<'c'><<<1, 32>>>(pitch, out));
    LAUNCH(label("store f64 to global"), wmma_store_global<'d'><<<1, 32>>>(pitch, out));
    LAUNCH(label("load A f16 from global"),
           wmma_load_global<<<1, 32>>>(reinterpret_cast<const u32*>(data), pitch, out));
  }
  const u32* const words = reinterpret_cast<const u32*>(data);
  for (const u32 pitch : {16u, 48u}) {
    char name[64];
    const auto label = [&](const char* what) {
      std::snprintf(name, sizeof name, "wmma %s, pitch %u", what, pitch);
      return name;
    };
    LAUNCH(label("load A f16 by columns"), wmma_other<0><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load B f16 by columns"), wmma_other<1><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load A f16 by columns from global"), wmma_other<2><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load B f16 from global"), wmma_other<3><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load B f16 by columns from global"), wmma_other<4><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load C f32 by columns"), wmma_other<5><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load A tf32 by columns"), wmma_other<6><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load B tf32 by columns"), wmma_other<7><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load A f64 by columns"), wmma_other<8><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load B f64 by columns"), wmma_other<9><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load C f64"), wmma_other<10><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load A bf16"), wmma_other<11><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load B bf16"), wmma_other<12><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load A f16 m32n8k16"), wmma_other<13><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load B f16 m32n8k16"), wmma_other<14><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load A f16 m8n32k16"), wmma_other<15><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load B f16 m8n32k16"), wmma_other<16><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load A s8"), wmma_other<17><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load B s8"), wmma_other<18><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load C f16"), wmma_other<19><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("store f16"), wmma_other<20><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("store f32 by columns"), wmma_other<21><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load A tf32 from global"), wmma_other<22><<<1, 32>>>(words, pitch, out));
    LAUNCH(label("load C f32 from global"), wmma_other<23><<<1, 32>>>(words, pitch, out));
  }
}

}  // namespace

int main() {
  check(cudaMalloc(&offsets, 64 * 4), "cudaMalloc");
  check(cudaMalloc(&data, 1 << 20), "cudaMalloc");
  check(cudaMalloc(&out, 1 << 16), "cudaMalloc");
  check(cudaMemset(data, 0, 1 << 20), "cudaMemset");
  shared_accesses();
  global_accesses();
  async_copies();
  matrix_accesses();
  arithmetic();
  wmma_accesses();
  return 0;
}
