// What this GPU can do at most, measured by loops that do one thing only: the roofs of the
// roofline.
//
// Each loop computes something known, and every value it leaves is compared with the host's own
// computation, exactly: a ceiling whose loop did not do its work would be no ceiling. Prints one
// JSON object on standard output. Units: TFLOP/s and TOP/s count a multiply-add as two operations;
// GB/s = 1e9 bytes; microseconds for the launch. Median and best of kSamples samples. Clocks are
// left as they are.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "common/cuda_check.cuh"
#include "grader/bench/events.cuh"
#include "grader/bench/wgmma_ceiling.cuh"
#include "grader/gpu/statistics.cpp"

namespace {

constexpr int kSamples = 7;
constexpr int kThreads = 256;  // a block; eight warps

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    CUDA_CHECK(cudaMalloc(&data_, count * sizeof(T)));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* get() const { return data_; }
  void clear() { CUDA_CHECK(cudaMemset(data_, 0, count_ * sizeof(T))); }
  std::vector<T> copy() const {
    std::vector<T> values(count_);
    CUDA_CHECK(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

/// Small, spread out, and the same on both sides.
__host__ __device__ inline std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

/// A multiple of 1/8 in [-1, 1): products are multiples of 1/64, and a thousand steps of sums of
/// sixteen of them are exact in FP32.
__host__ __device__ inline float eighth(std::uint32_t seed) {
  return (static_cast<int>(mix(seed) & 15u) - 8) * 0.125f;
}

// ---- memory

__global__ void fill_pattern(uint4* data, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < count;
       i += std::size_t(gridDim.x) * blockDim.x) {
    const auto x = static_cast<std::uint32_t>(i);
    data[i] = make_uint4(mix(x), mix(x + 1), mix(x + 2), mix(x + 3));
  }
}

__global__ void copy(const uint4* __restrict__ from, uint4* __restrict__ to, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < count;
       i += std::size_t(gridDim.x) * blockDim.x)
    to[i] = from[i];
}

__global__ void count_wrong(const uint4* data, std::size_t count, unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < count;
       i += std::size_t(gridDim.x) * blockDim.x) {
    const auto x = static_cast<std::uint32_t>(i);
    const uint4 v = data[i];
    mine += v.x != mix(x) || v.y != mix(x + 1) || v.z != mix(x + 2) || v.w != mix(x + 3);
  }
  if (mine != 0) atomicAdd(wrong, mine);
}

constexpr int kSharedWords = kThreads * 4;  ///< each thread's 16 bytes, read by another one in turn

/// Every thread reads 16 bytes per step; a quarter of a warp covers all 32 banks.
__global__ void shared_reads(std::uint32_t* out, int steps) {
  __shared__ std::uint32_t words[2 * kSharedWords];
  for (int i = threadIdx.x; i < 2 * kSharedWords; i += blockDim.x) words[i] = mix(i);
  __syncthreads();
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(words)) + threadIdx.x * 16;
  std::uint32_t sum[4] = {};
  for (int step = 0; step < steps; step += 8) {
#pragma unroll
    for (int u = 0; u < 8; ++u) {
      std::uint32_t x, y, z, w;
      asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                   : "r"(base + u % 8 * 512)
                   : "memory");
      sum[0] += x;
      sum[1] += y;
      sum[2] += z;
      sum[3] += w;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
}

std::uint32_t shared_reads_on_the_host(int thread, int steps) {
  std::uint32_t sum[4] = {};
  for (int u = 0; u < 8; ++u)
    for (int w = 0; w < 4; ++w) {
      const auto word = static_cast<std::uint32_t>(thread * 4 + u * 128 + w);
      sum[w] += mix(word) * static_cast<std::uint32_t>(steps / 8);
    }
  return sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
}

__global__ void count_launch(unsigned* counter) {
  if (threadIdx.x == 0) ++*counter;  // launches of one stream follow one another
}

// ---- multiply-adds

constexpr int kChains = 16;  ///< independent sums of a thread: more than the latency of one

template <typename T>
__host__ __device__ T chain_start(std::uint32_t thread, int chain) {
  return static_cast<T>(mix(thread * kChains + chain) & 1023u);
}

__host__ __device__ inline float multiply_add(float x, float a, float b) {
  return fmaf(x, a, b);
}
__host__ __device__ inline double multiply_add(double x, double a, double b) {
  return fma(x, a, b);
}
__host__ __device__ inline std::uint32_t multiply_add(std::uint32_t x, std::uint32_t a,
                                                      std::uint32_t b) {
  return x * a + b;
}

template <typename T>
__global__ void __launch_bounds__(kThreads) chains(T* out, T a, T b, int steps) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  T sum[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) sum[c] = chain_start<T>(thread, c);
#pragma unroll 4
  for (int step = 0; step < steps; ++step)
#pragma unroll
    for (int c = 0; c < kChains; ++c) sum[c] = multiply_add(sum[c], a, b);
  T total = sum[0];
#pragma unroll
  for (int c = 1; c < kChains; ++c) total += sum[c];
  out[thread] = total;
}

template <typename T>
T chains_on_the_host(std::uint32_t thread, T a, T b, int steps) {
  T sum[kChains];
  for (int c = 0; c < kChains; ++c) sum[c] = chain_start<T>(thread, c);
  for (int step = 0; step < steps; ++step)
    for (int c = 0; c < kChains; ++c) sum[c] = multiply_add(sum[c], a, b);
  T total = sum[0];
  for (int c = 1; c < kChains; ++c) total += sum[c];
  return total;
}

// ---- tensor cores: D += A * B with mma.sync, layouts as in the PTX ISA, "Matrix fragments"

enum class Path { f16, bf16, tf32, f64, f16_turing };

struct Extent {
  int m, n, k;
};
__host__ __device__ constexpr Extent extent(Path path, bool hopper) {
  switch (path) {
    case Path::tf32:
    case Path::f16_turing:
      return {16, 8, 8};
    case Path::f64:
      return hopper ? Extent{16, 8, 16} : Extent{8, 8, 4};
    default:
      return {16, 8, 16};
  }
}

constexpr int kTiles = 4;  ///< independent products of a warp

__host__ __device__ inline float a_element(int tile, int row, int k) {
  return eighth(tile * 4096 + row * 64 + k);
}
__host__ __device__ inline float b_element(int tile, int k, int col) {
  return eighth(0x10000 + tile * 4096 + k * 64 + col);
}

__device__ inline std::uint32_t pack_half(float low, float high) {
  const __half2 both = __floats2half2_rn(low, high);
  std::uint32_t bits;
  memcpy(&bits, &both, sizeof bits);
  return bits;
}
__device__ inline std::uint32_t pack_bf16(float low, float high) {
  return __float_as_uint(low) >> 16 | (__float_as_uint(high) & 0xffff0000u);
}

/// Places of a lane's results of one tile, of which m8n8k4 fills two.
constexpr int kResults = 4;
template <typename Sum, int Count>
__device__ inline void store_results(double* out, const Sum (&d)[kTiles][Count]) {
  for (int t = 0; t < kTiles; ++t)
    for (int i = 0; i < Count; ++i)
      out[((blockIdx.x * blockDim.x + threadIdx.x) * std::size_t(kTiles) + t) * kResults + i] =
          d[t][i];
}

/// FP64: four (16 x 8) results per lane from Hopper on, two (8 x 8) before.
__device__ inline void products_of_doubles(double* out, int steps) {
  [[maybe_unused]] const int lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
#if __CUDA_ARCH__ >= 900
  double a[kTiles][8], b[kTiles][4], d[kTiles][4] = {};
  for (int t = 0; t < kTiles; ++t) {
    for (int i = 0; i < 8; ++i) a[t][i] = a_element(t, group + i % 2 * 8, member + i / 2 * 4);
    for (int i = 0; i < 4; ++i) b[t][i] = b_element(t, member + i * 4, group);
  }
  for (int step = 0; step < steps; ++step)
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
          "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
          : "+d"(d[t][0]), "+d"(d[t][1]), "+d"(d[t][2]), "+d"(d[t][3])
          : "d"(a[t][0]), "d"(a[t][1]), "d"(a[t][2]), "d"(a[t][3]), "d"(a[t][4]), "d"(a[t][5]),
            "d"(a[t][6]), "d"(a[t][7]), "d"(b[t][0]), "d"(b[t][1]), "d"(b[t][2]), "d"(b[t][3]));
  store_results(out, d);
#elif __CUDA_ARCH__ >= 800
  double a[kTiles], b[kTiles], d[kTiles][2] = {};
  for (int t = 0; t < kTiles; ++t) {
    a[t] = a_element(t, group, member);
    b[t] = b_element(t, member, group);
  }
  for (int step = 0; step < steps; ++step)
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+d"(d[t][0]), "+d"(d[t][1])
                   : "d"(a[t]), "d"(b[t]));
  store_results(out, d);
#endif
}

/// What a lane holds of a tile of A and B: pairs of 16-bit elements, or single TF32 elements.
template <Path path>
__device__ inline void load_fragments(int tile, int group, int member, std::uint32_t (&a)[4],
                                      std::uint32_t (&b)[2]) {
  constexpr bool pairs = path == Path::f16 || path == Path::bf16 || path == Path::f16_turing;
  for (int i = 0; i < 4; ++i) {
    const int row = group + i % 2 * 8;
    if constexpr (pairs) {
      const int k = member * 2 + i / 2 * 8;
      const float low = a_element(tile, row, k), high = a_element(tile, row, k + 1);
      a[i] = path == Path::bf16 ? pack_bf16(low, high) : pack_half(low, high);
    } else {
      a[i] = __float_as_uint(a_element(tile, row, member + i / 2 * 4));
    }
  }
  for (int i = 0; i < 2; ++i) {
    if constexpr (pairs) {
      const int k = member * 2 + i * 8;
      const float low = b_element(tile, k, group), high = b_element(tile, k + 1, group);
      b[i] = path == Path::bf16 ? pack_bf16(low, high) : pack_half(low, high);
    } else {
      b[i] = __float_as_uint(b_element(tile, member + i * 4, group));
    }
  }
}

/// d += a * b of one tile: 16 x 8 results, four per lane. What the GPU is too old for is left out;
/// nobody launches it there.
template <Path path>
__device__ inline void multiply_fragments(float (&d)[4], const std::uint32_t (&a)[4],
                                          const std::uint32_t (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  if constexpr (path == Path::f16)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  if constexpr (path == Path::bf16)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  if constexpr (path == Path::tf32)
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  if constexpr (path == Path::f16_turing)
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

template <Path path>
__global__ void __launch_bounds__(kThreads) products(double* out, int steps) {
  if constexpr (path == Path::f64) {
    products_of_doubles(out, steps);
  } else {
    const int lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
    std::uint32_t a[kTiles][4], b[kTiles][2];
    float d[kTiles][4] = {};
    for (int t = 0; t < kTiles; ++t) load_fragments<path>(t, group, member, a[t], b[t]);
    for (int step = 0; step < steps; ++step) {
#pragma unroll
      for (int t = 0; t < kTiles; ++t) multiply_fragments<path>(d[t], a[t], b[t]);
    }
    store_results(out, d);
  }
}

/// What result `i` of `lane` must be: `steps` times one element of a product, exactly.
double product_on_the_host(Path path, bool hopper, int lane, int tile, int i, int steps) {
  const Extent e = extent(path, hopper);
  const int row = lane / 4 + (i >= 2 ? 8 : 0), col = lane % 4 * 2 + i % 2;
  double sum = 0;
  for (int k = 0; k < e.k; ++k)
    sum += static_cast<double>(a_element(tile, row, k)) * b_element(tile, k, col);
  return sum * steps;
}

// ---- measuring

struct Ceiling {
  std::string name, what, unit;
  double median = 0, best = 0;
  bool right = false;
};

/// `amount` per run of `run`, in `unit` = amount / time; for times the unit is microseconds.
template <typename Run>
void sample(Ceiling& ceiling, double amount_per_run, Run&& run) {
  run();
  CUDA_CHECK(cudaDeviceSynchronize());
  std::vector<double> values;
  for (int s = 0; s < kSamples; ++s)
    values.push_back(amount_per_run / (1e-3 * timing::milliseconds(nullptr, run)));
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  ceiling.median = statistics::median(values);
  ceiling.best = *std::max_element(values.begin(), values.end());
}

Ceiling memory_copy(int multiprocessors, std::size_t bytes) {
  Ceiling ceiling{"copy", "device memory, read and write", "GB/s"};
  const std::size_t count = bytes / sizeof(uint4);
  DeviceArray<uint4> from(count), to(count);
  DeviceArray<unsigned long long> wrong(1);
  const int blocks = multiprocessors * 16;
  fill_pattern<<<blocks, 512>>>(from.get(), count);
  to.clear();
  sample(ceiling, 2e-9 * static_cast<double>(bytes),
         [&] { copy<<<blocks, 512>>>(from.get(), to.get(), count); });
  wrong.clear();
  count_wrong<<<blocks, 512>>>(to.get(), count, wrong.get());
  ceiling.right = wrong.copy()[0] == 0;
  return ceiling;
}

Ceiling shared_memory(int multiprocessors) {
  Ceiling ceiling{"shared", "shared memory, reads of 16 bytes per thread", "GB/s"};
  const int blocks = multiprocessors * 8, steps = 1 << 14;
  DeviceArray<std::uint32_t> out(std::size_t(blocks) * kThreads);
  sample(ceiling, 1e-9 * 16 * steps * blocks * kThreads,
         [&] { shared_reads<<<blocks, kThreads>>>(out.get(), steps); });
  const auto values = out.copy();
  ceiling.right = true;
  for (std::size_t i = 0; i < values.size(); ++i)
    ceiling.right =
        ceiling.right && values[i] == shared_reads_on_the_host(int(i % kThreads), steps);
  return ceiling;
}

Ceiling launch_cost() {
  Ceiling ceiling{"launch", "an empty kernel after another", "us"};
  const int launches = 5000;
  DeviceArray<unsigned> counter(1);
  counter.clear();
  sample(ceiling, 1, [&] {
    for (int i = 0; i < launches; ++i) count_launch<<<1, 32>>>(counter.get());
  });
  // sample() divides: runs per second, here to be microseconds per launch.
  ceiling.median = 1e6 / ceiling.median / launches;
  ceiling.best = 1e6 / ceiling.best / launches;
  ceiling.right = counter.copy()[0] == unsigned(launches) * (kSamples + 1);
  return ceiling;
}

template <typename T>
Ceiling multiply_adds(const char* name, const char* what, const char* unit, int multiprocessors,
                      int steps, T a, T b) {
  Ceiling ceiling{name, what, unit};
  const int blocks = multiprocessors * 8;
  DeviceArray<T> out(std::size_t(blocks) * kThreads);
  sample(ceiling, 2e-12 * kChains * steps * blocks * kThreads,
         [&] { chains<T><<<blocks, kThreads>>>(out.get(), a, b, steps); });
  const auto values = out.copy();
  ceiling.right = true;
  for (std::size_t i = 0; i < values.size(); i += 997)
    ceiling.right =
        ceiling.right && values[i] == chains_on_the_host<T>(std::uint32_t(i), a, b, steps);
  return ceiling;
}

template <Path path>
Ceiling tensor(const char* name, const char* what, int multiprocessors, bool hopper) {
  Ceiling ceiling{name, what, "TFLOP/s"};
  // 1 << 12 steps of |sum of 16| <= 16, in steps of 1/64: 22 bits, exact in FP32.
  const int blocks = multiprocessors * 4, steps = 1 << 12;
  const Extent e = extent(path, hopper);
  const int results = path == Path::f64 && !hopper ? 2 : 4;
  DeviceArray<double> out(std::size_t(blocks) * kThreads * kTiles * kResults);
  out.clear();
  sample(ceiling, 2e-12 * e.m * e.n * e.k * kTiles * steps * blocks * (kThreads / 32),
         [&] { products<path><<<blocks, kThreads>>>(out.get(), steps); });
  const auto values = out.copy();
  ceiling.right = true;
  for (std::size_t thread = 0; thread < std::size_t(blocks) * kThreads; ++thread) {
    if (thread >= kThreads && thread / 32 % 61 != 0)
      continue;  // the first block, then every 61st warp
    for (int t = 0; t < kTiles; ++t)
      for (int i = 0; i < results; ++i)
        ceiling.right = ceiling.right &&
                        values[(thread * kTiles + std::size_t(t)) * kResults + std::size_t(i)] ==
                            product_on_the_host(path, hopper, int(thread % 32), t, i, steps);
  }
  return ceiling;
}

struct Elements {
  static __host__ __device__ float a(int tile, int row, int k) { return a_element(tile, row, k); }
  static __host__ __device__ float b(int k, int col) { return b_element(0, k, col); }
};

/// Hopper's warpgroup product, both factors in shared memory.
template <typename T>
Ceiling warpgroups(const char* name, const char* what, int multiprocessors) {
  namespace loop = wgmma_loop;
  Ceiling ceiling{name, what, "TFLOP/s"};
  // 1 << 12 steps of |sum of 64| <= 64, in steps of 1/64: 24 bits, exact in FP32.
  constexpr int steps = 1 << 12, depth = loop::kDepth<T>;
  const int blocks = multiprocessors * 2;
  DeviceArray<float> out(std::size_t(blocks) * loop::kThreads * loop::kSums);
  out.clear();
  sample(ceiling,
         2e-12 * loop::kGroups * loop::kRows * loop::kColumns * depth * steps * double(blocks),
         [&] { loop::products<T, Elements><<<blocks, loop::kThreads>>>(out.get(), steps); });
  std::vector<float> expected(std::size_t(loop::kThreads) * loop::kSums);
  for (int thread = 0; thread < loop::kThreads; ++thread)
    for (int i = 0; i < loop::kSums; ++i) {
      double sum = 0;
      for (int k = 0; k < depth; ++k)
        sum += static_cast<double>(Elements::a(thread / 128, loop::row_of(thread % 128, i), k)) *
               Elements::b(k, loop::column_of(thread % 128, i));
      expected[std::size_t(thread) * loop::kSums + std::size_t(i)] = float(sum * steps);
    }
  const auto values = out.copy();
  ceiling.right = true;
  for (std::size_t i = 0; i < values.size(); ++i)
    ceiling.right = ceiling.right && values[i] == expected[i % expected.size()];
  return ceiling;
}

}  // namespace

int main() {
  cudaDeviceProp properties{};
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  std::size_t free_bytes = 0, total_bytes = 0;
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  const int sms = properties.multiProcessorCount;
  const bool ampere = properties.major >= 8, hopper = properties.major == 9;
  // Far more than the L2 cache, and no more than there is.
  const std::size_t bytes =
      std::min(std::size_t(1) << 30, std::max(std::size_t(16) << 20, free_bytes / 4)) &
      ~std::size_t(15);

  std::vector<Ceiling> all;
  all.push_back(memory_copy(sms, bytes));
  all.push_back(shared_memory(sms));
  all.push_back(launch_cost());
  all.push_back(
      multiply_adds<float>("ffma", "FP32 multiply-adds", "TFLOP/s", sms, 1 << 14, 0.75f, 0.5f));
  all.push_back(
      multiply_adds<double>("dfma", "FP64 multiply-adds", "TFLOP/s", sms, 1 << 12, 0.75, 0.5));
  all.push_back(multiply_adds<std::uint32_t>("imad", "32-bit integer multiply-adds", "TOP/s", sms,
                                             1 << 13, 1664525u, 1013904223u));
  if (ampere) {
    all.push_back(tensor<Path::f64>(
        "dmma", hopper ? "mma.sync m16n8k16 FP64" : "mma.sync m8n8k4 FP64", sms, hopper));
    all.push_back(tensor<Path::bf16>("hmma_bf16", "mma.sync m16n8k16 BF16", sms, hopper));
    all.push_back(tensor<Path::f16>("hmma_f16", "mma.sync m16n8k16 FP16", sms, hopper));
    all.push_back(tensor<Path::tf32>("hmma_tf32", "mma.sync m16n8k8 TF32", sms, hopper));
    if (hopper) {
      all.push_back(warpgroups<__nv_bfloat16>("wgmma_bf16", "wgmma m64n256k16 BF16", sms));
      all.push_back(warpgroups<__half>("wgmma_f16", "wgmma m64n256k16 FP16", sms));
      all.push_back(warpgroups<float>("wgmma_tf32", "wgmma m64n256k8 TF32", sms));
    }
  } else {
    all.push_back(tensor<Path::f16_turing>("hmma_f16", "mma.sync m16n8k8 FP16", sms, hopper));
  }

  bool right = true;
  std::printf("{\n \"multiprocessors\": %d,\n \"samples\": %d,\n \"ceilings\": [\n", sms, kSamples);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Ceiling& c = all[i];
    right = right && c.right;
    std::printf(
        "  {\"name\": \"%s\", \"what\": \"%s\", \"unit\": \"%s\", \"median\": %.6g, \"best\": "
        "%.6g, \"right\": %s}%s\n",
        c.name.c_str(), c.what.c_str(), c.unit.c_str(), c.median, c.best,
        c.right ? "true" : "false", i + 1 < all.size() ? "," : "");
  }
  std::printf(" ]\n}\n");
  return right ? 0 : 1;
}
