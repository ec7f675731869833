// Helpers for the kernels of several labs.
#pragma once

#include <cuda_runtime.h>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"

// The simulated GPU's reports count an instruction in such a helper for the line that calls it.
#if defined(__clang__) && defined(__CUDA__)
#define GEMM_LAB_DEVICE __device__ __attribute__((nodebug))
#else
#define GEMM_LAB_DEVICE __device__
#endif

/// n / d, rounded up; d > 0.
__host__ GEMM_LAB_DEVICE constexpr int ceil_div(int n, int d) {
  return (n + d - 1) / d;
}

/// Stands in for code that you have not written yet: the thread ends here, and C stays as it was.
template <typename Result>
__device__ Result unwritten() {
  asm volatile("exit;");
  return Result();
}

/// Elements of T in 16 bytes, the most that a thread can load or store at once.
template <typename T>
constexpr int VEC = 16 / sizeof(T);

/// True if every row of m begins at an address that is a multiple of 16 bytes.
template <typename T>
__host__ GEMM_LAB_DEVICE bool rows_aligned(MatrixView<T> m) {
  return reinterpret_cast<std::size_t>(m.data) % 16 == 0 && m.ld % VEC<T> == 0;
}

/// Device memory allocated in stream order, and freed when the work queued before that is done.
template <typename T>
class StreamMemory {
 public:
  explicit StreamMemory(cudaStream_t stream) : stream_(stream) {}
  ~StreamMemory() {
    if (data_) cudaFreeAsync(data_, stream_);
  }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  T* allocate(std::size_t elements) {  // once: a second call would lose the memory of the first
    CUDA_CHECK(cudaMallocAsync(reinterpret_cast<void**>(&data_), sizeof(T) * elements, stream_));
    return data_;
  }

 private:
  cudaStream_t stream_;
  T* data_ = nullptr;
};
