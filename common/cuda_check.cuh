// CUDA_CHECK(call): any call to the CUDA runtime can fail, and so can any launch.
//
//     CUDA_CHECK(cudaMalloc(&p, bytes));
//     kernel<<<grid, block>>>(...);
//     CUDA_CHECK_LAUNCH();
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <exception>

#include "common/cuda_error_hints.hpp"

/// Thrown by CUDA_CHECK. what(): file:line, the expression, the error's name and meaning, a hint.
class CudaError : public std::exception {
 public:
  CudaError(cudaError_t code_, const char* expression, const char* file, int line) : code(code_) {
    const char* name = cudaGetErrorName(code_);
    const char* hint = cuda_error_hint(name);
    std::snprintf(text_, sizeof text_, "%s:%d: %s failed: %s (%s)%s%s", file, line, expression,
                  name, cudaGetErrorString(code_), hint[0] ? "\n  hint: " : "", hint);
  }
  const char* what() const noexcept override { return text_; }

  const cudaError_t code;

 private:
  char text_[1024];
};

inline void cuda_check(cudaError_t code, const char* expression, const char* file, int line) {
  if (code != cudaSuccess) throw CudaError(code, expression, file, line);
}

/// Throws CudaError unless `expression` is cudaSuccess.
#define CUDA_CHECK(expression) cuda_check((expression), #expression, __FILE__, __LINE__)

/// Put this after a launch: it throws if the configuration was rejected, and clears the error. What
/// goes wrong while the kernel runs shows up at the next call that waits for it.
#define CUDA_CHECK_LAUNCH() cuda_check(cudaGetLastError(), "kernel launch", __FILE__, __LINE__)
