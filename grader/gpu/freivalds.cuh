// Freivalds' check on the device: is C = A * B? O(n^2) work, and nothing of that size travels.
//
// R. Freivalds, "Probabilistic machines can use less running time", IFIP 1977: C x = A (B x) for
// random vectors x. Eight vectors of signs at once, for int32 of arbitrary numbers; each row of C x
// has a limit of its own, as check_probabilistically() of common/reference.hpp. Matrices are dense
// and row-major. For the timing worker and the sweeps; C++17.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace grader::gpu::freivalds {

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
__host__ __device__ inline std::uint64_t split_mix(std::uint64_t state) {
  std::uint64_t z = state + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

struct Tf32 {  ///< a float that TF32 holds exactly
  float value;
};

__device__ inline double to_double(double x) {
  return x;
}
__device__ inline double to_double(float x) {
  return static_cast<double>(x);
}
__device__ inline double to_double(Tf32 x) {
  return static_cast<double>(x.value);
}
__device__ inline double to_double(__half x) {
  return static_cast<double>(__half2float(x));
}
__device__ inline double to_double(__nv_bfloat16 x) {
  return static_cast<double>(__bfloat162float(x));
}

/// The type in which products are summed and C is stored.
template <typename T>
using ResultOf =
    std::conditional_t<std::is_same_v<T, double>, double,
                       std::conditional_t<std::is_same_v<T, std::int32_t>, std::int32_t, float>>;

/// An element as the type in which its products are summed.
template <typename T>
__device__ inline ResultOf<T> widened(T x) {
  if constexpr (std::is_same_v<T, Tf32>)
    return x.value;
  else if constexpr (std::is_same_v<T, __half>)
    return __half2float(x);
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __bfloat162float(x);
  else
    return x;
}

template <typename Out>
__device__ inline bool is_poison(Out value) {
  if constexpr (std::is_same_v<Out, double>)
    return __double_as_longlong(value) == 0x7ff85eed5eed5eedll;
  else if constexpr (std::is_same_v<Out, float>)
    return __float_as_uint(value) == 0x7fc5eed5u;
  else
    return value == 0x5eed5eed;
}

// ---- sums: double for what is smaller, high + low for double itself, unsigned for int32

struct Plain {
  double value = 0;
  __device__ void add(double x) { value += x; }
  __device__ void add_product(double x, double y) { value = fma(x, y, value); }
  __device__ void add(const Plain& other) { value += other.value; }
  __device__ void add_product(const Plain& x, double y) { add_product(x.value, y); }
  __device__ double total() const { return value; }
  __device__ double distance(double x) const { return fabs(x - value); }
};

/// Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26(6), 2005 (Dot2), as
/// in common/reference.cpp.
struct Twofold {
  double high = 0, low = 0;
  __device__ void add(double x) {
    const double sum = __dadd_rn(high, x);
    const double part = __dadd_rn(sum, -high);
    low = __dadd_rn(low, __dadd_rn(__dadd_rn(high, -__dadd_rn(sum, -part)), __dadd_rn(x, -part)));
    high = sum;
  }
  __device__ void add_product(double x, double y) {
    const double product = __dmul_rn(x, y);
    low = __dadd_rn(low, fma(x, y, -product));
    add(product);
  }
  __device__ void add(const Twofold& other) {
    add(other.high);
    low += other.low;
  }
  __device__ void add_product(const Twofold& x, double y) {
    add_product(x.high, y);
    low = fma(x.low, y, low);
  }
  __device__ double total() const { return high + low; }
  /// Not from total(), which is rounded: that would be off by as much as what is measured.
  __device__ double distance(double x) const { return fabs(__dadd_rn(x, -high) - low); }
};

struct Wrapped {
  std::uint32_t value = 0;
  __device__ void add_product(std::uint32_t x, std::uint32_t y) { value += x * y; }
  __device__ void add(const Wrapped& other) { value += other.value; }
  __device__ void add_product(const Wrapped& x, std::uint32_t y) { value += x.value * y; }
};

template <typename T>
using SumOf = std::conditional_t<std::is_same_v<T, std::int32_t>, Wrapped,
                                 std::conditional_t<std::is_same_v<T, double>, Twofold, Plain>>;

__device__ inline Plain shifted(Plain sum, int lanes) {
  return {__shfl_down_sync(~0u, sum.value, lanes)};
}
__device__ inline Twofold shifted(Twofold sum, int lanes) {
  return {__shfl_down_sync(~0u, sum.high, lanes), __shfl_down_sync(~0u, sum.low, lanes)};
}
__device__ inline Wrapped shifted(Wrapped sum, int lanes) {
  return {__shfl_down_sync(~0u, sum.value, lanes)};
}
__device__ inline double shifted(double x, int lanes) {
  return __shfl_down_sync(~0u, x, lanes);
}

constexpr int kThreads = 256, kWarps = kThreads / 32, kVectors = 8;

/// Sum over the block, in thread 0.
template <typename Sum>
__device__ Sum block_sum(Sum sum, Sum* shared) {
  for (int lanes = 16; lanes > 0; lanes /= 2) sum.add(shifted(sum, lanes));
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int warp = 1; warp < kWarps; ++warp) sum.add(shared[warp]);
  return sum;
}

/// Element `col` of random vector `v`: +1 or -1 by a bit, or for int32 any number.
__device__ inline std::uint64_t vector_bits(std::uint64_t seed, int col) {
  return split_mix(seed ^ (static_cast<std::uint64_t>(col) * 0x9e3779b97f4a7c15u));
}

template <typename T, typename Element>
__device__ inline void add_signed(SumOf<T>* sums, Element element, std::uint64_t bits) {
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    if constexpr (std::is_same_v<T, std::int32_t>) {
      const auto x = static_cast<std::uint32_t>(split_mix(bits + static_cast<unsigned>(v)) >> 32);
      sums[v].add_product(static_cast<std::uint32_t>(element), x);
    } else {
      const double value = to_double(element);
      sums[v].add((bits >> v & 1) != 0 ? value : -value);
    }
  }
}

/// Of one B: products with the vectors, and what bounds the 2-norm of rows of |A||B|.
template <typename T>
struct Projection {
  SumOf<T> y[kVectors];
  double largest, total;
};

/// y = B x. One block per row of B.
template <typename T>
__global__ void project_kernel(const T* b, int n, std::uint64_t seed, Projection<T>* out) {
  __shared__ SumOf<T> shared[kWarps];
  __shared__ Plain shared_plain[kWarps];
  __shared__ double shared_largest[kWarps];
  const T* const row = b + static_cast<std::uint64_t>(blockIdx.x) * n;
  SumOf<T> sums[kVectors];
  Plain total;
  double largest = 0;
  for (int col = threadIdx.x; col < n; col += kThreads) {
    const T element = row[col];
    add_signed<T>(sums, element, vector_bits(seed, col));
    if constexpr (!std::is_same_v<T, std::int32_t>) {
      const double magnitude = fabs(to_double(element));
      total.add(magnitude);
      largest = fmax(largest, magnitude);
    }
  }
  Projection<T>& mine = out[blockIdx.x];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const SumOf<T> sum = block_sum(sums[v], shared);
    if (threadIdx.x == 0) mine.y[v] = sum;
  }
  if constexpr (!std::is_same_v<T, std::int32_t>) {
    total = block_sum(total, shared_plain);
    for (int lanes = 16; lanes > 0; lanes /= 2) largest = fmax(largest, shifted(largest, lanes));
    if (threadIdx.x % 32 == 0) shared_largest[threadIdx.x / 32] = largest;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int warp = 1; warp < kWarps; ++warp) largest = fmax(largest, shared_largest[warp]);
      mine.total = total.value;
      mine.largest = largest;
    }
  }
}

/// What a row of C x may be off: factor * (2-norm of that row of |A||B|, bounded) + own * (its
/// sum).
struct Limits {
  double factor = 0, own = 0;
};

/// A C within `units` u of every element's |A||B| is refused with probability at most `alarm` in
/// all; `rows` of them are looked at. `own` is what the check's own sums may lose.
template <typename T>
Limits limits(double units, int n, int k, double rows, int vectors, double alarm) {
  if (std::is_same_v<T, std::int32_t>) return {};
  const bool wide = std::is_same_v<T, double>;
  const double unit = wide ? 0x1p-53 : 0x1p-24;
  const double terms = static_cast<double>(k) + n, u = 0x1p-53;
  Limits limits;
  limits.factor = units * unit * std::sqrt(2 * std::log(2 * rows * vectors / alarm));
  limits.own = wide ? 4 * (terms * u) * (terms * u) + 2 * u * u * terms : 2 * terms * u;
  return limits;
}

/// What came of one launch. `first` is row << 32 | column of the first offence; rows by Freivalds'
/// check have no column but that of the first unwritten element, if any.
struct Finding {
  unsigned long long product, precision;
  unsigned wrong_rows, unwritten;
};
constexpr unsigned long long kNone = ~0ull;

struct Residual {
  double residual, allowed;
};

/// Freivalds: C x against A (B x), row by row. One block per row.
template <typename T>
__global__ void rows_kernel(const T* a, const ResultOf<T>* c, const Projection<T>* projection,
                            int n, int k, int vectors, std::uint64_t seed, Limits limits,
                            Finding* finding, Residual* residuals) {
  using Out = ResultOf<T>;
  __shared__ SumOf<T> shared[kWarps];
  __shared__ Plain shared_plain[kWarps];
  __shared__ unsigned first_unwritten;
  if (threadIdx.x == 0) first_unwritten = ~0u;
  __syncthreads();
  const auto row = static_cast<std::uint64_t>(blockIdx.x);
  SumOf<T> sums[kVectors];
  for (int col = threadIdx.x; col < n; col += kThreads) {
    const Out element = c[row * n + col];
    if (is_poison(element)) atomicMin(&first_unwritten, static_cast<unsigned>(col));
    add_signed<T>(sums, element, vector_bits(seed, col));
  }
  Plain high, total;
  for (int i = threadIdx.x; i < k; i += kThreads) {
    const T element = a[row * k + i];
    const Projection<T>& one = projection[i];
    if constexpr (std::is_same_v<T, std::int32_t>) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
        sums[v].add_product(one.y[v], 0u - static_cast<std::uint32_t>(element));
    } else {
      const double value = to_double(element);
#pragma unroll
      for (int v = 0; v < kVectors; ++v) sums[v].add_product(one.y[v], -value);
      high.add_product(fabs(value), one.largest);
      total.add_product(fabs(value), one.total);
    }
  }
  double allowed = 0;
  if constexpr (!std::is_same_v<T, std::int32_t>) {
    high = block_sum(high, shared_plain);
    total = block_sum(total, shared_plain);
    allowed = limits.factor * sqrt(high.value * total.value) + limits.own * total.value;
  }
  bool right = true;
  double worst = 0;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const SumOf<T> sum = block_sum(sums[v], shared);
    if (v >= vectors) continue;
    if constexpr (std::is_same_v<T, std::int32_t>) {
      right = right && sum.value == 0;
      if (sum.value != 0) worst = static_cast<double>(sum.value);
    } else {
      const double residual = fabs(sum.total());
      right = right && residual <= allowed;  // NaN is not
      if (!(residual <= worst)) worst = residual;
    }
  }
  if (threadIdx.x != 0) return;
  residuals[row] = {worst, allowed};
  if (right) return;
  const unsigned column = first_unwritten;
  atomicAdd(&finding->wrong_rows, 1u);
  if (column != ~0u) atomicAdd(&finding->unwritten, 1u);
  atomicMin(&finding->product, static_cast<unsigned long long>(row) << 32 | column);
}

/// Errors of recomputed elements, in u(|A||B|).
struct Errors {
  double worst, sum;
  unsigned long long elements;
};

/// Rows of C computed again in full, and every element of them judged by its own limit: sums of
/// random signs would hide a computation in lower precision at large K.
template <typename T>
__global__ void elements_kernel(const T* a, const T* b, const ResultOf<T>* c, const int* rows,
                                int n, int k, double allowed_units, double unit, Finding* finding,
                                Residual* worst, Errors* errors) {
  __shared__ SumOf<T> sums[8][33];
  __shared__ double magnitudes[8][33];
  const int row = rows[blockIdx.y];
  const int col = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  SumOf<T> sum;
  double magnitude = 0;
  if (col < n) {
    for (int i = static_cast<int>(threadIdx.y); i < k; i += 8) {
      const T x = a[static_cast<std::uint64_t>(row) * k + i];
      const T y = b[static_cast<std::uint64_t>(i) * n + col];
      if constexpr (std::is_same_v<T, std::int32_t>) {
        sum.add_product(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
      } else {
        sum.add_product(to_double(x), to_double(y));
        magnitude = fma(fabs(to_double(x)), fabs(to_double(y)), magnitude);
      }
    }
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  magnitudes[threadIdx.y][threadIdx.x] = magnitude;
  __syncthreads();
  if (threadIdx.y != 0 || col >= n) return;
  for (int i = 1; i < 8; ++i) {
    sum.add(sums[i][threadIdx.x]);
    magnitude += magnitudes[i][threadIdx.x];
  }
  const ResultOf<T> got = c[static_cast<std::uint64_t>(row) * n + col];
  bool right;
  Residual residual{0, 0};
  if constexpr (std::is_same_v<T, std::int32_t>) {
    right = static_cast<std::uint32_t>(got) == sum.value;
  } else {
    residual = {sum.distance(static_cast<double>(got)), allowed_units * unit * magnitude};
    right = residual.residual <= residual.allowed;
    const double units = magnitude > 0 ? residual.residual / (unit * magnitude) : 0;
    atomicAdd(&errors->sum, units);
    atomicAdd(&errors->elements, 1ull);
    // Numbers that are not negative lie in the order of their bits.
    atomicMax(reinterpret_cast<unsigned long long*>(&errors->worst),
              static_cast<unsigned long long>(__double_as_longlong(units)));
  }
  if (right) return;
  if (is_poison(got)) atomicAdd(&finding->unwritten, 1u);
  const unsigned long long place =
      static_cast<unsigned long long>(row) << 32 | static_cast<unsigned>(col);
  if (atomicMin(&finding->precision, place) > place) *worst = residual;
}

}  // namespace grader::gpu::freivalds
