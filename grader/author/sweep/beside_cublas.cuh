// What the programs share that measure a part of lab 6 beside cuBLAS (lab6.sh): shapes, memory, errors.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include "common/kernel.cuh"

struct Extents {
  int m, n, k;
};
inline std::string name_of(const Extents& e) {
  char text[64];
  std::snprintf(text, sizeof text, "%dx%dx%d", e.m, e.n, e.k);
  return text;
}

/// Memory of the device.
template <typename T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) { CUDA_CHECK(cudaMalloc(&data_, count * sizeof(T))); }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

/// The worst and the sum of |C - AB| / (u |A||B|) over some elements, u = 2^-24.
struct Errors {
  double worst, sum;
};
/// Adds an element: its value, what AB is in FP64, and |A||B|.
__device__ inline void add_error(Errors* errors, float value, double expected, double size) {
  const double off = fabs(value - expected) / (size * 0x1p-24);
  const double units = off <= 1e30 ? off : 1e30;  // NaN too
  atomicAdd(&errors->sum, units);
  atomicMax(reinterpret_cast<unsigned long long*>(&errors->worst),
            static_cast<unsigned long long>(__double_as_longlong(units)));
}
