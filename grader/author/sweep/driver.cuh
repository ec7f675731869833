// What the sweep programs share: a plan of points, and measuring one point after the other.
//
//     program list                        the plan, one JSON object per line; needs no GPU
//     program measure IDS BUDGET_MS       measures the points named in the file IDS, one per line
//     program check N                     runs every kernel on small matrices, checks, times
//     nothing
//
// `measure` prints one JSON object per line as it goes: {"device": ...}, then for each point
// {"begin": id} and the point. The grader reads them, so that a point that hangs or breaks the GPU
// costs that point only. Times are milliseconds per product by CUDA events, launches back to back,
// caches warm.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/cuda_check.cuh"
#include "common/matrix.hpp"
#include "grader/author/sweep/elements.cuh"
#include "grader/author/sweep/verify.cuh"
#include "grader/bench/events.cuh"
#include "grader/gpu/cublas.hpp"
#include "grader/gpu/nvml_library.hpp"
#include "grader/gpu/statistics.cpp"

namespace sweep {

constexpr int ceil_div(int n, int d) {
  return (n + d - 1) / d;
}

template <typename In>
struct Operands {
  MatrixView<const In> a, b;
  MatrixView<Result<In>> c;
};

/// A kernel and how it is launched: what the runtime is asked for its resources.
struct Kernel {
  const void* function = nullptr;
  dim3 grid, block;
  unsigned dynamic_shared = 0;  ///< bytes
  int carve_out = -1;           ///< per cent of L1 to be shared memory; -1: the driver's choice
};

/// One way to multiply. If `run` is empty, `main` is launched with (a, b, c).
template <typename In>
struct Way {
  Kernel main;
  std::function<void(const Operands<In>&, cudaStream_t)> run;
  int products = 1;       ///< that one run computes; times are per product
  double wavefronts = 0;  ///< of shared memory, per request of `main`'s inner loop; 0: not modelled
};

/// A kernel of the common signature.
template <typename In>
using KernelFunction = void (*)(MatrixView<const In>, MatrixView<const In>, MatrixView<Result<In>>);

template <typename In>
Way<In> one_kernel(KernelFunction<In> function, dim3 grid, dim3 block, unsigned dynamic = 0,
                   int carve_out = -1) {
  Way<In> way;
  way.main = {reinterpret_cast<const void*>(function), grid, block, dynamic, carve_out};
  return way;
}

inline void launch(const Kernel& kernel, void** arguments, cudaStream_t stream) {
  CUDA_CHECK(cudaLaunchKernel(kernel.function, kernel.grid, kernel.block, arguments,
                              kernel.dynamic_shared, stream));
}

template <typename In>
void run(const Way<In>& way, const Operands<In>& m, cudaStream_t stream) {
  if (way.run) return way.run(m, stream);
  Operands<In> copy = m;
  void* arguments[] = {&copy.a, &copy.b, &copy.c};
  launch(way.main, arguments, stream);
}

/// The yardstick of every table: one thread per element of C, 32 x 8 of them a block.
template <typename In>
__global__ void yardstick_kernel(MatrixView<const In> a, MatrixView<const In> b,
                                 MatrixView<Result<In>> c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= c.rows || col >= c.cols) return;
  Result<In> sum = 0;
  for (int k = 0; k < a.cols; ++k)
    sum += grader::gpu::freivalds::widened(a(row, k)) * grader::gpu::freivalds::widened(b(k, col));
  c(row, col) = sum;
}

/// n x n matrices: integers to check with, random numbers to time with.
template <typename In>
class Matrices {
 public:
  Matrices(int n, cudaStream_t stream)
      : n_(n),
        elements_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)),
        a_integers_(elements_),
        b_integers_(elements_),
        a_(elements_),
        b_(elements_),
        c_(elements_) {
    fill(a_integers_.data(), elements_, 1, Data::integers, stream);
    fill(b_integers_.data(), elements_, 2, Data::integers, stream);
    fill(a_.data(), elements_, 3, Data::random, stream);
    fill(b_.data(), elements_, 4, Data::random, stream);
  }
  Operands<In> operands(Data kind) const {
    const bool random = kind == Data::random;
    return {{random ? a_.data() : a_integers_.data(), n_, n_, n_},
            {random ? b_.data() : b_integers_.data(), n_, n_, n_},
            {c_.data(), n_, n_, n_}};
  }
  /// NaN in every element of C; -1 for int.
  void poison(cudaStream_t stream) const {
    CUDA_CHECK(cudaMemsetAsync(c_.data(), 0xff, elements_ * sizeof(Result<In>), stream));
  }

 private:
  int n_;
  std::size_t elements_;
  DeviceArray<In> a_integers_, b_integers_, a_, b_;
  DeviceArray<Result<In>> c_;
};

inline int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

struct Resources {
  int registers = 0;
  std::size_t local_bytes = 0, static_shared = 0;
  int resident_blocks = 0;  ///< of this kernel on a multiprocessor at a time
  double occupancy = 0;     ///< resident warps / warps that would fit
};

inline Resources resources_of(const Kernel& kernel) {
  cudaFuncAttributes attributes{};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel.function));
  Resources r;
  r.registers = attributes.numRegs;
  r.local_bytes = attributes.localSizeBytes;
  r.static_shared = attributes.sharedSizeBytes;
  const int threads = static_cast<int>(kernel.block.x * kernel.block.y * kernel.block.z);
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&r.resident_blocks, kernel.function,
                                                           threads, kernel.dynamic_shared));
  int device = 0, most = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  r.occupancy = static_cast<double>(r.resident_blocks) * ((threads + 31) / 32) / (most / 32);
  return r;
}

/// Before the first launch: more than 48 KiB must be asked for, and the carve-out is a wish.
inline void prepare(const Kernel& kernel) {
  if (kernel.dynamic_shared > 48u << 10)
    CUDA_CHECK(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(kernel.dynamic_shared)));
  if (kernel.carve_out >= 0)
    CUDA_CHECK(cudaFuncSetAttribute(kernel.function, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    kernel.carve_out));
}

inline std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

/// What a sweep of one lab runs with.
class Session {
 public:
  explicit Session(double budget_ms) : budget_ms_(budget_ms) {
    CUDA_CHECK(cudaStreamCreate(&stream_));
    int runtime = 0, device = 0;
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    CUDA_CHECK(cudaGetDevice(&device));
    cublas_ = std::make_unique<grader::gpu::Cublas>(runtime / 1000, stream_);
    char bus[32] = "";
    CUDA_CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, device));
    nvml_.choose_bus(bus);
  }
  ~Session() {
    cublas_.reset();
    keep_.reset();
    cudaStreamDestroy(stream_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  cudaStream_t stream() const { return stream_; }
  double budget_ms() const { return budget_ms_; }
  const grader::gpu::Cublas& cublas() const { return *cublas_; }
  /// Of the SMs, now; 0 if nobody tells.
  unsigned megahertz() const { return nvml_.sm_clock_mhz().value_or(0); }

  /// The matrices of the last point are kept: the next one mostly wants the same.
  template <typename In>
  const Matrices<In>& matrices(int n) {
    const std::string key = std::string(name_of<In>()) + std::to_string(n);
    if (key != key_) {
      key_.clear();
      keep_.reset();
      keep_ = std::make_shared<Matrices<In>>(n, stream_);
      key_ = key;
    }
    return *static_cast<const Matrices<In>*>(keep_.get());
  }

  /// Milliseconds of the yardstick for this type and size; measured once.
  template <typename In>
  double yardstick(int n) {
    const std::string key = std::string(name_of<In>()) + std::to_string(n);
    const auto known = yardsticks_.find(key);
    if (known != yardsticks_.end()) return known->second;
    const Operands<In> m = matrices<In>(n).operands(Data::random);
    const dim3 grid(ceil_div(n, 32), ceil_div(n, 8));
    const Way<In> way = one_kernel<In>(yardstick_kernel<In>, grid, dim3(32, 8));
    run(way, m, stream_);
    const double once = timing::milliseconds(stream_, [&] { run(way, m, stream_); });
    const int launches = std::max(1, std::min(100, static_cast<int>(1 / once)));
    std::vector<double> samples;
    for (int i = 0; i < 5; ++i)
      samples.push_back(timing::milliseconds(stream_,
                                             [&] {
                                               for (int l = 0; l < launches; ++l)
                                                 run(way, m, stream_);
                                             }) /
                        launches);
    return yardsticks_[key] = statistics::median(samples);
  }

 private:
  double budget_ms_;
  cudaStream_t stream_{};
  std::unique_ptr<grader::gpu::Cublas> cublas_;
  grader::gpu::NvmlLibrary nvml_;
  std::shared_ptr<void> keep_;
  std::string key_;
  std::map<std::string, double> yardsticks_;
};

/// Where a point stands: experiment and variant name a curve family, `x` is what is swept. Sizes
/// are n x n.
struct Place {
  std::string experiment, variant;
  int n = 0;
  int x = 0;
  std::string label;  ///< of x where x is not a number of its own
};

struct Point {
  Place place;
  std::string type;
  int needs = 0;                                 ///< compute capability, 80 for 8.0
  std::function<std::string(Session&)> measure;  ///< the JSON of what was found
  std::function<std::string()> check;            ///< "" or what is wrong; on a small matrix

  std::string id() const {
    return place.experiment + "/" + place.variant + "/" + type + "/" + std::to_string(place.n) +
           "/" + std::to_string(place.x);
  }
};

/// Timing of one way on one size. Samples are batches of launches back to back; cuBLAS takes a
/// sample after each of ours.
struct Samples {
  std::vector<double> ours, cublas;  ///< milliseconds per product
  int launches = 1;                  ///< per sample
};

/// The beginning of a point's JSON: what the main kernel takes of a multiprocessor.
template <typename In>
std::string resources_json(const Way<In>& way) {
  const Resources r = resources_of(way.main);
  char text[512];
  std::snprintf(text, sizeof text,
                "\"registers\":%d,\"local_bytes\":%zu,\"static_shared\":%zu,\"dynamic_shared\":%u,"
                "\"threads\":%u,\"blocks\":%llu,\"resident_blocks\":%d,\"occupancy\":%.4g",
                r.registers, r.local_bytes, r.static_shared, way.main.dynamic_shared,
                way.main.block.x * way.main.block.y,
                static_cast<unsigned long long>(way.main.grid.x) * way.main.grid.y,
                r.resident_blocks, r.occupancy);
  std::string out = text;
  if (way.wavefronts > 0) {
    std::snprintf(text, sizeof text, ",\"wavefronts\":%.4g", way.wavefronts);
    out += text;
  }
  return out;
}

/// Launches of `once` milliseconds that make a sample of about one.
inline int launches_of_a_sample(double once) {
  return std::max(1, std::min(500, static_cast<int>(std::ceil(1.0 / once))));
}

/// Milliseconds of a call, as the mean of `launches` back to back.
template <typename Call>
double mean_milliseconds(const Call& call, int launches, int products, cudaStream_t stream) {
  return timing::milliseconds(stream,
                              [&] {
                                for (int i = 0; i < launches; ++i) call();
                              }) /
         (launches * products);
}

/// cuBLAS on the same operands, into memory of its own: our C is checked afterwards.
template <typename In>
class Beside {
 public:
  Beside(Session& session, const Operands<In>& operands, int n, bool is_tf32)
      : stream_(session.stream()) {
    const auto type = wire_type<In>(is_tf32);
    if (!session.cublas().found() || !grader::gpu::Cublas::has(type)) return;
    const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    c_ = std::make_unique<DeviceArray<Result<In>>>(elements);
    const MatrixView<Result<In>> c{c_->data(), n, n, n};
    multiply_ = [&session, operands, c, type] {
      return session.cublas().multiply(type, operands.a.data, operands.b.data, c.data, c.rows,
                                       c.cols, operands.a.cols) == 0;
    };
    if (multiply_())
      launches_ = launches_of_a_sample(timing::milliseconds(stream_, multiply_));
    else
      multiply_ = nullptr;
  }
  void sample_into(std::vector<double>& samples) const {
    if (multiply_) samples.push_back(mean_milliseconds(multiply_, launches_, 1, stream_));
  }

 private:
  cudaStream_t stream_;
  std::unique_ptr<DeviceArray<Result<In>>> c_;
  std::function<bool()> multiply_;  ///< empty: there is no cuBLAS for this type
  int launches_ = 1;
};

/// Samples of ours and of cuBLAS in turn. `first`: what the first run of all took. The last sample
/// of ours starts from a poisoned C, so that the check sees what was timed.
template <typename In>
Samples take_samples(Session& session, const Way<In>& way, int n, bool is_tf32, double first) {
  const cudaStream_t stream = session.stream();
  const Matrices<In>& matrices = session.matrices<In>(n);
  const Operands<In> random = matrices.operands(Data::random);
  const auto ours = [&] { run(way, random, stream); };
  const double once = timing::milliseconds(stream, ours);
  const bool long_run = once > session.budget_ms() * 4;
  Samples samples;
  if (long_run)  // what has run already counts
    samples.ours = {first / way.products, once / way.products};
  else
    samples.launches = launches_of_a_sample(once);
  const double sample_ms = once * samples.launches;
  const int wanted =
      once > 1000 ? 2
      : long_run  ? 3
                  : std::max(5, std::min(15, static_cast<int>(session.budget_ms() / sample_ms)));
  const Beside<In> cublas(session, random, n, is_tf32);
  while (static_cast<int>(samples.ours.size()) < wanted) {
    if (static_cast<int>(samples.ours.size()) + 1 == wanted) matrices.poison(stream);
    samples.ours.push_back(mean_milliseconds(ours, samples.launches, way.products, stream));
    cublas.sample_into(samples.cublas);
  }
  return samples;
}

template <typename In>
std::string measured(Session& session, const Way<In>& way, int n, bool is_tf32, double units) {
  const cudaStream_t stream = session.stream();
  const Matrices<In>& matrices = session.matrices<In>(n);
  const Operands<In> exact = matrices.operands(Data::integers),
                     random = matrices.operands(Data::random);
  if (const int most = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
      way.main.dynamic_shared > static_cast<unsigned>(most))
    return "\"status\":\"skipped\",\"note\":\"needs " + std::to_string(way.main.dynamic_shared) +
           " bytes of shared memory per block, of which there are " + std::to_string(most) + "\"";
  prepare(way.main);
  std::string out = resources_json(way);

  // Right on integers, exactly; this also loads the module and warms up.
  matrices.poison(stream);
  const double first = timing::milliseconds(stream, [&] { run(way, exact, stream); });
  const auto refusal = [&](unsigned wrong) {
    return out + ",\"status\":\"wrong\",\"note\":" +
           quoted("wrong result: " + std::to_string(wrong) + " of " + std::to_string(n) +
                  " rows of C");
  };
  if (const unsigned wrong =
          wrong_rows<In>(exact.a, exact.b, exact.c, Data::integers, units, 5, stream))
    return refusal(wrong);

  const Samples samples = take_samples(session, way, n, is_tf32, first);
  const unsigned mhz = session.megahertz();
  if (const unsigned wrong =
          wrong_rows<In>(random.a, random.b, random.c, Data::random, units, 6, stream))
    return refusal(wrong);

  const statistics::Interval ms = statistics::median_interval(samples.ours);
  char text[512];
  std::snprintf(text, sizeof text,
                ",\"status\":\"measured\",\"ms\":%.5g,\"ms_interval\":[%.5g,%.5g],\"rounds\":%zu,"
                "\"launches\":%d,\"naive_ms\":%.5g",
                ms.middle, ms.low, ms.high, samples.ours.size(), samples.launches,
                session.yardstick<In>(n));
  out += text;
  if (!samples.cublas.empty()) {
    std::snprintf(text, sizeof text, ",\"cublas_ms\":%.5g", statistics::median(samples.cublas));
    out += text;
  }
  if (mhz > 0) out += ",\"mhz\":" + std::to_string(mhz);
  return out;
}

/// Every point of a lab. Ways are made when a point is measured: `list` touches no GPU.
class Plan {
 public:
  /// `make(n)` gives the Way for n x n matrices. `units`: the limit of common/reference.hpp.
  template <typename In>
  void add(const Place& place, const std::function<Way<In>(int n)>& make, int needs = 0,
           bool is_tf32 = false) {
    // common/reference.hpp: kAllowedUnits, kAllowedTensorUnits, kTruncatedTf32Units.
    const bool tensor = std::is_same_v<In, __half> || std::is_same_v<In, __nv_bfloat16> || is_tf32;
    const double units = !tensor ? 32 : is_tf32 ? 128 + 4.0 * (1 << 13) : 128;
    Point point;
    point.place = place;
    point.type = is_tf32 ? tf32 : name_of<In>();
    point.needs = needs;
    const int n = place.n;
    point.measure = [=](Session& session) {
      return measured<In>(session, make(n), n, is_tf32, units);
    };
    point.check = [=] {
      const Matrices<In> matrices(check_size_, nullptr);
      const Operands<In> m = matrices.operands(Data::integers);
      const Way<In> way = make(check_size_);
      prepare(way.main);
      matrices.poison(nullptr);
      run(way, m, nullptr);
      const unsigned wrong = wrong_rows<In>(m.a, m.b, m.c, Data::integers, units, 5, nullptr);
      return wrong == 0 ? std::string() : std::to_string(wrong) + " rows are wrong";
    };
    points_.push_back(std::move(point));
  }

  std::vector<Point>& points() { return points_; }
  static void set_check_size(int n) { check_size_ = n; }

 private:
  std::vector<Point> points_;
  inline static int check_size_ = 64;
};

inline int list(Plan& plan) {
  for (const Point& p : plan.points())
    std::printf(
        "{\"id\":%s,\"experiment\":%s,\"variant\":%s,\"type\":%s,\"n\":%d,\"x\":%d,"
        "\"label\":%s,\"needs\":%d}\n",
        quoted(p.id()).c_str(), quoted(p.place.experiment).c_str(), quoted(p.place.variant).c_str(),
        quoted(p.type).c_str(), p.place.n, p.place.x, quoted(p.place.label).c_str(), p.needs);
  return 0;
}

inline int capability() {
  return attribute(cudaDevAttrComputeCapabilityMajor) * 10 +
         attribute(cudaDevAttrComputeCapabilityMinor);
}

inline void print_device(Session& session) {
  int device = 0, driver = 0, runtime = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  std::printf(
      "{\"device\":{\"gpu\":%s,\"capability\":%d,\"multiprocessors\":%d,\"max_mhz\":%d,"
      "\"memory_mib\":%zu,\"driver_cuda\":%d,\"cuda\":%d,\"cublas\":%d,\"nvcc\":\"%d.%d.%d\"}}\n",
      quoted(properties.name).c_str(), capability(), attribute(cudaDevAttrMultiProcessorCount),
      attribute(cudaDevAttrClockRate) / 1000, properties.totalGlobalMem >> 20, driver, runtime,
      session.cublas().version,
#ifdef __CUDACC_VER_MAJOR__
      __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__);
#else
      0, 0, 0);
#endif
  std::fflush(stdout);
}

/// True if the GPU is beyond use for this process: the grader starts another one.
inline bool sticky(cudaError_t error) {
  return error != cudaSuccess && error != cudaErrorMemoryAllocation &&
         error != cudaErrorInvalidConfiguration && error != cudaErrorLaunchOutOfResources &&
         error != cudaErrorInvalidValue && error != cudaErrorNoKernelImageForDevice;
}

inline int measure(Plan& plan, const char* ids, double budget_ms) {
  std::set<std::string> wanted;
  std::ifstream in(ids);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) wanted.insert(line);
  Session session(budget_ms);
  print_device(session);
  const int here = capability();
  for (const Point& point : plan.points()) {
    if (wanted.count(point.id()) == 0) continue;
    std::printf("{\"begin\":%s}\n", quoted(point.id()).c_str());
    std::fflush(stdout);
    std::string found;
    cudaError_t error = cudaSuccess;
    if (here < point.needs) {
      found = "\"status\":\"skipped\",\"note\":\"needs compute capability " +
              std::to_string(point.needs / 10) + "." + std::to_string(point.needs % 10) + "\"";
    } else {
      try {
        found = point.measure(session);
      } catch (const CudaError& problem) {
        error = problem.code;
        const bool full = error == cudaErrorMemoryAllocation;
        found = std::string("\"status\":") + (full ? "\"skipped\"" : "\"failed\"") +
                ",\"note\":" + quoted(full ? "not enough device memory" : cudaGetErrorName(error));
        cudaGetLastError();  // what is not sticky is forgotten
      }
    }
    std::printf("{\"id\":%s,%s}\n", quoted(point.id()).c_str(), found.c_str());
    std::fflush(stdout);
    if (sticky(error)) return 3;
  }
  return 0;
}

inline int check(Plan& plan, int n) {
  Plan::set_check_size(n);
  int wrong = 0, right = 0;
  std::set<std::string> done;  // the same kernel for another size is no other kernel
  for (const Point& p : plan.points()) {
    const std::string name =
        p.place.experiment + "/" + p.place.variant + "/" + p.type + "/" + std::to_string(p.place.x);
    if (p.place.experiment == "size" ? !done.insert(p.place.variant + p.type).second
                                     : !done.insert(name).second)
      continue;
    const std::string problem = p.check();
    if (!problem.empty()) std::printf("%s: %s\n", name.c_str(), problem.c_str());
    ++(problem.empty() ? right : wrong);
  }
  std::printf("%d kernels right, %d wrong\n", right, wrong);
  return wrong == 0 ? 0 : 1;
}

/// The main of every sweep program.
inline int drive(int argc, char** argv, Plan& plan) {
  try {
    if (argc == 2 && std::strcmp(argv[1], "list") == 0) return list(plan);
    if (argc == 4 && std::strcmp(argv[1], "measure") == 0)
      return measure(plan, argv[2], std::atof(argv[3]));
    if (argc == 3 && std::strcmp(argv[1], "check") == 0) return check(plan, std::atoi(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  std::fprintf(stderr, "usage: %s list | measure IDS BUDGET_MS | check N\n", argv[0]);
  return 4;
}

}  // namespace sweep
