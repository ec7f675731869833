// cuBLAS, as far as programs compare their own kernels with it: computed on the host, on the
// simulated device's memory, column by column as BLAS has it. Nothing is counted, and no error of
// rounding is NVIDIA's: sums are in double (FP64, FP32) or float, rounded once.
#pragma once
#pragma GCC system_header

#define CUBLAS_V2_H_
#define CUBLAS_H_
#define CUBLAS_API_H_

#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"
#include "library_types.h"

#define CUBLAS_VERSION 130000

typedef struct cublasContext* cublasHandle_t;

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16,
} cublasStatus_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum {
  CUBLAS_FILL_MODE_LOWER = 0,
  CUBLAS_FILL_MODE_UPPER = 1,
  CUBLAS_FILL_MODE_FULL = 2
} cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
} cublasMath_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
} cublasComputeType_t;
typedef enum {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
} cublasGemmAlgo_t;

extern "C" {
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
    const void* alpha, const void* A, cudaDataType Atype, int lda, long long strideA, const void* B,
    cudaDataType Btype, int ldb, long long strideB, const void* beta, void* C, cudaDataType Ctype,
    int ldc, long long strideC, int batch, cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
}
#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasGetVersion cublasGetVersion_v2
#define cublasSetStream cublasSetStream_v2
#define cublasGetStream cublasGetStream_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#define cublasSetWorkspace cublasSetWorkspace_v2

static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, const void* B, cudaDataType Btype, int ldb,
                                          const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, 0, B,
                                    Btype, ldb, 0, beta, C, Ctype, ldc, 0, 1, compute, algorithm);
}
// CUDA 10 named the type of the sums by that of a matrix.
static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* A, cudaDataType Atype,
                                          int lda, const void* B, cudaDataType Btype, int ldb,
                                          const void* beta, void* C, cudaDataType Ctype, int ldc,
                                          cudaDataType sums, cublasGemmAlgo_t algorithm) {
  return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C,
                      Ctype, ldc,
                      sums == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
                      : sums == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                      : sums == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                           : CUBLAS_COMPUTE_32F,
                      algorithm);
}

#define __SIMGPU_GEMM(Letter, T, Type, Compute)                                                    \
  static inline cublasStatus_t cublas##Letter##gemmStridedBatched(                                 \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,     \
      int k, const T* alpha, const T* A, int lda, long long strideA, const T* B, int ldb,          \
      long long strideB, const T* beta, T* C, int ldc, long long strideC, int batch) {             \
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, Type, lda,        \
                                      strideA, B, Type, ldb, strideB, beta, C, Type, ldc, strideC, \
                                      batch, Compute, CUBLAS_GEMM_DEFAULT);                        \
  }                                                                                                \
  static inline cublasStatus_t cublas##Letter##gemm_v2(                                            \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,     \
      int k, const T* alpha, const T* A, int lda, const T* B, int ldb, const T* beta, T* C,        \
      int ldc) {                                                                                   \
    return cublas##Letter##gemmStridedBatched(handle, transa, transb, m, n, k, alpha, A, lda, 0,   \
                                              B, ldb, 0, beta, C, ldc, 0, 1);                      \
  }
__SIMGPU_GEMM(S, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
__SIMGPU_GEMM(D, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
__SIMGPU_GEMM(H, __half, CUDA_R_16F, CUBLAS_COMPUTE_16F)
#undef __SIMGPU_GEMM
#define cublasSgemm cublasSgemm_v2
#define cublasDgemm cublasDgemm_v2
#define cublasHgemm cublasHgemm_v2

#include "simgpu/cublas_vectors.h"

// What is missing gets one sentence.
#define __SIMGPU_ABSENT(Name)                                                                   \
  template <typename... Anything>                                                               \
  __attribute__((                                                                               \
      host, device,                                                                             \
      unavailable("simgpu: this function of cuBLAS is not supported, but products (gemm, "      \
                  "GemmEx, strided batches), gemv and functions of vectors are: compute it on " \
                  "the host, or by a kernel of your own"))) int                                 \
  Name(Anything&&...);
__SIMGPU_ABSENT(cublasSgeam)
__SIMGPU_ABSENT(cublasDgeam)
__SIMGPU_ABSENT(cublasSdgmm)
__SIMGPU_ABSENT(cublasDdgmm)
__SIMGPU_ABSENT(cublasSgemmBatched)
__SIMGPU_ABSENT(cublasDgemmBatched)
__SIMGPU_ABSENT(cublasSgemmGroupedBatched)
__SIMGPU_ABSENT(cublasDgemmGroupedBatched)
__SIMGPU_ABSENT(cublasSgetrfBatched)
__SIMGPU_ABSENT(cublasDgetrfBatched)
__SIMGPU_ABSENT(cublasSgetriBatched)
__SIMGPU_ABSENT(cublasDgetriBatched)
__SIMGPU_ABSENT(cublasSgetrsBatched)
__SIMGPU_ABSENT(cublasDgetrsBatched)
__SIMGPU_ABSENT(cublasSsymm)
__SIMGPU_ABSENT(cublasDsymm)
__SIMGPU_ABSENT(cublasSsyrk)
__SIMGPU_ABSENT(cublasDsyrk)
__SIMGPU_ABSENT(cublasSsyr2k)
__SIMGPU_ABSENT(cublasDsyr2k)
__SIMGPU_ABSENT(cublasSsyrkx)
__SIMGPU_ABSENT(cublasDsyrkx)
__SIMGPU_ABSENT(cublasStrmm)
__SIMGPU_ABSENT(cublasDtrmm)
__SIMGPU_ABSENT(cublasStrsm)
__SIMGPU_ABSENT(cublasDtrsm)
__SIMGPU_ABSENT(cublasStrsmBatched)
__SIMGPU_ABSENT(cublasDtrsmBatched)
__SIMGPU_ABSENT(cublasSgbmv)
__SIMGPU_ABSENT(cublasDgbmv)
__SIMGPU_ABSENT(cublasSger)
__SIMGPU_ABSENT(cublasDger)
__SIMGPU_ABSENT(cublasSsbmv)
__SIMGPU_ABSENT(cublasDsbmv)
__SIMGPU_ABSENT(cublasSspmv)
__SIMGPU_ABSENT(cublasDspmv)
__SIMGPU_ABSENT(cublasSsymv)
__SIMGPU_ABSENT(cublasDsymv)
__SIMGPU_ABSENT(cublasSsyr)
__SIMGPU_ABSENT(cublasDsyr)
__SIMGPU_ABSENT(cublasSsyr2)
__SIMGPU_ABSENT(cublasDsyr2)
__SIMGPU_ABSENT(cublasStrmv)
__SIMGPU_ABSENT(cublasDtrmv)
__SIMGPU_ABSENT(cublasStrsv)
__SIMGPU_ABSENT(cublasDtrsv)
__SIMGPU_ABSENT(cublasSrot)
__SIMGPU_ABSENT(cublasDrot)
__SIMGPU_ABSENT(cublasSrotg)
__SIMGPU_ABSENT(cublasDrotg)
__SIMGPU_ABSENT(cublasSrotm)
__SIMGPU_ABSENT(cublasDrotm)
__SIMGPU_ABSENT(cublasSswap)
__SIMGPU_ABSENT(cublasDswap)
__SIMGPU_ABSENT(cublasCgemm)
__SIMGPU_ABSENT(cublasZgemm)
__SIMGPU_ABSENT(cublasCgemv)
__SIMGPU_ABSENT(cublasZgemv)
__SIMGPU_ABSENT(cublasCaxpy)
__SIMGPU_ABSENT(cublasZaxpy)
__SIMGPU_ABSENT(cublasCscal)
__SIMGPU_ABSENT(cublasZscal)
__SIMGPU_ABSENT(cublasCgeam)
__SIMGPU_ABSENT(cublasZgeam)
__SIMGPU_ABSENT(cublasCgemmStridedBatched)
__SIMGPU_ABSENT(cublasZgemmStridedBatched)
__SIMGPU_ABSENT(cublasCgemmBatched)
__SIMGPU_ABSENT(cublasZgemmBatched)
__SIMGPU_ABSENT(cublasCtrsm)
__SIMGPU_ABSENT(cublasZtrsm)
__SIMGPU_ABSENT(cublasCswap)
__SIMGPU_ABSENT(cublasZswap)
__SIMGPU_ABSENT(cublasCcopy)
__SIMGPU_ABSENT(cublasZcopy)
__SIMGPU_ABSENT(cublasChemm)
__SIMGPU_ABSENT(cublasZhemm)
__SIMGPU_ABSENT(cublasCherk)
__SIMGPU_ABSENT(cublasZherk)
__SIMGPU_ABSENT(cublasChemv)
__SIMGPU_ABSENT(cublasZhemv)
__SIMGPU_ABSENT(cublasCgerc)
__SIMGPU_ABSENT(cublasZgerc)
__SIMGPU_ABSENT(cublasCgeru)
__SIMGPU_ABSENT(cublasZgeru)
__SIMGPU_ABSENT(cublasCgemm3m)
__SIMGPU_ABSENT(cublasZgemm3m)
__SIMGPU_ABSENT(cublasCdotc)
__SIMGPU_ABSENT(cublasZdotc)
__SIMGPU_ABSENT(cublasCdotu)
__SIMGPU_ABSENT(cublasZdotu)
__SIMGPU_ABSENT(cublasScnrm2)
__SIMGPU_ABSENT(cublasDznrm2)
__SIMGPU_ABSENT(cublasGemmBatchedEx)
__SIMGPU_ABSENT(cublasGemmGroupedBatchedEx)
__SIMGPU_ABSENT(cublasSgemmEx)
__SIMGPU_ABSENT(cublasDotEx)
__SIMGPU_ABSENT(cublasAxpyEx)
__SIMGPU_ABSENT(cublasNrm2Ex)
__SIMGPU_ABSENT(cublasScalEx)
__SIMGPU_ABSENT(cublasRotEx)
#undef __SIMGPU_ABSENT
