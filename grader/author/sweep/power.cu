// A launcher of lab 6 beside cuBLAS under lasting load; see power.sh, which compiles it with
//     -DSOURCE=... -DRUNG=... -DIN=... -DOUT=... -DMATH=...    a solution, its launcher, types, cuBLAS's math
//
//     power M N K SECONDS ROUNDS     each runs for so long, in turns; one line for each: TFLOP/s, clock, power
//     power ours|cublas M N K        one product, for the profiler
#define GEMM_LAB_TENSOR_MAP_ENCODER
#include SOURCE

#include <cuda_profiler_api.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>

#include "grader/author/sweep/beside_cublas.cuh"
#include "grader/gpu/nvml_library.hpp"

namespace {

constexpr int SETS = 3;  // of A, B and C: neighbouring products share none of them

/// Uniform in (-1, 1), with all bits of a double or a float: zeros in the last bits would draw less power.
template <typename T>
__global__ void fill(T* data, std::size_t count, std::uint64_t seed) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    std::uint64_t mixed = (i + (seed << 40)) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    data[i] = T(static_cast<double>(static_cast<std::int64_t>(mixed ^ (mixed >> 31))) * 0x1p-63);
  }
}

/// The largest |x - y|.
__global__ void compare(const OUT* x, const OUT* y, std::size_t count, unsigned long long* worst) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const double off = fabs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    atomicMax(worst, static_cast<unsigned long long>(__double_as_longlong(off >= 0 ? off : 1e30)));
  }
}

class Products {
 public:
  explicit Products(Extents e) : extents_(e) {
    for (int set = 0; set < SETS; ++set) {
      a_.push_back(std::make_unique<Buffer<IN>>(std::size_t(e.m) * e.k));
      b_.push_back(std::make_unique<Buffer<IN>>(std::size_t(e.k) * e.n));
      c_.push_back(std::make_unique<Buffer<OUT>>(std::size_t(e.m) * e.n));
      fill<<<1024, 256>>>(a_[set]->get(), std::size_t(e.m) * e.k, 2 * set + 1);
      fill<<<1024, 256>>>(b_[set]->get(), std::size_t(e.k) * e.n, 2 * set + 2);
    }
    CUDA_CHECK_LAUNCH();
  }
  void run(bool ours, int i) {
    const int set = i % SETS;
    const auto [m, n, k] = extents_;
    if (ours)
      return RUNG(MatrixView<const IN>{a_[set]->get(), m, k, k},
                  MatrixView<const IN>{b_[set]->get(), k, n, n},
                  MatrixView<OUT>{c_[set]->get(), m, n, n}, cudaStream_t{});
    constexpr bool wide = sizeof(OUT) == 8;
    constexpr cudaDataType type = wide ? CUDA_R_64F : CUDA_R_32F;
    const OUT one = 1, zero = 0;  // row-major C = A * B is column-major C' = B' * A'
    const auto status = cublasGemmEx(blas_.get(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one,
                                     b_[set]->get(), type, n, a_[set]->get(), type, k, &zero,
                                     c_[set]->get(), type, n, MATH, CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS) std::exit(3);
  }
  /// Whether both compute the same, but for rounding.
  bool alike() {
    const std::size_t count = std::size_t(extents_.m) * extents_.n;
    const Buffer<OUT> expected(count);
    const Buffer<unsigned long long> worst(1);
    CUDA_CHECK(cudaMemset(worst.get(), 0, sizeof(unsigned long long)));
    run(false, 0);
    CUDA_CHECK(cudaMemcpy(expected.get(), c_[0]->get(), count * sizeof(OUT), cudaMemcpyDefault));
    CUDA_CHECK(cudaMemset(c_[0]->get(), 0xff, count * sizeof(OUT)));
    run(true, 0);
    compare<<<1024, 256>>>(c_[0]->get(), expected.get(), count, worst.get());
    double most = 0;
    CUDA_CHECK(cudaMemcpy(&most, worst.get(), sizeof most, cudaMemcpyDefault));
    return most < (sizeof(OUT) == 8 ? 1e-13 : 1e-4) * std::sqrt(extents_.k);
  }

 private:
  Extents extents_;
  Cublas blas_;
  std::vector<std::unique_ptr<Buffer<IN>>> a_, b_;
  std::vector<std::unique_ptr<Buffer<OUT>>> c_;
};

/// Means of what NVML reads every 20 ms, from a fifth of a second on.
class Readings {
 public:
  explicit Readings(const grader::gpu::NvmlLibrary& nvml)
      : reader_([this, &nvml] {
          std::this_thread::sleep_for(std::chrono::milliseconds(200));
          for (; !stop_; std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
            mhz += nvml.sm_clock_mhz().value_or(0);
            watts += nvml.power_mw().value_or(0) * 1e-3;
            ++count_;
          }
        }) {}
  void end() {
    stop_ = true;
    reader_.join();
    mhz /= std::max(1, count_);
    watts /= std::max(1, count_);
  }
  double mhz = 0, watts = 0;

 private:
  int count_ = 0;
  std::atomic<bool> stop_{false};
  std::thread reader_;  // the last member: the others exist when it begins
};

struct Seen {
  std::vector<double> tflops, ratio;
  double mhz = 0, watts = 0;
};
double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

int lasting(Extents e, double seconds_each, int rounds) {
  grader::gpu::NvmlLibrary nvml;
  char bus[32] = {};
  CUDA_CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  if (!nvml.choose_bus(bus)) return 3;
  keep_freed_memory();
  Products products(e);
  if (!products.alike()) return 1;
  const double flop = 2.0 * e.m * e.n * e.k;
  const double once = seconds([&](int i) { products.run(false, i); });
  const int count = std::max(1, static_cast<int>(seconds_each / once));
  for (int i = 0; i < count; ++i) products.run(false, i);  // until the power limit is reached
  CUDA_CHECK(cudaDeviceSynchronize());
  Seen seen[2];  // cuBLAS, ours
  for (int round = 0; round < rounds; ++round) {
    double took[2] = {};
    for (int turn = 0; turn < 2; ++turn) {
      const bool ours = (turn + round) % 2 == 1;
      Readings readings(nvml);
      took[ours] = timing::milliseconds(nullptr, [&] {
        for (int i = 0; i < count; ++i) products.run(ours, i);
      });
      readings.end();
      seen[ours].tflops.push_back(flop * count / took[ours] * 1e-9);
      seen[ours].mhz += readings.mhz / rounds;
      seen[ours].watts += readings.watts / rounds;
    }
    seen[1].ratio.push_back(took[0] / took[1]);
  }
  for (const bool ours : {true, false}) {
    std::printf("%s %.2f %.0f %.0f", ours ? "ours" : "cublas", median(seen[ours].tflops),
                seen[ours].mhz, seen[ours].watts);
    if (ours) {
      const auto& all = seen[1].ratio;
      std::printf(" %.3f %.3f %.3f", median(all), *std::min_element(all.begin(), all.end()),
                  *std::max_element(all.begin(), all.end()));
    }
    std::printf("\n");
  }
  return 0;
}

int once(bool ours, Extents e) {
  Products products(e);
  products.run(ours, 0);
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaProfilerStart());
  products.run(ours, 1);
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaProfilerStop());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 6)
    return lasting({std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3])}, std::atof(argv[4]),
                   std::atoi(argv[5]));
  if (argc != 5) return 4;
  return once(std::strcmp(argv[1], "ours") == 0,
              {std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4])});
}
