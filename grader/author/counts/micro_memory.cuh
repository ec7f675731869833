// Loads, stores and atomics of shared and global memory, and asynchronous copies between them.
#pragma once

#include "grader/author/counts/micro.cuh"

namespace {

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
}

/// Where the bytes of a sector go matters to 16 bytes past L1 only.
void rearranging_copies() {
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

}  // namespace
