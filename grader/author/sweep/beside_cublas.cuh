// What the programs share that measure a part of lab 6 beside cuBLAS (lab6.sh): shapes, memory, errors.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/kernel.cuh"

struct Extents {
  int m, n, k;
};
inline std::string name_of(const Extents& e) {
  char text[64];
  std::snprintf(text, sizeof text, "%dx%dx%d", e.m, e.n, e.k);
  return text;
}

/// What a program was asked for: `M,N,K ...`, behind `--errors` for the errors alone. Without shapes the
/// squares of the tables, then `others`. Ends the program at what it cannot read.
struct Arguments {
  bool timed;
  std::vector<Extents> shapes;

  Arguments(int argc, char** argv, const std::vector<Extents>& others)
      : timed(argc < 2 || std::string(argv[1]) != "--errors") {
    for (int i = timed ? 1 : 2; i < argc; ++i) {
      Extents e{};
      if (std::sscanf(argv[i], "%d,%d,%d", &e.m, &e.n, &e.k) != 3) std::exit(4);
      shapes.push_back(e);
    }
    if (!shapes.empty()) return;
    for (const int n : {512, 1024, 2048, 4096, 8192, 1025, 2049, 4095}) shapes.push_back({n, n, n});
    shapes.insert(shapes.end(), others.begin(), others.end());
  }
};

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
