// cuBLAS and NVML as they are found at run time: a sweep runs without either.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <string>
#include <type_traits>

#include "common/matrix.hpp"

namespace sweep {

/// A shared library, open for the life of its owner.
class Library {
 public:
  template <typename... Names>
  explicit Library(Names... names) {
    for (const char* name : {names...})
      if (handle_ == nullptr) handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Sets `function` to the address of `name`; false if it is not there.
  template <typename Function>
  bool find(Function*& function, const char* name) const {
    function = handle_ ? reinterpret_cast<Function*>(dlsym(handle_, name)) : nullptr;
    return function != nullptr;
  }

 private:
  void* handle_ = nullptr;
};

/// cublasGemmEx with the math that fits the type: FP32 without TF32, FP64 and 16-bit operands on
/// tensor cores where there are any. Constants are those of cublas_api.h and library_types.h.
class Cublas {
 public:
  explicit Cublas(cudaStream_t stream)
      : library_("libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so") {
    if (!library_.find(create_, "cublasCreate_v2") ||
        !library_.find(destroy_, "cublasDestroy_v2") ||
        !library_.find(set_stream_, "cublasSetStream_v2") ||
        !library_.find(set_math_, "cublasSetMathMode") ||
        !library_.find(get_version_, "cublasGetVersion_v2") ||
        !library_.find(gemm_, "cublasGemmEx"))
      return;
    if (create_(&handle_) != 0 || set_stream_(handle_, stream) != 0) handle_ = nullptr;
  }
  ~Cublas() {
    if (handle_ != nullptr) destroy_(handle_);
  }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  bool available() const { return handle_ != nullptr; }
  int version() const {
    int number = 0;
    if (handle_ != nullptr) get_version_(handle_, &number);
    return number;
  }

  /// C = A * B, row-major: for cuBLAS, which is column-major, C^T = B^T A^T. False if cuBLAS has no
  /// such product (int32) or refuses.
  template <typename In, typename Out>
  bool multiply(MatrixView<const In> a, MatrixView<const In> b, MatrixView<Out> c, bool tf32) {
    if constexpr (std::is_same_v<In, int>) {
      return false;
    } else {
      if (handle_ == nullptr) return false;
      constexpr int real32 = 0, real64 = 1, real16 = 2, brain16 = 14;  // cudaDataType
      constexpr int in = std::is_same_v<In, double>   ? real64
                         : std::is_same_v<In, float>  ? real32
                         : std::is_same_v<In, __half> ? real16
                                                      : brain16;
      constexpr int out = std::is_same_v<Out, double> ? real64 : real32;
      constexpr int compute = std::is_same_v<Out, double> ? 70 : 68;  // CUBLAS_COMPUTE_64F, _32F
      const int tf32_math = 3, default_math = 0;
      set_math_(handle_, tf32 ? tf32_math : default_math);
      const Out one = 1, zero = 0;
      const int default_algorithm = -1, not_transposed = 0;
      return gemm_(handle_, not_transposed, not_transposed, c.cols, c.rows, a.cols, &one, b.data,
                   in, b.ld, a.data, in, a.ld, &zero, c.data, out, c.ld, compute,
                   default_algorithm) == 0;
    }
  }

 private:
  using Handle = void*;
  Library library_;
  Handle handle_ = nullptr;
  int (*create_)(Handle*) = nullptr;
  int (*destroy_)(Handle) = nullptr;
  int (*set_stream_)(Handle, cudaStream_t) = nullptr;
  int (*set_math_)(Handle, int) = nullptr;
  int (*get_version_)(Handle, int*) = nullptr;
  int (*gemm_)(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*,
               int, int, const void*, void*, int, int, int, int) = nullptr;
};

/// The clock of this GPU's SMs, read only.
class Clock {
 public:
  Clock() : library_("libnvidia-ml.so.1") {
    int (*init)() = nullptr;
    int (*by_bus)(const char*, void**) = nullptr;
    char bus[32] = "";
    int device = 0;
    if (!library_.find(init, "nvmlInit_v2") || !library_.find(clock_, "nvmlDeviceGetClockInfo") ||
        !library_.find(by_bus, "nvmlDeviceGetHandleByPciBusId_v2") ||
        cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetPCIBusId(bus, sizeof bus, device) != cudaSuccess || init() != 0 ||
        by_bus(bus, &device_) != 0)
      device_ = nullptr;
  }
  /// MHz now; 0 if nobody tells.
  unsigned megahertz() const {
    unsigned mhz = 0;
    const int multiprocessors = 1;  // NVML_CLOCK_SM
    return device_ != nullptr && clock_(device_, multiprocessors, &mhz) == 0 ? mhz : 0;
  }

 private:
  Library library_;
  void* device_ = nullptr;
  int (*clock_)(void*, int, unsigned*) = nullptr;
};

}  // namespace sweep
