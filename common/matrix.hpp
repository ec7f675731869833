// Matrices as every lab, the grader and the CPU reference see them: row-major with a leading dimension.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#if defined(__CUDACC__) || defined(__CUDA__)
#define GEMM_LAB_HOST_DEVICE __host__ __device__
#else
#define GEMM_LAB_HOST_DEVICE
#endif

/// A matrix that somebody else owns: rows x cols elements, row r starts at data + r * ld.
/// Passed to kernels by value. Nothing is checked: that is what the simulated GPU is for.
template <typename T>
struct MatrixView {
  T* data = nullptr;
  int rows = 0;
  int cols = 0;
  int ld = 0;  ///< leading dimension: elements from one row to the next, ld >= cols

  GEMM_LAB_HOST_DEVICE T& operator()(int row, int col) const {
    return data[static_cast<std::ptrdiff_t>(row) * ld + col];
  }
};
