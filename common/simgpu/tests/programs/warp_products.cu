// No shared memory at all: a warp computes a row of C, passing A around by shuffles; sums of rows by a shuffle tree.
#include "check.h"

#include <vector>

template <typename T>
static __device__ T warp_sum(T value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

__global__ void rows_by_warps(const int* a, const int* b, int* c, int* row_sums, int m, int n, int k) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
  if (warp >= m) return;
  int total = 0;
  for (int col = lane; col - lane < n; col += warpSize) {
    int sum = 0;
    for (int k0 = 0; k0 < k; k0 += warpSize) {
      const int mine = k0 + lane < k ? a[warp * k + k0 + lane] : 0;
      for (int i = 0; i < min(warpSize, k - k0); ++i) {
        const int from_a = __shfl_sync(0xffffffff, mine, i);
        if (col < n) sum += from_a * b[(k0 + i) * n + col];
      }
    }
    if (col < n) c[warp * n + col] = sum;
    total += sum;
  }
  total = warp_sum(total);
  if (lane == 0) row_sums[warp] = total;
}

int main() {
  const int m = 19, n = 45, k = 71;
  std::vector<int> a(m * k), b(k * n), c(m * n), sums(m);
  for (int i = 0; i < m * k; ++i) a[i] = i % 11 - 5;
  for (int i = 0; i < k * n; ++i) b[i] = i % 13 - 6;
  int *da, *db, *dc, *ds;
  CHECK(cudaMalloc(&da, a.size() * sizeof(int)));
  CHECK(cudaMalloc(&db, b.size() * sizeof(int)));
  CHECK(cudaMalloc(&dc, c.size() * sizeof(int)));
  CHECK(cudaMalloc(&ds, sums.size() * sizeof(int)));
  CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(int), cudaMemcpyHostToDevice));
  rows_by_warps<<<(m * 32 + 127) / 128, 128>>>(da, db, dc, ds, m, n, k);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(sums.data(), ds, sums.size() * sizeof(int), cudaMemcpyDeviceToHost));
  int wrong = 0, wrong_sums = 0;
  for (int i = 0; i < m; ++i) {
    int total = 0;
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int e = 0; e < k; ++e) sum += a[i * k + e] * b[e * n + j];
      wrong += c[i * n + j] != sum;
      total += sum;
    }
    wrong_sums += sums[i] != total;
  }
  std::printf("%d of %d wrong, %d of %d row sums wrong, row 3: %d\n", wrong, m * n, wrong_sums, m, sums[3]);
  return wrong + wrong_sums != 0;
}
