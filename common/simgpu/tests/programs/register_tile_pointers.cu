// A style often seen: the kernel moves its pointers instead of computing indices, sizes are macros and `uint`, A is
// transposed on its way into a flat shared array, and 16-byte accesses go through reinterpret_cast.
#include "check.h"

#include <vector>

typedef unsigned int uint;
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
#define FETCH_FLOAT4(pointer) (reinterpret_cast<float4*>(&(pointer))[0])
#define FETCH_CONST_FLOAT4(pointer) (reinterpret_cast<const float4*>(&(pointer))[0])

template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN)) sgemm(int N, int K, const float* A, const float* B, float* C) {
  const uint cRow = blockIdx.y, cCol = blockIdx.x;
  const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
  __shared__ __align__(16) float As[BM * BK];
  __shared__ __align__(16) float Bs[BK * BN];

  A += cRow * BM * K;
  B += cCol * BN;
  C += cRow * BM * N + cCol * BN;

  const uint innerRowA = threadIdx.x / (BK / 4), innerColA = threadIdx.x % (BK / 4);
  const uint innerRowB = threadIdx.x / (BN / 4), innerColB = threadIdx.x % (BN / 4);
  float threadResults[TM * TN] = {0.0f};
  float regM[TM] = {0.0f}, regN[TN] = {0.0f};

  for (uint bkIdx = 0; bkIdx < static_cast<uint>(K); bkIdx += BK) {
    const float4 tmp = FETCH_CONST_FLOAT4(A[innerRowA * K + innerColA * 4]);
    As[(innerColA * 4 + 0) * BM + innerRowA] = tmp.x;
    As[(innerColA * 4 + 1) * BM + innerRowA] = tmp.y;
    As[(innerColA * 4 + 2) * BM + innerRowA] = tmp.z;
    As[(innerColA * 4 + 3) * BM + innerRowA] = tmp.w;
    FETCH_FLOAT4(Bs[innerRowB * BN + innerColB * 4]) = FETCH_CONST_FLOAT4(B[innerRowB * N + innerColB * 4]);
    __syncthreads();
    A += BK;
    B += BK * N;
    for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (uint i = 0; i < TM; ++i) regM[i] = As[dotIdx * BM + threadRow * TM + i];
      for (uint i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
      for (uint m = 0; m < TM; ++m)
        for (uint n = 0; n < TN; ++n) threadResults[m * TN + n] += regM[m] * regN[n];
    }
    __syncthreads();
  }
  for (uint m = 0; m < TM; m += 1)
    for (uint n = 0; n < TN; n += 4) {
      float4 tmp = FETCH_FLOAT4(C[(threadRow * TM + m) * N + threadCol * TN + n]);
      tmp.x += threadResults[m * TN + n + 0];
      tmp.y += threadResults[m * TN + n + 1];
      tmp.z += threadResults[m * TN + n + 2];
      tmp.w += threadResults[m * TN + n + 3];
      FETCH_FLOAT4(C[(threadRow * TM + m) * N + threadCol * TN + n]) = tmp;
    }
}

int main() {
  const int M = 128, N = 192, K = 64;
  std::vector<float> a(M * K), b(K * N), c(M * N, 1.0f);
  for (int i = 0; i < M * K; ++i) a[i] = static_cast<float>(i % 7 - 3);
  for (int i = 0; i < K * N; ++i) b[i] = static_cast<float>(i % 5 - 2);
  float *dA, *dB, *dC;
  CHECK(cudaMalloc((void**)&dA, sizeof(float) * M * K));
  CHECK(cudaMalloc((void**)&dB, sizeof(float) * K * N));
  CHECK(cudaMalloc((void**)&dC, sizeof(float) * M * N));
  CHECK(cudaMemcpy(dA, a.data(), sizeof(float) * M * K, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dB, b.data(), sizeof(float) * K * N, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dC, c.data(), sizeof(float) * M * N, cudaMemcpyHostToDevice));
  dim3 gridDim(CEIL_DIV(N, 64), CEIL_DIV(M, 64));
  dim3 blockDim((64 * 64) / (8 * 4));
  sgemm<64, 64, 8, 8, 4><<<gridDim, blockDim>>>(N, K, dA, dB, dC);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), dC, sizeof(float) * M * N, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = 1.0f;
      for (int k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];
      wrong += c[i * N + j] != sum;
    }
  std::printf("%d of %d wrong, C[5][7] = %g\n", wrong, M * N, c[5 * N + 7]);
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
  return 0;
}
