// cooperative_groups::thread_group: one function for blocks, tiles and lanes that are together. And pairs of 16 bits, clamped.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <utility>

#include "check.h"

namespace cg = cooperative_groups;

__device__ int sum(const cg::thread_group& group, int* place, int value) {
  const int rank = static_cast<int>(group.thread_rank());
  for (int half = static_cast<int>(group.size()) / 2; half > 0; half /= 2) {
    place[rank] = value;
    group.sync();
    if (rank < half) value += place[rank + half];
    group.sync();
  }
  return value;  // rank 0's is the sum
}

__global__ void groups(int* out) {
  __shared__ int places[128];
  const cg::thread_block block = cg::this_thread_block();
  const int me = static_cast<int>(threadIdx.x);
  const int all = sum(block, places, me);
  if (me == 0) out[0] = all;  // 0 + ... + 127
  cg::sync(block);
  const cg::thread_group tile = cg::tiled_partition(block, 16);
  const int in_tile = sum(tile, places + me / 16 * 16, me);
  if (me == 16) out[1] = in_tile;  // 16 + ... + 31
  cg::sync(block);
  const int in_pairs = sum(cg::tiled_partition(tile, 4), places + me / 4 * 4, me);
  if (me == 20) out[2] = in_pairs;  // 20 + ... + 23
  cg::sync(block);
  if (me % 2 == 0) {
    const cg::coalesced_group even = cg::coalesced_threads();
    const int of_even = sum(even, places + me / 32 * 32, me);
    if (me == 32) out[3] = of_even, out[4] = static_cast<int>(cg::thread_group(even).size());  // 32 + 34 + ... + 62
  }
}

template <typename Pair>
__device__ void clamp(float* out, Pair a, Pair b, Pair c) {
  const auto write = [&](int at, Pair v) { out[at] = __low2float(v), out[at + 1] = __high2float(v); };
  write(0, __hadd2_sat(a, b));
  write(2, __hsub2_sat(a, b));
  write(4, __hmul2_sat(a, b));
  write(6, __hfma2_sat(a, b, c));
  write(8, __hisnan2(__h2div(__hsub2(a, a), __hsub2(c, c))));
}
__global__ void pairs(float* out) {
  clamp(out, __floats2half2_rn(0.5f, -2.0f), __floats2half2_rn(0.25f, 3.0f), __floats2half2_rn(2.0f, 6.5f));
  clamp(out + 10, __floats2bfloat162_rn(0.5f, -2.0f), __floats2bfloat162_rn(0.25f, 3.0f), __floats2bfloat162_rn(2.0f, 6.5f));
}

/// The sum of `n` words, fetched in pieces of 64 elements, one ahead of the one that is added; the last is shorter.
__global__ void fetched_ahead(const int* words, int n, int* out) {
  __shared__ __align__(16) int pieces[2][64];
  const cg::thread_block block = cg::this_thread_block();
  int total = 0, stage = 0;
  cg::memcpy_async(block, pieces[0], 64, words, n);
  for (int at = 0; at < n; at += 64, stage ^= 1) {
    const bool more = at + 64 < n;
    if (more) cg::memcpy_async(block, pieces[stage ^ 1], 64, words + at + 64, n - at - 64);
    if (more)
      cg::wait_prior<1>(block);
    else
      cg::wait(block);
    const int mine = static_cast<int>(block.thread_rank());
    if (at + mine < n) total += pieces[stage][mine];
    block.sync();
  }
  atomicAdd(out, total);
}

/// What one thread of a tile finds out, all know; between arriving at the grid's barrier and waiting there is work.
__global__ void one_for_all(const int* words, int* out) {
  const cg::grid_group grid = cg::this_grid();
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int first = cg::invoke_one_broadcast(tile, [&](int more) { return words[threadIdx.x] + more; }, 1000);
  const int rank = static_cast<int>(grid.thread_rank());
  out[rank] = first;
  auto arrived = grid.barrier_arrive();
  const int own = words[rank];
  grid.barrier_wait(std::move(arrived));
  const int others = out[(rank + 64) % 128];  // of the other block
  grid.sync();
  out[rank] = others + own;
}

int main() {
  int* words;
  CHECK(cudaMallocManaged(&words, 301 * sizeof(int)));
  for (int i = 0; i < 300; ++i) words[i] = i;
  words[300] = 0;
  fetched_ahead<<<1, 64>>>(words, 300, words + 300);
  CHECK(cudaDeviceSynchronize());
  std::printf("%d\n", words[300]);
  int* shared_out;
  CHECK(cudaMallocManaged(&shared_out, 128 * sizeof(int)));
  void* arguments[] = {&words, &shared_out};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(one_for_all), dim3(2), dim3(64), arguments));
  CHECK(cudaDeviceSynchronize());
  std::printf("%d %d %d\n", shared_out[0], shared_out[70], shared_out[127]);
  int* sums;
  CHECK(cudaMallocManaged(&sums, 5 * sizeof(int)));
  groups<<<1, 128>>>(sums);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 5; ++i) std::printf("%d\n", sums[i]);
  float* clamped;
  CHECK(cudaMallocManaged(&clamped, 20 * sizeof(float)));
  pairs<<<1, 1>>>(clamped);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 20; ++i) std::printf("%g%c", static_cast<double>(clamped[i]), i % 10 == 9 ? '\n' : ' ');
  return 0;
}
