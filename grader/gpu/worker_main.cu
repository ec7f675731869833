// build/bin/gpu_worker: the timing worker, see grader/gpu/worker.hpp. Links cudart only; cuBLAS is
// loaded where it is found.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "common/cuda_check.cuh"
#include "grader/gpu/cublas.hpp"
#include "grader/gpu/freivalds.cuh"
#include "grader/gpu/packet.hpp"
#include "grader/gpu/shared_memory.cuh"

namespace {

using namespace grader::gpu::protocol;
using namespace grader::gpu::freivalds;
using grader::UniqueFd;
using grader::gpu::Cublas;
using grader::gpu::MemoryFault;
using grader::gpu::possible_sharing;
using grader::gpu::SharedMemory;
static_assert(kVectors == static_cast<int>(kMaxVectors));

// ------------------------------------------------------------------------------------------------
// numbers: element `index` of a matrix is a function of the matrix's seed and the index, so that
// the same matrix can be drawn again to see whether anybody changed it

/// Another finaliser, for B: "Mix13" of D. Stafford, "Better bit mixing", 2011.
__host__ __device__ inline std::uint64_t mix13(std::uint64_t state) {
  std::uint64_t z = state * 0xd6e8feb86659fd93u + 0x632be59bd9b4e019u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

enum class Operand { a, b };

__host__ inline std::uint64_t seed_of(std::uint64_t seed, Operand operand, std::uint32_t number) {
  return split_mix(seed ^
                   split_mix((operand == Operand::a ? 0x100000000u : 0x200000000u) + number));
}

__device__ inline std::uint64_t bits_at(std::uint64_t seed, Operand operand, std::uint64_t index) {
  return operand == Operand::a ? split_mix(seed + index * 0x9e3779b97f4a7c15u)
                               : mix13(seed ^ (index * 0xff51afd7ed558ccdu));
}

/// As inputs::zero_mean (common/inputs.hpp): multiples of 2^-23 or 2^-52 in [-1, 1), rounded once
/// for 16-bit types and for TF32; all 2^32 values of int32.
template <typename T>
__device__ inline T draw(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    return static_cast<std::int32_t>(bits >> 32);
  } else if constexpr (std::is_same_v<T, double>) {
    return static_cast<double>(static_cast<std::int64_t>(bits >> 11) - (std::int64_t{1} << 52)) *
           0x1p-52;
  } else {
    const float value =
        static_cast<float>(static_cast<std::int32_t>(bits >> 40) - (1 << 23)) * 0x1p-23F;
    if constexpr (std::is_same_v<T, float>)
      return value;
    else if constexpr (std::is_same_v<T, Tf32>)  // to nearest, ties away from zero
      return Tf32{__uint_as_float((__float_as_uint(value) + 0x1000u) & ~0x1fffu)};
    else if constexpr (std::is_same_v<T, __half>)
      return __float2half_rn(value);
    else
      return __float2bfloat16_rn(value);
  }
}

/// What unwritten memory holds, as inputs::poison: eight bytes of it.
std::uint64_t poison_of(Type type) {
  if (type == Type::float64) return 0x7ff85eed5eed5eedu;
  const std::uint64_t word = type == Type::int32 ? 0x5eed5eedu : 0x7fc5eed5u;
  return word << 32 | word;
}

template <typename T>
__global__ void fill_kernel(T* data, std::uint64_t count, std::uint64_t seed, Operand operand) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    data[i] = draw<T>(bits_at(seed, operand, i));
}

template <typename T>
__device__ inline bool same(T x, T y) {
  unsigned char p[sizeof(T)], q[sizeof(T)];
  memcpy(p, &x, sizeof(T));
  memcpy(q, &y, sizeof(T));
  bool equal = true;
  for (std::size_t i = 0; i < sizeof(T); ++i) equal = equal && p[i] == q[i];
  return equal;
}

template <typename T>
__global__ void compare_kernel(const T* data, std::uint64_t count, std::uint64_t seed,
                               Operand operand, unsigned long long* changed) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  unsigned long long mine = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    mine += same(data[i], draw<T>(bits_at(seed, operand, i))) ? 0 : 1;
  if (mine > 0) atomicAdd(changed, mine);
}

__global__ void poison_kernel(std::uint64_t* data, std::uint64_t count, std::uint64_t value) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    data[i] = value;
}

/// Sum of a hash of each word with its place: whatever the order, and any change shows.
__global__ void checksum_kernel(const std::uint64_t* data, std::uint64_t count,
                                unsigned long long* sum) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint64_t mine = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    mine += split_mix(data[i] ^ (i * 0xd6e8feb86659fd93u));
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_down_sync(~0u, mine, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

/// The bytes between C_l and C_{l+1}.
__global__ void padding_kernel(const unsigned char* outputs, std::uint64_t stride,
                               std::uint64_t used, std::uint64_t poison,
                               unsigned long long* changed) {
  const unsigned char* const one = outputs + blockIdx.x * stride;
  unsigned long long mine = 0;
  for (std::uint64_t i = used + threadIdx.x; i < stride; i += blockDim.x)
    mine += one[i] == static_cast<unsigned char>(poison >> (8 * (i % 8))) ? 0 : 1;
  if (mine > 0) atomicAdd(changed, mine);
}

// ------------------------------------------------------------------------------------------------
// yardsticks

/// The naive yardstick: one thread per element, a warp along a row, blocks of 32 x 8. Bars are
/// ratios to exactly this kernel: it must not change.
template <typename T>
__global__ void naive_kernel(const T* a, const T* b, ResultOf<T>* c, int m, int n, int k) {
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= m || col >= n) return;
  ResultOf<T> sum = 0;
  for (int i = 0; i < k; ++i)
    sum += widened(a[static_cast<std::ptrdiff_t>(row) * k + i]) *
           widened(b[static_cast<std::ptrdiff_t>(i) * n + col]);
  c[static_cast<std::ptrdiff_t>(row) * n + col] = sum;
}

constexpr uint3 kNaiveBlock{32, 8, 1};  // a warp along a row of C

// ------------------------------------------------------------------------------------------------
// the worker

class DeviceBytes {
 public:
  ~DeviceBytes() { reset(); }
  DeviceBytes() = default;
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  void reset() {
    if (data_ != nullptr) cudaFree(data_);
    data_ = nullptr;
    size_ = 0;
  }
  /// False: no memory.
  bool allocate(std::uint64_t bytes) {
    reset();
    if (bytes == 0) return true;
    void* data = nullptr;
    const cudaError_t code = cudaMalloc(&data, bytes);
    if (code == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      return false;
    }
    CUDA_CHECK(code);
    data_ = static_cast<unsigned char*>(data);
    size_ = bytes;
    return true;
  }
  void at_least(std::uint64_t bytes) {
    if (size_ < bytes && !allocate(bytes)) CUDA_CHECK(cudaErrorMemoryAllocation);
  }
  unsigned char* data() const { return data_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  std::uint64_t size() const { return size_; }

 private:
  unsigned char* data_ = nullptr;
  std::uint64_t size_ = 0;
};

constexpr unsigned kGrid = 4096;
constexpr std::uint64_t kGap = 512;  ///< at least so much poison behind each matrix

std::uint64_t stride_of(std::uint64_t bytes) {
  return (bytes + kGap - 1) / kGap * kGap + kGap;
}

class TimingServer {
 public:
  /// `without`: see WorkerSpec.
  explicit TimingServer(const std::set<std::string>& without) {
    CUDA_CHECK(cudaGetDevice(&device_));
    CUDA_CHECK(cudaGetDeviceProperties(&properties_, device_));
    CUDA_CHECK(cudaFree(nullptr));
    CUDA_CHECK(cudaEventCreate(&start_));
    CUDA_CHECK(cudaEventCreate(&stop_));
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime_));
    if (without.count("cublas") == 0) cublas_ = std::make_unique<Cublas>(runtime_ / 1000);
    counter_.at_least(sizeof(unsigned long long));
    sharing_ = without.count("files") > 0 ? Sharing::handles : possible_sharing();
  }

  Info info() {
    Info info;
    put_text(info.name, properties_.name);
    const auto* bytes = reinterpret_cast<const unsigned char*>(properties_.uuid.bytes);
    std::string uuid = "GPU-";
    for (int i = 0; i < 16; ++i) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", bytes[i]);
      uuid += two;
      if (i == 3 || i == 5 || i == 7 || i == 9) uuid += '-';
    }
    put_text(info.uuid, uuid.c_str());
    info.major = properties_.major;
    info.minor = properties_.minor;
    info.multiprocessors = properties_.multiProcessorCount;
    cudaDeviceGetAttribute(&info.clock_khz, cudaDevAttrClockRate, device_);
    cudaDriverGetVersion(&info.driver);
    info.runtime = runtime_;
    info.cublas = has_cublas() ? cublas_->version : 0;
    put_text(info.cublas_path, cublas_ ? cublas_->path.c_str() : "not wanted");
    info.sharing = sharing_;
    info.l2_bytes = static_cast<std::uint64_t>(properties_.l2CacheSize);
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    info.memory_free = free;
    info.memory_total = total;
    return info;
  }

  /// `files`: of the inputs and of the outputs, where they are shared so.
  Allocated allocate(const Allocate& request, std::array<UniqueFd, kMaxFiles>& files) {
    Allocated reply;
    inputs_.reset();
    outputs_.reset();
    own_.reset();
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    reply.free_before = free;
    shape_ = request;
    const auto extent = [](std::int32_t x) { return static_cast<std::uint64_t>(x > 0 ? x : 0); };
    const std::uint64_t m = extent(request.m), n = extent(request.n), k = extent(request.k);
    Arenas& arenas = reply.arenas;
    arenas.stride_a = stride_of(m * k * size_of(request.type));
    arenas.stride_b = stride_of(k * n * size_of(request.type));
    arenas.stride_c = stride_of(m * n * result_size_of(request.type));
    arenas.first_b = arenas.stride_a * request.count_a;
    arenas.count_a = request.count_a;
    arenas.count_b = request.count_b;
    arenas.count_c = request.count_c;
    arenas.m = request.m;
    arenas.n = request.n;
    arenas.k = request.k;
    const std::uint64_t in = arenas.first_b + arenas.stride_b * request.count_b,
                        out = arenas.stride_c * request.count_c,
                        own = arenas.stride_c * request.count_own;
    if (!has_room(inputs_, in) || !has_room(outputs_, out) || !own_.allocate(own)) {
      reply.done.end = RequestEnd::memory;
      reply.done.value = in + out + own;
      inputs_.reset();
      outputs_.reset();
      own_.reset();
      return reply;
    }
    arenas.sharing = sharing_;
    share(inputs_, arenas.inputs, files[0], reply.done);
    share(outputs_, arenas.outputs, files[1], reply.done);
    arenas_ = arenas;
    poison(inputs_);
    poison(outputs_);
    poison(own_);
    CUDA_CHECK(cudaDeviceSynchronize());
    return reply;
  }

  void fill(const Fill& request) {
    if (request.inputs != 0) seed_ = request.seed;
    if (request.inputs != 0)
      dispatch([&](auto element) {
        using T = decltype(element);
        for (std::uint32_t i = 0; i < arenas_.count_a; ++i)
          fill_kernel<T><<<kGrid, kThreads>>>(a<T>(i), elements_a(), seed_of(seed_, Operand::a, i),
                                              Operand::a);
        for (std::uint32_t i = 0; i < arenas_.count_b; ++i)
          fill_kernel<T><<<kGrid, kThreads>>>(b<T>(i), elements_b(), seed_of(seed_, Operand::b, i),
                                              Operand::b);
      });
    CUDA_CHECK_LAUNCH();
    if (request.outputs != 0) poison(outputs_);
    CUDA_CHECK(cudaDeviceSynchronize());
  }

  /// Into the outputs that only this process has.
  Done batch(const Batch& request) {
    Done done;
    const auto yardstick = static_cast<Yardstick>(request.what);
    if (!valid(request, shape_.count_own) ||
        (yardstick == Yardstick::cublas && (!has_cublas() || shape_.type == Type::int32)) ||
        (yardstick != Yardstick::cublas && yardstick != Yardstick::naive)) {
      done.end = RequestEnd::broken;
      return done;
    }
    CUDA_CHECK(cudaEventRecord(start_, nullptr));
    dispatch([&](auto element) {
      using T = decltype(element);
      using Out = ResultOf<T>;
      const int m = arenas_.m, n = arenas_.n, k = arenas_.k;
      const dim3 grid((static_cast<unsigned>(n) + kNaiveBlock.x - 1) / kNaiveBlock.x,
                      (static_cast<unsigned>(m) + kNaiveBlock.y - 1) / kNaiveBlock.y);
      for (std::uint32_t i = 0; i < request.count; ++i) {
        const Launch& one = request.launches[i];
        Out* const c = reinterpret_cast<Out*>(own_.data() + one.c * arenas_.stride_c);
        if (yardstick == Yardstick::naive) {
          naive_kernel<T><<<grid, kNaiveBlock>>>(a<T>(one.a), b<T>(one.b), c, m, n, k);
        } else if (const int status =
                       cublas_->multiply(shape_.type, a<T>(one.a), b<T>(one.b), c, m, n, k);
                   status != 0) {
          done.end = RequestEnd::refused;
          done.code = status;
          put_text(done.call, "cublasGemmEx");
          return;
        }
      }
    });
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaEventRecord(stop_, nullptr));
    CUDA_CHECK(cudaDeviceSynchronize());
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start_, stop_));
    done.device_ms = static_cast<double>(milliseconds);
    return done;
  }

  Verified verify(const Verify& request) {
    Verified result;
    const std::uint32_t outputs = request.own != 0 ? shape_.count_own : arenas_.count_c;
    if (!valid(request, outputs) || request.vectors < 1 || request.vectors > kMaxVectors) {
      result.done.end = RequestEnd::broken;
      return result;
    }
    dispatch([&](auto element) { verify_as<decltype(element)>(request, result); });
    return result;
  }

  std::uint64_t checksum() {
    zero_counter();
    checksum_kernel<<<kGrid, kThreads>>>(outputs_.as<std::uint64_t>(), outputs_.size() / 8,
                                         counter_.as<unsigned long long>());
    CUDA_CHECK_LAUNCH();
    return counter();
  }

 private:
  template <typename Body>
  void dispatch(Body&& body) {
    switch (shape_.type) {
      case Type::int32:
        return body(std::int32_t{});
      case Type::float32:
        return body(float{});
      case Type::float64:
        return body(double{});
      case Type::float16:
        return body(__half{});
      case Type::bfloat16:
        return body(__nv_bfloat16{});
      case Type::tf32:
        return body(Tf32{});
    }
  }

  template <typename Request>
  bool valid(const Request& request, std::uint32_t outputs) const {
    for (std::uint32_t i = 0; i < request.count; ++i) {
      const Launch& one = request.launches[i];
      if (one.a >= arenas_.count_a || one.b >= arenas_.count_b || one.c >= outputs) return false;
    }
    return inputs_.data() != nullptr && arenas_.m > 0 && arenas_.n > 0 && arenas_.k > 0;
  }

  std::uint64_t elements_a() const {
    return static_cast<std::uint64_t>(arenas_.m) * static_cast<std::uint64_t>(arenas_.k);
  }
  std::uint64_t elements_b() const {
    return static_cast<std::uint64_t>(arenas_.k) * static_cast<std::uint64_t>(arenas_.n);
  }
  template <typename T>
  T* a(std::uint32_t i) const {
    return reinterpret_cast<T*>(inputs_.data() + i * arenas_.stride_a);
  }
  template <typename T>
  T* b(std::uint32_t i) const {
    return reinterpret_cast<T*>(inputs_.data() + arenas_.first_b + i * arenas_.stride_b);
  }

  template <typename Memory>
  void poison(const Memory& memory) {
    if (memory.size() == 0) return;
    poison_kernel<<<kGrid, kThreads>>>(reinterpret_cast<std::uint64_t*>(memory.data()),
                                       memory.size() / 8, poison_of(shape_.type));
    CUDA_CHECK_LAUNCH();
  }

  bool has_cublas() const { return cublas_ && cublas_->found(); }

  bool has_room(SharedMemory& memory, std::uint64_t bytes) const {
    const MemoryFault fault = memory.allocate(bytes, sharing_);
    if (fault && fault.code != cudaErrorMemoryAllocation)
      cuda_check(fault.code, fault.call, __FILE__, __LINE__);
    return !fault;
  }

  static void share(const SharedMemory& memory, Block& block, UniqueFd& file, Done& done) {
    const MemoryFault fault = memory.share(block, file);
    if (!fault) return;
    done.code = fault.code;
    put_text(done.call, fault.call);
    put_text(done.name, cudaGetErrorName(fault.code));
  }

  void zero_counter() { CUDA_CHECK(cudaMemset(counter_.data(), 0, sizeof(unsigned long long))); }
  unsigned long long counter() {
    unsigned long long value = 0;
    CUDA_CHECK(cudaMemcpy(&value, counter_.data(), sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }

  template <typename T>
  void verify_as(const Verify& request, Verified& result) {
    using Out = ResultOf<T>;
    constexpr bool whole = std::is_same_v<T, std::int32_t>;
    const int m = arenas_.m, n = arenas_.n, k = arenas_.k;
    unsigned char* const outputs = request.own != 0 ? own_.data() : outputs_.data();
    const auto c_of = [&](std::uint32_t i) {
      return reinterpret_cast<Out*>(outputs + request.launches[i].c * arenas_.stride_c);
    };

    // Nobody may have changed what is multiplied.
    zero_counter();
    auto* const changed = counter_.as<unsigned long long>();
    for (std::uint32_t i = 0; i < arenas_.count_a; ++i)
      compare_kernel<T><<<kGrid, kThreads>>>(a<T>(i), elements_a(), seed_of(seed_, Operand::a, i),
                                             Operand::a, changed);
    for (std::uint32_t i = 0; i < arenas_.count_b; ++i)
      compare_kernel<T><<<kGrid, kThreads>>>(b<T>(i), elements_b(), seed_of(seed_, Operand::b, i),
                                             Operand::b, changed);
    CUDA_CHECK_LAUNCH();
    if (counter() != 0) {
      result.fault = Fault::inputs;
      return;
    }

    // Limits as check_probabilistically() of common/reference.cpp: a C within the componentwise
    // limit is refused with probability at most `alarm`.
    constexpr double alarm = 1e-9;
    const double unit = whole ? 0 : std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24;
    const Limits limit =
        limits<T>(request.allowed_units, n, k,
                  static_cast<double>(std::max(1, m)) * std::max(1u, request.count),
                  static_cast<int>(request.vectors), alarm);

    const auto rows = static_cast<std::uint64_t>(m), depth = static_cast<std::uint64_t>(k);
    findings_.at_least(request.count * sizeof(Finding));
    residuals_.at_least((rows + 1) * sizeof(Residual));
    std::vector<Finding> found(request.count, Finding{kNone, kNone, 0, 0});
    CUDA_CHECK(cudaMemcpy(findings_.data(), found.data(), found.size() * sizeof(Finding),
                          cudaMemcpyHostToDevice));
    // One projection per B that occurs, all at once where they fit, else again and again.
    std::vector<int> slot(arenas_.count_b, -1);
    int slots = 0;
    for (std::uint32_t i = 0; i < request.count; ++i)
      if (int& one = slot[request.launches[i].b]; one < 0) one = slots++;
    projections_.at_least(static_cast<std::uint64_t>(slots) * depth * sizeof(Projection<T>));
    const auto projection = [&](std::uint32_t b_index) {
      return projections_.as<Projection<T>>() + static_cast<std::uint64_t>(slot[b_index]) * depth;
    };
    if (k > 0)
      for (std::uint32_t i = 0; i < arenas_.count_b; ++i)
        if (slot[i] >= 0)
          project_kernel<T>
              <<<static_cast<unsigned>(k), kThreads>>>(b<T>(i), n, request.seed, projection(i));
    CUDA_CHECK_LAUNCH();
    const auto check_rows = [&](std::uint32_t i) {
      rows_kernel<T><<<static_cast<unsigned>(m), kThreads>>>(
          a<T>(request.launches[i].a), c_of(i), projection(request.launches[i].b), n, k,
          static_cast<int>(request.vectors), request.seed, limit, findings_.as<Finding>() + i,
          residuals_.as<Residual>());
    };
    for (std::uint32_t i = 0; i < request.count; ++i) check_rows(i);
    CUDA_CHECK_LAUNCH();

    // A few launches, a few rows of each.
    constexpr unsigned rows_each = 2;
    const std::uint32_t sampled = std::min(request.sampled, request.count);
    std::vector<int> chosen(sampled * rows_each);
    std::vector<std::uint32_t> which(sampled);
    rows_.at_least(chosen.size() * sizeof(int) + sizeof(int));
    for (std::uint32_t s = 0; s < sampled; ++s) {
      which[s] = static_cast<std::uint32_t>(split_mix(request.seed + 77 * s) % request.count);
      for (unsigned r = 0; r < rows_each; ++r)
        chosen[s * rows_each + r] =
            static_cast<int>(split_mix(request.seed ^ (1000003u * (s * rows_each + r + 1))) % rows);
    }
    if (sampled > 0 && n > 0) {
      CUDA_CHECK(cudaMemcpy(rows_.data(), chosen.data(), chosen.size() * sizeof(int),
                            cudaMemcpyHostToDevice));
      for (std::uint32_t s = 0; s < sampled; ++s)
        elements_kernel<T><<<dim3((static_cast<unsigned>(n) + 31) / 32, rows_each), dim3(32, 8)>>>(
            a<T>(request.launches[which[s]].a), b<T>(request.launches[which[s]].b), c_of(which[s]),
            rows_.as<int>() + s * rows_each, n, k, request.allowed_units, unit,
            findings_.as<Finding>() + which[s], residuals_.as<Residual>() + rows);
      CUDA_CHECK_LAUNCH();
    }
    CUDA_CHECK(cudaMemcpy(found.data(), findings_.data(), found.size() * sizeof(Finding),
                          cudaMemcpyDeviceToHost));
    for (std::uint32_t i = 0; i < request.count; ++i) {
      const Finding& one = found[i];
      if (one.product == kNone && one.precision == kNone) continue;
      if (result.wrong_launches++ > 0) continue;
      result.launch = i;
      const unsigned long long place = one.product != kNone ? one.product : one.precision;
      result.fault = one.product != kNone ? Fault::product : Fault::precision;
      result.row = static_cast<std::int32_t>(place >> 32);
      const auto column = static_cast<std::uint32_t>(place);
      result.col = column == ~0u ? -1 : static_cast<std::int32_t>(column);
      result.unwritten = one.unwritten > 0 ? 1 : 0;
      Residual residual{};
      if (one.product != kNone) check_rows(i);  // its residuals once more
      CUDA_CHECK(
          cudaMemcpy(&residual,
                     residuals_.as<Residual>() +
                         (one.product != kNone ? static_cast<std::uint64_t>(result.row) : rows),
                     sizeof residual, cudaMemcpyDeviceToHost));
      result.residual = residual.residual;
      result.allowed = residual.allowed;
    }
    if (result.fault == Fault::none && request.own == 0 && arenas_.count_c > 0) {
      zero_counter();
      padding_kernel<<<arenas_.count_c, 128>>>(
          outputs_.data(), arenas_.stride_c,
          static_cast<std::uint64_t>(m) * static_cast<std::uint64_t>(n) * sizeof(Out),
          poison_of(shape_.type), changed);
      CUDA_CHECK_LAUNCH();
      if (counter() != 0) result.fault = Fault::padding;
    }
  }

  int device_ = 0, runtime_ = 0;
  cudaDeviceProp properties_{};
  std::unique_ptr<Cublas> cublas_;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
  Allocate shape_;
  Arenas arenas_;
  std::uint64_t seed_ = 0;
  Sharing sharing_ = Sharing::none;
  SharedMemory inputs_, outputs_;
  DeviceBytes own_, counter_, findings_, residuals_, projections_, rows_;
};

template <typename Request, typename Serve>
bool with(const Packet& packet, Serve&& serve) {
  static Request request;  // some are too large for a stack
  if (!take(packet.body.data(), packet.body.size(), request)) return false;
  return serve(request);
}

/// Serves the judge until it closes the socket.
int serve(const std::set<std::string>& without) {
  TimingServer worker(without);
  Packet packet;
  for (;;) {
    const Received received = receive_packet(kDescriptor, packet);
    if (received == Received::closed) return 0;
    if (received == Received::malformed) return 3;
    const std::uint64_t serial = packet.header.serial;
    const auto reply = [&](const auto& body) {
      return send_body(kDescriptor, Kind::done, serial, body);
    };
    bool served = false;
    switch (packet.header.kind) {
      case Kind::info:
        served = reply(worker.info());
        break;
      case Kind::allocate:
        served = with<Allocate>(packet, [&](const Allocate& r) {
          std::array<UniqueFd, kMaxFiles> files;
          const Allocated allocated = worker.allocate(r, files);
          return send_body(kDescriptor, Kind::done, serial, allocated,
                           {files[0].get(), files[1].get()});
        });
        break;
      case Kind::fill:
        served = with<Fill>(packet, [&](const Fill& r) {
          worker.fill(r);
          return reply(Done{});
        });
        break;
      case Kind::batch:
        served = with<Batch>(packet, [&](const Batch& r) { return reply(worker.batch(r)); });
        break;
      case Kind::verify:
        served = with<Verify>(packet, [&](const Verify& r) { return reply(worker.verify(r)); });
        break;
      case Kind::checksum: {
        Done done;
        done.value = worker.checksum();
        served = reply(done);
        break;
      }
      default:
        break;
    }
    if (!served) return 3;
  }
}

}  // namespace

int main(int argc, char** argv) {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(kDescriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) {
    std::fputs("this program is started by the grader, which gives it a connection\n", stderr);
    return 2;
  }
  // What it holds (seeds, yardsticks) is nobody else's: no ptrace and no /proc/<pid>/mem.
  ::prctl(PR_SET_DUMPABLE, 0);
  try {
    return serve({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 70;  // the judge sees the closed socket and shows this text
  }
}
