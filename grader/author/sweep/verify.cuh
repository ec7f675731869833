// Inputs, and whether C = A * B, on the device: nothing of size n^2 travels to the host.
//
// By Freivalds' check (grader/gpu/freivalds.cuh), twice per point. First with small integers as
// inputs, whose products and sums every type here holds exactly: then C x must be exactly A (B x).
// The timed launches run on zero-mean random numbers; what the last of them left is held against
// the limit of common/reference.hpp.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"
#include "grader/author/sweep/elements.cuh"
#include "grader/gpu/freivalds.cuh"

namespace sweep {

enum class Data {
  integers,  ///< -8 ... 8: sums of up to 2^17 products are exact in float
  random     ///< zero-mean: [-1, 1), all bits of an int
};

template <typename T>
__device__ T element_of(double value) {
  if constexpr (std::is_same_v<T, __half>)
    return __float2half(static_cast<float>(value));
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __float2bfloat16(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

template <typename T>
__global__ void fill_kernel(T* data, std::size_t count, std::uint64_t seed, Data kind) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const std::uint64_t bits =
        grader::gpu::freivalds::split_mix(seed ^ grader::gpu::freivalds::split_mix(i));
    if (kind == Data::integers)
      data[i] = element_of<T>(static_cast<double>(static_cast<int>((bits >> 32) % 17) - 8));
    else if constexpr (std::is_same_v<T, int>)
      data[i] = static_cast<int>(static_cast<std::uint32_t>(bits));
    else
      data[i] = element_of<T>(static_cast<double>(bits >> 11) * 0x1p-52 - 1);
  }
}

/// Device memory for the length of a scope. Throws CudaError if there is not enough.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) {
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), (count ? count : 1) * sizeof(T)));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

template <typename T>
void fill(T* data, std::size_t count, std::uint64_t seed, Data kind, cudaStream_t stream) {
  fill_kernel<<<1024, 256, 0, stream>>>(data, count, seed, kind);
  CUDA_CHECK_LAUNCH();
}

/// How many rows of C are not those of A * B. Waits for the stream. Exactly (kind == integers, and
/// int in any case), or to `units` of u as in common/reference.hpp.
template <typename In>
unsigned wrong_rows(MatrixView<const In> a, MatrixView<const In> b, MatrixView<const Result<In>> c,
                    Data kind, double units, std::uint64_t seed, cudaStream_t stream) {
  namespace check = grader::gpu::freivalds;
  if (c.rows == 0 || c.cols == 0) return 0;
  if (a.ld != a.cols || b.ld != b.cols || c.ld != c.cols)
    throw std::logic_error("wrong_rows: only for dense matrices");
  constexpr double alarm = 1e-6;
  const check::Limits limits =
      kind == Data::integers
          ? check::Limits{}
          : check::limits<In>(units, c.cols, a.cols, c.rows, check::kVectors, alarm);
  DeviceArray<check::Projection<In>> projection(static_cast<std::size_t>(a.cols));
  DeviceArray<check::Residual> residuals(static_cast<std::size_t>(c.rows));
  DeviceArray<check::Finding> finding(1);
  check::Finding found{check::kNone, check::kNone, 0, 0};
  CUDA_CHECK(cudaMemcpyAsync(finding.data(), &found, sizeof found, cudaMemcpyHostToDevice, stream));
  if (a.cols > 0)
    check::project_kernel<In><<<static_cast<unsigned>(a.cols), check::kThreads, 0, stream>>>(
        b.data, c.cols, seed, projection.data());
  check::rows_kernel<In><<<static_cast<unsigned>(c.rows), check::kThreads, 0, stream>>>(
      a.data, c.data, projection.data(), c.cols, a.cols, check::kVectors, seed, limits,
      finding.data(), residuals.data());
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaMemcpyAsync(&found, finding.data(), sizeof found, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return found.wrong_rows;
}

}  // namespace sweep
