// CUB's macros around calls that may fail.
#pragma once
#pragma GCC system_header

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace cub {
/// Takes the error away, as CUB's does, and tells it where the program asks for that (CUB_STDERR).
__attribute__((host, device)) inline cudaError_t Debug(cudaError_t error, const char* file,
                                                       int line) {
#ifndef __CUDA_ARCH__
  (void)cudaGetLastError();
#ifdef CUB_STDERR
  if (error != cudaSuccess)
    std::fprintf(stderr, "CUDA error %d [%s, %d]: %s\n", static_cast<int>(error), file, line,
                 cudaGetErrorString(error));
#endif
#endif
  (void)file;
  (void)line;
  return error;
}
}  // namespace cub

#ifndef CubDebug
#define CubDebug(e) cub::Debug(static_cast<cudaError_t>(e), __FILE__, __LINE__)
#endif
#ifndef CubDebugExit
#define CubDebugExit(e)                                              \
  if (cub::Debug(static_cast<cudaError_t>(e), __FILE__, __LINE__)) { \
    std::exit(1);                                                    \
  }
#endif
