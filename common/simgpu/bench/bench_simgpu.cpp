// How fast the engine runs: thread instructions a second of a tiled and a naive SGEMM, tensor-core
// instructions, and what reading the array that is written costs.
//
// usage: bench_simgpu tiled.ptx [size [mma.ptx]]. The last lines are the figures that are promised.
// They are of CPU time, which other work on the machine distorts little.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/simgpu/device.hpp"
#include "common/simgpu/exec/kernels/float_tile.hpp"

namespace {

using simgpu::Device;
using simgpu::DevicePtr;

constexpr int kRepetitions = 7;

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown CPU";
}

/// CPU seconds of this process.
double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(u.ru_utime) + seconds(u.ru_stime);
}

struct Args {
  DevicePtr a, b, c;
  int m, n, k;
};

/// A kernel of tiled.cu, on square matrices.
struct Workload {
  Device* device;
  simgpu::ModuleId module;
  Args args;

  simgpu::LaunchReport launch(const char* kernel, const simgpu::LaunchOptions& options) const {
    const auto tiles = [](int n) { return static_cast<unsigned>(n + 15) / 16; };
    const bool by_element = std::string(kernel) == "saxpy" || std::string(kernel) == "scale";
    const simgpu::Dim3 block{by_element ? 256u : 16u, by_element ? 1u : 16u, 1};
    const simgpu::Dim3 grid{by_element ? tiles(args.m) * tiles(args.n) : tiles(args.n),
                            by_element ? 1u : tiles(args.m), 1};
    return device->launch(module, kernel, grid, block, 0, std::as_bytes(std::span(&args, 1)),
                          options);
  }
};

enum class Mode { counters, checks };

struct Figure {
  double wall = 1e9, cpu = 1e9;  ///< seconds of a launch, least of the repetitions
  double instructions = 0;       ///< of threads, in a launch
  double rate() const { return instructions / cpu; }
};

Figure measure(const Workload& work, const char* kernel, Mode mode, unsigned threads) {
  simgpu::LaunchOptions options;
  if (mode == Mode::counters) options.checks = simgpu::Checks::none();
  options.host_threads = threads;
  Figure best;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    const auto report = work.launch(kernel, options);
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double used = cpu_seconds() - cpu;
    if (!report.findings.empty()) {
      std::fprintf(stderr, "unexpected finding: %s\n", report.findings.front().detail.c_str());
      std::exit(1);
    }
    best.instructions = static_cast<double>(report.total.thread_instructions);
    best.wall = std::min(best.wall, wall);
    best.cpu = std::min(best.cpu, used);
  }
  return best;
}

/// One and two host threads. `possible`: how much faster two are where each has a processor to
/// itself, by the CPU time that they use together.
struct Threads {
  Figure one, two;
  double measured() const { return one.wall / two.wall; }
  double possible() const { return 2 * one.cpu / two.cpu; }
};

Threads measure_threads(const Workload& work, const char* kernel, Mode mode) {
  return {measure(work, kernel, mode, 1), measure(work, kernel, mode, 2)};
}

void print(const char* what, const Threads& t) {
  std::printf(
      "  %-10s %.3g thread-instructions/s; two host threads %.2fx by the clock, %.2fx by "
      "CPU time\n",
      what, t.one.rate(), t.measured(), t.possible());
}

/// How fast `kernel` is compared with `twin`, which does the same but for a read.
double against_twin(const Workload& work, const char* kernel, const char* twin) {
  const Figure with = measure(work, kernel, Mode::checks, 1),
               without = measure(work, twin, Mode::checks, 1);
  std::printf("%s: %.3g thread-instructions/s, %s: %.3g\n", kernel, with.rate(), twin,
              without.rate());
  return without.cpu / with.cpu;
}

/// Tensor-core instructions a second of one host thread's CPU time, with counters: best of the
/// repetitions. `in_trip`: how many of them, of `operations` each, the block issues in one trip.
double measure_tensor(const char* path, const char* kernel, unsigned warps, unsigned in_trip,
                      std::uint64_t operations) {
  std::ifstream in(path);
  Device device;
  const simgpu::ModuleId module = device.load_module({std::istreambuf_iterator<char>(in), {}});
  constexpr unsigned kTrips = 2000;
  struct {
    DevicePtr out;
    int trips;
  } args{device.alloc(warps * 32 * 4, "out"), kTrips};
  simgpu::LaunchOptions options;
  options.host_threads = 1;
  double best = 0;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const double before = cpu_seconds();
    const auto report = device.launch(module, kernel, {1, 1, 1}, {warps * 32, 1, 1}, 0,
                                      std::as_bytes(std::span(&args, 1)).first(12), options);
    const double used = cpu_seconds() - before;
    const std::uint64_t issued = std::uint64_t{kTrips} * in_trip;
    if (!report.findings.empty() || report.total.tensor_ops.at("f16") != operations * issued) {
      std::fprintf(stderr, "unexpected finding or count\n");
      std::exit(1);
    }
    best = std::max(best, static_cast<double>(issued) / used);
  }
  return best;
}

/// How many of the products that mma.m16n8k16 makes this processor can sum up in a second of its time,
/// as the engine does it, with nothing around them: no fragments, no checks. wgmma.m64n256k16 is 128 of
/// them.
double sums_alone() {
  constexpr unsigned kK = 16;
  alignas(64) static double a[16 * kK], b[kK * 8];
  static float sums[4][32];
  std::fill(std::begin(a), std::end(a), 0.5);
  std::fill(std::begin(b), std::end(b), 0.25);
  simgpu::exec::kernels::FloatTile tile{};
  for (int i = 0; i < 4; ++i) tile.c[i] = tile.d[i] = sums[i];
  double best = 0;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    constexpr int kProducts = 200'000;
    const double before = cpu_seconds();
    for (int k = 0; k < kProducts; ++k) simgpu::exec::kernels::multiply_float_tile<kK>(a, b, tile);
    best = std::max(best, kProducts / (cpu_seconds() - before));
  }
  return best;
}

std::vector<float> small_integers(std::size_t n, std::size_t step, std::size_t range) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = static_cast<float>(static_cast<int>(i * step % range) - static_cast<int>(range / 2));
  return v;
}

DevicePtr upload(Device& device, const char* label, const std::vector<float>& values) {
  const DevicePtr p = device.alloc(4 * values.size(), label);
  device.write(p, std::as_bytes(std::span(values)));
  return p;
}

/// Whether C holds the product: one element of it.
bool is_product(const Workload& work, const std::vector<float>& a, const std::vector<float>& b) {
  const auto n = static_cast<std::size_t>(work.args.n);
  std::vector<float> c(n * n);
  work.device->read(std::as_writable_bytes(std::span(c)), work.args.c);
  const std::size_t i = 1 % n, j = 2 % n;
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k)
    sum += static_cast<double>(a[i * n + k]) * static_cast<double>(b[k * n + j]);
  return std::fabs(sum - static_cast<double>(c[i * n + j])) < 0.5;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_simgpu tiled.ptx [size [mma.ptx]]\n");
    return 2;
  }
  std::ifstream in(argv[1]);
  const std::string ptx{std::istreambuf_iterator<char>(in), {}};
  const int n = argc > 2 ? std::max(1, std::atoi(argv[2])) : 256;
  Device device;
  const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const std::vector<float> a = small_integers(elements, 7, 17), b = small_integers(elements, 5, 13);
  const Workload work{&device,
                      device.load_module(ptx),
                      {upload(device, "A", a), upload(device, "B", b),
                       upload(device, "C", std::vector<float>(elements, 0.0f)), n, n, n}};

  std::printf("CPU: %s\n", cpu_model().c_str());
  Threads counters[2], checks[2];
  const char* const kernels[] = {"naive", "tiled"};
  for (int k = 0; k < 2; ++k) {
    counters[k] = measure_threads(work, kernels[k], Mode::counters);
    checks[k] = measure_threads(work, kernels[k], Mode::checks);
    if (!is_product(work, a, b)) {
      std::fprintf(stderr, "wrong result\n");
      return 1;
    }
    std::printf("%s %d^3: %.1f M thread-instructions\n", kernels[k], n,
                counters[k].one.instructions * 1e-6);
    print("counters", counters[k]);
    print("all checks", checks[k]);
  }
  const double add = against_twin(work, "tiled_add", "tiled"),
               saxpy = against_twin(work, "saxpy", "scale");

  std::printf("counters: %.3g thread-instructions/s\n", counters[1].one.rate());
  std::printf("all checks: %.3g thread-instructions/s\n", checks[1].one.rate());
  std::printf("naive: %.3g thread-instructions/s\n", checks[0].one.rate());
  std::printf("C += A * B: %.2f of the speed of C = A * B\n", add);
  std::printf("y = a * x + y: %.2f of the speed of y = a * x\n", saxpy);
  std::printf("two host threads: %.2fx\n", checks[1].possible());
  if (argc > 3) {
    const double sums = sums_alone();
    std::printf("mma m16n8k16: %.3g warp-instructions/s (its sums alone: %.3g)\n",
                measure_tensor(argv[3], "_Z12mma_m16n8k16Pji", 8, 8 * 8, 2 * 16 * 8 * 16), sums);
    std::printf("wgmma m64n256k16: %.3g warpgroup-instructions/s (its sums alone: %.3g)\n",
                measure_tensor(argv[3], "_Z16wgmma_m64n256k16Pji", 4, 4, 2 * 64 * 256 * 16),
                sums / 128);
  }
  return 0;
}
