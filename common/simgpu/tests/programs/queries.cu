// What programs ask the runtime: device, functions, occupancy, pointers, memory, streams, events, error texts.
#include "check.h"

#include <cmath>
#include <cstring>

__global__ void kernel(float* p) {
  __shared__ float s[256];
  s[threadIdx.x % 256] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[255 - threadIdx.x % 256];
}
__global__ void __launch_bounds__(64) bounded(float* p) { p[threadIdx.x] += 1.0f; }

// A program that asks the device and one that asks the compiler must hear the same.
__global__ void compiled_for([[maybe_unused]] int* arch) {
#ifdef __CUDA_ARCH__
  *arch = __CUDA_ARCH__;
#endif
}

static int compiled_arch() {
  int arch = 0, *device_arch;
  CHECK(cudaMalloc(&device_arch, sizeof arch));
  compiled_for<<<1, 1>>>(device_arch);
  CHECK(cudaMemcpy(&arch, device_arch, sizeof arch, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_arch));
  return arch;
}

static void called(void* data) { *static_cast<int*>(data) += 1; }

static void streams_and_events() {
  cudaStream_t stream;
  cudaEvent_t start, stop, silent;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventCreateWithFlags(&silent, cudaEventDisableTiming));
  float ms = 0;
  std::printf("never recorded: %s, query %s\n", cudaGetErrorName(cudaEventElapsedTime(&ms, start, stop)),
              cudaGetErrorName(cudaEventQuery(start)));
  CHECK(cudaEventRecord(start, stream));
  CHECK(cudaEventRecord(silent, stream));
  CHECK(cudaStreamWaitEvent(stream, start, 0));
  int calls = 0;
  CHECK(cudaLaunchHostFunc(stream, called, &calls));
  CHECK(cudaEventRecord(stop, stream));
  CHECK(cudaEventSynchronize(stop));
  std::printf("calls %d, stream %s, event %s\n", calls, cudaGetErrorName(cudaStreamQuery(stream)),
              cudaGetErrorName(cudaEventQuery(stop)));
  std::printf("no timing: %s\n", cudaGetErrorName(cudaEventElapsedTime(&ms, silent, stop)));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaEventDestroy(silent));
  CHECK(cudaStreamDestroy(stream));
}

int main() {
  int count = 0, device = -1;
  CHECK(cudaGetDeviceCount(&count));
  CHECK(cudaSetDevice(0));
  CHECK(cudaGetDevice(&device));
  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  std::printf("%d %d: warp %d, %d threads per block (%d, %d, %d), grid (%d, %d, %d)\n", count > 0, device, prop.warpSize,
              prop.maxThreadsPerBlock, prop.maxThreadsDim[0], prop.maxThreadsDim[1], prop.maxThreadsDim[2],
              prop.maxGridSize[0], prop.maxGridSize[1], prop.maxGridSize[2]);
  std::printf("shared %zu, constant %zu, registers %d, name %d\n", prop.sharedMemPerBlock, prop.totalConstMem,
              prop.regsPerBlock, std::strlen(prop.name) > 0);
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
  std::printf("attribute %d, same capability %d\n", value, compiled_arch() == 100 * prop.major + 10 * prop.minor);
  std::printf("%s %s\n", cudaGetErrorName(cudaGetDeviceProperties(&prop, 99)),
              cudaGetErrorName(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(100000), 0)));
  (void)cudaGetLastError();

  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, kernel));
  std::printf("kernel: shared %zu, local %zu, threads %d\n", attributes.sharedSizeBytes, attributes.localSizeBytes,
              attributes.maxThreadsPerBlock);
  CHECK(cudaFuncGetAttributes(&attributes, bounded));
  std::printf("bounded: threads %d\n", attributes.maxThreadsPerBlock);
  int blocks = 0, grid = 0, block = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 1024, 0));
  std::printf("1024 threads: %d resident blocks\n", blocks);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 48 << 10));
  std::printf("1 KiB over the 48 KiB without the attribute: %d resident blocks\n", blocks);
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  CHECK(cudaFuncGetAttributes(&attributes, kernel));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 48 << 10));
  std::printf("with it, %d bytes: %d resident blocks\n", attributes.maxDynamicSharedSizeBytes, blocks);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel));
  std::printf("block size %d, whole grid %d\n", block, grid >= prop.multiProcessorCount);

  float *p, *pinned, plain[4];
  CHECK(cudaMalloc(&p, 1000));
  CHECK(cudaMallocHost(&pinned, 1000));
  cudaPointerAttributes where;
  CHECK(cudaPointerGetAttributes(&where, p + 10));
  std::printf("device %d %d\n", where.type == cudaMemoryTypeDevice, where.devicePointer == p + 10);
  CHECK(cudaPointerGetAttributes(&where, pinned));
  std::printf("pinned %d\n", where.type == cudaMemoryTypeHost);
  CHECK(cudaPointerGetAttributes(&where, plain));
  std::printf("plain %d\n", where.type == cudaMemoryTypeUnregistered);
  size_t free_bytes = 0, total = 0;
  CHECK(cudaMemGetInfo(&free_bytes, &total));
  std::printf("memory %d\n", free_bytes > 0 && free_bytes < total);

  streams_and_events();
  std::printf("%s | %s | %s\n", cudaGetErrorName(cudaErrorLaunchOutOfResources),
              cudaGetErrorString(cudaErrorLaunchOutOfResources), cudaGetErrorString(static_cast<cudaError_t>(12345)));
  CHECK(cudaFree(p));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaDeviceReset());
  CHECK(cudaMalloc(&p, 4));
  CHECK(cudaFree(p));
  return 0;
}
