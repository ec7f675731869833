// Error checking as programs in the wild write it.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call)                                                                            \
  do {                                                                                         \
    const cudaError_t status_ = (call);                                                        \
    if (status_ != cudaSuccess) {                                                              \
      std::printf("%s:%d: %s: %s\n", "program", __LINE__, #call, cudaGetErrorString(status_)); \
      std::exit(EXIT_FAILURE);                                                                 \
    }                                                                                          \
  } while (0)
