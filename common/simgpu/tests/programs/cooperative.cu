// A reduction with cooperative groups: shuffles in tiles, a block-wide sum in shared memory.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <initializer_list>

#include "check.h"

namespace cg = cooperative_groups;

template <int Tile>
__global__ void sum(const int* in, int n, int* out) {
  __shared__ int partial[32];
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<Tile>(block);
  int mine = 0;
  for (int i = blockIdx.x * block.size() + block.thread_rank(); i < n; i += gridDim.x * block.size())
    mine += in[i];
  for (int step = tile.size() / 2; step > 0; step /= 2) mine += tile.shfl_down(mine, step);
  const int tiles = block.size() / Tile, number = block.thread_rank() / Tile;
  if (tile.thread_rank() == 0) partial[number] = mine;
  block.sync();
  if (block.thread_rank() == 0) {
    int all = 0;
    for (int k = 0; k < tiles; ++k) all += partial[k];
    atomicAdd(out, all);
  }
}

__global__ void votes(int* out) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int rank = static_cast<int>(tile.thread_rank());
  const unsigned odd = tile.ballot(rank % 2);
  int value = tile.any(threadIdx.x == 9) * 100 + tile.all(threadIdx.x < 16) * 10;
  if (rank % 3 == 0) {
    cg::coalesced_group few = cg::coalesced_threads();
    value += static_cast<int>(few.size());
    value = few.shfl(value, 0) + value;
  }
  tile.sync();
  out[threadIdx.x] = value + static_cast<int>(odd) * 1000;
}

int main() {
  const int n = 5000;
  static int values[n];
  int want = 0;
  for (int i = 0; i < n; ++i) want += values[i] = i % 17 - 3;
  int *in, *out;
  CHECK(cudaMalloc(&in, sizeof values));
  CHECK(cudaMalloc(&out, 32 * sizeof(int)));
  CHECK(cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice));
  int got[32];
  for (int tile : {32, 16}) {
    CHECK(cudaMemset(out, 0, sizeof(int)));
    if (tile == 32)
      sum<32><<<3, 256>>>(in, n, out);
    else
      sum<16><<<3, 256>>>(in, n, out);
    CHECK(cudaMemcpy(got, out, sizeof(int), cudaMemcpyDeviceToHost));
    std::printf("tiles of %d: %s\n", tile, got[0] == want ? "right" : "wrong");
  }
  votes<<<1, 32>>>(out);
  CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) std::printf("%d%c", got[i], i % 8 == 7 ? '\n' : ' ');
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return 0;
}
