// What the programs share that measure a part of lab 6 beside cuBLAS (lab6.sh): shapes, memory, times, errors.
#pragma once

#include <cublas_v2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "common/kernel.cuh"
#include "grader/bench/events.cuh"

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

/// cuBLAS's handle.
class Cublas {
 public:
  Cublas() {
    if (cublasCreate(&handle_) != CUBLAS_STATUS_SUCCESS) std::exit(1);
  }
  ~Cublas() { cublasDestroy(handle_); }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

/// What a stream has freed stays in its pool from now on, for kernels that take memory for each product.
inline void keep_freed_memory() {
  cudaMemPool_t pool = nullptr;
  std::uint64_t all = UINT64_MAX;
  CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
}

/// Seconds that one product takes: the mean of as many run(0), run(1), ... as take about 10 ms.
template <typename Run>
double seconds(const Run& run) {
  const auto timed = [&](int count) {
    return timing::milliseconds(nullptr,
                                [&] {
                                  for (int i = 0; i < count; ++i) run(i);
                                }) /
           count;
  };
  const double once = timed(2);
  return timed(std::clamp(static_cast<int>(10 / once), 1, 2000)) * 1e-3;
}

/// How long a candidate took, over its rounds.
struct Speed {
  double seconds = 0;                     ///< median of the rounds
  double ratio = 0, least = 0, most = 0;  ///< of cuBLAS's time to its own in the same round

  /// Of its seconds in each round, and cuBLAS's in as many rounds or more.
  void set(std::vector<double> rounds, const std::vector<double>& of_cublas) {
    if (rounds.empty()) return;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < rounds.size(); ++i) ratios.push_back(of_cublas[i] / rounds[i]);
    std::sort(ratios.begin(), ratios.end());
    std::sort(rounds.begin(), rounds.end());
    seconds = rounds[rounds.size() / 2];
    ratio = ratios[ratios.size() / 2];
    least = ratios.front();
    most = ratios.back();
  }
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

/// Worst and mean of |C - AB| / (u |A||B|).
struct WorstAndMean {
  double worst = 0, mean = 0;
};
/// Of at most `most` rows, spread over C: `compare(grid, step, errors)` launches blocks of 128 threads, a thread
/// per column and every `step`-th row in y, which call add_error().
template <typename T, typename Compare>
WorstAndMean errors_of(MatrixView<T> c, int most, const Compare& compare) {
  const Buffer<Errors> errors(1);
  CUDA_CHECK(cudaMemset(errors.get(), 0, sizeof(Errors)));
  const int step = ceil_div(c.rows, most), rows = ceil_div(c.rows, step);
  compare(dim3(ceil_div(c.cols, 128), rows), step, errors.get());
  CUDA_CHECK_LAUNCH();
  Errors seen;
  CUDA_CHECK(cudaMemcpy(&seen, errors.get(), sizeof seen, cudaMemcpyDeviceToHost));
  return {seen.worst, seen.sum / (static_cast<double>(rows) * c.cols)};
}
