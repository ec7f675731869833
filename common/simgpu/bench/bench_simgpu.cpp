// How fast the engine runs: thread instructions a second, for a tiled SGEMM on one and two host
// threads.
//
// usage: bench_simgpu tiled.ptx [size [mma.ptx]]. The last lines are the figures that are promised.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "common/simgpu/device.hpp"

namespace {

using simgpu::Device;
using simgpu::DevicePtr;

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown CPU";
}

/// CPU seconds of this process: what other work on the machine does not distort.
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

struct Figure {
  double wall = 0, cpu = 0;  ///< thread instructions a second, best of the repetitions
  std::uint64_t instructions = 0;
};

Figure measure(Device& device, simgpu::ModuleId module, const char* kernel, const Args& args,
               bool checks, bool count, unsigned threads) {
  simgpu::LaunchOptions options;
  options.count = count;
  if (!checks) options.checks = simgpu::Checks::none();
  options.host_threads = threads;
  Figure best;
  for (int repetition = 0; repetition < 7; ++repetition) {
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    const simgpu::Dim3 block{16, 16, 1};
    const simgpu::Dim3 grid{static_cast<unsigned>(args.n + 15) / 16,
                            static_cast<unsigned>(args.m + 15) / 16, 1};
    const auto report =
        device.launch(module, kernel, grid, block, 0, std::as_bytes(std::span(&args, 1)), options);
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double used = cpu_seconds() - cpu;
    if (!report.findings.empty()) {
      std::fprintf(stderr, "unexpected finding: %s\n", report.findings.front().detail.c_str());
      std::exit(1);
    }
    if (count) best.instructions = report.total.thread_instructions;
    const auto n = static_cast<double>(best.instructions);
    best.wall = std::max(best.wall, n / wall);
    best.cpu = std::max(best.cpu, n / used);
  }
  return best;
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
  for (int repetition = 0; repetition < 7; ++repetition) {
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
  const simgpu::ModuleId module = device.load_module(ptx);
  const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::vector<float> a(elements), b(elements), c(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    a[i] = static_cast<float>(static_cast<int>(i * 7 % 17) - 8);
    b[i] = static_cast<float>(static_cast<int>(i * 5 % 13) - 6);
  }
  Args args{device.alloc(4 * elements, "A"),
            device.alloc(4 * elements, "B"),
            device.alloc(4 * elements, "C"),
            n,
            n,
            n};
  device.write(args.a, std::as_bytes(std::span(a)));
  device.write(args.b, std::as_bytes(std::span(b)));

  std::printf("CPU: %s\n", cpu_model().c_str());
  for (const char* kernel : {"naive", "tiled"}) {
    const Figure counters = measure(device, module, kernel, args, false, true, 1);
    const Figure checks = measure(device, module, kernel, args, true, true, 1);
    const Figure two = measure(device, module, kernel, args, true, true, 2),
                 two_counters = measure(device, module, kernel, args, false, true, 2);
    device.read(std::as_writable_bytes(std::span(c)), args.c);
    double sum = 0;
    for (int k = 0; k < n; ++k)
      sum += static_cast<double>(a[static_cast<std::size_t>(n) + k]) *
             static_cast<double>(b[static_cast<std::size_t>(k) * n + 2 % n]);
    if (n > 1 &&
        std::fabs(sum - static_cast<double>(c[static_cast<std::size_t>(n) + 2 % n])) > 0.5) {
      std::fprintf(stderr, "wrong result\n");
      return 1;
    }
    std::printf("%s %d^3: %.1f M thread-instructions\n", kernel, n,
                static_cast<double>(counters.instructions) * 1e-6);
    std::printf("  by CPU time:      counters %.3g, all checks %.3g thread-instructions/s\n",
                counters.cpu, checks.cpu);
    std::printf("  two host threads: counters %.2fx, all checks %.2fx of one (wall clock)\n",
                two_counters.wall / counters.wall, two.wall / checks.wall);
    if (std::strcmp(kernel, "tiled") == 0) {
      std::printf("counters: %.3g thread-instructions/s\n", counters.wall);
      std::printf("all checks: %.3g thread-instructions/s\n", checks.wall);
    }
  }
  if (argc > 3) {
    std::printf("mma m16n8k16: %.3g warp-instructions/s\n",
                measure_tensor(argv[3], "_Z12mma_m16n8k16Pji", 8, 8 * 8, 2 * 16 * 8 * 16));
    std::printf("wgmma m64n64k16: %.3g warpgroup-instructions/s\n",
                measure_tensor(argv[3], "_Z15wgmma_m64n64k16Pji", 4, 4, 2 * 64 * 64 * 16));
  }
  return 0;
}
