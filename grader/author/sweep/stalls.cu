// One product of lab 6 for the profiler, or cuBLAS's of the same shape; see stalls.sh, which compiles it with
//     -DSOURCE=... -DRUNG=... -DIN=... -DOUT=... -DMATH=...    a solution, its launcher, types, cuBLAS's math
//
//     stalls ours|cublas M N K
#define GEMM_LAB_TENSOR_MAP_ENCODER
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_profiler_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include SOURCE

namespace {

/// Numbers in (-1, 1] that are not all alike: zeros would draw less power, and clocks follow that.
template <typename T>
__global__ void fill(T* data, std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const auto mixed = static_cast<unsigned>((i * 2654435761u) ^ (i >> 7));
    data[i] = T(static_cast<float>(mixed % 65536u + 1) / 32768.f - 1.f);
  }
}

template <typename T>
MatrixView<T> matrix(int rows, int cols) {
  T* data = nullptr;
  CUDA_CHECK(cudaMalloc(&data, sizeof(T) * rows * cols));
  fill<<<1024, 256>>>(data, std::size_t(rows) * cols);
  return {data, rows, cols, cols};
}

constexpr cudaDataType kIn = sizeof(IN) == 8   ? CUDA_R_64F
                             : sizeof(IN) == 4 ? CUDA_R_32F
                                               : CUDA_R_16BF;
constexpr cudaDataType kOut = sizeof(OUT) == 8 ? CUDA_R_64F : CUDA_R_32F;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 4;
  const bool ours = std::strcmp(argv[1], "ours") == 0;
  const int m = std::atoi(argv[2]), n = std::atoi(argv[3]), k = std::atoi(argv[4]);
  const auto a = matrix<IN>(m, k), b = matrix<IN>(k, n);
  const auto c = matrix<OUT>(m, n);
  cublasHandle_t blas;
  if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS) return 3;
  const double one = 1, zero = 0;
  const float one_f = 1, zero_f = 0;
  const bool wide = sizeof(OUT) == 8;
  const auto multiply = [&] {
    if (ours) {
      const MatrixView<const IN> from_a{a.data, m, k, k}, from_b{b.data, k, n, n};
      return RUNG(from_a, from_b, c, cudaStream_t{});
    }
    // Row-major C = A * B is column-major C' = B' * A'.
    const auto status = cublasGemmEx(
        blas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, wide ? static_cast<const void*>(&one) : &one_f,
        b.data, kIn, n, a.data, kIn, k, wide ? static_cast<const void*>(&zero) : &zero_f, c.data,
        kOut, n, MATH, CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS) std::exit(3);
  };
  multiply();
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaProfilerStart());
  multiply();
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaProfilerStop());
}
