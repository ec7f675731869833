// What the simulated GPU counts, for the widgets' models to be compared with: random and regular
// patterns of a warp with their sectors and wavefronts, and the blocks that fit on a
// multiprocessor. Prints one JSON document. With -DTOOLKIT the blocks come from cuda_occupancy.h of
// an installed CUDA Toolkit, for all compute capabilities.
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#ifdef TOOLKIT
#include <cuda_occupancy.h>
#endif

#include "common/simgpu/count/coalescing.hpp"
#include "common/simgpu/count/occupancy.hpp"
#include "common/simgpu/count/shared_banks.hpp"

namespace {

using Addresses = std::uint64_t[32];
std::mt19937 engine(2718);
unsigned below(unsigned n) {
  return engine() % n;
}

/// Addresses of one of several kinds, multiples of `bytes`.
void pattern(Addresses& address, unsigned bytes) {
  const unsigned kind = below(5), stride = below(70), start = below(40), across = 1u << below(6);
  const unsigned range = 1u << (2 + below(9)), repeat = 1u << below(4);
  for (unsigned i = 0; i < 32; ++i) {
    std::uint64_t unit = 0;
    switch (kind) {
      case 0:
        unit = i * stride + start;
        break;
      case 1:
        unit = below(range);
        break;
      case 2:
        unit = i / across * stride + i % across + start;
        break;
      case 3:
        unit = i / repeat * stride;
        break;
      default:
        unit = (i ^ below(2)) % range;
        break;
    }
    address[i] = unit * bytes;
  }
}

void print(const Addresses& address, std::uint32_t mask) {
  std::printf("[");
  for (unsigned i = 0; i < 32; ++i) {
    const char* comma = i ? "," : "";
    if ((mask >> i) & 1u) {
      std::printf("%s%llu", comma, static_cast<unsigned long long>(address[i]));
    } else {
      std::printf("%snull", comma);
    }
  }
  std::printf("]");
}

void counts() {
  namespace count = simgpu::count;
  for (unsigned n = 0; n < 4000; ++n) {
    const unsigned bytes = 1u << below(5);
    const std::uint32_t mask = below(3) ? 0xffffffffu : static_cast<std::uint32_t>(engine()) | 1u;
    const bool load = below(2) != 0;
    Addresses address;
    pattern(address, bytes);
    const auto w = count::shared_wavefronts(address, mask, bytes, load);
    const unsigned distinct = count::distinct_bytes(address, mask, bytes);
    std::printf("%s{\"address\":", n ? ",\n" : "");
    print(address, mask);
    std::printf(",\"bytes\":%u,\"load\":%s,\"wavefronts\":%u,\"ideal\":%u,", bytes,
                load ? "true" : "false", w.actual, w.ideal);
    std::printf("\"sectors\":%u,\"ideal_sectors\":%u,\"distinct\":%u,",
                count::sectors(address, mask, bytes), count::ideal_sectors(distinct), distinct);
    pattern(address, 16);
    std::printf("\"rows\":");
    print(address, 0xffffffffu);
    std::printf(",\"matrices\":[");
    for (unsigned matrices : {1u, 2u, 4u}) {
      std::printf("%s%u", matrices > 1 ? "," : "",
                  count::matrix_wavefronts(address, matrices).actual);
    }
    std::printf("]}");
  }
}

struct Device {
  const char* capability;
  int major, minor, threads;
  unsigned shared, per_block;  // KiB
};

#ifdef TOOLKIT
// Threads and shared memory per multiprocessor are what a driver would report: not in the header.
// What is in the header, and compared with it: the blocks, how registers and shared memory are
// rounded and divided.
const Device kDevices[] = {{"7.5", 7, 5, 1024, 64, 64},     {"8.0", 8, 0, 2048, 164, 163},
                           {"8.6", 8, 6, 1536, 100, 99},    {"8.7", 8, 7, 1536, 164, 163},
                           {"8.9", 8, 9, 1536, 100, 99},    {"9.0", 9, 0, 2048, 228, 227},
                           {"10.0", 10, 0, 2048, 228, 227}, {"10.3", 10, 3, 2048, 228, 227},
                           {"12.0", 12, 0, 1536, 100, 99}};

int blocks(const Device& d, unsigned threads, unsigned registers, unsigned shared) {
  cudaOccDeviceProp device{};
  device.computeMajor = d.major;
  device.computeMinor = d.minor;
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsPerMultiprocessor = d.threads;
  device.regsPerBlock = device.regsPerMultiprocessor = 65536;
  device.warpSize = 32;
  device.sharedMemPerBlock = 48 << 10;
  device.sharedMemPerMultiprocessor = d.shared << 10;
  device.numSms = 1;
  device.sharedMemPerBlockOptin = d.per_block << 10;
  device.reservedSharedMemPerBlock = d.major >= 8 ? 1024 : 0;
  cudaOccFuncAttributes kernel{};
  kernel.maxThreadsPerBlock = 1024;
  kernel.numRegs = static_cast<int>(registers);
  kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = shared;
  cudaOccDeviceState state{};
  state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  cudaOccResult result{};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &device, &kernel, &state, static_cast<int>(threads), shared);
  return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1;
}
#else
const Device kDevices[] = {{"9.0", 9, 0, 2048, 228, 227}};

int blocks(const Device&, unsigned threads, unsigned registers, unsigned shared) {
  return static_cast<int>(
      simgpu::count::occupancy(simgpu::DeviceModel{}, threads, registers, shared).blocks);
}
#endif

void occupancies() {
  bool first = true;
  for (const Device& d : kDevices) {
    for (unsigned n = 0; n < 1500; ++n) {
      const unsigned threads = below(2) ? 32 * (1 + below(32)) : 1 + below(1024);
      const unsigned registers = 16 + below(240);
      const unsigned shared = below(3) ? below((d.per_block << 10) + 1) : below(8192);
      const int fit = blocks(d, threads, registers, shared);
      std::printf(
          "%s{\"capability\":\"%s\",\"threads\":%u,\"registers\":%u,\"shared\":%u,\"blocks\":%d}",
          first ? "" : ",\n", d.capability, threads, registers, shared, fit);
      first = false;
    }
  }
}

}  // namespace

int main() {
  std::printf("{\"counts\":[");
  counts();
  std::printf("],\n\"occupancy\":[");
  occupancies();
  std::printf("]}\n");
  return 0;
}
