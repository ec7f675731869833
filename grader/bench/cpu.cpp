#include "grader/bench/cpu.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <type_traits>
#include <vector>

#include "common/inputs.hpp"
#include "common/statistics.hpp"
#include "grader/messages.hpp"

namespace grader::bench {
namespace {

using messages::text;
using Clock = std::chrono::steady_clock;

/// The plainest product there is: rows, columns, sum. (The seed of this course measured its kernels
/// against the same loop.) For int32 in unsigned arithmetic, so that it may wrap.
template <typename T>
void gemm_plain(const T* a, const T* b, T* c, Shape s) {
  for (int i = 0; i < s.m; ++i)
    for (int j = 0; j < s.n; ++j) {
      T sum = 0;
      for (int k = 0; k < s.k; ++k)
        sum += a[static_cast<std::size_t>(i) * s.k + k] * b[static_cast<std::size_t>(k) * s.n + j];
      c[static_cast<std::size_t>(i) * s.n + j] = sum;
    }
}

// cblas.h: row-major 101, not transposed 111. OpenBLAS's plain builds take int sizes.
template <typename T>
using CblasGemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*,
                           int);

template <typename T>
std::vector<T> random_values(std::size_t count, std::uint64_t seed) {
  inputs::SplitMix64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (std::is_integral_v<T>)
      value = static_cast<T>(random());
    else
      value = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);  // [-1, 1)
  }
  return values;
}

/// Elements drawn at random, each recomputed; |c - ref| <= 32 u (|A||B|) as in
/// common/reference.hpp.
template <typename T>
bool right(const std::vector<T>& a, const std::vector<T>& b, const std::vector<T>& c, Shape s) {
  inputs::SplitMix64 random(static_cast<std::uint64_t>(Clock::now().time_since_epoch().count()));
  for (int sample = 0; sample < 256; ++sample) {
    const auto row = static_cast<std::size_t>(random() % static_cast<std::uint64_t>(s.m)),
               col = static_cast<std::size_t>(random() % static_cast<std::uint64_t>(s.n));
    const T got = c[row * static_cast<std::size_t>(s.n) + col];
    using Sum = std::conditional_t<std::is_integral_v<T>, T, double>;
    Sum sum = 0, size = 0;
    for (int k = 0; k < s.k; ++k) {
      const Sum product =
          static_cast<Sum>(a[row * static_cast<std::size_t>(s.k) + static_cast<std::size_t>(k)]) *
          static_cast<Sum>(b[static_cast<std::size_t>(k) * static_cast<std::size_t>(s.n) + col]);
      sum += product;
      if constexpr (!std::is_integral_v<T>) size += std::abs(product);
    }
    if constexpr (std::is_integral_v<T>) {
      if (got != sum) return false;
    } else {
      const double u = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
      // A sum over K in any order: K u is certain, and for double nothing better is known here.
      const double allowed = std::is_same_v<T, float> ? 32 * u : (s.k + 2) * u;
      if (!(std::abs(static_cast<double>(got) - sum) <= allowed * size)) return false;
    }
  }
  return true;
}

template <typename T, typename Multiply>
void time_it(CpuRecord& record, Multiply&& multiply) {
  const Shape s = record.point.shape;
  const auto count = [](int rows, int cols) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  };
  const std::vector<T> a = random_values<T>(count(s.m, s.k), 1),
                       b = random_values<T>(count(s.k, s.n), 2);
  std::vector<T> c(count(s.m, s.n));
  std::vector<double> ms;
  const auto begin = Clock::now();
  // The first run warms caches and threads; it counts only if there will be no other.
  for (int run = 0; run < 6; ++run) {
    std::fill(c.begin(), c.end(), T(77));
    const auto from = Clock::now();
    multiply(a.data(), b.data(), c.data(), s);
    const double took = std::chrono::duration<double, std::milli>(Clock::now() - from).count();
    if (run == 0 && !right(a, b, c, s)) {
      record.status = Status::wrong;
      record.note = text("bench.cpu.wrong");
      return;
    }
    ms.push_back(took);
    if (std::chrono::duration<double>(Clock::now() - begin).count() > 0.5) break;
  }
  if (ms.size() > 1) ms.erase(ms.begin());
  record.status = Status::measured;
  record.samples = static_cast<unsigned>(ms.size());
  record.ms = statistics::median(ms);
  record.gflops = s.flops() / record.ms * 1e-6;
}

}  // namespace

CpuMeter::CpuMeter() {
  library_ = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library_) {
    trouble_ = text("bench.no_openblas");
    return;
  }
  if (!dlsym(library_, "cblas_sgemm") || !dlsym(library_, "cblas_dgemm")) {
    trouble_ = text("bench.odd_openblas");
    dlclose(library_);
    library_ = nullptr;
    return;
  }
  openblas_ = "OpenBLAS";
  if (const auto config = reinterpret_cast<char* (*)()>(dlsym(library_, "openblas_get_config")))
    openblas_ = config();
}

CpuMeter::~CpuMeter() {
  // Never closed: its threads live on.
}

unsigned CpuMeter::openblas_threads() const {
  if (!library_) return 0;
  const auto threads = reinterpret_cast<int (*)()>(dlsym(library_, "openblas_get_num_threads"));
  return threads ? static_cast<unsigned>(std::max(1, threads())) : 1;
}

CpuRecord CpuMeter::measure(const CpuPoint& point, double estimate_ms, double most_ms) const {
  CpuRecord record;
  record.point = point;
  const bool blas = point.what == "OpenBLAS";
  if (blas && !library_) {
    record.note = trouble_;
    return record;
  }
  if (estimate_ms > most_ms) {
    record.status = Status::skipped;
    record.note =
        text("bench.cpu.skipped", {{"seconds", std::to_string(static_cast<int>(most_ms / 1000))}});
    return record;
  }
  record.threads = blas ? openblas_threads() : 1;
  if (!blas) {
    if (point.type == "float")
      time_it<float>(record, gemm_plain<float>);
    else if (point.type == "double")
      time_it<double>(record, gemm_plain<double>);
    else
      time_it<std::uint32_t>(record, gemm_plain<std::uint32_t>);
    return record;
  }
  const auto call = [&]<typename T>(T, const char* name) {
    const auto gemm = reinterpret_cast<CblasGemm<T>>(dlsym(library_, name));
    time_it<T>(record, [gemm](const T* a, const T* b, T* c, Shape s) {
      gemm(101, 111, 111, s.m, s.n, s.k, T(1), a, s.k, b, s.n, T(0), c, s.n);
    });
  };
  if (point.type == "float")
    call(0.0f, "cblas_sgemm");
  else
    call(0.0, "cblas_dgemm");
  return record;
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0)
      if (const auto colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "unknown";
}

}  // namespace grader::bench
