// cuBLAS's functions of vectors, of a matrix and a vector, and its copies, for float and double: on
// the host, through copies, in double, and uncounted. Part of <cublas_v2.h>.
#pragma once
#pragma GCC system_header

#include <cmath>
#include <vector>

#include "../cublas_v2.h"

// ---- copies between the host's matrices, by columns, and the device's

static inline cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void* A,
                                             int lda, void* B, int ldb) {
  if (rows < 0 || columns < 0 || size <= 0 || lda < rows || ldb < rows)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  const size_t s = (size_t)size;
  return cudaMemcpy2D(B, (size_t)ldb * s, A, (size_t)lda * s, (size_t)rows * s, (size_t)columns,
                      cudaMemcpyDefault) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_MAPPING_ERROR;
}
static inline cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void* A,
                                             int lda, void* B, int ldb) {
  return cublasSetMatrix(rows, columns, size, A, lda, B, ldb);
}
static inline cublasStatus_t cublasSetVector(int n, int size, const void* x, int incx, void* y,
                                             int incy) {
  return incx < 1 || incy < 1 ? CUBLAS_STATUS_INVALID_VALUE
                              : cublasSetMatrix(1, n, size, x, incx, y, incy);
}
static inline cublasStatus_t cublasGetVector(int n, int size, const void* x, int incx, void* y,
                                             int incy) {
  return cublasSetVector(n, size, x, incx, y, incy);
}

namespace __simgpu {

/// A vector of the device as numbers of the host. A negative stride walks it from its end.
template <typename T>
class blas_vector {
 public:
  blas_vector(const T* at, int n, int stride)
      : at_((T*)at), n_(n), stride_(stride), values_((size_t)(n > 0 ? n : 0)) {}
  bool read() { return copy(false); }
  bool write() { return copy(true); }
  T& operator[](int i) { return values_[(size_t)(stride_ > 0 ? i : n_ - 1 - i)]; }

 private:
  bool copy(bool back) {
    if (n_ <= 0) return true;
    if (stride_ == 0) return false;
    const size_t pitch = (size_t)(stride_ > 0 ? stride_ : -stride_) * sizeof(T);
    T* const here = values_.data();
    return (back ? cudaMemcpy2D(at_, pitch, here, sizeof(T), sizeof(T), (size_t)n_,
                                cudaMemcpyDefault)
                 : cudaMemcpy2D(here, sizeof(T), at_, pitch, sizeof(T), (size_t)n_,
                                cudaMemcpyDefault)) == cudaSuccess;
  }
  T* at_;
  int n_, stride_;
  std::vector<T> values_;
};

/// Scalars and results are where the handle's mode says, which a copy finds out by the pointer.
template <typename T>
bool blas_scalar(const T* at, T& value) {
  return at && cudaMemcpy(&value, at, sizeof value, cudaMemcpyDefault) == cudaSuccess;
}
template <typename T>
cublasStatus_t blas_result(T value, T* at) {
  if (!at) return CUBLAS_STATUS_INVALID_VALUE;
  return cudaMemcpy(at, &value, sizeof value, cudaMemcpyDefault) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

template <typename T>
cublasStatus_t axpy(cublasHandle_t h, int n, const T* alpha, const T* x, int incx, T* y, int incy) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  T a = 0;
  blas_vector<T> vx(x, n, incx), vy(y, n, incy);
  if (!blas_scalar(alpha, a) || !vx.read() || !vy.read()) return CUBLAS_STATUS_EXECUTION_FAILED;
  for (int i = 0; i < n; ++i) vy[i] += a * vx[i];
  return vy.write() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
template <typename T>
cublasStatus_t scal(cublasHandle_t h, int n, const T* alpha, T* x, int incx) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  T a = 0;
  blas_vector<T> vx(x, n, incx);
  if (!blas_scalar(alpha, a) || !vx.read()) return CUBLAS_STATUS_EXECUTION_FAILED;
  for (int i = 0; i < n; ++i) vx[i] *= a;
  return vx.write() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
template <typename T>
cublasStatus_t copy(cublasHandle_t h, int n, const T* x, int incx, T* y, int incy) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  blas_vector<T> vx(x, n, incx), vy(y, n, incy);
  if (!vx.read()) return CUBLAS_STATUS_EXECUTION_FAILED;
  for (int i = 0; i < n; ++i) vy[i] = vx[i];
  return vy.write() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
template <typename T>
cublasStatus_t dot(cublasHandle_t h, int n, const T* x, int incx, const T* y, int incy, T* result) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  blas_vector<T> vx(x, n, incx), vy(y, n, incy);
  if (!vx.read() || !vy.read()) return CUBLAS_STATUS_EXECUTION_FAILED;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += (double)vx[i] * (double)vy[i];
  return blas_result((T)sum, result);
}
/// f(0), then what `step` makes of it and each element.
template <typename T, typename Step, typename End>
cublasStatus_t over(cublasHandle_t h, int n, const T* x, int incx, T* result, Step step, End end) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  blas_vector<T> vx(x, n, incx);
  if (!vx.read()) return CUBLAS_STATUS_EXECUTION_FAILED;
  double sum = 0;
  for (int i = 0; i < n; ++i) sum = step(sum, (double)vx[i]);
  return blas_result((T)end(sum), result);
}
/// The place, from 1 on, of the first largest or smallest magnitude; 0 for none.
template <typename T>
cublasStatus_t extreme(cublasHandle_t h, int n, const T* x, int incx, int* result, bool most) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  blas_vector<T> vx(x, n, incx);
  if (!vx.read()) return CUBLAS_STATUS_EXECUTION_FAILED;
  int best = 0;
  for (int i = 1; i < n; ++i) {
    const double here = std::fabs((double)vx[i]), there = std::fabs((double)vx[best]);
    if (most ? here > there : here < there) best = i;
  }
  return blas_result(n > 0 ? best + 1 : 0, result);
}
template <typename T>
cublasStatus_t gemv(cublasHandle_t h, cublasOperation_t op, int m, int n, const T* alpha,
                    const T* A, int lda, const T* x, int incx, const T* beta, T* y, int incy) {
  if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || lda < (m > 1 ? m : 1)) return CUBLAS_STATUS_INVALID_VALUE;
  T a = 0, b = 0;
  const bool turned = op != CUBLAS_OP_N;
  const int from = turned ? m : n, to = turned ? n : m;
  std::vector<T> matrix((size_t)m * (size_t)n);
  blas_vector<T> vx(x, from, incx), vy(y, to, incy);
  if (!blas_scalar(alpha, a) || !blas_scalar(beta, b) || !vx.read() || (b != 0 && !vy.read()) ||
      cublasGetMatrix(m, n, sizeof(T), A, lda, matrix.data(), m > 0 ? m : 1) !=
          CUBLAS_STATUS_SUCCESS)
    return CUBLAS_STATUS_EXECUTION_FAILED;
  for (int i = 0; i < to; ++i) {
    double sum = 0;
    for (int j = 0; j < from; ++j)
      sum += (double)matrix[turned ? (size_t)i * (size_t)m + (size_t)j
                                   : (size_t)j * (size_t)m + (size_t)i] *
             (double)vx[j];
    vy[i] = (T)((double)a * sum + (b != 0 ? (double)b * (double)vy[i] : 0.0));
  }
  return vy.write() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace __simgpu

#define __SIMGPU_BLAS(L, I, T)                                                                   \
  static inline cublasStatus_t cublas##L##axpy_v2(cublasHandle_t h, int n, const T* alpha,       \
                                                  const T* x, int incx, T* y, int incy) {        \
    return __simgpu::axpy(h, n, alpha, x, incx, y, incy);                                        \
  }                                                                                              \
  static inline cublasStatus_t cublas##L##scal_v2(cublasHandle_t h, int n, const T* alpha, T* x, \
                                                  int incx) {                                    \
    return __simgpu::scal(h, n, alpha, x, incx);                                                 \
  }                                                                                              \
  static inline cublasStatus_t cublas##L##copy_v2(cublasHandle_t h, int n, const T* x, int incx, \
                                                  T* y, int incy) {                              \
    return __simgpu::copy(h, n, x, incx, y, incy);                                               \
  }                                                                                              \
  static inline cublasStatus_t cublas##L##dot_v2(cublasHandle_t h, int n, const T* x, int incx,  \
                                                 const T* y, int incy, T* result) {              \
    return __simgpu::dot(h, n, x, incx, y, incy, result);                                        \
  }                                                                                              \
  static inline cublasStatus_t cublas##L##nrm2_v2(cublasHandle_t h, int n, const T* x, int incx, \
                                                  T* result) {                                   \
    return __simgpu::over(                                                                       \
        h, n, x, incx, result, [](double sum, double v) { return sum + v * v; },                 \
        [](double sum) { return std::sqrt(sum); });                                              \
  }                                                                                              \
  static inline cublasStatus_t cublas##L##asum_v2(cublasHandle_t h, int n, const T* x, int incx, \
                                                  T* result) {                                   \
    return __simgpu::over(                                                                       \
        h, n, x, incx, result, [](double sum, double v) { return sum + std::fabs(v); },          \
        [](double sum) { return sum; });                                                         \
  }                                                                                              \
  static inline cublasStatus_t cublas##I##amax_v2(cublasHandle_t h, int n, const T* x, int incx, \
                                                  int* result) {                                 \
    return __simgpu::extreme(h, n, x, incx, result, true);                                       \
  }                                                                                              \
  static inline cublasStatus_t cublas##I##amin_v2(cublasHandle_t h, int n, const T* x, int incx, \
                                                  int* result) {                                 \
    return __simgpu::extreme(h, n, x, incx, result, false);                                      \
  }                                                                                              \
  static inline cublasStatus_t cublas##L##gemv_v2(                                               \
      cublasHandle_t h, cublasOperation_t op, int m, int n, const T* alpha, const T* A, int lda, \
      const T* x, int incx, const T* beta, T* y, int incy) {                                     \
    return __simgpu::gemv(h, op, m, n, alpha, A, lda, x, incx, beta, y, incy);                   \
  }
__SIMGPU_BLAS(S, Is, float)
__SIMGPU_BLAS(D, Id, double)
#undef __SIMGPU_BLAS
#define cublasSaxpy cublasSaxpy_v2
#define cublasDaxpy cublasDaxpy_v2
#define cublasSscal cublasSscal_v2
#define cublasDscal cublasDscal_v2
#define cublasScopy cublasScopy_v2
#define cublasDcopy cublasDcopy_v2
#define cublasSdot cublasSdot_v2
#define cublasDdot cublasDdot_v2
#define cublasSnrm2 cublasSnrm2_v2
#define cublasDnrm2 cublasDnrm2_v2
#define cublasSasum cublasSasum_v2
#define cublasDasum cublasDasum_v2
#define cublasIsamax cublasIsamax_v2
#define cublasIdamax cublasIdamax_v2
#define cublasIsamin cublasIsamin_v2
#define cublasIdamin cublasIdamin_v2
#define cublasSgemv cublasSgemv_v2
#define cublasDgemv cublasDgemv_v2
