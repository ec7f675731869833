// What host code asks about the GPU before it chooses a tile.
#pragma once

#include "common/kernel.cuh"

inline int gpu_attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}
inline int multiprocessors() {
  return gpu_attribute(cudaDevAttrMultiProcessorCount);
}
