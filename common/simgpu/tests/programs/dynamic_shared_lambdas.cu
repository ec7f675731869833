// One block of dynamic shared memory above 48 KiB, cut into tiles by hand; what is done with an element is a lambda that
// the kernel takes as an argument; helpers are static __device__ functions.
#include "check.h"

#include <vector>

static __device__ __forceinline__ int clamped(int i, int n) {
  return i < n ? i : n - 1;
}

static __device__ void add_row(float* sum, const float* row, float factor, int width) {
  for (int j = 0; j < width; ++j) sum[j] += factor * row[j];
}

struct Epilogue {
  float alpha, beta;
  __device__ float operator()(float product, float old) const { return alpha * product + beta * old; }
};

template <int BM, int BN, int BK, typename Finish>
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k, Finish finish) {
  extern __shared__ float smem[];
  float* const as = smem;                 // BM x BK
  float* const bs = smem + BM * BK;       // BK x BN
  constexpr int kWidth = 4;
  const auto in_a = [=](int row, int col) { return a[static_cast<size_t>(clamped(row, m)) * k + clamped(col, k)]; };
  const auto in_b = [=](int row, int col) { return b[static_cast<size_t>(clamped(row, k)) * n + clamped(col, n)]; };
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN, threads = blockDim.x;
  const int row = threadIdx.x / (BN / kWidth), col = threadIdx.x % (BN / kWidth) * kWidth;
  float sum[kWidth] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
    for (int e = threadIdx.x; e < BM * BK; e += threads) as[e] = k0 + e % BK < k ? in_a(row0 + e / BK, k0 + e % BK) : 0.0f;
    for (int e = threadIdx.x; e < BK * BN; e += threads) bs[e] = in_b(k0 + e / BN, col0 + e % BN);
    __syncthreads();
    for (int i = 0; i < BK; ++i) add_row(sum, bs + i * BN + col, as[row * BK + i], kWidth);
    __syncthreads();
  }
  for (int j = 0; j < kWidth; ++j)
    if (row0 + row < m && col0 + col + j < n) {
      float& place = c[(row0 + row) * n + col0 + col + j];
      place = finish(sum[j], place);
    }
}

int main() {
  const int m = 70, n = 130, k = 300;
  std::vector<float> a(m * k), b(k * n), c(m * n, 2.0f);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<float>(i % 5 - 2);
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<float>(i % 3 - 1);
  float *da, *db, *dc;
  CHECK(cudaMalloc(&da, a.size() * sizeof(float)));
  CHECK(cudaMalloc(&db, b.size() * sizeof(float)));
  CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dc, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice));
  constexpr int BM = 32, BN = 64, BK = 160;
  const int bytes = (BM * BK + BK * BN) * static_cast<int>(sizeof(float));
  auto* const kernel = gemm<BM, BN, BK, Epilogue>;
  const dim3 grid((n + BN - 1) / BN, (m + BM - 1) / BM);
  kernel<<<grid, BM * BN / 4, bytes>>>(da, db, dc, m, n, k, Epilogue{3, 0.5f});
  std::printf("%d bytes without the attribute: %s\n", bytes, cudaGetErrorString(cudaGetLastError()));
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  kernel<<<grid, BM * BN / 4, bytes>>>(da, db, dc, m, n, k, Epilogue{3, 0.5f});
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int e = 0; e < k; ++e) sum += a[i * k + e] * b[e * n + j];
      wrong += c[i * n + j] != 3 * sum + 1;
    }
  std::printf("%d of %d wrong, C[69][129] = %g\n", wrong, m * n, c[m * n - 1]);
  return wrong != 0;
}
