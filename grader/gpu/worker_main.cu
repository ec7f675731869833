// build/bin/gpu_worker: the timing worker, see grader/gpu/worker.hpp. Links cudart only; cuBLAS is
// loaded where it is found.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <sys/prctl.h>
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
#include "grader/gpu/contents.cuh"
#include "grader/gpu/cublas.hpp"
#include "grader/gpu/freivalds.cuh"
#include "grader/gpu/protocol.hpp"
#include "grader/gpu/shared_memory.cuh"

namespace {

using namespace grader::gpu::protocol;
using namespace grader::gpu::freivalds;
using namespace grader::gpu;
using wire::UniqueFd;
static_assert(kVectors == static_cast<int>(kMaxVectors));

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
    info.name = capped(properties_.name);
    const auto* bytes = reinterpret_cast<const unsigned char*>(properties_.uuid.bytes);
    info.uuid = "GPU-";
    for (int i = 0; i < 16; ++i) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", bytes[i]);
      info.uuid += two;
      if (i == 3 || i == 5 || i == 7 || i == 9) info.uuid += '-';
    }
    info.major = properties_.major;
    info.minor = properties_.minor;
    info.multiprocessors = properties_.multiProcessorCount;
    cudaDeviceGetAttribute(&info.clock_khz, cudaDevAttrClockRate, device_);
    cudaDriverGetVersion(&info.driver);
    info.runtime = runtime_;
    info.cublas = has_cublas() ? cublas_->version : 0;
    info.cublas_path = cublas_ ? capped(cublas_->path.c_str()) : "not wanted";
    info.sharing = sharing_;
    info.l2_bytes = static_cast<std::uint64_t>(properties_.l2CacheSize);
    std::size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    info.memory_free = free;
    info.memory_total = total;
    return info;
  }

  /// `files`: of the inputs and of the outputs, where they are shared so.
  Allocated allocate(const Allocate& request, std::array<UniqueFd, wire::kMaxFiles>& files) {
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
    if (request.inputs) seed_ = request.seed;
    if (request.inputs)
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
    if (request.outputs) poison(outputs_);
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
      for (const Launch& one : request.launches) {
        Out* const c = reinterpret_cast<Out*>(own_.data() + one.c * arenas_.stride_c);
        if (yardstick == Yardstick::naive) {
          naive_kernel<T><<<grid, kNaiveBlock>>>(a<T>(one.a), b<T>(one.b), c, m, n, k);
        } else if (const int status =
                       cublas_->multiply(shape_.type, a<T>(one.a), b<T>(one.b), c, m, n, k);
                   status != 0) {
          done.end = RequestEnd::refused;
          done.code = status;
          done.call = "cublasGemmEx";
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
    const std::uint32_t outputs = request.own ? shape_.count_own : arenas_.count_c;
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
    for (const Launch& one : request.launches) {
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
    done.call = fault.call;
    done.name = cudaGetErrorName(fault.code);
  }

  void zero_counter() { CUDA_CHECK(cudaMemset(counter_.data(), 0, sizeof(unsigned long long))); }
  unsigned long long counter() {
    unsigned long long value = 0;
    CUDA_CHECK(cudaMemcpy(&value, counter_.data(), sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }

  /// Whether A and B are still what `fill` drew.
  template <typename T>
  bool inputs_kept() {
    zero_counter();
    auto* const changed = counter_.as<unsigned long long>();
    for (std::uint32_t i = 0; i < arenas_.count_a; ++i)
      compare_kernel<T><<<kGrid, kThreads>>>(a<T>(i), elements_a(), seed_of(seed_, Operand::a, i),
                                             Operand::a, changed);
    for (std::uint32_t i = 0; i < arenas_.count_b; ++i)
      compare_kernel<T><<<kGrid, kThreads>>>(b<T>(i), elements_b(), seed_of(seed_, Operand::b, i),
                                             Operand::b, changed);
    CUDA_CHECK_LAUNCH();
    return counter() == 0;
  }

  /// Whether the bytes between the outputs still hold the poison.
  bool padding_kept() {
    if (arenas_.count_c == 0) return true;
    zero_counter();
    padding_kernel<<<arenas_.count_c, 128>>>(
        outputs_.data(), arenas_.stride_c,
        static_cast<std::uint64_t>(arenas_.m) * static_cast<std::uint64_t>(arenas_.n) *
            result_size_of(shape_.type),
        poison_of(shape_.type), counter_.as<unsigned long long>());
    CUDA_CHECK_LAUNCH();
    return counter() == 0;
  }

  /// What verifies the launches of one request. On the device: a Finding per launch, a Residual per
  /// row of C, and one more of the recomputed rows.
  template <typename T>
  class OutputVerification {
   public:
    OutputVerification(TimingServer& server, const Verify& request)
        : server_(server),
          request_(request),
          m_(server.arenas_.m),
          n_(server.arenas_.n),
          k_(server.arenas_.k),
          outputs_(request.own ? server.own_.data() : server.outputs_.data()),
          // As check_probabilistically() of common/reference.cpp: a C within the componentwise
          // limit is refused with probability at most `alarm`.
          limit_(limits<T>(request.allowed_units, n_, k_,
                           static_cast<double>(std::max(1, m_)) *
                               static_cast<double>(std::max<std::size_t>(1, count())),
                           static_cast<int>(request.vectors), alarm)),
          found_(count(), Finding{kNone, kNone, 0, 0}) {
      server_.findings_.at_least(count() * sizeof(Finding));
      server_.residuals_.at_least((rows() + 1) * sizeof(Residual));
      CUDA_CHECK(cudaMemcpy(server_.findings_.data(), found_.data(), count() * sizeof(Finding),
                            cudaMemcpyHostToDevice));
      server_.errors_.at_least(sizeof(Errors));
      CUDA_CHECK(cudaMemset(server_.errors_.data(), 0, sizeof(Errors)));
    }

    void run(Verified& result) {
      project();
      for (std::size_t i = 0; i < count(); ++i) check_rows(i);
      CUDA_CHECK_LAUNCH();
      recompute_rows();
      CUDA_CHECK(cudaMemcpy(found_.data(), server_.findings_.data(), count() * sizeof(Finding),
                            cudaMemcpyDeviceToHost));
      Errors errors{};
      CUDA_CHECK(
          cudaMemcpy(&errors, server_.errors_.data(), sizeof errors, cudaMemcpyDeviceToHost));
      result.worst_error = errors.worst;
      result.sum_of_errors = errors.sum;
      result.elements = errors.elements;
      for (std::size_t i = 0; i < count(); ++i) {
        if (found_[i].product == kNone && found_[i].precision == kNone) continue;
        if (result.wrong_launches++ == 0) report(i, result);
      }
    }

   private:
    static constexpr double alarm = 1e-9;
    static constexpr unsigned rows_each = 2;

    std::size_t count() const { return request_.launches.size(); }
    std::uint64_t rows() const { return static_cast<std::uint64_t>(m_); }
    const ResultOf<T>* c(std::size_t i) const {
      return reinterpret_cast<const ResultOf<T>*>(outputs_ + request_.launches[i].c *
                                                                 server_.arenas_.stride_c);
    }
    Projection<T>* projection(std::uint32_t b_index) const {
      return server_.projections_.template as<Projection<T>>() +
             static_cast<std::uint64_t>(slot_[b_index]) * static_cast<std::uint64_t>(k_);
    }

    /// B's products with the random vectors, one projection for each B that occurs.
    void project() {
      slot_.assign(server_.arenas_.count_b, -1);
      int slots = 0;
      for (const Launch& launch : request_.launches)
        if (int& one = slot_[launch.b]; one < 0) one = slots++;
      server_.projections_.at_least(static_cast<std::uint64_t>(slots) *
                                    static_cast<std::uint64_t>(k_) * sizeof(Projection<T>));
      if (k_ > 0)
        for (std::uint32_t i = 0; i < server_.arenas_.count_b; ++i)
          if (slot_[i] >= 0)
            project_kernel<T><<<static_cast<unsigned>(k_), kThreads>>>(
                server_.template b<T>(i), n_, request_.seed, projection(i));
      CUDA_CHECK_LAUNCH();
    }

    /// Freivalds' check of one launch.
    void check_rows(std::size_t i) {
      const Launch& launch = request_.launches[i];
      rows_kernel<T><<<static_cast<unsigned>(m_), kThreads>>>(
          server_.template a<T>(launch.a), c(i), projection(launch.b), n_, k_,
          static_cast<int>(request_.vectors), request_.seed, limit_,
          server_.findings_.template as<Finding>() + i, server_.residuals_.template as<Residual>());
    }

    /// A few launches, a few rows of each, every element of them.
    void recompute_rows() {
      const auto sampled = std::min<std::size_t>(request_.sampled, count());
      std::vector<int> chosen(sampled * rows_each);
      std::vector<std::size_t> which(sampled);
      server_.rows_.at_least(chosen.size() * sizeof(int) + sizeof(int));
      for (std::size_t s = 0; s < sampled; ++s) {
        which[s] = split_mix(request_.seed + 77 * s) % count();
        for (unsigned r = 0; r < rows_each; ++r)
          chosen[s * rows_each + r] = static_cast<int>(
              split_mix(request_.seed ^ (1000003u * (s * rows_each + r + 1))) % rows());
      }
      if (sampled == 0 || n_ == 0) return;
      constexpr double unit = std::is_same_v<T, std::int32_t> ? 0
                              : std::is_same_v<T, double>     ? 0x1p-53
                                                              : 0x1p-24;
      CUDA_CHECK(cudaMemcpy(server_.rows_.data(), chosen.data(), chosen.size() * sizeof(int),
                            cudaMemcpyHostToDevice));
      for (std::size_t s = 0; s < sampled; ++s) {
        const Launch& launch = request_.launches[which[s]];
        elements_kernel<T><<<dim3((static_cast<unsigned>(n_) + 31) / 32, rows_each), dim3(32, 8)>>>(
            server_.template a<T>(launch.a), server_.template b<T>(launch.b), c(which[s]),
            server_.rows_.template as<int>() + s * rows_each, n_, k_, request_.allowed_units, unit,
            server_.findings_.template as<Finding>() + which[s],
            server_.residuals_.template as<Residual>() + rows(),
            server_.errors_.template as<Errors>());
      }
      CUDA_CHECK_LAUNCH();
    }

    /// Of the first launch that is wrong: where, and by how much.
    void report(std::size_t i, Verified& result) {
      const Finding& one = found_[i];
      const bool product = one.product != kNone;
      const unsigned long long place = product ? one.product : one.precision;
      result.launch = static_cast<std::uint32_t>(i);
      result.fault = product ? Fault::product : Fault::precision;
      result.row = static_cast<std::int32_t>(place >> 32);
      const auto column = static_cast<std::uint32_t>(place);
      result.col = column == ~0u ? -1 : static_cast<std::int32_t>(column);
      result.unwritten = one.unwritten > 0;
      Residual residual{};
      if (product) check_rows(i);  // its residuals once more
      CUDA_CHECK(cudaMemcpy(&residual,
                            server_.residuals_.template as<Residual>() +
                                (product ? static_cast<std::uint64_t>(result.row) : rows()),
                            sizeof residual, cudaMemcpyDeviceToHost));
      result.residual = residual.residual;
      result.allowed = residual.allowed;
    }

    TimingServer& server_;
    const Verify& request_;
    const int m_, n_, k_;  ///< of the products
    const unsigned char* const outputs_;
    const Limits limit_;
    std::vector<Finding> found_;  ///< one per launch
    std::vector<int> slot_;       ///< of each B among the projections; -1: it does not occur
  };

  template <typename T>
  void verify_as(const Verify& request, Verified& result) {
    // Nobody may have changed what is multiplied.
    if (!inputs_kept<T>()) {
      result.fault = Fault::inputs;
      return;
    }
    OutputVerification<T>(*this, request).run(result);
    if (result.fault == Fault::none && !request.own && !padding_kept())
      result.fault = Fault::padding;
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
  DeviceBytes own_, counter_, findings_, residuals_, projections_, rows_, errors_;
};

/// Serves the judge until it closes the socket.
int serve(const std::set<std::string>& without) {
  TimingServer worker(without);
  wire::Channel judge(kDescriptor, kProtocol);
  wire::Message request;
  for (;;) {
    const wire::Received received = judge.receive(request, wire::kForever);
    if (received == wire::Received::closed) return 0;
    if (received != wire::Received::message) return 3;
    std::array<UniqueFd, wire::kMaxFiles> files;
    wire::Message reply;
    const auto answer = [&](const auto& body) {
      reply = wire::make(Kind::done, request.serial, body);
    };
    switch (static_cast<Kind>(request.kind)) {
      case Kind::info:
        answer(worker.info());
        break;
      case Kind::allocate:
        answer(worker.allocate(request.as<Allocate>(), files));
        break;
      case Kind::fill:
        worker.fill(request.as<Fill>());
        answer(Done{});
        break;
      case Kind::batch:
        answer(worker.batch(request.as<Batch>()));
        break;
      case Kind::verify:
        answer(worker.verify(request.as<Verify>()));
        break;
      case Kind::checksum: {
        Done done;
        done.value = worker.checksum();
        answer(done);
        break;
      }
      default:
        return 3;
    }
    if (judge.send(reply, wire::kForever, {files[0].get(), files[1].get()}) != wire::Sent::all)
      return 3;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!wire::is_end(kDescriptor)) {
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
