// cuBLASLt: cublasLtMatmul() by cublas_v2.h's products, a reference on the host that a program can compare itself with; no
// counts. Takes the place of a header of the same name in a toolkit on the include path, which would not fit ours.
//
// Matrices by columns or all by rows, batches with a stride, and the epilogues with a bias, ReLU and GELU. What else there
// is, such as scales of FP8 or the epilogues of gradients, is CUBLAS_STATUS_NOT_SUPPORTED.
#pragma once
#pragma GCC system_header

#define CUBLASLT_H_

#include <math.h>
#include <string.h>

#include <vector>

#include "cublas_v2.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "simgpu/cublas_lt_types.h"

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return cublasCreate_v2(reinterpret_cast<cublasHandle_t*>(handle));
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return cublasDestroy_v2(reinterpret_cast<cublasHandle_t>(handle));
}

#define __SIMGPU_LT_OBJECT(Object)                                                           \
  inline cublasStatus_t Object##Destroy(Object##_t object) {                                 \
    delete object;                                                                           \
    return CUBLAS_STATUS_SUCCESS;                                                            \
  }                                                                                          \
  inline cublasStatus_t Object##SetAttribute(Object##_t object, Object##Attribute attribute, \
                                             const void* from, size_t bytes) {               \
    const auto found = object ? object->place(attribute) : simgpu_lt::Place{};               \
    if (!found.at || !from || bytes != found.bytes) return CUBLAS_STATUS_INVALID_VALUE;      \
    memcpy(found.at, from, bytes);                                                           \
    return CUBLAS_STATUS_SUCCESS;                                                            \
  }                                                                                          \
  inline cublasStatus_t Object##GetAttribute(Object##_t object, Object##Attribute attribute, \
                                             void* to, size_t bytes, size_t* written) {      \
    const auto found = object ? object->place(attribute) : simgpu_lt::Place{};               \
    if (!found.at || !to || bytes < found.bytes) return CUBLAS_STATUS_INVALID_VALUE;         \
    memcpy(to, found.at, found.bytes);                                                       \
    if (written) *written = found.bytes;                                                     \
    return CUBLAS_STATUS_SUCCESS;                                                            \
  }
typedef cublasLtMatmulDescAttributes_t cublasLtMatmulDescAttribute;
typedef cublasLtMatrixLayoutAttribute_t cublasLtMatrixLayoutAttribute;
typedef cublasLtMatmulPreferenceAttributes_t cublasLtMatmulPreferenceAttribute;
__SIMGPU_LT_OBJECT(cublasLtMatmulDesc)
__SIMGPU_LT_OBJECT(cublasLtMatrixLayout)
__SIMGPU_LT_OBJECT(cublasLtMatmulPreference)
#undef __SIMGPU_LT_OBJECT

inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc,
                                               cublasComputeType_t compute, cudaDataType_t scale) {
  if (!desc) return CUBLAS_STATUS_INVALID_VALUE;
  *desc = new cublasLtMatmulDescOpaque_t;
  (*desc)->compute = compute;
  (*desc)->scale = scale;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout,
                                                 cudaDataType_t type, uint64_t rows, uint64_t cols,
                                                 int64_t ld) {
  if (!layout) return CUBLAS_STATUS_INVALID_VALUE;
  *layout = new cublasLtMatrixLayoutOpaque_t;
  (*layout)->type = type;
  (*layout)->rows = rows;
  (*layout)->cols = cols;
  (*layout)->ld = ld;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  if (!preference) return CUBLAS_STATUS_INVALID_VALUE;
  *preference = new cublasLtMatmulPreferenceOpaque_t;
  return CUBLAS_STATUS_SUCCESS;
}

namespace simgpu_lt {

inline size_t size_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_64F:
      return 8;
    case CUDA_R_32F:
    case CUDA_R_32I:
      return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    default:
      return 1;
  }
}
inline double read(const void* from, cudaDataType type, size_t k) {
  if (type == CUDA_R_64F) return static_cast<const double*>(from)[k];
  if (type == CUDA_R_16F)
    return static_cast<double>(__half2float(static_cast<const __half*>(from)[k]));
  if (type == CUDA_R_16BF)
    return static_cast<double>(__bfloat162float(static_cast<const __nv_bfloat16*>(from)[k]));
  return static_cast<double>(static_cast<const float*>(from)[k]);
}
inline void write(void* to, cudaDataType type, size_t k, double value) {
  if (type == CUDA_R_64F)
    static_cast<double*>(to)[k] = value;
  else if (type == CUDA_R_16F)
    static_cast<__half*>(to)[k] = __float2half(static_cast<float>(value));
  else if (type == CUDA_R_16BF)
    static_cast<__nv_bfloat16*>(to)[k] = __float2bfloat16(static_cast<float>(value));
  else
    static_cast<float*>(to)[k] = static_cast<float>(value);
}
inline double gelu(double x) {  // cuBLASLt's, by tanh
  return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

/// What a product is made of, by columns.
struct Product {
  const void *a, *b;
  void* d;
  const cublasLtMatrixLayoutOpaque_t *of_a, *of_b, *of_d;
  cublasOperation_t trans_a, trans_b;
  bool by_rows;
  int m() const { return static_cast<int>(by_rows ? of_d->cols : of_d->rows); }
  int n() const { return static_cast<int>(by_rows ? of_d->rows : of_d->cols); }
};

/// Bias, ReLU and GELU, of what is in D now.
inline cublasStatus_t epilogue(const cublasLtMatmulDescOpaque_t& desc, const Product& p,
                               cudaStream_t stream) {
  const cudaDataType type = p.of_d->type;
  const size_t size = size_of(type), m = static_cast<size_t>(p.m()), n = static_cast<size_t>(p.n());
  std::vector<char> values(m * n * size), bias(m * 8);
  cudaStreamSynchronize(stream);
  const cudaDataType bias_type =
      desc.bias_type < 0 ? type : static_cast<cudaDataType>(desc.bias_type);
  if ((desc.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0 &&
      cudaMemcpy(bias.data(), desc.bias, m * size_of(bias_type), cudaMemcpyDeviceToHost) !=
          cudaSuccess)
    return CUBLAS_STATUS_EXECUTION_FAILED;
  for (int batch = 0; batch < p.of_d->batch_count; ++batch) {
    char* const d =
        static_cast<char*>(p.d) + static_cast<size_t>(batch * p.of_d->batch_stride) * size;
    const size_t pitch = static_cast<size_t>(p.of_d->ld) * size;
    if (cudaMemcpy2D(values.data(), m * size, d, pitch, m * size, n, cudaMemcpyDeviceToHost) !=
        cudaSuccess)
      return CUBLAS_STATUS_EXECUTION_FAILED;
    const auto each = [&](auto change) {
      for (size_t k = 0; k < m * n; ++k)
        write(values.data(), type, k, change(k, read(values.data(), type, k)));
    };
    if ((desc.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0)
      each([&](size_t k, double x) { return x + read(bias.data(), bias_type, k % m); });
    if ((desc.epilogue & 128) != 0) {
      char* const aux =
          static_cast<char*>(desc.aux) + static_cast<size_t>(batch * desc.aux_batch_stride) * size;
      cudaMemcpy2D(aux, static_cast<size_t>(desc.aux_ld) * size, values.data(), m * size, m * size,
                   n, cudaMemcpyHostToDevice);
    }
    if ((desc.epilogue & CUBLASLT_EPILOGUE_RELU) != 0)
      each([](size_t, double x) { return x > 0 ? x : 0; });
    if ((desc.epilogue & CUBLASLT_EPILOGUE_GELU) != 0)
      each([](size_t, double x) { return gelu(x); });
    if (cudaMemcpy2D(d, pitch, values.data(), m * size, m * size, n, cudaMemcpyHostToDevice) !=
        cudaSuccess)
      return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

inline bool supports(const cublasLtMatmulDescOpaque_t& desc, const Product& p) {
  const bool rows = p.by_rows;
  for (const auto* l : {p.of_a, p.of_b, p.of_d})
    if (l->order != (rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL)) return false;
  if ((desc.epilogue & ~(1u | 2u | 4u | 32u | 128u)) != 0) return false;
  // ReLU's mask is for the pass back.
  if ((desc.epilogue & 128) != 0 && ((desc.epilogue & 32) == 0 || desc.aux == nullptr))
    return false;
  // A bias by rows is refused by cuBLAS 13.1 on an H200 as well.
  if ((desc.epilogue & 4) != 0 && (rows || desc.bias == nullptr)) return false;
  return !desc.has_scales() && desc.pointer_mode <= CUBLASLT_POINTER_MODE_DEVICE;
}

}  // namespace simgpu_lt

inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int requested, cublasLtMatmulHeuristicResult_t* results,
    int* found) {
  if (!handle || !desc || !a || !b || !c || !d || !preference || requested < 1 || !results ||
      !found)
    return CUBLAS_STATUS_INVALID_VALUE;
  const simgpu_lt::Product p{
      nullptr, nullptr, nullptr, a, b, d, CUBLAS_OP_N, CUBLAS_OP_N, d->order == CUBLASLT_ORDER_ROW};
  *found = simgpu_lt::supports(*desc, p) ? 1 : 0;
  if (*found == 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  results[0] = {};
  results[0].wavesCount = 1;
  return CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                     const void* alpha, const void* A, cublasLtMatrixLayout_t of_a,
                                     const void* B, cublasLtMatrixLayout_t of_b, const void* beta,
                                     const void* C, cublasLtMatrixLayout_t of_c, void* D,
                                     cublasLtMatrixLayout_t of_d, const cublasLtMatmulAlgo_t*,
                                     void*, size_t, cudaStream_t stream) {
  if (!handle || !desc || !of_a || !of_b || !of_c || !of_d) return CUBLAS_STATUS_INVALID_VALUE;
  // A bias that the epilogue does not add: refused by cuBLAS 13.1, too.
  if (desc->bias != nullptr && (desc->epilogue & CUBLASLT_EPILOGUE_BIAS) == 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto op = [](int32_t x) { return static_cast<cublasOperation_t>(x); };
  // By rows, D is its own transpose by columns: the operands change places.
  const bool by_rows = of_d->order == CUBLASLT_ORDER_ROW;
  const simgpu_lt::Product p =
      by_rows
          ? simgpu_lt::Product{B,   A, D, of_b, of_a, of_d, op(desc->trans_b), op(desc->trans_a),
                               true}
          : simgpu_lt::Product{A,    B, D, of_a, of_b, of_d, op(desc->trans_a), op(desc->trans_b),
                               false};
  if (!simgpu_lt::supports(*desc, p) || of_c->type != of_d->type || of_c->order != of_d->order)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto after = [](const cublasLtMatrixLayoutOpaque_t* l, int32_t trans) {
    return trans == CUBLAS_OP_N ? l->cols : l->rows;
  };
  const uint64_t k = after(of_a, desc->trans_a);
  const auto before = [](const cublasLtMatrixLayoutOpaque_t* l, int32_t trans) {
    return trans == CUBLAS_OP_N ? l->rows : l->cols;
  };
  if (before(of_b, desc->trans_b) != k || before(of_a, desc->trans_a) != of_d->rows ||
      after(of_b, desc->trans_b) != of_d->cols || of_c->rows != of_d->rows ||
      of_c->cols != of_d->cols)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto blas = reinterpret_cast<cublasHandle_t>(handle);
  const size_t size = simgpu_lt::size_of(of_d->type), width = static_cast<size_t>(p.m()) * size;
  for (int batch = 0; C != D && C && batch < of_d->batch_count; ++batch) {
    const auto at = [&](const cublasLtMatrixLayoutOpaque_t* l) {
      return static_cast<size_t>(batch * l->batch_stride) * size;
    };
    if (cudaMemcpy2DAsync(static_cast<char*>(D) + at(of_d), static_cast<size_t>(of_d->ld) * size,
                          static_cast<const char*>(C) + at(of_c),
                          static_cast<size_t>(of_c->ld) * size, width, static_cast<size_t>(p.n()),
                          cudaMemcpyDeviceToDevice, stream) != cudaSuccess)
      return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  cudaStream_t own = nullptr;
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
  cublasGetStream_v2(blas, &own);
  cublasGetPointerMode_v2(blas, &mode);
  cublasSetStream_v2(blas, stream);
  cublasSetPointerMode_v2(blas, static_cast<cublasPointerMode_t>(desc->pointer_mode));
  const cublasStatus_t status = cublasGemmStridedBatchedEx(
      blas, p.trans_a, p.trans_b, p.m(), p.n(), static_cast<int>(k), alpha, p.a, p.of_a->type,
      static_cast<int>(p.of_a->ld), p.of_a->batch_stride, p.b, p.of_b->type,
      static_cast<int>(p.of_b->ld), p.of_b->batch_stride, beta, D, of_d->type,
      static_cast<int>(of_d->ld), of_d->batch_stride, of_d->batch_count, desc->compute,
      CUBLAS_GEMM_DEFAULT);
  cublasSetStream_v2(blas, own);
  cublasSetPointerMode_v2(blas, mode);
  if (status != CUBLAS_STATUS_SUCCESS || desc->epilogue == CUBLASLT_EPILOGUE_DEFAULT) return status;
  return simgpu_lt::epilogue(*desc, p, stream);
}
