// cuBLAS by dlopen, without its headers: the few functions and numbers of its stable C interface.
// For the timing worker and the sweeps, which run without it, too. C++17.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "grader/gpu/protocol.hpp"

namespace grader::gpu {

class Cublas {
 public:
  /// `major`: of the CUDA runtime, whose cuBLAS is tried first. `stream`: a cudaStream_t.
  explicit Cublas(int major, void* stream = nullptr) {
    std::vector<std::string> names;
    const std::string plain = "libcublas.so";
    for (const int version : {major, 13, 12, 11})
      names.push_back(plain + "." + std::to_string(version));
    std::vector<std::string> folders = {""};
    if (const char* home = std::getenv("CUDA_HOME"))
      folders.push_back(std::string(home) + "/lib64/");
    folders.push_back("/usr/local/cuda/lib64/");
    names.push_back(plain);
    for (const auto& folder : folders) {
      for (const auto& name : names) {
        library_ = ::dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library_ == nullptr) continue;
        path = folder + name;
        break;
      }
      if (library_ != nullptr) break;
    }
    if (library_ == nullptr) {
      path = "libcublas.so was not found";
      return;
    }
    const auto find = [&](const char* name) { return ::dlsym(library_, name); };
    const auto create = reinterpret_cast<int (*)(void**)>(find("cublasCreate_v2"));
    const auto get_version = reinterpret_cast<int (*)(void*, int*)>(find("cublasGetVersion_v2"));
    const auto set_mode = reinterpret_cast<int (*)(void*, int)>(find("cublasSetMathMode"));
    gemm_ = reinterpret_cast<Gemm>(find("cublasGemmEx"));
    if (!create || !get_version || !set_mode || !gemm_) {
      path += " lacks functions";
      return;
    }
    if (const int status = create(&handle_); status != 0) {
      handle_ = nullptr;
      path += " does not start (status " + std::to_string(status) + ")";
      return;
    }
    constexpr int default_math = 0;  // CUBLAS_DEFAULT_MATH: FP32 stays FP32
    set_mode(handle_, default_math);
    get_version(handle_, &version);
    if (const auto set_stream = reinterpret_cast<int (*)(void*, void*)>(find("cublasSetStream_v2"));
        stream != nullptr && (!set_stream || set_stream(handle_, stream) != 0)) {
      path += " does not take a stream";
      close();
    }
  }
  ~Cublas() { close(); }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  bool found() const { return handle_ != nullptr; }

  /// There is no product of int32 with int32 sums.
  static bool has(protocol::Type type) { return type != protocol::Type::int32; }

  /// C = A * B, dense and row-major: cuBLAS, which is column-major, sees C^T = B^T A^T. FP32 stays
  /// FP32, TF32 runs on tensor cores, 16-bit operands give FP32. 0 = success.
  int multiply(protocol::Type type, const void* a, const void* b, void* c, int m, int n,
               int k) const {
    using protocol::Type;
    enum DataType { r_32f = 0, r_64f = 1, r_16f = 2, r_16bf = 14 };
    enum ComputeType { compute_32f = 68, compute_64f = 70, compute_32f_fast_tf32 = 77 };
    const DataType in = type == Type::float64    ? r_64f
                        : type == Type::float16  ? r_16f
                        : type == Type::bfloat16 ? r_16bf
                                                 : r_32f;
    const DataType out = type == Type::float64 ? r_64f : r_32f;
    const ComputeType compute = type == Type::float64 ? compute_64f
                                : type == Type::tf32  ? compute_32f_fast_tf32
                                                      : compute_32f;
    const double one64 = 1, zero64 = 0;
    const float one32 = 1, zero32 = 0;
    const bool wide = type == Type::float64;
    constexpr int as_it_is = 0, default_algorithm = -1;
    return gemm_(handle_, as_it_is, as_it_is, n, m, k,
                 wide ? static_cast<const void*>(&one64) : &one32, b, in, n, a, in, k,
                 wide ? static_cast<const void*>(&zero64) : &zero32, c, out, n, compute,
                 default_algorithm);
  }

  std::string path;  ///< of the library, or why there is none
  int version = 0;   ///< 130100 for 13.1

 private:
  using Gemm = int (*)(void*, int, int, int, int, int, const void*, const void*, int, int,
                       const void*, int, int, const void*, void*, int, int, int, int);
  void close() {
    if (const auto destroy =
            handle_ ? reinterpret_cast<int (*)(void*)>(::dlsym(library_, "cublasDestroy_v2"))
                    : nullptr)
      destroy(handle_);
    handle_ = nullptr;
  }
  void* library_ = nullptr;  ///< stays open: what it started lives as long as the process
  void* handle_ = nullptr;
  Gemm gemm_ = nullptr;
};

}  // namespace grader::gpu
