// The functions behind include/cublas_v2.h as plain C sees them: enumerations are ints.
#pragma once

#include <algorithm>
#include <cstddef>

#include "common/simgpu/include/cuda_runtime_api.h"

struct cublasContext;

extern "C" {
int cublasCreate_v2(cublasContext** handle);
int cublasDestroy_v2(cublasContext* handle);
int cublasGetVersion_v2(cublasContext* handle, int* version);
int cublasSetStream_v2(cublasContext* handle, cudaStream_t stream);
int cublasGetStream_v2(cublasContext* handle, cudaStream_t* stream);
int cublasSetMathMode(cublasContext* handle, int mode);
int cublasSetPointerMode_v2(cublasContext* handle, int mode);
int cublasGetPointerMode_v2(cublasContext* handle, int* mode);
int cublasSetWorkspace_v2(cublasContext* handle, void* workspace, std::size_t bytes);
const char* cublasGetStatusName(int status);
const char* cublasGetStatusString(int status);
int cublasGemmStridedBatchedEx(cublasContext* handle, int transa, int transb, int m, int n, int k,
                               const void* alpha, const void* a, int a_type, int lda,
                               long long a_stride, const void* b, int b_type, int ldb,
                               long long b_stride, const void* beta, void* c, int c_type, int ldc,
                               long long c_stride, int batch, int compute, int algorithm);
}
