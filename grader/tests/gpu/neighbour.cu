// Another user of the same GPU, for the tests of the engine: takes memory, or computes.
//
//     neighbour memory MIB      leaves so many MiB free
//     neighbour load SECONDS    keeps every multiprocessor busy
//
// Prints one line when it has begun, and holds on until it is killed or its input ends.
#include <cuda_runtime.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/cuda_check.cuh"

namespace {

__global__ void keep_busy(long long cycles, float* sink) {
  const long long start = clock64();
  float x = static_cast<float>(threadIdx.x);
  while (clock64() - start < cycles)
    for (int i = 0; i < 100; ++i) x = x * 0.999f + 1;
  if (x == -1) *sink = x;
}

void say(const char* line) {
  std::puts(line);
  std::fflush(stdout);
}

void wait_for_the_end() {
  char byte;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

void take_memory(std::size_t leave) {
  void* most = nullptr;
  std::size_t free_bytes = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
  if (free_bytes > leave) CUDA_CHECK(cudaMalloc(&most, free_bytes - leave));
  say("holding memory");
  wait_for_the_end();
}

void compute(double seconds) {
  float* sink = nullptr;
  CUDA_CHECK(cudaMalloc(&sink, sizeof *sink));
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  const auto blocks = static_cast<unsigned>(8 * properties.multiProcessorCount);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (bool begun = false; std::chrono::steady_clock::now() < end; begun = true) {
    keep_busy<<<blocks, 256>>>(10'000'000, sink);  // 5 ms
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());
    if (!begun) say("computing");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) try {
      const std::string what = argv[1];
      if (what == "memory") return take_memory(std::strtoull(argv[2], nullptr, 10) << 20), 0;
      if (what == "load") return compute(std::strtod(argv[2], nullptr)), 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 1;
    }
  std::fputs("usage: neighbour memory MIB | load SECONDS\n", stderr);
  return 4;
}
