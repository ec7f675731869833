// cuBLAS's matrix product as a reference on the host: see include/cublas_v2.h.
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/simgpu/half.hpp"
#include "common/simgpu/runtime/api/cublas.hpp"
#include "common/simgpu/runtime/api/state.hpp"

struct cublasContext {
  cudaStream_t stream = nullptr;
  bool device_scalars = false;
};

namespace simgpu::runtime {
namespace {

enum class Element : std::uint8_t { f16, bf16, f32, f64, i8, i32, unknown };

// cudaDataType and cublasComputeType_t by number: their headers need a CUDA compiler.
Element element_of(int type) {
  switch (type) {
    case 0:
      return Element::f32;
    case 1:
      return Element::f64;
    case 2:
      return Element::f16;
    case 3:
      return Element::i8;
    case 10:
      return Element::i32;
    case 14:
      return Element::bf16;
    default:
      return Element::unknown;
  }
}
Element sums_of(int compute) {
  switch (compute) {
    case 64:
    case 65:
      return Element::f16;
    case 70:
    case 71:
      return Element::f64;
    case 72:
      return Element::i32;
    case 68:
    case 69:
    case 74:
    case 75:
    case 77:
      return Element::f32;
    default:
      return Element::unknown;
  }
}

std::size_t size_of(Element e) {
  switch (e) {
    case Element::i8:
      return 1;
    case Element::f16:
    case Element::bf16:
      return 2;
    case Element::f64:
      return 8;
    default:
      return 4;
  }
}

double load(Element e, const std::byte* at) {
  switch (e) {
    case Element::i8:
      return static_cast<double>(static_cast<std::int8_t>(*at));
    case Element::i32: {
      std::int32_t v;
      std::memcpy(&v, at, sizeof v);
      return v;
    }
    case Element::f64: {
      double v;
      std::memcpy(&v, at, sizeof v);
      return v;
    }
    case Element::f32: {
      float v;
      std::memcpy(&v, at, sizeof v);
      return static_cast<double>(v);
    }
    default: {
      std::uint16_t bits;
      std::memcpy(&bits, at, sizeof bits);
      return static_cast<double>(e == Element::f16 ? half_to_float(bits) : bfloat_to_float(bits));
    }
  }
}

void store(Element e, std::byte* at, double x) {
  switch (e) {
    case Element::i8:
      *at = static_cast<std::byte>(static_cast<std::int8_t>(static_cast<std::int64_t>(x)));
      return;
    case Element::i32: {
      const auto v = static_cast<std::int32_t>(static_cast<std::int64_t>(x));
      std::memcpy(at, &v, sizeof v);
      return;
    }
    case Element::f64:
      std::memcpy(at, &x, sizeof x);
      return;
    case Element::f32: {
      const auto v = static_cast<float>(x);
      std::memcpy(at, &v, sizeof v);
      return;
    }
    default: {
      const std::uint16_t bits = e == Element::f16 ? to_half(x) : to_bfloat(x);
      std::memcpy(at, &bits, sizeof bits);
      return;
    }
  }
}

/// One matrix in the device's memory, column by column. Only whole columns are read and written:
/// what lies between them may belong to others, and need not have been written.
struct Matrix {
  Element element = Element::unknown;
  const std::byte* at = nullptr;
  int rows = 0, columns = 0, pitch = 0;
  char name = '?';  ///< for messages: A, B or C

  std::size_t column_bytes() const { return static_cast<std::size_t>(rows) * size_of(element); }
  std::byte* column(int j) const {
    return const_cast<std::byte*>(at) + std::int64_t{j} * pitch * std::int64_t(size_of(element));
  }
  /// Column `j` as it lies in memory that the device reaches, or an error that names the matrix.
  cudaError_t copy(int j, void* to, const void* from) const {
    cudaPointerAttributes first{}, last{};
    const std::byte* const begin = column(j);
    if (const cudaError_t error = cudaPointerGetAttributes(&first, begin)) return error;
    if (const cudaError_t error = cudaPointerGetAttributes(&last, begin + column_bytes() - 1))
      return error;
    if (first.type != cudaMemoryTypeUnregistered && last.type != cudaMemoryTypeUnregistered)
      return cudaMemcpy(to, from, column_bytes(), cudaMemcpyDefault);
    State& state = State::get();
    const std::lock_guard<std::recursive_mutex> lock(state.mutex);
    state.backend().note_finding(
        "cuBLAS: column " + std::to_string(j) + " of " + name + ", " +
        std::to_string(column_bytes()) +
        " bytes, is not in the device's memory: its allocation is smaller "
        "than rows, columns and leading dimension say, or it is the host's");
    return cudaErrorInvalidValue;
  }
  /// As doubles, row by row of op(M), or column by column.
  cudaError_t read(bool by_columns, bool transposed, std::vector<double>& out) const {
    std::vector<double> as_stored;  // column by column; grows only by columns that exist
    std::vector<std::byte> bytes(column_bytes());
    for (int j = 0; j < columns && rows != 0; ++j) {
      if (const cudaError_t error = copy(j, bytes.data(), column(j))) return error;
      for (int i = 0; i < rows; ++i)
        as_stored.push_back(
            load(element, bytes.data() + static_cast<std::size_t>(i) * size_of(element)));
    }
    if (by_columns != transposed) {
      out = std::move(as_stored);
      return cudaSuccess;
    }
    out.clear();
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
      for (std::size_t j = 0; j < static_cast<std::size_t>(columns); ++j)
        out.push_back(as_stored[j * static_cast<std::size_t>(rows) + i]);
    return cudaSuccess;
  }
};

struct Gemm {
  Matrix a, b, c;
  bool a_transposed = false, b_transposed = false;
  int m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;
  Element sums = Element::f32;
};

cudaError_t multiply(const Gemm& g) {
  if (g.m == 0 || g.n == 0) return cudaSuccess;
  std::vector<double> a, b;
  if (const cudaError_t error = g.a.read(false, g.a_transposed, a)) return error;
  if (const cudaError_t error = g.b.read(true, g.b_transposed, b)) return error;
  const auto m = static_cast<std::size_t>(g.m), k = static_cast<std::size_t>(g.k);
  std::vector<std::byte> bytes(g.c.column_bytes());
  for (int j = 0; j < g.n; ++j) {
    std::byte* const column = g.c.column(j);
    // C need not have been written if it is not read.
    if (g.beta != 0)
      if (const cudaError_t error = g.c.copy(j, bytes.data(), column)) return error;
    for (std::size_t i = 0; i < m; ++i) {
      const double* const x = a.data() + i * k;
      const double* const y = b.data() + static_cast<std::size_t>(j) * k;
      std::byte* const at = bytes.data() + i * size_of(g.c.element);
      double sum = 0;
      for (std::size_t p = 0; p < k; ++p) sum += x[p] * y[p];
      if (g.sums == Element::f32) sum = static_cast<double>(static_cast<float>(sum));
      sum *= g.alpha;
      if (g.beta != 0) sum += g.beta * load(g.c.element, at);
      store(g.c.element, at, sum);
    }
    if (const cudaError_t error = g.c.copy(j, column, bytes.data())) return error;
  }
  return cudaSuccess;
}

cudaError_t scalar(const cublasContext& handle, Element e, const void* at, double& value) {
  std::byte bytes[8] = {};
  if (handle.device_scalars) {
    if (const cudaError_t error = cudaMemcpy(bytes, at, size_of(e), cudaMemcpyDefault))
      return error;
  } else {
    std::memcpy(bytes, at, size_of(e));
  }
  value = load(e, bytes);
  return cudaSuccess;
}

constexpr int kSuccess = 0, kNotInitialised = 1, kInvalidValue = 7, kExecutionFailed = 13,
              kNotSupported = 15;

}  // namespace
}  // namespace simgpu::runtime

using namespace simgpu::runtime;

int cublasCreate_v2(cublasContext** handle) {
  if (!handle) return kInvalidValue;
  *handle = new cublasContext;
  return kSuccess;
}
int cublasDestroy_v2(cublasContext* handle) {
  delete handle;
  return kSuccess;
}
int cublasGetVersion_v2(cublasContext*, int* version) {
  if (!version) return kInvalidValue;
  *version = 130000;
  return kSuccess;
}
int cublasSetStream_v2(cublasContext* handle, cudaStream_t stream) {
  if (!handle) return kNotInitialised;
  handle->stream = stream;
  return kSuccess;
}
int cublasGetStream_v2(cublasContext* handle, cudaStream_t* stream) {
  if (!handle) return kNotInitialised;
  if (!stream) return kInvalidValue;
  *stream = handle->stream;
  return kSuccess;
}
int cublasSetMathMode(cublasContext* handle, int) {
  return handle ? kSuccess : kNotInitialised;
}
int cublasSetPointerMode_v2(cublasContext* handle, int mode) {
  if (!handle) return kNotInitialised;
  handle->device_scalars = mode == 1;
  return kSuccess;
}
int cublasGetPointerMode_v2(cublasContext* handle, int* mode) {
  if (!handle) return kNotInitialised;
  if (!mode) return kInvalidValue;
  *mode = handle->device_scalars ? 1 : 0;
  return kSuccess;
}
int cublasSetWorkspace_v2(cublasContext* handle, void*, size_t) {
  return handle ? kSuccess : kNotInitialised;
}
const char* cublasGetStatusName(int status) {
  switch (status) {
    case kSuccess:
      return "CUBLAS_STATUS_SUCCESS";
    case kNotInitialised:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case kInvalidValue:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case kExecutionFailed:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case kNotSupported:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}
const char* cublasGetStatusString(int status) {
  return cublasGetStatusName(status);
}

int cublasGemmStridedBatchedEx(cublasContext* handle, int transa, int transb, int m, int n, int k,
                               const void* alpha, const void* a, int a_type, int lda,
                               long long a_stride, const void* b, int b_type, int ldb,
                               long long b_stride, const void* beta, void* c, int c_type, int ldc,
                               long long c_stride, int batch, int compute, int) {
  if (!handle) return kNotInitialised;
  Gemm g;
  g.a_transposed = transa != 0;
  g.b_transposed = transb != 0;
  g.m = m, g.n = n, g.k = k;
  g.sums = sums_of(compute);
  const Element ea = element_of(a_type), eb = element_of(b_type), ec = element_of(c_type);
  if (ea == Element::unknown || eb == Element::unknown || ec == Element::unknown ||
      g.sums == Element::unknown)
    return kNotSupported;
  const int a_rows = g.a_transposed ? k : m, b_rows = g.b_transposed ? n : k;
  if (m < 0 || n < 0 || k < 0 || batch < 0 || !alpha || !beta || lda < std::max(1, a_rows) ||
      ldb < std::max(1, b_rows) || ldc < std::max(1, m))
    return kInvalidValue;
  if (scalar(*handle, g.sums, alpha, g.alpha) != cudaSuccess ||
      scalar(*handle, g.sums, beta, g.beta) != cudaSuccess)
    return kExecutionFailed;
  for (long long i = 0; i < batch; ++i) {
    const auto place = [i](const void* at, Element e, long long stride) {
      return static_cast<const std::byte*>(at) +
             i * stride * static_cast<std::ptrdiff_t>(size_of(e));
    };
    g.a = {ea, place(a, ea, a_stride), a_rows, g.a_transposed ? m : k, lda, 'A'};
    g.b = {eb, place(b, eb, b_stride), b_rows, g.b_transposed ? k : n, ldb, 'B'};
    g.c = {ec, place(c, ec, c_stride), m, n, ldc, 'C'};
    if (multiply(g) != cudaSuccess) return kExecutionFailed;
  }
  return kSuccess;
}
