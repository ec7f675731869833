// What the kernels of several labs use.
#pragma once

#include <cuda_runtime.h>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"

// Of the simulated GPU's reports: an instruction in a helper belongs to the line that calls it.
#if defined(__clang__) && defined(__CUDA__)
#define GEMM_LAB_DEVICE __device__ __attribute__((nodebug))
#else
#define GEMM_LAB_DEVICE __device__
#endif

/// n / d, rounded up; d > 0.
constexpr int ceil_div(int n, int d) {
  return (n + d - 1) / d;
}

/// Stands where you have written nothing yet: the thread ends here, and C stays as it was.
template <typename Result>
__device__ Result unwritten() {
  asm volatile("exit;");
  return Result();
}

/// How many elements make 16 bytes, the most that one access moves.
template <typename T>
constexpr int VEC = 16 / sizeof(T);

/// True if every row of m begins at a multiple of 16 bytes.
template <typename T>
__host__ GEMM_LAB_DEVICE bool rows_aligned(MatrixView<T> m) {
  return reinterpret_cast<std::size_t>(m.data) % 16 == 0 && m.ld % VEC<T> == 0;
}

/// Memory of a stream, given back when all before it in the stream is done.
template <typename T>
class StreamMemory {
 public:
  explicit StreamMemory(cudaStream_t stream) : stream_(stream) {}
  ~StreamMemory() {
    if (data_) cudaFreeAsync(data_, stream_);
  }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  T* allocate(std::size_t elements) {
    CUDA_CHECK(cudaMallocAsync(reinterpret_cast<void**>(&data_), sizeof(T) * elements, stream_));
    return data_;
  }

 private:
  cudaStream_t stream_;
  T* data_ = nullptr;
};
