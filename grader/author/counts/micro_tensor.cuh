// Matrix loads and stores, multiply-adds, matrix instructions, and wmma fragments.
#pragma once

#include "grader/author/counts/micro.cuh"

namespace {

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

/// Cases of FP16, in up to eight registers.
template <int CASE>
__device__ __forceinline__ void wmma_other_half(u32 base, const u32* from, u32 pitch, u32 (&r)[8]) {
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
  if constexpr (CASE == 13)
    MICRO_LOAD8("wmma.load.a.sync.aligned.row.m32n8k16.shared.f16", "r", base);
  if constexpr (CASE == 14)
    MICRO_LOAD8("wmma.load.b.sync.aligned.row.m32n8k16.shared.f16", "r", base);
  if constexpr (CASE == 15)
    MICRO_LOAD8("wmma.load.a.sync.aligned.row.m8n32k16.shared.f16", "r", base);
  if constexpr (CASE == 16)
    MICRO_LOAD8("wmma.load.b.sync.aligned.row.m8n32k16.shared.f16", "r", base);
  if constexpr (CASE == 19)
    MICRO_LOAD4("wmma.load.c.sync.aligned.row.m16n16k16.shared.f16", "r", base);
}

/// Cases of the other types.
template <int CASE>
__device__ __forceinline__ void wmma_other_type(u32 base, const u32* from, u32 pitch, u32 (&r)[8],
                                                float (&f)[8], double (&d)[2]) {
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
  if constexpr (CASE == 22)
    MICRO_LOAD4("wmma.load.a.sync.aligned.row.m16n16k8.global.tf32", "l", from);
  if constexpr (CASE == 23)
    MICRO_LOAD8F("wmma.load.c.sync.aligned.row.m16n16k16.global.f32", "l", from);
}

template <int CASE>
__device__ __forceinline__ void wmma_other_store(u32 base, u32 pitch, u32 lane, float value) {
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
        "f"(value), "r"(pitch)
        : "memory");
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
  wmma_other_half<CASE>(base, from, pitch, r);
  wmma_other_type<CASE>(base, from, pitch, r, f, d);
  wmma_other_store<CASE>(base, pitch, lane, f[0]);
  u32 v = static_cast<u32>(d[0] + d[1]);
  for (int i = 0; i < 8; ++i) v ^= r[i] ^ __float_as_uint(f[i]);
  put(out + lane, v);
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
