// The matrices of the labs, the grader and the CPU reference: row-major with a leading dimension.
//
// Kernels take a MatrixView by value. HostMatrix (host_matrix.hpp) owns its elements.
#pragma once

#include <cstddef>
#include <type_traits>

#if defined(__clang__) && defined(__CUDA__)
// nodebug: reports then blame the line that names an element, not this header. Spelled out, because
// this header may be included before CUDA's.
#define GEMM_LAB_HOST_DEVICE __attribute__((host, device, nodebug))
#elif defined(__CUDACC__)
#define GEMM_LAB_HOST_DEVICE __host__ __device__
#else
#define GEMM_LAB_HOST_DEVICE
#endif

/// A matrix in memory that it does not own: rows x cols elements, row r starts at data + r * ld.
/// Passed to kernels by value. No access is checked here: the simulated GPU does that.
template <typename T>
struct MatrixView {
  T* data = nullptr;
  int rows = 0;
  int cols = 0;
  int ld = 0;  ///< leading dimension: elements from one row to the next, ld >= cols

  GEMM_LAB_HOST_DEVICE T& operator()(int row, int col) const {
    return data[static_cast<std::ptrdiff_t>(row) * ld + col];
  }

  /// A view to read and write converts to a view that only reads.
  template <typename U,
            typename = std::enable_if_t<std::is_same_v<U, const T> && !std::is_const_v<T>>>
  GEMM_LAB_HOST_DEVICE operator MatrixView<U>() const {
    return {data, rows, cols, ld};
  }
};
