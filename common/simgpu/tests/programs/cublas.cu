// cuBLAS as a reference: column-major products with transposes, scalars, and 16-bit elements.
#include <cublas_v2.h>

#include <cstdio>

int main() {
  // A is 2x3, B 3x2, both by columns.
  const float a[] = {1, 4, 2, 5, 3, 6}, b[] = {7, 9, 11, 8, 10, 12};
  float c[4] = {1, 1, 1, 1};
  float *da, *db, *dc;
  cudaMalloc(&da, sizeof a);
  cudaMalloc(&db, sizeof b);
  cudaMalloc(&dc, sizeof c);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
  cudaMemcpy(dc, c, sizeof c, cudaMemcpyHostToDevice);
  cublasHandle_t handle;
  std::printf("%s\n", cublasGetStatusName(cublasCreate(&handle)));
  const float alpha = 1, beta = 0.5f;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &alpha, da, 2, db, 3, &beta, dc, 2);
  cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost);
  std::printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
  const float zero = 0;

  std::printf("%s\n", cublasGetStatusName(
                          cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &alpha, da, 1, db, 3, &beta, dc, 2)));
  const __half h[] = {__float2half(0.5f), __float2half(-3.0f), __float2half(1024.0f), __float2half(2.0f)};
  __half *dh, result[4];
  cudaMalloc(&dh, sizeof h);
  cudaMemcpy(dh, h, sizeof h, cudaMemcpyHostToDevice);
  __half* out;
  cudaMalloc(&out, sizeof h);
  cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &alpha, dh, CUDA_R_16F, 2, dh, CUDA_R_16F, 2, &zero, out,
               CUDA_R_16F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP);
  cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%g %g %g %g\n", __half2float(result[0]), __half2float(result[1]), __half2float(result[2]),
              __half2float(result[3]));
  std::printf("%s\n", cublasGetStatusName(cublasDestroy(handle)));
}
