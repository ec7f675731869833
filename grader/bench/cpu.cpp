#include "grader/bench/cpu.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <vector>

#include "common/inputs.hpp"
#include "common/reference.hpp"
#include "grader/gpu/statistics.hpp"
#include "grader/messages.hpp"

namespace grader::bench {
namespace {

using messages::text;
using Clock = std::chrono::steady_clock;

// cblas.h: row-major 101, not transposed 111. OpenBLAS's plain builds take int sizes.
template <typename T>
using CblasGemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*,
                           int);

template <typename T, typename Multiply>
void time_it(CpuRecord& record, Multiply&& multiply) {
  const Shape s = record.point.shape;
  HostMatrix<T> a(s.m, s.k), b(s.k, s.n), c(s.m, s.n);
  inputs::SplitMix64 random_a(1);
  inputs::Pcg random_b(2);
  inputs::zero_mean(a, random_a);
  inputs::zero_mean(b, random_b);
  std::vector<double> ms;
  const auto begin = Clock::now();
  // The first run warms caches and threads; it counts only if there will be no other.
  for (int run = 0; run < 6; ++run) {
    inputs::poison_all(c);
    const auto from = Clock::now();
    multiply(a.const_view(), b.const_view(), c.view());
    const double took = std::chrono::duration<double, std::milli>(Clock::now() - from).count();
    const auto seed = static_cast<std::uint64_t>(from.time_since_epoch().count());
    if (run == 0 &&
        !check_probabilistically<T>(a.const_view(), b.const_view(), c.const_view(), seed).passed) {
      record.status = Status::wrong;
      record.note = text("bench.cpu.wrong");
      return;
    }
    ms.push_back(took);
    if (std::chrono::duration<double>(Clock::now() - begin).count() > 0.5) break;
  }
  if (ms.size() > 1) ms.erase(ms.begin());
  record.status = Status::measured;
  record.rounds = static_cast<unsigned>(ms.size());
  record.ms = rounded(statistics::median(ms));
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
      time_it<std::int32_t>(record, gemm_plain<std::int32_t>);
    return record;
  }
  const auto call = [&]<typename T>(T, const char* name) {
    const auto gemm = reinterpret_cast<CblasGemm<T>>(dlsym(library_, name));
    time_it<T>(record, [gemm](MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) {
      gemm(101, 111, 111, c.rows, c.cols, a.cols, T(1), a.data, a.ld, b.data, b.ld, T(0), c.data,
           c.ld);
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
