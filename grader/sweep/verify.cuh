// Inputs, and whether C = A * B, on the device: nothing of size n^2 travels to the host.
//
// R. Freivalds, "Probabilistic machines can use less running time", IFIP 1977: C x = A (B x) for
// random vectors x takes O(n^2). A point of a sweep is checked twice. First with small integers as
// inputs, whose products and sums every type here holds exactly: then C x must be exactly A (B x).
// The timed launches run on zero-mean random numbers; what the last of them left is held against
// the limit of common/reference.hpp.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"
#include "grader/sweep/elements.cuh"

namespace sweep {

enum class Data {
  integers,  ///< -8 ... 8: sums of up to 2^17 products are exact in float
  random     ///< zero-mean: [-1, 1), all bits of an int
};

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
__device__ inline std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

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
    const std::uint64_t bits = mixed(seed ^ mixed(i));
    if (kind == Data::integers)
      data[i] = element_of<T>(static_cast<double>(static_cast<int>((bits >> 32) % 17) - 8));
    else if constexpr (std::is_same_v<T, int>)
      data[i] = static_cast<int>(static_cast<std::uint32_t>(bits));
    else
      data[i] = element_of<T>(static_cast<double>(bits >> 11) * 0x1p-52 - 1);
  }
}

/// So many vectors are multiplied at once, and an error that hides from one must hide from all.
constexpr int ROUNDS = 4;

/// x: +1 or -1 (spread 1), integers in [-spread, spread), or all bits for unsigned sums; 1 for
/// spread 0.
template <typename Sum>
__global__ void vectors_kernel(Sum* x, int count, std::uint64_t seed, int spread) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::uint64_t bits = mixed(seed ^ mixed(i));
  if (spread == 0)
    x[i] = Sum(1);
  else if constexpr (std::is_integral_v<Sum>)
    x[i] = static_cast<Sum>(bits >> 32);
  else if (spread == 1)
    x[i] = (bits >> 63) != 0 ? Sum(-1) : Sum(1);
  else
    x[i] = static_cast<Sum>(static_cast<int>((bits >> 32) % (2 * spread)) - spread);
}

/// y = m x for ROUNDS vectors, element r of x's row k at x[k * ROUNDS + r]. A warp per row of m.
template <bool MAGNITUDES, typename T, typename Sum>
__global__ void times_vectors_kernel(MatrixView<const T> m, const Sum* x, Sum* y) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= m.rows) return;
  Sum sum[ROUNDS] = {};
  for (int k = lane; k < m.cols; k += 32) {
    Sum value = widened<Sum>(m(row, k));
    if constexpr (MAGNITUDES) value = value < Sum(0) ? -value : value;
    for (int r = 0; r < ROUNDS; ++r) sum[r] += value * x[k * ROUNDS + r];
  }
  for (int r = 0; r < ROUNDS; ++r) {
    for (int apart = 16; apart > 0; apart /= 2)
      sum[r] += __shfl_down_sync(0xffffffffu, sum[r], apart);
    if (lane == 0) y[row * ROUNDS + r] = sum[r];
  }
}

/// Counts elements of got that are further than factor * magnitude from expected; NaN is.
template <typename Sum>
__global__ void compare_kernel(const Sum* got, const Sum* expected, const Sum* magnitude,
                               double factor, int count, unsigned* wrong) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  bool right = got[i] == expected[i];
  if constexpr (!std::is_integral_v<Sum>) {
    const double error = got[i] < expected[i] ? expected[i] - got[i] : got[i] - expected[i];
    right = right || error <= factor * magnitude[i];
  }
  if (!right) atomicAdd(wrong, 1u);
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

/// How many of the rows of C x differ from A (B x). Waits for the stream.
///
/// Exactly (kind == integers, and int in any case), or by at most t_i = units u s_i sqrt(2 ln(2 M
/// ROUNDS / p)), p = 1e-6, as in common/reference.hpp, with s_i, the 2-norm of row i of |A||B|,
/// taken as twice its 1-norm / sqrt(N): its elements differ by far less than a factor of 2 for
/// inputs from fill().
template <typename In>
unsigned wrong_rows(MatrixView<const In> a, MatrixView<const In> b, MatrixView<const Result<In>> c,
                    Data kind, double units, std::uint64_t seed, cudaStream_t stream) {
  using Sum = std::conditional_t<std::is_same_v<In, int>, unsigned, double>;
  if (c.rows == 0 || c.cols == 0) return 0;
  const auto blocks = [](int rows) { return static_cast<unsigned>((rows + 7) / 8); };
  const auto spread = kind == Data::integers ? 512 : 1;
  const int m = c.rows * ROUNDS, n = c.cols * ROUNDS, k = a.cols * ROUNDS;
  const auto grid = [](int count) { return static_cast<unsigned>((count + 255) / 256); };
  DeviceArray<Sum> x(n), bx(k), abx(m), cx(m), magnitude(m);
  DeviceArray<unsigned> wrong(1);
  CUDA_CHECK(cudaMemsetAsync(wrong.data(), 0, sizeof(unsigned), stream));
  CUDA_CHECK(cudaMemsetAsync(magnitude.data(), 0, m * sizeof(Sum), stream));
  double factor = 0;
  if constexpr (!std::is_same_v<In, int>)
    if (kind == Data::random) {
      factor = units * roundoff<In>() * 2 / std::sqrt(static_cast<double>(c.cols)) *
               std::sqrt(2 * std::log(2.0 * c.rows * ROUNDS / 1e-6));
      vectors_kernel<<<grid(n), 256, 0, stream>>>(x.data(), n, seed, 0);
      times_vectors_kernel<true>
          <<<blocks(b.rows), 256, 0, stream>>>(b, static_cast<const Sum*>(x.data()), bx.data());
      times_vectors_kernel<true><<<blocks(a.rows), 256, 0, stream>>>(
          a, static_cast<const Sum*>(bx.data()), magnitude.data());
    }
  vectors_kernel<<<grid(n), 256, 0, stream>>>(x.data(), n, seed, spread);
  times_vectors_kernel<false>
      <<<blocks(b.rows), 256, 0, stream>>>(b, static_cast<const Sum*>(x.data()), bx.data());
  times_vectors_kernel<false>
      <<<blocks(a.rows), 256, 0, stream>>>(a, static_cast<const Sum*>(bx.data()), abx.data());
  times_vectors_kernel<false>
      <<<blocks(c.rows), 256, 0, stream>>>(c, static_cast<const Sum*>(x.data()), cx.data());
  compare_kernel<<<grid(m), 256, 0, stream>>>(
      static_cast<const Sum*>(cx.data()), static_cast<const Sum*>(abx.data()),
      static_cast<const Sum*>(magnitude.data()), factor, m, wrong.data());
  CUDA_CHECK_LAUNCH();
  unsigned count = 0;
  CUDA_CHECK(cudaMemcpyAsync(&count, wrong.data(), sizeof count, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return count;
}

}  // namespace sweep
