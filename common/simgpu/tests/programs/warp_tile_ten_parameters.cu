// Ten template parameters, helpers in a namespace, constexpr arithmetic on them, fragments handed on by pointer.
#include "check.h"

#include <vector>

constexpr int WARPSIZE = 32;

namespace wt {
template <typename T, const int BM, const int BN, const int BK, const int rowStrideA, const int rowStrideB>
__device__ void loadFromGmem(int N, int K, const T* A, const T* B, T* As, T* Bs, int innerRowA, int innerColA, int innerRowB, int innerColB) {
  for (int offset = 0; offset + rowStrideA <= BM; offset += rowStrideA)
    As[innerColA * BM + innerRowA + offset] = A[(innerRowA + offset) * K + innerColA];
  for (int offset = 0; offset + rowStrideB <= BK; offset += rowStrideB)
    Bs[(innerRowB + offset) * BN + innerColB] = B[(innerRowB + offset) * N + innerColB];
}

template <typename T, const int BM, const int BN, const int BK, const int WM, const int WN, const int WMITER, const int WNITER,
          const int WSUBM, const int WSUBN, const int TM, const int TN>
__device__ void processFromSmem(T* regM, T* regN, T* threadResults, const T* As, const T* Bs, const int warpRow, const int warpCol,
                                const int threadRowInWarp, const int threadColInWarp) {
  for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
    for (int wSubRow = 0; wSubRow < WMITER; ++wSubRow)
      for (int i = 0; i < TM; ++i)
        regM[wSubRow * TM + i] = As[dotIdx * BM + warpRow * WM + wSubRow * WSUBM + threadRowInWarp * TM + i];
    for (int wSubCol = 0; wSubCol < WNITER; ++wSubCol)
      for (int i = 0; i < TN; ++i)
        regN[wSubCol * TN + i] = Bs[dotIdx * BN + warpCol * WN + wSubCol * WSUBN + threadColInWarp * TN + i];
    for (int wSubRow = 0; wSubRow < WMITER; ++wSubRow)
      for (int wSubCol = 0; wSubCol < WNITER; ++wSubCol)
        for (int m = 0; m < TM; ++m)
          for (int n = 0; n < TN; ++n)
            threadResults[(wSubRow * TM + m) * (WNITER * TN) + wSubCol * TN + n] += regM[wSubRow * TM + m] * regN[wSubCol * TN + n];
  }
}
}  // namespace wt

template <typename T, const int BM, const int BN, const int BK, const int WM, const int WN, const int WNITER, const int TM, const int TN,
          const int NUM_THREADS>
__global__ void __launch_bounds__(NUM_THREADS) gemmWarptiling(int N, int K, const T* A, const T* B, T* C) {
  const int warpIdx = threadIdx.x / WARPSIZE, warpCol = warpIdx % (BN / WN), warpRow = warpIdx / (BN / WN);
  constexpr int WMITER = (WM * WN) / (WARPSIZE * TM * TN * WNITER);
  constexpr int WSUBM = WM / WMITER, WSUBN = WN / WNITER;
  const int threadIdxInWarp = threadIdx.x % WARPSIZE;
  const int threadColInWarp = threadIdxInWarp % (WSUBN / TN), threadRowInWarp = threadIdxInWarp / (WSUBN / TN);
  __shared__ T As[BM * BK];
  __shared__ T Bs[BK * BN];
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += (blockIdx.y * BM + warpRow * WM) * N + blockIdx.x * BN + warpCol * WN;
  const int innerRowA = threadIdx.x / BK, innerColA = threadIdx.x % BK;
  const int innerRowB = threadIdx.x / BN, innerColB = threadIdx.x % BN;
  T threadResults[WMITER * TM * WNITER * TN] = {};
  T regM[WMITER * TM] = {}, regN[WNITER * TN] = {};
  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    wt::loadFromGmem<T, BM, BN, BK, NUM_THREADS / BK, NUM_THREADS / BN>(N, K, A, B, As, Bs, innerRowA, innerColA, innerRowB, innerColB);
    __syncthreads();
    wt::processFromSmem<T, BM, BN, BK, WM, WN, WMITER, WNITER, WSUBM, WSUBN, TM, TN>(regM, regN, threadResults, As, Bs, warpRow, warpCol,
                                                                                      threadRowInWarp, threadColInWarp);
    A += BK;
    B += BK * N;
    __syncthreads();
  }
  for (int wSubRow = 0; wSubRow < WMITER; ++wSubRow)
    for (int wSubCol = 0; wSubCol < WNITER; ++wSubCol) {
      T* C_interim = C + (wSubRow * WSUBM) * N + wSubCol * WSUBN;
      for (int m = 0; m < TM; ++m)
        for (int n = 0; n < TN; ++n)
          C_interim[(threadRowInWarp * TM + m) * N + threadColInWarp * TN + n] = threadResults[(wSubRow * TM + m) * (WNITER * TN) + wSubCol * TN + n];
    }
}

int main() {
  const int M = 128, N = 128, K = 48;
  std::vector<double> a(M * K), b(K * N), c(M * N);
  for (int i = 0; i < M * K; ++i) a[i] = i % 9 - 4;
  for (int i = 0; i < K * N; ++i) b[i] = i % 7 - 3;
  double *dA, *dB, *dC;
  CHECK(cudaMalloc(&dA, a.size() * sizeof(double)));
  CHECK(cudaMalloc(&dB, b.size() * sizeof(double)));
  CHECK(cudaMalloc(&dC, c.size() * sizeof(double)));
  CHECK(cudaMemcpy(dA, a.data(), a.size() * sizeof(double), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dB, b.data(), b.size() * sizeof(double), cudaMemcpyHostToDevice));
  gemmWarptiling<double, 64, 64, 16, 32, 32, 2, 4, 2, 128><<<dim3(N / 64, M / 64), 128>>>(N, K, dA, dB, dC);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(c.data(), dC, c.size() * sizeof(double), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double sum = 0;
      for (int k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];
      wrong += c[i * N + j] != sum;
    }
  std::printf("%d of %d wrong, C[3][4] = %g\n", wrong, M * N, c[3 * N + 4]);
  return wrong != 0;
}
