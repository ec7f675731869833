// A matrix in device memory that owns its elements.
#pragma once

#include <cuda_runtime.h>

#include "common/cuda_check.cuh"
#include "common/host_matrix.hpp"
#include "common/matrix.hpp"

/// rows x cols elements with leading dimension ld in an allocation of exactly matrix_storage()
/// elements, so that a checker sees the first access beyond the last element. Freed on destruction.
template <typename T>
class DeviceMatrix {
 public:
  DeviceMatrix() = default;
  DeviceMatrix(int rows, int cols) : DeviceMatrix(rows, cols, cols) {}

  /// Elements are uninitialised. Throws std::invalid_argument (extents) or CudaError (no memory).
  DeviceMatrix(int rows, int cols, int ld) : rows_(rows), cols_(cols), ld_(ld) {
    const std::size_t elements = matrix_storage(rows, cols, ld);
    if (elements > 0)
      CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), elements * sizeof(T)));
  }

  /// Same extents, leading dimension and content, padding included.
  explicit DeviceMatrix(const HostMatrix<T>& host)
      : DeviceMatrix(host.rows(), host.cols(), host.ld()) {
    copy_from(host);
  }

  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;

  ~DeviceMatrix() {
    if (data_ != nullptr)
      cudaFree(data_);  // an error here could only be an older one: nobody to tell
  }

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  int ld() const { return ld_; }
  MatrixView<T> view() { return {data_, rows_, cols_, ld_}; }
  MatrixView<const T> view() const { return {data_, rows_, cols_, ld_}; }

  /// Host to device. With equal leading dimensions the whole storage is copied, padding included;
  /// otherwise row by row, and the padding here keeps what it holds. Throws std::invalid_argument
  /// if extents differ.
  void copy_from(const HostMatrix<T>& host) {
    require_same_extents(host);
    if (data_ == nullptr) return;
    if (host.ld() == ld_)
      CUDA_CHECK(cudaMemcpy(data_, host.storage().data(), host.storage().size() * sizeof(T),
                            cudaMemcpyHostToDevice));
    else
      CUDA_CHECK(cudaMemcpy2D(data_, pitch(ld_), host.storage().data(), pitch(host.ld()),
                              pitch(cols_), static_cast<std::size_t>(rows_),
                              cudaMemcpyHostToDevice));
  }

  /// Device to host, by the same rule.
  void copy_to(HostMatrix<T>& host) const {
    require_same_extents(host);
    if (data_ == nullptr) return;
    if (host.ld() == ld_)
      CUDA_CHECK(cudaMemcpy(host.storage().data(), data_, host.storage().size() * sizeof(T),
                            cudaMemcpyDeviceToHost));
    else
      CUDA_CHECK(cudaMemcpy2D(host.storage().data(), pitch(host.ld()), data_, pitch(ld_),
                              pitch(cols_), static_cast<std::size_t>(rows_),
                              cudaMemcpyDeviceToHost));
  }

 private:
  static std::size_t pitch(int elements) { return static_cast<std::size_t>(elements) * sizeof(T); }

  void require_same_extents(const HostMatrix<T>& host) const {
    if (host.rows() != rows_ || host.cols() != cols_)
      throw std::invalid_argument("copy between a " + std::to_string(host.rows()) + " x " +
                                  std::to_string(host.cols()) + " host matrix and a " +
                                  std::to_string(rows_) + " x " + std::to_string(cols_) +
                                  " device matrix");
  }

  T* data_ = nullptr;
  int rows_ = 0, cols_ = 0, ld_ = 0;
};
