// cublasLtMatmul: by columns and by rows, transposed, batches, C beside D, and the epilogues of a layer.
#include <cublasLt.h>
#include <cuda_fp16.h>

#include <cmath>
#include <vector>

#include "check.h"

#define LT(call)                                                             \
  do {                                                                       \
    const cublasStatus_t status_ = (call);                                   \
    if (status_ != CUBLAS_STATUS_SUCCESS) {                                  \
      std::printf("line %d: status %d\n", __LINE__, static_cast<int>(status_)); \
      return 1;                                                              \
    }                                                                        \
  } while (0)

template <class T>
T* to_device(const std::vector<T>& x) {
  T* p = nullptr;
  cudaMalloc(&p, x.size() * sizeof(T));
  cudaMemcpy(p, x.data(), x.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}

const int m = 12, n = 20, k = 8, batches = 2;

/// Where a matrix of `height` x `width` has an element.
int place(bool rows, int r, int col, int height, int width) {
  return rows ? r * width + col : r + col * height;
}

template <class T>
int count_wrong(const std::vector<T>& a, const std::vector<T>& b, const std::vector<T>& c,
                const std::vector<T>& bias, const std::vector<T>& got, bool rows, bool turned,
                cublasLtEpilogue_t epilogue) {
  int bad = 0;
  for (int z = 0; z < batches; ++z)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int l = 0; l < k; ++l)
          sum += float(a[z * m * k + (turned ? place(rows, l, i, k, m) : place(rows, i, l, m, k))]) * float(b[z * k * n + place(rows, l, j, k, n)]);
        float want = 0.5f * sum + 2 * float(c[z * m * n + place(rows, i, j, m, n)]);
        if (epilogue & CUBLASLT_EPILOGUE_BIAS) want += float(bias[i]);
        if (epilogue & CUBLASLT_EPILOGUE_RELU) want = want > 0 ? want : 0;
        if (epilogue & CUBLASLT_EPILOGUE_GELU)
          want = 0.5f * want * (1 + std::tanh(0.79788456f * (want + 0.044715f * want * want * want)));
        bad += !(std::fabs(float(got[z * m * n + place(rows, i, j, m, n)]) - want) <= 2e-3f * (1 + std::fabs(want)));
      }
  return bad;
}

template <class T>
int product(cublasLtHandle_t handle, cudaDataType type, cublasLtOrder_t order, bool turned, cublasLtEpilogue_t epilogue,
            bool apart) {
  std::vector<T> a(m * k * batches), b(k * n * batches), c(m * n * batches), bias(m);
  for (size_t i = 0; i < a.size(); ++i) a[i] = T(float(int(i * 7 % 9) - 4));
  for (size_t i = 0; i < b.size(); ++i) b[i] = T(float(int(i * 5 % 7) - 3));
  for (size_t i = 0; i < c.size(); ++i) c[i] = T(float(int(i % 5)));
  for (size_t i = 0; i < bias.size(); ++i) bias[i] = T(float(i) - 5.0f);
  T *da = to_device(a), *db = to_device(b), *dc = to_device(c), *dd = apart ? to_device(std::vector<T>(c.size())) : dc,
    *dbias = to_device(bias);
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t of_a, of_b, of_c;
  const bool rows = order == CUBLASLT_ORDER_ROW;
  LT(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const cublasOperation_t trans = turned ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int ra = turned ? k : m, ca = turned ? m : k;
  LT(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &trans, sizeof trans));
  LT(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
  if (epilogue & CUBLASLT_EPILOGUE_BIAS)
    LT(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &dbias, sizeof dbias));
  LT(cublasLtMatrixLayoutCreate(&of_a, type, ra, ca, rows ? ca : ra));
  LT(cublasLtMatrixLayoutCreate(&of_b, type, k, n, rows ? n : k));
  LT(cublasLtMatrixLayoutCreate(&of_c, type, m, n, rows ? n : m));
  const int64_t strides[] = {m * k, k * n, m * n};
  const cublasLtMatrixLayout_t layouts[] = {of_a, of_b, of_c};
  for (int i = 0; i < 3; ++i) {
    LT(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
    LT(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches, sizeof batches));
    LT(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &strides[i], 8));
  }
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t best = {};
  int found = 0;
  const size_t space = 1 << 20;
  void* work = nullptr;
  cudaMalloc(&work, space);
  LT(cublasLtMatmulPreferenceCreate(&preference));
  LT(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &space, sizeof space));
  // A bias by rows is not supported.
  LT(cublasLtMatmulAlgoGetHeuristic(handle, desc, of_a, of_b, of_c, of_c, preference, 1, &best, &found));
  const float alpha = 0.5f, beta = 2;
  LT(cublasLtMatmul(handle, desc, &alpha, da, of_a, db, of_b, &beta, dc, of_c, dd, of_c, &best.algo, work, space, nullptr));
  std::vector<T> got(c.size());
  CHECK(cudaMemcpy(got.data(), dd, got.size() * sizeof(T), cudaMemcpyDeviceToHost));
  const int bad = (found != 1) + count_wrong<T>(a, b, c, bias, got, rows, turned, epilogue);
  cublasLtMatmulPreferenceDestroy(preference);
  for (const auto layout : layouts) cublasLtMatrixLayoutDestroy(layout);
  cublasLtMatmulDescDestroy(desc);
  for (T* p : {da, db, dc, dbias}) cudaFree(p);
  cudaFree(work);
  if (apart) cudaFree(dd);
  return bad;
}

int main() {
  cublasLtHandle_t handle;
  LT(cublasLtCreate(&handle));
  for (const auto order : {CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW})
    for (const bool turned : {false, true})
      for (const auto epilogue : {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU})
        std::printf("%d %d %d: %d %d wrong\n", order, turned, epilogue,
                    product<float>(handle, CUDA_R_32F, order, turned, epilogue, turned),
                    product<half>(handle, CUDA_R_16F, order, turned, epilogue, !turned));
  cublasLtMatmulDesc_t desc;
  LT(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const int16_t narrow = 1;
  std::printf("%d\n", cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &narrow, sizeof narrow));
  // A bias that no epilogue adds.
  const std::vector<float> one(1, 1.0f);
  float *a = to_device(one), *d = to_device(one), *bias = to_device(one);
  cublasLtMatrixLayout_t scalar;
  LT(cublasLtMatrixLayoutCreate(&scalar, CUDA_R_32F, 1, 1, 1));
  for (float* const added : {static_cast<float*>(nullptr), bias}) {
    const float alpha = 1, beta = 0;
    LT(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &added, sizeof added));
    std::printf("%d\n", cublasLtMatmul(handle, desc, &alpha, a, scalar, a, scalar, &beta, d, scalar, d, scalar, nullptr,
                                       nullptr, 0, nullptr));
  }
  cublasLtMatrixLayoutDestroy(scalar);
  cudaDeviceSynchronize();
  for (float* const p : {a, d, bias}) cudaFree(p);
  cublasLtMatmulDescDestroy(desc);
  LT(cublasLtDestroy(handle));
  return 0;
}
