// The types of <cublasLt.h>. Values of the enumerations are those of CUDA 13.0.
#pragma once
#pragma GCC system_header

#include <stddef.h>
#include <stdint.h>

#include "../cublas_v2.h"

typedef enum {
  CUBLASLT_MATMUL_DESC_COMPUTE_TYPE = 0,
  CUBLASLT_MATMUL_DESC_SCALE_TYPE = 1,
  CUBLASLT_MATMUL_DESC_POINTER_MODE = 2,
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_TRANSC = 5,
  CUBLASLT_MATMUL_DESC_FILL_MODE = 6,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 11,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 12,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE = 13,
  CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17,
  CUBLASLT_MATMUL_DESC_B_SCALE_POINTER = 18,
  CUBLASLT_MATMUL_DESC_C_SCALE_POINTER = 19,
  CUBLASLT_MATMUL_DESC_D_SCALE_POINTER = 20,
  CUBLASLT_MATMUL_DESC_AMAX_D_POINTER = 21,
  CUBLASLT_MATMUL_DESC_FAST_ACCUM = 25,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26,
} cublasLtMatmulDescAttributes_t;
typedef enum {
  CUBLASLT_MATRIX_LAYOUT_TYPE = 0,
  CUBLASLT_MATRIX_LAYOUT_ORDER = 1,
  CUBLASLT_MATRIX_LAYOUT_ROWS = 2,
  CUBLASLT_MATRIX_LAYOUT_COLS = 3,
  CUBLASLT_MATRIX_LAYOUT_LD = 4,
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,
} cublasLtMatrixLayoutAttribute_t;
typedef enum {
  CUBLASLT_MATMUL_PREF_SEARCH_MODE = 0,
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8,
} cublasLtMatmulPreferenceAttributes_t;
typedef enum {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_RELU_AUX = 2 | 128,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 2 | 4,
  CUBLASLT_EPILOGUE_RELU_AUX_BIAS = 2 | 128 | 4,
  CUBLASLT_EPILOGUE_DRELU = 8 | 128,
  CUBLASLT_EPILOGUE_DRELU_BGRAD = 8 | 128 | 16,
  CUBLASLT_EPILOGUE_GELU = 32,
  CUBLASLT_EPILOGUE_GELU_AUX = 32 | 128,
  CUBLASLT_EPILOGUE_GELU_BIAS = 32 | 4,
  CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 32 | 128 | 4,
  CUBLASLT_EPILOGUE_DGELU = 64 | 128,
  CUBLASLT_EPILOGUE_DGELU_BGRAD = 64 | 128 | 16,
  CUBLASLT_EPILOGUE_BGRADA = 256,
  CUBLASLT_EPILOGUE_BGRADB = 512,
} cublasLtEpilogue_t;
typedef enum {
  CUBLASLT_ORDER_COL = 0,
  CUBLASLT_ORDER_ROW = 1,
  CUBLASLT_ORDER_COL32 = 2,
} cublasLtOrder_t;
typedef enum {
  CUBLASLT_POINTER_MODE_HOST = 0,
  CUBLASLT_POINTER_MODE_DEVICE = 1,
  CUBLASLT_POINTER_MODE_DEVICE_VECTOR = 2,
} cublasLtPointerMode_t;
typedef enum {
  CUBLASLT_SEARCH_BEST_FIT = 0,
  CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID = 1,
} cublasLtMatmulSearch_t;

namespace simgpu_lt {
/// Where an attribute lies.
struct Place {
  void* at = nullptr;
  size_t bytes = 0;
  Place() = default;
  template <class T>
  explicit Place(T* of) : at(of), bytes(sizeof *of) {}
};
}  // namespace simgpu_lt

struct cublasLtMatmulDescOpaque_t {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scale = CUDA_R_32F;
  int32_t pointer_mode = 0, trans_a = 0, trans_b = 0, trans_c = 0,
          fill_mode = CUBLAS_FILL_MODE_FULL;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  void* aux = nullptr;
  int64_t aux_ld = 0, aux_batch_stride = 0;
  const void* scales[5] = {};
  int8_t fast = 0;
  int32_t bias_type = -1;  ///< D's

  bool has_scales() const {
    for (const void* s : scales)
      if (s != nullptr) return true;
    return trans_c != 0 || fill_mode != CUBLAS_FILL_MODE_FULL;
  }
  simgpu_lt::Place place(cublasLtMatmulDescAttributes_t attribute) {
    using simgpu_lt::Place;
    switch (attribute) {
      case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
        return Place(&compute);
      case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
        return Place(&scale);
      case CUBLASLT_MATMUL_DESC_POINTER_MODE:
        return Place(&pointer_mode);
      case CUBLASLT_MATMUL_DESC_TRANSA:
        return Place(&trans_a);
      case CUBLASLT_MATMUL_DESC_TRANSB:
        return Place(&trans_b);
      case CUBLASLT_MATMUL_DESC_TRANSC:
        return Place(&trans_c);
      case CUBLASLT_MATMUL_DESC_FILL_MODE:
        return Place(&fill_mode);
      case CUBLASLT_MATMUL_DESC_EPILOGUE:
        return Place(&epilogue);
      case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
        return Place(&bias);
      case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
        return Place(&aux);
      case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
        return Place(&aux_ld);
      case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
        return Place(&aux_batch_stride);
      case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
        return Place(&fast);
      case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
        return Place(&bias_type);
      default:
        return attribute >= CUBLASLT_MATMUL_DESC_A_SCALE_POINTER &&
                       attribute <= CUBLASLT_MATMUL_DESC_AMAX_D_POINTER
                   ? Place(&scales[attribute - CUBLASLT_MATMUL_DESC_A_SCALE_POINTER])
                   : Place();
    }
  }
};

struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType type = CUDA_R_32F;
  int32_t order = CUBLASLT_ORDER_COL;
  uint64_t rows = 0, cols = 0;
  int64_t ld = 0;
  int32_t batch_count = 1;
  int64_t batch_stride = 0;

  simgpu_lt::Place place(cublasLtMatrixLayoutAttribute_t attribute) {
    using simgpu_lt::Place;
    switch (attribute) {
      case CUBLASLT_MATRIX_LAYOUT_TYPE:
        return Place(&type);
      case CUBLASLT_MATRIX_LAYOUT_ORDER:
        return Place(&order);
      case CUBLASLT_MATRIX_LAYOUT_ROWS:
        return Place(&rows);
      case CUBLASLT_MATRIX_LAYOUT_COLS:
        return Place(&cols);
      case CUBLASLT_MATRIX_LAYOUT_LD:
        return Place(&ld);
      case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
        return Place(&batch_count);
      case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
        return Place(&batch_stride);
      default:
        return Place();
    }
  }
};

/// There is one way to make a product here, whatever is preferred.
struct cublasLtMatmulPreferenceOpaque_t {
  uint32_t search = 0, scheme = UINT32_MAX, aligned[4] = {256, 256, 256, 256};
  uint64_t workspace = 0;
  simgpu_lt::Place place(cublasLtMatmulPreferenceAttributes_t attribute) {
    using simgpu_lt::Place;
    if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return Place(&workspace);
    if (attribute == CUBLASLT_MATMUL_PREF_SEARCH_MODE) return Place(&search);
    if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) return Place(&scheme);
    const int k = attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
    return k >= 0 && k < 4 ? Place(&aligned[k]) : Place();
  }
};

typedef struct cublasLtContext* cublasLtHandle_t;
typedef cublasLtMatmulDescOpaque_t* cublasLtMatmulDesc_t;
typedef cublasLtMatrixLayoutOpaque_t* cublasLtMatrixLayout_t;
typedef cublasLtMatmulPreferenceOpaque_t* cublasLtMatmulPreference_t;
typedef struct {
  uint64_t data[8];
} cublasLtMatmulAlgo_t;
typedef struct {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
} cublasLtMatmulHeuristicResult_t;
