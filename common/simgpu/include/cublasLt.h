// cuBLASLt: handles, for programs that include it beside cublas_v2.h and multiply with that. Takes the place of a header of
// the same name in a toolkit on the include path, which would not fit ours.
#pragma once
#pragma GCC system_header

#define CUBLASLT_H_

#include "cublas_v2.h"

typedef struct cublasLtContext* cublasLtHandle_t;
inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = reinterpret_cast<cublasLtHandle_t>(new char);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<char*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

// Everything else exists by name, so that whoever uses it gets one sentence.
struct cublasLtMatmulDescOpaque_t;
struct cublasLtMatrixLayoutOpaque_t;
struct cublasLtMatmulPreferenceOpaque_t;
typedef cublasLtMatmulDescOpaque_t* cublasLtMatmulDesc_t;
typedef cublasLtMatrixLayoutOpaque_t* cublasLtMatrixLayout_t;
typedef cublasLtMatmulPreferenceOpaque_t* cublasLtMatmulPreference_t;
struct cublasLtMatmulHeuristicResult_t {
  struct {
    unsigned long long data[8];
  } algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
};
#define __SIMGPU_ABSENT(Name)                                            \
  template <typename... Anything>                                        \
  __attribute__((                                                        \
      unavailable("simgpu: cublasLt's products are not supported: call " \
                  "cublasGemmEx() of cublas_v2.h"))) cublasStatus_t      \
  Name(Anything&&...);
__SIMGPU_ABSENT(cublasLtMatmul)
__SIMGPU_ABSENT(cublasLtMatmulDescCreate)
__SIMGPU_ABSENT(cublasLtMatmulDescDestroy)
__SIMGPU_ABSENT(cublasLtMatmulDescSetAttribute)
__SIMGPU_ABSENT(cublasLtMatmulAlgoGetHeuristic)
__SIMGPU_ABSENT(cublasLtMatmulPreferenceCreate)
__SIMGPU_ABSENT(cublasLtMatmulPreferenceDestroy)
__SIMGPU_ABSENT(cublasLtMatmulPreferenceSetAttribute)
__SIMGPU_ABSENT(cublasLtMatrixLayoutCreate)
__SIMGPU_ABSENT(cublasLtMatrixLayoutDestroy)
__SIMGPU_ABSENT(cublasLtMatrixLayoutSetAttribute)
#undef __SIMGPU_ABSENT
